//! Who is credited: every signal that is applied, and everything that looks like one and is none.

use super::{CONTEXT, check, log, said, told};

const INTERRUPTED: &str = "Review was interrupted. Please re-run /review and wait for it to complete.";
const NO_ANSWER: &str = "Reviewer failed to output a response.";
const ACTION: &str = "<user_action>User initiated a review task, but was interrupted.</user_action>";
const DONE: &str = "<user_action>User initiated a review task.</user_action>";

/// What is told of the last of `payloads`, after a turn's context; `MODEL`, `UNKNOWN` or the signal.
#[track_caller]
fn check_last(payloads: &[&str], expected: &str) {
    let payloads: Vec<&str> = std::iter::once(CONTEXT).chain(payloads.iter().copied()).collect();
    let told = told(log(&payloads).as_bytes());
    let last = told.iter().rfind(|line| line.starts_with("assistant ")).expect("an assistant's turn");
    let found = if let Some((_, signal)) = last.split_once(" HARNESS signal=\"") {
        assert!(!last.contains(" model="), "{last}");
        signal.split_once('"').expect("the signal's end").0
    } else if last.contains(" model=m-1") {
        "MODEL"
    } else {
        "UNKNOWN"
    };
    assert_eq!(found, expected, "{told:#?}");
}

#[test]
fn the_answer_of_an_interrupted_review_is_the_harnesss() {
    check_last(&[&said("user", ACTION), &said("assistant", INTERRUPTED)], "review-interrupted");
    let exited = r#"event {"type":"exited_review_mode","review_output":null}"#;
    check_last(&[exited, &said("assistant", INTERRUPTED)], "review-interrupted");
}

#[test]
fn the_same_words_elsewhere_are_the_models() {
    check_last(&[&said("user", "what?"), &said("assistant", INTERRUPTED)], "MODEL");
    check_last(&[&said("user", ACTION), &said("user", "what?"), &said("assistant", INTERRUPTED)], "MODEL");
    check_last(&[&said("user", ACTION), &said("assistant", "ok"), &said("assistant", INTERRUPTED)], "MODEL");
    check_last(&[&said("user", "what?"), &said("assistant", NO_ANSWER)], "MODEL");
}

#[test]
fn a_review_without_an_answer_is_the_harnesss_and_one_with_an_answer_a_models_that_nobody_recorded() {
    check_last(&[&said("user", DONE), &said("assistant", NO_ANSWER)], "review-without-answer");
    check_last(&[&said("user", DONE), &said("assistant", "One finding.")], "UNKNOWN");
}

#[test]
fn only_the_message_behind_a_review_is_of_its_model() {
    let exited = r#"event {"type":"exited_review_mode","review_output":{}}"#;
    let call = r#"item {"type":"function_call","name":"shell","call_id":"c","arguments":"{}"}"#;
    check_last(&[exited, call], "MODEL");
    check_last(&[exited, r#"item {"type":"reasoning","summary":["t"]}"#, &said("assistant", "mine")], "MODEL");
    check_last(&[exited, CONTEXT, &said("assistant", "mine")], "MODEL");
    check_last(&[exited, r#"event {"type":"task_started"}"#, &said("assistant", "mine")], "MODEL");
}

#[test]
fn what_the_harness_says_is_not_taken_over_by_a_model_that_says_it_in_a_later_turn() {
    let compacted = r#"compacted {"message":"x"}"#;
    for (words, signal) in
        [("Compact task completed", "compact-notice"), ("<EXTERNAL SESSION IMPORTED>", "import-marker")]
    {
        let notice = format!(r#"event {{"type":"agent_message","message":"{words}"}}"#);
        let (item, first, second) = (said("assistant", words), said("user", "hi"), said("user", "say it"));
        let own = r#"event {"type":"task_started","turn_id":"t1"}"#;
        for later in [&[&*item, &notice][..], &[&notice, &item], &[&item]] {
            let turns = [&[CONTEXT, &first, compacted, &notice, own, &second], later].concat();
            let told = told(log(&turns).as_bytes());
            let credits: Vec<_> = told.iter().filter(|line| line.starts_with("assistant ")).collect();
            let [harness, model] = credits.as_slice() else { panic!("{told:#?}") };
            assert!(harness.contains(&format!(" HARNESS signal=\"{signal}\"")), "{told:#?}");
            assert!(model.contains(" model=m-1"), "{told:#?}");
        }
    }
}

#[test]
fn the_text_of_an_answer_with_a_picture_is_not_told_as_a_second_answer() {
    let item = r#"item {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Found."},{"type":"input_image","image_url":null}]}"#;
    let event = r#"event {"type":"agent_message","message":"Found."}"#;
    for order in [[item, event], [event, item]] {
        let told = told(log(&[&[CONTEXT], &order[..]].concat()).as_bytes());
        let answers: Vec<_> = told.iter().filter(|line| line.starts_with("assistant ")).collect();
        assert!(matches!(answers.as_slice(), [one] if one.contains(" model=m-1")), "{told:#?}");
    }
}

#[test]
fn a_compaction_notice_is_the_harnesss_next_to_a_compaction_only() {
    let notice = r#"event {"type":"agent_message","message":"Compact task completed"}"#;
    let compacted = r#"compacted {"message":"x"}"#;
    check_last(&[&said("user", "hi"), compacted, notice], "compact-notice");
    check_last(&[compacted, &said("user", "hi"), notice], "UNKNOWN");
    check_last(&[compacted, notice, &said("assistant", "Compact task completed")], "MODEL");
}

#[test]
fn the_mark_of_an_import_is_the_harnesss() {
    let mark = r#"event {"type":"agent_message","message":"<EXTERNAL SESSION IMPORTED>"}"#;
    check_last(&[mark], "import-marker");
    check_last(&[&said("assistant", "<EXTERNAL SESSION IMPORTED>, it says")], "MODEL");
}

#[test]
fn what_was_imported_is_not_this_models_and_a_bare_result_is_nobodys() {
    let begun = r#"event {"type":"task_started","turn_id":"external-import-turn-3"}"#;
    let result = "[external_agent_tool_result]\nok\n[/external_agent_tool_result]";
    check_last(&[begun, &said("assistant", "words")], "UNKNOWN");
    check_last(&[begun, &said("assistant", result)], "imported-tool-result");
    check_last(&[begun, &said("assistant", &format!("Look: {result}"))], "UNKNOWN");
    check_last(&[&said("assistant", result)], "MODEL");
    let own = r#"event {"type":"task_started","turn_id":"t1"}"#;
    check_last(&[begun, &said("assistant", "words"), own, &said("assistant", "mine")], "MODEL");
    // Without turns' ids, everything before the mark was imported.
    let mark = r#"event {"type":"agent_message","message":"<EXTERNAL SESSION IMPORTED>"}"#;
    let told = told(log(&[CONTEXT, &said("assistant", "theirs"), mark, &said("assistant", "mine")]).as_bytes());
    let models: Vec<_> = told.iter().filter(|line| line.contains(" model=")).collect();
    assert!(matches!(models.as_slice(), [mine] if mine.ends_with(": mine")), "{told:#?}");
}

#[test]
fn another_agents_letter_and_a_lost_delivery_are_the_harnesss() {
    let letter = r#"{"author":"a","recipient":"b","other_recipients":[],"content":"c","trigger_turn":false}"#;
    let with =
        |phase: &str| said("assistant", letter).replace(r#","content""#, &format!(r#","phase":"{phase}","content""#));
    check_last(&[&with("commentary")], "agent-mail");
    check_last(&[&with("final_answer")], "MODEL");
    check_last(&[&said("assistant", letter)], "MODEL");
}

#[test]
fn a_delivered_message_whose_text_is_lost_is_the_harnesss_and_a_copy_is_a_duplicate() {
    let with = |mark: &str| {
        let message = said("assistant", "x");
        let (_, payload) = message.split_once(' ').expect("a payload");
        let log = log(&[CONTEXT]);
        told(format!(r#"{log}{}{{"type":"response_item","payload":{payload},"metadata":{{"delivered_assistant_message":"codex:code-mode-delivery:v1:{mark}"}}}}"#, "\n").as_bytes())
    };
    assert!(with("incomplete:1").iter().any(|line| line.contains("HARNESS signal=\"delivery-placeholder\": x")));
    assert!(with("complete").iter().any(|line| line.starts_with("duplicate")));
    assert!(with("other").iter().any(|line| line.contains("model=m-1: x")));
}

#[test]
fn errors_and_warnings_are_events_and_an_answer_that_quotes_one_is_the_models() {
    check(
        &[
            r#"event {"type":"error","message":"You've hit your usage limit."}"#,
            r#"event {"type":"warning","message":"x"}"#,
            r#"event {"type":"task_complete","last_agent_message":null,"error":{"message":"x"}}"#,
        ],
        &[
            r#"event error line-2: {"type":"error","message":"You've hit your usage limit."}"#,
            r#"event warning line-3: {"type":"warning","message":"x"}"#,
            r#"event task_complete line-4: {"type":"task_complete","last_agent_message":null,"error":{"message":"x"}}"#,
        ],
    );
    check_last(&[&said("assistant", "stream disconnected before completion")], "MODEL");
    check_last(&[&said("assistant", "You've hit your usage limit.")], "MODEL");
}

#[test]
fn the_model_is_the_turns_and_never_the_headers_or_the_providers() {
    let header = r#"{"type":"session_meta","payload":{"id":"s","model_provider":"openai","model":"m-0"}}"#;
    let (_, message) =
        said("assistant", "x").split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())).expect("a payload");
    let item = format!(r#"{{"type":"response_item","payload":{message}}}"#);
    let context = |model: &str| format!(r#"{{"type":"turn_context","payload":{{"model":"{model}"}}}}"#);
    let settings =
        r#"{"type":"event_msg","payload":{"type":"thread_settings_applied","thread_settings":{"model":"m-3"}}}"#;
    let prompt = item.replace("assistant", "user");
    let lines =
        [header, &item, &prompt, &context("m-1"), &item, &prompt, &context("m-2"), &item, &prompt, settings, &item];
    let told = told(lines.join("\n").as_bytes());
    let models: Vec<_> = told
        .iter()
        .filter(|line| line.starts_with("assistant "))
        .map(|line| line.split(" model=").nth(1).map_or("-", |rest| &rest[..3]))
        .collect();
    assert_eq!(models, ["-", "m-1", "m-2", "m-3"]);
}
