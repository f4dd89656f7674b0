//! The rules of deriving, one test each, from turns and events in wire form to steps.

use serde_json::{Value, json};

use crate::derive::{Detail, Form};
use crate::document::{self, Choices};
use crate::intake::{Balance, Ended, Intake, Reading};
use crate::json::Json;
use crate::record::{Branch, Disposition, EventRecord, Origin, ResultRecord, SessionFacts, SkipRecord, TurnRecord};
use crate::report::Report;
use crate::turn::{ToolResult, Turn};
use crate::words::Words;

/// What a plugin tells, in wire form.
enum Tell {
    Turn(Value),
    /// Usage is a snapshot, and without a parent the turn follows the one before it.
    Line(Value),
    /// A turn of the branch that a call started.
    Branch(Option<&'static str>, Value),
    Event(Value),
    Result(&'static str, &'static str, bool),
    Skip(&'static str, Option<&'static str>),
}
use Tell::{Branch as InBranch, Event, Line, Result as Answer, Skip, Turn as Said};

const WHOLE: Detail = Detail { thinking: true, tools: true };

/// Fills in what the wire form requires and a test does not care about.
fn whole_turn(turn: &Value) -> Turn<'static> {
    let mut whole = json!({"id": "", "role": "User", "timestamp": "", "text": "", "tool_uses": []});
    for (key, value) in turn.as_object().expect("an object") {
        whole[key] = value.clone();
    }
    serde_json::from_value::<Turn<'_>>(whole).expect("a turn in wire form").into_owned()
}

pub(super) fn turn_record(turn: &Value) -> TurnRecord<'static> {
    TurnRecord {
        turn: whole_turn(turn),
        usage_is_snapshot: false,
        parent_or_previous: false,
        branch: None,
        signal: None,
        needs_result: Vec::new(),
        partial: Vec::new(),
        part_of_record: false,
        origin: Origin::default(),
    }
}

pub(super) fn event_record(event: &Value) -> EventRecord<'static> {
    let text = |key: &str| event[key].as_str().unwrap_or_default().to_owned();
    EventRecord {
        id: text("id").into(),
        timestamp: text("timestamp").into(),
        event_type: text("event_type").into(),
        parent_id: event["parent_id"].as_str().map(|id| id.to_owned().into()),
        data: event.get("data").map(Json::of),
        unreadable: false,
        branch: None,
        part_of_record: false,
        origin: Origin::default(),
    }
}

fn tell(reading: &mut Reading<'_>, told: &Tell) {
    match told {
        Said(turn) => reading.turn(turn_record(turn)),
        Line(turn) => {
            reading.turn(TurnRecord { usage_is_snapshot: true, parent_or_previous: true, ..turn_record(turn) })
        }
        InBranch(call, turn) => {
            let branch = Branch { call: call.map(str::to_owned), agent: "helper".to_owned() };
            reading.turn(TurnRecord { branch: Some(branch), ..turn_record(turn) })
        }
        Event(event) => reading.event(event_record(event)),
        Answer(call, content, is_error) => reading.tool_result(ResultRecord {
            call_id: (*call).into(),
            result: ToolResult { content: Words::of(*content), is_error: *is_error },
            file_mutations: Vec::new(),
            partial: Vec::new(),
            delegations: Vec::new(),
            timestamp: "".into(),
            part_of_record: false,
            origin: Origin::default(),
        }),
        Skip(id, parent) => reading.skip(SkipRecord {
            disposition: Disposition::Folded,
            id: Some((*id).into()),
            parent_id: parent.map(Into::into),
            origin: Origin::default(),
        }),
    };
}

/// Derives the document of session `9d41c7b0-demo` of provider `demo`.
#[track_caller]
fn derive_with(facts: SessionFacts, choices: &Choices, told: &[Tell]) -> (Value, Balance) {
    let mut report = Report::new("test", false);
    let mut reading = Reading::new("test", "demo", "demo", Form::Document, WHOLE, &mut report);
    reading.session(SessionFacts { id: "9d41c7b0-demo".to_owned(), ..facts });
    for record in told {
        tell(&mut reading, record);
    }
    let conversation = reading.finish(Ended::Done(told.len() as u64)).expect("a whole session");
    let balance = conversation.balance;
    let mut text = Vec::new();
    document::write(conversation, choices, &mut text).expect("writing to memory");
    (serde_json::from_slice(&text).expect("JSON"), balance)
}

#[track_caller]
fn derive(told: &[Tell]) -> Value {
    derive_with(SessionFacts::default(), &Choices::default(), told).0["paths"][0].take()
}

/// The steps' shape: `id actor <- parents`, and the head last.
#[track_caller]
fn check(told: &[Tell], expected: &[&str]) {
    let path = derive(told);
    let mut shape: Vec<String> = steps(&path)
        .iter()
        .map(|step| {
            let step = &step["step"];
            let parents: Vec<&str> =
                step["parents"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let after = if parents.is_empty() { String::new() } else { format!(" <- {}", parents.join(" ")) };
            format!("{} {}{after}", text(&step["id"]), text(&step["actor"]))
        })
        .collect();
    shape.push(format!("head {}", text(&path["path"]["head"])));
    assert_eq!(shape, expected);
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

fn steps(path: &Value) -> &[Value] {
    path["steps"].as_array().expect("a list")
}

/// The conversation change of a step.
fn message(step: &Value) -> &Value {
    &step["change"]["demo://9d41c7b0-demo"]["structural"]
}

fn user(id: &str) -> Value {
    json!({"id": id, "text": id})
}

fn reply(id: &str, parent: &str) -> Value {
    json!({"id": id, "parent_id": parent, "role": "Assistant", "model": "m", "text": id})
}

fn edit(id: &str, call: &str, old: &str, new: &str) -> Value {
    json!({"id": id, "name": "Edit", "category": "file_write",
        "input": {"file_path": "/srv/a.txt", "old_string": old, "new_string": new},
        "result": {"content": call, "is_error": false}})
}

#[test]
fn a_session_without_records_is_an_empty_path() {
    check(&[], &["head "]);
    assert_eq!(
        derive(&[]),
        json!({"path": {"id": "path-demo-9d41c7b0", "head": ""}, "steps": [], "meta": {
            "title": "demo session: 9d41c7b0", "kind": document::KIND, "source": "demo"}})
    );
}

#[test]
fn turns_without_an_id_are_numbered() {
    check(
        &[Said(user("")), Said(user("")), Event(json!({"event_type": "x"})), Event(json!({"event_type": "x"}))],
        &[
            "step-0001 human:user",
            "step-0002 human:user",
            "event-0001 tool:demo <- step-0002",
            "event-0002 tool:demo <- event-0001",
            "head event-0002",
        ],
    );
}

#[test]
fn a_parent_is_an_earlier_turn_or_none() {
    check(
        &[Said(reply("a", "b")), Said(reply("b", "a")), Said(reply("c", "c")), Said(reply("d", "nobody"))],
        &["a agent:m", "b agent:m <- a", "c agent:m", "d agent:m", "head d"],
    );
}

#[test]
fn an_unknown_parent_leads_to_the_turn_before_where_the_provider_says_so() {
    check(
        &[Line(user("a")), Line(reply("b", "gone")), Line(json!({"id": "c"}))],
        &["a human:user", "b agent:m <- a", "c human:user <- b", "head c"],
    );
}

#[test]
fn the_first_turn_hangs_on_the_events_before_it() {
    check(
        &[
            Event(json!({"id": "e1", "event_type": "x"})),
            Event(json!({"id": "e2", "event_type": "x"})),
            Said(user("a")),
            Said(user("b")),
        ],
        &["e1 tool:demo", "e2 tool:demo <- e1", "a human:user <- e2", "b human:user", "head b"],
    );
}

#[test]
fn events_lengthen_the_line_they_stand_on() {
    check(
        &[
            Said(user("a")),
            Event(json!({"id": "e1", "parent_id": "a", "event_type": "x"})),
            Event(json!({"id": "e2", "parent_id": "a", "event_type": "x"})),
            Event(json!({"id": "e3", "parent_id": "e1", "event_type": "x"})),
            Said(reply("b", "a")),
        ],
        &["a human:user", "e1 tool:demo <- a", "e2 tool:demo <- e1", "e3 tool:demo <- e2", "b agent:m <- e3", "head b"],
    );
}

#[test]
fn an_event_on_an_early_turn_stays_off_the_main_line() {
    check(
        &[
            Said(user("a")),
            Said(reply("b", "a")),
            Event(json!({"id": "e", "parent_id": "a", "event_type": "x"})),
            Event(json!({"id": "f", "parent_id": "gone", "event_type": "x"})),
        ],
        &["a human:user", "b agent:m <- a", "e tool:demo <- a", "f tool:demo <- b", "head f"],
    );
}

#[test]
fn a_turn_may_name_an_event_or_a_skipped_record_as_its_parent() {
    check(
        &[
            Said(user("a")),
            Event(json!({"id": "e", "parent_id": "a", "event_type": "x"})),
            Skip("p", Some("a")),
            Skip("q", Some("p")),
            Said(reply("b", "e")),
            Said(reply("c", "q")),
        ],
        &["a human:user", "e tool:demo <- a", "b agent:m <- e", "c agent:m <- e", "head c"],
    );
}

#[test]
fn a_record_that_repeats_the_first_of_its_id_is_no_step() {
    let told = [Said(user("a")), Said(user("a")), Said(reply("b", "a")), Event(json!({"id": "e", "event_type": "x"}))];
    let again = [Event(json!({"id": "e", "event_type": "x"})), Said(reply("b", "a"))];
    let told: Vec<Tell> = told.into_iter().chain(again).collect();
    check(&told, &["a human:user", "b agent:m <- a", "e tool:demo <- b", "head e"]);
    let (_, balance) = derive_with(SessionFacts::default(), &Choices::default(), &told);
    assert_eq!(balance, Balance { turns: 2, folded: 0, events: 1, duplicates: 3, unreadable: 0 });
}

#[test]
fn a_grouped_turn_with_usage_twice_in_a_row_is_one_step_with_the_usage() {
    let turn = json!({"id": "h", "role": "Assistant", "group_id": "g", "token_usage": {"output_tokens": 5}});
    let path = derive(&[Said(turn.clone()), Said(turn)]);
    assert_eq!(steps(&path).len(), 1);
    assert_eq!(message(&steps(&path)[0])["token_usage"], json!({"input_tokens": null, "output_tokens": 5}));
}

#[test]
fn an_id_used_for_something_else_is_numbered_and_the_latest_counts() {
    check(
        &[Said(user("x")), Said(json!({"id": "x", "text": "other"})), Said(reply("y", "x"))],
        &["x human:user", "x#2 human:user", "y agent:m <- x#2", "head y"],
    );
}

#[test]
fn usage_stands_on_the_last_turn_of_each_group() {
    let turn = |id: &str, group: &str, output: u64| {
        Said(json!({"id": id, "role": "Assistant", "group_id": group, "token_usage": {"output_tokens": output}}))
    };
    let path = derive(&[turn("a", "g", 1), turn("b", "g", 2), turn("c", "h", 3)]);
    let output: Vec<_> =
        steps(&path).iter().map(|step| message(step)["token_usage"]["output_tokens"].as_u64()).collect();
    assert_eq!(output, [None, Some(2), Some(3)]);
}

#[test]
fn counts_beyond_32_bits_are_kept() {
    let usage = json!({"input_tokens": u64::MAX, "output_tokens": null, "cache_read_tokens": 5_000_000_000_u64});
    let path = derive(&[Said(json!({"id": "a", "role": "Assistant", "token_usage": usage}))]);
    assert_eq!(message(&steps(&path)[0])["token_usage"], usage);
}

#[test]
fn an_assistant_without_a_model_is_unknown_and_has_no_model() {
    let path = derive(&[Said(json!({"id": "a", "role": "Assistant"}))]);
    assert_eq!(path["meta"]["actors"], json!({"agent:unknown": {"name": "unknown", "provider": "demo"}}));
}

#[test]
fn a_harness_notice_between_two_replies_is_the_harness_and_keeps_role_and_place() {
    let notice = json!({"id": "n", "parent_id": "b", "role": "Assistant", "model": "stray", "text": "API Error",
        "group_id": "g", "stop_reason": "stop_sequence", "token_usage": {"input_tokens": 0, "output_tokens": 0},
        "harness_generated": true});
    let told = || vec![Said(user("a")), Said(reply("b", "a")), Said(notice.clone()), Said(reply("c", "n"))];
    check(&told(), &["a human:user", "b agent:m <- a", "n tool:demo <- b", "c agent:m <- n", "head c"]);
    let path = derive(&told());
    assert_eq!(
        *message(&steps(&path)[2]),
        json!({"type": "conversation.append", "group_id": "g", "role": "assistant", "stop_reason": "stop_sequence",
            "text": "API Error", "token_usage": {"input_tokens": 0, "output_tokens": 0}})
    );
    assert_eq!(path["meta"]["actors"]["tool:demo"], json!({"name": "demo", "provider": "demo"}));
    assert!(!path.to_string().contains("stray"));
}

#[test]
fn only_harness_turns_leave_no_agent() {
    let path = derive(&[Said(json!({"id": "n", "role": "Assistant", "harness_generated": true}))]);
    let actors: Vec<&String> = path["meta"]["actors"].as_object().expect("actors").keys().collect();
    assert_eq!(actors, ["tool:demo"]);
}

#[test]
fn harness_words_in_the_users_place_are_not_the_humans() {
    let path = derive(&[Said(json!({"id": "n", "harness_generated": true}))]);
    assert_eq!(steps(&path)[0]["step"]["actor"], "tool:demo");
    assert_eq!(message(&steps(&path)[0])["role"], "user");
}

#[test]
fn system_and_other_turns_are_the_harness() {
    let path = derive(&[Said(json!({"role": "System"})), Said(json!({"role": {"Other": "tool"}, "model": "m"}))]);
    let who: Vec<_> =
        steps(&path).iter().map(|step| (text(&step["step"]["actor"]), text(&message(step)["role"]))).collect();
    assert_eq!(who, [("tool:demo", "system"), ("tool:demo", "tool")]);
    assert_eq!(path["meta"]["actors"], json!({"tool:demo": {"name": "demo", "provider": "demo"}}));
}

#[test]
fn results_are_paired_with_their_calls_however_late() {
    let call = |id: &str| json!({"id": id, "name": "Read", "input": {"b": 1, "a": 2}, "category": "file_read"});
    let mut asks = reply("a", "");
    asks["tool_uses"] = json!([call("c1"), call("c2"), call("c3")]);
    let path = derive(&[
        Said(asks),
        Said(user("b")),
        Answer("c2", "two", false),
        Said(user("c")),
        Answer("c1", "one", true),
        Answer("c1", "one", true),
    ]);
    assert_eq!(
        message(&steps(&path)[0])["tool_uses"],
        json!([
            {"category": "file_read", "id": "c1", "input": {"a": 2, "b": 1}, "name": "Read",
                "result": {"content": "one", "is_error": true}},
            {"category": "file_read", "id": "c2", "input": {"a": 2, "b": 1}, "name": "Read",
                "result": {"content": "two", "is_error": false}},
            {"category": "file_read", "id": "c3", "input": {"a": 2, "b": 1}, "name": "Read"},
        ])
    );
}

#[test]
fn a_result_for_a_call_that_nobody_made_is_an_event() {
    let path = derive(&[Said(user("a")), Answer("gone", "lost", false)]);
    assert_eq!(
        *message(&steps(&path)[1]),
        json!({"type": "conversation.event", "entry_type": "tool-result", "tool_use_id": "gone", "content": "lost",
            "is_error": false})
    );
}

#[test]
fn a_second_result_that_differs_is_kept_as_an_event() {
    let mut asks = reply("a", "");
    asks["tool_uses"] = json!([{"id": "c", "name": "X", "input": null}]);
    let told = [Said(asks), Answer("c", "one", false), Answer("c", "two", false), Answer("c", "one", false)];
    let (document, balance) = derive_with(SessionFacts::default(), &Choices::default(), &told);
    assert_eq!(balance, Balance { turns: 1, folded: 1, events: 1, duplicates: 1, unreadable: 0 });
    assert_eq!(message(&document["paths"][0]["steps"][1])["content"], "two");
}

#[test]
fn a_write_without_a_report_is_told_from_the_calls_input_and_is_partial() {
    let mut asks = reply("a", "");
    asks["tool_uses"] = json!([edit("c", "ok", "x = 1\n", "x = 2\n")]);
    let path = derive(&[Said(asks)]);
    assert_eq!(
        steps(&path)[0]["change"]["/srv/a.txt"],
        json!({"raw": "--- a/srv/a.txt\n+++ b/srv/a.txt\n@@ -1 +1 @@\n-x = 1\n+x = 2\n", "structural": {
            "type": "file.write", "after": "x = 2\n", "before": "x = 1\n", "partial": true, "tool": "Edit",
            "tool_id": "c"}})
    );
    assert_eq!(path["meta"]["files_changed"], json!(["/srv/a.txt"]));
}

#[test]
fn a_reported_write_stands_as_it_is() {
    let mut asks = reply("a", "");
    asks["tool_uses"] = json!([edit("c", "ok", "x", "y")]);
    asks["file_mutations"] = json!([{"path": "/srv/a.txt", "tool_id": "c", "operation": "update", "raw_diff": "D"}]);
    let path = derive(&[Said(asks)]);
    assert_eq!(
        steps(&path)[0]["change"]["/srv/a.txt"],
        json!({"raw": "D", "structural": {"type": "file.write", "operation": "update", "tool": "Edit", "tool_id": "c"}})
    );
}

#[test]
fn a_report_covers_all_calls_that_share_its_id() {
    let mut asks = reply("a", "");
    asks["tool_uses"] = json!([edit("c", "ok", "x", "y"), edit("c", "ok", "y", "z")]);
    asks["file_mutations"] = json!([{"path": "/srv/a.txt", "tool_id": "c", "raw_diff": "D"}]);
    assert_eq!(steps(&derive(&[Said(asks)]))[0]["change"]["/srv/a.txt"]["raw"], "D");
}

#[test]
fn a_failed_edit_is_not_a_write() {
    let mut asks = reply("a", "");
    let mut failed = edit("c", "no such text", "x", "y");
    failed["result"]["is_error"] = json!(true);
    asks["tool_uses"] = json!([failed]);
    let path = derive(&[Said(asks.clone())]);
    assert_eq!(steps(&path)[0]["change"].as_object().expect("changes").len(), 1);
    asks["file_mutations"] = json!([{"path": "/srv/a.txt", "tool_id": "c", "raw_diff": "D"}]);
    assert_eq!(steps(&derive(&[Said(asks)]))[0]["change"].as_object().expect("changes").len(), 1);
}

#[test]
fn two_writes_to_one_file_in_one_turn_are_both_kept() {
    let mut asks = reply("a", "");
    asks["tool_uses"] = json!([edit("c1", "ok", "1\n", "2\n"), edit("c2", "ok", "2\n", "3\n")]);
    let path = derive(&[Said(asks)]);
    let head = "--- a/srv/a.txt\n+++ b/srv/a.txt\n@@ -1 +1 @@\n";
    let one = |id: &str, before: &str, after: &str| json!({"after": after, "before": before, "partial": true, "tool": "Edit", "tool_id": id});
    assert_eq!(
        steps(&path)[0]["change"]["/srv/a.txt"],
        json!({"raw": format!("# edit 1/2\n{head}-1\n+2\n\n# edit 2/2\n{head}-2\n+3\n"), "structural": {
            "type": "file.write", "after": "3\n", "before": "1\n", "partial": true,
            "edits": [one("c1", "1\n", "2\n"), one("c2", "2\n", "3\n")]}})
    );
}

#[test]
fn a_list_of_edits_is_one_change_with_a_counted_diff_each() {
    let mut asks = reply("a", "");
    let edits = json!([{"old_string": "1\n", "new_string": "2\n"}, {"new_string": "3\n"}]);
    asks["tool_uses"] = json!([{"id": "c", "name": "MultiEdit", "category": "file_write",
        "input": {"path": "b.txt", "edits": edits}, "result": {"content": "", "is_error": false}}]);
    let head = "--- a/b.txt\n+++ b/b.txt\n";
    assert_eq!(
        steps(&derive(&[Said(asks)]))[0]["change"]["b.txt"],
        json!({"raw": format!("# edit 1/2\n{head}@@ -1 +1 @@\n-1\n+2\n\n# edit 2/2\n{head}@@ -0,0 +1 @@\n+3\n"),
            "structural": {"type": "file.write", "edits": edits, "partial": true, "tool": "MultiEdit", "tool_id": "c"}})
    );
}

#[test]
fn a_file_with_the_name_of_the_conversation_does_not_replace_it() {
    let key = "demo://9d41c7b0-demo";
    let mut asks = reply("a", "");
    asks["file_mutations"] = json!([{"path": key}]);
    let path = derive(&[Said(asks)]);
    assert_eq!(message(&steps(&path)[0])["type"], "conversation.append");
    assert_eq!(steps(&path)[0]["change"][format!("./{key}")]["structural"]["type"], "file.write");
}

#[test]
fn an_events_kind_and_id_win_over_data_of_the_same_name() {
    let data = json!({"type": "notice", "entry_type": "mine", "event_source_id": "mine", "version": "2"});
    let path = derive(&[Event(json!({"id": "e", "event_type": "system", "timestamp": "yesterday", "data": data}))]);
    assert_eq!(steps(&path)[0]["step"]["timestamp"], "yesterday");
    assert_eq!(
        *message(&steps(&path)[0]),
        json!({"type": "conversation.event", "entry_type": "system", "event_data_type": "notice",
            "event_source_id": "e", "version": "2"})
    );
}

#[test]
fn a_branch_starts_at_its_call_and_is_taken_up_after_the_result() {
    let mut asks = reply("a", "");
    asks["tool_uses"] = json!([{"id": "task", "name": "Task", "input": {}, "category": "delegation"}]);
    check(
        &[
            Said(asks),
            InBranch(Some("task"), user("p")),
            InBranch(Some("task"), json!({"id": "q", "parent_id": "p", "role": "Assistant", "model": "small"})),
            Answer("task", "done", false),
            Said(reply("b", "a")),
            Said(reply("c", "b")),
        ],
        &["a agent:m", "p agent:m <- a", "q agent:small <- p", "b agent:m <- a q", "c agent:m <- b", "head c"],
    );
}

#[test]
fn a_branch_of_a_call_of_which_only_a_result_was_told_hangs_on_the_main_line() {
    check(
        &[Said(user("a")), Answer("task", "done", false), InBranch(Some("task"), user("p"))],
        &["a human:user", "event-0001 tool:demo <- a", "p agent:unknown <- event-0001", "head event-0001"],
    );
}

#[test]
fn a_branch_that_never_reports_back_is_a_dead_end() {
    check(
        &[Said(user("a")), InBranch(None, user("p")), InBranch(None, json!({"id": "q"})), Said(reply("b", "a"))],
        &["a human:user", "p agent:unknown <- a", "q agent:unknown <- p", "b agent:m <- a", "head b"],
    );
}

#[test]
fn base_and_title_are_the_callers_then_the_sessions_then_the_turns() {
    let told = || [Said(json!({"id": "a", "environment": {"working_dir": "C:\\x"}}))];
    let facts = SessionFacts {
        working_dir: Some("/srv/demo".to_owned()),
        vcs_revision: Some("abc".to_owned()),
        vcs_branch: Some("main".to_owned()),
        title: Some("Told".to_owned()),
        ..SessionFacts::default()
    };
    let identity = |facts: &SessionFacts, choices: &Choices| {
        let (mut document, _) = derive_with(facts.clone(), choices, &told());
        let path = document["paths"][0].take();
        (path["path"]["base"].clone(), path["meta"]["title"].clone(), document["graph"]["id"].clone())
    };
    let choices = Choices {
        base_uri: Some("https://example.org/r".to_owned()),
        title: Some("Mine".to_owned()),
        path_id: Some("p-1".to_owned()),
        ..Choices::default()
    };
    assert_eq!(
        identity(&facts, &choices),
        (json!({"uri": "https://example.org/r", "ref": "abc", "branch": "main"}), json!("Mine"), json!("p-1"))
    );
    assert_eq!(
        identity(&facts, &Choices::default()),
        (
            json!({"uri": "file:///srv/demo", "ref": "abc", "branch": "main"}),
            json!("Told"),
            json!("path-demo-9d41c7b0")
        )
    );
    assert_eq!(identity(&SessionFacts::default(), &Choices::default()).0, json!({"uri": "C:\\x"}));
}

#[test]
fn the_provider_id_of_the_session_wins_over_the_plugins() {
    let facts = SessionFacts { provider_id: Some("other".to_owned()), ..SessionFacts::default() };
    let (document, _) = derive_with(facts, &Choices::default(), &[Said(json!({"id": "a", "role": "System"}))]);
    assert_eq!(document["graph"]["id"], "path-other-9d41c7b0");
    assert_eq!(document["paths"][0]["steps"][0]["step"]["actor"], "tool:other");
}

#[test]
fn the_parts_of_a_record_that_is_told_twice_are_told_once() {
    let mut report = Report::new("s.jsonl", false);
    let mut reading = Reading::new("s.jsonl", "demo", "demo", Form::Document, WHOLE, &mut report);
    reading.session(SessionFacts { id: "s".to_owned(), ..SessionFacts::default() });
    for line in [1, 2, 3] {
        let origin = Origin { line, length: 9, ..Origin::default() };
        let text = if line == 3 { "another" } else { "same" };
        reading.turn(TurnRecord { origin, ..turn_record(&json!({"id": text})) });
        let part = event_record(&json!({"event_type": "content-block", "parent_id": text}));
        reading.event(EventRecord { part_of_record: true, origin, ..part });
    }
    assert_eq!(reading.balance(), Balance { turns: 2, duplicates: 1, ..Balance::default() });
    let conversation = reading.finish(Ended::Done(3)).expect("a whole session");
    let mut text = Vec::new();
    document::write(conversation, &Choices::default(), &mut text).expect("writing to memory");
    let document: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(document["paths"][0]["steps"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_session_of_a_provider_without_a_name_is_the_plugins_fault() {
    let mut report = Report::new("s.jsonl", false);
    let mut reading = Reading::new("s.jsonl", "demo", "demo", Form::Document, WHOLE, &mut report);
    reading.session(SessionFacts { provider_id: Some(String::new()), ..SessionFacts::default() });
    let error = reading.finish(Ended::Stopped).expect_err("no document of it is valid");
    assert_eq!(
        (error.to_string().as_str(), error.exit_code()),
        ("s.jsonl: the plugin `demo` named a provider without a name; report it to the plugin's author", 3)
    );
}

#[test]
fn a_balance_that_does_not_close_is_the_plugins_fault() {
    let mut report = Report::new("s.jsonl", false);
    let mut reading = Reading::new("s.jsonl", "demo", "demo", Form::Document, WHOLE, &mut report);
    reading.session(SessionFacts::default());
    tell(&mut reading, &Said(user("a")));
    let error = reading.finish(Ended::Done(2)).expect_err("one record is missing");
    assert_eq!(
        (error.to_string().as_str(), error.exit_code()),
        ("s.jsonl: the plugin `demo` read 2 records but accounted for 1; report it to the plugin's author", 3)
    );
}

#[test]
fn a_turn_before_the_session_is_the_plugins_fault() {
    let mut report = Report::new("s.jsonl", false);
    let mut reading = Reading::new("s.jsonl", "demo", "demo", Form::Document, WHOLE, &mut report);
    tell(&mut reading, &Said(user("a")));
    reading.session(SessionFacts::default());
    let error = reading.finish(Ended::Done(1)).expect_err("the order is wrong");
    assert_eq!(
        error.to_string(),
        "s.jsonl: the plugin `demo` called `turn` before `session`; report it to the plugin's author"
    );
}
