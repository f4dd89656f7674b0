//! What schemas can't say of a path: what its steps have to do with each other.
//!
//! A value of the wrong type is passed over here, since a schema has told of it.

use std::collections::{BTreeSet, HashSet};

use serde_json::Value;

use super::PathAt;
use super::finding::{Findings, quoted};

/// What holds for any path: ids are unique, parents come before their steps, the head is a step.
pub(super) fn check_any(path: &PathAt<'_>, findings: &mut Findings<'_>) {
    let mut ids = HashSet::new();
    for (index, step) in path.steps().iter().enumerate() {
        let id = step["step"]["id"].as_str();
        for parent in strings(&step["step"]["parents"]) {
            if id == Some(parent) {
                findings.add(path.place(Some(index)), "the step is its own parent");
            } else if !ids.contains(parent) {
                let sentence = format!("the parent {} is no step before it", quoted(parent));
                findings.add(path.place(Some(index)), sentence);
            }
        }
        if let Some(id) = id
            && !ids.insert(id)
        {
            findings.add(path.place(Some(index)), "the id is that of an earlier step, too");
        }
    }
    match path.value["path"]["head"].as_str() {
        Some("") if !path.steps().is_empty() => {
            findings.add(path.place(None), "the head is empty, but there are steps")
        }
        Some(head) if !head.is_empty() && !ids.contains(head) => {
            findings.add(path.place(None), format!("the head {} is no step of the path", quoted(head)));
        }
        _ => {}
    }
}

/// What holds for the path of a coding session, besides: who is credited is described, and usage counts once.
pub(super) fn check_session(path: &PathAt<'_>, findings: &mut Findings<'_>) {
    check_actors(path, findings);
    check_usage(path, findings);
}

fn check_actors(path: &PathAt<'_>, findings: &mut Findings<'_>) {
    let none = serde_json::Map::new();
    let entries = path.value["meta"]["actors"].as_object().unwrap_or(&none);
    let mut used = BTreeSet::new();
    for (index, step) in path.steps().iter().enumerate() {
        let Some(actor) = step["step"]["actor"].as_str() else { continue };
        // Told where the actor acts first.
        if used.insert(actor) && !entries.contains_key(actor) {
            findings.add(path.place(Some(index)), format!("the actor {} has no entry in `meta.actors`", quoted(actor)));
        }
    }
    // Who only signs may be described, too.
    for holder in path.steps().iter().chain([path.value]) {
        let signatures = holder["meta"]["signatures"].as_array().into_iter().flatten();
        used.extend(signatures.filter_map(|signature| signature["signer"].as_str()));
    }
    for (actor, entry) in entries {
        if path.is_whole && !used.contains(actor.as_str()) {
            findings.add(path.place(None), format!("the entry {} in `meta.actors` is used by no step", quoted(actor)));
        }
        if actor.starts_with("tool:") && entry.get("model").is_some() {
            let sentence = format!("the entry {} in `meta.actors` has a model, but is a tool", quoted(actor));
            findings.add(path.place(None), sentence);
        }
    }
}

/// A run is messages next to each other that share a group, whatever events stand between; its last one has the usage.
fn check_usage(path: &PathAt<'_>, findings: &mut Findings<'_>) {
    let mut before: Option<(usize, &str)> = None;
    for (index, step) in path.steps().iter().enumerate() {
        let changes = step["change"].as_object().into_iter().flat_map(|changes| changes.values());
        for message in changes.map(|change| &change["structural"]).filter(|it| it["type"] == "conversation.append") {
            let group = message["group_id"].as_str();
            if let Some((holder, held)) = before
                && group == Some(held)
            {
                let sentence = format!("has `token_usage`, but is not the last step of its group {}", quoted(held));
                findings.add(path.place(Some(holder)), sentence);
            }
            before = group.filter(|_| message.get("token_usage").is_some()).map(|group| (index, group));
        }
    }
}

/// The strings of a list.
fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Counts, Finding};
    use super::*;

    /// `messages` are a letter for the group, or `-` for none, and `!` where there is usage; `.` is an event.
    #[track_caller]
    fn check_groups(messages: &str, expected: &[&str]) {
        let steps: Vec<Value> = messages
            .split(' ')
            .enumerate()
            .map(|(index, word)| {
                let mut message = json!({"type": "conversation.append"});
                match &word[..1] {
                    "." => message["type"] = "conversation.event".into(),
                    "-" => {}
                    group => message["group_id"] = group.into(),
                }
                if word.ends_with('!') {
                    message["token_usage"] = json!({});
                }
                json!({"step": {"id": index.to_string()}, "change": {"k": {"structural": message}}})
            })
            .collect();
        let value = json!({"steps": steps});
        let mut findings = Findings::of("f");
        check_usage(&PathAt { value: &value, index: 0, lines: None, is_whole: true }, &mut findings);
        let told = findings.verdict(Counts::default()).err().unwrap_or_default();
        assert_eq!(told.iter().map(Finding::to_string).collect::<Vec<_>>(), expected, "{messages}");
    }

    #[test]
    fn usage_stands_on_the_last_message_of_each_run() {
        for good in ["g g! h!", "g! - g!", "-! -! -!", "g g", "g! h g!", "g . g!", "g! .!"] {
            check_groups(good, &[]);
        }
        let first = "f: path 1, step `0`: has `token_usage`, but is not the last step of its group `g`";
        for bad in ["g! g", "g! g!", "g! . g!", "g! . . g"] {
            check_groups(bad, &[first]);
        }
        check_groups("g! g! g", &[first, &first.replace("`0`", "`1`")]);
    }
}
