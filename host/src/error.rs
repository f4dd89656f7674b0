//! Everything that can stop a run, in the words a user reads.

use std::io;
use std::path::PathBuf;

use crate::worker::Isolation;

/// Why a run stopped. Each is one sentence: what, where, what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No plugin of that name was found.
    #[error("no plugin for provider `{name}`: {looked}; {remedy}")]
    NoPlugin {
        /// The provider asked for.
        name: String,
        /// Where the host looked.
        looked: String,
        /// What to do.
        remedy: String,
    },
    /// A plugin that was asked for cannot be used.
    #[error("plugin `{}`: {reason}", .file.display())]
    BadPlugin {
        /// Its file.
        file: PathBuf,
        /// What is wrong, and the remedy.
        reason: String,
        /// The rest, for `--verbose`.
        details: Option<String>,
    },
    /// A plugin broke the contract, or crashed.
    #[error("{session}: the plugin `{plugin}` {offence}; {remedy}")]
    Plugin {
        /// The session it read.
        session: String,
        /// The plugin's name.
        plugin: String,
        /// What it did.
        offence: String,
        /// What ended its process, when it crashed: a signal (`SIGSEGV`), or `exit code N`.
        crash: Option<String>,
        /// What to do.
        remedy: String,
    },
    /// A list of plugins that the user keeps cannot be read or written.
    #[error("`{}` {reason}", .file.display())]
    Trust {
        /// The list.
        file: PathBuf,
        /// What is wrong, and the remedy.
        reason: String,
    },
    /// Something is wrong, and it was said.
    #[error("something is wrong, and it was said")]
    Said {
        /// The exit code of it.
        code: u8,
    },
    /// The isolation that was asked for cannot be had.
    #[error("this system has no isolation of the level `{level}`: {reason}; pass --isolation {strongest}")]
    NoIsolation {
        /// What was asked for.
        level: Isolation,
        /// What there is.
        strongest: Isolation,
        /// Why there is no more.
        reason: String,
    },
    /// Several sessions cannot go to one place.
    #[error("{count} sessions need a folder for their results; pass -o DIR")]
    Several {
        /// How many.
        count: usize,
    },
    /// The session cannot be derived.
    #[error("{name}: {reason}")]
    Session {
        /// How the user named it.
        name: String,
        /// Why.
        reason: String,
    },
    /// Something was unreadable, and the user asked for no less than everything.
    #[error("{name}: {count} of {total} records could not be read, and --strict asks for all; {outcome}")]
    Strict {
        /// How the user named the session.
        name: String,
        /// Unreadable records.
        count: u64,
        /// All records.
        total: u64,
        /// What became of the result.
        outcome: &'static str,
    },
    /// The result cannot be written.
    #[error("cannot write {target}: {source}")]
    Output {
        /// Where to.
        target: String,
        /// Why.
        source: io::Error,
    },
    /// A document is invalid, and what is wrong with it was said.
    #[error("a document is invalid")]
    Invalid,
    /// Whoever reads the result wants no more of it.
    #[error("the reader of the output is gone")]
    ClosedPipe,
    /// The space for what does not fit in memory gave out.
    #[error("cannot use a temporary file: {0}; set TMPDIR to a folder with enough room")]
    Spool(#[source] io::Error),
}

impl Error {
    /// What `plugin` did wrong while it read `session`.
    pub fn offence(session: &str, plugin: &str, offence: impl Into<String>) -> Self {
        let remedy = "report it to the plugin's author".to_owned();
        Self::Plugin {
            session: session.to_owned(),
            plugin: plugin.to_owned(),
            offence: offence.into(),
            crash: None,
            remedy,
        }
    }

    /// A temporary file that cannot be made or written; its own random name helps nobody.
    pub fn temporary(err: io::Error) -> Self {
        Self::Spool(plain(err))
    }

    /// The exit code of a run that stopped so.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NoPlugin { .. }
            | Self::BadPlugin { .. }
            | Self::Plugin { .. }
            | Self::Trust { .. }
            | Self::NoIsolation { .. } => 3,
            Self::Session { .. } | Self::Strict { .. } | Self::Output { .. } | Self::Spool(_) | Self::Invalid => 1,
            Self::Several { .. } => 2,
            Self::Said { code } => *code,
            // Not a fault: `head` has seen enough.
            Self::ClosedPipe => 0,
        }
    }

    /// What `--verbose` adds.
    pub fn details(&self) -> Option<&str> {
        match self {
            Self::BadPlugin { details, .. } => details.as_deref(),
            _ => None,
        }
    }
}

/// The system's own sentence, without the path that a library put behind it.
pub(crate) fn plain(err: io::Error) -> io::Error {
    let raw = std::error::Error::source(&err).and_then(|source| source.downcast_ref::<io::Error>()?.raw_os_error());
    match err.raw_os_error().or(raw) {
        Some(code) => io::Error::from_raw_os_error(code),
        None if err.get_ref().is_some() && err.kind() != io::ErrorKind::Other => io::Error::from(err.kind()),
        None => err,
    }
}
