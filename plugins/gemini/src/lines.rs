//! What one line, or one message of a list, holds: a record; several, when a newline between them was lost; or none
//! that can be read.
//!
//! Crashes leave cut lines, NUL bytes and lines that run into each other, and texts cut in the middle of a character.
//! What can be told apart is; the rest is handed out as it stands, with the reason.

use std::borrow::Cow;

use toolpath_plugin_api::kit::json::{RawValue, mend_surrogates};
use toolpath_plugin_api::kit::lines::trim;

/// Whether a text has its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It ends where it should.
    Whole,
    /// The file ends there.
    File,
}

/// One piece of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A record, as JSON.
    Record(&'a str),
    /// What cannot be read, and why.
    Unreadable(&'a str, String),
}

impl<'a> Piece<'a> {
    /// Its text.
    pub(crate) fn text(&self) -> &'a str {
        match self {
            Self::Record(text) | Self::Unreadable(text, _) => text,
        }
    }
}

/// The text of bytes, readable as far as it can be made so, and what had to be done for that.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mended<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Bytes that are no UTF-8 were replaced.
    pub(crate) has_invalid_utf8: bool,
    /// Halves of surrogate pairs were replaced.
    pub(crate) has_lone_surrogate: bool,
}

/// Makes a text of bytes.
pub(crate) fn mend(bytes: &[u8]) -> Mended<'_> {
    let text = String::from_utf8_lossy(bytes);
    let has_invalid_utf8 = matches!(text, Cow::Owned(_));
    let mended = mend_surrogates(&text);
    let has_lone_surrogate = mended.is_some();
    Mended { text: mended.map_or(text, Cow::Owned), has_invalid_utf8, has_lone_surrogate }
}

impl Mended<'_> {
    /// Whether a place in the text is the same place in the bytes.
    pub(crate) fn is_as_it_was(&self) -> bool {
        !self.has_invalid_utf8 && !self.has_lone_surrogate
    }
}

/// The pieces of a line, in order.
pub(crate) struct Pieces<'a> {
    rest: &'a str,
    end: End,
}

impl<'a> Pieces<'a> {
    /// The pieces of `text`.
    pub(crate) fn of(text: &'a str, end: End) -> Self {
        Self { rest: trim(text), end }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = self.rest;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let value = values.next()?.map(RawValue::get);
        match value {
            Ok(json) => {
                self.rest = trim(&rest[values.byte_offset()..]);
                let is_object = json.starts_with('{');
                Some(if is_object { Piece::Record(json) } else { Piece::Unreadable(json, "expected an object".into()) })
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
        (true, End::Whole) => "the record ends too early".to_owned(),
        // The place is given with the sentence; "at line 1" would contradict it.
        (false, _) => {
            let text = err.to_string();
            text.split(" at line ").next().unwrap_or(&text).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, end: End, expected: &[&str]) {
        let seen: Vec<_> = Pieces::of(text, end)
            .map(|piece| match piece {
                Piece::Record(json) => json.to_owned(),
                Piece::Unreadable(text, reason) => format!("{reason}: {text}"),
            })
            .collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_line_is_a_record() {
        check(r#" {"id":"a"} "#, End::Whole, &[r#"{"id":"a"}"#]);
        check("\0 \0", End::Whole, &[]);
    }

    #[test]
    fn records_that_lost_the_newline_between_them_are_told_apart() {
        check(
            "{\"id\":\"a\"}{\"id\":\"b\"}\0\0{\"id\":\"c\"}",
            End::Whole,
            &[r#"{"id":"a"}"#, r#"{"id":"b"}"#, r#"{"id":"c"}"#],
        );
    }

    #[test]
    fn what_is_cut_or_broken_is_one_piece_with_the_reason() {
        check(r#"{"id":"a"}{"id"#, End::Whole, &[r#"{"id":"a"}"#, r#"the record ends too early: {"id"#]);
        check(r#"{"id"#, End::File, &[r#"the file ends inside a record: {"id"#]);
        check("{id:1}", End::Whole, &["key must be a string: {id:1}"]);
        check("[1]", End::Whole, &["expected an object: [1]"]);
    }

    #[test]
    fn only_what_is_no_text_is_mended() {
        let of = |bytes| {
            let mended = mend(bytes);
            (mended.text.into_owned(), mended.has_invalid_utf8, mended.has_lone_surrogate)
        };
        assert_eq!(of(b"a\xff"), ("a\u{fffd}".into(), true, false));
        assert_eq!(of(br#""\ud83d""#), (r#""\ufffd""#.into(), false, true));
        assert_eq!(of(br#""\uD83D\uDE00""#), (r#""\uD83D\uDE00""#.into(), false, false));
    }
}
