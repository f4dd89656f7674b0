//! Who is credited: every signal that is applied, and everything that looks like one and is none.

use super::check;

const INTERRUPTED: &str = "[The previous response was interrupted before it completed.]";
const COMPRESSED: &str = "Got it. Thanks for the additional context!";
const BINARY: &str = "Binary content received. Proceeding with analysis.";
const SIGNED: &str = r#""thoughtSignature":"skip_thought_signature_validator""#;

/// A message in the model's position with these fields.
#[track_caller]
fn check_model(fields: &str, expected: &str) {
    check(&[&format!(r#"{{"id":"m","type":"gemini",{fields}}}"#)], &[expected]);
}

#[track_caller]
fn check_user(content: &str, expected: &str) {
    check(&[&format!(r#"{{"id":"u","type":"user","content":{content}}}"#)], &[expected]);
}

#[test]
fn the_placeholder_for_an_interrupted_response_is_the_harnesss() {
    let expected = format!("assistant m HARNESS signal=\"interrupted-response\": {INTERRUPTED}");
    check_model(&format!(r#""content":"{INTERRUPTED}""#), &expected);
    check_model(&format!(r#""content":[{{"text":"{INTERRUPTED}"}}],"tokens":null,"thoughts":[]"#), &expected);
}

#[test]
fn a_model_that_quotes_the_placeholder_is_the_model() {
    check_model(
        &format!(r#""content":"{INTERRUPTED}","model":"g-1""#),
        &format!("assistant m model=g-1: {INTERRUPTED}"),
    );
    check_model(
        &format!(r#""content":"{INTERRUPTED}","tokens":{{"input":1,"output":1}}"#),
        &format!("assistant m usage=1/1/-/-: {INTERRUPTED}"),
    );
    check_model(&format!(r#""content":"It said {INTERRUPTED}""#), &format!("assistant m: It said {INTERRUPTED}"));
}

#[test]
fn the_acknowledgement_of_binary_content_is_the_harnesss() {
    check_model(
        &format!(r#""content":[{{"thought":true,"text":"{BINARY}",{SIGNED}}}]"#),
        &format!("assistant m thinking={BINARY} HARNESS signal=\"binary-acknowledgement\": "),
    );
}

#[test]
fn the_same_words_without_the_signature_or_with_a_model_are_the_models() {
    check_model(
        &format!(r#""content":[{{"thought":true,"text":"{BINARY}"}}]"#),
        &format!("assistant m thinking={BINARY}: "),
    );
    check_model(
        &format!(r#""model":"g-1","content":[{{"thought":true,"text":"{BINARY}",{SIGNED}}}]"#),
        &format!("assistant m model=g-1 thinking={BINARY}: "),
    );
    check_model(&format!(r#""content":[{{"text":"{BINARY}",{SIGNED}}}]"#), &format!("assistant m: {BINARY}"));
}

#[test]
fn a_signature_that_the_cli_made_up_on_a_call_is_no_signal() {
    check_model(
        &format!(r#""content":[{{"functionCall":{{"id":"c","name":"glob","args":{{}}}},{SIGNED}}}]"#),
        "assistant m call=c:glob:3:{}: ",
    );
}

#[test]
fn the_acknowledgement_of_a_summary_is_the_harnesss_right_after_one() {
    let summary = r#"{"id":"s1","type":"user","content":"<state_snapshot>so far</state_snapshot>"}"#;
    let reply = format!(r#"{{"id":"m","type":"gemini","content":"{COMPRESSED}"}}"#);
    check(
        &[summary, &reply],
        &[
            &format!("event compaction-summary s1: {{\"raw\":{summary}}}"),
            &format!("assistant m after=s1 HARNESS signal=\"compression-acknowledgement\": {COMPRESSED}"),
        ],
    );
}

#[test]
fn the_same_words_elsewhere_are_the_models() {
    check_model(&format!(r#""content":"{COMPRESSED}""#), &format!("assistant m: {COMPRESSED}"));
    let summary = r#"{"id":"s1","type":"user","content":"<state_snapshot>so far</state_snapshot>"}"#;
    let told = format!("event compaction-summary s1: {{\"raw\":{summary}}}");
    check(
        &[summary, &format!(r#"{{"id":"m","type":"gemini","model":"g-1","content":"{COMPRESSED}"}}"#)],
        &[&told, &format!("assistant m after=s1 model=g-1: {COMPRESSED}")],
    );
}

#[test]
fn a_user_who_asks_for_a_skill_lets_the_harness_call_it() {
    let call = r#"{"functionCall":{"id":"c","name":"activate_skill","args":{"name":"x"}}}"#;
    check_model(
        &format!(r#""content":[{call}]"#),
        r#"assistant m call=c:activate_skill:0:{"name":"x"} HARNESS signal="skill-activation": "#,
    );
}

#[test]
fn a_model_that_asks_for_a_skill_calls_it_itself() {
    let call = r#""functionCall":{"id":"c","name":"activate_skill","args":{}}"#;
    for (fields, expected) in [
        (format!(r#""content":[{{{call}}}],"model":"g-1""#), "assistant m model=g-1 call=c:activate_skill:0:{}: "),
        (format!(r#""content":[{{{call},"thoughtSignature":"x"}}]"#), "assistant m call=c:activate_skill:0:{}: "),
        (format!(r#""content":[{{"text":"so"}},{{{call}}}]"#), "assistant m call=c:activate_skill:0:{}: so"),
    ] {
        check_model(&fields, expected);
    }
}

#[test]
fn errors_warnings_and_notices_are_the_harnesss() {
    for kind in ["error", "warning", "info"] {
        check(
            &[&format!(r#"{{"id":"n","type":"{kind}","content":"Request cancelled."}}"#)],
            &[&format!("system n HARNESS signal=\"{kind}-record\": Request cancelled.")],
        );
    }
}

#[test]
fn data_that_a_tool_read_is_no_notice() {
    let record = r#"{"id":"n","type":"info","content":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}"#;
    check(&[record], &[&format!("event info n: {{\"raw\":{record}}}")]);
}

#[test]
fn a_model_that_is_not_named_is_unknown_whatever_its_tokens() {
    check_model(r#""content":"Hello.""#, "assistant m: Hello.");
    check_model(
        r#""content":"Hello.","tokens":{"input":0,"output":0,"cached":0}"#,
        "assistant m usage=0/0/0/-: Hello.",
    );
    check_model(r#""content":"Quota exceeded for model.","tokens":null"#, "assistant m: Quota exceeded for model.");
}

#[test]
fn what_the_cli_puts_in_the_users_position_is_not_the_users() {
    for (text, name) in [
        ("<session_context>\\nToday\\n</session_context>", "session-context"),
        ("<hook_context>x</hook_context>", "hook-context"),
        ("System: Potential loop detected. Think.", "loop-recovery"),
        ("System: Please continue.", "continue-request"),
    ] {
        let said = text.replace("\\n", "\n");
        check_user(&format!("[{{\"text\":\"{text}\"}}]"), &format!("user u HARNESS signal=\"{name}\": {said}"));
    }
}

#[test]
fn a_user_who_writes_beside_or_about_it_is_the_user() {
    for text in [
        "<session_context>x</session_context> and go",
        "what is <hook_context>?",
        "<hook_context>x",
        "<hook_context>a</hook_context> b <hook_context>c</hook_context>",
        "Please continue.",
        "System: Please continue. Then stop.",
        "He wrote: System: Potential loop detected.",
        "/help",
        "? what",
        "I ran the following shell command: ls",
    ] {
        check_user(&format!("\"{text}\""), &format!("user u: {text}"));
    }
}
