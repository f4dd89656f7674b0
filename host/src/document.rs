//! Writes a document: head, steps, tail.
//!
//! Head and tail know what is known last, so nothing is written before the session was read whole. Steps are copied
//! from their spool. The pretty form is the compact one, laid out on the way.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::derive::{ActorEntry, Steps};
use crate::intake::Conversation;
use crate::record::SessionFacts;

/// The kind of every path this host writes.
pub const KIND: &str = "https://toolpath.net/kinds/agent-coding-session/v1.1.0";

/// What the caller decides about a document.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Title, instead of the session's.
    pub title: Option<String>,
    /// Base URI, instead of the session's working directory.
    pub base_uri: Option<String>,
    /// Id of the path, instead of one made of provider and session.
    pub path_id: Option<String>,
    /// Two-space indent instead of one line.
    pub pretty: bool,
}

/// Writes the document of `conversation`, with a line feed after it.
pub fn write(conversation: Conversation, choices: &Choices, out: &mut dyn Write) -> io::Result<()> {
    laid_out(choices.pretty, out, |out| write_compact(conversation, choices, out))
}

/// Lets `fill` write compact JSON, and lays it out on the way if asked to; a line feed follows.
pub fn laid_out(
    pretty: bool,
    out: &mut dyn Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    if pretty {
        fill(&mut Pretty::new(&mut *out))?;
    } else {
        fill(out)?;
    }
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct PathIdentity<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<Base<'a>>,
    head: &'a str,
}

/// Where a path starts from.
#[derive(Debug, Serialize)]
pub(crate) struct Base<'a> {
    uri: String,
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    revision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
}

#[derive(Serialize)]
struct PathMeta<'a> {
    title: String,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    actors: &'a BTreeMap<String, ActorEntry>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files_changed: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    producer: Option<Producer<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vcs_remote: Option<&'a str>,
}

/// The program that wrote a session.
#[derive(Debug, Serialize)]
pub(crate) struct Producer<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
}

impl<'a> Producer<'a> {
    pub(crate) fn of(facts: &'a SessionFacts) -> Option<Self> {
        facts.producer.as_ref().map(|(name, version)| Self { name, version: version.as_deref() })
    }
}

fn write_compact(conversation: Conversation, choices: &Choices, out: &mut dyn Write) -> io::Result<()> {
    let source = conversation.source().map(str::to_owned);
    let Conversation { provider, facts, steps, .. } = conversation;
    let Steps { mut pieces, head, actors, first_working_dir, .. } = steps;
    let id = path_id(choices, &facts, &provider);
    let base = base(choices, &facts, first_working_dir.as_deref());

    out.write_all(b"{\"graph\":{\"id\":")?;
    serde_json::to_writer(&mut *out, &id)?;
    out.write_all(b"},\"paths\":[{\"path\":")?;
    serde_json::to_writer(&mut *out, &PathIdentity { id: &id, base, head: &head })?;
    out.write_all(b",\"steps\":[")?;
    pieces.write_list(out)?;
    out.write_all(b"],\"meta\":")?;
    let meta = PathMeta {
        title: title(choices, &facts, &provider),
        kind: KIND,
        source: source.as_deref(),
        actors: &actors,
        files_changed: facts.files_changed.as_deref().unwrap_or(pieces.files()),
        producer: Producer::of(&facts),
        vcs_remote: facts.vcs_remote.as_deref(),
    };
    serde_json::to_writer(&mut *out, &meta)?;
    out.write_all(b"}]}")
}

/// The path's id, and its graph's.
pub(crate) fn path_id(choices: &Choices, facts: &SessionFacts, provider: &str) -> String {
    choices.path_id.clone().unwrap_or_else(|| format!("path-{provider}-{}", short(facts)))
}

/// The path's title.
pub(crate) fn title(choices: &Choices, facts: &SessionFacts, provider: &str) -> String {
    let told = choices.title.as_ref().or(facts.title.as_ref());
    told.cloned().unwrap_or_else(|| format!("{provider} session: {}", short(facts)))
}

/// The path's base: the caller's, else the session's, else the first turn's.
pub(crate) fn base<'a>(choices: &Choices, facts: &'a SessionFacts, first: Option<&str>) -> Option<Base<'a>> {
    let (revision, branch) = (facts.vcs_revision.as_deref(), facts.vcs_branch.as_deref());
    match (&choices.base_uri, &facts.working_dir, first) {
        (Some(uri), _, _) => Some(Base { uri: uri.clone(), revision, branch }),
        (None, Some(dir), _) => Some(Base { uri: uri_of(dir), revision, branch }),
        (None, None, Some(dir)) => Some(Base { uri: uri_of(dir), revision: None, branch: None }),
        (None, None, None) => None,
    }
}

fn short(facts: &SessionFacts) -> String {
    facts.id.chars().take(8).collect()
}

fn uri_of(dir: &str) -> String {
    if dir.starts_with('/') { format!("file://{dir}") } else { dir.to_owned() }
}

/// Lays compact JSON out over lines, as it passes: two-space indent, `": "` after a key, `[]` and `{}` for empties.
struct Pretty<W> {
    out: W,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// An opening bracket was written, and it is not known yet whether anything stands in it.
    opened: bool,
}

impl<W: Write> Pretty<W> {
    fn new(out: W) -> Self {
        Self { out, depth: 0, in_string: false, escaped: false, opened: false }
    }

    fn new_line(&mut self) -> io::Result<()> {
        const INDENT: [u8; 64] = [b' '; 64];
        self.out.write_all(b"\n")?;
        let mut left = 2 * self.depth;
        while left > 0 {
            let part = left.min(INDENT.len());
            self.out.write_all(&INDENT[..part])?;
            left -= part;
        }
        Ok(())
    }

    fn structural(&mut self, byte: u8) -> io::Result<()> {
        match byte {
            b'}' | b']' => {
                self.depth -= 1;
                if !std::mem::take(&mut self.opened) {
                    self.new_line()?;
                }
            }
            _ => {
                if std::mem::take(&mut self.opened) {
                    self.new_line()?;
                }
            }
        }
        self.out.write_all(&[byte])?;
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.opened = true;
            }
            b',' => self.new_line()?,
            b':' => self.out.write_all(b" ")?,
            b'"' => self.in_string = true,
            _ => {}
        }
        Ok(())
    }
}

impl<W: Write> Write for Pretty<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string {
                let start = at;
                while at < bytes.len() && self.in_string {
                    match bytes[at] {
                        _ if self.escaped => self.escaped = false,
                        b'\\' => self.escaped = true,
                        b'"' => self.in_string = false,
                        _ => {}
                    }
                    at += 1;
                }
                self.out.write_all(&bytes[start..at])?;
            } else {
                self.structural(bytes[at])?;
                at += 1;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pretty_form_is_that_of_serde_json() {
        for text in [
            r#"{"a":[],"b":{},"c":[1,-2.5,true,null,"x, \"y\": [\\"],"d":{"e":{"f":[{}]}}}"#,
            r#"[[["deep"]]]"#,
            "7",
            r#""text""#,
        ] {
            let value: serde_json::Value = serde_json::from_str(text).expect("valid JSON");
            for piece in [1, 3, text.len()] {
                let mut pretty = Pretty::new(Vec::new());
                for part in text.as_bytes().chunks(piece) {
                    pretty.write_all(part).expect("writing to memory");
                }
                let laid_out = String::from_utf8(pretty.out).expect("text");
                assert_eq!(laid_out, serde_json::to_string_pretty(&value).expect("JSON"));
            }
        }
    }
}
