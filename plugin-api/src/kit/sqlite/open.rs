//! How a database is opened so that nothing of it changes.
//!
//! A read-only connection of SQLite's still writes: it makes a `-wal` and a `-shm` beside a database in WAL mode, and
//! marks its place in the `-shm` that others share. So each state that a database can be found in has its own way in:
//!
//! | found | way |
//! |---|---|
//! | no WAL mode, no rows in a `-wal` | plain; the file's own locks keep writers out |
//! | a `-wal`, and the `-shm` that its readers and writers share | through both, the `-shm` mapped without writing |
//! | rows in a `-wal`, no `-shm` | without locks, the index of the `-wal` made in memory |
//! | WAL mode, nothing in a `-wal` | immutable: without locks |
//!
//! Never immutable beside rows in a `-wal`: they would be lost in silence. The ways without locks are watched: when a
//! file has changed by the end, nothing that was read can be believed.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::{Database, Fault, LONGEST, MAGIC};
use crate::error::PluginError;
use crate::provider::path_bytes;

/// How long a lock that somebody else holds is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The way into a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Plain,
    Shared,
    InMemory,
    Immutable,
}

impl Way {
    fn query(self) -> &'static str {
        match self {
            Self::Plain => "mode=ro",
            Self::Shared => "mode=ro&readonly_shm=1",
            // Locks of the system are for descriptors that may write; this one takes none.
            Self::InMemory if cfg!(windows) => "mode=ro&vfs=win32-none",
            Self::InMemory => "mode=ro&vfs=unix-none",
            Self::Immutable => "mode=ro&immutable=1",
        }
    }
}

impl Database {
    /// Opens the file at `path` and takes a snapshot of it.
    ///
    /// Fails with one sentence when it is no database, is empty, is locked, or was left in the middle of a write.
    pub fn open(path: &Path) -> Result<Self, PluginError> {
        Self::open_within(path, PATIENCE)
    }

    pub(super) fn open_within(path: &Path, patience: Duration) -> Result<Self, PluginError> {
        // What belongs to a database lies beside the file itself, not beside a link to it.
        let path = fs::canonicalize(path)?;
        let way = way_into(&path)?;
        let watch = matches!(way, Way::InMemory | Way::Immutable).then(|| Watch::over(&path));
        let connection = connect(&path, way, patience).map_err(Fault::from)?;
        Ok(Self { connection, watch })
    }

    /// Says at the end of reading whether it can be believed.
    ///
    /// A snapshot that is read without locks is none any more when a program writes to the file meanwhile.
    pub fn finish(self) -> Result<(), PluginError> {
        match self.watch {
            Some(watch) if !watch.is_as_before() => {
                Err(Fault::new("was written to by another program while it was read; try again").into())
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn way_into(path: &Path) -> Result<Way, PluginError> {
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(PluginError::new("is no file; name a database"));
    }
    // SQLite takes a `-wal` beside an empty file for a leftover and deletes it.
    if about.len() == 0 {
        return Err(PluginError::new("is empty; there is no database in it"));
    }
    let mut header = Vec::new();
    File::open(path)?.take(100).read_to_end(&mut header)?;
    if !header.starts_with(MAGIC) {
        return Err(PluginError::new("is no SQLite database, or an encrypted one"));
    }
    let wal = fs::metadata(beside(path, "-wal")).ok();
    let has_shm = fs::metadata(beside(path, "-shm")).is_ok();
    // Of the two versions in the header the second is that for readers; 2 is WAL mode.
    let is_wal = header.get(19) == Some(&2);
    Ok(match wal {
        Some(_) if has_shm => Way::Shared,
        Some(wal) if wal.len() > 0 => Way::InMemory,
        // Without its `-wal`, a `-shm` is a leftover: whoever has the database open has both.
        _ if is_wal => Way::Immutable,
        _ => Way::Plain,
    })
}

fn connect(path: &Path, way: Way, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri(path, way.query()), flags)?;
    connection.busy_timeout(patience)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // The schema is a stranger's: what would run in it stays off.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.execute_batch(
        "PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA query_only = ON;",
    )?;
    if way == Way::InMemory {
        // With the database to itself, SQLite keeps the index of the `-wal` in memory.
        connection.execute_batch("PRAGMA locking_mode = EXCLUSIVE;")?;
    }
    connection.execute_batch("BEGIN;")?;
    // A transaction begins with the first thing that is read.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}

/// The file of a database that has `ending` behind its name.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

fn uri(path: &Path, query: &str) -> String {
    let bytes = path_bytes(path);
    let bytes = if cfg!(windows) { bytes.strip_prefix(br"\\?\").unwrap_or(&bytes) } else { &bytes };
    let mut uri = String::from(if cfg!(windows) { "file:///" } else { "file:" });
    for &byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => uri.push(byte.into()),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push('?');
    uri.push_str(query);
    uri
}

/// The files of a database as they were when it was opened.
#[derive(Debug)]
pub(super) struct Watch {
    files: [(PathBuf, State); 2],
}

#[derive(Debug, PartialEq, Eq)]
struct State {
    length: u64,
    written: Option<SystemTime>,
}

impl Watch {
    fn over(path: &Path) -> Self {
        Self { files: [path.to_owned(), beside(path, "-wal")].map(|file| (file.clone(), State::of(&file))) }
    }

    fn is_as_before(&self) -> bool {
        self.files.iter().all(|(file, before)| State::of(file) == *before)
    }
}

impl State {
    /// A file that is not there is as good as an empty one.
    fn of(file: &Path) -> Self {
        let about = fs::metadata(file).ok().filter(|about| about.len() > 0);
        Self { length: about.as_ref().map_or(0, Metadata::len), written: about.and_then(|about| about.modified().ok()) }
    }
}
