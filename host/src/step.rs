//! What a document says about one step, in the order in which it is written.
//!
//! These types only serialise. Fields stand in written order: those of the document's own types in the order of its
//! definition, `type` first in a structural, everything else sorted by key.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::escape;
use crate::json::Json;
use crate::turn::{DelegatedWork, Environment, TokenUsage, ToolCategory, ToolInvocation, ToolResult};

/// One step.
#[derive(Debug, Serialize)]
pub struct Step<'a> {
    /// Who, when, after what.
    pub step: StepIdentity<'a>,
    /// What changed, by key: the conversation, and each file written.
    pub change: BTreeMap<Cow<'a, str>, Change<'a>>,
}

/// Who made a step, when, and after which.
#[derive(Debug, Serialize)]
pub struct StepIdentity<'a> {
    /// Unique within the path.
    pub id: &'a str,
    /// Steps it follows; the main line first.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub parents: &'a [String],
    /// Who made it.
    pub actor: &'a str,
    /// Time as recorded.
    pub timestamp: &'a str,
}

/// One change.
#[derive(Debug, Serialize)]
pub struct Change<'a> {
    /// Unified diff.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "escape::some")]
    pub raw: Option<Cow<'a, str>>,
    /// What the change means.
    pub structural: Structural<'a>,
}

/// What a change means.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Structural<'a> {
    /// A message.
    Append(Box<Append<'a>>),
    /// Writes to a file.
    Write(Box<FileWrite<'a>>),
    /// A record that is no message.
    Event(EventData<'a>),
}

/// A message in the conversation.
#[derive(Debug, Serialize)]
pub struct Append<'a> {
    #[serde(rename = "type")]
    kind: AppendType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attributed_token_usage: Option<Usage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) delegations: Vec<Delegation<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) environment: Option<Place<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group_id: Option<&'a str>,
    pub(crate) role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stop_reason: Option<&'a str>,
    #[serde(serialize_with = "escape::text")]
    pub(crate) text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "escape::some")]
    pub(crate) thinking: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_usage: Option<Usage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_uses: Vec<ToolUse<'a>>,
}

impl<'a> Append<'a> {
    /// A message with nothing but its role and text.
    pub(crate) fn new(role: &'a str, text: &'a str) -> Self {
        Self {
            kind: AppendType::Append,
            attributed_token_usage: None,
            delegations: Vec::new(),
            environment: None,
            group_id: None,
            role,
            stop_reason: None,
            text,
            thinking: None,
            token_usage: None,
            tool_uses: Vec::new(),
        }
    }
}

#[derive(Debug, Serialize)]
enum AppendType {
    #[serde(rename = "conversation.append")]
    Append,
}

#[derive(Debug, Default, Serialize)]
pub(crate) enum WriteType {
    #[default]
    #[serde(rename = "file.write")]
    Write,
}

/// Writes to one file by one turn.
#[derive(Debug, Default, Serialize)]
pub struct FileWrite<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: WriteType,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "escape::some")]
    pub(crate) after: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "escape::some")]
    pub(crate) before: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edits: Option<Edits<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) partial: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rename_to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_id: Option<&'a str>,
}

/// The parts of a change that holds several.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Edits<'a> {
    /// The list that one tool call was given.
    Given(Value),
    /// The writes of several tool calls.
    Writes(Vec<OneWrite<'a>>),
}

/// One of several writes to one file.
#[derive(Debug, Default, Serialize)]
pub(crate) struct OneWrite<'a> {
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "escape::some")]
    pub(crate) after: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "escape::some")]
    pub(crate) before: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edits: Option<Edits<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) operation: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) partial: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rename_to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_id: Option<&'a str>,
}

/// Token counts: absent input and output are null, other absent counts are left out.
#[derive(Debug, Serialize)]
pub(crate) struct Usage<'a> {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    breakdowns: &'a BTreeMap<String, BTreeMap<String, u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write_tokens: Option<u64>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl<'a> From<&'a TokenUsage> for Usage<'a> {
    fn from(usage: &'a TokenUsage) -> Self {
        Self {
            breakdowns: &usage.breakdowns,
            cache_read_tokens: usage.cache_read_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
        }
    }
}

/// Where a turn was made.
#[derive(Debug, Serialize)]
pub(crate) struct Place<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    vcs_branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vcs_revision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    working_dir: Option<&'a str>,
}

impl<'a> From<&'a Environment<'_>> for Place<'a> {
    fn from(environment: &'a Environment<'_>) -> Self {
        Self {
            vcs_branch: environment.vcs_branch.as_deref(),
            vcs_revision: environment.vcs_revision.as_deref(),
            working_dir: environment.working_dir.as_deref(),
        }
    }
}

/// Work handed to a sub-agent.
#[derive(Debug, Serialize)]
pub(crate) struct Delegation<'a> {
    agent_id: &'a str,
    prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turns: Option<&'a Json<'a>>,
}

impl<'a> From<&'a DelegatedWork<'_>> for Delegation<'a> {
    fn from(work: &'a DelegatedWork<'_>) -> Self {
        Self {
            agent_id: &work.agent_id,
            prompt: &work.prompt,
            result: work.result.as_deref(),
            turns: work.turns.as_ref(),
        }
    }
}

/// One tool call. Unlike in the wire form, the category is always there and an absent result is left out.
#[derive(Debug, Serialize)]
pub(crate) struct ToolUse<'a> {
    category: Option<ToolCategory>,
    id: &'a str,
    input: &'a Json<'a>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a ToolResult<'a>>,
}

impl<'a> From<&'a ToolInvocation<'a>> for ToolUse<'a> {
    fn from(call: &'a ToolInvocation<'a>) -> Self {
        Self {
            category: call.category,
            id: &call.id,
            input: &call.input,
            name: &call.name,
            result: call.result.as_ref(),
        }
    }
}

/// A record that is no message: its kind and id beside its data.
#[derive(Debug)]
pub struct EventData<'a> {
    pub(crate) entry_type: &'a str,
    pub(crate) source_id: &'a str,
    pub(crate) data: BTreeMap<String, Json<'a>>,
}

impl Serialize for EventData<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (entry_type, source_id) = (Json::of(&self.entry_type.into()), Json::of(&self.source_id.into()));
        let mut fields: BTreeMap<&str, &Json<'_>> =
            self.data.iter().map(|(key, value)| (key.as_str(), value)).collect();
        if let Some(kind) = fields.remove("type") {
            fields.insert("event_data_type", kind);
        }
        fields.insert("entry_type", &entry_type);
        if !self.source_id.is_empty() {
            fields.insert("event_source_id", &source_id);
        }
        let mut map = to.serialize_map(Some(fields.len() + 1))?;
        map.serialize_entry("type", "conversation.event")?;
        for (key, value) in &fields {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}
