//! What becomes of records: responses, results, usage, prompts that were taken back, words that stand twice.

use super::{CONTEXT, CONTEXT_TOLD, check, log, said, told};

const THOUGHT: &str = r#"item {"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}"#;
const CALL: &str = r#"item {"type":"function_call","name":"shell","arguments":"{}","call_id":"c1"}"#;
const RESULT: &str = r#"item {"type":"function_call_output","call_id":"c1","output":"ok"}"#;
const PART: &str = "folded: part of a response that is told as one turn";

fn count(total: u64, last: u64) -> String {
    format!(
        r#"event {{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{total}}},"last_token_usage":{{"input_tokens":{last}}}}}}}"#
    )
}

const COUNTED: &str = "folded: counted in the usage of its response";
const AGAIN: &str = "duplicate: says again what was counted, or estimates";

#[test]
fn a_response_is_one_turn_with_its_thought_its_words_and_its_calls() {
    check(
        &[
            CONTEXT,
            &said("user", "go"),
            THOUGHT,
            &said("assistant", "I go."),
            CALL,
            RESULT,
            &said("assistant", "Gone."),
        ],
        &[
            CONTEXT_TOLD,
            "user line-3: go",
            PART,
            PART,
            "assistant line-4 after=line-3 group=s/response-1 model=m-1 thinking=hm call=c1:shell:4:{}: I go.",
            "result c1: ok",
            "assistant line-8 after=line-4 group=s/response-2 model=m-1: Gone.",
        ],
    );
}

#[test]
fn what_a_response_cost_is_told_with_it_whether_the_log_says_so_before_or_behind() {
    let (first, again, second) = (count(5, 5), count(5, 5), count(9, 4));
    check(
        &[
            &said("user", "go"),
            &first,
            &said("assistant", "a"),
            &said("user", "on"),
            &again,
            &second,
            &said("assistant", "b"),
        ],
        &[
            "user line-2: go",
            COUNTED,
            "assistant line-4 after=line-2 group=s/response-1 snapshot=5/0/0/-: a",
            "user line-5 after=line-4: on",
            AGAIN,
            COUNTED,
            "assistant line-8 after=line-5 group=s/response-2 snapshot=4/0/0/-: b",
        ],
    );
    check(
        &[&said("user", "go"), CALL, RESULT, &first, &said("assistant", "a"), &second, &second],
        &[
            "user line-2: go",
            "assistant line-3 after=line-2 group=s/response-1 snapshot=5/0/0/- call=c1:shell:4:{}: ",
            "result c1: ok",
            COUNTED,
            COUNTED,
            AGAIN,
            "assistant line-6 after=line-3 group=s/response-2 snapshot=4/0/0/-: a",
        ],
    );
}

#[test]
fn a_note_of_each_responses_usage_counts_alone() {
    let note = |thread: &str, response: &str, tokens: u64| {
        format!(
            r#"token_usage_record {{"thread_id":"{thread}","response_id":"{response}","usage":{{"input_tokens":{tokens},"output_tokens":1}},"thread_token_usage":{{"input_tokens":99}}}}"#
        )
    };
    let (own, other) = (note("s", "r1", 3), note("x", "r2", 50));
    let told = told(log(&[&said("user", "go"), &said("assistant", "a"), &count(7, 7), &own, &other]).as_bytes());
    assert!(told.iter().any(|line| line.contains("snapshot=3/1/0/-: a")), "{told:#?}");
    assert_eq!(told.iter().filter(|line| line.contains("snapshot=")).count(), 1);
    assert!(told.last().is_some_and(|line| line.starts_with("event token_usage_record")), "{told:#?}");
}

#[test]
fn what_responses_cost_before_the_harness_noted_it_counts_as_it_did_then() {
    let note =
        r#"token_usage_record {"thread_id":"s","response_id":"r3","usage":{"input_tokens":50,"output_tokens":2}}"#;
    let (go, a, b, c) = (said("user", "go"), said("assistant", "a"), said("assistant", "b"), said("assistant", "c"));
    let told =
        told(log(&[&go, &a, &count(100, 100), &go, &b, &count(300, 200), &go, &c, &count(350, 50), note]).as_bytes());
    let costs: Vec<_> = told.iter().filter_map(|line| line.split_once("snapshot=")).map(|(_, cost)| cost).collect();
    assert_eq!(costs.len(), 3, "{told:#?}");
    assert!(costs[0].starts_with("100/") && costs[1].starts_with("200/") && costs[2].starts_with("50/2"), "{costs:?}");
}

#[test]
fn what_a_response_cost_counts_once_however_often_it_is_noted() {
    let note = |rest: &str| {
        format!(r#"token_usage_record {{"thread_id":"s",{rest}"usage":{{"input_tokens":3,"output_tokens":1}}}}"#)
    };
    let (first, second, nameless) = (note(r#""response_id":"r1","#), note(r#""response_id":"r2","#), note(""));
    let told = told(
        log(&[
            &said("assistant", "a"),
            &first,
            &first,
            &said("user", "go"),
            &said("assistant", "b"),
            &second,
            &first,
            &said("user", "go"),
            &said("assistant", "c"),
            &nameless,
            &nameless,
        ])
        .as_bytes(),
    );
    let costs: Vec<_> = told.iter().filter_map(|line| line.split_once("snapshot=")).map(|(_, cost)| cost).collect();
    assert_eq!(costs, ["3/1/0/-: a", "3/1/0/-: b", "6/2/0/-: c"], "{told:#?}");
    let again = told.iter().filter(|line| **line == "duplicate: says again what a response cost").count();
    assert_eq!(again, 2, "{told:#?}");
}

#[test]
fn tokens_without_any_response_are_kept_as_an_event_and_said() {
    let told = told(log(&[&count(5, 5)]).as_bytes());
    assert!(told[1].starts_with("event token_count line-2"), "{told:#?}");
    assert!(told[2].starts_with("! usage-without-turn"), "{told:#?}");
}

#[test]
fn what_was_taken_back_stays_and_what_comes_next_does_not_follow_it() {
    let back = |turns: u64| format!(r#"event {{"type":"thread_rolled_back","num_turns":{turns}}}"#);
    let told_back = |line: u64, after: &str, turns: u64| {
        format!(
            r#"event thread_rolled_back line-{line} after={after}: {{"type":"thread_rolled_back","num_turns":{turns}}}"#
        )
    };
    check(
        &[
            &said("user", "a"),
            &said("assistant", "A"),
            &said("user", "b"),
            &said("assistant", "B"),
            &back(1),
            &said("user", "c"),
        ],
        &[
            "user line-2: a",
            "assistant line-3 after=line-2 group=s/response-1: A",
            "user line-4 after=line-3: b",
            "assistant line-5 after=line-4 group=s/response-2: B",
            &told_back(6, "line-5", 1),
            "user line-7 after=line-3: c",
        ],
    );
    check(
        &[&said("user", "a"), &said("assistant", "A"), &back(7), &said("user", "c")],
        &[
            "user line-2: a",
            "assistant line-3 after=line-2 group=s/response-1: A",
            &told_back(4, "line-3", 7),
            "user line-5 after=line-1: c",
        ],
    );
}

#[test]
fn words_that_stand_in_an_event_too_are_told_once_and_others_are_turns() {
    let event = |kind: &str, text: &str| format!(r#"event {{"type":"{kind}","message":"{text}"}}"#);
    check(
        &[
            &event("user_message", "go"),
            &said("user", "go"),
            &event("agent_message", "ok"),
            &said("assistant", "ok"),
            &event("agent_message", "ok"),
            &event("user_message", "alone"),
        ],
        &[
            "folded: repeats the words of a message",
            "user line-3: go",
            "folded: repeats the words of a message",
            "assistant line-5 after=line-3 group=s/response-1: ok",
            "assistant line-6 after=line-5: ok",
            "user line-7 after=line-6: alone",
        ],
    );
}

#[test]
fn finished_items_repeat_words_and_report_writes() {
    let item = |item: &str| format!(r#"event {{"type":"item_completed","item":{item}}}"#);
    let told = told(
        log(&[
            &said("assistant", "ok"),
            &item(r#"{"type":"AgentMessage","id":"i","content":[{"type":"Text","text":"ok"}]}"#),
            r#"item {"type":"custom_tool_call","name":"apply_patch","input":"x","call_id":"c1"}"#,
            &item(r#"{"type":"FileChange","id":"c1","status":"completed","changes":{"/p/a":{"type":"add","content":"x\n"}}}"#),
            r#"item {"type":"custom_tool_call_output","call_id":"c1","output":"Exit code: 0"}"#,
        ])
        .as_bytes(),
    );
    assert!(told.contains(&"folded: repeats the words of a message".to_owned()), "{told:#?}");
    assert!(told.contains(&"folded: its writes are told with their call".to_owned()), "{told:#?}");
    let result =
        "result c1 write=/p/a by=c1 operation=add diff=--- a/p/a\n+++ b/p/a\n@@ -0,0 +1 @@\n+x\n: Exit code: 0";
    assert_eq!(told.last().map(String::as_str), Some(result));
}

const PATCH: &str = r#"item {"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Delete File: /a\n*** End Patch","call_id":"c1"}"#;

#[test]
fn a_patch_is_a_write_only_where_its_answer_says_so() {
    for (answer, writes) in [
        ("Success. Updated the following files:\\nD /a", true),
        ("Exit code: 0\\nOutput:\\nok", true),
        ("Exit code: 1\\nOutput:\\nno", false),
        ("apply_patch verification failed: no such file", false),
        ("aborted by user after 2.0s", false),
    ] {
        let result = format!(r#"item {{"type":"custom_tool_call_output","call_id":"c1","output":"{answer}"}}"#);
        let told = told(log(&[PATCH, &result]).as_bytes());
        let last = told.last().expect("the result");
        assert_eq!(last.contains(" write=/a by=c1 operation=delete"), writes, "{last}");
        assert!(told[1].contains(" needs-result"), "{told:#?}");
    }
}

#[test]
fn a_report_that_no_result_takes_up_is_kept() {
    let report = r#"event {"type":"patch_apply_end","call_id":"c1","success":true,"changes":{"/a":{"type":"add","content":"x"}}}"#;
    let told = told(log(&[PATCH, report]).as_bytes());
    assert!(told.iter().any(|line| line.starts_with("+ event patch_apply_end")), "{told:#?}");
    assert!(told.iter().any(|line| line.starts_with("! orphan-report")), "{told:#?}");
    let told = super::told(log(&[report]).as_bytes());
    assert!(told[1].starts_with("event patch_apply_end line-2"), "{told:#?}");
}

#[test]
fn an_event_says_whether_a_command_failed() {
    let ended = r#"event {"type":"exec_command_end","call_id":"c1","exit_code":2}"#;
    let told = told(log(&[CALL, ended, RESULT]).as_bytes());
    assert_eq!(told.last().map(String::as_str), Some("result c1 ERROR: ok"));
}

#[test]
fn a_tools_answer_for_which_there_is_no_call_is_told_all_the_same() {
    check(&[RESULT], &["result c1: ok"]);
}

#[test]
fn an_image_stands_in_the_text_and_is_kept_whole() {
    check(
        &[
            r#"item {"type":"message","role":"user","content":[{"type":"input_text","text":"see"},{"type":"input_image","image_url":"data:image/png;base64,aGVsbG8="}]}"#,
        ],
        &[
            "user line-2: see\n[image: image/png, 5 bytes]",
            r#"+ event content-block  after=line-2: {"block":{"type":"input_image","image_url":"data:image/png;base64,aGVsbG8="}}"#,
        ],
    );
}
