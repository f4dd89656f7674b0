//! Where the result goes, whole or not at all.
//!
//! A file is written beside its target and renamed over it when it is complete, so that a run that fails leaves what
//! was there. What goes to standard output cannot be taken back: a document is written there only when all of it is
//! known, and a stream says by its last line that it is whole.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, plain};

/// Where the result goes.
#[derive(Debug)]
pub struct Output {
    name: String,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Stdout(BufWriter<Stdout>),
    /// A device or a pipe, which is written to and not replaced.
    Device(BufWriter<File>),
    File(Box<Replacement>),
}

/// A file that will be replaced.
#[derive(Debug)]
struct Replacement {
    target: PathBuf,
    existing: Option<fs::Metadata>,
    /// What is written beside it; made when there is something to write, so that a run which ends early leaves nothing.
    beside: Option<BufWriter<NamedTempFile>>,
}

const BUFFER: usize = 64 * 1024;

impl Output {
    /// Makes ready to write to `path`; without one, or with `-`, to standard output. `session` must not be replaced.
    pub fn open(path: Option<&Path>, session: &Path) -> Result<Self, Error> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            let name = "standard output".to_owned();
            return match stdout() {
                Ok(out) => Ok(Self { name, place: Place::Stdout(BufWriter::with_capacity(BUFFER, out)) }),
                Err(source) => Err(Error::Output { target: name, source }),
            };
        };
        let name = format!("`{}`", path.display());
        match open_file(path, session) {
            Ok(place) => Ok(Self { name, place }),
            Err(source) => Err(Error::Output { target: name, source }),
        }
    }

    /// Whether somebody may be reading along, so that each piece should leave at once.
    pub fn is_live(&self) -> bool {
        match &self.place {
            Place::Stdout(out) => out.get_ref().is_terminal() || !is_regular(out.get_ref()),
            Place::Device(_) => true,
            Place::File(_) => false,
        }
    }

    /// Writes what `fill` writes; may be called more than once.
    pub fn write(&mut self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
        self.writer().and_then(fill).map_err(|source| self.failed(source))
    }

    /// Lets what was written so far leave.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.writer().and_then(|out| out.flush()).map_err(|source| self.failed(source))
    }

    /// Ends the writing: from now on the result is there.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        let Self { name, place } = self;
        match place {
            Place::File(replacement) => replacement.put().map_err(|source| Error::Output { target: name, source }),
            Place::Stdout(_) | Place::Device(_) => Ok(()),
        }
    }

    fn writer(&mut self) -> io::Result<&mut dyn Write> {
        Ok(match &mut self.place {
            Place::Stdout(out) => out,
            Place::Device(out) => out,
            Place::File(replacement) => replacement.writer()?,
        })
    }

    fn failed(&self, source: io::Error) -> Error {
        match (&self.place, source.kind()) {
            (Place::Stdout(_), io::ErrorKind::BrokenPipe) => Error::ClosedPipe,
            _ => Error::Output { target: self.name.clone(), source: plain(source) },
        }
    }
}

fn open_file(path: &Path, session: &Path) -> io::Result<Place> {
    let refuse = |kind, reason: &str| Err(io::Error::new(kind, reason));
    // A pipe has no name that a link to it could be followed to.
    if fs::metadata(path).is_ok_and(|existing| !existing.is_file() && !existing.is_dir()) {
        let device = fs::OpenOptions::new().write(true).open(path)?;
        return Ok(Place::Device(BufWriter::with_capacity(BUFFER, device)));
    }
    // A link stays, and what it points at is replaced.
    let target = followed(path);
    let existing = fs::metadata(&target).ok();
    if let Some(existing) = &existing {
        if existing.is_dir() {
            return refuse(io::ErrorKind::IsADirectory, "it is a folder; name a file");
        }
        if is_same_file(&target, session) {
            return refuse(io::ErrorKind::InvalidInput, "it is the session itself; name another file");
        }
    }
    if !folder_of(&target).is_dir() {
        return refuse(io::ErrorKind::NotFound, "there is no such folder; make it first");
    }
    Ok(Place::File(Box::new(Replacement { target, existing, beside: None })))
}

/// Where a path leads when links are followed, whether something is there or not.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many as the system itself would follow.
    for _ in 0..40 {
        let Ok(link) = fs::read_link(&path) else { break };
        path = folder_of(&path).join(link);
    }
    path
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl Replacement {
    fn writer(&mut self) -> io::Result<&mut dyn Write> {
        if self.beside.is_none() {
            let mut builder = tempfile::Builder::new();
            builder.prefix(".toolpath-").suffix(".tmp");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                builder.permissions(fs::Permissions::from_mode(0o666));
            }
            let file = builder.tempfile_in(folder_of(&self.target)).map_err(plain)?;
            self.beside = Some(BufWriter::with_capacity(BUFFER, file));
        }
        self.beside.as_mut().map(|out| out as &mut dyn Write).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn put(self) -> io::Result<()> {
        let Some(beside) = self.beside else { return Ok(()) };
        let file = beside.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(existing) = self.existing {
            file.as_file().set_permissions(existing.permissions())?;
        }
        file.persist(&self.target).map_err(|err| err.error)?;
        Ok(())
    }
}

#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

#[cfg(not(unix))]
fn is_same_file(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// Standard output as it is, without the buffer that looks for the ends of lines.
#[cfg(unix)]
pub(crate) type Stdout = File;
/// Standard output.
#[cfg(not(unix))]
pub(crate) type Stdout = io::Stdout;

#[cfg(unix)]
pub(crate) fn stdout() -> io::Result<Stdout> {
    use std::os::fd::AsFd;
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(not(unix))]
pub(crate) fn stdout() -> io::Result<Stdout> {
    Ok(io::stdout())
}

/// Whether standard output is a file, where nobody reads along.
#[cfg(unix)]
fn is_regular(out: &Stdout) -> bool {
    out.metadata().is_ok_and(|metadata| metadata.is_file())
}

#[cfg(not(unix))]
fn is_regular(_: &Stdout) -> bool {
    false
}
