//! What the user named, made ready for a plugin to open.
//!
//! A plugin opens a path, and may read it more than once or from its end. What is no file or folder (standard input, a
//! pipe from a shell's process substitution) is therefore copied to a temporary file first.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Error;

/// A session to read.
#[derive(Debug)]
pub struct Source {
    /// How messages name it.
    pub name: String,
    /// What to open.
    pub path: PathBuf,
    /// Keeps the copy of a pipe until it was read.
    _spooled: Option<NamedTempFile>,
}

impl Source {
    /// Makes `session` ready: a path, or `-` for standard input.
    pub fn open(session: &Path) -> Result<Self, Error> {
        let name = session.display().to_string();
        if name == "-" {
            return Self::spool(name, io::stdin().lock());
        }
        let refuse = |reason: &str| Err(Error::Session { name: name.clone(), reason: reason.to_owned() });
        let metadata = match fs::metadata(session) {
            Ok(metadata) => metadata,
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                return refuse("there is no such file; check the path");
            }
            Err(err) => return refuse(&format!("cannot be examined: {err}")),
        };
        if metadata.is_dir() {
            return Ok(Self { name, path: session.to_owned(), _spooled: None });
        }
        if !metadata.is_file() && !is_pipe(&metadata) {
            return refuse("is neither a file nor a folder nor a pipe; name a session");
        }
        let file = match File::open(session) {
            Ok(file) => file,
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied => {
                return refuse("may not be read by you; check its permissions");
            }
            Err(err) => return refuse(&format!("cannot be opened: {err}")),
        };
        if !metadata.is_file() {
            return Self::spool(name, file);
        }
        if metadata.len() == 0 {
            return refuse("is empty; there is no session in it");
        }
        Ok(Self { name, path: session.to_owned(), _spooled: None })
    }

    fn spool(name: String, mut input: impl io::Read) -> Result<Self, Error> {
        let mut copy = NamedTempFile::new().map_err(Error::Spool)?;
        let copied = io::copy(&mut input, copy.as_file_mut())
            .map_err(|err| Error::Session { name: name.clone(), reason: format!("cannot be copied: {err}") })?;
        if copied == 0 {
            return Err(Error::Session { name, reason: "is empty; there is no session in it".to_owned() });
        }
        Ok(Self { name, path: copy.path().to_owned(), _spooled: Some(copy) })
    }
}

#[cfg(unix)]
fn is_pipe(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    metadata.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}
