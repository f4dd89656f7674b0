//! How a plugin says that it could not read a session.

use std::fmt;

/// The host wants no more. Pass it on with `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

/// Why a session could not be read: one sentence, lowercase, without a full stop, with the remedy after a
/// semicolon when there is one. The host puts the session's name in front of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginError {
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Failed(String),
    Stopped,
}

impl PluginError {
    /// The session could not be read, for the reason in `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: Kind::Failed(message.into()) }
    }
}

impl From<Stopped> for PluginError {
    fn from(Stopped: Stopped) -> Self {
        Self { kind: Kind::Stopped }
    }
}

impl From<std::io::Error> for PluginError {
    fn from(err: std::io::Error) -> Self {
        Self::new(format!("cannot be read: {err}"))
    }
}

impl fmt::Display for PluginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Failed(message) => f.write_str(message),
            Kind::Stopped => f.write_str("the host wants no more"),
        }
    }
}

impl std::error::Error for PluginError {}
