//! How sure it is that a file or a folder is Cursor's.

use std::path::Path;

use toolpath_plugin_api::kit::sqlite::MAGIC;

use crate::shape::{Line, Piece};
use crate::transcript::text;

const SURE: u8 = 95;
const LIKELY: u8 = 70;

/// How sure it is that `path`, which begins with `head`, is Cursor's.
pub(crate) fn detect(path: &Path, head: &[u8]) -> u8 {
    let is_in = |folder: &str| path.components().any(|part| part.as_os_str() == folder);
    if path.is_dir() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let has = |file: &str| path.join(file).is_file();
        return if is_in("agent-transcripts") && has(&format!("{name}.jsonl")) { SURE } else { 0 };
    }
    if head.starts_with(MAGIC) {
        let has = |needle: &str| head.windows(needle.len()).any(|window| window == needle.as_bytes());
        // Other editors of the same descent have a `state.vscdb`, and none has this table.
        if has("cursorDiskKV") {
            return SURE;
        }
        let is_chat = has("CREATE TABLE blobs") && has("CREATE TABLE meta");
        let is_named = path.file_name().is_some_and(|name| name == "store.db");
        return match (is_chat, is_named) {
            (true, true) => LIKELY,
            // Two tables of common names are less than that.
            (true, false) => LIKELY / 2,
            (false, _) => 0,
        };
    }
    if text::is_one(head) {
        return if is_in("agent-transcripts") { SURE } else { LIKELY / 2 };
    }
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_whole = first.len() < head.len();
    let line: Line<'_> = serde_json::from_slice(first).unwrap_or_default();
    let message: Line<'_> = line.message.object_or_default();
    let is_said = line.role.is("user") || line.role.is("assistant");
    let is_line =
        (is_said && message.content.json().is_some() && line.kind.json().is_none() && line.id.json().is_none())
            || line.kind.is("turn_ended");
    match (is_in("agent-transcripts"), is_line) {
        (true, true) => SURE,
        (true, false) if !is_whole && head.starts_with(b"{\"role\":") => LIKELY,
        (false, true) => {
            let pieces = message.content.list().unwrap_or_default();
            let first: Piece<'_> = pieces.first().copied().unwrap_or_default().object_or_default();
            if first.text.text().is_some_and(|text| text.contains("<user_query>")) { SURE } else { LIKELY }
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, head: &str, expected: u8) {
        assert_eq!(detect(Path::new(path), head.as_bytes()), expected, "{path} {head}");
    }

    const DATABASE: &str = "SQLite format 3\0";

    #[test]
    fn a_database_is_known_by_its_tables() {
        check("/c/state.vscdb", &format!("{DATABASE}CREATE TABLE cursorDiskKV (key TEXT)"), SURE);
        check("/c/copy.db", &format!("{DATABASE}CREATE TABLE cursorDiskKV (key TEXT)"), SURE);
        check("/Code/state.vscdb", &format!("{DATABASE}CREATE TABLE ItemTable (key TEXT)"), 0);
        check("/c/store.db", &format!("{DATABASE}CREATE TABLE blobs (..)CREATE TABLE meta (..)"), LIKELY);
        check("/c/other.db", &format!("{DATABASE}CREATE TABLE blobs (..)CREATE TABLE meta (..)"), LIKELY / 2);
        check("/d/opencode.db", &format!("{DATABASE}CREATE TABLE session (..)"), 0);
    }

    #[test]
    fn a_transcript_is_known_by_its_place_and_its_lines() {
        let line = r#"{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}"#;
        check("/p/agent-transcripts/x/x.jsonl", line, SURE);
        check("/p/x.jsonl", line, LIKELY);
        check("/p/x.jsonl", &line.replace("hi", "<user_query>\\nhi\\n</user_query>"), SURE);
        check("/p/x.jsonl", r#"{"type":"turn_ended","status":"success"}"#, LIKELY);
        check("/p/agent-transcripts/x.txt", "user:\nhi\nassistant:\nho", SURE);
        check("/p/agent-transcripts/x.jsonl", "{\"x\":1}\n", 0);
    }

    #[test]
    fn other_harnesses_lines_are_not_cursors() {
        for line in [
            r#"{"type":"user","message":{"role":"user","content":"hi"},"uuid":"u"}"#,
            r#"{"role":"user","content":"hi"}"#,
            r#"{"type":"message","id":"a","message":{"role":"user","content":[]}}"#,
            r#"{"id":"a","role":"user","message":{"content":"hi"}}"#,
            "",
            "words",
            "[1]",
        ] {
            check("/p/x.jsonl", line, 0);
        }
    }
}
