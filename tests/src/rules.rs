//! What every document must be, whatever session it came from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Expects a document that is valid: its shape, its actors, its ids and parents, its head, its usage.
#[track_caller]
pub fn assert_valid(document: &Value) {
    if let Err(broken) = check(document) {
        panic!("{broken}");
    }
}

fn check(document: &Value) -> Result<(), String> {
    keys(document, &["graph", "paths"], &[])?;
    keys(&document["graph"], &["id"], &[])?;
    let paths = list(&document["paths"])?;
    let [path] = paths else { return Err(format!("{} paths", paths.len())) };
    keys(path, &["path", "steps", "meta"], &[])?;
    keys(&path["path"], &["id", "head"], &["base"])?;
    if let Some(base) = path["path"].get("base") {
        keys(base, &["uri"], &["ref", "branch"])?;
    }
    if document["graph"]["id"] != path["path"]["id"] {
        return Err("the graph has another id than its path".to_owned());
    }
    let used = check_steps(path)?;
    check_meta(&path["meta"], &used)
}

/// Checks the steps, and answers the actors they use.
fn check_steps(path: &Value) -> Result<BTreeSet<String>, String> {
    let mut ids = BTreeSet::new();
    let mut used = BTreeSet::new();
    let mut runs: Vec<(Option<String>, bool)> = Vec::new();
    for step in list(&path["steps"])? {
        keys(step, &["step", "change"], &[])?;
        let identity = &step["step"];
        keys(identity, &["id", "actor", "timestamp"], &["parents"])?;
        let id = text(&identity["id"])?;
        text(&identity["timestamp"])?;
        for parent in identity["parents"].as_array().into_iter().flatten() {
            if !ids.contains(text(parent)?) {
                return Err(format!("`{id}` has the parent {parent}, which is no step before it"));
            }
        }
        if !ids.insert(id.to_owned()) {
            return Err(format!("two steps are called `{id}`"));
        }
        let actor = text(&identity["actor"])?;
        if !is_actor(actor) {
            return Err(format!("`{id}` has the actor `{actor}`, which is none"));
        }
        used.insert(actor.to_owned());
        let changes = step["change"].as_object().ok_or("changes are a map")?;
        for (key, change) in changes {
            keys(change, &["structural"], &["raw"])?;
            check_structural(&change["structural"]).map_err(|broken| format!("`{id}`, `{key}`: {broken}"))?;
            let structural = &change["structural"];
            if structural["type"] == "conversation.append" {
                let group = structural["group_id"].as_str().map(str::to_owned);
                runs.push((group, structural.get("token_usage").is_some()));
            }
        }
    }
    for pair in runs.windows(2) {
        if let [(Some(group), true), (Some(next), _)] = pair
            && group == next
        {
            return Err(format!("the group `{group}` has usage before its last step"));
        }
    }
    let head = text(&path["path"]["head"])?;
    let is_empty = head.is_empty() && ids.is_empty();
    if !is_empty && !ids.contains(head) {
        return Err(format!("the head `{head}` is no step"));
    }
    Ok(used)
}

fn check_structural(structural: &Value) -> Result<(), String> {
    match text(&structural["type"])? {
        "conversation.append" => {
            text(&structural["role"])?;
            text(&structural["text"])?;
            for call in structural["tool_uses"].as_array().into_iter().flatten() {
                keys(call, &["id", "name", "input", "category"], &["result"])?;
                if let Some(result) = call.get("result") {
                    keys(result, &["content", "is_error"], &[])?;
                }
            }
            for work in structural["delegations"].as_array().into_iter().flatten() {
                keys(work, &["agent_id", "prompt"], &["result", "turns"])?;
            }
            for usage in [structural.get("token_usage"), structural.get("attributed_token_usage")].into_iter().flatten()
            {
                let more = ["cache_read_tokens", "cache_write_tokens", "breakdowns"];
                keys(usage, &["input_tokens", "output_tokens"], &more)?;
            }
            Ok(())
        }
        "conversation.event" => text(&structural["entry_type"]).map(drop),
        "file.write" => Ok(()),
        other => Err(format!("is of the type `{other}`")),
    }
}

fn check_meta(meta: &Value, used: &BTreeSet<String>) -> Result<(), String> {
    if meta["kind"] != "https://toolpath.net/kinds/agent-coding-session/v1.1.0" {
        return Err(format!("is of the kind {}", meta["kind"]));
    }
    let none = serde_json::Map::new();
    let actors = meta["actors"].as_object().unwrap_or(&none);
    let told: BTreeSet<String> = actors.keys().cloned().collect();
    if told != *used {
        return Err(format!("tells of the actors {told:?}, and its steps use {used:?}"));
    }
    for (actor, entry) in actors {
        keys(entry, &["name"], &["provider", "model"])?;
        if actor.starts_with("tool:") && entry.get("model").is_some() {
            return Err(format!("`{actor}` has a model"));
        }
    }
    Ok(())
}

/// `(human|agent|tool|ci):name` or `...:name/name`.
fn is_actor(actor: &str) -> bool {
    let Some((kind, name)) = actor.split_once(':') else { return false };
    let parts: Vec<&str> = name.split('/').collect();
    ["human", "agent", "tool", "ci"].contains(&kind)
        && parts.len() <= 2
        && parts.iter().all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        })
}

fn keys(value: &Value, required: &[&str], optional: &[&str]) -> Result<(), String> {
    let object: BTreeMap<_, _> = value.as_object().ok_or_else(|| format!("{value} is no object"))?.iter().collect();
    for key in required {
        if !object.contains_key(&(*key).to_owned()) {
            return Err(format!("there is no `{key}` in {value}"));
        }
    }
    match object.keys().find(|key| !required.contains(&key.as_str()) && !optional.contains(&key.as_str())) {
        Some(key) => Err(format!("`{key}` does not belong in {value}")),
        None => Ok(()),
    }
}

fn text(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("{value} is no text"))
}

fn list(value: &Value) -> Result<&[Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("{value} is no list"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good() -> Value {
        let append = json!({"structural": {"type": "conversation.append", "role": "user", "text": ""}});
        let step = |id: &str, parents: &[&str]| {
            json!({"step": {"id": id, "parents": parents, "actor": "human:user", "timestamp": ""},
                "change": {"k": append}})
        };
        json!({"graph": {"id": "p"}, "paths": [{"path": {"id": "p", "head": "b"},
            "steps": [step("a", &[]), step("b", &["a"])],
            "meta": {"kind": "https://toolpath.net/kinds/agent-coding-session/v1.1.0",
                "actors": {"human:user": {"name": "user"}}}}]})
    }

    #[test]
    fn a_good_document_passes_and_each_broken_one_does_not() {
        assert_eq!(check(&good()), Ok(()));
        let broken: &[(&str, Value)] = &[
            ("/graph/id", json!("q")),
            ("/paths", json!([])),
            ("/paths/0/path/head", json!("c")),
            ("/paths/0/steps/1/step/id", json!("a")),
            ("/paths/0/steps/0/step/parents", json!(["b"])),
            ("/paths/0/steps/1/step/actor", json!("agent:<x>")),
            ("/paths/0/steps/1/step/actor", json!("agent:x")),
            ("/paths/0/steps/1/change/k/structural/type", json!("other")),
            ("/paths/0/meta/kind", json!("other")),
            ("/paths/0/meta/actors", json!({})),
        ];
        for (place, value) in broken {
            let mut document = good();
            *document.pointer_mut(place).expect("a place in the document") = value.clone();
            assert!(check(&document).is_err(), "{place}");
        }
    }
}
