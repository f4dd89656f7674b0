//! Sub-agents in every layout: whose branch, where in the order, and nothing twice.

use super::check;
use super::folder::Folder;

const PROMPT: &str = r#"{"type":"user","uuid":"u","sessionId":"s","message":{"content":"go"}}"#;
const NEXT: &str = r#"{"type":"assistant","uuid":"z","parentUuid":"r","message":{"content":"done"}}"#;

/// A call of `tool`, whose prompt is `look`.
fn call(tool: &str, id: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"c-{id}","parentUuid":"u","sessionId":"s","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"{tool}","input":{{"prompt":"look"}}}}]}}}}"#
    )
}

/// The result of the call `id`, with the tool's report.
fn result(id: &str, report: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"r-{id}","parentUuid":"c-{id}","sessionId":"s","timestamp":"2026-05-04T08:00:30.000Z"{report},"message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"seen"}}]}}}}"#
    )
}

/// A sub-agent's file: what it was asked, and what it said.
fn file(agent: &str) -> String {
    [
        format!(
            r#"{{"type":"user","uuid":"{agent}-1","parentUuid":null,"isSidechain":true,"agentId":"{agent}","sessionId":"s","timestamp":"2026-05-04T08:00:10.000Z","message":{{"content":"look"}}}}"#
        ),
        format!(
            r#"{{"type":"assistant","uuid":"{agent}-2","parentUuid":"{agent}-1","isSidechain":true,"agentId":"{agent}","sessionId":"s","message":{{"id":"m-{agent}","model":"m","content":"seen","usage":{{"output_tokens":2}}}}}}"#
        ),
        String::new(),
    ]
    .join("\n")
}

/// What is told of [`file`], on the branch that `call` started (as JSON).
fn told(agent: &str, call: &str) -> [String; 2] {
    let branch = format!(r#"branch={{"call":{call},"agent":"{agent}"}}"#);
    [
        format!("user {agent}-1 {branch}: look"),
        format!("assistant {agent}-2 after={agent}-1 group=m-{agent} model=m snapshot=-/2/-/- {branch}: seen"),
    ]
}

fn log(lines: &[&str]) -> String {
    lines.join("\n")
}

const ASKS: &str = r#"call=t:Agent:6:{"prompt":"look"}"#;

/// What is told when the sub-agent's file is found for the call.
#[track_caller]
fn check_linked(folder: &Folder) {
    let told = folder.records("s.jsonl");
    let [first, second] = self::told("a1", "\"t\"");
    let asks = if told[1].contains(":Task:") { ASKS.replace("Agent", "Task") } else { ASKS.to_owned() };
    let answer = told[4].clone();
    assert!(answer.starts_with("+ result t") && answer.ends_with(": seen"), "{answer}");
    assert_eq!(
        told,
        [
            "user u: go",
            &format!("assistant c-t after=u {asks}: "),
            &first,
            &second,
            &answer,
            "folded id=r-t after=c-t: tool result",
            "assistant z after=r: done",
        ]
    );
}

#[test]
fn an_agents_file_in_the_sessions_folder_is_told_before_its_result() {
    for tool in ["Task", "Agent"] {
        let folder = Folder::new();
        let report = r#","toolUseResult":{"status":"completed","agentId":"a1","prompt":"look"}"#;
        folder.write("s.jsonl", log(&[PROMPT, &call(tool, "t"), &result("t", report), NEXT]));
        folder.write("s/subagents/agent-a1.jsonl", file("a1"));
        check_linked(&folder);
    }
}

#[test]
fn an_agents_file_beside_the_session_is_told_before_its_result() {
    let folder = Folder::new();
    let report = r#","toolUseResult":{"agentId":"a1"}"#;
    folder.write("s.jsonl", log(&[PROMPT, &call("Task", "t"), &result("t", report), NEXT]));
    folder.write("agent-a1.jsonl", file("a1"));
    check_linked(&folder);
}

#[test]
fn the_file_of_facts_links_an_agent_whose_result_does_not_name_it() {
    let folder = Folder::new();
    folder.write("s.jsonl", log(&[PROMPT, &call("Agent", "t"), &result("t", ""), NEXT]));
    folder.write("s/subagents/x/agent-a1.jsonl", file("a1").replace("look", "look closely"));
    folder.write("s/subagents/x/agent-a1.meta.json", r#"{"toolUseId":"t"}"#);
    let told = folder.records("s.jsonl");
    assert_eq!(told[2], r#"user a1-1 branch={"call":"t","agent":"a1"}: look closely"#);
    assert_eq!(told[4], "+ result t: seen");
}

#[test]
fn an_agent_that_nothing_else_links_is_linked_by_its_prompt() {
    for place in ["s/subagents/agent-a1.jsonl", "agent-a1.jsonl"] {
        let folder = Folder::new();
        folder.write("s.jsonl", log(&[PROMPT, &call("Agent", "t"), &result("t", ""), NEXT]));
        folder.write(place, file("a1"));
        check_linked(&folder);
    }
}

#[test]
fn agents_that_were_asked_the_same_each_belong_to_one_call() {
    let folder = Folder::new();
    let session = [PROMPT, &call("Agent", "t"), &call("Agent", "v"), &result("t", ""), &result("v", "")];
    folder.write("s.jsonl", log(&session));
    folder.write("s/subagents/agent-a1.jsonl", file("a1"));
    folder.write("s/subagents/agent-a2.jsonl", file("a2"));
    let records = folder.records("s.jsonl");
    assert_eq!(records[3..5], told("a1", "\"t\""));
    assert_eq!(records[5], "+ result t: seen");
    assert_eq!(records[7..9], told("a2", "\"v\""));
}

#[test]
fn the_host_knows_the_files_by_name_and_where_each_record_stands() {
    let folder = Folder::new();
    let session = [PROMPT, &call("Agent", "t"), &result("t", r#","toolUseResult":{"agentId":"a1"}"#)];
    folder.write("s.jsonl", log(&session));
    folder.write("s/subagents/agent-a1.jsonl", format!("{}{{broken\n", file("a1")));
    folder.write("s/subagents/agent-a2.jsonl", file("a2"));
    let told = folder.read("s.jsonl");
    assert_eq!(
        told[..2],
        ["session s", "session s file=s.jsonl file=s/subagents/agent-a1.jsonl file=s/subagents/agent-a2.jsonl"]
    );
    let broken = told.iter().position(|line| line.contains("UNREADABLE")).expect("a broken line");
    assert_eq!(
        told[broken..broken + 2],
        [
            r#"event unreadable agent-a1/line-3 UNREADABLE branch={"call":"t","agent":"a1"}: {"raw":"{broken"}"#,
            &format!("! unreadable-record 3@{}+7: key must be a string at column 2", file("a1").len()),
        ]
    );
}

#[test]
fn the_names_of_files_begin_as_the_sessions_own_does() {
    let folder = Folder::new();
    folder
        .write("p/s.jsonl", log(&[PROMPT, &call("Agent", "t"), &result("t", r#","toolUseResult":{"agentId":"a1"}"#)]));
    folder.write("p/agent-a1.jsonl", file("a1"));
    assert!(folder.read("p/s.jsonl").contains(&"session s file=p/s.jsonl file=p/agent-a1.jsonl".to_owned()));
}

#[test]
fn an_orphan_is_kept_on_a_branch_of_its_own_and_said() {
    let folder = Folder::new();
    folder.write("s.jsonl", PROMPT);
    folder.write("s/subagents/agent-a1.jsonl", file("a1"));
    let records = folder.records("s.jsonl");
    assert_eq!(records[1], "! orphan-sub-agent 0@0+0: no call in the session started the sub-agent `a1`");
    assert_eq!(records[2..], told("a1", "null"));
}

#[test]
fn an_agent_whose_call_was_never_answered_is_told_at_the_end_of_its_call() {
    let folder = Folder::new();
    folder.write("s.jsonl", log(&[PROMPT, &call("Agent", "t")]));
    folder.write("s/subagents/agent-a1.jsonl", file("a1"));
    assert_eq!(folder.records("s.jsonl")[2..], told("a1", "\"t\""));
}

#[test]
fn the_harnesss_helpers_are_no_orphans_and_their_prompts_are_its_own() {
    let folder = Folder::new();
    folder.write("s.jsonl", PROMPT);
    folder.write("s/subagents/agent-acompact-0a1b2c.jsonl", file("acompact-0a1b2c"));
    let records = folder.records("s.jsonl");
    assert_eq!(records[1..].len(), 2, "{records:?}");
    assert!(
        records[1].ends_with(r#" HARNESS branch={"call":null,"agent":"acompact-0a1b2c"} signal="helper-prompt": look"#)
    );
    assert!(!records[2].contains("HARNESS"));
}

#[test]
fn a_file_of_another_session_beside_this_one_is_left_out() {
    let folder = Folder::new();
    folder.write("s.jsonl", log(&[PROMPT, &call("Task", "t"), &result("t", r#","toolUseResult":{"agentId":"a1"}"#)]));
    folder.write("agent-a1.jsonl", file("a1").replace("\"sessionId\":\"s\"", "\"sessionId\":\"other\""));
    folder.write("agent-a2.jsonl", file("a2").replace("\"sessionId\":\"s\"", "\"sessionId\":\"other\""));
    assert_eq!(folder.records("s.jsonl").len(), 4);
}

#[test]
fn an_agent_within_an_agent_is_told_before_its_own_result() {
    let folder = Folder::new();
    let outer =
        [file("a1").trim_end().to_owned(), call("Agent", "n").replace("\"u\"", "\"a1-2\""), result("n", "")].join("\n");
    folder.write("s.jsonl", log(&[PROMPT, &call("Agent", "t"), &result("t", r#","toolUseResult":{"agentId":"a1"}"#)]));
    folder.write("s/subagents/agent-a1.jsonl", outer);
    folder.write("s/subagents/agent-a2.jsonl", file("a2"));
    folder.write("s/subagents/agent-a2.meta.json", r#"{"toolUseId":"n","parentAgentId":"a1"}"#);
    let records = folder.records("s.jsonl");
    assert_eq!(records[2..4], told("a1", "\"t\""));
    assert_eq!(records[5..7], told("a2", "\"n\""));
    assert_eq!(
        records[7..],
        [
            "+ result n: seen",
            "folded id=r-n after=c-n: tool result",
            "+ result t: seen",
            "folded id=r-t after=c-t: tool result"
        ]
    );
}

#[test]
fn agents_that_name_each_other_are_told_once() {
    let folder = Folder::new();
    for (agent, other) in [("a1", "a2"), ("a2", "a1")] {
        let report = format!(r#","toolUseResult":{{"agentId":"{other}"}}"#);
        folder.write(&format!("s/subagents/agent-{agent}.jsonl"), file(agent) + &result(other, &report));
    }
    folder.write("s.jsonl", log(&[PROMPT, &call("Agent", "t"), &result("t", r#","toolUseResult":{"agentId":"a1"}"#)]));
    let turns = folder.records("s.jsonl").iter().filter(|line| line.starts_with("user a")).count();
    assert_eq!(turns, 2);
}

const LAUNCHED: &str = r#","toolUseResult":{"isAsync":true,"status":"async_launched","agentId":"a1","prompt":"look"}"#;

fn notice(agent: &str, status: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"n","parentUuid":"z","timestamp":"2026-05-04T08:01:00.000Z","origin":{{"kind":"task-notification"}},"message":{{"content":"<task-notification>\n<task-id>{agent}</task-id>\n{status}\n</task-notification>"}}}}"#
    )
}

#[test]
fn work_in_the_background_is_told_when_a_notice_says_that_it_has_ended() {
    let folder = Folder::new();
    let session = [
        PROMPT,
        &call("Agent", "t"),
        &result("t", LAUNCHED),
        NEXT,
        &notice("other", "<status>completed</status>"),
        &notice("a1", "<event>x</event>").replace("\"n\"", "\"n0\""),
        &notice("a1", "<status>completed</status>").replace("\"n\"", "\"n1\""),
    ];
    folder.write("s.jsonl", log(&session));
    folder.write("s/subagents/agent-a1.jsonl", file("a1"));
    let records = folder.records("s.jsonl");
    assert_eq!(records[2..4], ["folded id=r-t after=c-t: tool result", "assistant z after=r: done"]);
    assert!(records[4].starts_with("user n ") && records[5].starts_with("user n0 "), "{records:?}");
    assert_eq!(records[6..8], told("a1", "\"t\""));
    assert_eq!(records[8], "+ result t delegation=a1:look: seen");
    assert!(records[9].starts_with("user n1 after=z HARNESS"), "{records:?}");
    assert_eq!(records.len(), 10);
}

#[test]
fn work_in_the_background_is_told_when_it_is_asked_for() {
    for report in [
        r#","toolUseResult":{"retrieval_status":"success","task":{"task_id":"a1","status":"completed"}}"#,
        r#","toolUseResult":{"agents":{"a1":{"status":"completed"}}}"#,
    ] {
        let folder = Folder::new();
        let early = report.replace("completed", "running");
        let session = [PROMPT, &call("Agent", "t"), &result("t", LAUNCHED), &result("q", &early), &result("v", report)];
        folder.write("s.jsonl", log(&session));
        folder.write("s/subagents/agent-a1.jsonl", file("a1"));
        let records = folder.records("s.jsonl");
        assert_eq!(records[3..5], ["+ result q: seen", "folded id=r-q after=c-q: tool result"]);
        assert_eq!(records[5..7], told("a1", "\"t\""));
        assert_eq!(records[7..9], ["+ result t delegation=a1:look: seen", "+ result v: seen"]);
    }
}

#[test]
fn work_in_the_background_that_never_came_back_is_told_at_the_end() {
    let folder = Folder::new();
    folder.write("s.jsonl", log(&[PROMPT, &call("Agent", "t"), &result("t", LAUNCHED), NEXT]));
    folder.write("s/subagents/agent-a1.jsonl", file("a1"));
    let records = folder.records("s.jsonl");
    assert_eq!(records[3], "assistant z after=r: done");
    assert_eq!(records[4..6], told("a1", "\"t\""));
    assert_eq!(records[6], "+ result t delegation=a1:look: seen");
}

#[test]
fn a_launch_without_a_file_is_answered_at_once() {
    let folder = Folder::new();
    folder.write("s.jsonl", log(&[PROMPT, &call("Agent", "t"), &result("t", LAUNCHED), NEXT]));
    assert_eq!(folder.records("s.jsonl")[2], "+ result t delegation=a1:look: seen");
}

#[test]
fn an_agent_that_is_asked_again_is_told_in_two_parts() {
    let folder = Folder::new();
    let again = r#"{"type":"user","uuid":"a1-3","parentUuid":"a1-2","isSidechain":true,"agentId":"a1","timestamp":"2026-05-04T08:00:40.000Z","message":{"content":"and again"}}"#;
    let report = r#","toolUseResult":{"agentId":"a1"}"#;
    let second = result("v", report).replace("08:00:30", "08:00:50");
    folder.write("s.jsonl", log(&[PROMPT, &call("Agent", "t"), &result("t", report), &call("Agent", "v"), &second]));
    let before = file("a1") + again + "\n";
    folder.write("s/subagents/agent-a1.jsonl", before.clone() + "{broken");
    let records = folder.records("s.jsonl");
    assert_eq!(records[2..4], told("a1", "\"t\""));
    assert_eq!(records[4], "+ result t: seen");
    assert_eq!(
        records[7..11],
        [
            r#"user a1-3 after=a1-2 branch={"call":"v","agent":"a1"}: and again"#,
            r#"event unreadable agent-a1/line-4 UNREADABLE branch={"call":"v","agent":"a1"}: {"raw":"{broken"}"#,
            &format!("! unreadable-record 4@{}+7: key must be a string at column 2", before.len()),
            "+ result v: seen",
        ]
    );
}

#[test]
fn a_file_that_was_cut_or_holds_nonsense_costs_what_it_lost_and_nothing_else() {
    let report = r#","toolUseResult":{"agentId":"a1"}"#;
    let session = log(&[PROMPT, &call("Agent", "t"), &result("t", report), NEXT]);
    let whole = file("a1");
    for end in 0..=whole.len() {
        let folder = Folder::new();
        folder.write("s.jsonl", &session);
        folder.write("s/subagents/agent-a1.jsonl", &whole[..end]);
        let records = folder.records("s.jsonl");
        assert_eq!(records.last().map(String::as_str), Some("assistant z after=r: done"), "{end}");
    }
    let folder = Folder::new();
    folder.write("s.jsonl", &session);
    folder.write("s/subagents/agent-a1.jsonl", b"\xff\xfe\0\0\n[1]\n\0\0\n7");
    let records = folder.records("s.jsonl");
    assert_eq!(records.iter().filter(|line| line.contains("UNREADABLE")).count(), 4, "{records:?}");
    assert_eq!(records.last().map(String::as_str), Some("assistant z after=r: done"));
}

#[test]
fn an_empty_file_is_said_and_not_told() {
    let folder = Folder::new();
    folder.write("s.jsonl", log(&[PROMPT, &call("Agent", "t"), &result("t", r#","toolUseResult":{"agentId":"a1"}"#)]));
    folder.write("s/subagents/agent-a1.jsonl", "");
    assert_eq!(folder.records("s.jsonl")[2..4], ["! unreadable-file 0@0+0: holds no records", "+ result t: seen"]);
}

#[test]
fn a_forked_agent_follows_the_record_that_its_first_line_points_at() {
    let folder = Folder::new();
    folder.write("s.jsonl", PROMPT);
    let fork =
        r#"{"type":"fork-context-ref","agentId":"a1","parentSessionId":"s","parentLastUuid":"u","contextLength":3}"#;
    folder.write("s/subagents/agent-a1.jsonl", format!("{fork}\n{}", file("a1")));
    let records = folder.records("s.jsonl");
    assert_eq!(records[3], r#"user a1-1 after=u branch={"call":null,"agent":"a1"}: look"#);
}

/// A row of progress in which the sub-agent says `message`.
fn progress(id: &str, parent: &str, message: &str) -> String {
    format!(
        r#"{{"type":"progress","uuid":"{id}","parentUuid":"{parent}","sessionId":"s","parentToolUseID":"t","toolUseID":"x","data":{{"type":"agent_progress","agentId":"a1","prompt":"look","message":{message}}}}}"#
    )
}

#[test]
fn what_an_agent_without_a_file_said_is_told_from_the_rows_of_progress() {
    let calls = r#"{"type":"assistant","uuid":"a1-2","timestamp":"2026-05-04T08:00:20.000Z","message":{"id":"g","model":"m","content":[{"type":"tool_use","id":"k","name":"Read","input":{}}],"usage":{"output_tokens":1}}}"#;
    let answers = r#"{"type":"user","uuid":"a1-3","message":{"content":[{"type":"tool_result","tool_use_id":"k","content":"text"}]}}"#;
    let session = [
        PROMPT,
        &call("Agent", "t"),
        &progress("p1", "c-t", r#"{"type":"user","uuid":"a1-1","message":{"content":"look"}}"#),
        &progress("p2", "p1", calls),
        &progress("p3", "p2", answers),
        &progress("p4", "p3", r#"{"type":"user"}"#),
        &result("t", r#","toolUseResult":{"agentId":"a1"}"#),
    ];
    let branch = r#"branch={"call":"t","agent":"a1"}"#;
    check(
        &log(&session),
        &[
            "user u: go",
            &format!("assistant c-t after=u {ASKS}: "),
            "folded id=p1 after=c-t: told as what the sub-agent said",
            &format!("+ user a1-1 {branch}: look"),
            "folded id=p2 after=p1: told as what the sub-agent said",
            &format!("+ assistant a1-2 group=g model=m snapshot=-/1/-/- call=k:Read:1:{{}} {branch}: "),
            "folded id=p3 after=p2: told as what the sub-agent said",
            "+ result k: text",
            r#"event progress p4 after=p3: {"data":{"type":"agent_progress","agentId":"a1","prompt":"look","message":{"type":"user"}},"parentToolUseID":"t","parentUuid":"p3","sessionId":"s","toolUseID":"x"}"#,
            "+ result t: seen",
            "folded id=r-t after=c-t: tool result",
        ],
    );
}

#[test]
fn rows_of_progress_repeat_what_the_agents_file_tells() {
    let folder = Folder::new();
    let said = r#"{"type":"user","uuid":"a1-1","message":{"content":"look"}}"#;
    let session = [
        PROMPT,
        &call("Agent", "t"),
        &progress("p1", "c-t", said),
        &result("t", r#","toolUseResult":{"agentId":"a1"}"#),
    ];
    folder.write("s.jsonl", log(&session));
    folder.write("s/subagents/agent-a1.jsonl", file("a1"));
    let records = folder.records("s.jsonl");
    assert_eq!(records[2], "duplicate id=p1 after=c-t: told in the sub-agent's own file");
    assert_eq!(records[3..5], told("a1", "\"t\""));
    // One that is empty tells nothing.
    folder.write("s/subagents/agent-a1.jsonl", "");
    assert_eq!(folder.records("s.jsonl")[4], r#"+ user a1-1 branch={"call":"t","agent":"a1"}: look"#);
}

#[test]
fn rows_of_progress_go_on_where_a_cut_file_ends() {
    let folder = Folder::new();
    let said =
        |id: &str, text: &str| format!(r#"{{"type":"assistant","uuid":"{id}","message":{{"content":"{text}"}}}}"#);
    let session = [
        PROMPT,
        &call("Agent", "t"),
        &progress("p1", "c-t", r#"{"type":"user","message":{"content":"look"}}"#),
        &progress("p2", "p1", &said("a1-3", "and more")),
        &result("t", r#","toolUseResult":{"agentId":"a1"}"#),
    ];
    folder.write("s.jsonl", log(&session));
    folder.write("s/subagents/agent-a1.jsonl", file("a1") + r#"{"type":"assist"#);
    let records = folder.records("s.jsonl");
    let branch = r#"branch={"call":"t","agent":"a1"}"#;
    assert_eq!(records[2], "duplicate id=p1 after=c-t: told in the sub-agent's own file");
    assert_eq!(records[3..5], told("a1", "\"t\""));
    assert!(records[5].starts_with("event unreadable agent-a1/line-3 UNREADABLE"));
    assert_eq!(
        records[7..10],
        [
            "folded id=p2 after=p1: told as what the sub-agent said",
            &format!("+ assistant a1-3 {branch}: and more"),
            "+ result t: seen"
        ]
    );
}

#[test]
fn what_an_agent_was_given_is_no_humans_and_only_the_harnesss_words_are_flagged() {
    let folder = Folder::new();
    folder.write("s.jsonl", PROMPT);
    let user = |id: &str, more: &str, text: &str| {
        format!(r#"{{"type":"user","uuid":"{id}","isSidechain":true{more},"message":{{"content":"{text}"}}}}"#)
    };
    let lines = [
        user("1", r#","origin":{"kind":"peer"},"isMeta":true"#, "look"),
        user("2", r#","origin":{"kind":"task-notification"}"#, "done"),
        user("3", r#","isMeta":true"#, "hook says"),
        user("4", "", "[Request interrupted by user]"),
        user("5", r#","teamName":"t""#, "<teammate-message>go on</teammate-message>"),
    ];
    folder.write("s/subagents/agent-a1.jsonl", lines.join("\n"));
    let flagged: Vec<bool> = folder.records("s.jsonl")[2..].iter().map(|line| line.contains("HARNESS")).collect();
    assert_eq!(flagged, [false, true, true, true, false]);
}
