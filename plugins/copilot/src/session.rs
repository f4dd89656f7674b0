//! Where a session's log is, in which of the layouts, and what the session is called.

use std::fs::File;
use std::io::{self, Read, Take};
use std::path::{Path, PathBuf};

use crate::known::session_of;
use crate::legacy;
use crate::lines::first;
use crate::workspace::Workspace;

/// Name of the log in a session's folder.
pub(crate) const EVENTS: &str = "events.jsonl";
/// Bytes by which the layout is told.
const HEAD: u64 = 64 * 1024;
/// Records among which the one that names the session is looked for.
const MOST_RECORDS: usize = 100;

/// A session's log.
#[derive(Debug)]
pub(crate) struct Session {
    path: PathBuf,
    is_copy: bool,
}

impl Session {
    /// The session at `path`: its log or the folder that holds it; `is_copy` when the path says nothing about it.
    pub(crate) fn at(path: PathBuf, is_copy: bool) -> Self {
        let path = if path.is_dir() { path.join(EVENTS) } else { path };
        Self { path, is_copy }
    }

    /// Its log, from the first byte to the present end: one that grows as fast as it is read would never come to another.
    pub(crate) fn open(&self) -> io::Result<Take<File>> {
        let file = File::open(&self.path)?;
        let about = file.metadata()?;
        let length = if about.is_file() { about.len() } else { u64::MAX };
        Ok(file.take(length))
    }

    /// Whether it is one document of the oldest layout.
    pub(crate) fn is_legacy(&self) -> io::Result<bool> {
        let mut head = Vec::new();
        self.open()?.take(HEAD).read_to_end(&mut head)?;
        Ok(legacy::is_legacy(&head))
    }

    /// Its id: as its start names it, else as its folder or its file is called.
    pub(crate) fn id(&self) -> io::Result<String> {
        let named = first(self.open()?, MOST_RECORDS, session_of)?;
        Ok(named.unwrap_or_else(|| if self.is_copy { "stdin".to_owned() } else { self.name() }))
    }

    /// What its folder or its file is called.
    pub(crate) fn name(&self) -> String {
        let text = |name: Option<&std::ffi::OsStr>| name.unwrap_or_default().to_string_lossy().into_owned();
        match self.folder().and_then(Path::file_name) {
            Some(folder) => text(Some(folder)),
            None => text(self.path.file_stem()),
        }
    }

    /// What stands beside its log.
    pub(crate) fn workspace(&self) -> Workspace {
        self.folder().filter(|_| !self.is_copy).map(Workspace::of).unwrap_or_default()
    }

    /// Its folder, where it has one of its own.
    fn folder(&self) -> Option<&Path> {
        let is_own = self.path.file_name().is_some_and(|name| name == EVENTS);
        self.path.parent().filter(|_| is_own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_called_as_its_folder_or_its_file() {
        let name = |path: &str| Session::at(path.into(), false).name();
        assert_eq!(name("/h/session-state/s-1/events.jsonl"), "s-1");
        assert_eq!(name("/h/session-state/s-1.jsonl"), "s-1");
        assert_eq!(name("events.jsonl"), "events");
    }
}
