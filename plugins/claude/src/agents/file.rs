//! One sub-agent's file: what its first records say, and how far it was told.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::lines::{Lines, trim};

use super::said::Said;
use crate::content::Content;
use crate::digest;
use crate::shape::{Message, Record, Sidecar};

/// Bytes of a file of facts that are looked at; real ones have less than one KiB.
const SIDECAR: u64 = 64 * 1024;
/// Records at a file's start that are looked at for the prompt.
const FIRST: usize = 8;

/// A sub-agent's file.
#[derive(Debug)]
pub(crate) struct AgentFile {
    /// What the sub-agent is called.
    pub(crate) agent: String,
    /// How messages name the file, relative to the session's folder.
    pub(crate) name: String,
    /// Digest of the call that started the sub-agent, as the file of facts beside it says.
    pub(crate) call: Option<u128>,
    /// The branch that it was told on.
    pub(crate) branch: Option<Rc<str>>,
    path: PathBuf,
    state: State,
    told: Told,
    /// What it holds, once something was said to be in it.
    said: Option<Said>,
}

#[derive(Debug)]
enum State {
    /// Not looked at yet.
    New,
    Readable,
    Unreadable,
}

/// How far a file was told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Bytes.
    pub(crate) bytes: u64,
    /// Lines.
    pub(crate) lines: u64,
}

/// The part of a file that is not told yet, up to where it ended when it was opened.
pub(crate) type Log = Take<File>;

impl AgentFile {
    pub(super) fn new(agent: String, path: PathBuf, name: String, call: Option<u128>) -> Self {
        Self { agent, name, call, branch: None, path, state: State::New, told: Told::default(), said: None }
    }

    /// Whether it can be read. The first time that it can't, why.
    pub(crate) fn check(&mut self) -> Result<bool, String> {
        if let State::New = self.state {
            self.state = State::Unreadable;
            match self.look() {
                Ok(true) => self.state = State::Readable,
                Ok(false) => return Err("holds no records".to_owned()),
                Err(err) => return Err(err.to_string()),
            }
        }
        Ok(matches!(self.state, State::Readable))
    }

    fn look(&self) -> io::Result<bool> {
        let mut lines = Lines::new(open(&self.path)?);
        while let Some(line) = lines.next()? {
            if !line.is_blank() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether it holds what `record` says.
    pub(crate) fn holds(&mut self, record: &Record<'_>) -> bool {
        let path = &self.path;
        self.said.get_or_insert_with(|| open(path).map(Said::of).unwrap_or_default()).holds(record)
    }

    /// How far it was told.
    pub(crate) fn told(&self) -> Told {
        self.told
    }

    /// It was told as far as `told`.
    pub(crate) fn tell_to(&mut self, told: Told) {
        self.told = told;
    }

    /// Whether something of it was told.
    pub(crate) fn is_begun(&self) -> bool {
        self.told.bytes > 0
    }

    /// Opens it where it was not told yet.
    pub(crate) fn open(&self) -> io::Result<Log> {
        let mut file = open(&self.path)?.into_inner();
        file.seek(SeekFrom::Start(self.told.bytes))?;
        let length = file.metadata()?.len();
        Ok(file.take(length.saturating_sub(self.told.bytes)))
    }

    /// Digest of what the sub-agent was asked.
    pub(crate) fn prompt(&self) -> Option<u128> {
        first(&self.path, |record| {
            let is_prompt = record.kind.text().as_deref() == Some("user");
            let message = Message::of(record.message).filter(|_| is_prompt)?;
            let content = Content::of(message.content, "", false);
            Some(digest::of_text(content.text.trim())).filter(|_| !content.text.trim().is_empty())
        })
    }
}

/// The session that the file's first records name.
pub(super) fn session_of(path: &Path) -> Option<String> {
    first(path, |record| record.parent_session.filled().or_else(|| record.session_id.filled()).map(Into::into))
}

/// Digest of the call that the file of facts at `path` names.
pub(super) fn call_of(path: &Path) -> Option<u128> {
    let mut text = Vec::new();
    open(path).ok()?.take(SIDECAR).read_to_end(&mut text).ok()?;
    let sidecar: Sidecar<'_> = serde_json::from_slice(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text)).ok()?;
    sidecar.tool_use.id().map(|call| digest::of_text(&call))
}

/// What `find` finds in one of the first records.
fn first<T>(path: &Path, find: impl Fn(&Record<'_>) -> Option<T>) -> Option<T> {
    let mut lines = Lines::new(open(path).ok()?);
    for _ in 0..FIRST {
        let line = lines.next().ok()??;
        let (text, _) = line.text();
        let raw = serde_json::from_str(trim(&text)).ok();
        let record: Option<Record<'_>> = raw.and_then(|raw| Field::of(raw).object());
        if let Some(found) = record.as_ref().and_then(&find) {
            return Some(found);
        }
    }
    None
}

/// A file up to its present end; an error for what is none.
fn open(path: &Path) -> io::Result<Log> {
    if !super::folder::is_file(path) {
        return Err(io::Error::other("is no regular file"));
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok(file.take(length))
}
