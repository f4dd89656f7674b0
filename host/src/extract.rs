//! Reads a document back: a path to the conversation it was derived from.
//!
//! The inverse of deriving, as far as a document can tell: what was told about a session is there, what was left out or
//! folded together is not. Deriving the result again gives the same document.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::derive::change;
use crate::json::Json;
use crate::record::SessionFacts;
use crate::turn::{Event, FileMutation, Role, Text, ToolInvocation, Turn};

/// A conversation that was read out of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extracted {
    /// What the document says of the session.
    pub facts: SessionFacts,
    /// Its turns, and for each the indices of its file mutations whose diff has no known line numbers.
    pub turns: Vec<(Turn<'static>, Vec<u32>)>,
    /// Its events; `parent_id` is the turn on whose line each stands.
    pub events: Vec<Event<'static>>,
}

/// Reads `path`, one of a valid document's; `None` when it holds a step that is neither a turn nor an event.
pub fn extract(path: &Value) -> Option<Extracted> {
    let meta = &path["meta"];
    let steps = path["steps"].as_array()?;
    let (provider, id) = names(steps).unwrap_or_else(|| (None, text(&path["path"]["id"]).unwrap_or_default()));
    let mut extracted = Extracted { facts: facts(path, provider, id), ..Extracted::default() };
    // For each step the turn on whose line it stands.
    let mut turn_of: HashMap<&str, Option<&str>> = HashMap::new();
    for step in steps {
        let id = step["step"]["id"].as_str()?;
        let first = step["step"]["parents"].get(0).and_then(Value::as_str);
        let line = first.and_then(|parent| turn_of.get(parent).copied().flatten());
        let (key, structural) = conversation(step)?;
        match structural["type"].as_str()? {
            "conversation.append" => {
                let parent = line.or(first);
                extracted.turns.push(turn(step, key, structural, parent, &meta["actors"])?);
                turn_of.insert(id, Some(id));
            }
            _ => {
                extracted.events.push(event(step, structural, line)?);
                turn_of.insert(id, line);
            }
        }
    }
    Some(extracted)
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Provider and session, from the first key that names them.
fn names(steps: &[Value]) -> Option<(Option<String>, String)> {
    let (key, _) = steps.iter().find_map(conversation)?;
    let (provider, session) = key.split_once("://")?;
    Some((Some(provider.to_owned()), session.to_owned()))
}

/// The change of a step that is a turn or an event, and its key.
fn conversation(step: &Value) -> Option<(&str, &Value)> {
    let changes = step["change"].as_object()?;
    changes.iter().find_map(|(key, change)| {
        let structural = &change["structural"];
        let is_ours = structural["type"].as_str()?.starts_with("conversation.");
        is_ours.then_some((key.as_str(), structural))
    })
}

fn facts(path: &Value, provider: Option<String>, id: String) -> SessionFacts {
    let (meta, base) = (&path["meta"], &path["path"]["base"]);
    let files = meta["files_changed"].as_array().into_iter().flatten().filter_map(text).collect();
    SessionFacts {
        id,
        // A document without a source comes of a view without a provider, whose key says `unknown`.
        provider_id: text(&meta["source"]).and(provider),
        title: text(&meta["title"]),
        producer: text(&meta["producer"]["name"]).map(|name| (name, text(&meta["producer"]["version"]))),
        working_dir: base["uri"].as_str().map(|uri| uri.strip_prefix("file://").unwrap_or(uri).to_owned()),
        vcs_revision: text(&base["ref"]),
        vcs_branch: text(&base["branch"]),
        vcs_remote: text(&meta["vcs_remote"]),
        files_changed: Some(files),
        ..SessionFacts::default()
    }
}

fn turn(
    step: &Value,
    key: &str,
    append: &Value,
    parent: Option<&str>,
    actors: &Value,
) -> Option<(Turn<'static>, Vec<u32>)> {
    fn field<T: serde::de::DeserializeOwned>(append: &Value, key: &str) -> Option<T> {
        append.get(key).and_then(|value| serde_json::from_value(value.clone()).ok())
    }
    let actor = step["step"]["actor"].as_str()?;
    let role = match append["role"].as_str() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some(other) => Role::Other(Cow::Owned(other.to_owned())),
        None if actor.starts_with("human:") => Role::User,
        None if actor.starts_with("agent:") => Role::Assistant,
        None => Role::System,
    };
    let by_harness = actor.starts_with("tool:") && matches!(role, Role::User | Role::Assistant);
    let mut turn = Turn {
        id: Cow::Owned(text(&step["step"]["id"])?),
        parent_id: parent.map(|parent| Cow::Owned(parent.to_owned())),
        group_id: owned(&append["group_id"]),
        model: if by_harness { None } else { model(actor, actors) },
        role,
        timestamp: Cow::Owned(text(&step["step"]["timestamp"])?),
        text: Cow::Owned(text(&append["text"]).unwrap_or_default()),
        thinking: owned(&append["thinking"]),
        tool_uses: field(append, "tool_uses").unwrap_or_default(),
        stop_reason: owned(&append["stop_reason"]),
        token_usage: field(append, "token_usage"),
        attributed_token_usage: field(append, "attributed_token_usage"),
        environment: field(append, "environment"),
        delegations: field(append, "delegations").unwrap_or_default(),
        file_mutations: Vec::new(),
        harness_generated: by_harness,
    };
    let mut told = Vec::new();
    for (path, change) in step["change"].as_object()?.iter().filter(|(path, _)| *path != key) {
        told.extend(mutations(path, change).into_iter().map(|(mutation, partial)| (mutation, partial, change)));
    }
    let mut writes_of: HashMap<Text<'static>, u32> = HashMap::new();
    for tool in told.iter().filter_map(|(mutation, ..)| mutation.tool_id.clone()) {
        *writes_of.entry(tool).or_default() += 1;
    }
    // The first of the calls that share an id, as in deriving.
    let calls: HashMap<&str, &ToolInvocation<'static>> =
        turn.tool_uses.iter().rev().map(|call| (&*call.id, call)).collect();
    let is_derivable = |(mutation, partial, change): &(FileMutation<'static>, bool, &Value)| {
        let call = mutation.tool_id.as_ref().filter(|tool| writes_of[*tool] == 1).and_then(|tool| calls.get(&**tool));
        call.is_some_and(|call| is_derivable(call, mutation, *partial, change))
    };
    told.retain(|write| !is_derivable(write));
    let mut partial = Vec::new();
    for (mutation, is_partial, _) in told {
        if is_partial {
            partial.push(u32::try_from(turn.file_mutations.len()).ok()?);
        }
        turn.file_mutations.push(mutation);
    }
    Some((turn, partial))
}

/// Whether the write, one of `change`, is what deriving makes of the call's input.
fn is_derivable(
    call: &ToolInvocation<'static>,
    mutation: &FileMutation<'static>,
    is_partial: bool,
    change: &Value,
) -> bool {
    let Some((path, derived)) = change::from_input(call) else { return false };
    let Ok(derived) = serde_json::to_value(derived) else { return false };
    // Of several writes to one file the call's own list of edits is not told.
    let same = derived == *change || is_of_several(change);
    same && mutations(&path, &derived).contains(&(mutation.clone(), is_partial))
}

/// Whether a change stands for several writes.
fn is_of_several(change: &Value) -> bool {
    let structural = &change["structural"];
    structural["edits"].is_array() && structural.get("tool_id").is_none()
}

fn owned(value: &Value) -> Option<Text<'static>> {
    text(value).map(Cow::Owned)
}

/// The model behind an actor: what its entry says, or the actor itself.
fn model(actor: &str, actors: &Value) -> Option<Text<'static>> {
    if let Some(entry) = actors.get(actor) {
        return owned(&entry["model"]);
    }
    let name = actor.strip_prefix("agent:")?.split('/').next()?;
    (!name.is_empty() && name != "unknown").then(|| Cow::Owned(name.to_owned()))
}

/// The writes that one change stands for, and whether each has no known line numbers.
fn mutations(path: &str, change: &Value) -> Vec<(FileMutation<'static>, bool)> {
    let structural = &change["structural"];
    let one = |detail: &Value, raw: Option<String>| {
        let mutation = FileMutation {
            path: Cow::Owned(path.to_owned()),
            tool_id: owned(&detail["tool_id"]),
            operation: owned(&detail["operation"]),
            raw_diff: raw.map(Cow::Owned),
            before: owned(&detail["before"]),
            after: owned(&detail["after"]),
            rename_to: owned(&detail["rename_to"]),
        };
        (mutation, detail["partial"] == true)
    };
    match structural["edits"].as_array() {
        Some(writes) if is_of_several(change) => {
            let raws = split(change["raw"].as_str(), writes.len());
            writes.iter().zip(raws).map(|(detail, raw)| one(detail, raw)).collect()
        }
        _ => vec![one(structural, text(&change["raw"]))],
    }
}

/// The diffs that were joined behind lines that count them.
fn split(raw: Option<&str>, count: usize) -> Vec<Option<String>> {
    let Some(mut rest) = raw else { return vec![None; count] };
    let mut diffs = Vec::new();
    for number in 1..=count {
        rest = rest.strip_prefix(&format!("# edit {number}/{count}\n")).unwrap_or(rest);
        let next = format!("\n# edit {}/{count}\n", number + 1);
        let (diff, after) = rest.find(&next).map_or((rest, ""), |at| (&rest[..at], &rest[at + 1..]));
        diffs.push(Some(diff.to_owned()).filter(|diff| !diff.is_empty()));
        rest = after;
    }
    diffs
}

fn event(step: &Value, structural: &Value, turn: Option<&str>) -> Option<Event<'static>> {
    let told = BTreeSet::from(["type", "entry_type", "event_source_id"]);
    let data = structural.as_object()?.iter().filter(|(key, _)| !told.contains(key.as_str())).map(|(key, value)| {
        let key = if key == "event_data_type" { "type" } else { key };
        (key.to_owned(), Json::of(value))
    });
    Some(Event {
        // One without an id of its own is numbered again.
        id: owned(&structural["event_source_id"]).unwrap_or_default(),
        timestamp: owned(&step["step"]["timestamp"])?,
        parent_id: turn.map(|turn| Cow::Owned(turn.to_owned())),
        event_type: owned(&structural["entry_type"])?,
        data: data.collect(),
    })
}
