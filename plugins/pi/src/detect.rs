//! How sure it is that a file is Pi's.

use std::path::Path;

use crate::known::{is_header, is_known};
use crate::lines::first;
use crate::session::is_time;

/// From 0 to 100, by the file's path and its first bytes.
pub(crate) fn detect(path: &Path, head: &[u8]) -> u8 {
    // What is built on Pi writes the same into folders of its own; only Pi's names say that it is Pi.
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let is_named = stem.split_once('_').is_some_and(|(time, _)| is_time(time))
        || (folder.starts_with("--") && folder.ends_with("--"));
    let sureness = first(head, |record| match (is_header(record), is_known(record)) {
        (true, _) if is_named => 95,
        (true, _) => 70,
        (false, true) if is_named => 60,
        (false, true) => 40,
        (false, false) => 0,
    });
    sureness.ok().flatten().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_pis_and_its_file_name_makes_it_sure() {
        let header = br#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#;
        let check = |path: &str, head: &[u8], sureness: u8| assert_eq!(detect(Path::new(path), head), sureness);
        check("/h/.pi/agent/sessions/--w--/2026-03-01T09-00-00-000Z_s.jsonl", header, 95);
        check("/h/.pi/agent/sessions/--w--/x.jsonl", header, 95);
        check("/srv/session.jsonl", header, 70);
        check("/srv/session.jsonl", br#"{"type":"label","id":"a","parentId":"b","targetId":"c"}"#, 40);
        check("/srv/--w--/session.jsonl", br#"{"type":"label","id":"a","parentId":"b","targetId":"c"}"#, 60);
    }

    #[test]
    fn files_of_other_harnesses_and_none_are_not_pis() {
        for head in [
            "",
            "\0\0",
            "{\"type\":\"session\"",
            r#"{"type":"session_start","id":"s","cwd":"/w"}"#,
            r#"{"type":"session.start","data":{}}"#,
            r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"hi"}}"#,
            r#"{"type":"message","id":"m1","parentId":"s","timestamp":"t","message":{"role":"user","content":[]}}"#,
        ] {
            assert_eq!(detect(Path::new("/srv/--w--/2026-03-01T09-00-00-000Z_s.jsonl"), head.as_bytes()), 0, "{head}");
        }
    }
}
