//! What a session is called: by its header, or by its file's name where that cannot be read.

use std::io::{self, Read};

use crate::known::is_header;
use crate::lines::first;

/// The id of the session in `log`, whose file is called `stem` but for its extension.
pub(crate) fn id(log: impl Read, stem: Option<&str>) -> io::Result<String> {
    let header = first(log, |record| if is_header(record) { record.id.filled().map(String::from) } else { None })?;
    Ok(header.flatten().unwrap_or_else(|| stem.map_or("stdin", of_file).to_owned()))
}

/// A file is called `<time>_<session id>.jsonl`.
fn of_file(stem: &str) -> &str {
    match stem.split_once('_') {
        Some((time, id)) if is_time(time) && !id.is_empty() => id,
        _ => stem,
    }
}

/// Whether `text` is a time stamp with `-` in place of `:` and `.`.
pub(crate) fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 20
        && bytes[10] == b'T'
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 | 13 | 16 => *byte == b'-',
            10 => true,
            at if at + 1 == bytes.len() => *byte == b'Z',
            _ => byte.is_ascii_digit() || *byte == b'-',
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(log: &str, stem: Option<&str>, expected: &str) {
        assert_eq!(id(log.as_bytes(), stem).expect("reading from memory"), expected);
    }

    #[test]
    fn the_header_names_the_session() {
        let header = r#"{"type":"session","version":3,"id":"s-1","timestamp":"t","cwd":"/w"}"#;
        check(&format!("\n{header}\n"), Some("other"), "s-1");
        check(&format!("{{broken\n{header}\n"), Some("other"), "s-1");
    }

    #[test]
    fn without_a_header_the_file_does() {
        let entry = r#"{"type":"label","id":"a","targetId":"b"}"#;
        check(entry, Some("2026-03-01T09-00-00-000Z_s-1_x"), "s-1_x");
        check(entry, Some("my_session"), "my_session");
        check(entry, Some("2026-03-01T09-00-00-000Z_"), "2026-03-01T09-00-00-000Z_");
        check("", None, "stdin");
    }
}
