//! JSON that passes through: canonical, whatever the log's spelling was.
//!
//! Canonical means: no spaces, keys of every object sorted by their UTF-8 bytes, the last of equal keys, numbers in
//! shortest form. What no JSON reader of ours can take (too deep, too large a number) is kept as a string that
//! holds its text.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use toolpath_plugin_api::kit::json::mend_surrogates;

/// Deeper values are kept as text: a document nests them in some levels of its own, and common readers stop at 128.
const DEEPEST: usize = 100;

/// One JSON value in canonical form, as text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// The canonical form of `text`. When it can't be read, a JSON string that holds it, and the reason.
    pub fn read(text: &str) -> (Self, Option<String>) {
        match value(text) {
            Ok(value) => (Self::of(&value), None),
            Err(reason) => (Self::of(&Value::from(text)), Some(reason)),
        }
    }

    /// A text that is in canonical form already, as another process of ours says; `None` when it is no JSON at all.
    pub fn checked(text: &str) -> Option<Self> {
        RawValue::from_string(text.to_owned()).ok().map(Self)
    }

    /// The canonical form of a value.
    pub fn of(value: &Value) -> Self {
        Self(to_raw_value(value).expect("a JSON value is JSON"))
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The value it stands for.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_default()
    }
}

/// Reads one value; half a surrogate pair is mended.
pub fn value(text: &str) -> Result<Value, String> {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(err) => match mend_surrogates(text).map(|mended| serde_json::from_str(&mended)) {
            Some(Ok(value)) => value,
            _ => return Err(err.to_string()),
        },
    };
    if depth(&value) > DEEPEST {
        return Err(format!("nested deeper than {DEEPEST} levels"));
    }
    Ok(value)
}

/// How deep the value nests; the reader's own limit bounds the recursion.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Json {}

impl Hash for Json {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, canonical: &str) {
        let (json, odd) = Json::read(text);
        assert_eq!((json.text(), odd), (canonical, None));
    }

    #[test]
    fn keys_are_sorted_at_every_depth_and_the_last_of_equals_stands() {
        check(
            r#" { "b" : [ { "d" : 1 , "c" : 2 } ] , "a" : null, "b2": 0, "a": true } "#,
            r#"{"a":true,"b":[{"c":2,"d":1}],"b2":0}"#,
        );
    }

    #[test]
    fn numbers_keep_their_kind() {
        check("[1.0,18446744073709551615,-9223372036854775808]", "[1.0,18446744073709551615,-9223372036854775808]");
        check("123456789012345678901234567890", "1.2345678901234568e+29");
        check("0.1", "0.1");
    }

    #[test]
    fn strings_escape_only_what_they_must() {
        check(r#""\u00e9\/\u2028\u007f\u001f\t""#, "\"é/\u{2028}\u{7f}\\u001f\\t\"");
    }

    #[test]
    fn half_a_surrogate_pair_is_mended() {
        check(r#"{"a":"x\ud83dy"}"#, "{\"a\":\"x\u{fffd}y\"}");
    }

    #[test]
    fn what_cannot_be_read_is_kept_as_text_with_the_reason() {
        for text in ["1e999", "{\"a\":", &format!("{}{}", "[".repeat(120), "]".repeat(120)), &"[".repeat(100_000)] {
            let (json, odd) = Json::read(text);
            assert_eq!(json.value(), Value::from(text));
            assert!(odd.is_some(), "{text}");
        }
    }
}
