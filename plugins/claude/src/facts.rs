//! What the records say of the session as a whole.

use toolpath_plugin_api::SessionRecord;
use toolpath_plugin_api::kit::time::Span;

use crate::place::Place;
use crate::shape::Record;

/// What is known so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    span: Span,
    version: Option<String>,
    working_dir: Option<String>,
    branch: Option<String>,
    custom_title: Option<String>,
    ai_title: Option<String>,
}

/// Whether a record told something that the host wants early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// The directory the session works in.
    Base,
    /// Nothing of that kind.
    None,
}

impl Facts {
    /// Learns from a record that is not the session's own.
    pub(crate) fn see(&mut self, place: &Place<'_>) {
        if !place.time.is_empty() {
            self.span.see(&place.time);
        }
    }

    /// Learns from one record of the session.
    pub(crate) fn learn(&mut self, record: &Record<'_>, place: &Place<'_>) -> News {
        self.see(place);
        if let Some(version) = record.version.filled()
            && self.version.as_deref() != Some(&*version)
        {
            self.version = Some(version.into_owned());
        }
        if let Some(title) = record.custom_title.filled() {
            self.custom_title = Some(title.into_owned());
        }
        if let Some(title) = record.ai_title.filled() {
            self.ai_title = Some(title.into_owned());
        }
        if self.branch.is_none() {
            self.branch = branch_of(record).map(Into::into);
        }
        if self.working_dir.is_none() {
            self.working_dir = record.cwd.filled().map(Into::into);
            return if self.working_dir.is_some() { News::Base } else { News::None };
        }
        News::None
    }

    /// The version of the harness that wrote last.
    pub(crate) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The session's base, as far as it is known.
    pub(crate) fn base<'f>(&'f self, id: &'f str) -> SessionRecord<'f> {
        let mut session = SessionRecord::new(id);
        session.working_dir = self.working_dir.as_deref();
        session.vcs_branch = self.branch.as_deref();
        session
    }

    /// Tells `tell` everything, when all records were read.
    pub(crate) fn whole<T>(&self, id: &str, tell: impl FnOnce(&SessionRecord<'_>) -> T) -> T {
        let (first, last) = (self.span.first(), self.span.last());
        let plain = format!("Claude session: {}", id.chars().take(8).collect::<String>());
        let mut session = self.base(id);
        session.title = self.custom_title.as_deref().or(self.ai_title.as_deref()).or(Some(&plain));
        session.started_at = first.as_deref();
        session.last_activity = last.as_deref();
        session.producer = Some(("claude-code", self.version.as_deref()));
        tell(&session)
    }
}

/// The branch a record was made on; with a detached head there is none.
pub(crate) fn branch_of<'a>(record: &Record<'a>) -> Option<std::borrow::Cow<'a, str>> {
    record.branch.filled().filter(|branch| branch != "HEAD")
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolpath_plugin_api::Origin;

    #[track_caller]
    fn learn(records: &[&str]) -> (Facts, Vec<News>) {
        let mut facts = Facts::default();
        let news = records
            .iter()
            .map(|json| {
                let record: Record<'_> = serde_json::from_str(json).expect("a record");
                facts.learn(&record, &Place::of(&record, String::new, None, Origin::default()))
            })
            .collect();
        (facts, news)
    }

    #[test]
    fn the_first_directory_and_branch_and_the_last_version_count() {
        let (facts, news) = learn(&[
            r#"{"type":"mode"}"#,
            r#"{"cwd":"/a","gitBranch":"HEAD","version":"2.1.1"}"#,
            r#"{"cwd":"/b","gitBranch":"","version":"2.1.2"}"#,
            r#"{"gitBranch":"main"}"#,
        ]);
        assert_eq!(news, [News::None, News::Base, News::None, News::None]);
        facts.whole("0123456789", |session| {
            assert_eq!((session.working_dir, session.vcs_branch), (Some("/a"), Some("main")));
            assert_eq!(session.producer, Some(("claude-code", Some("2.1.2"))));
            assert_eq!(session.title, Some("Claude session: 01234567"));
        });
    }

    #[test]
    fn a_title_that_the_user_gave_wins_and_of_each_kind_the_last() {
        let (facts, _) = learn(&[r#"{"aiTitle":"a"}"#, r#"{"aiTitle":"b"}"#]);
        facts.whole("s", |session| assert_eq!(session.title, Some("b")));
        let (facts, _) = learn(&[r#"{"customTitle":"c"}"#, r#"{"customTitle":"d"}"#, r#"{"aiTitle":"b"}"#]);
        facts.whole("s", |session| assert_eq!(session.title, Some("d")));
    }

    #[test]
    fn times_span_from_the_earliest_to_the_latest_record() {
        let (facts, _) = learn(&[
            r#"{"timestamp":"2026-05-04T08:15:31.400Z"}"#,
            r#"{"timestamp":"never"}"#,
            r#"{"timestamp":"2026-05-04T08:15:00.000Z"}"#,
        ]);
        facts.whole("s", |session| {
            assert_eq!(session.started_at, Some("2026-05-04T08:15:00Z"));
            assert_eq!(session.last_activity, Some("2026-05-04T08:15:31.400Z"));
        });
    }
}
