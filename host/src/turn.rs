//! The conversation as the host knows it: turns, tool calls, usage, files written.
//!
//! Plain Rust, and serde for the wire form: field order, nulls and omissions are what readers and writers of it
//! expect. `harness_generated` is omitted when false, so that what was written before it existed reads and writes to the same
//! bytes. Texts are `Cow`: borrowed while a turn passes through, owned when it has to wait.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::json::Json;
use crate::words::Words;

/// Text that is borrowed or owned.
pub type Text<'a> = Cow<'a, str>;

/// Who speaks, by position. On the wire a role is capitalised; [`Role::word`] is what documents say.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role<'a> {
    /// In the user's position.
    User,
    /// In the assistant's position.
    Assistant,
    /// In the system's position.
    System,
    /// In any other position, by name.
    Other(Text<'a>),
}

impl Role<'_> {
    /// The role as documents write it.
    pub fn word(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Other(name) => name,
        }
    }
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Turn<'a> {
    /// Id; may be empty.
    pub id: Text<'a>,
    /// Id of the turn it answers or follows.
    #[serde(default)]
    pub parent_id: Option<Text<'a>>,
    /// The model response it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_id: Option<Text<'a>>,
    /// Position in which the harness shows it.
    pub role: Role<'a>,
    /// Time as recorded; may be empty.
    pub timestamp: Text<'a>,
    /// What was said.
    pub text: Text<'a>,
    /// The model's reasoning.
    #[serde(default)]
    pub thinking: Option<Text<'a>>,
    /// Tool calls, in order.
    pub tool_uses: Vec<ToolInvocation<'a>>,
    /// The model that answered; absent when nobody recorded it.
    #[serde(default)]
    pub model: Option<Text<'a>>,
    /// Why the model stopped.
    #[serde(default)]
    pub stop_reason: Option<Text<'a>>,
    /// Usage of the whole group.
    #[serde(default)]
    pub token_usage: Option<TokenUsage>,
    /// Usage of this turn alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributed_token_usage: Option<TokenUsage>,
    /// Where it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Environment<'a>>,
    /// Work handed to sub-agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegations: Vec<DelegatedWork<'a>>,
    /// Files written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_mutations: Vec<FileMutation<'a>>,
    /// The harness wrote this message itself: no model ran, or no human typed it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub harness_generated: bool,
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolInvocation<'a> {
    /// Id that results refer to.
    pub id: Text<'a>,
    /// The tool's name.
    pub name: Text<'a>,
    /// What it was given.
    pub input: Json<'a>,
    /// What it answered.
    #[serde(default)]
    pub result: Option<ToolResult<'a>>,
    /// What kind of tool it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<ToolCategory>,
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolResult<'a> {
    /// Text of the answer.
    pub content: Words<'a>,
    /// The call failed.
    pub is_error: bool,
}

/// Kinds of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCategory {
    /// Reads files.
    FileRead,
    /// Writes files.
    FileWrite,
    /// Searches among files.
    FileSearch,
    /// Runs commands.
    Shell,
    /// Reaches the network.
    Network,
    /// Hands work to another agent.
    Delegation,
}

/// Token counts, up to 64 bits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Input tokens, cache not included.
    #[serde(default)]
    pub input_tokens: Option<u64>,
    /// Output tokens.
    #[serde(default)]
    pub output_tokens: Option<u64>,
    /// Input tokens read from the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Input tokens written to the cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Parts of the counts above, by class; for information.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub breakdowns: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Where a turn was made.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Environment<'a> {
    /// Working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<Text<'a>>,
    /// Branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcs_branch: Option<Text<'a>>,
    /// Revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcs_revision: Option<Text<'a>>,
}

/// Work handed to a sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DelegatedWork<'a> {
    /// The sub-agent.
    pub agent_id: Text<'a>,
    /// What it was asked.
    pub prompt: Text<'a>,
    /// Its turns, in wire form; absent when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<Json<'a>>,
    /// What it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Text<'a>>,
}

/// One write to one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileMutation<'a> {
    /// The file.
    pub path: Text<'a>,
    /// The tool call that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_id: Option<Text<'a>>,
    /// `add`, `update`, `delete` or another word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Text<'a>>,
    /// Unified diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_diff: Option<Text<'a>>,
    /// Text before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Text<'a>>,
    /// Text after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Text<'a>>,
    /// New path of a file that moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rename_to: Option<Text<'a>>,
}

/// A record that is no message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event<'a> {
    /// Id; may be empty.
    pub id: Text<'a>,
    /// Time as recorded; may be empty.
    pub timestamp: Text<'a>,
    /// The turn on whose line it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<Text<'a>>,
    /// What kind of record.
    pub event_type: Text<'a>,
    /// Its data.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub data: BTreeMap<String, Json<'a>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

fn own(text: Text<'_>) -> Text<'static> {
    Cow::Owned(text.into_owned())
}

fn owned(text: Option<Text<'_>>) -> Option<Text<'static>> {
    text.map(own)
}

impl Turn<'_> {
    /// The same turn, owning its texts.
    pub fn into_owned(self) -> Turn<'static> {
        Turn {
            id: own(self.id),
            parent_id: owned(self.parent_id),
            group_id: owned(self.group_id),
            role: match self.role {
                Role::User => Role::User,
                Role::Assistant => Role::Assistant,
                Role::System => Role::System,
                Role::Other(name) => Role::Other(own(name)),
            },
            timestamp: own(self.timestamp),
            text: own(self.text),
            thinking: owned(self.thinking),
            tool_uses: self.tool_uses.into_iter().map(ToolInvocation::into_owned).collect(),
            model: owned(self.model),
            stop_reason: owned(self.stop_reason),
            token_usage: self.token_usage,
            attributed_token_usage: self.attributed_token_usage,
            environment: self.environment.map(|environment| Environment {
                working_dir: owned(environment.working_dir),
                vcs_branch: owned(environment.vcs_branch),
                vcs_revision: owned(environment.vcs_revision),
            }),
            delegations: self.delegations.into_iter().map(DelegatedWork::into_owned).collect(),
            file_mutations: self.file_mutations.into_iter().map(FileMutation::into_owned).collect(),
            harness_generated: self.harness_generated,
        }
    }
}

impl ToolInvocation<'_> {
    fn into_owned(self) -> ToolInvocation<'static> {
        ToolInvocation {
            id: own(self.id),
            name: own(self.name),
            input: self.input.into_owned(),
            result: self.result.map(ToolResult::into_owned),
            category: self.category,
        }
    }
}

impl ToolResult<'_> {
    /// The same result, owning its text.
    pub fn into_owned(self) -> ToolResult<'static> {
        ToolResult { content: self.content.into_owned(), is_error: self.is_error }
    }
}

impl DelegatedWork<'_> {
    /// The same work, owning its texts.
    pub fn into_owned(self) -> DelegatedWork<'static> {
        DelegatedWork {
            agent_id: own(self.agent_id),
            prompt: own(self.prompt),
            turns: self.turns.map(Json::into_owned),
            result: owned(self.result),
        }
    }
}

impl FileMutation<'_> {
    /// The same mutation, owning its texts.
    pub fn into_owned(self) -> FileMutation<'static> {
        FileMutation {
            path: own(self.path),
            tool_id: owned(self.tool_id),
            operation: owned(self.operation),
            raw_diff: owned(self.raw_diff),
            before: owned(self.before),
            after: owned(self.after),
            rename_to: owned(self.rename_to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A turn as producers wrote it before `harness_generated` existed.
    const BEFORE: &str = r#"{"id":"t","parent_id":null,"group_id":"g","role":"Assistant","timestamp":"2026-05-04T08:15:09.000Z","text":"Done.","thinking":null,"tool_uses":[{"id":"c","name":"Edit","input":{"file_path":"/a"},"result":{"content":"ok","is_error":false},"category":"file_write"},{"id":"d","name":"X","input":null,"result":null}],"model":"m","stop_reason":"end_turn","token_usage":{"input_tokens":40,"output_tokens":null,"cache_read_tokens":1200},"environment":{"working_dir":"/srv"},"file_mutations":[{"path":"/a","tool_id":"c","operation":"update"}]}"#;

    #[test]
    fn a_turn_without_the_flag_reads_and_writes_to_the_same_bytes() {
        let turn: Turn<'_> = serde_json::from_str(BEFORE).expect("a turn");
        assert!(!turn.harness_generated);
        assert_eq!(serde_json::to_string(&turn).expect("JSON"), BEFORE);
    }

    #[test]
    fn the_flag_comes_last_and_goes_both_ways() {
        let mut turn: Turn<'_> = serde_json::from_str(BEFORE).expect("a turn");
        turn.harness_generated = true;
        let flagged = format!("{},\"harness_generated\":true}}", &BEFORE[..BEFORE.len() - 1]);
        assert_eq!(serde_json::to_string(&turn).expect("JSON"), flagged);
        assert_eq!(serde_json::from_str::<Turn<'_>>(&flagged).expect("a turn"), turn);
    }

    #[test]
    fn a_flag_written_as_false_reads_as_false() {
        let explicit = format!("{},\"harness_generated\":false}}", &BEFORE[..BEFORE.len() - 1]);
        let turn: Turn<'_> = serde_json::from_str(&explicit).expect("a turn");
        assert_eq!(serde_json::to_string(&turn).expect("JSON"), BEFORE);
    }

    #[test]
    fn roles_are_capitalised_on_the_wire_only() {
        let other = r#"{"Other":"tool"}"#;
        let role: Role<'_> = serde_json::from_str(other).expect("a role");
        assert_eq!((role.word(), serde_json::to_string(&role).expect("JSON").as_str()), ("tool", other));
        assert!(serde_json::from_str::<Role<'_>>("\"user\"").is_err());
    }
}
