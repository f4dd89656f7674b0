//! The seed case: who is credited with what the harness wrote itself.

use serde_json::{Value, json};
use toolpath_tests::{Run, Scratch, message, steps};

/// A Claude Code line.
fn line(kind: &str, id: &str, parent: &str, more: Value) -> String {
    let mut line = json!({"type": kind, "uuid": id, "parentUuid": parent, "sessionId": "s", "isSidechain": false,
        "timestamp": "2026-05-04T08:15:00.000Z", "cwd": "/home/dev/larder", "version": "2.1.40"});
    for (key, value) in more.as_object().expect("an object") {
        line[key] = value.clone();
    }
    line.to_string()
}

fn reply(id: &str, parent: &str, model: Option<&str>) -> String {
    let mut message =
        json!({"id": format!("msg_{id}"), "role": "assistant", "content": [{"type": "text", "text": id}]});
    if let Some(model) = model {
        message["model"] = json!(model);
    }
    line("assistant", id, parent, json!({"message": message}))
}

fn prompt(id: &str) -> String {
    line("user", id, "", json!({"message": {"role": "user", "content": id}}))
}

fn flagged(id: &str, parent: &str, model: &str) -> String {
    let message = json!({"id": "n", "role": "assistant", "model": model, "stop_reason": "stop_sequence",
        "content": [{"type": "text", "text": "API Error: Overloaded"}]});
    line("assistant", id, parent, json!({"isApiErrorMessage": true, "message": message}))
}

fn derive(lines: &[String]) -> Run {
    let scratch = Scratch::new();
    scratch.write("s.jsonl", lines.join("\n") + "\n");
    scratch.host(["--provider", "claude", "--plugins", "plugins", "s.jsonl", "--verbose"])
}

#[test]
fn a_harness_notice_between_two_replies_is_credited_to_the_harness() {
    let run = derive(&[
        prompt("u"),
        reply("a", "u", Some("claude-x")),
        flagged("n", "a", "claude-x"),
        reply("b", "n", Some("claude-x")),
    ]);
    let document = run.document();
    let shape: Vec<(&str, &str, &str)> = steps(&document)
        .iter()
        .map(|step| {
            let step_id = step["step"]["id"].as_str().expect("an id");
            let actor = step["step"]["actor"].as_str().expect("an actor");
            (step_id, actor, message(step)["role"].as_str().expect("a role"))
        })
        .collect();
    assert_eq!(
        shape,
        [
            ("u", "human:user", "user"),
            ("a", "agent:claude-x", "assistant"),
            ("n", "tool:claude-code", "assistant"),
            ("b", "agent:claude-x", "assistant"),
        ]
    );
    assert_eq!(steps(&document)[2]["step"]["parents"], json!(["a"]));
    assert_eq!(steps(&document)[3]["step"]["parents"], json!(["n"]));
    assert_eq!(
        document["paths"][0]["meta"]["actors"]["tool:claude-code"],
        json!({"name": "claude-code", "provider": "claude-code"})
    );
    assert!(run.stderr().contains("s.jsonl:3: written by the harness (api-error-flag)\n"), "{run}");
}

#[test]
fn a_stray_model_on_a_flagged_turn_appears_nowhere() {
    let run = derive(&[prompt("u"), flagged("n", "u", "claude-stray")]);
    assert!(!run.succeeds().contains("claude-stray"), "{run}");
}

#[test]
fn an_ordinary_reply_is_untouched_by_a_notice_beside_it() {
    let alone = derive(&[prompt("u"), reply("a", "u", Some("claude-x"))]).document();
    let beside = derive(&[prompt("u"), reply("a", "u", Some("claude-x")), flagged("n", "a", "m")]).document();
    assert_eq!(steps(&beside)[..2], steps(&alone)[..]);
}

#[test]
fn a_reply_with_no_recorded_model_stays_unknown() {
    let document = derive(&[prompt("u"), reply("a", "u", None)]).document();
    assert_eq!(steps(&document)[1]["step"]["actor"], "agent:unknown");
    assert_eq!(
        document["paths"][0]["meta"]["actors"]["agent:unknown"],
        json!({"name": "unknown", "provider": "claude-code"})
    );
}
