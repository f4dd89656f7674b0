//! What the user named, made ready for a plugin to open.
//!
//! A plugin opens a path, and may read it more than once or from its end. What is no file or folder (standard input, a
//! pipe from a shell's process substitution) is therefore copied to a temporary file first. The copy's name means
//! nothing, and the plugin is told so. A database whose newest rows are in a write-ahead log is copied, too, where reading it in place
//! would mean writing beside it.

mod database;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::error::Error;
use crate::plugin::feed::Session;

/// A session to read.
#[derive(Debug)]
pub struct Source {
    /// How messages name it.
    pub name: String,
    /// What the user named.
    original: PathBuf,
    /// Which session, where it is a store of several.
    id: Option<String>,
    /// What to open.
    path: PathBuf,
    /// The path says nothing about the session.
    is_copy: bool,
    /// Keeps a copy until it was read.
    _copy: Option<Copy>,
}

/// What is removed when it was read.
#[derive(Debug)]
enum Copy {
    File { _file: NamedTempFile },
    Folder { _folder: TempDir },
}

impl Source {
    /// Makes `session` ready: a path, or `-` for standard input; `id` says which one, where the path is a store of several.
    pub fn open(session: &Path, id: Option<&str>) -> Result<Self, Error> {
        let source = Self::open_path(session)?;
        Ok(match id {
            Some(id) => source.with_id(id.to_owned()),
            None => source,
        })
    }

    fn open_path(session: &Path) -> Result<Self, Error> {
        let name = session.display().to_string();
        if name == "-" {
            return Self::copy(name, PathBuf::from("/dev/stdin"), io::stdin().lock());
        }
        let refuse = |reason: &str| Err(Error::Session { name: name.clone(), reason: reason.to_owned() });
        let metadata = match fs::metadata(session) {
            Ok(metadata) => metadata,
            Err(err) if err.kind() == io::ErrorKind::NotFound => {
                return refuse("there is no such file; check the path");
            }
            Err(err) => return refuse(&format!("cannot be examined: {err}")),
        };
        if !metadata.is_file() && !metadata.is_dir() && !is_pipe(&metadata) {
            return refuse("is neither a file nor a folder nor a pipe; name a session");
        }
        // A descriptor's name (`/dev/stdin`) says nothing either, whatever it leads to.
        let is_descriptor = session.starts_with("/dev") || session.starts_with("/proc");
        let original = session.to_owned();
        if metadata.is_dir() {
            return Ok(Self {
                name,
                path: session.to_owned(),
                original,
                id: None,
                is_copy: is_descriptor,
                _copy: None,
            });
        }
        let file = match File::open(session) {
            Ok(file) => file,
            Err(err) if err.kind() == io::ErrorKind::PermissionDenied => {
                return refuse("may not be read by you; check its permissions");
            }
            Err(err) => return refuse(&format!("cannot be opened: {err}")),
        };
        if !metadata.is_file() || is_descriptor {
            return Self::copy(name, original, file);
        }
        if metadata.len() == 0 {
            return refuse("is empty; there is no session in it");
        }
        if let Some((folder, path)) = database::private_copy(session).map_err(|refusal| refusal.of(&name))? {
            let copy = Some(Copy::Folder { _folder: folder });
            return Ok(Self { name, path, original, id: None, is_copy: false, _copy: copy });
        }
        Ok(Self { name, path: session.to_owned(), original, id: None, is_copy: false, _copy: None })
    }

    fn with_id(mut self, id: String) -> Self {
        self.name = format!("{}#{id}", self.name);
        self.id = Some(id);
        self
    }

    /// What tells it from other sources, however it is spelled.
    pub fn identity(&self) -> PathBuf {
        let mut identity = fs::canonicalize(&self.original).unwrap_or_else(|_| self.original.clone()).into_os_string();
        if let Some(id) = &self.id {
            identity.push("#");
            identity.push(id);
        }
        identity.into()
    }

    /// What the user named, which must not be written over.
    pub fn original(&self) -> &Path {
        &self.original
    }

    /// The session as a plugin is asked to read it.
    pub fn session(&self) -> Session<'_> {
        Session { path: &self.path, name: &self.name, id: self.id.as_deref(), is_copy: self.is_copy }
    }

    fn copy(name: String, original: PathBuf, mut input: impl Read) -> Result<Self, Error> {
        let mut copy = NamedTempFile::new().map_err(Error::temporary)?;
        let mut piece = vec![0; 256 * 1024];
        let mut copied = 0;
        loop {
            let count = match input.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => continue,
                Err(err) => return Err(Error::Session { name, reason: format!("cannot be read: {err}") }),
            };
            copy.write_all(&piece[..count]).map_err(Error::temporary)?;
            copied += count;
        }
        if copied == 0 {
            return Err(Error::Session { name, reason: "is empty; there is no session in it".to_owned() });
        }
        let path = copy.path().to_owned();
        Ok(Self { name, original, id: None, path, is_copy: true, _copy: Some(Copy::File { _file: copy }) })
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
