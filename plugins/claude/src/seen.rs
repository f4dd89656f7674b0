//! Messages that were told already, so that a replay of them is told as such.
//!
//! A session that is resumed, forked or summed up may repeat its history: with the same ids and another envelope (session,
//! branch, version), or with new ids. A model's message keeps its own id and its time even then.

use std::collections::HashSet;

use toolpath_plugin_api::kit::table::Table;

use crate::digest;
use crate::shape::{ForkedFrom, Message, Record};

/// Digests of what was told.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What each record said, by its id; half of it, which is compared with one other only.
    records: Table<u32>,
    /// Lines of models' messages.
    lines: HashSet<u64>,
}

/// What a record repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    /// A record of the same id.
    Itself,
    /// A record of another id, which a fork names and a model's message does not.
    Another(Option<String>),
}

impl Seen {
    /// Whether the record `id` was told.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.records.contains(digest::of_text(id))
    }

    /// What a message repeats; takes note of one that repeats nothing.
    pub(crate) fn repeats(&mut self, record: &Record<'_>, message: &Message<'_>) -> Option<Repeats> {
        let uuid = record.uuid.filled()?;
        let origin = record.forked_from.object::<ForkedFrom<'_>>().and_then(|from| from.message.filled());
        if let Some(origin) = origin.filter(|origin| *origin != uuid && self.has(origin)) {
            return Some(Repeats::Another(Some(origin.into_owned())));
        }
        let (kind, id) = (record.kind.text().unwrap_or_default(), message.id.filled().unwrap_or_default());
        // A line that tells more of its usage is no replay.
        let parts = [message.content, message.usage, message.stop_reason].map(|field| field.json().unwrap_or_default());
        let said = digest::short(&[&kind, &id, parts[0], parts[1], parts[2]]);
        let mut is_new = false;
        let first = *self.records.get_or_insert_with(digest::of_text(&uuid), || {
            is_new = true;
            said as u32
        });
        if !is_new {
            return (first == said as u32).then_some(Repeats::Itself);
        }
        let time = record.timestamp.filled();
        if let (false, "assistant", Some(time)) = (id.is_empty(), &*kind, time) {
            // The time keeps apart what gateways give the same id.
            let line = digest::short(&[&time, &said.to_string()]);
            return (!self.lines.insert(line)).then_some(Repeats::Another(None));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cases: &[(&str, Option<Repeats>)]) {
        let mut seen = Seen::default();
        for (json, expected) in cases {
            let record: Record<'_> = serde_json::from_str(json).expect("a record");
            let message = Message::of(record.message).expect("a message");
            assert_eq!(seen.repeats(&record, &message), *expected, "{json}");
        }
    }

    #[test]
    fn a_record_of_the_same_id_that_says_the_same_is_a_replay_whatever_surrounds_it() {
        check(&[
            (r#"{"type":"user","uuid":"u","gitBranch":"a","message":{"content":"hi"}}"#, None),
            (
                r#"{"type":"user","uuid":"u","gitBranch":"b","sessionId":"t","message":{"content":"hi"}}"#,
                Some(Repeats::Itself),
            ),
            (r#"{"type":"user","uuid":"u","message":{"content":"ho"}}"#, None),
            (r#"{"type":"user","uuid":"v","message":{"content":"hi"}}"#, None),
            (r#"{"type":"user","message":{"content":"hi"}}"#, None),
            (r#"{"type":"user","message":{"content":"hi"}}"#, None),
        ]);
    }

    #[test]
    fn a_models_line_with_another_id_is_a_replay_when_it_was_said_at_the_same_time() {
        let line = |uuid: &str, time: &str, id: &str, usage: &str| {
            format!(
                r#"{{"type":"assistant","uuid":"{uuid}","timestamp":"{time}","message":{{"id":"{id}","content":"ok","usage":{usage}}}}}"#
            )
        };
        check(&[
            (&line("a", "1", "g", "{}"), None),
            (&line("b", "1", "g", "{}"), Some(Repeats::Another(None))),
            (&line("c", "2", "g", "{}"), None),
            (&line("d", "1", "h", "{}"), None),
            (&line("e", "1", "", "{}"), None),
            (&line("f", "1", "", "{}"), None),
            (&line("g", "1", "g", r#"{"output_tokens":2}"#), None),
        ]);
    }

    #[test]
    fn a_fork_says_which_record_it_repeats() {
        check(&[
            (r#"{"type":"user","uuid":"u","message":{"content":"hi"}}"#, None),
            (
                r#"{"type":"user","uuid":"v","forkedFrom":{"sessionId":"s","messageUuid":"u"},"message":{"content":"hi"}}"#,
                Some(Repeats::Another(Some("u".to_owned()))),
            ),
            (r#"{"type":"user","uuid":"w","forkedFrom":{"messageUuid":"elsewhere"},"message":{"content":"hi"}}"#, None),
        ]);
    }
}
