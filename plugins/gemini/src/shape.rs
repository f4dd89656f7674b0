//! The log's own shapes: which keys we look at, borrowed from the record.
//!
//! A field stays the JSON text it was until somebody asks for it as a text, a count or a list, so a value of an
//! unexpected kind, or a number that no type holds, costs its field and never its record. Of a key that stands twice
//! the last value counts, and `null` is absent.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::shape;

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

    /// The session of which it is a prompt, in the log of all prompts.
    pub(crate) fn session_of_prompt(&self) -> Option<Cow<'a, str>> {
        let is_prompt = self.message_id.id().is_some() && self.message.text().is_some() && !self.content.is_some();
        self.session_id.filled().filter(|_| is_prompt)
    }

    /// What the message holds, under whichever name.
    pub(crate) fn body(&self) -> Field<'a> {
        [self.content, self.parts, self.message].into_iter().find(|field| field.is_some()).unwrap_or_default()
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
