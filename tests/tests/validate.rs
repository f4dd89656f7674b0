//! What `validate` says of documents and streams: each broken one is a valid one with one thing changed.

use serde_json::{Value, json};
use toolpath_tests::{Run, Scratch};

const KIND: &str = "https://toolpath.net/kinds/agent-coding-session/v1.1.0";

/// A valid document: each type there is, each kind of change, a path with steps and a reference to another.
fn document() -> Value {
    let path = json!({
        "path": {"id": "p", "base": {"uri": "file:///srv/demo", "ref": "abc", "branch": "main"}, "head": "t-4", "graph_ref": "g"},
        "steps": [
            {
                "step": {"id": "e-0", "actor": "tool:demo", "timestamp": ""},
                "change": {"k": {"structural": {"type": "conversation.event", "entry_type": "mode", "raw": {"a": 1}}}},
            },
            {
                "step": {"id": "t-1", "parents": ["e-0"], "actor": "human:user", "timestamp": "yesterday"},
                "change": {"k": {"structural": {
                    "type": "conversation.append", "role": "user", "text": "",
                    "environment": {"working_dir": "/srv/demo"},
                }}},
            },
            {
                "step": {"id": "t-2", "parents": ["t-1"], "actor": "agent:demo-1", "timestamp": "2026-05-04T08:15:09Z"},
                "change": {"k": {"structural": {
                    "type": "conversation.append", "role": "assistant", "text": "One.", "group_id": "g-1",
                    "thinking": "Where?", "attributed_token_usage": {"output_tokens": 3},
                }}},
            },
            {
                "step": {"id": "t-3", "parents": ["t-2"], "actor": "agent:demo-1", "timestamp": "2026-05-04T08:15:12Z"},
                "change": {
                    "k": {"structural": {
                        "type": "conversation.append", "role": "assistant", "text": "", "group_id": "g-1",
                        "stop_reason": "tool_use",
                        "token_usage": {
                            "input_tokens": 40, "output_tokens": null, "cache_read_tokens": 12,
                            "breakdowns": {"output": {"reasoning": 7}},
                        },
                        "tool_uses": [{
                            "id": "c-1", "name": "Edit", "input": null, "category": "file_write",
                            "result": {"content": "ok", "is_error": false},
                        }],
                        "delegations": [{"agent_id": "a-1", "prompt": "Look."}],
                    }},
                    "/srv/demo/a.py": {"raw": "-a\n+b\n", "structural": {"type": "file.write", "tool_id": "c-1", "edits": []}},
                    "/srv/demo/b.py": {"raw": "-a\n+b\n"},
                },
                "meta": {"source": {"type": "git", "revision": "abc"}, "further": 1},
            },
            {
                "step": {"id": "t-4", "parents": ["t-3", "t-1"], "actor": "tool:demo", "timestamp": ""},
                "change": {"k": {"structural": {"type": "something.else", "role": 7}}},
            },
        ],
        "meta": {
            "title": "T", "kind": KIND, "source": "demo", "refs": [{"rel": "issue", "href": "https://example.org/1"}],
            "actors": {
                "agent:demo-1": {"name": "demo-1", "provider": "demo", "model": "demo-1"},
                "ci:build": {"identities": [{"system": "s", "id": "i"}], "keys": [{"type": "ssh", "fingerprint": "f"}]},
                "human:user": {"name": "user"},
                "tool:demo": {"name": "demo", "provider": "demo"},
            },
            "signatures": [{"signer": "ci:build", "key": "f", "scope": "ci", "sig": "x"}],
            "files_changed": ["/srv/demo/a.py"], "producer": {"name": "demo"}, "vcs_remote": "https://example.org/r",
        },
    });
    json!({"graph": {"id": "g"}, "paths": [path, {"$ref": "other.path.json"}], "meta": {"title": "G", "kind": 1}})
}

/// The lines of a valid stream that says what the document's path says.
fn stream() -> Vec<Value> {
    let path = document()["paths"][0].take();
    let meta = &path["meta"];
    let mut lines = vec![json!({"PathOpen": {"version": "1", "id": "p", "meta": {"kind": KIND, "title": "old"}}})];
    for (actor, definition) in meta["actors"].as_object().expect("actors") {
        lines.push(json!({"ActorDef": {"actor": actor, "definition": definition}}));
    }
    lines.extend(path["steps"].as_array().expect("steps").iter().map(|step| json!({"Step": step})));
    lines.push(json!({"Signature": {"target": "step:t-3", "signature": meta["signatures"][0]}}));
    lines.push(json!({"Novelty": 7}));
    lines.push(json!({"PathMeta": {"patch": {"title": "T", "producer": {"name": "demo"}}}}));
    lines.push(json!({"Head": {"step_id": "t-1"}}));
    lines.push(json!({"Head": {"step_id": "t-4"}}));
    lines.push(json!({"PathClose": {}}));
    lines
}

// Where the lines of `stream` stand, counted from 0 as a list is.
const FIRST_STEP: usize = 5;
const SIGNATURE: usize = 10;
const PATCH: usize = 12;
const CLOSE: usize = 15;

fn text_of(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn validate(file: &str, content: impl AsRef<[u8]>) -> Run {
    let scratch = Scratch::without_plugins();
    scratch.write(file, content);
    scratch.host(["validate", file])
}

/// Expects exactly these findings, one a line, without the name of the file.
#[track_caller]
fn check(file: &str, content: impl AsRef<[u8]>, expected: &[&str]) {
    let run = validate(file, content);
    let expected: String = expected.iter().map(|finding| format!("{file}{finding}\n")).collect();
    assert_eq!(run.stderr(), expected, "{run}");
    assert_eq!((run.code(), run.stdout().as_str()), (Some(1), ""), "{run}");
}

/// Puts `value` where `pointer` points to; without one, takes away what is there.
fn change(document: &mut Value, pointer: &str, value: Option<Value>) {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let key = key.replace("~1", "/");
    match (document.pointer_mut(parent).expect("something to change"), value) {
        (Value::Object(object), Some(value)) => _ = object.insert(key, value),
        (Value::Object(object), None) => _ = object.remove(&key).expect("something to remove"),
        (Value::Array(list), Some(value)) => list[key.parse::<usize>().expect("an index")] = value,
        (Value::Array(list), None) => _ = list.remove(key.parse().expect("an index")),
        (other, _) => panic!("{pointer} points into {other}"),
    }
}

#[test]
fn a_valid_document_is_counted() {
    let compact = validate("out.path.json", document().to_string());
    assert_eq!(compact.succeeds(), "out.path.json: valid (2 paths, 5 steps)\n");
    let pretty = validate("out", format!("{:#}\n", document()));
    assert_eq!((pretty.succeeds(), pretty.stderr()), ("out: valid (2 paths, 5 steps)\n".to_owned(), String::new()));
    let empty = json!({"graph": {"id": "g"}, "paths": [{"path": {"id": "p", "head": ""}, "steps": []}]});
    assert_eq!(validate("out", empty.to_string()).succeeds(), "out: valid (1 path, 0 steps)\n");
}

#[test]
fn a_valid_stream_is_counted() {
    let whole = validate("out.path.jsonl", text_of(&stream()));
    assert_eq!(whole.succeeds(), "out.path.jsonl: valid (1 path, 5 steps)\n");
    // Told apart by what it holds, and not by its name.
    assert_eq!(validate("out.json", text_of(&stream())).succeeds(), "out.json: valid (1 path, 5 steps)\n");
    let smallest = "{\"PathOpen\":{\"version\":\"1\",\"id\":\"p\"}}\n{\"PathClose\":{}}\n";
    assert_eq!(validate("out", smallest).succeeds(), "out: valid (1 path, 0 steps)\n");
}

#[test]
fn each_broken_rule_of_documents_is_one_sentence() {
    let no = || None;
    let to = |value: Value| Some(value);
    const STEPS: &str = "/paths/0/steps";
    let step = |rest: &str| format!("{STEPS}{rest}");
    let cases: Vec<(String, Option<Value>, &[&str])> = vec![
        // The shape of every document.
        ("/paths".into(), no(), &[": the document must have `paths`"]),
        ("/extra".into(), to(json!(1)), &[": the document must not have `extra`"]),
        ("/graph".into(), to(json!([])), &[": `/graph` must be an object"]),
        ("/graph/title".into(), to(json!("x")), &[": `/graph` must not have `title`"]),
        ("/meta/title".into(), to(json!(7)), &[": `/meta/title` must be a string"]),
        ("/paths/0".into(), to(json!(7)), &[": path 1: the path must be an object"]),
        ("/paths/1/path".into(), to(json!({})), &[": path 2: the path must not have `path`"]),
        ("/paths/1/$ref".into(), to(json!(7)), &[": path 2: `/$ref` must be a string"]),
        ("/paths/0/extra".into(), to(json!(1)), &[": path `p`: the path must not have `extra`"]),
        (
            "/paths/0/steps".into(),
            to(json!({})),
            &[
                ": path `p`: `/steps` must be a list",
                ": path `p`: the entry `agent:demo-1` in `meta.actors` is used by no step",
                ": path `p`: the entry `human:user` in `meta.actors` is used by no step",
                ": path `p`: the entry `tool:demo` in `meta.actors` is used by no step",
                ": path `p`: the head `t-4` is no step of the path",
            ],
        ),
        ("/paths/0/path/id".into(), no(), &[": path 1: `/path` must have `id`"]),
        ("/paths/0/path/head".into(), no(), &[": path `p`: `/path` must have `head`"]),
        ("/paths/0/path/base/uri".into(), no(), &[": path `p`: `/path/base` must have `uri`"]),
        ("/paths/0/path/base/ref".into(), to(Value::Null), &[": path `p`: `/path/base/ref` must be a string"]),
        ("/paths/0/meta/title".into(), to(json!([])), &[": path `p`: `/meta/title` must be a string"]),
        ("/paths/0/meta/refs/0/href".into(), no(), &[": path `p`: `/meta/refs/0` must have `href`"]),
        (step("/1/change"), no(), &[": path `p`, step `t-1`: the step must have `change`"]),
        (step("/1/extra"), to(json!(1)), &[": path `p`, step `t-1`: the step must not have `extra`"]),
        (step("/1/step/timestamp"), to(json!(7)), &[": path `p`, step `t-1`: `/step/timestamp` must be a string"]),
        (step("/1/step/parents"), to(json!("e-0")), &[": path `p`, step `t-1`: `/step/parents` must be a list"]),
        (
            step("/4/step/id"),
            no(),
            &[": path `p`: the head `t-4` is no step of the path", ": path `p`, step 5: `/step` must have `id`"],
        ),
        (step("/1/change/k"), to(json!({})), &[": path `p`, step `t-1`: `/change/k` must have `raw` or `structural`"]),
        (
            step("/1/change/k/structural/type"),
            no(),
            &[": path `p`, step `t-1`: `/change/k/structural` must have `type`"],
        ),
        (
            step("/3/change/~1srv~1demo~1b.py/raw"),
            to(Value::Null),
            &[": path `p`, step `t-3`: `/change/~1srv~1demo~1b.py/raw` must be a string"],
        ),
        (step("/3/meta/source/revision"), no(), &[": path `p`, step `t-3`: `/meta/source` must have `revision`"]),
        // Actors.
        (
            step("/2/step/actor"),
            to(json!("agent:<odd>")),
            &[
                ": path `p`, step `t-2`: `/step/actor` must be an actor like `human:name` or `agent:vendor/model`, not \
             `agent:<odd>`",
                ": path `p`, step `t-2`: the actor `agent:<odd>` has no entry in `meta.actors`",
            ],
        ),
        (
            step("/2/step/actor"),
            to(json!("agent:other")),
            &[": path `p`, step `t-2`: the actor `agent:other` has no entry in `meta.actors`"],
        ),
        (
            "/paths/0/meta/actors/agent:".into(),
            to(json!({})),
            &[
                ": path `p`: `/meta/actors` has the key `agent:`, which must be an actor like `human:name` or \
             `agent:vendor/model`",
                ": path `p`: the entry `agent:` in `meta.actors` is used by no step",
            ],
        ),
        (
            "/paths/0/meta/actors/human:other".into(),
            to(json!({})),
            &[": path `p`: the entry `human:other` in `meta.actors` is used by no step"],
        ),
        (
            "/paths/0/meta/actors/human:user".into(),
            no(),
            &[": path `p`, step `t-1`: the actor `human:user` has no entry in `meta.actors`"],
        ),
        (
            "/paths/0/meta/actors/human:user/nick".into(),
            to(json!("x")),
            &[": path `p`: `/meta/actors/human:user` must not have `nick`"],
        ),
        (
            "/paths/0/meta/actors/tool:demo/model".into(),
            to(json!("demo-1")),
            &[": path `p`: the entry `tool:demo` in `meta.actors` has a model, but is a tool"],
        ),
        (
            "/paths/0/meta/actors/ci:build/keys/0/type".into(),
            to(json!("x509")),
            &[": path `p`: `/meta/actors/ci:build/keys/0/type` must be `gpg`, `ssh` or `sigstore`"],
        ),
        (
            "/paths/0/meta/signatures/0/signer".into(),
            to(json!("build")),
            &[
                ": path `p`: `/meta/signatures/0/signer` must be an actor like `human:name` or `agent:vendor/model`, not \
             `build`",
                ": path `p`: the entry `ci:build` in `meta.actors` is used by no step",
            ],
        ),
        // The kind of a coding session.
        ("/paths/0/meta/producer/name".into(), no(), &[": path `p`: `/meta/producer` must have `name`"]),
        (
            "/paths/0/meta/files_changed/0".into(),
            to(json!(1)),
            &[": path `p`: `/meta/files_changed/0` must be a string"],
        ),
        ("/paths/0/meta/vcs_remote".into(), to(json!({})), &[": path `p`: `/meta/vcs_remote` must be a string"]),
        (
            step("/0/change/k/structural/entry_type"),
            no(),
            &[": path `p`, step `e-0`: `/change/k/structural` must have `entry_type`"],
        ),
        (
            step("/1/change/k/structural/role"),
            to(json!(7)),
            &[": path `p`, step `t-1`: `/change/k/structural/role` must be a string"],
        ),
        (
            step("/1/change/k/structural/text"),
            no(),
            &[": path `p`, step `t-1`: `/change/k/structural` must have `text`"],
        ),
        (
            step("/1/change/k/structural/environment/working_dir"),
            to(Value::Null),
            &[": path `p`, step `t-1`: `/change/k/structural/environment/working_dir` must be a string"],
        ),
        (
            step("/3/change/k/structural/tool_uses/0/category"),
            to(json!("edit")),
            &[
                ": path `p`, step `t-3`: `/change/k/structural/tool_uses/0/category` must be `file_read`, `file_write`, \
             `file_search`, `shell`, `network`, `delegation` or null",
            ],
        ),
        (
            step("/3/change/k/structural/tool_uses/0/input"),
            no(),
            &[": path `p`, step `t-3`: `/change/k/structural/tool_uses/0` must have `input`"],
        ),
        (
            step("/3/change/k/structural/tool_uses/0/result"),
            to(Value::Null),
            &[": path `p`, step `t-3`: `/change/k/structural/tool_uses/0/result` must be an object"],
        ),
        (
            step("/3/change/k/structural/token_usage/output_tokens"),
            no(),
            &[": path `p`, step `t-3`: `/change/k/structural/token_usage` must have `output_tokens`"],
        ),
        (
            step("/3/change/k/structural/token_usage/input_tokens"),
            to(json!(1.5)),
            &[": path `p`, step `t-3`: `/change/k/structural/token_usage/input_tokens` must be null or an integer"],
        ),
        (
            step("/3/change/k/structural/token_usage/cache_read_tokens"),
            to(Value::Null),
            &[": path `p`, step `t-3`: `/change/k/structural/token_usage/cache_read_tokens` must be an integer"],
        ),
        (
            step("/3/change/k/structural/token_usage/breakdowns/output"),
            to(json!(7)),
            &[": path `p`, step `t-3`: `/change/k/structural/token_usage/breakdowns/output` must be an object"],
        ),
        (
            step("/3/change/k/structural/delegations/0/prompt"),
            no(),
            &[": path `p`, step `t-3`: `/change/k/structural/delegations/0` must have `prompt`"],
        ),
        (
            step("/3/change/~1srv~1demo~1a.py/structural/after"),
            to(json!([])),
            &[": path `p`, step `t-3`: `/change/~1srv~1demo~1a.py/structural/after` must be a string"],
        ),
        // What steps have to do with each other.
        (
            step("/3/step/id"),
            to(json!("t-1")),
            &[
                ": path `p`, step `t-1`: the id is that of an earlier step, too",
                ": path `p`, step `t-4`: the parent `t-3` is no step before it",
            ],
        ),
        (
            step("/3/step/parents/0"),
            to(json!("t-9")),
            &[": path `p`, step `t-3`: the parent `t-9` is no step before it"],
        ),
        (
            step("/1/step/parents/0"),
            to(json!("t-4")),
            &[": path `p`, step `t-1`: the parent `t-4` is no step before it"],
        ),
        (step("/1/step/parents/0"), to(json!("t-1")), &[": path `p`, step `t-1`: the step is its own parent"]),
        ("/paths/0/path/head".into(), to(json!("t-9")), &[": path `p`: the head `t-9` is no step of the path"]),
        ("/paths/0/path/head".into(), to(json!("")), &[": path `p`: the head is empty, but there are steps"]),
        (
            step("/2/change/k/structural/token_usage"),
            to(json!({"input_tokens": 1, "output_tokens": 1})),
            &[": path `p`, step `t-2`: has `token_usage`, but is not the last step of its group `g-1`"],
        ),
    ];
    let scratch = Scratch::without_plugins();
    for (pointer, value, expected) in cases {
        let mut broken = document();
        change(&mut broken, &pointer, value);
        scratch.write("out.json", broken.to_string());
        let run = scratch.host(["validate", "out.json"]);
        let expected: String = expected.iter().map(|finding| format!("out.json{finding}\n")).collect();
        assert_eq!(run.stderr(), expected, "{pointer}: {run}");
        assert_eq!((run.code(), run.stdout().as_str()), (Some(1), ""), "{pointer}: {run}");
    }
}

#[test]
fn a_path_of_another_kind_is_a_plain_path() {
    for kind in [json!("https://toolpath.net/kinds/agent-coding-session/v1.0.0"), json!("x")] {
        let mut plain = document();
        plain["paths"][0]["meta"]["kind"] = kind;
        change(&mut plain, "/paths/0/steps/1/change/k/structural/text", None);
        change(&mut plain, "/paths/0/meta/actors", None);
        validate("out.json", plain.to_string()).succeeds();
    }
    let mut plain = document();
    change(&mut plain, "/paths/0/meta", None);
    change(&mut plain, "/paths/0/steps/1/step/parents/0", Some(json!("t-9")));
    check("out.json", plain.to_string(), &[": path `p`, step `t-1`: the parent `t-9` is no step before it"]);
}

#[test]
fn what_is_no_json_is_told_with_line_and_column() {
    check("out.json", "", &[": is empty; there is no document in it"]);
    check("out.json", " \n", &[": is empty; there is no document in it"]);
    check("out.json", "{\"graph\":\n  {\"id\" 7}}", &[":2:9: is no JSON: expected `:`"]);
    check("out.json", "{\"graph\":{}", &[":1:11: is no JSON: it ends inside a value"]);
    check("out.json", "{\"graph\":\n", &[":2:1: is no JSON: it ends inside a value"]);
    check("out.json", "{}\n{}\n", &[":2:1: is no JSON: trailing characters"]);
    check("out.json", b"{\"graph\":\"\xff\"}", &[":1:11: is no JSON: invalid unicode code point"]);
    check("out.json", "[".repeat(500), &[":1:128: is nested deeper than this validator reads (128 levels)"]);
    check("out.json", "[]", &[": the document must be an object"]);
}

#[test]
fn texts_of_a_document_neither_break_lines_nor_fill_the_screen() {
    let mut broken = document();
    change(&mut broken, "/paths/0/path/head", Some(json!(format!("a\n\u{1b}[31m{}", "x".repeat(1000)))));
    let head = format!("a  [31m{}…", "x".repeat(113));
    check("out.json", broken.to_string(), &[&format!(": path `p`: the head `{head}` is no step of the path")]);
}

#[test]
fn the_first_hundred_findings_are_told_in_order_and_the_rest_counted() {
    let step =
        |number: usize| json!({"step": {"id": format!("s{number}"), "actor": "x", "timestamp": ""}, "change": {}});
    let steps: Vec<Value> = (0..250).map(step).collect();
    let document = json!({"graph": {"id": "g"}, "paths": [{"path": {"id": "p", "head": "s0"}, "steps": steps}]});
    let run = validate("out.json", document.to_string());
    run.exits(1);
    let told = run.stderr();
    let told: Vec<&str> = told.lines().collect();
    assert_eq!(told.len(), 101);
    assert!(told[0].starts_with("out.json: path `p`, step `s0`: `/step/actor` must be an actor"), "{run}");
    assert!(told[99].starts_with("out.json: path `p`, step `s99`: `/step/actor` must be an actor"), "{run}");
    assert_eq!(told[100], "out.json: 150 more findings");
}

#[test]
fn each_broken_rule_of_streams_is_one_sentence_with_its_line() {
    type Change = fn(&mut Vec<Value>);
    let cases: &[(Change, &[&str])] = &[
        (|s| _ = s.remove(0), &[":1: the first line must be `PathOpen`, not `ActorDef`"]),
        (
            |s| s.swap(0, 1),
            &[":1: the first line must be `PathOpen`, not `ActorDef`", ":2: `PathOpen` must be the first line"],
        ),
        (|s| s.insert(2, s[0].clone()), &[":3: is a second `PathOpen`; a stream holds one path"]),
        (|s| s.push(json!({"Novelty": 1})), &[":17: stands after `PathClose`, which must be the last line"]),
        (|s| s.extend([s[0].clone(), json!(7)]), &[":17: stands after `PathClose`, which must be the last line"]),
        (|s| _ = s.pop(), &[": is incomplete; it ends without `PathClose`"]),
        (|s| s.truncate(FIRST_STEP + 5), &[": is incomplete; it ends without `PathClose`"]),
        (|s| s[0]["PathOpen"]["version"] = json!("2"), &[":1: `/PathOpen/version` must be `1`"]),
        (|s| s[0]["PathOpen"]["version"] = json!(1), &[":1: `/PathOpen/version` must be `1`"]),
        (|s| s[0]["PathOpen"]["id"] = json!(7), &[":1: `/PathOpen/id` must be a string"]),
        (|s| s[0]["PathOpen"]["base"] = json!({}), &[":1: `/PathOpen/base` must have `uri`"]),
        (|s| s[0]["PathOpen"]["meta"]["actors"] = json!({}), &[":1: `/PathOpen/meta/actors` must not be there"]),
        (|s| s[0]["more"] = json!(1), &[":1: must be an object with one key, the line's kind"]),
        (|s| s[SIGNATURE + 1] = json!({}), &[":12: must be an object with one key, the line's kind"]),
        (|s| s[SIGNATURE + 1] = json!([]), &[":12: must be an object with one key, the line's kind"]),
        (
            |s| s[1]["ActorDef"]["actor"] = json!("agent:"),
            &[
                ":2: `/ActorDef/actor` must be an actor like `human:name` or `agent:vendor/model`, not `agent:`",
                ":8: path `p`, step `t-2`: the actor `agent:demo-1` has no entry in `meta.actors`",
                ": path `p`: the entry `agent:` in `meta.actors` is used by no step",
            ],
        ),
        (|s| s[1] = json!({"ActorDef": {"actor": "agent:demo-1"}}), &[":2: `/ActorDef` must have `definition`"]),
        (
            |s| s[4]["ActorDef"]["definition"]["model"] = json!("m"),
            &[": path `p`: the entry `tool:demo` in `meta.actors` has a model, but is a tool"],
        ),
        (|s| s[PATCH] = json!({"PathMeta": {}}), &[":13: `/PathMeta` must have `patch`"]),
        (|s| s[PATCH]["PathMeta"]["patch"]["title"] = json!(1), &[":13: `/PathMeta/patch/title` must be a string"]),
        (|s| s[PATCH]["PathMeta"]["patch"]["producer"] = json!({}), &[": path `p`: `/meta/producer` must have `name`"]),
        (|s| s[FIRST_STEP + 3..=SIGNATURE].rotate_right(1), &[":9: signs the step `t-3`, which is none before it"]),
        (
            |s| s[SIGNATURE]["Signature"]["target"] = json!("graph"),
            &[":11: `/Signature/target` must be `path` or `step:` and a step's id, not `graph`"],
        ),
        (
            |s| s[SIGNATURE]["Signature"]["signature"]["sig"] = json!(1),
            &[":11: `/Signature/signature/sig` must be a string"],
        ),
        (|s| s[CLOSE - 1] = json!({"Head": {}}), &[":15: `/Head` must have `step_id`"]),
        (
            |s| s[CLOSE - 1] = json!({"Head": {"step_id": "t-9"}}),
            &[": path `p`: the head `t-9` is no step of the path"],
        ),
        (|s| s[CLOSE] = json!({"PathClose": null}), &[":16: `/PathClose` must be an object"]),
        (
            |s| {
                s[FIRST_STEP + 4]["Step"]["step"]["parents"] = json!(["t-1"]);
                s.drain(CLOSE - 2..CLOSE);
            },
            &[": path `p`: there is no `Head`, and 2 steps are no step's parent"],
        ),
        (|s| s[FIRST_STEP]["Step"]["change"] = json!(1), &[":6: path `p`, step `e-0`: `/change` must be an object"]),
        (
            |s| s[FIRST_STEP]["Step"] = json!(1),
            &[
                ":6: path `p`, step 1: the step must be an object",
                ":7: path `p`, step `t-1`: the parent `e-0` is no step before it",
            ],
        ),
        (
            |s| s[FIRST_STEP + 1]["Step"]["change"]["k"]["structural"]["role"] = json!(1),
            &[":7: path `p`, step `t-1`: `/change/k/structural/role` must be a string"],
        ),
        (
            |s| s[FIRST_STEP + 1]["Step"]["step"]["parents"] = json!(["t-4"]),
            &[":7: path `p`, step `t-1`: the parent `t-4` is no step before it"],
        ),
        (
            |s| s[FIRST_STEP + 2]["Step"]["change"]["k"]["structural"]["token_usage"] = json!({}),
            &[
                ":8: path `p`, step `t-2`: `/change/k/structural/token_usage` must have `input_tokens`",
                ":8: path `p`, step `t-2`: `/change/k/structural/token_usage` must have `output_tokens`",
                ":8: path `p`, step `t-2`: has `token_usage`, but is not the last step of its group `g-1`",
            ],
        ),
    ];
    for (change, expected) in cases {
        let mut lines = stream();
        change(&mut lines);
        check("out.jsonl", text_of(&lines), expected);
    }
}

#[test]
fn a_stream_without_a_head_ends_in_its_only_tip() {
    let mut lines = stream();
    lines.drain(CLOSE - 2..CLOSE);
    validate("out.jsonl", text_of(&lines)).succeeds();
}

#[test]
fn lines_that_are_none_are_told() {
    let text = text_of(&stream());
    let lines: Vec<&str> = text.lines().collect();
    check("out.jsonl", text.replacen('\n', "\n\n", 1), &[":2: is a blank line"]);
    check("out.jsonl", text.trim_end(), &[":16: must end with a line feed"]);
    check("out.jsonl", text.replacen("{\"Novelty\":7}", "{\"Novelty\":}", 1), &[":12:12: is no JSON: expected value"]);
    let cut = format!("{}\n{}\n{{\"Step\":{{\"st", lines[0], lines[4]);
    check(
        "out.jsonl",
        cut,
        &[":3:12: is no JSON: it ends inside a value", ": is incomplete; it ends without `PathClose`"],
    );
}

#[test]
fn of_several_files_the_worst_wins() {
    let scratch = Scratch::without_plugins();
    scratch.write("good.json", document().to_string());
    scratch.write("stream.jsonl", text_of(&stream()));
    scratch.write("bad.json", "[]");
    let run = scratch.host(["validate", "good.json", "bad.json", "gone.json", "plugins", "stream.jsonl"]);
    run.exits(1);
    assert_eq!(run.stdout(), "good.json: valid (2 paths, 5 steps)\nstream.jsonl: valid (1 path, 5 steps)\n");
    let told = [
        "bad.json: the document must be an object",
        "gone.json: there is no such file; check the path",
        "plugins: is a folder; name a document's file",
    ];
    assert_eq!(run.stderr().lines().collect::<Vec<_>>(), told, "{run}");
    assert_eq!(scratch.host(["validate", "good.json", "stream.jsonl"]).succeeds().lines().count(), 2);
    scratch.host(["validate"]).exits(2);
}

#[test]
fn a_document_comes_from_standard_input_too() {
    let scratch = Scratch::without_plugins();
    let run = scratch.host_reading(["validate", "-"], document().to_string());
    assert_eq!(run.succeeds(), "-: valid (2 paths, 5 steps)\n");
    let run = scratch.host_reading(["validate", "-"], "");
    assert_eq!((run.code(), run.stderr().as_str()), (Some(1), "-: is empty; there is no document in it\n"), "{run}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_closed_pipe_is_no_fault_and_a_full_disk_is_one() {
    use std::fs::OpenOptions;
    use std::process::Stdio;
    let scratch = Scratch::without_plugins();
    scratch.write("good.json", document().to_string());
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let run = scratch.host_with(["validate", "good.json"], |command| _ = command.stdout(Stdio::from(writer)));
    assert_eq!((run.code(), run.stderr().as_str()), (Some(0), ""), "{run}");
    let full = OpenOptions::new().write(true).open("/dev/full").expect("the full device");
    let run = scratch.host_with(["validate", "good.json"], |command| _ = command.stdout(Stdio::from(full)));
    let told = "cannot write standard output: No space left on device (os error 28)\n";
    assert_eq!((run.code(), run.stderr().as_str()), (Some(1), told), "{run}");
}
