//! The log's own shapes: which keys we look at, borrowed from the line.

use toolpath_plugin_api::shape;

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
