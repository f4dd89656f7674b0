//! Who is credited: every signal that is applied, and everything that looks like one and is none.

use super::{check, event};

#[test]
fn an_error_stands_where_the_answer_would_and_is_the_harnesss() {
    for data in [
        r#"{"errorType":"rate_limit","errorCode":"user_weekly_rate_limited","message":"Slow down","statusCode":429}"#,
        r#"{"errorType":"quota","errorCode":"quota_exceeded","message":"Slow down","statusCode":402}"#,
        r#"{"errorType":"authentication","message":"Slow down"}"#,
        r#"{"errorType":"context_limit","message":"Slow down"}"#,
        r#"{"errorType":"query","message":"Slow down"}"#,
    ] {
        check(
            &[event("session.error", "e", data)],
            &[
                r#"assistant e stop=error HARNESS signal="session-error": Slow down"#,
                &format!(r#"+ event notice  after=e: {{"data":{data}}}"#),
            ],
        );
    }
}

#[test]
fn an_error_names_no_model_although_one_was_chosen() {
    check(
        &[
            event("session.start", "a", r#"{"sessionId":"s","selectedModel":"m-1"}"#),
            event("session.error", "e", r#"{"message":"x","model":"m-1"}"#),
        ],
        &[
            r#"event session.start a: {"data":{"sessionId":"s","selectedModel":"m-1"},"parentId":null}"#,
            r#"assistant e stop=error HARNESS signal="session-error": x"#,
            r#"+ event notice  after=e: {"data":{"message":"x","model":"m-1"}}"#,
        ],
    );
}

#[test]
fn warnings_and_information_are_the_harnesss() {
    for (kind, signal) in [("session.warning", "session-warning"), ("session.info", "session-info")] {
        check(
            &[event(kind, "e", r#"{"message":"x"}"#)],
            &[
                &format!(r#"system e HARNESS signal="{signal}": x"#),
                r#"+ event notice  after=e: {"data":{"message":"x"}}"#,
            ],
        );
    }
}

#[test]
fn an_interruption_is_the_harnesss_and_the_answer_before_it_the_models() {
    check(
        &[
            event("assistant.message", "a", r#"{"model":"m","content":"One mo"}"#),
            event("abort", "b", r#"{"reason":"user_initiated"}"#),
        ],
        &[
            "assistant a model=m: One mo",
            r#"system b stop=aborted HARNESS signal="abort": user_initiated"#,
            r#"+ event notice  after=b: {"data":{"reason":"user_initiated"}}"#,
        ],
    );
}

#[test]
fn a_command_that_the_human_ran_is_the_humans_and_no_models() {
    let made = r#"{"toolCallId":"u","toolName":"local_shell","arguments":{"command":"ls"}}"#;
    check(
        &[
            event("session.start", "s", r#"{"sessionId":"s","selectedModel":"m-1"}"#),
            event("tool.user_requested", "a", made),
            event("tool.execution_start", "b", made),
            event(
                "tool.execution_complete",
                "c",
                r#"{"toolCallId":"u","success":true,"isUserRequested":true,"result":{"content":"x"}}"#,
            ),
        ],
        &[
            r#"event session.start s: {"data":{"sessionId":"s","selectedModel":"m-1"},"parentId":null}"#,
            r#"user a call=u:local_shell:4:{"command":"ls"}: !ls"#,
            "folded: told with its call",
            "result u: x",
        ],
    );
}

#[test]
fn what_no_human_typed_in_the_users_place_is_the_harnesss() {
    for (data, signal) in [
        (r#"{"content":"x","isAutopilotContinuation":true}"#, "autopilot-continuation"),
        (r#"{"content":"x","source":"skill-pdf"}"#, "skill-source"),
        (r#"{"content":"x","source":"agent-1"}"#, "agent-source"),
        (r#"{"content":"x","source":"schedule"}"#, "source-not-user"),
    ] {
        check(&[event("user.message", "u", data)], &[&format!(r#"user u HARNESS signal="{signal}": x"#)]);
    }
    check(
        &[event("user.message", "u", r#"{"content":"<skill-context>x"}"#)],
        &[r#"user u HARNESS signal="skill-context": <skill-context>x"#],
    );
    check(
        &[event("system.notification", "u", r#"{"content":"x","kind":{"type":"y"}}"#)],
        &[
            r#"user u HARNESS signal="system-notification": x"#,
            r#"+ event notification  after=u: {"kind":{"type":"y"}}"#,
        ],
    );
    check(
        &[event("system.message", "u", r#"{"role":"system","content":"x"}"#)],
        &[r#"system u HARNESS signal="system-message": x"#],
    );
}

#[test]
fn what_a_human_typed_is_the_humans() {
    for data in [
        r#"{"content":"x"}"#,
        r#"{"content":"x","source":"user","isAutopilotContinuation":false}"#,
        r#"{"content":"x","source":null,"delivery":"steering","agentMode":"autopilot"}"#,
    ] {
        check(&[event("user.message", "u", data)], &["user u: x"]);
    }
    check(&[event("user.message", "u", r#"{"content":"why <skill-context>?"}"#)], &["user u: why <skill-context>?"]);
}

#[test]
fn what_the_model_was_shown_beside_the_prompt_is_kept_apart() {
    check(
        &[event(
            "user.message",
            "u",
            r#"{"content":"x","transformedContent":"now\nx","attachments":[{"type":"file"}]}"#,
        )],
        &[
            "user u: x",
            r#"+ event user-message  after=u: {"attachments":[{"type":"file"}],"transformedContent":"now\nx"}"#,
        ],
    );
}

#[test]
fn summaries_and_intents_are_events_although_a_model_made_them() {
    for (kind, data) in [
        ("session.task_complete", r#"{"summary":"x","success":true}"#),
        ("session.compaction_complete", r#"{"success":true,"summaryContent":"x"}"#),
        ("assistant.intent", r#"{"intent":"x"}"#),
        ("session.model_change", r#"{"newModel":"m","cause":"rate_limit_auto_switch"}"#),
        ("session.model_change", r#"{"newModel":"m","cause":"refusal_fallback"}"#),
    ] {
        check(&[event(kind, "e", data)], &[&format!(r#"event {kind} e: {{"data":{data},"parentId":null}}"#)]);
    }
}

#[test]
fn a_message_without_a_model_is_the_one_that_was_chosen_last() {
    check(
        &[
            event("session.model_change", "a", r#"{"newModel":"m-1"}"#),
            event("assistant.message", "b", r#"{"content":"x"}"#),
            event("tool.execution_start", "c", r#"{"toolCallId":"q","model":"m-2"}"#),
            event("assistant.message", "d", r#"{"content":"y","model":null}"#),
            event("assistant.message", "e", r#"{"content":"z","model":"m-3"}"#),
        ],
        &[
            r#"event session.model_change a: {"data":{"newModel":"m-1"},"parentId":null}"#,
            "assistant b model=m-1: x",
            r#"event tool.execution_start c: {"data":{"toolCallId":"q","model":"m-2"},"parentId":null}"#,
            "assistant d model=m-2: y",
            "assistant e model=m-3: z",
        ],
    );
}

#[test]
fn a_model_that_nobody_named_stays_unknown() {
    check(&[event("assistant.message", "b", r#"{"content":"x"}"#)], &["assistant b: x"]);
    check(
        &[
            event("session.model_change", "a", r#"{"previousModel":"m-1","newModel":"auto"}"#),
            event("assistant.message", "b", r#"{"content":"x"}"#),
        ],
        &[
            r#"event session.model_change a: {"data":{"previousModel":"m-1","newModel":"auto"},"parentId":null}"#,
            "assistant b: x",
        ],
    );
}

#[test]
fn messages_without_tokens_words_or_ids_and_quoted_errors_are_the_models() {
    for (data, told) in [
        (r#"{"model":"m","content":""}"#, "assistant a model=m: "),
        (r#"{"model":"m","content":"","reasoningOpaque":"c2ln"}"#, "assistant a model=m: "),
        (r#"{"model":"m","content":"429 rate limit"}"#, "assistant a model=m: 429 rate limit"),
        (r#"{"model":"m","content":"x","phase":"final_answer"}"#, "assistant a model=m: x"),
        (r#"{"model":"claude-x","content":"x","outputTokens":3}"#, "assistant a model=claude-x usage=-/3/-/-: x"),
    ] {
        check(&[event("assistant.message", "a", data)], &[told]);
    }
}

#[test]
fn a_refused_call_is_a_failed_call_and_no_turn() {
    check(
        &[
            event(
                "assistant.message",
                "a",
                r#"{"content":"","toolRequests":[{"toolCallId":"c","name":"bash","arguments":{}}]}"#,
            ),
            event(
                "tool.execution_complete",
                "b",
                r#"{"toolCallId":"c","success":false,"error":{"message":"denied","code":"denied"}}"#,
            ),
        ],
        &["assistant a call=c:bash:4:{}: ", "result c ERROR: denied"],
    );
}
