//! The forms of a result: a document, a stream, a view; each tells the same.

use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use toolpath_tests::{Scratch, top};

/// The sessions of the Claude Code fixtures.
fn sessions() -> Vec<PathBuf> {
    let folder = top().join("tests/fixtures/sessions/claude");
    let mut sessions: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the fixtures")
        .map(|case| case.expect("a case").path().join("session.jsonl"))
        .collect();
    sessions.sort();
    assert!(sessions.len() >= 7);
    sessions
}

fn derive(scratch: &Scratch, more: &[&str]) -> toolpath_tests::Run {
    let args = ["--provider", "claude", "--plugins", "plugins", "session.jsonl"];
    scratch.host(args.iter().chain(more))
}

/// Puts a stream together again, by its rules.
fn document_of(stream: &str) -> Value {
    let mut path = json!({"path": {}, "steps": [], "meta": {}});
    let mut closed = false;
    let mut actors = Map::new();
    for (number, line) in stream.lines().enumerate() {
        assert!(!closed, "nothing follows the last line");
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        let (kind, body) = line.as_object().expect("a line is an object").iter().next().expect("a line has a kind");
        assert_eq!((number == 0, line.as_object().map(Map::len)), (kind == "PathOpen", Some(1)));
        match kind.as_str() {
            "PathOpen" => {
                assert_eq!(body["version"], "1");
                path["path"]["id"] = body["id"].clone();
                if let Some(base) = body.get("base") {
                    path["path"]["base"] = base.clone();
                }
                path["meta"] = body["meta"].clone();
            }
            "ActorDef" => {
                drop(actors.insert(body["actor"].as_str().expect("an actor").to_owned(), body["definition"].clone()))
            }
            "Step" => {
                let actor = body["step"]["actor"].as_str().expect("an actor");
                assert!(actors.contains_key(actor), "`{actor}` is used before it is defined");
                path["steps"].as_array_mut().expect("steps").push(body.clone());
            }
            "PathMeta" => {
                for (key, value) in body["patch"].as_object().expect("a patch") {
                    path["meta"][key] = value.clone();
                }
            }
            "Head" => path["path"]["head"] = body["step_id"].clone(),
            "PathClose" => closed = true,
            other => panic!("there is no line of the kind {other}"),
        }
    }
    assert!(closed, "the stream is whole");
    if !actors.is_empty() {
        path["meta"]["actors"] = Value::Object(actors);
    }
    json!({"graph": {"id": path["path"]["id"]}, "paths": [path]})
}

#[test]
fn a_stream_tells_what_the_document_tells() {
    let scratch = Scratch::new();
    for session in sessions() {
        scratch.write("session.jsonl", fs::read(&session).expect("the session"));
        let stream = derive(&scratch, &["--format", "jsonl"]).succeeds();
        assert_eq!(document_of(&stream), derive(&scratch, &[]).document(), "{}", session.display());
        derive(&scratch, &["--format", "jsonl", "-o", "out.path.jsonl"]).exits(0);
        assert_eq!(fs::read_to_string(scratch.path("out.path.jsonl")).expect("the stream"), stream);
    }
}

#[test]
fn a_stream_that_fails_has_no_last_line_and_leaves_no_file() {
    let scratch = Scratch::new();
    scratch.write("session.jsonl", "{\"type\":\"user\",\"cwd\":\"/srv\",\"message\":{\"content\":\"hi\"}}\n{broken\n");
    let run = derive(&scratch, &["--format", "jsonl", "--strict"]);
    run.exits(1);
    assert!(run.stdout().starts_with("{\"PathOpen\":") && !run.stdout().contains("PathClose"), "{run}");
    let run = derive(&scratch, &["--format", "jsonl", "--strict", "-o", "out.path.jsonl"]);
    run.exits(1);
    assert_eq!(run.files(), ["plugins", "session.jsonl"]);
}

#[test]
fn steps_leave_a_stream_while_the_session_is_still_read() {
    // A pipe that nobody empties stops the host after some steps of a long session; what arrived by then is whole lines.
    let scratch = Scratch::new();
    let line = |n: usize| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"u{n}\",\"cwd\":\"/srv\",\"message\":{{\"content\":\"{}\"}}}}\n",
            "x".repeat(500)
        )
    };
    scratch.write("session.jsonl", (0..20_000).map(line).collect::<String>());
    let script = format!(
        "{} --provider claude --plugins plugins session.jsonl --format jsonl | (head -n 3; sleep 0.2)",
        toolpath_tests::built().host.display()
    );
    let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(scratch.path(".")).output();
    let output = output.expect("bash runs");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let kinds: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| line.split('"').nth(1).expect("a kind").to_owned())
        .collect();
    assert_eq!(kinds, ["PathOpen", "ActorDef", "Step"]);
}

/// The turns' steps, without what a view cannot carry: which diffs are partial, and that a write needs a result.
fn turns(document: &Value) -> Vec<Value> {
    let steps = toolpath_tests::steps(document).iter();
    let turns = steps.filter(|step| toolpath_tests::message(step)["type"] == "conversation.append");
    turns
        .map(|step| {
            let mut changes = step["change"].clone();
            let calls = toolpath_tests::message(step)["tool_uses"].clone();
            let unanswered = |id: &Value| {
                let calls = calls.as_array().into_iter().flatten();
                calls.filter(|call| call.get("result").is_none()).any(|call| call["id"] == *id)
            };
            let changes = changes.as_object_mut().expect("changes");
            changes.retain(|_, change| !unanswered(&change["structural"]["tool_id"]));
            for change in changes.values_mut() {
                change["structural"].as_object_mut().expect("a structural").remove("partial");
            }
            json!([step["step"]["id"], step["step"]["actor"], changes])
        })
        .collect()
}

#[test]
fn a_view_that_is_read_back_gives_the_same_view_and_the_same_steps() {
    let scratch = Scratch::new();
    for session in sessions() {
        scratch.write("session.jsonl", fs::read(&session).expect("the session"));
        let view = derive(&scratch, &["--format", "turns"]).succeeds();
        scratch.write("view.json", &view);
        let wire = |more: &[&str]| {
            let args = ["--provider", "wire", "--plugins", "plugins", "view.json"];
            scratch.host(args.iter().chain(more))
        };
        assert_eq!(wire(&["--format", "turns"]).succeeds(), view, "{}", session.display());
        // Which turns belong to a sub-agent, and so who wrote its prompt, is lost in a view as well.
        if !session.to_string_lossy().contains("sidechain") {
            assert_eq!(turns(&wire(&[]).document()), turns(&derive(&scratch, &[]).document()), "{}", session.display());
        }
    }
}

#[test]
fn the_flag_is_on_the_wire_where_the_harness_wrote_and_nowhere_else() {
    let scratch = Scratch::new();
    let session = top().join("tests/fixtures/sessions/claude/notice/session.jsonl");
    scratch.write("session.jsonl", fs::read(session).expect("the session"));
    let view: Value = serde_json::from_str(&derive(&scratch, &["--format", "turns"]).succeeds()).expect("a view");
    let flags: Vec<Option<&Value>> =
        view["turns"].as_array().expect("turns").iter().map(|turn| turn.get("harness_generated")).collect();
    assert_eq!(flags, [None, None, None, Some(&json!(true)), None, None]);
}
