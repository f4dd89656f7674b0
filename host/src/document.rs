//! Writes a document: head, steps, tail.
//!
//! Head and tail know what is known last, so nothing is written before the session was read whole. Steps are copied
//! from their spool. The pretty form is the compact one, laid out on the way.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::derive::{ActorEntry, Steps};
use crate::intake::Conversation;

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
pub fn write(conversation: Conversation, choices: &Choices, out: &mut impl Write) -> io::Result<()> {
    if choices.pretty {
        let mut pretty = Pretty::new(&mut *out);
        write_compact(conversation, choices, &mut pretty)?;
    } else {
        write_compact(conversation, choices, out)?;
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

#[derive(Serialize)]
struct Base<'a> {
    uri: String,
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    revision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<&'a str>,
}

#[derive(Serialize)]
struct PathMeta<'a> {
    title: &'a str,
    kind: &'a str,
    source: &'a str,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    actors: &'a BTreeMap<String, ActorEntry>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files_changed: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    producer: Option<Producer<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vcs_remote: Option<&'a str>,
}

#[derive(Serialize)]
struct Producer<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
}

fn write_compact(conversation: Conversation, choices: &Choices, out: &mut impl Write) -> io::Result<()> {
    let Conversation { provider, facts, steps, .. } = conversation;
    let Steps { mut spool, mut index, head, actors, files, first_working_dir } = steps;
    let short: String = facts.id.chars().take(8).collect();
    let id = choices.path_id.clone().unwrap_or_else(|| format!("path-{provider}-{short}"));

    let (revision, branch) = (facts.vcs_revision.as_deref(), facts.vcs_branch.as_deref());
    let base = match (&choices.base_uri, &facts.working_dir, &first_working_dir) {
        (Some(uri), _, _) => Some(Base { uri: uri.clone(), revision, branch }),
        (None, Some(dir), _) => Some(Base { uri: uri_of(dir), revision, branch }),
        (None, None, Some(dir)) => Some(Base { uri: uri_of(dir), revision: None, branch: None }),
        (None, None, None) => None,
    };
    let identity = PathIdentity { id: &id, base, head: &head };

    out.write_all(b"{\"graph\":{\"id\":")?;
    serde_json::to_writer(&mut *out, &id)?;
    out.write_all(b"},\"paths\":[{\"path\":")?;
    serde_json::to_writer(&mut *out, &identity)?;
    out.write_all(b",\"steps\":[")?;
    if let Some(last) = index.last_mut() {
        // Without the comma that follows each step.
        last.length -= 1;
    }
    spool.copy_all(&index, out)?;
    out.write_all(b"],\"meta\":")?;
    let generic_title = format!("{provider} session: {short}");
    let meta = PathMeta {
        title: choices.title.as_deref().or(facts.title.as_deref()).unwrap_or(&generic_title),
        kind: KIND,
        source: &provider,
        actors: &actors,
        files_changed: facts.files_changed.as_deref().unwrap_or(&files),
        producer: facts.producer.as_ref().map(|(name, version)| Producer { name, version: version.as_deref() }),
        vcs_remote: facts.vcs_remote.as_deref(),
    };
    serde_json::to_writer(&mut *out, &meta)?;
    out.write_all(b"}]}")
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
