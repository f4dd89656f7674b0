//! A record as what it is, whatever the format's age: the log's own names for things stand here.
//!
//! Since September 2025 a record is an envelope with a `type` and a `payload`; before, lines held bare items after a
//! header, and the TypeScript CLI kept both in one object.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::shape;

use crate::log::{Part, Piece};

shape! {
    /// The outermost object of a record.
    Envelope {
        time: "timestamp",
        ordinal: "ordinal",
        kind: "type",
        payload: "payload",
        metadata: "metadata",
        record_type: "record_type",
        id: "id",
        role: "role",
        content: "content",
        instructions: "instructions",
        git: "git",
    }
}

shape! {
    /// `session_meta`, and the header of older files.
    Meta {
        id: "id",
        time: "timestamp",
        cwd: "cwd",
        version: "cli_version",
        source: "source",
        git: "git",
        forked_from: "forked_from_id",
        parent: "parent_thread_id",
        history_start: "subagent_history_start_ordinal",
    }
}

shape! {
    /// `session_meta.source`, when it is an object.
    Source {
        sub_agent: "subagent",
        internal: "internal",
    }
}

shape! {
    /// `session_meta.git`.
    Git {
        commit: "commit_hash",
        branch: "branch",
        remote: "repository_url",
    }
}

shape! {
    /// `turn_context`, and `thread_settings` of an event.
    Context {
        model: "model",
        cwd: "cwd",
        turn_id: "turn_id",
    }
}

shape! {
    /// `response_item`: a message, a thought, a call, a result.
    Item {
        kind: "type",
        id: "id",
        role: "role",
        content: "content",
        phase: "phase",
        summary: "summary",
        name: "name",
        namespace: "namespace",
        arguments: "arguments",
        input: "input",
        action: "action",
        call_id: "call_id",
        output: "output",
        status: "status",
        result: "result",
        revised_prompt: "revised_prompt",
        tools: "tools",
        author: "author",
        passthrough: "internal_chat_message_metadata_passthrough",
        metadata: "metadata",
    }
}

shape! {
    /// What Codex notes about an item.
    Passthrough {
        turn_id: "turn_id",
        kinds: "content_item_kinds",
    }
}

shape! {
    /// The envelope's `metadata`.
    Metadata {
        delivered: "delivered_assistant_message",
    }
}

shape! {
    /// `event_msg`, and the item of an `item_completed` event.
    Event {
        kind: "type",
        id: "id",
        item: "item",
        message: "message",
        text: "text",
        content: "content",
        summary: "summary_text",
        raw_content: "raw_content",
        info: "info",
        num_turns: "num_turns",
        turn_id: "turn_id",
        settings: "thread_settings",
        title: "thread_name",
        review_output: "review_output",
        call_id: "call_id" | "callId",
        event_id: "event_id",
        status: "status",
        success: "success",
        exit_code: "exit_code",
        changes: "changes",
        output: "aggregated_output",
        result: "result",
        prompt: "revised_prompt",
        new_thread: "new_thread_id",
        agent_thread: "agent_thread_id",
        images: "images",
        local_images: "local_images",
    }
}

shape! {
    /// `token_usage_record`.
    UsageNote {
        thread: "thread_id",
        response: "response_id",
        usage: "usage",
    }
}

/// What a record is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'a> {
    Meta(Meta<'a>),
    Context(Context<'a>),
    Item(Item<'a>),
    Event(Event<'a>),
    Compacted,
    Usage(UsageNote<'a>),
    Other,
}

/// A record.
#[derive(Clone, Debug)]
pub(crate) struct Record<'a> {
    /// Time as the log has it; empty when it has none.
    pub(crate) time: Cow<'a, str>,
    pub(crate) ordinal: Option<u64>,
    pub(crate) kind: Kind<'a>,
    /// What the event is called that it may become.
    pub(crate) name: Cow<'a, str>,
    /// The JSON text of what it says, without its time.
    pub(crate) payload: &'a str,
    /// What the envelope notes about an item.
    pub(crate) metadata: Field<'a>,
    /// Whether it has the shape of a record of Codex.
    pub(crate) is_known: bool,
    /// Its JSON text, whole.
    pub(crate) json: &'a str,
}

/// Kinds of envelopes.
const KINDS: &[&str] = &[
    "session_meta",
    "turn_context",
    "response_item",
    "event_msg",
    "compacted",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "world_state",
    "token_usage_record",
    "retained_context",
    "security_risk_score",
    "realtime_item",
];

/// Kinds of items, which older files hold without an envelope.
const ITEMS: &[&str] = &[
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "web_search_call",
];

impl<'a> Record<'a> {
    /// What the piece says.
    pub(crate) fn of(piece: &Piece<'a>) -> Self {
        let whole = piece.value;
        let envelope: Envelope<'a> = whole.object().unwrap_or_default();
        let mut record = Self {
            time: envelope.time.filled().unwrap_or_default(),
            ordinal: envelope.ordinal.count(),
            kind: Kind::Other,
            name: envelope.kind.filled().unwrap_or(Cow::Borrowed("unknown")),
            payload: piece.text,
            metadata: envelope.metadata,
            is_known: false,
            json: piece.text,
        };
        match piece.part {
            Part::Header => {
                (record.kind, record.name) = (Kind::Meta(whole.object().unwrap_or_default()), "session".into());
                record.is_known = whole.object::<Meta<'_>>().is_some_and(|meta| meta.id.filled().is_some());
            }
            Part::Other(key) => record.name = key.to_owned().into(),
            Part::Line | Part::Item => match envelope.payload.json() {
                Some(payload) => record.read_payload(envelope.payload, payload),
                None => record.read_bare(whole, &envelope, piece.part == Part::Item),
            },
        }
        record
    }

    fn read_payload(&mut self, field: Field<'a>, payload: &'a str) {
        self.payload = payload;
        let kind = self.name.clone();
        self.is_known = KINDS.contains(&&*kind) && payload.starts_with('{');
        self.kind = match &*kind {
            "session_meta" => field.object().map_or(Kind::Other, Kind::Meta),
            "turn_context" => field.object().map_or(Kind::Other, Kind::Context),
            "response_item" => field.object().map_or(Kind::Other, Kind::Item),
            "event_msg" => field.object().map_or(Kind::Other, Kind::Event),
            "token_usage_record" => field.object().map_or(Kind::Other, Kind::Usage),
            "compacted" => Kind::Compacted,
            _ => Kind::Other,
        };
        // What an item or an event is, its own type says.
        match self.kind {
            Kind::Item(Item { kind, .. }) | Kind::Event(Event { kind, .. }) => {
                self.name = kind.filled().unwrap_or_else(|| self.name.clone());
            }
            _ => {}
        }
    }

    /// What stands without an envelope: an item, or the header of an older file.
    fn read_bare(&mut self, whole: Field<'a>, envelope: &Envelope<'a>, is_element: bool) {
        if let Some(kind) = envelope.record_type.filled() {
            self.name = kind;
            return;
        }
        let item = || whole.object().map_or(Kind::Other, Kind::Item);
        match envelope.kind.filled() {
            Some(kind) => {
                // Other harnesses have messages, too, but not in this shape.
                let is_message = envelope.role.filled().is_some() && envelope.content.is_filled();
                self.is_known = ITEMS.contains(&&*kind) && (kind != "message" || is_message);
                if self.is_known || is_element {
                    self.kind = item();
                }
            }
            None if envelope.role.filled().is_some() && envelope.content.is_filled() => {
                (self.kind, self.is_known) = (item(), true);
                self.name = "message".into();
            }
            None if envelope.id.filled().is_some()
                && [envelope.time, envelope.instructions, envelope.git].iter().any(|field| field.is_filled()) =>
            {
                self.kind = whole.object().map_or(Kind::Other, Kind::Meta);
                (self.name, self.is_known) = ("session_meta".into(), true);
            }
            None => {}
        }
    }
}

impl Meta<'_> {
    /// Whether another agent, and no human, speaks in the user's position.
    pub(crate) fn is_sub_agents(&self) -> bool {
        self.source
            .object::<Source<'_>>()
            .is_some_and(|source| source.sub_agent.is_filled() || source.internal.is_filled())
    }
}

impl<'a> Item<'a> {
    /// What it is; a message may leave that out.
    pub(crate) fn kind(&self) -> Cow<'a, str> {
        self.kind.filled().unwrap_or(if self.role.filled().is_some() { "message".into() } else { "".into() })
    }

    /// What Codex notes about it.
    pub(crate) fn passthrough(&self) -> Passthrough<'a> {
        self.passthrough.object().unwrap_or_default()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The record on a line.
    pub(crate) fn line(json: &str) -> Record<'_> {
        Record::of(&Piece::alone(json, Part::Line))
    }

    #[track_caller]
    fn check(json: &str, expected: &str) {
        let record = line(json);
        let kind = match record.kind {
            Kind::Meta(_) => "meta",
            Kind::Context(_) => "context",
            Kind::Item(_) => "item",
            Kind::Event(_) => "event",
            Kind::Compacted => "compacted",
            Kind::Usage(_) => "usage",
            Kind::Other => "other",
        };
        let known = if record.is_known { "" } else { " unknown" };
        assert_eq!(format!("{kind} {}{known}", record.name), expected, "{json}");
    }

    #[test]
    fn an_envelope_says_what_it_holds() {
        check(r#"{"type":"session_meta","payload":{"id":"s"}}"#, "meta session_meta");
        check(r#"{"type":"response_item","payload":{"type":"message"}}"#, "item message");
        check(r#"{"type":"response_item","payload":{"role":"user"}}"#, "item response_item");
        check(r#"{"type":"event_msg","payload":{"type":"token_count"}}"#, "event token_count");
        check(r#"{"type":"compacted","payload":{}}"#, "compacted compacted");
        check(r#"{"type":"world_state","payload":{}}"#, "other world_state");
        check(r#"{"type":"token_usage_record","payload":{}}"#, "usage token_usage_record");
    }

    #[test]
    fn types_and_payloads_that_nobody_knows_are_kept_as_something_else() {
        check(r#"{"type":"from_the_future","payload":{"type":"x"}}"#, "other from_the_future unknown");
        check(r#"{"type":"response_item","payload":[1]}"#, "other response_item unknown");
        check(r#"{"type":7,"payload":{}}"#, "other unknown unknown");
        check(r#"{"type":"event_msg"}"#, "other event_msg unknown");
        check("{}", "other unknown unknown");
    }

    #[test]
    fn items_and_headers_of_older_files_have_no_envelope() {
        check(r#"{"id":"s","timestamp":"2025-05-07T17:24:21Z","instructions":null}"#, "meta session_meta");
        check(r#"{"type":"message","role":"user","content":["hi"]}"#, "item message");
        check(r#"{"type":"message","message":{"role":"user"}}"#, "other message unknown");
        check(r#"{"record_type":"state"}"#, "other state unknown");
        check(r#"{"role":"user","content":"hi"}"#, "item message");
        check(r#"{"type":"tool_call","arguments":"x"}"#, "other tool_call unknown");
        check(r#"{"id":"s"}"#, "other unknown unknown");
    }

    #[test]
    fn a_source_that_is_no_human_is_told() {
        let is_sub_agents = |source: &str| {
            let json = format!(r#"{{"type":"session_meta","payload":{{"id":"s","source":{source}}}}}"#);
            let Kind::Meta(meta) = line(&json).kind else { panic!("facts of a session") };
            meta.is_sub_agents()
        };
        for source in [r#"{"subagent":"review"}"#, r#"{"subagent":{"other":"guardian"}}"#, r#"{"internal":"x"}"#] {
            assert!(is_sub_agents(source), "{source}");
        }
        for source in [r#""cli""#, r#"{"custom":"atlas"}"#, "null", "[]", r#"{"subagent":null}"#] {
            assert!(!is_sub_agents(source), "{source}");
        }
    }
}
