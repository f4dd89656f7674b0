//! What the records say of the session as a whole.

use toolpath_plugin_api::SessionRecord;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::time::Span;

use crate::record::{Git, Meta};
use crate::turn::Environment;

/// What is known so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    span: Span,
    has_header: bool,
    version: Option<String>,
    remote: Option<String>,
    title: Option<String>,
    pub(crate) environment: Environment,
}

impl Facts {
    /// Takes a record's time into account.
    pub(crate) fn see(&mut self, time: &str) {
        self.span.see(time);
    }

    /// Learns from a header; only the first is the session's. Says whether it was.
    pub(crate) fn header(&mut self, meta: &Meta<'_>) -> bool {
        if std::mem::replace(&mut self.has_header, true) {
            return false;
        }
        let git: Git<'_> = meta.git.object().unwrap_or_default();
        let owned = |field: Field<'_>| field.filled().map(|text| text.into_owned());
        (self.version, self.remote) = (owned(meta.version), owned(git.remote));
        self.environment = Environment { dir: owned(meta.cwd), branch: owned(git.branch), revision: owned(git.commit) };
        if let Some(time) = meta.time.filled() {
            self.span.see(&time);
        }
        true
    }

    /// The thread's name; the last counts.
    pub(crate) fn name(&mut self, title: String) {
        self.title = Some(title);
    }

    /// The session's base.
    pub(crate) fn base<'f>(&'f self, id: &'f str) -> SessionRecord<'f> {
        let mut session = SessionRecord::new(id);
        session.working_dir = self.environment.dir.as_deref();
        session.vcs_branch = self.environment.branch.as_deref();
        session.vcs_revision = self.environment.revision.as_deref();
        session.vcs_remote = self.remote.as_deref();
        session
    }

    /// Tells `tell` everything, when all records were read from `files`.
    pub(crate) fn whole<T>(&self, id: &str, files: &[String], tell: impl FnOnce(&SessionRecord<'_>) -> T) -> T {
        let (first, last) = (self.span.first(), self.span.last());
        let plain = format!("Codex session: {}", id.chars().take(8).collect::<String>());
        let mut session = self.base(id);
        session.title = self.title.as_deref().or(Some(&plain));
        session.started_at = first.as_deref();
        session.last_activity = last.as_deref();
        session.producer = Some(("codex", self.version.as_deref()));
        if files.len() > 1 {
            session.files = files.iter().map(String::as_str).collect();
        }
        tell(&session)
    }
}
