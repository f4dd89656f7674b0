//! The wire form's own names: what a view holds, as it is written.
//!
//! A required field that is missing or null is an error, and so is a value of another kind. An optional field may be
//! missing or null. Fields that are not listed here are ignored. JSON that passes through stays text.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use toolpath_plugin_api::kit::json::RawValue;

/// Who speaks, by position.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a role")]
pub(crate) enum Role {
    User,
    Assistant,
    System,
    Other(String),
}

/// One message.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a turn")]
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) parent_id: Option<String>,
    pub(crate) group_id: Option<String>,
    pub(crate) role: Role,
    pub(crate) timestamp: String,
    pub(crate) text: String,
    pub(crate) thinking: Option<String>,
    pub(crate) tool_uses: Vec<ToolInvocation>,
    pub(crate) model: Option<String>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) token_usage: Option<TokenUsage>,
    pub(crate) attributed_token_usage: Option<TokenUsage>,
    pub(crate) environment: Option<Environment>,
    #[serde(default, deserialize_with = "or_null")]
    pub(crate) delegations: Vec<DelegatedWork>,
    #[serde(default, deserialize_with = "or_null")]
    pub(crate) file_mutations: Vec<FileMutation>,
    #[serde(default, deserialize_with = "or_null")]
    pub(crate) harness_generated: bool,
}

/// One tool call.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a tool call")]
pub(crate) struct ToolInvocation {
    pub(crate) id: String,
    pub(crate) name: String,
    /// Any JSON; null is a value, too.
    pub(crate) input: Box<RawValue>,
    pub(crate) result: Option<ToolResult>,
    pub(crate) category: Option<ToolCategory>,
}

/// What a tool answered.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a tool's result")]
pub(crate) struct ToolResult {
    pub(crate) content: String,
    pub(crate) is_error: bool,
}

/// Kinds of tools.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "a tool's category")]
pub(crate) enum ToolCategory {
    FileRead,
    FileWrite,
    FileSearch,
    Shell,
    Network,
    Delegation,
}

/// Token counts.
#[derive(Debug, Deserialize)]
#[serde(expecting = "token counts")]
pub(crate) struct TokenUsage {
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    pub(crate) cache_read_tokens: Option<u64>,
    pub(crate) cache_write_tokens: Option<u64>,
    #[serde(default, deserialize_with = "or_null")]
    pub(crate) breakdowns: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Where a turn was made.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an environment")]
pub(crate) struct Environment {
    pub(crate) working_dir: Option<String>,
    pub(crate) vcs_branch: Option<String>,
    pub(crate) vcs_revision: Option<String>,
}

/// Work handed to a sub-agent.
#[derive(Debug, Deserialize)]
#[serde(expecting = "delegated work")]
pub(crate) struct DelegatedWork {
    pub(crate) agent_id: String,
    pub(crate) prompt: String,
    pub(crate) turns: Option<List>,
    pub(crate) result: Option<String>,
}

/// One write to one file.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a write to a file")]
pub(crate) struct FileMutation {
    pub(crate) path: String,
    pub(crate) tool_id: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) raw_diff: Option<String>,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) rename_to: Option<String>,
}

/// A record that is no message.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an event")]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) timestamp: String,
    pub(crate) event_type: String,
    pub(crate) parent_id: Option<String>,
    pub(crate) data: Option<Object>,
}

/// What the session worked on.
#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a base")]
pub(crate) struct Base {
    pub(crate) working_dir: Option<String>,
    pub(crate) vcs_revision: Option<String>,
    pub(crate) vcs_branch: Option<String>,
    pub(crate) vcs_remote: Option<String>,
}

/// The program that wrote the session.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a producer")]
pub(crate) struct Producer {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
}

/// A JSON list, as text.
#[derive(Debug)]
pub(crate) struct List(Box<RawValue>);

/// A JSON object, as text.
#[derive(Debug)]
pub(crate) struct Object(Box<RawValue>);

impl List {
    pub(crate) fn text(&self) -> &str {
        self.0.get()
    }
}

impl Object {
    pub(crate) fn text(&self) -> &str {
        self.0.get()
    }
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        opening(from, '[').map(Self)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        opening(from, '{').map(Self)
    }
}

/// A value as text, when it begins with `sign`.
fn opening<'de, D: Deserializer<'de>>(from: D, sign: char) -> Result<Box<RawValue>, D::Error> {
    let json = Box::<RawValue>::deserialize(from)?;
    if json.get().starts_with(sign) {
        return Ok(json);
    }
    let expected = if sign == '[' { "`turns` to be a list" } else { "`data` to be an object" };
    Err(D::Error::custom(format_args!("expected {expected}")))
}

/// A value that may be null, which means the same as leaving the field out.
pub(crate) fn or_null<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    Ok(Option::<T>::deserialize(from)?.unwrap_or_default())
}

/// Puts the place of a list's item in front of what is wrong with it; a file that ends too early has no such place.
pub(crate) fn at<E: Error>(list: &str, index: u64, err: E) -> E {
    let reason = err.to_string();
    if reason.starts_with("EOF while parsing") {
        return err;
    }
    // The line and column at the end of the text are read back from it.
    E::custom(format_args!("{list}[{index}]: {reason}"))
}
