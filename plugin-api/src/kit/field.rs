//! Values of a record, not looked at before somebody asks, and shapes made of them.
//!
//! A field stays the JSON text it was until it is asked for as a text, a flag, a count or a list, so a value of an
//! unexpected kind, or a number that no type holds, costs its field and never its record. Of a key that stands twice
//! the last value counts, and `null` is absent, but for [`Field::is_null`].

use std::borrow::Cow;
use std::fmt;

use crate::kit::json::{Count, RawValue, unescaped};
use crate::kit::tree::Tree;

/// One value; absent when it was missing or `null`.
#[derive(Clone, Copy, Default)]
pub struct Field<'a>(Value<'a>);

#[derive(Clone, Copy, Default)]
enum Value<'a> {
    #[default]
    Absent,
    Null,
    /// A JSON text.
    Text(&'a str),
    /// A value of a tree.
    InTree(&'a Tree<'a>, u32),
}

/// A struct of [`Field`]s that [`shape!`](crate::shape!) defines.
pub trait Shape<'a>: Default {
    /// Takes note of the value under a key; a `null` hides none that it has.
    fn set(&mut self, key: &str, value: Field<'a>);
}

impl<'a> Field<'a> {
    /// A value that stands alone.
    pub fn of(raw: &'a RawValue) -> Self {
        match raw.get() {
            "null" => Self(Value::Null),
            json => Self(Value::Text(json)),
        }
    }

    /// The value that `json` is; absent when it is none.
    pub fn parse(json: &'a str) -> Self {
        serde_json::from_str(json).map(Self::of).unwrap_or_default()
    }

    pub(crate) fn at(tree: &'a Tree<'a>, at: u32) -> Self {
        if tree.is_null(at) { Self(Value::Null) } else { Self(Value::InTree(tree, at)) }
    }

    /// Whether there is a value.
    pub fn is_some(self) -> bool {
        !matches!(self.0, Value::Absent | Value::Null)
    }

    /// The value, or `other` where only that is one.
    pub fn or(self, other: Self) -> Self {
        if other.is_some() && !self.is_some() { other } else { self }
    }

    /// Whether a literal `null` stands where a value might.
    pub fn is_null(self) -> bool {
        matches!(self.0, Value::Null)
    }

    /// Whether there is a value that says something: no empty text, list or object.
    pub fn is_filled(self) -> bool {
        self.json().is_some_and(|json| !matches!(json, "\"\"" | "[]" | "{}"))
    }

    /// The JSON text.
    pub fn json(self) -> Option<&'a str> {
        match self.0 {
            Value::Absent | Value::Null => None,
            Value::Text(json) => Some(json),
            Value::InTree(tree, at) => Some(tree.json(at)),
        }
    }

    /// The text, when it is a string.
    pub fn text(self) -> Option<Cow<'a, str>> {
        if let Value::InTree(tree, at) = self.0
            && let Some(plain) = tree.plain(at)
        {
            return Some(Cow::Borrowed(plain));
        }
        unescaped(self.json()?)
    }

    /// The JSON string, when it is one and nothing is wrong with it; `None` where that is not known.
    pub fn string(self) -> Option<&'a str> {
        match self.0 {
            Value::InTree(tree, at) => Some(tree.json(at)).filter(|json| json.starts_with('"')),
            _ => None,
        }
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

    /// The literal `true` or `false`.
    pub fn boolean(self) -> Option<bool> {
        match self.json()? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The count, when it is one.
    pub fn count(self) -> Option<u64> {
        serde_json::from_str::<Count>(self.json()?).ok()?.0
    }

    /// The whole number, which may be negative.
    pub fn number(self) -> Option<i64> {
        self.json()?.parse().ok()
    }

    /// Whether it is a number that is not zero.
    pub fn is_nonzero(self) -> bool {
        self.json().and_then(|json| json.parse::<f64>().ok()).is_some_and(|number| number != 0.0)
    }

    /// Whether it is a string.
    pub fn is_text(self) -> bool {
        self.starts_with('"')
    }

    /// Whether it is a list.
    pub fn is_list(self) -> bool {
        self.starts_with('[')
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.starts_with('{')
    }

    fn starts_with(self, first: char) -> bool {
        self.json().is_some_and(|json| json.starts_with(first))
    }

    /// The elements, when it is a list; one that is `null` is absent.
    pub fn list(self) -> Option<Vec<Self>> {
        if !self.is_list() {
            return None;
        }
        match self.0 {
            Value::InTree(tree, at) => Some(tree.values(at).map(|value| Self::at(tree, value)).collect()),
            _ => {
                let list: Vec<&RawValue> = serde_json::from_str(self.json()?).ok()?;
                Some(list.into_iter().map(Self::of).collect())
            }
        }
    }

    /// The elements of a list; a value that is none, by itself.
    pub fn items(self) -> Vec<Self> {
        self.list().unwrap_or_else(|| if self.is_some() { vec![self] } else { Vec::new() })
    }

    /// The keys and values in order, when it is an object.
    pub fn entries(self) -> Option<Vec<(Cow<'a, str>, Self)>> {
        let mut entries = Vec::new();
        self.each(|key, value| entries.push((key, value)))?;
        Some(entries)
    }

    /// The shape's fields, when it is an object.
    pub fn object<T: Shape<'a>>(self) -> Option<T> {
        let mut shape = T::default();
        self.each(|key, value| shape.set(&key, value))?;
        Some(shape)
    }

    /// The shape's fields, none when it is no object.
    pub fn object_or_default<T: Shape<'a>>(self) -> T {
        self.object().unwrap_or_default()
    }

    fn each(self, mut take: impl FnMut(Cow<'a, str>, Self)) -> Option<()> {
        if !self.is_object() {
            return None;
        }
        match self.0 {
            Value::InTree(tree, at) => {
                tree.entries(at).for_each(|(key, value)| take(Cow::Borrowed(key), Self::at(tree, value)));
            }
            _ => {
                let Entries(entries) = serde_json::from_str(self.json()?).ok()?;
                entries.into_iter().for_each(|(key, value)| take(key, value));
            }
        }
        Some(())
    }
}

impl fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Field").field(&self.json()).finish()
    }
}

/// The entries of an object, in order.
struct Entries<'a>(Vec<(Cow<'a, str>, Field<'a>)>);

impl<'de: 'a, 'a> serde::Deserialize<'de> for Entries<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> serde::de::Visitor<'de> for Keys {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((key, value)) = map.next_entry::<crate::kit::json::Text<'de>, &'de RawValue>()? {
                    entries.push((key.0.unwrap_or_default(), Field::of(value)));
                }
                Ok(Entries(entries))
            }
        }
        from.deserialize_map(Keys)
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

        impl<'a> $crate::kit::field::Shape<'a> for $name<'a> {
            fn set(&mut self, key: &str, value: $crate::kit::field::Field<'a>) {
                match key {
                    $($($key)|+ => self.$field = value.or(self.$field),)*
                    _ => {}
                }
            }
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
                                    let value = $crate::kit::field::Field::of(map.next_value()?);
                                    shape.$field = value.or(shape.$field);
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
    use super::Field;

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
    fn null_is_told_from_what_is_missing() {
        for (json, expected) in [
            (r#"{"text":null}"#, (true, false)),
            ("{}", (false, false)),
            (r#"{"text":"null"}"#, (false, true)),
            (r#"{"text":"a","rawText":null}"#, (false, true)),
            (r#"{"text":null,"rawText":"a"}"#, (false, true)),
        ] {
            let mut places = crate::kit::tree::Places::default();
            let tree = places.of(json).expect("a tree");
            let ways = [read(json), Field::parse(json).object_or_default(), tree.root().object_or_default()];
            for shape in ways {
                assert_eq!((shape.text.is_null(), shape.text.is_some()), expected, "{json}");
            }
        }
    }

    #[test]
    fn entries_stand_in_order_and_null_is_absent() {
        let field = Field::parse(r#"{"b":1,"a\n":null,"b":[null,"x"]}"#);
        let entries = field.entries().expect("an object");
        let shown: Vec<_> = entries.iter().map(|(key, value)| (&**key, value.json())).collect();
        assert_eq!(shown, [("b", Some("1")), ("a\n", None), ("b", Some(r#"[null,"x"]"#))]);
        let list: Vec<_> = entries[2].1.list().expect("a list").into_iter().map(Field::json).collect();
        assert_eq!(list, [None, Some("\"x\"")]);
        assert!(Field::parse("{").entries().is_none() && Field::parse("[]").entries().is_none());
    }

    #[test]
    fn a_value_that_is_no_list_is_an_item_by_itself() {
        for (json, items) in [("[1,null]", 2), ("[]", 0), ("7", 1), ("{}", 1), ("null", 0)] {
            assert_eq!(Field::parse(json).items().len(), items, "{json}");
        }
    }

    #[test]
    fn zero_is_a_number_of_any_form() {
        for (json, is_nonzero) in [("0", false), ("0.0", false), ("-0", false), ("1e-9", true), ("\"1\"", false)] {
            let json = format!(r#"{{"count":{json}}}"#);
            assert_eq!(read(&json).count.is_nonzero(), is_nonzero, "{json}");
        }
    }

    #[test]
    fn a_number_may_be_negative_but_no_text_or_fraction() {
        for (json, number) in [("-1", Some(-1)), ("7", Some(7)), ("1.5", None), ("\"7\"", None), ("1e999", None)] {
            assert_eq!(Field::parse(json).number(), number, "{json}");
        }
    }

    #[test]
    fn only_a_literal_is_a_boolean() {
        for (json, boolean) in [("true", Some(true)), ("false", Some(false)), ("\"true\"", None), ("null", None)] {
            assert_eq!(Field::parse(json).boolean(), boolean, "{json}");
        }
    }

    #[test]
    fn what_is_absent_or_empty_is_not_filled() {
        for (json, is_filled) in [
            ("null", false),
            ("\"\"", false),
            ("[]", false),
            ("{}", false),
            ("\" \"", true),
            ("0", true),
            ("false", true),
            ("[null]", true),
        ] {
            assert_eq!(Field::parse(json).is_filled(), is_filled, "{json}");
        }
    }

    #[test]
    fn nesting_beyond_what_a_parser_recurses_into_is_no_hindrance() {
        let deep = format!(r#"{{"text":"u","data":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(read(&deep).text.text().as_deref(), Some("u"));
    }
}
