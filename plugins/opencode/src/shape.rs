//! The stores' own shapes: which keys are looked at, borrowed from the record.

use toolpath_plugin_api::shape;

shape! {
    /// A session: a row of the table, its columns as keys, or the file of the older store.
    Session {
        parent: "parent_id" | "parentID",
        directory: "directory",
        title: "title",
        version: "version",
        created: "time_created",
        updated: "time_updated",
        time: "time",
        revert: "revert",
        agent: "agent",
        // The export's and the file's own name for it.
        id: "id",
    }
}

shape! {
    /// `time` of most things.
    Time {
        created: "created",
        updated: "updated",
    }
}

shape! {
    /// `session.revert`.
    Revert {
        message: "messageID",
    }
}

shape! {
    /// A message: `message.data`, or the file of the older store.
    Message {
        id: "id",
        role: "role",
        time: "time",
        parent: "parentID",
        agent: "agent",
        model_id: "modelID",
        model: "model",
        path: "path",
        cost: "cost",
        tokens: "tokens",
        finish: "finish",
        error: "error",
        summary: "summary",
        structured: "structured",
    }
}

shape! {
    /// `model` of user messages, and of assistant messages in the newest model.
    Model {
        id: "modelID" | "id",
    }
}

shape! {
    /// `path` of assistant messages.
    Paths {
        cwd: "cwd",
    }
}

shape! {
    /// `tokens` of a message or of a `step-finish` part.
    Tokens {
        total: "total",
        input: "input",
        output: "output",
        reasoning: "reasoning",
        cache: "cache",
    }
}

shape! {
    /// `tokens.cache`.
    Cache {
        read: "read",
        write: "write",
    }
}

shape! {
    /// `error` of a message: `{name, data: {message}}`, or `{type, message}` in the newest model.
    Error {
        name: "name" | "type",
        data: "data",
        message: "message",
    }
}

shape! {
    /// A part of any kind.
    Part {
        kind: "type",
        text: "text",
        synthetic: "synthetic",
        ignored: "ignored",
        metadata: "metadata",
        time: "time",
        // Tools.
        call: "callID",
        tool: "tool",
        state: "state",
        // Files.
        mime: "mime",
        file_name: "filename",
        url: "url",
        // Sub-tasks.
        description: "description",
        agent: "agent",
        command: "command",
        // The end of a step.
        tokens: "tokens",
        // Compactions.
        auto: "auto",
        overflow: "overflow",
    }
}

shape! {
    /// `state` of a tool part.
    State {
        status: "status",
        input: "input",
        raw: "raw",
        output: "output",
        error: "error",
        metadata: "metadata",
        attachments: "attachments",
        content: "content",
    }
}

shape! {
    /// `state.input`, as far as somebody asks.
    Input {
        file: "filePath",
        old: "oldString",
        new: "newString",
        replace_all: "replaceAll",
        content: "content",
        edits: "edits",
        patch: "patchText",
        prompt: "prompt",
        command: "command",
        agent: "subagent_type",
    }
}

shape! {
    /// `state.metadata`, as far as somebody asks.
    Metadata {
        session: "sessionId" | "sessionID",
        exists: "exists",
        path: "filepath",
        diff: "diff",
        patch: "patch",
        file_diff: "filediff",
        files: "files",
        results: "results",
    }
}

shape! {
    /// `metadata.filediff`, and an element of `metadata.files`.
    FileDiff {
        file: "file" | "filePath",
        kind: "type",
        before: "before",
        after: "after",
        patch: "patch" | "diff",
        to: "movePath",
    }
}

shape! {
    /// A row of the newest model, `session_message`.
    Next {
        text: "text",
        files: "files",
        agents: "agents",
        agent: "agent",
        model: "model",
        content: "content",
        finish: "finish",
        tokens: "tokens",
        error: "error",
        call: "callID" | "shellID",
        command: "command",
        output: "output",
        time: "time",
    }
}

shape! {
    /// An element of `content` in the newest model.
    Piece {
        kind: "type",
        text: "text",
        id: "id",
        name: "name",
        state: "state",
    }
}

shape! {
    /// A session as `opencode export` writes it, and a message in it.
    Export {
        info: "info",
        messages: "messages",
        parts: "parts",
    }
}
