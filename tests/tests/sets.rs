//! Several sessions in one run: counted once, whatever the order, each to a file of its own; and their audit.

use std::fs;

use serde_json::{Value, json};
use toolpath_tests::{Run, Scratch};

fn line(kind: &str, id: &str, parent: &str, second: u32, message: Value) -> String {
    let time = format!("2026-05-04T08:15:{second:02}.000Z");
    json!({"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s", "isSidechain": false,
        "timestamp": time, "cwd": "/home/dev/larder", "version": "2.1.40", "message": message})
    .to_string()
}

fn reply(id: &str, parent: &str, second: u32, response: &str, output: u64) -> String {
    let message = json!({"id": response, "role": "assistant", "model": "claude-x",
        "content": [{"type": "text", "text": id}],
        "usage": {"input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 2}});
    line("assistant", id, parent, second, message)
}

fn notice(id: &str, parent: &str, second: u32) -> String {
    let message = json!({"id": "n", "role": "assistant", "model": "claude-x",
        "content": [{"type": "text", "text": "API Error: Overloaded"}]});
    let mut notice: Value = serde_json::from_str(&line("assistant", id, parent, second, message)).expect("JSON");
    notice["isApiErrorMessage"] = json!(true);
    notice.to_string()
}

fn prompt(id: &str, second: u32) -> String {
    line("user", id, "", second, json!({"role": "user", "content": id}))
}

const LONG: &str = "msg_0123456789abcdef";

/// An origin, a fork that begins with its copy under other ids, and a session of its own.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let origin = [prompt("u1", 1), reply("a1", "u1", 2, LONG, 100), notice("e1", "a1", 3)];
    scratch.write("origin.jsonl", origin.join("\n") + "\n");
    let fork = [prompt("u2", 1), reply("a2", "u2", 2, LONG, 100), reply("a3", "a2", 9, "msg_fedcba9876543210", 7)];
    scratch.write("afork.jsonl", fork.join("\n") + "\n");
    // Its response has a short id that another session has, too, at another time.
    let other = [prompt("u4", 1), reply("a4", "u4", 5, "m1", 1), reply("a5", "a4", 6, "m2", 1)];
    scratch.write("other.jsonl", other.join("\n") + "\n");
    let another = [prompt("u6", 1), reply("a6", "u6", 7, "m1", 1)];
    scratch.write("third.jsonl", another.join("\n") + "\n");
    scratch
}

fn run(scratch: &Scratch, command: &str, words: &[&str]) -> Run {
    let args = [command, "--provider", "claude", "--plugins", "plugins"];
    scratch.host(args.into_iter().chain(words.iter().copied()))
}

fn audit(scratch: &Scratch, words: &[&str]) -> Value {
    let run = run(scratch, "audit", &[words, &["--json"]].concat());
    serde_json::from_str(&run.succeeds()).unwrap_or_else(|err| panic!("no JSON ({err}): {run}"))
}

#[test]
fn an_audit_tells_steps_tokens_harness_turns_and_the_balance() {
    let scratch = scratch();
    let audit = audit(&scratch, &["origin.jsonl"]);
    assert_eq!(
        audit,
        json!({
            "session": "origin", "provider": "claude-code",
            "actors": {"agent:claude-x": 1, "human:user": 1, "tool:claude-code": 1},
            "tokens": {"input": 10, "output": 100, "cache_read": 2, "cache_write": 0},
            "models": {"claude-x": {"turns": 1,
                "tokens": {"input": 10, "output": 100, "cache_read": 2, "cache_write": 0}}},
            "harness_turns": [{"step": "e1", "file": "origin.jsonl", "line": 3, "role": "assistant",
                "signal": "api-error-flag", "text": "API Error: Overloaded"}],
            "records": {"read": 3, "turns": 3, "folded": 0, "events": 0, "duplicates": 0, "unreadable": 0},
            "diagnostics": [],
        })
    );
    let text = run(&scratch, "audit", &["origin.jsonl"]).succeeds();
    assert!(text.starts_with("session origin of claude-code\n\nACTOR             STEPS\n"), "{text}");
    assert!(
        text.contains("\nrecords: 3 read = 3 turns + 0 folded + 0 events + 0 duplicates + 0 unreadable\n"),
        "{text}"
    );
    assert!(text.ends_with("origin.jsonl:3  assistant  api-error-flag  API Error: Overloaded\n"), "{text}");
}

#[test]
fn a_response_that_stands_in_two_sessions_is_counted_in_the_first_whatever_the_order() {
    let scratch = scratch();
    let mut totals = Vec::new();
    for order in [["origin.jsonl", "afork.jsonl"], ["afork.jsonl", "origin.jsonl"]] {
        let audit = audit(&scratch, &order);
        let of = |id: &str| {
            let list = audit["sessions"].as_array().expect("a list").iter();
            list.clone().find(|session| session["session"] == id).expect("the session").clone()
        };
        assert_eq!(of("origin")["tokens"]["output"], 100, "{audit:#}");
        assert_eq!(of("afork")["tokens"]["output"], 7, "{audit:#}");
        let said = &of("afork")["diagnostics"][0];
        assert_eq!(said["code"], "replayed-response");
        assert_eq!(
            (&said["line"], &said["message"]),
            (&json!(2), &json!(format!("the response `{LONG}` is counted in `origin`, and not again here")))
        );
        totals.push(audit["total"].clone());
    }
    assert_eq!(totals[0], totals[1]);
    assert_eq!(totals[0]["tokens"]["output"], 107);
    assert_eq!(totals[0]["sessions_with_harness_turns"], 1);
}

#[test]
fn of_two_files_of_one_session_the_one_that_counts_is_named_by_its_path() {
    let scratch = scratch();
    fs::create_dir(scratch.path("copy")).expect("a folder");
    fs::copy(scratch.path("origin.jsonl"), scratch.path("copy/origin.jsonl")).expect("a copy");
    let audit = audit(&scratch, &["origin.jsonl", "copy/origin.jsonl"]);
    assert_eq!(audit["total"]["tokens"]["output"], 100, "{audit:#}");
    let messages: Vec<_> = audit["sessions"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|session| session["diagnostics"][0]["message"].as_str())
        .collect();
    let named = |path: &str| format!("the response `{LONG}` is counted in `{path}`, and not again here");
    assert!(messages == [named("origin.jsonl")] || messages == [named("copy/origin.jsonl")], "{messages:?}");
}

#[test]
fn short_ids_of_responses_are_not_taken_for_the_same() {
    let scratch = scratch();
    let total = audit(&scratch, &["other.jsonl", "third.jsonl"])["total"].clone();
    assert_eq!(total["tokens"]["output"], 3);
    assert_eq!(total["models"]["claude-x"]["turns"], 3);
}

#[test]
fn documents_of_a_set_do_not_depend_on_the_order_and_count_once() {
    let scratch = scratch();
    let all = ["origin.jsonl", "afork.jsonl", "other.jsonl"];
    let reversed: Vec<&str> = all.iter().rev().copied().collect();
    run(&scratch, "derive", &[&all[..], &["-o", "one"]].concat()).exits(0);
    run(&scratch, "derive", &[&reversed[..], &["-o", "two"]].concat()).exits(0);
    let read = |folder: &str, id: &str| {
        fs::read_to_string(scratch.path(folder).join(format!("claude-code-{id}.path.json"))).expect("a document")
    };
    for id in ["origin", "afork", "other"] {
        assert_eq!(read("one", id), read("two", id), "{id}");
    }
    let fork: Value = serde_json::from_str(&read("one", "afork")).expect("JSON");
    let usage: Vec<bool> = toolpath_tests::steps(&fork)
        .iter()
        .map(|step| toolpath_tests::message(step)["token_usage"].is_object())
        .collect();
    assert_eq!(usage, [false, false, true]);
    run(&scratch, "validate", &["one/claude-code-afork.path.json"]).exits(2);
    scratch.host(["validate", "one/claude-code-afork.path.json"]).exits(0);
    // Alone, it counts everything.
    let alone: Value = run(&scratch, "derive", &["afork.jsonl"]).document();
    assert!(toolpath_tests::message(&toolpath_tests::steps(&alone)[1])["token_usage"].is_object());
}

#[test]
fn several_sessions_need_a_folder() {
    let scratch = scratch();
    let two = ["origin.jsonl", "other.jsonl"];
    run(&scratch, "derive", &two).fails(2, "2 sessions need a folder for their results; pass -o DIR");
    scratch.write("file", "");
    let run = run(&scratch, "derive", &[&two[..], &["-o", "file"]].concat());
    run.exits(1);
    assert!(run.stderr().starts_with("error: cannot write the folder `file`: "), "{run}");
}

#[test]
fn the_same_session_twice_is_read_once() {
    let scratch = scratch();
    let document = run(&scratch, "derive", &["origin.jsonl", "./origin.jsonl"]).document();
    assert_eq!(document["paths"][0]["path"]["head"], "e1");
}

#[test]
fn one_that_cannot_be_read_does_not_stop_the_others() {
    let scratch = scratch();
    scratch.write("bad.jsonl", "no session\n");
    let run = run(&scratch, "derive", &["origin.jsonl", "bad.jsonl", "none.jsonl", "other.jsonl", "-o", "out"]);
    run.exits(1);
    let errors: Vec<String> =
        run.stderr().lines().filter(|line| line.starts_with("error: ")).map(str::to_owned).collect();
    assert_eq!(errors.len(), 2, "{run}");
    assert!(errors[0].starts_with("error: bad.jsonl: "), "{run}");
    assert_eq!(errors[1], "error: none.jsonl: there is no such file; check the path");
    let mut files: Vec<String> = fs::read_dir(scratch.path("out"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, ["claude-code-origin.path.json", "claude-code-other.path.json"]);
    let audit = self::run(&scratch, "audit", &["origin.jsonl", "bad.jsonl", "--json"]);
    audit.exits(1);
    let audit: Value = serde_json::from_str(&audit.stdout()).expect("JSON");
    assert_eq!(audit["failed"][0]["session"], "bad.jsonl");
    assert_eq!(audit["total"]["sessions"], 1);
}

#[test]
fn sessions_of_one_name_get_a_digest() {
    let scratch = scratch();
    fs::create_dir(scratch.path("copy")).expect("a folder");
    fs::copy(scratch.path("other.jsonl"), scratch.path("copy/other.jsonl")).expect("copying");
    run(&scratch, "derive", &["other.jsonl", "copy/other.jsonl", "-o", "out"]).exits(0);
    let files: Vec<String> = fs::read_dir(scratch.path("out"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(files.iter().all(|file| file.len() == "claude-code-other-01234567.path.json".len()), "{files:?}");
}

#[test]
fn a_session_that_is_written_to_meanwhile_gives_a_whole_document_of_what_is_there() {
    use std::io::Write;
    use std::time::Duration;

    let scratch = Scratch::new();
    let path = scratch.write("live.jsonl", prompt("u0", 0) + "\n");
    fs::create_dir(scratch.path("out")).expect("a folder");
    std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            let mut log = fs::OpenOptions::new().append(true).open(&path).expect("the log");
            for number in 0..3000 {
                let line = reply(&format!("a{number}"), "u0", number % 60, &format!("msg_{number:016}"), 1) + "\n";
                // In two pieces, so that a reader may come between.
                let (one, other) = line.split_at(line.len() / 2);
                for piece in [one, other] {
                    log.write_all(piece.as_bytes()).expect("writing");
                    std::thread::sleep(Duration::from_micros(100));
                }
            }
        });
        let mut runs = 0;
        while runs == 0 || (!writer.is_finished() && runs < 20) {
            runs += 1;
            let run = run(&scratch, "derive", &["live.jsonl"]);
            toolpath_tests::rules::assert_valid(&run.document());
            let said = run.stderr();
            // The last line may be half there; nothing else may be wrong.
            let is_cut = said.ends_with(": the file ends inside a record\n");
            assert!(said.is_empty() || (is_cut && said.lines().count() == 1), "{said}");
            // A folder's result is read twice, and the log grows between.
            self::run(&scratch, "derive", &["live.jsonl", "-o", "out"]).exits(0);
        }
    });
}
