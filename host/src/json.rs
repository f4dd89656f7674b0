//! JSON that passes through: canonical, whatever the log's spelling was.
//!
//! Canonical means: no spaces, keys of every object sorted by their UTF-8 bytes, the last of equal keys, numbers in
//! shortest form. What no JSON reader of ours can take (too deep, too large a number) is kept as a string that
//! holds its text.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::{is_canonical_string, mend_surrogates};
use toolpath_plugin_api::kit::tree::Places;

use crate::escape::{quoted, raw};

/// Deeper values are kept as text: a document nests them in some levels of its own, and common readers stop at 128.
const DEEPEST: usize = 100;

/// One JSON value, as text: first as a plugin told it, then in canonical form.
#[derive(Clone, Debug)]
pub struct Json<'a>(Form<'a>);

#[derive(Clone, Debug)]
enum Form<'a> {
    Told(Cow<'a, str>),
    Canonical(Box<RawValue>),
}

impl<'a> Json<'a> {
    /// A value that nobody has looked at; [`read`](Self::read) it.
    pub fn told(text: impl Into<Cow<'a, str>>) -> Self {
        Self(Form::Told(text.into()))
    }

    /// The canonical form of a value.
    pub fn of(value: &Value) -> Self {
        Self(Form::Canonical(to_raw_value(value).expect("a JSON value is JSON")))
    }

    /// Takes on the canonical form. What can't be read becomes a JSON string that holds it, and the answer says why.
    pub fn read(&mut self) -> Option<String> {
        let Form::Told(text) = &self.0 else { return None };
        let (json, reason) = match canonical(text) {
            Ok(json) => (json, None),
            Err(reason) => (quoted(text), Some(reason)),
        };
        self.0 = Form::Canonical(raw(json));
        reason
    }

    /// Its text.
    pub fn text(&self) -> &str {
        match &self.0 {
            Form::Told(text) => text,
            Form::Canonical(json) => json.get(),
        }
    }

    /// The value it stands for.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_default()
    }

    /// The same value, owning its text.
    pub fn into_owned(self) -> Json<'static> {
        Json(match self.0 {
            Form::Told(text) => Form::Told(text.into_owned().into()),
            Form::Canonical(json) => Form::Canonical(json),
        })
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Told(_) => {
                let mut json = self.clone();
                json.read();
                json.serialize(to)
            }
            Form::Canonical(json) => json.serialize(to),
        }
    }
}

/// Taken to be canonical: it is how one of this program reads what it wrote.
impl<'de> Deserialize<'de> for Json<'_> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Box::deserialize(from).map(|json| Self(Form::Canonical(json)))
    }
}

/// The canonical form of one value; half a surrogate pair is mended.
///
/// The values are never held as a tree of them, which for small items takes many times the memory of its text.
fn canonical(text: &str) -> Result<String, String> {
    if let Some(plain) = plain(text) {
        return Ok(plain);
    }
    let write = |text: &str| {
        let whole: &RawValue = serde_json::from_str(text).map_err(|err| err.to_string())?;
        let mut out = String::with_capacity(text.len());
        write_value(whole.get(), 0, &mut out)?;
        Ok(out)
    };
    write(text).or_else(|reason: String| mend_surrogates(text).map_or(Err(reason), |mended| write(&mended)))
}

/// The canonical form of an object in which no key stands twice; `None` for what has to be looked at more closely.
fn plain(text: &str) -> Option<String> {
    thread_local! {
        static PLACES: RefCell<Places> = RefCell::default();
    }
    PLACES.with_borrow_mut(|places| {
        let tree = places.of(text)?;
        let mut out = String::with_capacity(text.len());
        write_plain(tree.root(), 0, &mut out)?;
        Some(out)
    })
}

/// Writes a value; `None` where a key stands twice or a number is one that nobody can hold.
fn write_plain(value: Field<'_>, depth: usize, out: &mut String) -> Option<()> {
    if depth == DEEPEST && (value.is_object() || value.is_list()) {
        return None;
    }
    if let Some(mut entries) = value.entries() {
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        out.push('{');
        for (index, (key, value)) in entries.into_iter().enumerate() {
            out.push_str(if index > 0 { ",\"" } else { "\"" });
            // A tree has no keys with escapes.
            out.push_str(&key);
            out.push_str("\":");
            write_plain(value, depth + 1, out)?;
        }
        out.push('}');
    } else if let Some(list) = value.list() {
        out.push('[');
        for (index, value) in list.into_iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_plain(value, depth + 1, out)?;
        }
        out.push(']');
    } else {
        write_simple(value.json().unwrap_or("null"), out).ok()?;
    }
    Some(())
}

/// Whether a number is an integer that no reader takes for another.
fn is_short_integer(number: &str) -> bool {
    const DIGITS: usize = 18;
    let digits = number.strip_prefix('-').unwrap_or(number);
    digits.len() <= DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()) && number != "-0"
}

fn write_value(value: &str, depth: usize, out: &mut String) -> Result<(), String> {
    let text = |err: serde_json::Error| err.to_string();
    let is_container = value.starts_with(['{', '[']);
    if is_container && depth == DEEPEST {
        return Err(format!("nested deeper than {DEEPEST} levels"));
    }
    if value.starts_with('{') {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(value).map_err(text)?;
        out.push('{');
        for (index, (key, value)) in fields.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&serde_json::to_string(key).map_err(text)?);
            out.push(':');
            write_value(value.get(), depth + 1, out)?;
        }
        out.push('}');
    } else if value.starts_with('[') {
        out.push('[');
        let mut json = serde_json::Deserializer::from_str(value);
        json.deserialize_seq(Items { depth: depth + 1, out }).map_err(text)?;
        out.push(']');
    } else {
        write_simple(value, out).map_err(text)?;
    }
    Ok(())
}

/// Writes a string, a number or a word.
fn write_simple(value: &str, out: &mut String) -> serde_json::Result<()> {
    if value.starts_with('"') && !is_canonical_string(value) {
        let string: String = serde_json::from_str(value)?;
        out.push_str(&serde_json::to_string(&string)?);
    } else if value.starts_with(|first: char| first == '-' || first.is_ascii_digit()) && !is_short_integer(value) {
        let number: serde_json::Number = serde_json::from_str(value)?;
        let _ = write!(out, "{number}");
    } else {
        out.push_str(value);
    }
    Ok(())
}

/// Writes a list's items as they are read.
struct Items<'o> {
    depth: usize,
    out: &'o mut String,
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let mut is_first = true;
        while let Some(item) = items.next_element::<&RawValue>()? {
            if !std::mem::take(&mut is_first) {
                self.out.push(',');
            }
            write_value(item.get(), self.depth, self.out).map_err(serde::de::Error::custom)?;
        }
        Ok(())
    }
}

impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Json<'_> {}

impl Hash for Json<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Json<'static>, Option<String>) {
        let mut json = Json::told(text.to_owned());
        let reason = json.read();
        (json, reason)
    }

    #[track_caller]
    fn check(text: &str, canonical: &str) {
        let (json, odd) = read(text);
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
        check("[-0,1E2,0]", "[-0.0,100.0,0]");
    }

    #[test]
    fn strings_escape_only_what_they_must() {
        check(r#""\u00e9\/\u2028\u007f\u001f\t""#, "\"é/\u{2028}\u{7f}\\u001f\\t\"");
        check(r#""\\/\\u0041\"\b\f\n\r\t\\""#, r#""\\/\\u0041\"\b\f\n\r\t\\""#);
        check(r#""\\\/\n\u000a""#, r#""\\/\n\n""#);
    }

    #[test]
    fn half_a_surrogate_pair_is_mended() {
        check(r#"{"a":"x\ud83dy"}"#, "{\"a\":\"x\u{fffd}y\"}");
    }

    #[test]
    fn the_canonical_form_is_that_of_a_tree_with_sorted_keys() {
        let text = r#"[{"z":{"b":[],"a":{}},"é":"\u00e9\"","a":[1,[2,{"y":null,"x":false}]]},-7.50,"plain",[ ]]"#;
        let tree: Value = serde_json::from_str(text).expect("JSON");
        check(text, &tree.to_string());
    }

    /// A tab between two tokens leaves a text to the strict way.
    fn strictly(text: &str) -> String {
        read(&text.replacen('{', "{\t", 1)).0.text().to_owned()
    }

    #[test]
    fn both_ways_to_the_canonical_form_come_to_the_same() {
        for (text, is_plain) in [
            (r#"{}"#, true),
            (r#"{"a": [1, -2, 0, true, null, "x\ny", {"b": {}, "c": []}], "é": "größe"}"#, true),
            (r#"{"b":1,"a":2,"é":3,"A":{"z":1,"b":2}}"#, true),
            (r#"{"a":1,"a":2}"#, false),
            (r#"{"a":"\u0041\u001b\/\n"}"#, true),
            (r#"{"a":[1.0,-0,1e2,12345678901234567890123,0.10]}"#, true),
            (r#"{"a":"\ud83d\ude00"}"#, false),
            (r#"{"a":{"z":1,"b":2,"z":3}}"#, false),
        ] {
            assert_eq!(plain(text).is_some(), is_plain, "{text}");
            assert_eq!(read(text).0.text(), strictly(text), "{text}");
        }
        assert_eq!(plain(r#"{"a":1e999}"#), None);
    }

    #[test]
    fn the_deepest_that_is_taken_is_the_same_on_both_ways() {
        for depth in [DEEPEST - 1, DEEPEST, DEEPEST + 1, DEEPEST + 2] {
            let text = format!("{{\"a\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
            let (plain, tabbed) = (read(&text), read(&text.replacen('{', "{\t", 1)));
            assert_eq!(plain.1, tabbed.1, "{depth}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_plain_is_what_a_strict_reader_makes_of_it(
            keys in proptest::collection::vec("[a-c]{0,2}", 0..4),
            values in proptest::collection::vec(
                r#"-?[0-9]{1,20}|"[a-z ]*"|"(\\[nu"/]){1,2}0041"|true|null|\[ ?1 ?\]|[0-9]\.5|\{\}"#, 4),
        ) {
            let fields: Vec<_> = keys.iter().zip(&values).map(|(key, value)| format!(r#""{key}": {value}"#)).collect();
            let text = format!("{{{}}}", fields.join(" ,"));
            let (read, tabbed) = (read(&text), read(&text.replacen('{', "{\t", 1)));
            proptest::prop_assert_eq!(read.1.is_some(), tabbed.1.is_some());
            if read.1.is_none() {
                proptest::prop_assert_eq!(read.0.text(), tabbed.0.text());
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_kept_as_text_with_the_reason() {
        for text in ["1e999", "{\"a\":", &format!("{}{}", "[".repeat(120), "]".repeat(120)), &"[".repeat(100_000)] {
            let (json, odd) = read(text);
            assert_eq!(json.value(), Value::from(text));
            assert!(odd.is_some(), "{text}");
        }
    }
}
