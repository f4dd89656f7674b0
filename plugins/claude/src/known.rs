//! Whether a record is Claude Code's: other harnesses name their kinds and fields alike.
//!
//! One record decides for its file. Neither a kind's name nor a session's id says whose it is; what counts are fields
//! that records of that kind hold here and elsewhere do not. Harnesses that stream messages in Claude Code's own shape
//! cannot be told from it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toolpath_plugin_api::kit::field::Field;

/// Kinds of records without a place in the conversation, each with a field that it holds.
const APART: &[(&str, &str)] = &[
    ("agent-name", "agentName"),
    ("ai-title", "aiTitle"),
    ("attachment", "attachment"),
    ("bridge-session", "bridgeSessionId"),
    ("custom-title", "customTitle"),
    ("file-history-snapshot", "messageId"),
    ("file-history-snapshot", "snapshot"),
    ("frame-link", "frameUrl"),
    ("last-prompt", "lastPrompt"),
    ("mode", "mode"),
    ("permission-mode", "permissionMode"),
    ("pr-link", "prUrl"),
    ("queue-operation", "operation"),
    ("relocated", "relocatedCwd"),
    ("summary", "leafUuid"),
    ("summary", "summary"),
    ("worktree-state", "worktreeSession"),
];

/// How sure a record makes that it is Claude Code's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Known {
    /// A message in a shape that others stream as well.
    Message,
    /// A kind of record without a place in the conversation, with a field of that kind.
    Apart,
    /// A record with a place in the conversation.
    Chained,
    /// A message with a place in the conversation.
    Whole,
}

/// Whether the record `json` is one that Claude Code writes.
pub(crate) fn is_known(json: &str) -> bool {
    known(json).is_some()
}

/// What shows that the record `json` is one that Claude Code writes.
pub(crate) fn known(json: &str) -> Option<Known> {
    type Fields<'a> = BTreeMap<Cow<'a, str>, Field<'a>>;
    let fields: Fields<'_> = Field::parse(json).entries()?.into_iter().collect();
    let field = |key: &str| fields.get(key).copied().unwrap_or_default();
    let message: Fields<'_> = field("message").entries().unwrap_or_default().into_iter().collect();
    // Qwen Code chains records in the same way; what they say is in these.
    if message.contains_key("parts") || fields.contains_key("systemPayload") {
        return None;
    }
    let kind = field("type").text().unwrap_or_default();
    let is_message = matches!(&*kind, "user" | "assistant")
        && (field("message").text().is_some()
            || message.get("content").is_some_and(|content| content.is_text() || content.is_list()));
    let is_chained = field("uuid").filled().is_some()
        && ["parentUuid", "isSidechain"].into_iter().any(|key| fields.contains_key(key));
    match (is_message, is_chained) {
        (true, true) => Some(Known::Whole),
        (false, true) => Some(Known::Chained),
        _ if APART.iter().any(|&(name, own)| name == kind && field(own).json().is_some()) => Some(Known::Apart),
        (true, false) => Some(Known::Message),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: bool, records: &[&str]) {
        for json in records {
            assert_eq!(is_known(json), expected, "{json}");
        }
    }

    #[test]
    fn messages_with_content_are_claude_codes() {
        check(
            true,
            &[
                r#"{"type":"user","message":{"content":"hi"}}"#,
                r#"{"type":"assistant","message":{"role":"assistant","content":[]},"session_id":"s"}"#,
                r#"{"type":"user","message":"hi"}"#,
                r#"{"type":"assistant","uuid":"a","parentUuid":null,"message":null}"#,
            ],
        );
    }

    #[test]
    fn records_with_fields_of_their_kind_are_claude_codes() {
        check(
            true,
            &[
                r#"{"type":"system","uuid":"a","parentUuid":null,"subtype":"informational"}"#,
                r#"{"type":"progress","uuid":"a","isSidechain":false,"data":{}}"#,
                r#"{"type":"from-the-future","uuid":"a","parentUuid":"b"}"#,
                r#"{"type":"attachment","attachment":{"type":"queued_command"}}"#,
                r#"{"type":"summary","summary":"x","leafUuid":"l"}"#,
                r#"{"type":"file-history-snapshot","snapshot":{}}"#,
                r#"{"type":"queue-operation","operation":"enqueue","sessionId":"s"}"#,
                r#"{"type":"custom-title","customTitle":"x","sessionId":"s"}"#,
            ],
        );
    }

    #[test]
    fn records_of_other_harnesses_are_not_taken_for_claude_codes() {
        check(
            false,
            &[
                // Qwen Code.
                r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","parts":[{"text":"hi"}]}}"#,
                r#"{"type":"tool_result","uuid":"b","parentUuid":"a","sessionId":"s","message":{"parts":[]}}"#,
                r#"{"type":"system","uuid":"c","parentUuid":"b","sessionId":"s","subtype":"x","systemPayload":{}}"#,
                // Gemini CLI.
                r#"{"sessionId":"s","projectHash":"p","kind":"main"}"#,
                r#"{"type":"user","id":"a","content":[{"text":"hi"}]}"#,
                // Grok.
                r#"{"type":"system","content":"x"}"#,
                r#"{"type":"assistant","content":"x","model_id":"m-1"}"#,
                // Droid.
                r#"{"type":"message","role":"user","session_id":"s","text":"hi"}"#,
                r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":[]}}"#,
                // Copilot.
                r#"{"type":"user.message","session_id":"s","prompt":"hi"}"#,
                // Cline.
                r#"{"type":"assistant","timestamp":1,"text":"hi"}"#,
                // Cursor.
                r#"{"role":"user","message":{"content":[]}}"#,
            ],
        );
    }

    #[test]
    fn a_kinds_name_or_a_sessions_id_alone_says_nothing() {
        check(
            false,
            &[
                "{}",
                r#"{"sessionId":"s"}"#,
                r#"{"type":"user","sessionId":"s"}"#,
                r#"{"type":"user","message":7}"#,
                r#"{"type":"user","message":{"content":null}}"#,
                r#"{"type":"system","sessionId":"s"}"#,
                r#"{"type":"summary"}"#,
                r#"{"type":"mode","mode":null}"#,
            ],
        );
    }
}
