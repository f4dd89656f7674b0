//! How sure it is that a file or a folder is opencode's.

use std::path::Path;

use toolpath_plugin_api::kit::sqlite::MAGIC;

use crate::locate::{databases, is_database, trees};

const SURE: u8 = 95;
const LIKELY: u8 = 80;

/// How sure it is that `path`, which begins with `head`, is opencode's.
pub(crate) fn detect(path: &Path, head: &[u8]) -> u8 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if path.is_dir() {
        let has_store =
            !databases(path).is_empty() || trees(path).iter().any(|tree| tree.root().join("session").is_dir());
        return if has_store { LIKELY } else { 0 };
    }
    if head.starts_with(MAGIC) {
        // The schema stands on the first page, or soon after.
        let has = |needle: &str| head.windows(needle.len()).any(|window| window == needle.as_bytes());
        let has_table = |table: &str| has(&format!("CREATE TABLE `{table}`")) || has(&format!("CREATE TABLE {table}"));
        return match (is_database(&name), has_table("session") && (has_table("part") || has_table("session_message"))) {
            (true, _) => SURE,
            (false, true) => LIKELY,
            (false, false) => 0,
        };
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start();
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    if !text.starts_with('{') || !has("projectID") || !has("directory") {
        return 0;
    }
    let is_export = has("info");
    let is_session = path.parent().and_then(Path::parent).is_some_and(|folder| folder.ends_with("session"));
    if is_export || is_session { LIKELY } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, head: &str, expected: u8) {
        assert_eq!(detect(Path::new(path), head.as_bytes()), expected, "{path} {head}");
    }

    #[test]
    fn a_database_is_known_by_its_name_or_its_tables() {
        const DATABASE: &str = "SQLite format 3\0";
        check("/d/opencode.db", DATABASE, SURE);
        check("/d/opencode-dev.db", DATABASE, SURE);
        check("/d/copy.sqlite", &format!("{DATABASE}CREATE TABLE `session` (..)CREATE TABLE `part` (..)"), LIKELY);
        check("/d/state.vscdb", &format!("{DATABASE}CREATE TABLE ItemTable (..)"), 0);
        check("/d/goose.db", &format!("{DATABASE}CREATE TABLE sessions (..)CREATE TABLE messages (..)"), 0);
        check("/d/opencode.db", "{}", 0);
    }

    #[test]
    fn an_export_and_a_sessions_file_are_known_by_their_keys() {
        check("/d/x.json", r#"{"info":{"id":"ses_1","projectID":"p","directory":"/w"},"messages":["#, LIKELY);
        check("/s/session/p/ses_1.json", r#"{"id":"ses_1","projectID":"p","directory":"/w"}"#, LIKELY);
        check("/s/other/p/ses_1.json", r#"{"id":"ses_1","projectID":"p","directory":"/w"}"#, 0);
        check("/d/x.jsonl", r#"{"type":"user","message":{"content":"projectID"}}"#, 0);
        check("/d/x.json", "", 0);
    }
}
