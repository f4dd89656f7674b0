//! Where our documents differ from those of the reference implementation on purpose.
//!
//! Each entry neutralises exactly one difference in a pair of paths, so that what is left must be equal. The README
//! lists the entries by name, and a test holds the two together.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// A path of the reference, ours, and the view that both were derived from.
#[derive(Debug)]
pub struct Pair {
    /// The reference's path.
    pub theirs: Value,
    /// Ours.
    pub ours: Value,
    /// The view.
    pub view: Value,
}

/// One deliberate difference.
#[derive(Debug)]
pub struct Difference {
    /// Name, as the README lists it.
    pub name: &'static str,
    /// Takes it out of a pair; says whether it was there.
    pub neutralise: fn(&mut Pair) -> bool,
}

/// All of them, in the order in which they are taken out.
pub const LISTED: [Difference; 9] = [
    Difference { name: "replays are one step", neutralise: replays },
    Difference { name: "events stand in their place, and the head is the tip of the main line", neutralise: places },
    Difference { name: "harness words are credited to the harness", neutralise: harness_words },
    Difference { name: "model names the actor grammar cannot carry are sanitised", neutralise: model_names },
    Difference { name: "a failed edit is not a write", neutralise: failed_edits },
    Difference { name: "several writes to one file in one turn are all kept", neutralise: several_writes },
    Difference { name: "a diff has one header", neutralise: second_header },
    Difference { name: "a diff without known line numbers is marked partial", neutralise: partial },
    Difference { name: "actors are those of the steps", neutralise: actors },
];

fn steps(path: &mut Value) -> &mut Vec<Value> {
    path["steps"].as_array_mut().expect("a path has steps")
}

fn id(step: &Value) -> String {
    step["step"]["id"].as_str().expect("a step has an id").to_owned()
}

fn turns(view: &Value) -> impl Iterator<Item = &Value> {
    view["turns"].as_array().expect("a view has turns").iter()
}

/// The turn that a step stands for, by its id in the view.
fn turn_of<'v>(view: &'v Value, step: &str) -> Option<&'v Value> {
    let (id, number) = step.rsplit_once('#').unwrap_or((step, "1"));
    let of = |id: &str| turns(view).filter(|turn| turn["id"] == *id).collect::<Vec<_>>();
    let number: usize = number.parse().ok()?;
    of(step).first().copied().or_else(|| of(id).get(number - 1).copied())
}

fn is_event(step: &Value) -> bool {
    changes(step).values().any(|change| change["structural"]["type"] == "conversation.event")
}

fn changes(step: &Value) -> &Map<String, Value> {
    step["change"].as_object().expect("a step has changes")
}

/// The reference compares finished steps, of which only the last of a group carries usage; we compare what came in.
fn replays(pair: &mut Pair) -> bool {
    let ours: Vec<String> = steps(&mut pair.ours).iter().map(id).collect();
    let before = steps(&mut pair.theirs).len();
    let twice = |id: &str| {
        let stem = id.rsplit_once('#').map_or(id, |(stem, _)| stem);
        turns(&pair.view).filter(|turn| turn["id"] == *stem).count() > 1
    };
    let replayed: Vec<String> =
        steps(&mut pair.theirs).iter().map(id).filter(|id| !ours.contains(id) && twice(id)).collect();
    steps(&mut pair.theirs).retain(|step| !replayed.contains(&id(step)));
    steps(&mut pair.theirs).len() != before
}

/// Follows each step's parents through events to the turn they stand on, forgets the head, and sorts the steps.
fn places(pair: &mut Pair) -> bool {
    let order = |path: &Value| path["steps"].as_array().expect("steps").iter().map(id).collect::<Vec<_>>();
    let differs = order(&pair.theirs) != order(&pair.ours) || pair.theirs["path"]["head"] != pair.ours["path"]["head"];
    let named: Vec<String> = pair.view["events"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|event| turns(&pair.view).any(|turn| turn["id"] == event["parent_id"]))
        .filter_map(|event| event["id"].as_str().map(str::to_owned))
        .collect();
    for path in [&mut pair.theirs, &mut pair.ours] {
        path["path"]["head"] = Value::Null;
        let events: BTreeMap<String, Option<String>> = steps(path)
            .iter()
            .filter(|step| is_event(step))
            .map(|step| (id(step), step["step"]["parents"][0].as_str().map(str::to_owned)))
            .collect();
        for step in steps(path) {
            let mut parent = step["step"]["parents"][0].as_str().map(str::to_owned);
            while let Some(event) = parent.as_ref().and_then(|parent| events.get(parent)) {
                parent.clone_from(event);
            }
            // An event that names no turn hangs on whatever stands before it, which is the order again.
            if is_event(step) && !named.contains(&id(step)) {
                parent = None;
            }
            step["step"]["parents"] = parent.map_or(json!([]), |parent| json!([parent]));
        }
        // The number that an event without an id of its own gets is its place.
        for step in steps(path).iter_mut().filter(|step| is_event(step)) {
            if changes(step).values().all(|change| change["structural"].get("event_source_id").is_none()) {
                step["step"]["id"] = json!(format!("event {}", step["change"]));
            }
        }
        steps(path).sort_by_key(id);
    }
    differs
}

/// Gives the turns that are flagged in the view to the harness.
fn harness_words(pair: &mut Pair) -> bool {
    let provider = pair.view["provider_id"].as_str().unwrap_or("unknown").to_owned();
    let view = pair.view.clone();
    let mut any = false;
    for step in steps(&mut pair.theirs) {
        let flagged = turn_of(&view, &id(step)).is_some_and(|turn| turn["harness_generated"] == true);
        if flagged && !is_event(step) {
            step["step"]["actor"] = json!(format!("tool:{provider}"));
            any = true;
        }
    }
    any
}

/// Takes over our actor where the reference wrote one that no document may hold.
fn model_names(pair: &mut Pair) -> bool {
    let ours: BTreeMap<String, Value> =
        steps(&mut pair.ours).iter().map(|step| (id(step), step["step"]["actor"].clone())).collect();
    let mut any = false;
    for step in steps(&mut pair.theirs) {
        let actor = step["step"]["actor"].as_str().unwrap_or_default();
        let carried = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        };
        let name = actor.split_once(':').map_or("", |(_, name)| name);
        if name.split('/').count() > 2 || !name.split('/').all(carried) {
            step["step"]["actor"] = ours.get(&id(step)).cloned().unwrap_or_default();
            any = true;
        }
    }
    any
}

/// The calls of a step that failed.
fn failed_calls(step: &Value) -> Vec<Value> {
    let appends = changes(step).values().map(|change| &change["structural"]);
    let calls = appends.flat_map(|append| append["tool_uses"].as_array().into_iter().flatten());
    calls.filter(|call| call["result"]["is_error"] == true).map(|call| call["id"].clone()).collect()
}

/// Takes the writes of failed calls out of the reference's steps.
fn failed_edits(pair: &mut Pair) -> bool {
    let mut any = false;
    for step in steps(&mut pair.theirs) {
        let failed = failed_calls(step);
        let changes = step["change"].as_object_mut().expect("changes");
        let before = changes.len();
        changes.retain(|_, change| !failed.contains(&change["structural"]["tool_id"]));
        any |= changes.len() != before;
    }
    any
}

/// Takes a file that a turn wrote more than once out of both.
fn several_writes(pair: &mut Pair) -> bool {
    let mut several = Vec::new();
    for step in steps(&mut pair.ours) {
        let id = id(step);
        let changes = step["change"].as_object_mut().expect("changes");
        changes.retain(|path, change| {
            // Of the writes of several calls each names its own.
            let keep = change["structural"]["edits"][0].get("tool_id").is_none();
            if !keep {
                several.push((id.clone(), path.clone()));
            }
            keep
        });
    }
    for step in steps(&mut pair.theirs) {
        let id = id(step);
        let changes = step["change"].as_object_mut().expect("changes");
        changes.retain(|path, _| !several.contains(&(id.clone(), path.clone())));
    }
    !several.is_empty()
}

/// Takes the empty second header out of diffs: out of ours, too, which pass on what a view says of a write.
fn second_header(pair: &mut Pair) -> bool {
    let mut any = false;
    for step in steps(&mut pair.theirs).iter_mut().chain(steps(&mut pair.ours)) {
        for change in step["change"].as_object_mut().expect("changes").values_mut() {
            let Some(raw) = change["raw"].as_str() else { continue };
            let one = raw.replace("--- \n+++ \n", "");
            if one != raw {
                change["raw"] = json!(one);
                any = true;
            }
        }
    }
    any
}

fn partial(pair: &mut Pair) -> bool {
    let mut any = false;
    for step in steps(&mut pair.ours) {
        for change in step["change"].as_object_mut().expect("changes").values_mut() {
            let structural = change["structural"].as_object_mut().expect("a structural");
            any |= structural["type"] == "file.write" && structural.remove("partial").is_some();
        }
    }
    any
}

/// Takes entries out of the reference's actors that no step of it uses after the differences above.
fn actors(pair: &mut Pair) -> bool {
    let used: Vec<Value> = steps(&mut pair.theirs).iter().map(|step| step["step"]["actor"].clone()).collect();
    let ours = pair.ours["meta"]["actors"].clone();
    let Some(theirs) = pair.theirs["meta"]["actors"].as_object_mut() else { return false };
    let before = theirs.clone();
    theirs.retain(|actor, _| used.contains(&json!(actor)));
    for actor in used.iter().filter_map(Value::as_str) {
        if !theirs.contains_key(actor) {
            theirs.insert(actor.to_owned(), ours[actor].clone());
        }
    }
    *theirs != before
}
