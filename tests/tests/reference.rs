//! Our documents against those of the reference implementation, on the same views.
//!
//! What differs on purpose is data, in one table; anything else fails.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolpath::v1::Graph;
use toolpath_convo::ConversationView;
use toolpath_convo::derive::{DeriveConfig, derive_path};
use toolpath_tests::differences::{LISTED, Pair};
use toolpath_tests::{Scratch, sample_sessions, top};

/// Every session of ours, and of the samples where they are there.
fn sessions() -> Vec<PathBuf> {
    let folder = top().join("tests/fixtures/sessions/claude");
    let mut sessions: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the fixtures")
        .map(|case| case.expect("a case").path().join("session.jsonl"))
        .collect();
    sessions.sort();
    sessions.extend(sample_sessions("claude", "jsonl"));
    sessions
}

fn host(scratch: &Scratch, provider: &str, session: &Path, format: &str) -> String {
    let args = ["--provider", provider, "--plugins", "plugins", "--format", format].map(AsRef::<Path>::as_ref);
    scratch.host(args.into_iter().chain([session])).succeeds()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// What the comparison saw.
#[derive(Debug, Default)]
struct Tally {
    sessions: usize,
    /// Sessions in which a turn and an event share an id.
    left_out: usize,
    steps: usize,
    fields: usize,
    differences: BTreeMap<&'static str, usize>,
}

/// Compares both derivers on a view in wire form.
#[track_caller]
fn compare(scratch: &Scratch, name: &str, view: &str, tally: &mut Tally) {
    if shares_ids(&json(view)) {
        // Which of two records that share an id is numbered on depends on their order, which is a listed difference.
        tally.left_out += 1;
        return;
    }
    let theirs: ConversationView = serde_json::from_str(view).expect("the reference reads the view");
    let theirs = serde_json::to_value(derive_path(&theirs, &DeriveConfig::default())).expect("JSON");
    let file = scratch.write("view.json", view);
    let ours = json(&host(scratch, "wire", &file, "document"))["paths"][0].take();
    let mut pair = Pair { theirs, ours, view: json(view) };
    for difference in &LISTED {
        if (difference.neutralise)(&mut pair) {
            *tally.differences.entry(difference.name).or_default() += 1;
        }
    }
    tally.sessions += 1;
    let (theirs, ours) = (&pair.theirs["steps"], &pair.ours["steps"]);
    let (theirs_list, ours_list) = (theirs.as_array().expect("steps"), ours.as_array().expect("steps"));
    for (theirs, ours) in theirs_list.iter().zip(ours_list) {
        assert_eq!(ours, theirs, "{name}");
    }
    assert_eq!(pair.ours, pair.theirs, "{name}");
    tally.steps += ours_list.len();
    tally.fields += fields(&pair.ours);
}

/// Whether an event has the id of a turn or of another event.
fn shares_ids(view: &Value) -> bool {
    let ids = |list: &Value| -> Vec<Value> {
        list.as_array().into_iter().flatten().map(|item| item["id"].clone()).filter(|id| id != "").collect()
    };
    let (turns, events) = (ids(&view["turns"]), ids(&view["events"]));
    events.iter().enumerate().any(|(index, id)| turns.contains(id) || events[..index].contains(id))
}

/// The values that are no lists and no objects.
fn fields(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.iter().map(fields).sum(),
        Value::Object(items) => items.values().map(fields).sum(),
        _ => 1,
    }
}

#[test]
fn both_derivers_agree_on_our_views_but_for_what_is_listed() {
    let scratch = Scratch::new();
    let mut tally = Tally::default();
    for session in sessions() {
        let view = host(&scratch, "claude", &session, "turns");
        if serde_json::from_str::<ConversationView>(&view).is_err() {
            // Only counts beyond 32 bits are known to be too much for the reference.
            assert!(view.contains("5000000000"), "{}", session.display());
            continue;
        }
        compare(&scratch, &session.display().to_string(), &view, &mut tally);
    }
    eprintln_tally("our views", &tally);
    assert!(tally.sessions >= 6 && tally.fields > 500 && tally.left_out <= 1, "{tally:?}");
}

#[test]
fn both_derivers_agree_on_the_references_own_views_but_for_what_is_listed() {
    let scratch = Scratch::new();
    let mut tally = Tally::default();
    for session in sessions() {
        let Ok(conversation) = toolpath_claude::ConversationReader::read_conversation(&session) else { continue };
        let view = toolpath_claude::provider::to_view(&conversation);
        let view = serde_json::to_string(&view).expect("JSON");
        compare(&scratch, &session.display().to_string(), &view, &mut tally);
    }
    eprintln_tally("the reference's views", &tally);
    assert!(tally.sessions >= 5 && tally.left_out <= 1, "{tally:?}");
}

#[test]
fn the_references_types_read_our_documents_and_streams_as_one_value() {
    let scratch = Scratch::new();
    for session in sessions() {
        let document = host(&scratch, "claude", &session, "document");
        let graph = Graph::from_json(&document).unwrap_or_else(|err| panic!("{}: {err}", session.display()));
        let stream = host(&scratch, "claude", &session, "jsonl");
        let streamed = Graph::from_jsonl_str(&stream).unwrap_or_else(|err| panic!("{}: {err}", session.display()));
        let value = |graph: &Graph| serde_json::to_value(graph).expect("JSON");
        assert_eq!(value(&streamed), value(&graph), "{}", session.display());
        assert_eq!(value(&graph), json(&document), "{}", session.display());
    }
}

#[test]
fn the_readme_lists_each_difference() {
    let readme = fs::read_to_string(top().join("README.md")).expect("the README");
    let (_, section) = readme.split_once("### Where it differs from the reference").expect("the section");
    let listed: Vec<&str> = section
        .lines()
        .skip(1)
        .take_while(|line| !line.starts_with('#'))
        .filter_map(|line| line.strip_prefix("- **")?.split_once("**").map(|(name, _)| name))
        .collect();
    let table: Vec<&str> = LISTED.iter().map(|difference| difference.name).collect();
    assert!(table.iter().all(|name| listed.contains(name)), "{listed:?}\n{table:?}");
}

fn eprintln_tally(what: &str, tally: &Tally) {
    use std::io::Write;
    let _ = writeln!(
        std::io::stderr(),
        "{what}: {} sessions, {} steps, {} fields compared, {} sessions left out; in how many a listed difference was: {:?}",
        tally.sessions,
        tally.steps,
        tally.fields,
        tally.left_out,
        tally.differences
    );
}
