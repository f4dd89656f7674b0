//! Where the result goes, whole or not at all.
//!
//! A file is written beside its target and renamed over it when it is complete, so that a run that fails leaves what
//! was there. Standard output gets nothing before there is a whole document to write.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Where the result goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Standard output.
    Stdout,
    /// A file.
    File(PathBuf),
}

impl Target {
    /// Writes what `fill` writes.
    pub fn write(&self, fill: impl FnOnce(&mut BufWriter<&mut dyn Write>) -> io::Result<()>) -> Result<(), Error> {
        let done = match self {
            Self::Stdout => fill_buffered(&mut io::stdout().lock(), fill),
            Self::File(path) => write_file(path, fill),
        };
        done.map_err(|source| match source.kind() {
            io::ErrorKind::BrokenPipe if *self == Self::Stdout => Error::ClosedPipe,
            _ => Error::Output { target: self.name(), source },
        })
    }

    fn name(&self) -> String {
        match self {
            Self::Stdout => "standard output".to_owned(),
            Self::File(path) => format!("`{}`", path.display()),
        }
    }
}

fn fill_buffered(
    out: &mut dyn Write,
    fill: impl FnOnce(&mut BufWriter<&mut dyn Write>) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 * 1024, out);
    fill(&mut out)?;
    out.flush()?;
    // What the buffer still held is out; the parts are taken so that a failed flush is not tried again on drop.
    let (inner, _) = out.into_parts();
    inner.flush()
}

fn write_file(path: &Path, fill: impl FnOnce(&mut BufWriter<&mut dyn Write>) -> io::Result<()>) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    if let Some(existing) = &existing {
        if existing.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder; name a file"));
        }
        if !existing.is_file() {
            // A device or a pipe is written to, not replaced.
            return fill_buffered(&mut fs::OpenOptions::new().write(true).open(path)?, fill);
        }
    }
    // A link stays, and what it points at is replaced.
    let target = if existing.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".toolpath-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    fill_buffered(file.as_file_mut(), fill)?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    file.persist(&target).map_err(|err| err.error)?;
    Ok(())
}
