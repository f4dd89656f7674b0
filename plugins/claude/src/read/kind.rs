//! What becomes of a record, by its kind.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;

use crate::shape::{Attachment, Message, Progress, Record};

/// What becomes of a record.
pub(super) enum Kind<'a> {
    /// A turn in the assistant's position.
    Assistant(Message<'a>),
    /// A turn in the user's position, or results.
    User(Message<'a>),
    /// A prompt that waited in the queue.
    Queued(Attachment<'a>),
    /// What a model made of the conversation so far: said by no one in it.
    Summary,
    /// How far a tool has come.
    ToolProgress,
    /// What a sub-agent said.
    AgentProgress(AgentSaid<'a>),
    /// Anything else is kept as it is.
    Other,
}

/// What a progress record repeats of a sub-agent.
pub(super) struct AgentSaid<'a> {
    /// The sub-agent's id.
    pub(super) agent: Option<Cow<'a, str>>,
    /// Its record.
    pub(super) record: Option<Box<Record<'a>>>,
}

impl<'a> Kind<'a> {
    pub(super) fn of(record: &Record<'a>) -> Self {
        let message = || Message::of(record.message);
        match record.kind.text().as_deref() {
            Some("assistant") => message().map_or(Self::Other, Self::Assistant),
            Some("user") if record.is_compact_summary.flag() => Self::Summary,
            Some("user") => message().map_or(Self::Other, Self::User),
            Some("progress") => {
                let progress: Progress<'_> = record.data.object().unwrap_or_default();
                if matches!(progress.kind.text().as_deref(), Some("agent_progress" | "skill_progress")) {
                    let agent = progress.agent_id.filled().or_else(|| record.agent_id.filled());
                    Self::AgentProgress(AgentSaid { agent, record: progress.message.object().map(Box::new) })
                } else {
                    Self::ToolProgress
                }
            }
            Some("attachment") => record
                .attachment
                .object::<Attachment<'_>>()
                .filter(|attachment| attachment.kind.text().as_deref() == Some("queued_command"))
                .filter(|attachment| is_prompt(attachment.prompt))
                .map_or(Self::Other, Self::Queued),
            _ => Self::Other,
        }
    }
}

fn is_prompt(field: Field<'_>) -> bool {
    field.json().is_some_and(|json| json.starts_with(['"', '[']))
}
