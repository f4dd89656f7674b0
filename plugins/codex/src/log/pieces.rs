//! What a line or an element holds: a record; several, when a newline between them was lost; or none that can be read.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::{RawValue, mend_surrogates};
use toolpath_plugin_api::kit::lines::{trim, trim_bytes, within};
use toolpath_plugin_api::{Origin, PluginError, Severity};

use crate::log::{Counter, Part};

/// A piece of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    pub(super) json: &'a str,
    pub(super) value: Field<'a>,
    /// Why it cannot be read.
    pub(super) fault: Option<&'a str>,
    pub(super) nth: u64,
    pub(super) origin: Origin,
}

/// Hands the pieces of `bytes` to `counter`; with `fault` it is known that they cannot be read.
pub(super) fn pieces(
    bytes: &[u8],
    place: Origin,
    fault: Option<&str>,
    is_ended: bool,
    part: Part<'_>,
    counter: &mut Counter<'_, '_>,
) -> Result<(), PluginError> {
    if fault.is_none() {
        let mut places = std::mem::take(&mut counter.places);
        let told = places.of_bytes(trim_bytes(bytes)).map(|tree| {
            counter.piece(Text { json: tree.text(), value: tree.root(), fault: None, nth: 0, origin: place }, part)
        });
        counter.places = places;
        if let Some(told) = told {
            return told;
        }
    }
    let text = String::from_utf8_lossy(bytes);
    let is_faithful = matches!(text, Cow::Borrowed(_));
    if !is_faithful {
        counter.note(Severity::Warning, "invalid-utf8", "bytes that are no UTF-8 were replaced", place)?;
    }
    if fault.is_some() {
        return counter.piece(Text { json: &text, value: Field::default(), fault, nth: 0, origin: place }, part);
    }
    let mended = mend_surrogates(&text);
    if mended.is_some() {
        counter.note(Severity::Info, "lone-surrogate", "halves of surrogate pairs were replaced", place)?;
    }
    let whole = mended.as_deref().unwrap_or(&text);
    let trimmed = trim(whole);
    if trimmed.is_empty() {
        let nuls = format!("{} NUL bytes", bytes.iter().filter(|&&byte| byte == 0).count());
        let fault = Some("the line holds nothing but NUL bytes");
        return counter.piece(Text { json: &nuls, value: Field::default(), fault, nth: 0, origin: place }, part);
    }
    let (mut rest, mut nth) = (trimmed, 0);
    while !rest.is_empty() {
        let (json, value, fault, next) = first(rest, is_ended);
        let is_object = json.starts_with('{') || !matches!(part, Part::Line | Part::Item);
        let fault = fault.or((!is_object).then(|| "expected an object".to_owned()));
        // Where bytes were replaced, a piece's place in the text is not its place in the file.
        let is_placed = is_faithful && mended.is_none() && json.len() < trimmed.len();
        let origin = if is_placed { within(place, whole, json) } else { place };
        counter.piece(Text { json, value, fault: fault.as_deref(), nth, origin }, part)?;
        (rest, nth) = (next, nth + 1);
    }
    Ok(())
}

/// The first value of a text and its JSON, why it is none, and what follows it.
fn first(text: &str, is_ended: bool) -> (&str, Field<'_>, Option<String>, &str) {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    match values.next() {
        Some(Ok(value)) => (value.get(), Field::of(value), None, trim(&text[values.byte_offset()..])),
        Some(Err(err)) => (text, Field::default(), Some(reason(&err, is_ended)), ""),
        None => (text, Field::default(), Some("holds nothing".to_owned()), ""),
    }
}

fn reason(err: &serde_json::Error, is_ended: bool) -> String {
    match (err.is_eof(), is_ended) {
        (true, false) => "the file ends inside a record".to_owned(),
        (true, true) => "the line ends inside a record".to_owned(),
        // The place is the line's; "at line 1" would contradict it.
        (false, _) => err.to_string().replace(" at line 1 column ", " at column "),
    }
}

#[cfg(test)]
mod tests {
    use crate::log::tests::check;

    #[test]
    fn records_that_lost_the_newline_between_them_are_told_apart() {
        check(
            b"{\"a\":1}{\"b\":2}\0{\"c\":3",
            &[
                "1: 1.0@0 Line {\"a\":1}",
                "2: 1.1@7 Line {\"b\":2}",
                "3: 1.2@15 Line {\"c\":3 ! the file ends inside a record",
            ],
        );
    }

    #[test]
    fn a_broken_line_is_handed_out_with_the_reason() {
        check(b"{a:1}\n", &["1: 1.0@0 Line {a:1} ! key must be a string at column 2"]);
        check(b"{\"a\"\n{}\n", &["1: 1.0@0 Line {\"a\" ! the line ends inside a record", "2: 2.0@5 Line {}"]);
        check(b"[1]\n", &["1: 1.0@0 Line [1] ! expected an object"]);
        check(b"words", &["1: 1.0@0 Line words ! expected value at column 1"]);
        check(b"\0\0\0\n", &["1: 1.0@0 Line 3 NUL bytes ! the line holds nothing but NUL bytes"]);
    }

    #[test]
    fn what_is_no_text_is_replaced_and_said() {
        check(b"{\"a\":\"\xff\"}\n", &["invalid-utf8", "1: 1.0@0 Line {\"a\":\"\u{fffd}\"}"]);
        check(br#"{"a":"\ud83d"}"#, &["lone-surrogate", "1: 1.0@0 Line {\"a\":\"\\ufffd\"}"]);
        check(br#"{"a":"\ud83d\ude00"}"#, &["1: 1.0@0 Line {\"a\":\"\\ud83d\\ude00\"}"]);
    }
}
