//! The log's own shapes: which keys we look at, borrowed from the line.
//!
//! A field stays the JSON text it was until somebody asks for it as a text, a flag, a count or a list, so a value
//! of an unexpected kind, or a number that no type holds, costs its field and never its record. Of a key that
//! stands twice the last value counts, and `null` is absent.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::shape;

shape! {
    /// What most records have, and what the kinds of records add that we look at.
    Record {
        kind: "type",
        subtype: "subtype",
        uuid: "uuid",
        parent: "parentUuid",
        logical_parent: "logicalParentUuid",
        // Captures of the stream write some names in snake case.
        session_id: "sessionId" | "session_id",
        timestamp: "timestamp",
        timestamp_ms: "timestamp_ms",
        cwd: "cwd",
        branch: "gitBranch",
        version: "version",
        is_sidechain: "isSidechain",
        is_meta: "isMeta",
        is_synthetic: "isSynthetic",
        is_compact_summary: "isCompactSummary",
        is_api_error: "isApiErrorMessage" | "is_api_error_message",
        agent_id: "agentId",
        forked_from: "forkedFrom",
        parent_session: "parentSessionId",
        parent_last: "parentLastUuid",
        team: "teamName",
        origin: "origin",
        parent_tool_use: "parentToolUseID" | "parent_tool_use_id",
        source_tool_use: "sourceToolUseID",
        message: "message",
        outcome: "toolUseResult" | "tool_use_result",
        data: "data",
        attachment: "attachment",
        custom_title: "customTitle",
        ai_title: "aiTitle",
        last_prompt: "lastPrompt",
        summary: "summary",
        operation: "operation",
        content: "content",
    }
}

shape! {
    /// `message` of user and assistant records.
    Message {
        id: "id",
        model: "model",
        content: "content",
        stop_reason: "stop_reason",
        usage: "usage",
    }
}

shape! {
    /// `origin` of user records and attachments.
    Source {
        kind: "kind",
        from: "from",
    }
}

shape! {
    /// `forkedFrom` of the records that a fork copied.
    ForkedFrom {
        message: "messageUuid",
    }
}

shape! {
    /// `message.usage`.
    Usage {
        input: "input_tokens",
        output: "output_tokens",
        cache_read: "cache_read_input_tokens",
        cache_write: "cache_creation_input_tokens",
        cache_writes: "cache_creation",
    }
}

shape! {
    /// `message.usage.cache_creation`.
    CacheWrites {
        five_minutes: "ephemeral_5m_input_tokens",
        one_hour: "ephemeral_1h_input_tokens",
    }
}

shape! {
    /// One block of `message.content` or of a result's `content`.
    Block {
        kind: "type",
        text: "text",
        thinking: "thinking",
        id: "id",
        name: "name",
        tool_name: "tool_name",
        input: "input",
        tool_use_id: "tool_use_id",
        content: "content",
        is_error: "is_error",
        source: "source",
    }
}

shape! {
    /// `source` of an image or a document.
    Media {
        kind: "type",
        media_type: "media_type",
        data: "data",
        url: "url",
    }
}

shape! {
    /// `toolUseResult`: what the tool itself reported, in the shapes of edits, notebooks and sub-agents.
    Outcome {
        kind: "type",
        file_path: "filePath",
        patch: "structuredPatch",
        original: "originalFile" | "originalFileContents" | "original_file",
        updated: "updated_file",
        edits: "edits",
        old: "oldString",
        new: "newString",
        replace_all: "replaceAll",
        content: "content",
        notebook_path: "notebook_path",
        new_source: "new_source",
        error: "error",
        agent_id: "agentId",
        prompt: "prompt",
        user_modified: "userModified",
        spilled: "persistedOutputPath",
        by_command: "bashEditDiff",
    }
}

shape! {
    /// One of several replacements, in the input's or the report's spelling.
    Step {
        old: "old_string" | "oldString",
        new: "new_string" | "newString",
        all: "replace_all" | "replaceAll",
    }
}

shape! {
    /// `bashEditDiff`: what a command changed.
    ByCommand {
        files: "files",
        changed: "changedFiles",
    }
}

shape! {
    /// One file of it.
    ChangedFile {
        path: "filePath",
        hunks: "hunks",
    }
}

shape! {
    /// `toolUseResult`, as far as it tells of sub-agents.
    AgentReport {
        // What goes on in the background answers twice: when it starts, and when it has ended.
        is_async: "isAsync",
        status: "status",
        agent_id: "agentId",
        resumed: "resumedAgentId",
        task: "task",
        agents: "agents",
    }
}

shape! {
    /// A task that was asked about.
    TaskReport {
        id: "task_id",
        status: "status",
    }
}

shape! {
    /// Input of a call, as far as it hands work to a sub-agent or names a notebook.
    Task {
        prompt: "prompt",
        notebook: "notebook_path",
    }
}

shape! {
    /// `agent-<id>.meta.json`.
    Sidecar {
        tool_use: "toolUseId",
    }
}

shape! {
    /// One hunk of `structuredPatch`.
    Patch {
        old_start: "oldStart",
        old_lines: "oldLines",
        new_start: "newStart",
        new_lines: "newLines",
        lines: "lines",
    }
}

shape! {
    /// `data` of a progress record.
    Progress {
        kind: "type",
        agent_id: "agentId",
        message: "message",
    }
}

shape! {
    /// `attachment`, as far as it may be a prompt.
    Attachment {
        kind: "type",
        prompt: "prompt",
        mode: "commandMode",
        source: "source_uuid",
        origin: "origin",
        is_meta: "isMeta",
    }
}

impl<'a> Message<'a> {
    /// The message, which some logs hold as a bare string; `None` when the field is neither.
    pub(crate) fn of(field: Field<'a>) -> Option<Self> {
        field.object().or_else(|| field.text().map(|_| Self { content: field, ..Self::default() }))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[track_caller]
    fn record(json: &str) -> Record<'_> {
        serde_json::from_str(json).expect("a record")
    }

    #[test]
    fn a_field_of_an_unexpected_kind_costs_the_field_only() {
        for odd in ["7", "-7", "1e999", "true", "[1,{\"a\":[]}]", "{\"a\":1}", "null"] {
            let json = format!(r#"{{"type":{odd},"uuid":"u","isMeta":{odd},"timestamp_ms":"12","message":{odd}}}"#);
            let record = record(&json);
            assert_eq!(record.kind.text(), None, "{odd}");
            assert_eq!(record.uuid.text().as_deref(), Some("u"), "{odd}");
            assert_eq!(record.is_meta.flag(), odd == "true", "{odd}");
            assert_eq!(record.timestamp_ms.count(), Some(12), "{odd}");
        }
    }

    #[test]
    fn an_id_may_be_a_number() {
        let id = |json: &str| record(json).uuid.id().map(Cow::into_owned);
        assert_eq!(id(r#"{"uuid":5}"#).as_deref(), Some("5"));
        assert_eq!(id(r#"{"uuid":"5"}"#).as_deref(), Some("5"));
        for odd in ["true", "[5]", "{}", "\"\"", "null"] {
            assert_eq!(id(&format!(r#"{{"uuid":{odd}}}"#)), None, "{odd}");
        }
    }

    #[test]
    fn of_a_key_that_stands_twice_the_last_value_counts_and_null_is_none() {
        assert_eq!(record(r#"{"uuid":"a","uuid":"b"}"#).uuid.text().as_deref(), Some("b"));
        assert_eq!(record(r#"{"sessionId":"a","session_id":null}"#).session_id.text().as_deref(), Some("a"));
    }

    #[test]
    fn a_text_without_escapes_is_borrowed() {
        let json = r#"{"cwd":"/srv/demo","version":"a\nb"}"#;
        assert!(matches!(record(json).cwd.text(), Some(Cow::Borrowed("/srv/demo"))));
        assert_eq!(record(json).version.text().as_deref(), Some("a\nb"));
    }

    #[test]
    fn names_in_snake_case_are_taken_for_the_same() {
        let record = record(r#"{"session_id":"s","is_api_error_message":true,"parent_tool_use_id":"t"}"#);
        assert_eq!(record.session_id.text().as_deref(), Some("s"));
        assert!(record.is_api_error.flag());
        assert_eq!(record.parent_tool_use.text().as_deref(), Some("t"));
    }

    #[test]
    fn nesting_beyond_what_a_parser_recurses_into_is_no_hindrance() {
        let deep = format!(r#"{{"uuid":"u","data":{}{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(record(&deep).uuid.text().as_deref(), Some("u"));
    }

    #[test]
    fn a_message_may_be_a_bare_string() {
        let message = Message::of(record(r#"{"message":"hello"}"#).message).expect("a message");
        assert_eq!(message.content.text().as_deref(), Some("hello"));
        assert!(Message::of(record(r#"{"message":[1]}"#).message).is_none());
    }
}
