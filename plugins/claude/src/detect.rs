//! How sure it is that a file is Claude Code's, from its beginning.

use toolpath_plugin_api::kit::json::mend_surrogates;
use toolpath_plugin_api::kit::lines::trim;

use crate::known::{Known, known};
use crate::lines::{End, Piece, Pieces};

/// From 0 (not its) to 100 (its beyond doubt).
pub(crate) fn sureness(head: &[u8]) -> u8 {
    let text = String::from_utf8_lossy(head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head));
    let mut surest = None;
    for line in text.lines() {
        let mended = mend_surrogates(line);
        for piece in Pieces::of(trim(mended.as_deref().unwrap_or(line)), End::Newline) {
            match piece {
                Piece::Record(_, json) if is_qwens(json) => return 0,
                Piece::Record(_, json) => surest = surest.max(known(json)),
                Piece::Unreadable(json, _) if begins_as_message(json) => surest = surest.max(Some(Known::Chained)),
                Piece::Unreadable(..) => {}
            }
        }
    }
    match surest {
        Some(Known::Whole) => 95,
        Some(Known::Chained) => 85,
        Some(Known::Apart) => 70,
        // Others stream such messages, too.
        Some(Known::Message) => 30,
        None => 0,
    }
}

/// Qwen Code's records look alike but for where they keep what was said.
fn is_qwens(json: &str) -> bool {
    known(json).is_none()
        && (json.contains(r#""parts":"#) || json.contains(r#""systemPayload":"#))
        && json.contains(r#""uuid":"#)
}

/// Whether a record that is longer than what was read begins as a message does.
pub(crate) fn begins_as_message(json: &str) -> bool {
    let names = [r#"{"parentUuid":"#, r#""isSidechain":"#, r#""sessionId":"#];
    json.starts_with(names[0]) && names.iter().all(|name| json.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &str, expected: u8) {
        assert_eq!(sureness(head.as_bytes()), expected, "{head}");
    }

    const WHOLE: &str = r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s","type":"user","uuid":"u","message":{"content":"hi"}}"#;

    #[test]
    fn a_message_with_its_place_in_the_conversation_is_nearly_beyond_doubt() {
        check(WHOLE, 95);
        check(&format!("\u{feff}{{\"type\":\"mode\",\"mode\":\"x\"}}\r\n{WHOLE}\r\n{{\"cut"), 95);
        check(&format!("{{broken\n{WHOLE}{WHOLE}"), 95);
    }

    #[test]
    fn other_records_of_claude_codes_say_less() {
        check(r#"{"type":"system","uuid":"a","parentUuid":null}"#, 85);
        check(r#"{"type":"summary","summary":"x","leafUuid":"l"}"#, 70);
        check(r#"{"type":"user","message":{"content":"hi"},"session_id":"s"}"#, 30);
    }

    #[test]
    fn a_message_longer_than_the_head_is_known_by_how_it_begins() {
        check(&WHOLE[..60], 85);
        check(&WHOLE[..20], 0);
    }

    #[test]
    fn what_other_harnesses_write_is_not_claude_codes() {
        for head in [
            "",
            "\u{1}\u{2}SQLite format 3",
            "# a page of words",
            r#"{"type":"session_meta","payload":{"cwd":"/p"}}"#,
            r#"{"sessionId":"s","projectHash":"p","kind":"main"}"#,
            r#"{"type":"session","version":3,"id":"a","cwd":"/p"}"#,
            r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","parts":[{"text":"hi"}]}}"#,
            "{\"type\":\"system\",\"uuid\":\"c\",\"parentUuid\":null,\"systemPayload\":{}}\n{\"type\":\"summary\",\"summary\":\"x\"}",
            r#"{"display":"hi","pastedContents":{},"timestamp":1,"project":"/p"}"#,
        ] {
            check(head, 0);
        }
    }
}
