//! Who is credited: every signal that is applied, and everything that looks like one and is none.

use super::check;

const MADE: &str = "HARNESS signal=";

/// An assistant record with the keys of `record` and of `message`.
#[track_caller]
fn check_assistant(record: &str, message: &str, expected: &str) {
    check(&format!(r#"{{"type":"assistant","uuid":"a"{record},"message":{{{message}}}}}"#), &[expected]);
}

#[test]
fn an_api_error_shown_as_a_reply_is_the_harnesss() {
    check_assistant(
        r#","isApiErrorMessage":true,"error":"rate_limit","apiErrorStatus":429"#,
        r#""id":"0f0e","model":"PLACEHOLDER","stop_reason":"stop_sequence","stop_sequence":"",
            "usage":{"input_tokens":0,"output_tokens":0},"content":[{"type":"text","text":"You're out of extra usage"}]"#
            .replace('\n', "")
            .as_str(),
        &format!("assistant a group=0f0e stop=stop_sequence snapshot=0/0/-/- {MADE}\"api-error-flag\": You're out of extra usage"),
    );
}

#[test]
fn an_api_error_is_the_harnesss_and_names_no_model_even_where_the_log_does() {
    check_assistant(
        r#","isApiErrorMessage":true"#,
        r#""model":"m-1","content":"API Error: 500""#,
        &format!("assistant a {MADE}\"api-error-flag\": API Error: 500"),
    );
    check_assistant(
        r#","isApiErrorMessage":true"#,
        r#""content":"API Error: 500""#,
        &format!("assistant a {MADE}\"api-error-flag\": API Error: 500"),
    );
}

#[test]
fn the_placeholder_for_a_model_is_the_harnesss_whatever_the_text() {
    for flag in ["", r#","isApiErrorMessage":false"#, r#","isApiErrorMessage":null"#] {
        check_assistant(
            flag,
            r#""model":"PLACEHOLDER","content":[{"type":"text","text":"No response requested."}]"#,
            &format!("assistant a {MADE}\"placeholder-model\": No response requested."),
        );
    }
    check_assistant(
        "",
        r#""model":"PLACEHOLDER","content":"Hello, how can I help?""#,
        &format!("assistant a {MADE}\"placeholder-model\": Hello, how can I help?"),
    );
    check_assistant(
        "",
        r#""model":"PLACEHOLDER","content":"(no content)""#,
        &format!("assistant a {MADE}\"placeholder-model\": (no content)"),
    );
}

#[test]
fn another_name_in_angle_brackets_is_likely_the_harnesss() {
    check_assistant(
        "",
        r#""model":"<offline>","content":"x""#,
        &format!("assistant a {MADE}\"placeholder-model-likely\": x"),
    );
}

#[test]
fn a_sub_agents_errors_are_the_harnesss_too() {
    check_assistant(
        r#","isSidechain":true,"agentId":"x","isApiErrorMessage":true"#,
        r#""model":"PLACEHOLDER","content":"API Error""#,
        r#"assistant a HARNESS branch={"call":null,"agent":"x"} signal="api-error-flag": API Error"#,
    );
}

#[test]
fn a_models_stop_sequence_and_missing_or_zero_usage_are_no_signals() {
    check_assistant(
        "",
        r#""id":"g","model":"m-1","stop_reason":"stop_sequence","stop_sequence":"","usage":{"input_tokens":0,"output_tokens":0},"content":"x""#,
        "assistant a group=g model=m-1 stop=stop_sequence snapshot=0/0/-/-: x",
    );
    check_assistant("", r#""id":"0f0e0d0c","model":"m-1","content":"x""#, "assistant a group=0f0e0d0c model=m-1: x");
}

#[test]
fn a_model_that_quotes_an_error_is_the_model() {
    for text in [
        "API Error: 500 ..",
        "You've hit your session limit",
        "No response requested.",
        "[Request interrupted by user]",
    ] {
        check_assistant("", &format!(r#""model":"m-1","content":"{text}""#), &format!("assistant a model=m-1: {text}"));
    }
}

#[test]
fn a_flag_that_is_false_or_null_is_no_signal() {
    for flag in ["false", "null"] {
        check_assistant(
            &format!(r#","isApiErrorMessage":{flag}"#),
            r#""model":"m-1","content":"x""#,
            "assistant a model=m-1: x",
        );
    }
}

#[test]
fn an_empty_block_is_dropped_and_the_turn_is_the_models() {
    check_assistant(
        "",
        r#""model":"m-1","content":[{"type":"text","text":"(no content)"}]"#,
        "assistant a model=m-1: ",
    );
    check(r#"{"type":"user","uuid":"u","message":{"content":"(no content)"}}"#, &["user u: (no content)"]);
}

#[test]
fn a_message_that_breaks_off_and_the_error_after_it_are_two_turns() {
    check(
        r#"{"type":"assistant","uuid":"a","message":{"id":"g","model":"m-1","content":[{"type":"text","text":"I will"},{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}
{"type":"assistant","uuid":"b","parentUuid":"a","isApiErrorMessage":true,"message":{"id":"h","model":"PLACEHOLDER","content":"API Error"}}"#,
        &[
            "assistant a group=g model=m-1 call=t:Bash:4:{}: I will",
            r#"assistant b after=a group=h HARNESS signal="api-error-flag": API Error"#,
        ],
    );
}

#[test]
fn a_compaction_summary_is_an_event_and_nobodys_words() {
    check(
        r#"{"type":"user","uuid":"u","parentUuid":"p","isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"So far"}}"#,
        &[
            r#"event compaction-summary u after=p: {"isCompactSummary":true,"isVisibleInTranscriptOnly":true,"message":{"role":"user","content":"So far"},"parentUuid":"p"}"#,
        ],
    );
}

#[test]
fn flags_about_display_are_no_signals() {
    check_assistant(
        r#","isVirtual":true,"isVisibleInTranscriptOnly":true"#,
        r#""model":"m-1","content":"x""#,
        "assistant a model=m-1: x",
    );
    check(
        r#"{"type":"user","uuid":"u","isVirtual":true,"isVisibleInTranscriptOnly":true,"message":{"content":"x"}}"#,
        &["user u: x"],
    );
}

#[test]
fn system_notices_are_events_even_with_the_flag_of_an_error() {
    for subtype in ["api_error", "informational", "local_command", "turn_duration"] {
        check(
            &format!(
                r#"{{"type":"system","uuid":"u","parentUuid":null,"subtype":"{subtype}","isApiErrorMessage":true,"content":"API Error"}}"#
            ),
            &[&format!(
                r#"event system u: {{"content":"API Error","isApiErrorMessage":true,"parentUuid":null,"subtype":"{subtype}"}}"#
            )],
        );
    }
}

#[test]
fn titles_are_events_although_a_model_made_them() {
    check(
        r#"{"type":"summary","summary":"x","leafUuid":"l"}
{"type":"ai-title","aiTitle":"y","sessionId":"s"}"#,
        &[
            r#"event summary line-1: {"raw":{"type":"summary","summary":"x","leafUuid":"l"}}"#,
            r#"event ai-title line-2: {"raw":{"type":"ai-title","aiTitle":"y","sessionId":"s"}}"#,
        ],
    );
}

#[test]
fn a_fallback_model_is_the_model_that_answered() {
    check_assistant(r#","fallbackModel":"m-2""#, r#""model":"m-2","content":"x""#, "assistant a model=m-2: x");
}

#[test]
fn an_interruption_is_the_harnesss_in_the_users_position() {
    check(
        r#"{"type":"user","uuid":"u","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#,
        &[r#"user u HARNESS signal="interruption-notice": [Request interrupted by user]"#],
    );
}

#[test]
fn words_of_the_harness_beside_a_result_are_its_own_and_a_prompt_there_is_a_humans() {
    let log = |record: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"u"{record},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"ok"}},{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    check(
        &log("", "<system-reminder>x</system-reminder>"),
        &["+ result t: ok", r#"user u HARNESS signal="harness-wrapper": <system-reminder>x</system-reminder>"#],
    );
    check(&log(r#","isMeta":true"#, "x"), &["+ result t: ok", r#"user u HARNESS signal="meta-record": x"#]);
    check(&log("", "go on"), &["+ result t: ok", "user u: go on"]);
}

#[test]
fn a_reminder_beside_a_prompt_is_not_the_humans_and_stands_beside_the_turn() {
    let blocks = r#"[{"type":"text","text":"<ide_opened_file>a.py</ide_opened_file>"},{"type":"text","text":"fix it"},{"type":"text","text":"<system-reminder>be kind</system-reminder>"}]"#;
    let block =
        |text: &str| format!(r#"+ event content-block  after=u: {{"block":{{"type":"text","text":"{text}"}}}}"#);
    check(
        &format!(r#"{{"type":"user","uuid":"u","message":{{"content":{blocks}}}}}"#),
        &[
            "user u: fix it",
            &block("<ide_opened_file>a.py</ide_opened_file>"),
            &block("<system-reminder>be kind</system-reminder>"),
        ],
    );
    check(
        &format!(r#"{{"type":"attachment","uuid":"u","attachment":{{"type":"queued_command","prompt":{blocks}}}}}"#),
        &[
            "user u: fix it",
            &format!(r#"+ event attachment  after=u: {{"attachment":{{"type":"queued_command","prompt":{blocks}}}}}"#),
        ],
    );
}

#[test]
fn a_reminder_within_what_was_typed_is_not_taken_apart() {
    let typed = "what is <system-reminder>x</system-reminder>?";
    check(
        &format!(r#"{{"type":"user","uuid":"u","message":{{"content":[{{"type":"text","text":"{typed}"}}]}}}}"#),
        &[&format!("user u: {typed}")],
    );
}

#[test]
fn messages_of_a_sub_agent_in_a_captured_stream_are_on_its_branch() {
    let said = |id: &str, call: &str| {
        format!(r#"{{"type":"user","uuid":"{id}","parent_tool_use_id":{call},"message":{{"content":"{id}"}}}}"#)
    };
    check(
        &[said("a", "null"), said("b", "\"t\""), said("c", "\"t\"")].join("\n"),
        &[
            "user a: a",
            r#"user b branch={"call":"t","agent":"sidechain"}: b"#,
            r#"user c branch={"call":"t","agent":"sidechain"}: c"#,
        ],
    );
}
