//! Whether a file is a session of Codex, by its name and its first bytes.

use std::path::Path;

use std::io::Read;

use toolpath_plugin_api::kit::field::Field;

use crate::log::{Part, Piece, is_object_of_items};
use crate::record::{Kind, Record};
use crate::zst::{Frames, MAGIC};

/// Content looked at of a compressed file.
const MOST: u64 = 64 * 1024;

/// How sure it is, from 0 to 100.
pub(crate) fn certainty(path: &Path, head: &[u8]) -> u8 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_named = name.starts_with("rollout-");
    if head.starts_with(&MAGIC) {
        let mut content = Vec::new();
        // What is decoded before the head ends is enough.
        let _ = Frames::new(head).take(MOST).read_to_end(&mut content);
        return of_content(&content, is_named);
    }
    of_content(head, is_named)
}

fn of_content(head: &[u8], is_named: bool) -> u8 {
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches(|c: char| c == '\u{feff}' || c.is_whitespace());
    if is_object_of_items(text.as_bytes()) {
        let is_whole = ["\"session\"", "\"items\"", "\"id\"", "\"timestamp\""].iter().all(|key| text.contains(key));
        return if is_whole { 85 } else { 0 };
    }
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some(first) = lines.next() else { return 0 };
    if Field::parse(first).json().is_none() {
        // The header may be longer than what is given of it.
        let packed: String = first.chars().take(4096).filter(|c| !c.is_whitespace()).collect();
        let is_header = packed.starts_with('{') && packed.contains(r#""type":"session_meta""#);
        return if is_header && lines.next().is_none() { 90 } else { 0 };
    }
    let record = record(first);
    let is_envelope = Field::parse(record.payload).is_some() && record.payload.len() < record.json.len();
    match record.kind {
        Kind::Meta(_) if is_envelope && record.is_known => 100,
        Kind::Meta(_) => {
            let is_followed = lines.next().is_some_and(|line| {
                let Ok(_) = serde_json::from_str::<&serde_json::value::RawValue>(line) else { return false };
                let next = self::record(line);
                next.is_known || line.contains("\"record_type\"")
            });
            match (is_followed, is_named) {
                (true, true) => 95,
                (true, false) => 80,
                (false, true) => 60,
                (false, false) => 0,
            }
        }
        _ if is_envelope && record.is_known => 90,
        _ => 0,
    }
}

fn record(text: &str) -> Record<'_> {
    Record::of(&Piece::alone(text, Part::Line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, head: &str, expected: u8) {
        assert_eq!(certainty(Path::new(name), head.as_bytes()), expected, "{name}: {head}");
    }

    const HEADER: &str = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s","cwd":"/p"}}"#;
    const ITEM: &str = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}"#;

    #[test]
    fn a_session_begins_with_its_header() {
        check("x.jsonl", &format!("{HEADER}\n"), 100);
        check("x.jsonl", r#"{"timestamp":"t","type":"event_msg","payload":{"type":"token_count"}}"#, 90);
        let long =
            format!(r#"{{"timestamp":"t","type":"session_meta","payload":{{"id":"s","x":"{}"#, "x".repeat(70_000));
        check("x.jsonl", &long, 90);
    }

    #[test]
    fn older_files_are_told_by_their_header_and_what_follows_it() {
        let bare = r#"{"id":"s","timestamp":"t","instructions":null}"#;
        check("rollout-x.jsonl", &format!("{bare}\n{ITEM}\n"), 95);
        check("x.jsonl", &format!("{bare}\n{{\"record_type\":\"state\"}}\n"), 80);
        check("x.json", r#"{"session":{"timestamp":"t","id":"s"},"items":[]}"#, 85);
    }

    #[test]
    fn a_compressed_session_is_told_by_its_content() {
        let compress = |text: &str| {
            ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
        };
        assert_eq!(certainty(Path::new("x.zst"), &compress(HEADER)), 100);
        assert_eq!(certainty(Path::new("rollout-x.jsonl.zst"), &compress("words")), 0);
    }

    #[test]
    fn other_harnesses_files_are_none() {
        for head in [
            "",
            "words\n",
            "[]",
            "{}",
            r#"{"type":"user","uuid":"u","parentUuid":null,"message":{"role":"user","content":"hi"}}"#,
            r#"{"type":"session","id":"s","timestamp":"t","cwd":"/p"}"#,
            r#"{"type":"message","id":"m","message":{"role":"user","content":[]}}"#,
            r#"{"sessionId":"s","messages":[]}"#,
            r#"{"type":"session_meta","payload":7}"#,
            r#"{"session":{"id":"s"},"messages":[]}"#,
        ] {
            check("x.jsonl", head, 0);
        }
    }
}
