//! What the records say of the session as a whole.

use toolpath_plugin_api::SessionRecord;
use toolpath_plugin_api::kit::time::Span;

use crate::shape::Record;

/// Kind of the first record.
pub(crate) const HEADER: &str = "session";
/// Kind of the entry that names the session.
pub(crate) const INFO: &str = "session_info";

/// What is known so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    span: Span,
    has_header: bool,
    working_dir: Option<String>,
    name: Option<String>,
}

/// What a record told of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// It is the header, and the base is known.
    Header,
    /// Nothing that the host wants early.
    None,
}

impl Facts {
    /// Learns from one record, made at `time`.
    pub(crate) fn learn(&mut self, record: &Record<'_>, time: &str) -> News {
        self.span.see(time);
        match record.kind.text().as_deref() {
            // A fork of a session without an answer could write a second header; the first counts.
            Some(HEADER) if !self.has_header => {
                self.has_header = true;
                self.working_dir = record.cwd.filled().map(Into::into);
                News::Header
            }
            Some(INFO) => {
                self.name = name_of(record);
                News::None
            }
            _ => News::None,
        }
    }

    /// The directory that the session works in.
    pub(crate) fn working_dir(&self) -> Option<&str> {
        self.working_dir.as_deref()
    }

    /// The session's base, as far as it is known.
    pub(crate) fn base<'f>(&'f self, id: &'f str) -> SessionRecord<'f> {
        let mut session = SessionRecord::new(id);
        session.working_dir = self.working_dir.as_deref();
        session
    }

    /// Tells `tell` everything, when all records were read.
    pub(crate) fn whole<T>(&self, id: &str, tell: impl FnOnce(&SessionRecord<'_>) -> T) -> T {
        let (first, last) = (self.span.first(), self.span.last());
        let plain = format!("Pi session: {}", id.chars().take(8).collect::<String>());
        let mut session = self.base(id);
        session.title = self.name.as_deref().or(Some(&plain));
        session.started_at = first.as_deref();
        session.last_activity = last.as_deref();
        // The log says which format it has, and not which version of Pi wrote it.
        session.producer = Some(("pi", None));
        tell(&session)
    }
}

/// The name that a [`INFO`] entry gives; without one it takes the name away.
pub(crate) fn name_of(record: &Record<'_>) -> Option<String> {
    let name = record.name.text()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn learn(records: &[&str]) -> (Facts, Vec<News>) {
        let mut facts = Facts::default();
        let news = records
            .iter()
            .map(|json| {
                let record: Record<'_> = serde_json::from_str(json).expect("a record");
                facts.learn(&record, &record.timestamp.text().unwrap_or_default())
            })
            .collect();
        (facts, news)
    }

    #[test]
    fn the_first_header_counts() {
        let (facts, news) = learn(&[
            r#"{"type":"model_change","cwd":"/x"}"#,
            r#"{"type":"session","id":"s","cwd":"/a"}"#,
            r#"{"type":"session","id":"s","cwd":"/b"}"#,
        ]);
        assert_eq!(news, [News::None, News::Header, News::None]);
        assert_eq!(facts.working_dir(), Some("/a"));
    }

    #[test]
    fn the_last_name_counts_and_can_be_taken_away() {
        let title = |records: &[&str]| learn(records).0.whole("0123456789", |s| s.title.map(str::to_owned));
        let [a, b, none] = ["\"a\"", "\" b \"", "null"].map(|n| format!(r#"{{"type":"session_info","name":{n}}}"#));
        assert_eq!(title(&[&a, &b]).as_deref(), Some("b"));
        assert_eq!(title(&[&a, &none]).as_deref(), Some("Pi session: 01234567"));
        assert_eq!(title(&[r#"{"type":"custom","name":"x"}"#]).as_deref(), Some("Pi session: 01234567"));
    }

    #[test]
    fn times_span_from_the_earliest_to_the_latest_record() {
        let (facts, _) = learn(&[
            r#"{"type":"session","timestamp":"2026-03-01T09:00:05.000Z"}"#,
            r#"{"timestamp":"2026-03-01T09:00:00.000Z"}"#,
            r#"{"timestamp":"never"}"#,
        ]);
        facts.whole("s", |session| {
            assert_eq!(session.started_at, Some("2026-03-01T09:00:00Z"));
            assert_eq!(session.last_activity, Some("2026-03-01T09:00:05Z"));
            assert_eq!(session.producer, Some(("pi", None)));
        });
    }
}
