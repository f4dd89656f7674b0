//! The stores' own shapes: which keys are looked at, borrowed from the record.

use toolpath_plugin_api::shape;

shape! {
    /// `composerData:<id>`, and a head in the index of all composers.
    Composer {
        id: "composerId",
        name: "name",
        created: "createdAt",
        updated: "lastUpdatedAt",
        status: "status",
        model: "modelConfig",
        headers: "fullConversationHeadersOnly",
        conversation: "conversation",
        capabilities: "capabilities",
        children: "subComposerIds",
        agents: "subagentComposerIds",
        caller: "subagentInfo",
        workspace: "workspaceIdentifier",
    }
}

shape! {
    /// `composer.composerHeaders`.
    Heads {
        all: "allComposers",
    }
}

shape! {
    /// An element of `fullConversationHeadersOnly`.
    Header {
        id: "bubbleId",
    }
}

shape! {
    /// `modelConfig` and `modelInfo`.
    Model {
        name: "modelName",
    }
}

shape! {
    /// `subagentInfo`.
    Caller {
        parent: "parentComposerId",
        call: "toolCallId",
    }
}

shape! {
    /// `workspaceIdentifier`, and the `uri` in it.
    Workspace {
        uri: "uri",
        fs_path: "fsPath",
        path: "path",
        external: "external",
    }
}

shape! {
    /// A bubble: one message, or a part of one.
    Bubble {
        id: "bubbleId",
        kind: "type",
        capability: "capabilityType",
        created: "createdAt" | "timestamp",
        timing: "timingInfo",
        text: "text",
        raw_text: "rawText",
        content: "content",
        thinking: "thinking",
        thoughts: "allThinkingBlocks",
        thought_for: "thinkingDurationMs",
        tool: "toolFormerData",
        tokens: "tokenCount",
        model: "modelInfo",
        error: "errorDetails",
        status: "serviceStatusUpdate",
        summary: "conversationSummary",
        folders: "workspaceUris",
        folder: "workspaceProjectDir",
    }
}

shape! {
    /// `timingInfo`.
    Timing {
        sent: "clientRpcSendTime",
        started: "clientStartTime",
        ended: "clientEndTime",
    }
}

shape! {
    /// `tokenCount`.
    Tokens {
        input: "inputTokens",
        output: "outputTokens",
    }
}

shape! {
    /// `errorDetails`, `serviceStatusUpdate`, and what they nest.
    Details {
        message: "message",
        title: "title",
        detail: "detail",
        error: "error",
        details: "details",
    }
}

shape! {
    /// `toolFormerData`.
    Tool {
        number: "tool",
        name: "name",
        call: "toolCallId",
        status: "status",
        decision: "userDecision",
        raw_args: "rawArgs",
        params: "params",
        result: "result",
        error: "error",
    }
}

shape! {
    /// An element of `capabilities`, and its `data`.
    Capability {
        kind: "type",
        data: "data",
        tools: "bubbleDataMap",
    }
}

shape! {
    /// The arguments of a tool, as far as somebody asks.
    Args {
        path: "relativeWorkspacePath" | "target_file" | "file_path" | "path" | "filePath",
        old: "old_string" | "oldString",
        new: "new_string" | "newString",
        contents: "contents" | "content",
        patch: "patch" | "patchText" | "input",
        prompt: "prompt",
        agent: "subagent_type" | "subagentType" | "description",
    }
}

shape! {
    /// The result of an edit.
    Edited {
        before: "beforeContentId",
        after: "afterContentId",
        diff: "diff",
        chunks: "chunks",
    }
}

shape! {
    /// A chunk of an edit's diff.
    Chunk {
        lines: "diffString",
        old_start: "oldStart",
        new_start: "newStart",
    }
}

shape! {
    /// A line of a transcript, and a message of a chat.
    Line {
        id: "id",
        role: "role",
        message: "message",
        content: "content",
        kind: "type",
        status: "status",
        error: "error",
    }
}

shape! {
    /// A piece of content.
    Piece {
        kind: "type",
        text: "text",
        name: "name" | "toolName",
        input: "input" | "args",
        call: "toolCallId" | "id",
        result: "result",
    }
}

shape! {
    /// `meta` of a chat, and `meta.json` beside it.
    Chat {
        id: "agentId",
        root: "latestRootBlobId",
        name: "name" | "title",
        created: "createdAt" | "createdAtMs",
        updated: "updatedAtMs",
        model: "lastUsedModel",
        cwd: "cwd",
    }
}
