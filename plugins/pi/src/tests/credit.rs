//! Who is credited: every signal that is applied, and everything that looks like one and is none.

use super::check;

const ZERO: &str = r#""usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0}"#;

/// An assistant's entry with these keys in its message.
fn entry(id: &str, message: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":null,"message":{{"role":"assistant","api":"a","provider":"p","model":"m-1",{message}}}}}"#
    )
}

#[track_caller]
fn check_assistant(message: &str, expected: &str) {
    check(&entry("a", message), &[expected]);
}

#[test]
fn a_failed_answer_is_the_harnesss_and_names_no_model() {
    for content in ["[]", r#"[{"type":"text","text":""}]"#] {
        check_assistant(
            &format!(r#""content":{content},{ZERO},"stopReason":"error","errorMessage":"529 overloaded""#),
            r#"assistant a stop=error usage=0/0/0/0 HARNESS signal="failure-shell": 529 overloaded"#,
        );
    }
}

#[test]
fn an_aborted_answer_is_the_harnesss_with_and_without_a_reason() {
    check_assistant(
        &format!(r#""content":[],{ZERO},"stopReason":"aborted","errorMessage":"Request was aborted""#),
        r#"assistant a stop=aborted usage=0/0/0/0 HARNESS signal="aborted-shell": Request was aborted"#,
    );
    check_assistant(
        &format!(r#""content":[],{ZERO},"stopReason":"aborted""#),
        r#"assistant a stop=aborted usage=0/0/0/0 HARNESS signal="aborted-shell": "#,
    );
}

#[test]
fn a_failure_after_a_call_keeps_its_usage() {
    check_assistant(
        r#""content":[],"usage":{"input":9,"output":0},"stopReason":"error","errorMessage":"terminated""#,
        r#"assistant a stop=error usage=9/0/-/- HARNESS signal="shell-with-usage": terminated"#,
    );
}

#[test]
fn each_failed_try_before_an_answer_is_a_turn_of_its_own() {
    let failed = |id: &str| entry(id, &format!(r#""content":[],{ZERO},"stopReason":"error","errorMessage":"529""#));
    let log = [
        failed("a"),
        failed("b").replace("null", "\"a\""),
        entry("c", r#""content":"Hi","stopReason":"stop""#).replace("null", "\"b\""),
    ];
    check(
        &log.join("\n"),
        &[
            r#"assistant a stop=error usage=0/0/0/0 HARNESS signal="failure-shell": 529"#,
            r#"assistant b after=a stop=error usage=0/0/0/0 HARNESS signal="failure-shell": 529"#,
            "assistant c after=b model=m-1 stop=stop: Hi",
        ],
    );
}

#[test]
fn what_a_model_said_before_an_error_stays_the_models_and_the_reason_is_an_event() {
    for (content, told) in [
        (r#"[{"type":"text","text":"I w"}]"#, "assistant a model=m-1 stop=REASON: I w"),
        (r#"[{"type":"thinking","thinking":"hm"}]"#, "assistant a model=m-1 thinking=hm stop=REASON: "),
        (
            r#"[{"type":"toolCall","id":"t","name":"ls","arguments":{}}]"#,
            "assistant a model=m-1 stop=REASON call=t:ls:3:{}: ",
        ),
    ] {
        for reason in ["error", "aborted"] {
            check(
                &entry("a", &format!(r#""content":{content},"stopReason":"{reason}","errorMessage":"x""#)),
                &[&told.replace("REASON", reason), r#"+ event message-error  after=a: {"errorMessage":"x"}"#],
            );
        }
    }
}

#[test]
fn a_filtered_answer_is_the_models() {
    check(
        &entry("a", r#""content":"As","stopReason":"error","errorMessage":"Provider finish_reason: content_filter""#),
        &[
            "assistant a model=m-1 stop=error: As",
            r#"+ event message-error  after=a: {"errorMessage":"Provider finish_reason: content_filter"}"#,
        ],
    );
}

#[test]
fn zero_usage_and_empty_or_cut_answers_are_the_models() {
    check_assistant(
        &format!(r#""content":"Hi",{ZERO},"stopReason":"stop""#),
        "assistant a model=m-1 stop=stop usage=0/0/0/0: Hi",
    );
    check_assistant(r#""content":[],"stopReason":"stop""#, "assistant a model=m-1 stop=stop: ");
    check_assistant(r#""content":"on","stopReason":"length""#, "assistant a model=m-1 stop=length: on");
    check_assistant(
        r#""content":"429 rate limit","stopReason":"stop""#,
        "assistant a model=m-1 stop=stop: 429 rate limit",
    );
}

#[test]
fn the_model_that_answered_wins_over_the_one_that_was_asked() {
    check_assistant(
        r#""responseModel":"m-2","content":"Hi","stopReason":"stop""#,
        "assistant a model=m-2 stop=stop: Hi",
    );
    check_assistant(r#""responseModel":"","content":"Hi","stopReason":"stop""#, "assistant a model=m-1 stop=stop: Hi");
}

#[test]
fn a_model_that_nobody_recorded_stays_unknown() {
    for model in [r#""model":null"#, r#""model":"""#, r#""model":7"#] {
        let log = format!(
            r#"{{"type":"model_change","id":"c","parentId":null,"modelId":"m-9"}}
{{"type":"message","id":"a","parentId":"c","message":{{"role":"assistant",{model},"content":"Hi"}}}}"#
        );
        check(&log, &[r#"event model_change c: {"modelId":"m-9","parentId":null}"#, "assistant a after=c: Hi"]);
    }
}

#[test]
fn a_command_that_the_human_ran_is_the_humans() {
    let log = |more: &str| {
        format!(
            r#"{{"type":"message","id":"a","parentId":null,"message":{{"role":"bashExecution","command":"ls \"x\"","output":"y"{more}}}}}"#
        )
    };
    let told = |typed: &str, result: &str| {
        format!(r#"user a call=a/bash:bash:4:{{"command":"ls \"x\""}} result={result}: {typed}ls "x""#)
    };
    check(&log(r#","exitCode":0,"cancelled":false"#), &[&told("!", "y")]);
    check(&log(r#","excludeFromContext":true"#), &[&told("!!", "y")]);
    check(&log(r#","exitCode":2"#), &[&told("!", "ERROR y")]);
    check(&log(r#","cancelled":true"#), &[&told("!", "ERROR y")]);
}

#[test]
fn an_extensions_words_are_the_harnesss_whatever_they_are_called() {
    let event = r#"+ event extension-message  after=a: {"customType":"x"}"#;
    let turn = r#"system a HARNESS signal="extension-message": Mind it"#;
    for log in [
        r#"{"type":"custom_message","id":"a","parentId":null,"customType":"x","content":"Mind it"}"#,
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"custom","customType":"x","content":"Mind it"}}"#,
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"hookMessage","customType":"x","content":[{"type":"text","text":"Mind it"}]}}"#,
    ] {
        check(log, &[turn, event]);
    }
}

#[test]
fn an_extensions_state_and_a_prompt_that_looks_like_its_words_are_neither() {
    check(
        r#"{"type":"custom","id":"a","parentId":null,"customType":"x","data":{"n":1}}
{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"custom_message: Mind it"}}"#,
        &[
            r#"event custom a: {"customType":"x","data":{"n":1},"parentId":null}"#,
            "user b after=a: custom_message: Mind it",
        ],
    );
}

#[test]
fn summaries_are_events_whoever_made_them() {
    for hook in ["true", "false"] {
        check(
            &format!(
                r#"{{"type":"compaction","id":"a","parentId":null,"summary":"So far","firstKeptEntryId":"x","tokensBefore":9,"fromHook":{hook}}}"#
            ),
            &[&format!(
                r#"event compaction a: {{"firstKeptEntryId":"x","fromHook":{hook},"parentId":null,"summary":"So far","tokensBefore":9}}"#
            )],
        );
    }
}

#[test]
fn the_test_providers_answers_are_no_models() {
    check_assistant(
        r#""provider":"faux","content":"Hi","stopReason":"stop""#,
        r#"assistant a stop=stop HARNESS signal="test-provider": Hi"#,
    );
}
