//! What one line holds: a record; several, when a newline between them was lost; or none that can be read.
//!
//! Crashes leave cut lines, NUL bytes, and a cut record with a whole one right behind it. What can be told apart is; the
//! rest is handed out as it stands, with the reason. A record that goes on in the next line is `joined`'s matter.

use std::io::{self, Read};

use toolpath_plugin_api::kit::json::{RawValue, mend_surrogates};
use toolpath_plugin_api::kit::lines::{Lines, trim};

use crate::shape::Record;

/// How each record begins; a whole one behind a cut one is found by it.
const BEGINNING: &str = r#"{"type":""#;
/// Places where a whole record is looked for behind a cut one, and bytes that are read for it in all.
const MOST_TRIES: usize = 1000;
const MOST_READ: usize = 64 * 1024 * 1024;

/// One piece of a line.
#[derive(Debug)]
pub(crate) enum Piece<'a> {
    /// A record and its JSON text.
    Record(Record<'a>, &'a str),
    /// What cannot be read.
    Unreadable(&'a str, Fault),
}

/// Why a piece cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The text ends inside it.
    Cut,
    /// Another record begins inside it.
    Overrun,
    /// Anything else, in the parser's words.
    Other(String),
}

/// The pieces of `text`, which [`trim`] has trimmed, in order.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    // Nearly always the line is one record, which is then parsed once.
    if let Ok(record) = serde_json::from_str(text) {
        return vec![Piece::Record(record, text)];
    }
    let (mut pieces, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match values.next() {
            Some(Ok(value)) => {
                let json = value.get();
                rest = trim(&rest[values.byte_offset()..]);
                pieces.push(match serde_json::from_str(json) {
                    Ok(record) => Piece::Record(record, json),
                    Err(_) => Piece::Unreadable(json, Fault::Other("expected an object".to_owned())),
                });
            }
            Some(Err(err)) => {
                if let Some(at) = whole_records(rest) {
                    pieces.push(Piece::Unreadable(&rest[..at], Fault::Overrun));
                    rest = &rest[at..];
                    continue;
                }
                // The place is the line's; "at line 1" would contradict it.
                let reason = || err.to_string().replace(" at line 1 column ", " at column ");
                let fault = if err.is_eof() { Fault::Cut } else { Fault::Other(reason()) };
                pieces.push(Piece::Unreadable(rest, fault));
                rest = "";
            }
            None => rest = "",
        }
    }
    pieces
}

/// Whether `text` is nothing but whole records.
pub(crate) fn is_whole(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match values.next() {
            Some(Ok(value)) if value.get().starts_with('{') => rest = trim(&rest[values.byte_offset()..]),
            _ => return false,
        }
    }
    !text.is_empty()
}

/// Where in `text`, behind its beginning, whole records begin that take up the rest of it.
fn whole_records(text: &str) -> Option<usize> {
    let mut from = 1;
    let (mut tries, mut read) = (0, 0);
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(BEGINNING)) {
        let at = from + found;
        (tries, read) = (tries + 1, read + text.len() - at);
        if tries > MOST_TRIES || (tries > 1 && read > MOST_READ) {
            return None;
        }
        if is_whole(&text[at..]) {
            return Some(at);
        }
        from = at + BEGINNING.len();
    }
    None
}

/// The first record of the log of which `found` makes something; it looks at no more than `most` records.
pub(crate) fn first<T>(
    log: impl Read,
    most: usize,
    mut found: impl FnMut(&Record<'_>) -> Option<T>,
) -> io::Result<Option<T>> {
    let (mut lines, mut seen) = (Lines::new(log), 0);
    while let Some(line) = lines.next()? {
        let (text, _) = line.text();
        let mended = mend_surrogates(&text);
        for piece in pieces(trim(mended.as_deref().unwrap_or(&text))) {
            if let Piece::Record(record, _) = piece {
                if let Some(made) = found(&record) {
                    return Ok(Some(made));
                }
                seen += 1;
            }
        }
        if seen >= most {
            break;
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let seen: Vec<_> = pieces(trim(text))
            .iter()
            .map(|piece| match piece {
                Piece::Record(record, json) => format!("{} {json}", record.id.text().unwrap_or_default()),
                Piece::Unreadable(text, fault) => format!("{fault:?}: {text}"),
            })
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_line_is_a_record() {
        check(r#" {"id":"a"} "#, &[r#"a {"id":"a"}"#]);
        check("", &[]);
    }

    #[test]
    fn records_that_lost_the_newline_between_them_are_told_apart() {
        check(r#"{"id":"a"}{"id":"b"} {"id":"c"}"#, &[r#"a {"id":"a"}"#, r#"b {"id":"b"}"#, r#"c {"id":"c"}"#]);
        check("{\"id\":\"a\"}\0\0{\"id\":\"b\"}", &[r#"a {"id":"a"}"#, r#"b {"id":"b"}"#]);
    }

    #[test]
    fn a_whole_record_right_behind_a_cut_one_is_found() {
        check(
            r#"{"type":"x","data":{"content":"half a se{"type":"y","id":"b","data":{"contents":[{"type":"text"}]}}"#,
            &[
                r#"Overrun: {"type":"x","data":{"content":"half a se"#,
                r#"b {"type":"y","id":"b","data":{"contents":[{"type":"text"}]}}"#,
            ],
        );
        check(
            r#"{"id":"a"}{"type":"x","da{"type":"y","id":"b"}{"type":"z","id":"c"}"#,
            &[
                r#"a {"id":"a"}"#,
                r#"Overrun: {"type":"x","da"#,
                r#"b {"type":"y","id":"b"}"#,
                r#"c {"type":"z","id":"c"}"#,
            ],
        );
    }

    #[test]
    fn what_is_broken_and_holds_no_whole_record_stays_one_piece() {
        check(r#"{"id":"a"}{"id":"b"#, &[r#"a {"id":"a"}"#, r#"Cut: {"id":"b"#]);
        check(r#"{"type":"x","data":{"type":"y","#, &[r#"Cut: {"type":"x","data":{"type":"y","#]);
        check("{id:1}", &[r#"Other("key must be a string at column 2"): {id:1}"#]);
        check("plain words", &[r#"Other("expected value at column 1"): plain words"#]);
        check(r#"[1] {"id":"b"}"#, &[r#"Other("expected an object"): [1]"#, r#"b {"id":"b"}"#]);
    }

    #[test]
    fn nuls_around_a_record_are_passed_over() {
        check("\0\0{\"id\":\"a\"}\0", &[r#"a {"id":"a"}"#]);
        assert_eq!(trim("\0 \0"), "");
    }

    #[test]
    fn many_beginnings_that_lead_nowhere_cost_little() {
        let text = BEGINNING.repeat(200_000);
        assert!(matches!(pieces(&text)[..], [Piece::Unreadable(_, _)]));
    }
}
