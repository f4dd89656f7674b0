//! How sure it is that a file or folder is a session of Copilot's.

use std::fs;
use std::path::Path;

use crate::facts::START;
use crate::known::is_known;
use crate::legacy::is_legacy;
use crate::lines::first;
use crate::session::EVENTS;

/// From 0 to 100, by the path and the file's first bytes.
pub(crate) fn detect(path: &Path, head: &[u8]) -> u8 {
    let is_below = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    if head.is_empty() {
        let is_session = fs::metadata(path.join(EVENTS)).is_ok_and(|about| about.is_file());
        return if is_session && is_below("session-state") { 80 } else { 0 };
    }
    if is_legacy(head) {
        return if is_below("history-session-state") { 95 } else { 60 };
    }
    let is_named = path.file_name().is_some_and(|name| name == EVENTS) || is_below("session-state");
    let sureness = first(head, 1, |record| {
        let is_start = record.kind.text().as_deref() == Some(START);
        Some(match (is_known(record), is_start) {
            (true, true) => 95,
            (true, false) if is_named => 80,
            (true, false) => 60,
            (false, _) => 0,
        })
    });
    sureness.ok().flatten().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, head: &str, sureness: u8) {
        assert_eq!(detect(Path::new(path), head.as_bytes()), sureness, "{path} {head}");
    }

    #[test]
    fn events_are_copilots_and_a_start_makes_it_sure() {
        let start = r#"{"type":"session.start","data":{"sessionId":"s"},"id":"e","timestamp":"t"}"#;
        check("/srv/x.jsonl", start, 95);
        let other = r#"{"type":"user.message","data":{"content":"hi"},"id":"e","timestamp":"t"}"#;
        check("/h/.copilot/session-state/s/events.jsonl", other, 80);
        check("/srv/x.jsonl", other, 60);
    }

    #[test]
    fn the_oldest_layout_is_known_by_its_lists() {
        let head = "{\n  \"sessionId\": \"s\",\n  \"chatMessages\": [";
        check("/h/.copilot/history-session-state/session_s_1.json", head, 95);
        check("/srv/x.json", head, 60);
        check("/srv/x.json", r#"{"sessionId":"s","messages":[]}"#, 0);
    }

    #[test]
    fn files_of_other_harnesses_and_none_are_not_copilots() {
        for head in [
            "\0\0",
            "{\"type\":\"session.start\"",
            r#"{"type":"session","id":"s","timestamp":"t","cwd":"/w"}"#,
            r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"hi"}}"#,
            r#"{"type":"turn.prompt","input":[],"time":1}"#,
            r#"{"type":"session_meta","timestamp":"t","payload":{}}"#,
        ] {
            check("/h/.copilot/session-state/s/events.jsonl", head, 0);
        }
        check("/nowhere/session-state/s", "", 0);
    }
}
