//! What can be wrong with a database, in words for the one who reads them.

use std::fmt;

use rusqlite::ErrorCode;

use crate::error::PluginError;

/// Why a database, or a row of it, could not be read: one sentence that a [`PluginError`] or a diagnostic can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    message: String,
    is_local: bool,
}

impl Fault {
    /// Whether other rows may still be read: a page is damaged or cannot be read from the disk, or a value is too long.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_local: false }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(err: rusqlite::Error) -> Self {
        let (code, text) = match &err {
            rusqlite::Error::SqliteFailure(failure, text) => (failure.code, text.clone()),
            rusqlite::Error::SqlInputError { error, msg, .. } => (error.code, Some(msg.clone())),
            _ => (ErrorCode::Unknown, None),
        };
        let text = text.unwrap_or_else(|| err.to_string());
        let (message, is_local) = match code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
                ("is locked by a program that writes to it; try again when that is done".to_owned(), false)
            }
            ErrorCode::NotADatabase => ("is no SQLite database, or an encrypted one".to_owned(), false),
            ErrorCode::DatabaseCorrupt => (format!("a page of the database is damaged: {text}"), true),
            ErrorCode::SystemIoFailure => (format!("a page of the database cannot be read: {text}"), true),
            ErrorCode::TooBig => (format!("a value is longer than {} MiB", super::LONGEST >> 20), true),
            ErrorCode::ReadOnly => {
                let message = "was left in the middle of a write, which only its own program can take back; \
                               open it there once, then try again";
                (message.to_owned(), false)
            }
            ErrorCode::CannotOpen => (
                "cannot be opened as a database; it, its `-wal` or its `-shm` may not be read by you".to_owned(),
                false,
            ),
            _ => (format!("cannot be read as a database: {text}"), false),
        };
        Self { message, is_local }
    }
}

impl From<Fault> for PluginError {
    fn from(fault: Fault) -> Self {
        Self::new(fault.message)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}
