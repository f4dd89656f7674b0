//! SQLite databases whose newest rows are in a write-ahead log.
//!
//! Such a log is read through an index (`-shm`). Where another program has the database open, the index is there, and a reader
//! needs to write nothing. Where it is not there, a reader would have to make one beside the database; and one that
//! ignores the log instead (`immutable`) silently loses its rows. So database and log are copied to a private folder,
//! with an empty index beside them, and the copy is read.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempDir;

use crate::error::Error;

/// The first bytes of every SQLite database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// How often a copy is tried of what others write to.
const TRIES: usize = 3;

/// Why there is no copy.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The database cannot be read.
    Unreadable(io::Error),
    /// The copy cannot be written.
    Unwritable(io::Error),
    /// It changed under each try.
    Busy,
}

impl Refusal {
    /// The error that the user is told of session `name`.
    pub(super) fn of(self, name: &str) -> Error {
        let reason = match self {
            Self::Unwritable(err) => return Error::temporary(err),
            Self::Unreadable(err) => format!("cannot be read: {err}"),
            Self::Busy => {
                format!("was written to during each of {TRIES} tries to copy it; close the program that writes to it")
            }
        };
        Error::Session { name: name.to_owned(), reason }
    }
}

/// A private copy of the database and its log, where it cannot be read in place; `None` for everything else.
pub(super) fn private_copy(file: &Path) -> Result<Option<(TempDir, PathBuf)>, Refusal> {
    copy_while(file, &mut || {})
}

/// The same, with something that happens during each try.
fn copy_while(file: &Path, meanwhile: &mut dyn FnMut()) -> Result<Option<(TempDir, PathBuf)>, Refusal> {
    // The log lies beside the file, not beside a link to it.
    let file = &fs::canonicalize(file).map_err(Refusal::Unreadable)?;
    let log = beside(file, "-wal");
    let is_in_place = !has_rows(&log) || fs::symlink_metadata(beside(file, "-shm")).is_ok();
    if is_in_place || !is_database(file).map_err(Refusal::Unreadable)? {
        return Ok(None);
    }
    let folder = TempDir::new().map_err(Refusal::Unwritable)?;
    let copy = folder.path().join(file.file_name().unwrap_or("database".as_ref()));
    for _ in 0..TRIES {
        let before = (state(file), state(&log));
        copy_file(file, &copy)?;
        meanwhile();
        copy_file(&log, &beside(&copy, "-wal"))?;
        if before == (state(file), state(&log)) {
            File::create(beside(&copy, "-shm")).map_err(Refusal::Unwritable)?;
            return Ok(Some((folder, copy)));
        }
    }
    Err(Refusal::Busy)
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(ending);
    PathBuf::from(name)
}

fn has_rows(log: &Path) -> bool {
    fs::metadata(log).is_ok_and(|log| log.is_file() && log.len() > 0)
}

fn is_database(file: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(file)?.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    Ok(head == MAGIC)
}

/// Size and time of the last write: what changes when somebody writes.
fn state(file: &Path) -> Option<(u64, SystemTime)> {
    let metadata = fs::metadata(file).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn copy_file(from: &Path, to: &Path) -> Result<(), Refusal> {
    let mut from = match File::open(from) {
        Ok(file) => file,
        // The log went away as its rows moved into the database: another try sees that.
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(Refusal::Unreadable(err)),
    };
    let mut to = File::create(to).map_err(Refusal::Unwritable)?;
    io::copy(&mut from, &mut to).map_err(Refusal::Unwritable)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(files: &[(&str, &str)]) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, content) in files {
            fs::write(folder.path().join(name), content).expect("a file");
        }
        folder
    }

    fn copied(files: &[(&str, &str)]) -> Option<(TempDir, PathBuf)> {
        private_copy(&database(files).path().join("x.db")).expect("a copy or none")
    }

    const DATABASE: (&str, &str) = ("x.db", "SQLite format 3\0 and pages");

    #[test]
    fn a_database_with_a_log_and_no_index_is_copied_with_its_log() {
        let (folder, copy) = copied(&[DATABASE, ("x.db-wal", "rows")]).expect("a copy");
        assert_eq!(copy.parent(), Some(folder.path()));
        let read = |ending: &str| fs::read_to_string(beside(&copy, ending)).expect("a file of the copy");
        assert_eq!((read("").as_str(), read("-wal").as_str(), read("-shm").as_str()), (DATABASE.1, "rows", ""));
    }

    #[test]
    fn what_can_be_read_in_place_is_not_copied() {
        for files in [
            &[DATABASE][..],
            &[DATABASE, ("x.db-wal", "")],
            &[DATABASE, ("x.db-wal", "rows"), ("x.db-shm", "index")],
            &[("x.db", "no database"), ("x.db-wal", "rows")],
        ] {
            assert!(copied(files).is_none(), "{files:?}");
        }
    }

    #[test]
    fn a_database_that_is_written_to_all_the_time_is_given_up() {
        let folder = database(&[DATABASE, ("x.db-wal", "rows")]);
        let log = folder.path().join("x.db-wal");
        let append = |times: &mut u32| {
            use std::io::Write;
            *times += 1;
            let mut log = fs::OpenOptions::new().append(true).open(&log).expect("the log");
            log.write_all(b"rows").expect("writing");
        };
        let mut times = 0;
        let outcome = copy_while(&folder.path().join("x.db"), &mut || append(&mut times));
        assert_eq!(times, 3);
        assert!(matches!(outcome, Err(Refusal::Busy)), "{outcome:?}");
    }

    #[test]
    fn a_database_that_comes_to_rest_is_copied_as_it_is_then() {
        let folder = database(&[DATABASE, ("x.db-wal", "rows")]);
        let mut times = 0;
        let copy = copy_while(&folder.path().join("x.db"), &mut || {
            times += 1;
            if times == 1 {
                fs::write(folder.path().join("x.db-wal"), "more rows").expect("writing");
            }
        });
        let (_folder, copy) = copy.expect("readable").expect("a copy");
        assert_eq!(fs::read_to_string(beside(&copy, "-wal")).expect("the log"), "more rows");
        assert_eq!(times, 2);
    }
}
