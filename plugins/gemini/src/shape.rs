//! The log's own shapes: which keys we look at, borrowed from the record.
//!
//! A field stays the JSON text it was until somebody asks for it as a text, a count or a list, so a value of an
//! unexpected kind, or a number that no type holds, costs its field and never its record. Of a key that stands twice
//! the last value counts, and `null` is absent.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use toolpath_plugin_api::kit::json::{Count, RawValue, Text};

/// One value of the log, not looked at yet; absent when it was missing or `null`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Field<'a>(pub(crate) Option<&'a RawValue>);

impl<'a> Field<'a> {
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

    /// Whether it is a list.
    pub(crate) fn is_list(self) -> bool {
        self.json().is_some_and(|json| json.starts_with('['))
    }

    /// Whether it is an object.
    pub(crate) fn is_object(self) -> bool {
        self.json().is_some_and(|json| json.starts_with('{'))
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
                                    if let Some(value) = map.next_value()? {
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
    /// One record of a session: a message, facts of the session, or a change to what was recorded before.
    Record {
        rewind_to: "$rewindTo",
        set: "$set",
        id: "id",
        kind: "type",
        timestamp: "timestamp",
        content: "content",
        display: "displayContent",
        thoughts: "thoughts",
        tokens: "tokens",
        model: "model",
        calls: "toolCalls",
        // Saved conversations hold what is sent to the model.
        role: "role",
        parts: "parts",
        // The log of prompts.
        message_id: "messageId",
        message: "message",
        // Facts of the session.
        session_id: "sessionId",
        project_hash: "projectHash",
        start_time: "startTime",
        last_updated: "lastUpdated",
        summary: "summary",
        directories: "directories",
        agent_kind: "kind",
        messages: "messages",
    }
}

shape! {
    /// One part of a message's content.
    Part {
        text: "text",
        thought: "thought",
        signature: "thoughtSignature",
        call: "functionCall",
        response: "functionResponse",
        inline: "inlineData",
        file: "fileData",
    }
}

shape! {
    /// `functionCall` and `functionResponse` of a part.
    Function {
        id: "id",
        name: "name",
        args: "args",
        response: "response",
    }
}

shape! {
    /// `response` of a `functionResponse`.
    Response {
        output: "output",
        error: "error",
    }
}

shape! {
    /// `inlineData` and `fileData` of a part.
    Media {
        kind: "mimeType",
        data: "data",
        uri: "fileUri",
    }
}

shape! {
    /// One of a message's `thoughts`.
    Thought {
        subject: "subject",
        description: "description",
    }
}

shape! {
    /// A message's `tokens`.
    Tokens {
        input: "input",
        output: "output",
        cached: "cached",
        thoughts: "thoughts",
        tool: "tool",
    }
}

shape! {
    /// One of a message's `toolCalls`.
    ToolCall {
        id: "id",
        name: "name",
        args: "args",
        result: "result",
        status: "status",
        timestamp: "timestamp",
        agent_id: "agentId",
        display: "resultDisplay",
    }
}

shape! {
    /// `args` of a call, as far as they name files or agents.
    Args {
        file_path: "file_path",
        dir_path: "dir_path",
        path: "path" | "absolute_path",
        agent_name: "agent_name",
        prompt: "prompt" | "objective",
    }
}

shape! {
    /// `resultDisplay` of a call that wrote a file, or of a sub-agent.
    Display {
        diff: "fileDiff",
        path: "filePath",
        original: "originalContent",
        new: "newContent",
        is_new: "isNewFile",
        is_agent: "isSubagentProgress",
        agent_name: "agentName",
    }
}

impl<'a> Record<'a> {
    /// What the message is, in the words of sessions: a saved conversation calls the model's `model`.
    pub(crate) fn kind(&self) -> Option<Cow<'a, str>> {
        let kind = self.kind.filled().or_else(|| self.role.filled())?;
        Some(if kind == "model" { "gemini".into() } else { kind })
    }

    /// What the message holds, under whichever name.
    pub(crate) fn body(&self) -> Field<'a> {
        [self.content, self.parts, self.message].into_iter().find(|field| field.0.is_some()).unwrap_or_default()
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
            let json = format!(r#"{{"type":{odd},"id":"m","tokens":{odd},"model":{odd},"toolCalls":{odd}}}"#);
            let record = record(&json);
            assert_eq!((record.kind(), record.id.text().as_deref()), (None, Some("m")), "{odd}");
            assert_eq!(record.tokens.object::<Tokens<'_>>().is_some(), odd.starts_with('{'), "{odd}");
        }
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_value_counts_and_null_is_none() {
        assert_eq!(record(r#"{"id":"a","id":"b"}"#).id.text().as_deref(), Some("b"));
        assert_eq!(record(r#"{"id":"a","id":null}"#).id.text().as_deref(), Some("a"));
    }

    #[test]
    fn a_text_without_escapes_is_borrowed() {
        let json = r#"{"id":"plain","model":"a\nb"}"#;
        assert!(matches!(record(json).id.text(), Some(Cow::Borrowed("plain"))));
        assert_eq!(record(json).model.text().as_deref(), Some("a\nb"));
    }

    #[test]
    fn a_saved_conversation_is_read_under_its_own_names() {
        let record = record(r#"{"role":"model","parts":[{"text":"hi"}]}"#);
        assert_eq!(record.kind().as_deref(), Some("gemini"));
        assert_eq!(record.body().json(), Some(r#"[{"text":"hi"}]"#));
    }

    #[test]
    fn nesting_beyond_what_a_parser_recurses_into_is_no_hindrance() {
        let deep = format!(r#"{{"id":"m","content":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(record(&deep).id.text().as_deref(), Some("m"));
    }
}
