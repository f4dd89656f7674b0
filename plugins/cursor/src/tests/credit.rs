//! Who is credited in the editor's store: every signal that is applied, and everything that looks like one and is none.

use super::{Made, check, told};

/// A reply with these fields, told as the line `expected` and what stands beside it.
#[track_caller]
fn check_reply(fields: &str, expected: &[&str]) {
    check(
        &format!(r#"b u1 {{"type":1,"text":"hi"}}{}b a1 {{"type":2{fields}}}"#, '\n'),
        &[&["user u1 after=c1: hi"], expected].concat(),
    );
}

const NAMED: &str = r#","modelInfo":{"modelName":"m-1"}"#;

#[test]
fn an_error_without_a_reply_is_the_harnesss_and_names_no_model() {
    let error = r#"{"generationUUID":"g","message":"Connection failed","requestId":"r"}"#;
    check_reply(
        &format!(r#","text":"","errorDetails":{error},"tokenCount":{{"inputTokens":5,"outputTokens":1}}{NAMED}"#),
        &[
            "assistant a1 after=u1 stop=error HARNESS signal=\"error-without-reply\": Connection failed",
            &format!(r#"+ event error  after=a1: {{"error":{error}}}"#),
        ],
    );
    // The same, written as a string, with the message deeper.
    check_reply(
        r#","errorDetails":"{\"error\":{\"details\":{\"title\":\"No plan\"}}}""#,
        &[
            "assistant a1 after=u1 stop=error HARNESS signal=\"error-without-reply\": No plan",
            r#"+ event error  after=a1: {"error":{"error":{"details":{"title":"No plan"}}}}"#,
        ],
    );
}

#[test]
fn an_error_beside_a_part_of_a_reply_leaves_it_the_models() {
    for (fields, said) in [
        (r#","text":"Half an ans""#, ": Half an ans"),
        (r#","thinking":{"text":"Well"}"#, " thinking=Well: "),
        (r#","allThinkingBlocks":[{"text":"Well"}]"#, " thinking=Well: "),
    ] {
        let expected = match said.split_once(": ") {
            Some((thinking, text)) => format!("assistant a1 after=u1 model=m-1{thinking} stop=error: {text}"),
            None => unreachable!("each has a text"),
        };
        check_reply(
            &format!(r#"{fields},"errorDetails":{{"message":"x"}}{NAMED}"#),
            &[&expected, r#"+ event error  after=a1: {"error":{"message":"x"}}"#],
        );
    }
    check_reply(
        &format!(
            r#","errorDetails":{{"message":"x"}},"toolFormerData":{{"tool":5,"toolCallId":"t","status":"running"}}{NAMED}"#
        ),
        &[
            "assistant a1 after=u1 model=m-1 stop=error call=t:read_file:1:null: ",
            r#"+ event error  after=a1: {"error":{"message":"x"}}"#,
        ],
    );
}

#[test]
fn a_failed_tool_is_a_models_call() {
    check_reply(
        &format!(r#","toolFormerData":{{"tool":5,"toolCallId":"t","status":"error","error":"{{\"e\":1}}"}}{NAMED}"#),
        &["assistant a1 after=u1 model=m-1 call=t:read_file:1:null: ", r#"+ result t ERROR: {"e":1}"#],
    );
}

#[test]
fn a_notice_of_the_services_state_is_likely_the_harnesss() {
    check_reply(
        &format!(r#","text":"","serviceStatusUpdate":{{"message":"Slow"}}{NAMED}"#),
        &[
            "assistant a1 after=u1 HARNESS signal=\"service-status-likely\": Slow",
            r#"+ event service-status  after=a1: {"service-status":{"message":"Slow"}}"#,
        ],
    );
    check_reply(
        &format!(r#","text":"Sure","serviceStatusUpdate":{{"message":"Slow"}}{NAMED}"#),
        &[
            "assistant a1 after=u1 model=m-1: Sure",
            r#"+ event service-status  after=a1: {"service-status":{"message":"Slow"}}"#,
        ],
    );
    check_reply(r#","text":"Sure","serviceStatusUpdate":{},"errorDetails":{}"#, &["assistant a1 after=u1: Sure"]);
}

#[test]
fn an_empty_reply_at_the_end_of_a_stopped_session_is_likely_the_harnesss() {
    let log = |status: &str, reply: &str| {
        format!(
            "c c1 {{\"status\":\"{status}\"}}\nb u1 {{\"type\":1,\"text\":\"hi\"}}\nb a1 {{\"type\":2{reply}{NAMED}}}"
        )
    };
    check(
        &log("aborted", r#","text":"""#),
        &[
            "user u1 after=c1: hi",
            "assistant a1 after=u1 stop=aborted HARNESS signal=\"aborted-without-reply-likely\": ",
        ],
    );
    check(
        &log("aborted", r#","text":"Half""#),
        &["user u1 after=c1: hi", "assistant a1 after=u1 model=m-1 stop=aborted: Half"],
    );
    check(
        &log("completed", r#","text":"""#),
        &["user u1 after=c1: hi", "folded id=a1 after=u1: an empty mark of the editor's"],
    );
}

#[test]
fn only_the_last_bubble_of_a_stopped_session_was_stopped() {
    check(
        "c c1 {\"status\":\"aborted\"}\nb a1 {\"type\":2,\"text\":\"A\"}\nb a2 {\"type\":2,\"text\":\"B\"}",
        &["assistant a1 after=c1: A", "assistant a2 after=a1 stop=aborted: B"],
    );
}

#[test]
fn no_tokens_no_model_and_default_are_no_signals() {
    for fields in [
        r#","tokenCount":{"inputTokens":0,"outputTokens":0}"#,
        r#","modelInfo":{"modelName":"default"}"#,
        r#","modelInfo":null,"tokenCount":null"#,
        "",
    ] {
        check_reply(&format!(r#","text":"Sure"{fields}"#), &["assistant a1 after=u1: Sure"]);
    }
}

#[test]
fn what_a_reply_says_is_no_signal() {
    for text in ["You've hit your rate limit", "Connection failed. Try again.", "[REDACTED]", "User aborted request"] {
        check_reply(&format!(r#","text":"{text}"{NAMED}"#), &[&format!("assistant a1 after=u1 model=m-1: {text}")]);
    }
}

#[test]
fn a_bubble_for_reasoning_is_a_models_even_when_it_shows_none() {
    check_reply(
        &format!(r#","text":"","capabilityType":30,"thinkingDurationMs":1200{NAMED}"#),
        &["assistant a1 after=u1 model=m-1: "],
    );
}

#[test]
fn a_prompt_of_nothing_but_context_is_the_harnesss() {
    check(
        r#"b u1 {"type":1,"text":"<system_reminder>be brief</system_reminder>"}
           b u2 {"type":1,"text":"<user_query>fix it</user_query><attached_files>a</attached_files>"}"#,
        &[
            "user u1 after=c1 HARNESS signal=\"context-only\": <system_reminder>be brief</system_reminder>",
            "user u2 after=u1: fix it",
            r#"+ event context  after=u2: {"context":"<attached_files>a</attached_files>"}"#,
        ],
    );
}

#[test]
fn the_first_prompt_of_a_sub_agents_session_is_its_callers() {
    let made = Made::of(
        r#"c c1 {"subagentInfo":{"parentComposerId":"c0","toolCallId":"t"}}
           b u1 {"type":1,"text":"look"}
           b u2 {"type":1,"text":"and there"}"#,
    );
    assert_eq!(
        told(&made.database(), "c1"),
        ["user u1 after=c1 HARNESS signal=\"sub-agent-prompt\": look", "user u2 after=u1: and there"]
    );
}

#[test]
fn the_model_of_a_bubble_wins_over_that_of_its_composer() {
    check(
        r#"c c1 {"modelConfig":{"modelName":"m-0"}}
           b a1 {"type":2,"text":"A","modelInfo":{"modelName":"m-1"}}
           b a2 {"type":2,"text":"B"}
           b u1 {"type":1,"text":"hi","modelInfo":{"modelName":"m-1"}}"#,
        &["assistant a1 after=c1 model=m-1: A", "assistant a2 after=a1 model=m-0: B", "user u1 after=a2: hi"],
    );
    check(
        "c c1 {\"modelConfig\":{\"modelName\":\"default\"}}\nb a1 {\"type\":2,\"text\":\"A\"}",
        &["assistant a1 after=c1: A"],
    );
}
