//! Whether a record is Pi's: other harnesses name their kinds and fields alike.
//!
//! One record decides for its file: a header, or an entry with a field that entries of its kind hold here and elsewhere
//! do not. Harnesses that are built on Pi write the same and cannot be told from it.

use crate::facts::HEADER;
use crate::shape::{Message, Record};

/// Whether the record is one that Pi writes.
pub(crate) fn is_known(record: &Record<'_>) -> bool {
    is_header(record) || is_entry(record)
}

/// Whether the record is a session's header.
pub(crate) fn is_header(record: &Record<'_>) -> bool {
    record.kind.text().as_deref() == Some(HEADER)
        && record.id.filled().is_some()
        && (record.cwd.text().is_some() || record.version.count().is_some())
}

fn is_entry(record: &Record<'_>) -> bool {
    match record.kind.text().as_deref() {
        Some("message") => record.message.object().is_some_and(|message| is_message(&message)),
        Some("model_change") => record.model_id.text().is_some(),
        Some("thinking_level_change") => record.thinking_level.text().is_some(),
        Some("compaction") => record.summary.text().is_some() && record.tokens_before.count().is_some(),
        Some("branch_summary") => record.summary.text().is_some() && record.from_id.text().is_some(),
        Some("custom" | "custom_message") => record.custom_type.text().is_some(),
        Some("label") => record.target_id.text().is_some(),
        _ => false,
    }
}

fn is_message(message: &Message<'_>) -> bool {
    match message.role.text().as_deref() {
        // Others have no time in the message, or none in milliseconds.
        Some("user") => message.content.json().is_some() && message.timestamp.count().is_some(),
        Some("assistant") => {
            message.stop_reason.text().is_some() && (message.api.text().is_some() || message.provider.text().is_some())
        }
        Some("toolResult") => message.call.json().is_some(),
        Some("bashExecution") => message.command.text().is_some(),
        Some("custom" | "hookMessage") => message.custom_type.text().is_some(),
        _ => false,
    }
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
    fn headers_of_all_versions_and_entries_are_pis() {
        check(
            true,
            &[
                r#"{"type":"session","id":"s","timestamp":"t","cwd":"/w","provider":"p","modelId":"m","thinkingLevel":"off"}"#,
                r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#,
                r#"{"type":"message","timestamp":"t","message":{"role":"user","content":"hi","timestamp":1}}"#,
                r#"{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":[],"api":"x","stopReason":"stop"}}"#,
                r#"{"type":"message","message":{"role":"toolResult","toolCallId":"t"}}"#,
                r#"{"type":"message","message":{"role":"bashExecution","command":"ls"}}"#,
                r#"{"type":"message","message":{"role":"hookMessage","customType":"x"}}"#,
                r#"{"type":"model_change","modelId":"m","provider":"p"}"#,
                r#"{"type":"thinking_level_change","thinkingLevel":"off"}"#,
                r#"{"type":"compaction","summary":"x","tokensBefore":5}"#,
                r#"{"type":"branch_summary","summary":"x","fromId":"a"}"#,
                r#"{"type":"custom_message","customType":"x","content":""}"#,
                r#"{"type":"label","targetId":"a"}"#,
            ],
        );
    }

    #[test]
    fn records_of_other_harnesses_are_not_taken_for_pis() {
        check(
            false,
            &[
                // Droid.
                r#"{"type":"session_start","id":"s","title":"x","cwd":"/w","version":"0.81.0"}"#,
                r#"{"type":"message","id":"a","parentId":"s","timestamp":"t","message":{"role":"user","content":[]}}"#,
                r#"{"type":"message","role":"user","session_id":"s","text":"hi"}"#,
                // Claude Code.
                r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"hi"}}"#,
                r#"{"type":"summary","summary":"x","leafUuid":"l"}"#,
                // Codex.
                r#"{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}"#,
                // Copilot.
                r#"{"type":"session.start","id":"s","data":{"version":1}}"#,
                // Gemini CLI.
                r#"{"sessionId":"s","projectHash":"p","kind":"main"}"#,
                "{}",
                r#"{"type":"session"}"#,
                r#"{"type":"session","id":"s"}"#,
                r#"{"type":"message","message":null}"#,
            ],
        );
    }
}
