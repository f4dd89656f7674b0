//! The log's own shapes: which keys we look at, borrowed from the line.

use toolpath_plugin_api::shape;

shape! {
    /// The envelope of an event. The last fields stand beside its type in captures of hooks, which have no `data`.
    Record {
        kind: "type",
        id: "id",
        timestamp: "timestamp",
        agent: "agentId",
        data: "data",
        session_id: "session_id",
        cwd: "cwd",
        prompt: "prompt",
        output: "output",
    }
}

shape! {
    /// `data` of an event, of all kinds that we look at.
    Data {
        // Messages.
        content: "content",
        transformed: "transformedContent",
        attachments: "attachments",
        source: "source",
        is_autopilot: "isAutopilotContinuation",
        message_id: "messageId",
        model: "model",
        requests: "toolRequests",
        reasoning: "reasoningText",
        output_tokens: "outputTokens",
        api_call: "apiCallId",
        parent_call: "parentToolCallId",
        server_tools: "serverTools",
        citations: "citations",
        role: "role",
        kind: "kind",
        // Tools and sub-agents.
        call: "toolCallId",
        tool: "toolName",
        arguments: "arguments",
        mcp_server: "mcpServerName",
        success: "success",
        result: "result",
        error: "error",
        agent_name: "agentName",
        // Notices.
        message: "message",
        reason: "reason",
        // The session.
        session_id: "sessionId",
        producer: "producer",
        copilot_version: "copilotVersion",
        context: "context",
        selected_model: "selectedModel",
        new_model: "newModel",
        chosen_model: "chosenModel",
        title: "title",
        model_metrics: "modelMetrics",
        token_details: "tokenDetails",
    }
}

shape! {
    /// `context` of the session.
    Context {
        cwd: "cwd",
        git_root: "gitRoot",
        branch: "branch",
        head_commit: "headCommit",
        repository: "repository",
        host: "repositoryHost",
    }
}

shape! {
    /// One of `toolRequests`.
    Request {
        id: "toolCallId",
        name: "name",
        arguments: "arguments",
        mcp_server: "mcpServerName",
    }
}

shape! {
    /// `result` of a tool, of newer and older versions.
    Outcome {
        content: "content" | "textResultForLlm" | "text_result_for_llm",
        detailed: "detailedContent",
        contents: "contents",
    }
}

shape! {
    /// One of `contents` of a result, and `error` of a tool.
    Part {
        kind: "type",
        text: "text",
        data: "data",
        media_type: "mimeType",
        message: "message",
    }
}

shape! {
    /// Arguments of tools that write files, and of those that start sub-agents.
    Arguments {
        command: "command",
        path: "path" | "file_path" | "filePath",
        text: "file_text" | "content",
        old: "old_str" | "old_string" | "oldString",
        new: "new_str" | "new_string" | "newString",
        patch: "input" | "patch",
        prompt: "prompt",
        agent_type: "agent_type",
    }
}

shape! {
    /// What one model's calls cost, in the metrics of a shutdown.
    Metrics {
        usage: "usage",
    }
}

shape! {
    /// `usage` of one model; the input holds what was read from the cache and written to it.
    Usage {
        input: "inputTokens",
        output: "outputTokens",
        cache_read: "cacheReadTokens",
        cache_write: "cacheWriteTokens",
        reasoning: "reasoningTokens",
    }
}

shape! {
    /// `tokenDetails`: counts that exclude each other.
    TokenDetails {
        input: "input",
        output: "output",
        cache_read: "cache_read",
        cache_write: "cache_write",
    }
}

shape! {
    /// One of `tokenDetails`.
    TokenCount {
        count: "tokenCount",
    }
}

shape! {
    /// A session of the oldest layout.
    Legacy {
        session_id: "sessionId",
        start_time: "startTime",
        messages: "chatMessages",
        timeline: "timeline",
    }
}

shape! {
    /// One of `chatMessages`, as the API has them.
    OldMessage {
        role: "role",
        content: "content",
        calls: "tool_calls",
        call: "tool_call_id",
    }
}

shape! {
    /// One of `tool_calls`.
    LegacyCall {
        id: "id",
        function: "function",
    }
}

shape! {
    /// `function` of one.
    Function {
        name: "name",
        arguments: "arguments",
    }
}

shape! {
    /// One entry of the `timeline`, as the screen has them.
    Entry {
        kind: "type",
        id: "id",
        timestamp: "timestamp",
        text: "text",
        call: "callId",
        name: "name",
        tool_title: "toolTitle",
        arguments: "arguments",
        result: "result",
    }
}

shape! {
    /// `result` of an entry.
    Log {
        kind: "type",
        log: "log",
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
        for odd in ["7", "-7", "1e999", "true", "[1,{\"a\":[]}]", "null"] {
            let json = format!(r#"{{"type":{odd},"id":"u","timestamp":{odd},"data":{odd},"cwd":"/w"}}"#);
            let record = record(&json);
            assert_eq!(record.kind.text(), None, "{odd}");
            assert_eq!(record.id.text().as_deref(), Some("u"), "{odd}");
            assert!(record.data.object::<Data<'_>>().is_none(), "{odd}");
            assert_eq!(record.cwd.text().as_deref(), Some("/w"), "{odd}");
        }
    }

    #[test]
    fn a_null_beside_another_name_of_the_same_field_does_not_hide_it() {
        let outcome: Outcome<'_> =
            serde_json::from_str(r#"{"text_result_for_llm":"x","content":null}"#).expect("an outcome");
        assert_eq!(outcome.content.text().as_deref(), Some("x"));
    }

    #[test]
    fn nesting_beyond_what_a_parser_recurses_into_is_no_hindrance() {
        let deep = format!(r#"{{"id":"u","data":{{"content":{}{}}}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(record(&deep).id.text().as_deref(), Some("u"));
        assert!(record(&deep).data.object::<Data<'_>>().is_some());
    }
}
