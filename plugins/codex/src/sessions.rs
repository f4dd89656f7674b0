//! The sessions below the roots, by the heads and tails of their files.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::lines::Lines;
use toolpath_plugin_api::kit::time::Span;
use toolpath_plugin_api::{EntryRecord, ListSink, PluginError, Severity, Stopped};

use crate::content::Content;
use crate::log::{Log, Part, Piece, is_object_of_items};
use crate::record::{Kind, Record};
use crate::words;

/// Bytes looked at from the start: the header may hold all instructions that the model was given.
const HEAD: u64 = 1 << 20;
/// Bytes looked at from the end, for the last time.
const TAIL: u64 = 64 * 1024;
/// Years, months and days.
const DEEPEST: usize = 4;
const LONGEST_TITLE: usize = 80;

/// Lists the sessions below `roots`; of two files with one name the first root's counts.
pub(crate) fn list(roots: &[PathBuf], sink: &mut ListSink<'_>) -> Result<(), PluginError> {
    let mut seen = HashSet::new();
    for root in roots {
        let mut files = Vec::new();
        gather(root, DEEPEST, &mut files, sink)?;
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            // Where a compressed file stands beside what it was made of, it is older.
            let is_older = name.ends_with(".zst") && file.with_extension("").exists();
            if !is_older && seen.insert(name.strip_suffix(".zst").unwrap_or(&name).to_owned()) {
                entry(&file, sink)?;
            }
        }
    }
    Ok(())
}

fn gather(folder: &Path, deeper: usize, files: &mut Vec<PathBuf>, sink: &mut ListSink<'_>) -> Result<(), Stopped> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Not everybody has archived sessions, or any.
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(err) => {
            let message = format!("cannot be listed: {err}");
            return sink.diagnostic(Severity::Warning, "unreadable-folder", &message, folder);
        }
    };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        let is_session = is_session(&name.to_string_lossy());
        // Links to folders are not followed: they could lead in circles.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() {
            if deeper > 0 {
                gather(&path, deeper - 1, files, sink)?;
            }
        } else if is_session && fs::metadata(&path).is_ok_and(|about| about.is_file()) {
            files.push(path);
        } else if is_session {
            sink.diagnostic(Severity::Warning, "unreadable-session", "is no regular file", &path)?;
        }
    }
    Ok(())
}

fn is_session(name: &str) -> bool {
    name.starts_with("rollout-") && [".jsonl", ".jsonl.zst", ".json"].iter().any(|end| name.ends_with(end))
}

fn entry(path: &Path, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
    let parts = || {
        let log = Log::of(File::open(path)?)?;
        let (head, tail) = (log.head(HEAD)?, log.tail(TAIL)?);
        Ok::<_, PluginError>((head, tail, log.length()))
    };
    let (head, tail, length) = match parts() {
        Ok(parts) => parts,
        Err(err) => return Ok(sink.diagnostic(Severity::Warning, "unreadable-session", &err.to_string(), path)?),
    };
    let mut about = About::default();
    if is_object_of_items(&head) {
        about.object(&head);
    } else {
        about.lines(&head)?;
    }
    if let Some(tail) = tail.filter(|_| length > HEAD) {
        about.times(&tail)?;
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let id = about.id.unwrap_or_else(|| id_of(&name).to_owned());
    let (first, last) = (about.span.first(), about.span.last());
    let entry = EntryRecord {
        id: &id,
        project: about.project.as_deref(),
        title: about.title.as_deref(),
        started_at: first.as_deref(),
        // Of a compressed file only its beginning was looked at.
        last_activity: last.as_deref().filter(|_| !name.ends_with(".zst")),
        turns: None,
        bytes: length,
    };
    Ok(sink.entry(path, &entry)?)
}

/// The id in a file's name: what follows the time.
pub(crate) fn id_of(name: &str) -> &str {
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let name = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json")).unwrap_or(name);
    let at = name.len().checked_sub(UUID).filter(|&at| name.is_char_boundary(at) && name.starts_with("rollout-"));
    at.map(|at| &name[at..]).filter(|id| is_uuid(id)).unwrap_or(name)
}

const UUID: usize = 36;

/// Whether a text of that length has the shape of an id.
pub(crate) fn is_uuid(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

/// What a file's beginning and end say.
#[derive(Debug, Default)]
struct About {
    id: Option<String>,
    project: Option<String>,
    title: Option<String>,
    span: Span,
}

impl About {
    fn lines(&mut self, head: &[u8]) -> Result<(), PluginError> {
        let mut lines = Lines::new(head);
        while let Some(line) = lines.next()? {
            let (text, _) = line.text();
            self.take(&text, Part::Line);
        }
        Ok(())
    }

    /// The times of a file's last lines.
    fn times(&mut self, tail: &[u8]) -> Result<(), PluginError> {
        let mut lines = Lines::new(tail);
        while let Some(line) = lines.next()? {
            let (text, _) = line.text();
            self.span.see(&record(&text, Part::Line).time);
        }
        Ok(())
    }

    /// The header of the TypeScript CLI's object.
    fn object(&mut self, head: &[u8]) {
        let text = String::from_utf8_lossy(head);
        let Some((_, rest)) = text.split_once(':') else { return };
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&serde_json::value::RawValue>();
        if let Some(Ok(session)) = values.next() {
            self.take(session.get(), Part::Header);
        }
    }

    fn take(&mut self, text: &str, part: Part<'_>) {
        let record = record(text, part);
        self.span.see(&record.time);
        match record.kind {
            Kind::Meta(meta) if self.id.is_none() => {
                self.id = meta.id.filled().map(|id| id.into_owned());
                self.project = meta.cwd.filled().map(|cwd| cwd.into_owned());
                self.span.see(&meta.time.text().unwrap_or_default());
            }
            Kind::Item(item) if self.title.is_none() && item.kind() == "message" && item.role.is("user") => {
                let content = Content::of(item.content);
                if words::of_user(&content, &item.passthrough()).is_none() {
                    self.title = title(&content.text);
                }
            }
            _ => {}
        }
    }
}

fn record<'a>(text: &'a str, part: Part<'a>) -> Record<'a> {
    let text = if Field::parse(text).json().is_some() { text } else { "{}" };
    Record::of(&Piece::alone(text, part))
}

/// The first line that says something, as far as a title goes.
fn title(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let end = line.char_indices().nth(LONGEST_TITLE).map_or(line.len(), |(at, _)| at);
    Some(if end < line.len() { format!("{}...", line[..end].trim_end()) } else { line.to_owned() })
}
