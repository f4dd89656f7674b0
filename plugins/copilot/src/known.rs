//! Whether a record is Copilot's: others name events with a dot as well.
//!
//! One record decides for its file: an event of a kind that Copilot writes with `data`, or what its hooks print, which
//! names the session beside the kind.

use crate::facts::START;
use crate::shape::{Data, Record};

/// Kinds, or the beginnings of kinds (with a dot at their end), of events that Copilot writes.
const KINDS: &[&str] = &[
    "abort",
    "assistant.",
    "hook.",
    "permission.",
    "session.",
    "skill.invoked",
    "subagent.",
    "system.message",
    "system.notification",
    "tool.",
    "user.message",
];

/// Whether the record is one that Copilot writes.
pub(crate) fn is_known(record: &Record<'_>) -> bool {
    let Some(kind) = record.kind.text() else { return false };
    let is_kind = |known: &&str| if known.ends_with('.') { kind.starts_with(known) } else { *known == kind };
    let has_data = record.data.json().is_some_and(|json| json.starts_with('{'));
    let is_event = has_data && record.id.filled().is_some() && record.timestamp.json().is_some();
    let is_printed = record.session_id.filled().is_some() && matches!(&*kind, "user.message" | "assistant.message");
    (is_event && KINDS.iter().any(is_kind)) || is_printed
}

/// The id of the session that the record names, when it is the first event of one.
pub(crate) fn session_of(record: &Record<'_>) -> Option<String> {
    if !is_known(record) {
        return None;
    }
    let data: Data<'_> = record.data.object().unwrap_or_default();
    let started = if record.kind.text().as_deref() == Some(START) { data.session_id.filled() } else { None };
    started.or_else(|| record.session_id.filled()).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: bool, records: &[&str]) {
        for json in records {
            assert_eq!(is_known(&serde_json::from_str(json).expect("a record")), expected, "{json}");
        }
    }

    #[test]
    fn events_with_data_are_copilots() {
        check(
            true,
            &[
                r#"{"type":"session.start","data":{"sessionId":"s"},"id":"e","timestamp":"t","parentId":null}"#,
                r#"{"type":"session.from_the_future","data":{},"id":"e","timestamp":"t"}"#,
                r#"{"type":"user.message","data":{"content":"hi"},"id":"e","timestamp":"t"}"#,
                r#"{"type":"tool.execution_complete","data":{},"id":"e","timestamp":"t"}"#,
                r#"{"type":"abort","data":{"reason":"x"},"id":"e","timestamp":"t"}"#,
                r#"{"type":"user.message","session_id":"s","prompt":"hi","timestamp":1}"#,
            ],
        );
    }

    #[test]
    fn records_of_other_harnesses_are_not_taken_for_copilots() {
        check(
            false,
            &[
                r#"{"type":"turn.prompt","input":[],"time":1}"#,
                r#"{"type":"session","id":"s","timestamp":"t","data":{}}"#,
                r#"{"type":"turn.completed","id":"e","timestamp":"t","data":{}}"#,
                r#"{"type":"system","id":"e","timestamp":"t","data":{}}"#,
                r#"{"type":"user.message"}"#,
                r#"{"type":"user.message","data":"hi","id":"e","timestamp":"t"}"#,
                r#"{"type":"userpromptsubmitted","session_id":"s"}"#,
                "{}",
            ],
        );
    }

    #[test]
    fn a_session_is_named_by_its_start_or_by_a_hook() {
        let of = |json: &str| session_of(&serde_json::from_str(json).expect("a record"));
        assert_eq!(
            of(r#"{"type":"session.start","data":{"sessionId":"s"},"id":"e","timestamp":"t"}"#).as_deref(),
            Some("s")
        );
        assert_eq!(of(r#"{"type":"user.message","session_id":"s","prompt":"x"}"#).as_deref(), Some("s"));
        assert_eq!(of(r#"{"type":"session.resume","data":{"sessionId":"s"},"id":"e","timestamp":"t"}"#), None);
    }
}
