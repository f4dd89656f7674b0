//! What the store says of the session as a whole.

use toolpath_plugin_api::SessionRecord;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::time::{Span, from_millis};

use crate::shape::{Session, Time};

/// What is known so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    id: String,
    title: Option<String>,
    version: Option<String>,
    directory: Option<String>,
    files: Vec<String>,
    span: Span,
}

impl Facts {
    /// What the session's own record says.
    pub(crate) fn new(id: &str, session: &Session<'_>, files: Vec<String>) -> Self {
        let mut facts = Self {
            id: id.to_owned(),
            title: session.title.filled().map(Into::into),
            version: session.version.filled().map(Into::into),
            directory: session.directory.filled().map(Into::into),
            files,
            span: Span::default(),
        };
        let time: Time<'_> = session.time.object_or_default();
        for moment in [session.created, session.updated, time.created, time.updated] {
            if let Some(moment) = moment_of(moment) {
                facts.see(&moment);
            }
        }
        facts
    }

    /// Takes a time into account.
    pub(crate) fn see(&mut self, time: &str) {
        self.span.see(time);
    }

    /// The directory the session worked in.
    pub(crate) fn directory(&self) -> Option<&str> {
        self.directory.as_deref()
    }

    /// Tells `tell` everything that is known.
    pub(crate) fn tell<T>(&self, tell: impl FnOnce(&SessionRecord<'_>) -> T) -> T {
        let (first, last) = (self.span.first(), self.span.last());
        let mut session = SessionRecord::new(&self.id);
        session.title = self.title.as_deref();
        session.started_at = first.as_deref();
        session.last_activity = last.as_deref();
        session.producer = Some(("opencode", self.version.as_deref()));
        session.working_dir = self.directory.as_deref();
        session.files = self.files.iter().map(String::as_str).collect();
        tell(&session)
    }
}

/// The time stamp of a count of milliseconds.
pub(crate) fn moment_of(field: Field<'_>) -> Option<String> {
    i64::try_from(field.count()?).ok().and_then(from_millis)
}
