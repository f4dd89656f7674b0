//! Recognises a view by its beginning: one object with a list of `turns`, in which something has an `id`.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What a view is worth; not more, since other formats may have turns as well.
const LIKELY: u8 = 90;

/// How sure it is that a file which begins with `head` is a view, from 0 to 100.
pub(crate) fn certainty(head: &[u8]) -> u8 {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut has_turns = false;
    let mut json = serde_json::Deserializer::from_slice(head);
    let read = Seen { has_turns: &mut has_turns, is_top: true }.deserialize(&mut json).and_then(|()| json.end());
    // The head may end anywhere; what is wrong before its end, or stands after the object, is another format's.
    let is_json = read.map_or_else(|err| err.is_eof(), |()| true);
    let has_id = memchr::memmem::find(head, b"\"id\"").is_some();
    if is_json && has_turns && has_id { LIKELY } else { 0 }
}

/// Takes note of a list of turns in the top object.
struct Seen<'s> {
    has_turns: &'s mut bool,
    is_top: bool,
}

impl<'de> DeserializeSeed<'de> for Seen<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        if self.is_top { from.deserialize_map(self) } else { from.deserialize_seq(self) }
    }
}

impl<'de> Visitor<'de> for Seen<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_top { "a conversation view" } else { "a list of turns" })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if name == "turns" {
                fields.next_value_seed(Seen { has_turns: &mut *self.has_turns, is_top: false })?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        *self.has_turns = true;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{LIKELY, certainty};

    #[test]
    fn a_view_is_recognised_whole_or_cut() {
        for head in [
            r#"{"id":"s","turns":[]}"#,
            "\u{feff} \n{\"turns\": [{\"id\": \"t\"}], \"id\": \"s\"}\n",
            r#"{"id":"s","turns":[{"id":"t","text":"a\u00e"#,
            r#"{"id":"s","turns":["#,
        ] {
            assert_eq!(certainty(head.as_bytes()), LIKELY, "{head}");
        }
    }

    #[test]
    fn other_formats_are_not() {
        for head in [
            "",
            "[]",
            r#"[{"id":"s","turns":[]}]"#,
            r#"{"id":"s","messages":[]}"#,
            r#"{"id":"s","turns":3}"#,
            r#"{"id":"s","data":{"turns":[]}}"#,
            r#"{"turns":[]}"#,
            "{\"id\":\"s\",\"turns\":[]}\n{\"id\":\"t\",\"turns\":[]}\n",
            r#"{"graph":{"id":"g"},"paths":[]}"#,
            r#"id "turns" {"#,
        ] {
            assert_eq!(certainty(head.as_bytes()), 0, "{head}");
        }
    }
}
