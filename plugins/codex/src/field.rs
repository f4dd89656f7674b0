//! Fields of the log: the JSON text of a value until somebody asks for it as something.
//!
//! So a value of an unexpected kind, or a number that no type holds, costs its field and never its record. Of a key
//! that stands twice the last value counts, and `null` is absent.

use std::borrow::Cow;

use serde::Deserialize;
use toolpath_plugin_api::kit::json::{Count, RawValue, Text};

/// One value of the log, not looked at yet; absent when it was missing or `null`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field<'a>(pub(crate) Option<&'a RawValue>);

impl<'a> Field<'a> {
    /// The field of a JSON text; absent when it is none.
    pub(crate) fn of(json: &'a str) -> Self {
        Self(serde_json::from_str::<Option<&'a RawValue>>(json).ok().flatten())
    }

    /// The JSON text.
    pub(crate) fn json(self) -> Option<&'a str> {
        self.0.map(RawValue::get)
    }

    /// The text, when it is a string.
    pub(crate) fn text(self) -> Option<Cow<'a, str>> {
        let json = self.json().filter(|json| json.starts_with('"'))?;
        serde_json::from_str::<Text<'a>>(json).ok()?.0
    }

    /// The text, when it is a string that is not empty.
    pub(crate) fn filled(self) -> Option<Cow<'a, str>> {
        self.text().filter(|text| !text.is_empty())
    }

    /// Whether it is this string.
    pub(crate) fn is(self, text: &str) -> bool {
        self.text().as_deref() == Some(text)
    }

    /// The literal `true` or `false`.
    pub(crate) fn flag(self) -> Option<bool> {
        match self.json()? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The count, when it is one.
    pub(crate) fn count(self) -> Option<u64> {
        serde_json::from_str::<Count>(self.json()?).ok()?.0
    }

    /// The whole number, which may be negative.
    pub(crate) fn number(self) -> Option<i64> {
        self.json()?.parse().ok()
    }

    /// The elements, when it is a list.
    pub(crate) fn list(self) -> Option<Vec<Field<'a>>> {
        let json = self.json().filter(|json| json.starts_with('['))?;
        let list: Vec<&'a RawValue> = serde_json::from_str(json).ok()?;
        Some(list.into_iter().map(|raw| Field(Some(raw))).collect())
    }

    /// The shape's fields, when it is an object.
    pub(crate) fn object<T: Deserialize<'a>>(self) -> Option<T> {
        let json = self.json().filter(|json| json.starts_with('{'))?;
        serde_json::from_str(json).ok()
    }

    /// Keys and values in their order, when it is an object.
    pub(crate) fn entries(self) -> Option<Vec<(Cow<'a, str>, Field<'a>)>> {
        self.object::<Entries<'a>>().map(|entries| entries.0)
    }

    /// Whether it is there and holds something: no `null`, no empty text, list or object.
    pub(crate) fn is_filled(self) -> bool {
        self.json().is_some_and(|json| !matches!(json, "\"\"" | "[]" | "{}"))
    }
}

struct Entries<'a>(Vec<(Cow<'a, str>, Field<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> serde::de::Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(Text(key)) = map.next_key()? {
                    let value: Option<&'de RawValue> = map.next_value()?;
                    entries.push((key.unwrap_or_default(), Field(value)));
                }
                Ok(Entries(entries))
            }
        }
        from.deserialize_map(InOrder)
    }
}

/// Names the keys of an object that we look at: `field: "key" | "older key"`.
macro_rules! shape {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $($key:literal)|+,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct $name<'a> {
            $(pub(crate) $field: $crate::field::Field<'a>,)*
        }

        impl<'de: 'a, 'a> ::serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Keys;
                impl<'de> ::serde::de::Visitor<'de> for Keys {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: ::serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut shape = $name::default();
                        while let Some(::toolpath_plugin_api::kit::json::Text(key)) = map.next_key()? {
                            match key.as_deref().unwrap_or_default() {
                                $($($key)|+ => {
                                    if let Some(value) = map.next_value()? {
                                        shape.$field = $crate::field::Field(Some(value));
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
pub(crate) use shape;

#[cfg(test)]
mod tests {
    use super::*;

    shape! {
        /// Some fields.
        Sample {
            kind: "type",
            id: "id" | "call_id",
        }
    }

    #[track_caller]
    fn sample(json: &str) -> Sample<'_> {
        Field::of(json).object().expect("an object")
    }

    #[test]
    fn a_field_of_an_unexpected_kind_costs_the_field_only() {
        for odd in ["7", "-7", "1e999", "true", "[1,{\"a\":[]}]", "{\"a\":1}", "null"] {
            let json = format!(r#"{{"type":{odd},"id":"x","other":{odd}}}"#);
            let sample = sample(&json);
            assert_eq!((sample.kind.text(), sample.id.text().as_deref()), (None, Some("x")), "{odd}");
        }
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_value_counts_and_null_is_none() {
        assert!(sample(r#"{"id":"a","id":"b"}"#).id.is("b"));
        assert!(sample(r#"{"id":"a","call_id":null}"#).id.is("a"));
        assert!(sample(r#"{"call_id":"a"}"#).id.is("a"));
    }

    #[test]
    fn numbers_flags_lists_and_objects_are_read_when_they_are_that() {
        assert_eq!(
            (Field::of("12").count(), Field::of("\"12\"").count(), Field::of("-1").count()),
            (Some(12), Some(12), None)
        );
        assert_eq!((Field::of("-1").number(), Field::of("1.5").number()), (Some(-1), None));
        assert_eq!((Field::of("true").flag(), Field::of("\"true\"").flag()), (Some(true), None));
        assert_eq!(Field::of("[1,\"a\"]").list().map(|list| list.len()), Some(2));
        assert!(Field::of("{}").list().is_none() && Field::of("[]").object::<Sample<'_>>().is_none());
        let entries = Field::of(r#"{"b":1,"a":null}"#).entries().expect("an object");
        let entries: Vec<_> = entries.iter().map(|(key, value)| (&**key, value.json())).collect();
        assert_eq!(entries, [("b", Some("1")), ("a", None)]);
    }

    #[test]
    fn nesting_beyond_what_a_parser_recurses_into_is_no_hindrance() {
        let deep = format!(r#"{{"id":"x","data":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert!(sample(&deep).id.is("x"));
    }
}
