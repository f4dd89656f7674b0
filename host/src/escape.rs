//! Long texts as JSON strings, many bytes at a time.
//!
//! `serde_json` looks at each byte of a text by itself. What is written here is byte for byte the same.

#![expect(unsafe_code, reason = "what was just written as JSON need not be read to know that it is")]

use std::cell::RefCell;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// Shorter texts are not worth a copy of their own.
const LONG: usize = 64;

/// Serialises a text.
pub(crate) fn text<S: Serializer>(text: &impl AsRef<str>, to: S) -> Result<S::Ok, S::Error> {
    let text = text.as_ref();
    if text.len() < LONG {
        return to.serialize_str(text);
    }
    raw(quoted(text)).serialize(to)
}

/// JSON without the check that it is: one value, without space around it.
pub(crate) fn raw(json: String) -> Box<RawValue> {
    debug_assert!(RawValue::from_string(json.clone()).is_ok(), "{json}");
    // SAFETY: callers pass what was just written as JSON, or found to be.
    unsafe { RawValue::from_string_unchecked(json) }
}

/// The JSON string of a text.
pub(crate) fn quoted(text: &str) -> String {
    BUFFER.with_borrow_mut(|buffer| {
        buffer.clear();
        // It asks for room for the worst case, which memory of its own for each text would not be worth.
        json_escape_simd::escape_into(text, buffer);
        let json = buffer.clone();
        buffer.shrink_to(MOST_KEPT);
        // SAFETY: an escaped text is a text.
        unsafe { String::from_utf8_unchecked(json) }
    })
}

/// Bytes of the buffer that are kept for the next text.
const MOST_KEPT: usize = 1 << 20;

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Serialises a text that is there; where it is not, the field is to be left out.
pub(crate) fn some<S: Serializer>(text: &Option<impl AsRef<str>>, to: S) -> Result<S::Ok, S::Error> {
    match text {
        Some(there) => self::text(there, to),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    #[derive(serde::Serialize)]
    struct Told<'a> {
        #[serde(serialize_with = "super::text")]
        text: &'a str,
        #[serde(serialize_with = "super::some")]
        some: Option<&'a str>,
    }

    #[track_caller]
    fn check(text: &str) {
        let plain = serde_json::json!({ "some": text, "text": text }).to_string();
        let told = Told { text, some: Some(text) };
        assert_eq!(serde_json::to_value(&told).expect("a value").to_string(), plain);
        let json = serde_json::to_string(&told).expect("JSON");
        let quoted = serde_json::to_string(text).expect("JSON");
        assert_eq!(json, format!(r#"{{"text":{quoted},"some":{quoted}}}"#));
    }

    #[test]
    fn every_character_of_one_byte_is_escaped_as_before_wherever_it_stands() {
        for byte in 0..128_u8 {
            for before in 0..70 {
                check(&format!("{}{}{}", "a".repeat(before), char::from(byte), "é".repeat(40)));
            }
        }
    }

    #[test]
    fn an_absent_text_is_null_where_it_is_not_left_out() {
        let told = Told { text: "", some: None };
        assert_eq!(serde_json::to_string(&told).expect("JSON"), r#"{"text":"","some":null}"#);
    }

    proptest! {
        #[test]
        fn texts_are_escaped_as_before(text in "(?s).{0,300}") {
            check(&text);
        }
    }
}
