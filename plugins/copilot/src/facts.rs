//! What the records say of the session as a whole, and where each turn was made.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::time::Span;
use toolpath_plugin_api::{SessionRecord, TurnRecord, UsageRecord};

use crate::shape::{Context, Data, Record};
use crate::workspace::Workspace;

/// Kind of the first event.
pub(crate) const START: &str = "session.start";

/// What is known so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    span: Span,
    producer: Option<String>,
    version: Option<String>,
    title: Option<String>,
    /// Where the session began.
    base: Where,
    /// Where it is now.
    now: Where,
}

/// A place in a repository.
#[derive(Clone, Debug, Default)]
struct Where {
    working_dir: Option<String>,
    branch: Option<String>,
    revision: Option<String>,
    remote: Option<String>,
}

impl Facts {
    /// Learns from one record, made at `time`; says whether the session's base is known by it.
    pub(crate) fn learn(&mut self, record: &Record<'_>, data: &Data<'_>, time: &str) -> bool {
        self.span.see(time);
        let place = match record.kind.text().as_deref() {
            Some("session.context_changed") => of_context(&record.data.object().unwrap_or_default()),
            Some("session.title_changed") => {
                self.title = data.title.filled().map(Into::into).or(self.title.take());
                return false;
            }
            Some(START | "session.resume") => {
                if let Some(version) = data.copilot_version.filled() {
                    self.version = Some(version.into_owned());
                }
                if let Some(producer) = data.producer.filled() {
                    self.producer = Some(producer.into_owned());
                }
                of_context(&data.context.object().unwrap_or_default())
            }
            // Captures of hooks name the folder beside the type.
            _ if self.now.working_dir.is_none() => {
                Where { working_dir: record.cwd.filled().map(Into::into), ..Where::default() }
            }
            _ => return false,
        };
        if place.working_dir.is_none() {
            return false;
        }
        let is_first = self.base.working_dir.is_none();
        if is_first {
            self.base = place.clone();
        }
        self.now = place;
        is_first
    }

    /// The directory that the session works in now.
    pub(crate) fn working_dir(&self) -> Option<&str> {
        self.now.working_dir.as_deref()
    }

    /// Says in a turn where it was made.
    pub(crate) fn place<'f>(&'f self, turn: &mut TurnRecord<'f>) {
        let Where { working_dir, branch, .. } = &self.now;
        if working_dir.is_some() {
            turn.environment(working_dir.as_deref(), branch.as_deref(), None);
        }
    }

    /// The session's base, as far as it is known.
    pub(crate) fn base<'f>(&'f self, id: &'f str) -> SessionRecord<'f> {
        of_base(&self.base, id)
    }

    /// Tells `tell` everything, when all records were read; `workspace` knows what they do not say.
    pub(crate) fn whole<T>(
        &self,
        id: &str,
        workspace: &Workspace,
        usage: Option<UsageRecord<'static>>,
        tell: impl FnOnce(&SessionRecord<'_>) -> T,
    ) -> T {
        let (first, last) = (self.span.first(), self.span.last());
        let plain = format!("Copilot session: {}", id.chars().take(8).collect::<String>());
        let beside =
            Where { working_dir: workspace.working_dir.clone(), branch: workspace.branch.clone(), ..Where::default() };
        let base = if self.base.working_dir.is_some() { &self.base } else { &beside };
        let mut session = of_base(base, id);
        session.title = workspace.name.as_deref().or(self.title.as_deref()).or(Some(&plain));
        session.started_at = first.as_deref();
        session.last_activity = last.as_deref();
        session.producer = Some((self.producer.as_deref().unwrap_or("copilot"), self.version.as_deref()));
        session.total_usage = usage;
        tell(&session)
    }
}

fn of_base<'f>(base: &'f Where, id: &'f str) -> SessionRecord<'f> {
    let mut session = SessionRecord::new(id);
    session.working_dir = base.working_dir.as_deref();
    session.vcs_branch = base.branch.as_deref();
    session.vcs_revision = base.revision.as_deref();
    session.vcs_remote = base.remote.as_deref();
    session
}

fn of_context(context: &Context<'_>) -> Where {
    let own = |field: Field<'_>| field.filled().map(String::from);
    // A repository without the host it is on is no remote.
    let remote = context.host.filled().zip(context.repository.filled());
    Where {
        working_dir: own(context.cwd).or_else(|| own(context.git_root)),
        branch: own(context.branch),
        revision: own(context.head_commit),
        remote: remote.map(|(host, repository)| format!("https://{host}/{repository}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn learn(records: &[&str]) -> (Facts, Vec<bool>) {
        let mut facts = Facts::default();
        let news = records
            .iter()
            .map(|json| {
                let record: Record<'_> = serde_json::from_str(json).expect("a record");
                let data: Data<'_> = record.data.object().unwrap_or_default();
                facts.learn(&record, &data, &record.timestamp.text().unwrap_or_default())
            })
            .collect();
        (facts, news)
    }

    #[test]
    fn the_first_place_is_the_base_and_the_last_that_of_the_turns() {
        let (facts, news) = learn(&[
            r#"{"type":"session.model_change","data":{"cwd":"/x"}}"#,
            r#"{"type":"session.start","data":{"copilotVersion":"1.0.60","producer":"copilot-agent","context":{"cwd":"/w","branch":"main","headCommit":"c0","repository":"o/r","repositoryHost":"github.com"}}}"#,
            r#"{"type":"session.context_changed","data":{"cwd":"/w/sub","branch":"other"}}"#,
            r#"{"type":"session.resume","data":{"copilotVersion":"1.0.68","context":{"gitRoot":"/v"}}}"#,
        ]);
        assert_eq!(news, [false, true, false, false]);
        assert_eq!(facts.working_dir(), Some("/v"));
        facts.whole("0123456789", &Workspace::default(), None, |session| {
            assert_eq!(
                (session.working_dir, session.vcs_branch, session.vcs_revision),
                (Some("/w"), Some("main"), Some("c0"))
            );
            assert_eq!(session.vcs_remote, Some("https://github.com/o/r"));
            assert_eq!(session.producer, Some(("copilot-agent", Some("1.0.68"))));
            assert_eq!(session.title, Some("Copilot session: 01234567"));
        });
    }

    #[test]
    fn what_stands_beside_the_log_fills_in() {
        let (facts, _) = learn(&[r#"{"type":"session.start","data":{"context":{"repository":"o/r"}}}"#]);
        let workspace = Workspace { name: Some("Beans".to_owned()), working_dir: Some("/w".to_owned()), branch: None };
        facts.whole("s", &workspace, None, |session| {
            assert_eq!((session.title, session.working_dir, session.vcs_remote), (Some("Beans"), Some("/w"), None));
        });
    }
}
