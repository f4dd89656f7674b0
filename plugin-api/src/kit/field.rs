//! Values of a record, not looked at before somebody asks, and shapes made of them.
//!
//! A field stays the JSON text it was until it is asked for as a text, a flag, a count or a list, so a value of an
//! unexpected kind, or a number that no type holds, costs its field and never its record. Of a key that stands twice
//! the last value counts, and `null` is absent.

use std::borrow::Cow;

use serde::de::Deserialize;

use crate::kit::json::{Count, RawValue, Text};

/// One value; absent when it was missing or `null`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Field<'a>(pub Option<&'a RawValue>);

impl<'a> Field<'a> {
    /// A value that stands alone.
    pub fn of(raw: &'a RawValue) -> Self {
        Self(Some(raw))
    }

    /// The JSON text.
    pub fn json(self) -> Option<&'a str> {
        self.0.map(RawValue::get)
    }

    /// The text, when it is a string.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let json = self.json().filter(|json| json.starts_with('"'))?;
        serde_json::from_str::<Text<'a>>(json).ok()?.0
    }

    /// The text, when it is a string that is not empty.
    pub fn filled(self) -> Option<Cow<'a, str>> {
        self.text().filter(|text| !text.is_empty())
    }

    /// The text of an id: of a number as it is written; none is empty.
    pub fn id(self) -> Option<Cow<'a, str>> {
        let is_number = |json: &&str| json.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        self.filled().or_else(|| self.json().filter(is_number).map(Into::into))
    }

    /// Whether it is the string `word`.
    pub fn is(self, word: &str) -> bool {
        self.text().as_deref() == Some(word)
    }

    /// Whether it is a literal `true`.
    pub fn flag(self) -> bool {
        self.json() == Some("true")
    }

    /// The count, when it is one.
    pub fn count(self) -> Option<u64> {
        serde_json::from_str::<Count>(self.json()?).ok()?.0
    }

    /// Whether it is a number that is not zero.
    pub fn is_nonzero(self) -> bool {
        self.json().and_then(|json| json.parse::<f64>().ok()).is_some_and(|number| number != 0.0)
    }

    /// Whether it is a list.
    pub fn is_list(self) -> bool {
        self.json().is_some_and(|json| json.starts_with('['))
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.json().is_some_and(|json| json.starts_with('{'))
    }

    /// The elements, when it is a list.
    pub fn list(self) -> Option<Vec<&'a RawValue>> {
        let json = self.json().filter(|json| json.starts_with('['))?;
        serde_json::from_str(json).ok()
    }

    /// The shape's fields, when it is an object.
    pub fn object<T: Deserialize<'a>>(self) -> Option<T> {
        let json = self.json().filter(|json| json.starts_with('{'))?;
        serde_json::from_str(json).ok()
    }

    /// The shape's fields, none when it is no object.
    pub fn object_or_default<T: Deserialize<'a> + Default>(self) -> T {
        self.object().unwrap_or_default()
    }
}

/// Defines a shape: a struct of [`Field`]s, each under the keys that it is read from. The plugin depends on `serde`.
///
/// ```
/// toolpath_plugin_api::shape! {
///     /// A message.
///     Message { id: "id", text: "text" | "rawText", }
/// }
/// let message: Message<'_> = serde_json::from_str(r#"{"id":7,"rawText":"hi"}"#).unwrap();
/// assert_eq!((message.id.text(), message.text.text().as_deref()), (None, Some("hi")));
/// ```
#[macro_export]
macro_rules! shape {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $($key:literal)|+,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct $name<'a> {
            $(pub(crate) $field: $crate::kit::field::Field<'a>,)*
        }

        impl<'de: 'a, 'a> ::serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Keys;
                impl<'de> ::serde::de::Visitor<'de> for Keys {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: ::serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut shape = $name::default();
                        while let Some($crate::kit::json::Text(key)) = map.next_key()? {
                            match key.as_deref().unwrap_or_default() {
                                $($($key)|+ => {
                                    if let Some(value) = map.next_value()? {
                                        shape.$field = $crate::kit::field::Field(Some(value));
                                    }
                                })*
                                _ => {
                                    map.next_value::<::serde::de::IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(shape)
                    }
                }
                from.deserialize_map(Keys)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    crate::shape! {
        /// A shape.
        Shape { text: "text" | "rawText", count: "count", }
    }

    #[track_caller]
    fn read(json: &str) -> Shape<'_> {
        serde_json::from_str(json).expect("an object")
    }

    #[test]
    fn a_field_of_an_unexpected_kind_costs_the_field_only() {
        for odd in ["7", "-7", "1e999", "true", "[1,{\"a\":[]}]", "{\"a\":1}", "null"] {
            let json = format!(r#"{{"text":{odd},"count":3}}"#);
            let shape = read(&json);
            assert_eq!((shape.text.text(), shape.count.count()), (None, Some(3)), "{odd}");
        }
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_value_counts_and_null_is_none() {
        assert_eq!(read(r#"{"text":"a","rawText":"b"}"#).text.text().as_deref(), Some("b"));
        assert_eq!(read(r#"{"text":"a","text":null}"#).text.text().as_deref(), Some("a"));
    }

    #[test]
    fn zero_is_a_number_of_any_form() {
        for (json, is_nonzero) in [("0", false), ("0.0", false), ("-0", false), ("1e-9", true), ("\"1\"", false)] {
            let json = format!(r#"{{"count":{json}}}"#);
            assert_eq!(read(&json).count.is_nonzero(), is_nonzero, "{json}");
        }
    }

    #[test]
    fn nesting_beyond_what_a_parser_recurses_into_is_no_hindrance() {
        let deep = format!(r#"{{"text":"u","data":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(read(&deep).text.text().as_deref(), Some("u"));
    }
}
