//! Shapes to records: what the host is told of a turn and of an event.

use toolpath_plugin_api::{
    Category, DelegationRecord, EventRecord, MutationRecord, Origin, Role, ToolUseRecord, TurnRecord, UsageRecord,
};

use crate::shape::{self, DelegatedWork, Event, FileMutation, TokenUsage, ToolCategory, ToolInvocation, Turn};

/// The signal of a turn that the view flags, as a JSON string.
const WIRE_FLAG: &str = "\"wire-flag\"";

/// What there is to tell of a turn. Its parent is told as the view names it: a view without parents has turns in lines of
/// their own.
pub(crate) fn turn(turn: &Turn) -> TurnRecord<'_> {
    let role = match &turn.role {
        shape::Role::User => Role::User,
        shape::Role::Assistant => Role::Assistant,
        shape::Role::System => Role::System,
        shape::Role::Other(name) => Role::Other(name),
    };
    let mut record = TurnRecord::new(role, &turn.id, &turn.timestamp, Origin::default());
    record
        .parent(turn.parent_id.as_deref())
        .group(turn.group_id.as_deref())
        .text(&turn.text)
        .thinking(turn.thinking.as_deref())
        .model(turn.model.as_deref())
        .stop_reason(turn.stop_reason.as_deref());
    if let Some(counts) = &turn.token_usage {
        record.usage(usage(counts));
    }
    if let Some(counts) = &turn.attributed_token_usage {
        record.attributed_usage(usage(counts));
    }
    if let Some(place) = &turn.environment {
        record.environment(place.working_dir.as_deref(), place.vcs_branch.as_deref(), place.vcs_revision.as_deref());
    }
    for call in &turn.tool_uses {
        record.tool_use(tool_use(call));
    }
    for work in &turn.delegations {
        record.delegation(delegation(work));
    }
    for file in &turn.file_mutations {
        record.mutation(mutation(file));
    }
    if turn.harness_generated {
        record.harness_generated(WIRE_FLAG);
    }
    record
}

/// What there is to tell of an event.
pub(crate) fn event(event: &Event) -> EventRecord<'_> {
    let mut record = EventRecord::new(&event.event_type, &event.id, &event.timestamp, Origin::default());
    record.parent(event.parent_id.as_deref());
    if let Some(data) = &event.data {
        record.data(data.text());
    }
    record
}

/// Token counts.
pub(crate) fn usage(counts: &TokenUsage) -> UsageRecord<'_> {
    let mut record = UsageRecord::default();
    record.input_tokens = counts.input_tokens;
    record.output_tokens = counts.output_tokens;
    record.cache_read_tokens = counts.cache_read_tokens;
    record.cache_write_tokens = counts.cache_write_tokens;
    for (class, parts) in &counts.breakdowns {
        for (part, &tokens) in parts {
            record.breakdown(class, part, tokens);
        }
    }
    record
}

fn tool_use(call: &ToolInvocation) -> ToolUseRecord<'_> {
    let record = ToolUseRecord::new(&call.id, &call.name, call.input.get(), Origin::default());
    let record = record.category(call.category.map_or(Category::NONE, category));
    match &call.result {
        Some(result) => record.result(&result.content, result.is_error),
        None => record,
    }
}

fn category(category: ToolCategory) -> Category {
    match category {
        ToolCategory::FileRead => Category::FILE_READ,
        ToolCategory::FileWrite => Category::FILE_WRITE,
        ToolCategory::FileSearch => Category::FILE_SEARCH,
        ToolCategory::Shell => Category::SHELL,
        ToolCategory::Network => Category::NETWORK,
        ToolCategory::Delegation => Category::DELEGATION,
    }
}

fn delegation(work: &DelegatedWork) -> DelegationRecord<'_> {
    let record = DelegationRecord::new(&work.agent_id, &work.prompt).result(work.result.as_deref());
    match &work.turns {
        Some(turns) => record.turns(turns.text()),
        None => record,
    }
}

fn mutation(file: &FileMutation) -> MutationRecord<'_> {
    let mut record = MutationRecord::new(&file.path).states(file.before.as_deref(), file.after.as_deref());
    if let Some(id) = &file.tool_id {
        record = record.tool_id(id);
    }
    if let Some(word) = &file.operation {
        record = record.operation(word);
    }
    if let Some(diff) = &file.raw_diff {
        record = record.diff(diff);
    }
    if let Some(path) = &file.rename_to {
        record = record.rename_to(path);
    }
    record
}
