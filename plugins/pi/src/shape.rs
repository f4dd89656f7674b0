//! The log's own shapes: which keys we look at, borrowed from the line.
//!
//! A field stays the JSON text it was until somebody asks for it as a text, a flag, a count or a list, so a value
//! of an unexpected kind, or a number that no type holds, costs its field and never its record. Of a key that
//! stands twice the last value that is not `null` counts.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use toolpath_plugin_api::kit::json::{Count, RawValue, Text};

/// One value of the log, not looked at yet; a `null` reads as absent, but for [`Field::is_null`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field<'a>(pub(crate) Option<&'a RawValue>);

impl<'a> Field<'a> {
    /// The JSON text.
    pub(crate) fn json(self) -> Option<&'a str> {
        self.0.map(RawValue::get).filter(|json| *json != "null")
    }

    /// Whether it is a literal `null`.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_some_and(|value| value.get() == "null")
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

    /// The text of an id: of a number as it is written; none is empty.
    pub(crate) fn id(self) -> Option<Cow<'a, str>> {
        let is_number = |json: &&str| json.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        self.filled().or_else(|| self.json().filter(is_number).map(Into::into))
    }

    /// Whether it is a literal `true`.
    pub(crate) fn flag(self) -> bool {
        self.json() == Some("true")
    }

    /// The count, when it is one.
    pub(crate) fn count(self) -> Option<u64> {
        serde_json::from_str::<Count>(self.json()?).ok()?.0
    }

    /// The elements, when it is a list.
    pub(crate) fn list(self) -> Option<Vec<&'a RawValue>> {
        let json = self.json().filter(|json| json.starts_with('['))?;
        serde_json::from_str(json).ok()
    }

    /// The shape's fields, when it is an object.
    pub(crate) fn object<T: Deserialize<'a>>(self) -> Option<T> {
        let json = self.json().filter(|json| json.starts_with('{'))?;
        serde_json::from_str(json).ok()
    }
}

macro_rules! shape {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $($key:literal)|+,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub(crate) struct $name<'a> {
            $(pub(crate) $field: Field<'a>,)*
        }

        impl<'de: 'a, 'a> Deserialize<'de> for $name<'a> {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Keys;
                impl<'de> Visitor<'de> for Keys {
                    type Value = $name<'de>;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut shape = $name::default();
                        while let Some(Text(key)) = map.next_key()? {
                            match key.as_deref().unwrap_or_default() {
                                $($($key)|+ => {
                                    let value: &RawValue = map.next_value()?;
                                    if value.get() != "null" || shape.$field.0.is_none() {
                                        shape.$field = Field(Some(value));
                                    }
                                })*
                                _ => {
                                    map.next_value::<IgnoredAny>()?;
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

shape! {
    /// What the header and all entries have, and what the kinds of entries add that we look at.
    Record {
        kind: "type",
        id: "id",
        parent: "parentId",
        timestamp: "timestamp",
        message: "message",
        // The header.
        version: "version",
        cwd: "cwd",
        // Entries of other kinds.
        name: "name",
        model_id: "modelId",
        thinking_level: "thinkingLevel",
        summary: "summary",
        tokens_before: "tokensBefore",
        from_id: "fromId",
        target_id: "targetId",
        custom_type: "customType",
        content: "content",
        display: "display",
        details: "details",
    }
}

shape! {
    /// `message`, of all roles.
    Message {
        role: "role",
        content: "content",
        timestamp: "timestamp",
        // Of an assistant.
        api: "api",
        provider: "provider",
        model: "model",
        response_model: "responseModel",
        usage: "usage",
        stop_reason: "stopReason",
        error: "errorMessage",
        diagnostics: "diagnostics",
        // Of a tool's result.
        call: "toolCallId",
        tool: "toolName",
        is_error: "isError",
        details: "details",
        // Of a command that the human ran.
        command: "command",
        output: "output",
        exit_code: "exitCode",
        cancelled: "cancelled",
        excluded: "excludeFromContext",
        // Of an extension.
        custom_type: "customType",
        display: "display",
    }
}

shape! {
    /// One part of a message's content.
    Part {
        kind: "type",
        text: "text",
        thinking: "thinking",
        redacted: "redacted",
        data: "data",
        media_type: "mimeType",
        id: "id",
        name: "name",
        arguments: "arguments",
    }
}

shape! {
    /// `usage` of an assistant's message.
    Usage {
        input: "input",
        output: "output",
        cache_read: "cacheRead",
        cache_write: "cacheWrite",
    }
}

shape! {
    /// The arguments of `write` and `edit`.
    Arguments {
        path: "path" | "file_path",
        content: "content",
        edits: "edits",
        old: "oldText",
        new: "newText",
    }
}

shape! {
    /// `details` of a sub-agents' result.
    Details {
        results: "results",
    }
}

shape! {
    /// What one sub-agent did.
    Agent {
        name: "agent",
        task: "task",
        messages: "messages",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn record(json: &str) -> Record<'_> {
        serde_json::from_str(json).expect("a record")
    }

    #[test]
    fn a_field_of_an_unexpected_kind_costs_the_field_only() {
        for odd in ["7", "-7", "1e999", "true", "[1,{\"a\":[]}]", "{\"a\":1}", "null"] {
            let json = format!(r#"{{"type":{odd},"id":"u","timestamp":{odd},"message":{odd},"cwd":"/w"}}"#);
            let record = record(&json);
            assert_eq!(record.kind.text(), None, "{odd}");
            assert_eq!(record.id.text().as_deref(), Some("u"), "{odd}");
            assert_eq!(record.cwd.text().as_deref(), Some("/w"), "{odd}");
        }
    }

    #[test]
    fn null_is_told_from_absent() {
        assert!(record(r#"{"parentId":null}"#).parent.is_null());
        assert!(!record("{}").parent.is_null());
        assert!(!record(r#"{"parentId":"p"}"#).parent.is_null());
        assert_eq!(record(r#"{"parentId":null}"#).parent.json(), None);
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_value_counts() {
        assert_eq!(record(r#"{"id":"a","id":"b"}"#).id.text().as_deref(), Some("b"));
    }

    #[test]
    fn nesting_beyond_what_a_parser_recurses_into_is_no_hindrance() {
        let deep = format!(r#"{{"id":"u","details":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(record(&deep).id.text().as_deref(), Some("u"));
    }
}
