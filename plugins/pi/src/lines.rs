//! What one line holds: a record; several, when a newline between them was lost; or none that can be read.
//!
//! Crashes leave cut lines, NUL bytes and lines that run into each other, and texts cut in the middle of a
//! character. What can be told apart is; the rest of the line is handed out as it stands, with the reason.

use std::io::{self, Read};

use toolpath_plugin_api::kit::json::{RawValue, mend_surrogates};
use toolpath_plugin_api::kit::lines::{Lines, trim};

use crate::shape::Record;

/// One piece of a line.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every piece is a record, and a box for each would cost more")]
pub(crate) enum Piece<'a> {
    /// A record and its JSON text.
    Record(Record<'a>, &'a str),
    /// What cannot be read, and why.
    Unreadable(&'a str, String),
}

/// Whether a line's text has its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It ends at a newline.
    Newline,
    /// The file ends there.
    File,
}

/// The pieces of a line, in order.
pub(crate) struct Pieces<'a> {
    rest: &'a str,
    end: End,
    /// Nearly always the line is one record, which is then parsed once.
    is_whole: bool,
}

impl<'a> Pieces<'a> {
    /// The pieces of `text`, which [`trim`] has trimmed.
    pub(crate) fn of(text: &'a str, end: End) -> Self {
        Self { rest: text, end, is_whole: true }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = self.rest;
        if std::mem::take(&mut self.is_whole)
            && let Ok(record) = serde_json::from_str(rest)
        {
            self.rest = "";
            return Some(Piece::Record(record, rest));
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let value = values.next()?.map(RawValue::get);
        match value {
            Ok(json) => {
                self.rest = trim(&rest[values.byte_offset()..]);
                let record = serde_json::from_str(json).ok();
                Some(record.map_or_else(
                    || Piece::Unreadable(json, "expected an object".to_owned()),
                    |record| Piece::Record(record, json),
                ))
            }
            Err(err) => {
                self.rest = "";
                Some(Piece::Unreadable(rest, reason(&err, self.end)))
            }
        }
    }
}

fn reason(err: &serde_json::Error, end: End) -> String {
    match (err.is_eof(), end) {
        (true, End::File) => "the file ends inside a record".to_owned(),
        (true, End::Newline) => "the line ends inside a record".to_owned(),
        // The place is the line's; "at line 1" would contradict it.
        (false, _) => err.to_string().replace(" at line 1 column ", " at column "),
    }
}

/// The first record of the log that can be read, as `found` sees it.
pub(crate) fn first<T>(log: impl Read, found: impl FnOnce(&Record<'_>) -> T) -> io::Result<Option<T>> {
    let mut lines = Lines::new(log);
    while let Some(line) = lines.next()? {
        let (text, _) = line.text();
        let mended = mend_surrogates(&text);
        let text = trim(mended.as_deref().unwrap_or(&text));
        if let Some(Piece::Record(record, _)) = Pieces::of(text, End::Newline).next() {
            return Ok(Some(found(&record)));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, end: End, expected: &[&str]) {
        let seen: Vec<_> = Pieces::of(trim(text), end)
            .map(|piece| match piece {
                Piece::Record(record, json) => format!("{} {json}", record.id.text().unwrap_or_default()),
                Piece::Unreadable(text, reason) => format!("{reason}: {text}"),
            })
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_line_is_a_record() {
        check(r#" {"id":"a"} "#, End::Newline, &[r#"a {"id":"a"}"#]);
        check("", End::Newline, &[]);
    }

    #[test]
    fn records_that_lost_the_newline_between_them_are_told_apart() {
        check(
            r#"{"id":"a"}{"id":"b"} {"id":"c"}"#,
            End::Newline,
            &[r#"a {"id":"a"}"#, r#"b {"id":"b"}"#, r#"c {"id":"c"}"#],
        );
        check("{\"id\":\"a\"}\0\0{\"id\":\"b\"}", End::Newline, &[r#"a {"id":"a"}"#, r#"b {"id":"b"}"#]);
    }

    #[test]
    fn what_follows_a_good_record_and_is_broken_is_one_unreadable_piece() {
        check(
            r#"{"id":"a"}{"id":"b"#,
            End::Newline,
            &[r#"a {"id":"a"}"#, r#"the line ends inside a record: {"id":"b"#],
        );
    }

    #[test]
    fn a_file_that_was_cut_ends_inside_a_record() {
        check(r#"{"id":"a"#, End::File, &[r#"the file ends inside a record: {"id":"a"#]);
    }

    #[test]
    fn a_broken_line_is_handed_out_with_the_parsers_reason() {
        check("{id:1}", End::Newline, &["key must be a string at column 2: {id:1}"]);
        check("plain words", End::Newline, &["expected value at column 1: plain words"]);
    }

    #[test]
    fn a_value_that_is_no_object_is_no_record() {
        check("[1]", End::Newline, &["expected an object: [1]"]);
        check(r#""a" {"id":"b"}"#, End::File, &[r#"expected an object: "a""#, r#"b {"id":"b"}"#]);
    }

    #[test]
    fn nuls_around_a_record_are_passed_over() {
        check("\0\0{\"id\":\"a\"}\0", End::Newline, &[r#"a {"id":"a"}"#]);
        assert_eq!(trim("\0 \0"), "");
    }

    #[test]
    fn only_half_a_pair_is_mended() {
        assert_eq!(mend_surrogates(r#""cut \ud83d""#).as_deref(), Some(r#""cut \ufffd""#));
        assert_eq!(mend_surrogates(r#""\uD83D\uDE00""#), None);
        assert_eq!(mend_surrogates("plain"), None);
    }
}
