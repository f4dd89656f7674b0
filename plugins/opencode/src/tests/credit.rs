//! Who is credited: every signal that is applied, and everything that looks like one and is none.

use super::check;

const ASK: &str = "m msg_1 {\"role\":\"user\"}\np prt_1 {\"type\":\"text\",\"text\":\"hi\"}\n";
const ASKED: [&str; 2] = ["user msg_1: hi", "folded: text of its message"];

/// A reply to a prompt, with its fields and its parts.
#[track_caller]
fn check_reply(fields: &str, parts: &[&str], expected: &[&str]) {
    let mut log = format!("{ASK}m msg_2 {{\"role\":\"assistant\",\"parentID\":\"msg_1\"{fields}}}\n");
    for (index, part) in parts.iter().enumerate() {
        log.push_str(&format!("p prt_2{index} {part}\n"));
    }
    check(&log, &[&ASKED[..], expected].concat());
}

const ZERO: &str = r#","cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}}"#;
const BASH: &str = r#"{"type":"tool","callID":"c","tool":"bash","state":{"status":"completed","input":{"command":"ls"},"output":"a"}}"#;

#[test]
fn a_command_that_the_user_ran_is_the_harnesss_and_no_models() {
    let note = r#"{"type":"text","text":"The following tool was executed by the user","synthetic":true}"#;
    check(
        &format!(
            "m msg_1 {{\"role\":\"user\"}}\np prt_1 {note}\n
             m msg_2 {{\"role\":\"assistant\",\"parentID\":\"msg_1\",\"modelID\":\"m-1\",\"providerID\":\"p\"{ZERO}}}\np prt_2 {BASH}"
        ),
        &[
            "user msg_1 HARNESS signal=\"synthetic-text\": The following tool was executed by the user",
            "folded: text of its message",
            "assistant msg_2 after=msg_1 usage=0/0/0/0 call=c:bash:4:{\"command\":\"ls\"} HARNESS signal=\"user-shell\": ",
            "result c: a",
        ],
    );
}

#[test]
fn a_models_command_after_a_prompt_that_says_the_same_is_the_models() {
    // A human can type it; only the mark makes it the harness's.
    check(
        &format!(
            "m msg_1 {{\"role\":\"user\"}}\np prt_1 {{\"type\":\"text\",\"text\":\"The following tool was executed by the user\"}}\n
             m msg_2 {{\"role\":\"assistant\",\"parentID\":\"msg_1\",\"modelID\":\"m-1\"{ZERO}}}\np prt_2 {BASH}"
        ),
        &[
            "user msg_1: The following tool was executed by the user",
            "folded: text of its message",
            "assistant msg_2 after=msg_1 model=m-1 usage=0/0/0/0 call=c:bash:4:{\"command\":\"ls\"}: ",
            "result c: a",
        ],
    );
}

#[test]
fn a_command_with_a_step_is_a_models() {
    check_reply(
        &format!(r#","modelID":"m-1"{ZERO}"#),
        &[BASH, r#"{"type":"step-finish","reason":"tool-calls"}"#],
        &[
            "assistant msg_2 after=msg_1 model=m-1 usage=0/0/0/0 call=c:bash:4:{\"command\":\"ls\"}: ",
            "result c: a",
            r#"event step-finish prt_21 after=msg_2: {"step-finish":{"type":"step-finish","reason":"tool-calls"}}"#,
        ],
    );
}

#[test]
fn the_call_of_a_slash_command_is_the_harnesss() {
    let task = r#"{"type":"tool","callID":"c","tool":"task","state":{"status":"completed","input":{"prompt":"look","subagent_type":"review","command":"check"},"output":"fine"}}"#;
    check(
        &format!(
            "m msg_1 {{\"role\":\"user\"}}\np prt_1 {{\"type\":\"subtask\",\"prompt\":\"look\",\"description\":\"Check it\",\"agent\":\"review\",\"command\":\"check\"}}\n
             m msg_2 {{\"role\":\"assistant\",\"parentID\":\"msg_1\",\"modelID\":\"m-1\",\"finish\":\"tool-calls\"{ZERO}}}\np prt_2 {task}"
        ),
        &[
            "user msg_1: [subtask: check, Check it]",
            r#"event subtask prt_1 after=msg_1: {"subtask":{"type":"subtask","prompt":"look","description":"Check it","agent":"review","command":"check"}}"#,
            "assistant msg_2 after=msg_1 stop=tool-calls usage=0/0/0/0 call=c:task:6:{\"prompt\":\"look\",\"subagent_type\":\"review\",\"command\":\"check\"} HARNESS signal=\"command-subtask\": ",
            "result c delegation=review:look answer=fine: fine",
        ],
    );
    check_reply(
        &format!(r#","modelID":"m-1","finish":"tool-calls"{ZERO}"#),
        &[task],
        &[
            "assistant msg_2 after=msg_1 model=m-1 stop=tool-calls usage=0/0/0/0 call=c:task:6:{\"prompt\":\"look\",\"subagent_type\":\"review\",\"command\":\"check\"}: ",
            "result c delegation=review:look answer=fine: fine",
        ],
    );
}

#[test]
fn an_error_without_a_reply_is_the_harnesss_and_tells_its_message() {
    let error = r#"{"name":"APIError","data":{"message":"Overloaded","statusCode":529}}"#;
    check_reply(
        &format!(r#","modelID":"m-1","error":{error}"#),
        &[r#"{"type":"text","text":" "}"#, r#"{"type":"step-start"}"#],
        &[
            "assistant msg_2 after=msg_1 stop=APIError HARNESS signal=\"error-without-reply\": Overloaded",
            &format!(r#"+ event error  after=msg_2: {{"error":{error}}}"#),
            "folded: text of its message",
            r#"event step-start prt_21 after=msg_2: {"step-start":{"type":"step-start"}}"#,
        ],
    );
    check_reply(
        r#","error":{"name":"ErrorOfTomorrow"}"#,
        &[],
        &[
            "assistant msg_2 after=msg_1 stop=ErrorOfTomorrow HARNESS signal=\"error-without-reply\": ErrorOfTomorrow",
            r#"+ event error  after=msg_2: {"error":{"name":"ErrorOfTomorrow"}}"#,
        ],
    );
}

#[test]
fn an_abort_before_anything_came_is_the_harnesss() {
    check_reply(
        r#","modelID":"m-1","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}"#,
        &[],
        &[
            "assistant msg_2 after=msg_1 stop=MessageAbortedError HARNESS signal=\"aborted-without-reply\": Aborted",
            r#"+ event error  after=msg_2: {"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}"#,
        ],
    );
}

#[test]
fn an_error_after_a_part_of_a_reply_leaves_it_the_models() {
    for name in ["APIError", "MessageAbortedError", "StructuredOutputError", "ContentFilterError"] {
        let error = format!(r#"{{"name":"{name}","data":{{"message":"x"}}}}"#);
        check_reply(
            &format!(r#","modelID":"m-1","error":{error}"#),
            &[r#"{"type":"text","text":"Half an ans"}"#],
            &[
                &format!("assistant msg_2 after=msg_1 model=m-1 stop={name}: Half an ans"),
                &format!(r#"+ event error  after=msg_2: {{"error":{error}}}"#),
                "folded: text of its message",
            ],
        );
    }
    check_reply(
        r#","modelID":"m-1","error":{"name":"APIError"}"#,
        &[r#"{"type":"reasoning","text":"Well"}"#],
        &[
            "assistant msg_2 after=msg_1 model=m-1 thinking=Well stop=APIError: ",
            r#"+ event error  after=msg_2: {"error":{"name":"APIError"}}"#,
            "folded: reasoning of its message",
        ],
    );
}

#[test]
fn a_conversation_too_long_to_be_compacted_is_the_harnesss() {
    let error = r#"{"name":"ContextOverflowError","data":{"message":"Session too large to compact"}}"#;
    check_reply(
        &format!(r#","modelID":"m-1","summary":true,"mode":"compaction","finish":"error","error":{error}"#),
        &[],
        &[
            "assistant msg_2 after=msg_1 stop=ContextOverflowError HARNESS signal=\"compaction-overflow\": Session too large to compact",
            &format!(r#"+ event error  after=msg_2: {{"error":{error}}}"#),
        ],
    );
}

#[test]
fn a_compactions_summary_is_nobodys_turn() {
    check_reply(
        r#","modelID":"m-1","summary":true,"finish":"stop""#,
        &[r#"{"type":"text","text":"We fixed it."}"#],
        &[
            r#"event compaction-summary msg_2 after=msg_1: {"compaction-summary":{"role":"assistant","parentID":"msg_1","modelID":"m-1","summary":true,"finish":"stop"}}"#,
            r#"event text prt_20 after=msg_2: {"text":{"type":"text","text":"We fixed it."}}"#,
        ],
    );
}

#[test]
fn synthetic_text_in_a_reply_is_likely_the_harnesss_when_it_is_all_there_is() {
    let synthetic = r#"{"type":"text","text":"Done by a plugin","synthetic":true}"#;
    check_reply(
        r#","modelID":"m-1""#,
        &[synthetic],
        &[
            "assistant msg_2 after=msg_1 HARNESS signal=\"synthetic-text-likely\": Done by a plugin",
            "folded: text of its message",
        ],
    );
    check_reply(
        r#","modelID":"m-1""#,
        &[synthetic, r#"{"type":"text","text":"Sure"}"#],
        &[
            "assistant msg_2 after=msg_1 model=m-1: Sure",
            &format!(r#"event synthetic-text prt_20 after=msg_2: {{"synthetic-text":{synthetic}}}"#),
            "folded: text of its message",
        ],
    );
}

#[test]
fn no_usage_no_text_and_an_unknown_end_are_no_signals() {
    check_reply(
        &format!(r#","modelID":"m-1"{ZERO}"#),
        &[r#"{"type":"text","text":"Sure"}"#],
        &["assistant msg_2 after=msg_1 model=m-1 usage=0/0/0/0: Sure", "folded: text of its message"],
    );
    check_reply(
        &format!(r#","modelID":"m-1","finish":"unknown"{ZERO}"#),
        &[r#"{"type":"step-start"}"#],
        &[
            "assistant msg_2 after=msg_1 model=m-1 stop=unknown usage=0/0/0/0: ",
            r#"event step-start prt_20 after=msg_2: {"step-start":{"type":"step-start"}}"#,
        ],
    );
    check_reply(r#","modelID":"m-1""#, &[], &["assistant msg_2 after=msg_1 model=m-1: "]);
    check_reply("", &[], &["assistant msg_2 after=msg_1: "]);
}

#[test]
fn retries_are_events_beside_a_models_reply() {
    check_reply(
        r#","modelID":"m-1""#,
        &[r#"{"type":"retry","attempt":1,"error":{"name":"APIError"}}"#, r#"{"type":"text","text":"Sure"}"#],
        &[
            "assistant msg_2 after=msg_1 model=m-1: Sure",
            r#"event retry prt_20 after=msg_2: {"retry":{"type":"retry","attempt":1,"error":{"name":"APIError"}}}"#,
            "folded: text of its message",
        ],
    );
}

#[test]
fn a_prompt_of_nothing_but_synthetic_text_is_the_harnesss() {
    check(
        r#"m msg_1 {"role":"user"}
           p prt_1 {"type":"text","text":"Summarize the task tool output above and continue with your task.","synthetic":true}"#,
        &[
            "user msg_1 HARNESS signal=\"synthetic-text\": Summarize the task tool output above and continue with your task.",
            "folded: text of its message",
        ],
    );
}

#[test]
fn a_prompt_beside_synthetic_text_is_a_humans() {
    check(
        r#"m msg_1 {"role":"user"}
           p prt_1 {"type":"text","text":"fix it"}
           p prt_2 {"type":"text","text":"<system-reminder>x</system-reminder>","synthetic":true}
           p prt_3 {"type":"text","text":"shown only","ignored":true}"#,
        &[
            "user msg_1: fix it",
            "folded: text of its message",
            r#"event synthetic-text prt_2 after=msg_1: {"synthetic-text":{"type":"text","text":"<system-reminder>x</system-reminder>","synthetic":true}}"#,
            r#"event ignored-text prt_3 after=msg_1: {"ignored-text":{"type":"text","text":"shown only","ignored":true}}"#,
        ],
    );
    check(
        r#"m msg_1 {"role":"user"}
           p prt_1 {"type":"text","text":"hi","synthetic":"true"}"#,
        &["user msg_1: hi", "folded: text of its message"],
    );
}

#[test]
fn a_compactions_request_is_no_prompt_and_what_it_replays_is_the_harnesss() {
    check(
        r#"m msg_1 {"role":"user"}
           p prt_1 {"type":"text","text":"fix it"}
           m msg_2 {"role":"user"}
           p prt_2 {"type":"compaction","auto":true,"overflow":true}
           m msg_3 {"role":"user"}
           p prt_3 {"type":"text","text":"fix it"}
           m msg_4 {"role":"user"}
           p prt_4 {"type":"text","text":"fix it"}"#,
        &[
            "user msg_1: fix it",
            "folded: text of its message",
            r#"event compaction msg_2 after=msg_1: {"compaction":{"role":"user"}}"#,
            r#"event compaction prt_2 after=msg_2: {"compaction":{"type":"compaction","auto":true,"overflow":true}}"#,
            "user msg_3 after=msg_2 HARNESS signal=\"replayed-prompt\": fix it",
            "folded: text of its message",
            "user msg_4 after=msg_3: fix it",
            "folded: text of its message",
        ],
    );
}

#[test]
fn a_prompt_after_a_compaction_is_a_humans_unless_it_is_the_last_one_again() {
    let log = |auto: bool, text: &str| {
        format!(
            r#"m msg_1 {{"role":"user"}}
               p prt_1 {{"type":"text","text":"fix it"}}
               m msg_2 {{"role":"user"}}
               p prt_2 {{"type":"compaction","auto":{auto}}}
               m msg_3 {{"role":"user"}}
               p prt_3 {{"type":"text","text":"{text}"}}"#
        )
    };
    for (auto, text) in [(true, "go on"), (false, "fix it")] {
        check(
            &log(auto, text),
            &[
                "user msg_1: fix it",
                "folded: text of its message",
                r#"event compaction msg_2 after=msg_1: {"compaction":{"role":"user"}}"#,
                &format!(
                    r#"event compaction prt_2 after=msg_2: {{"compaction":{{"type":"compaction","auto":{auto}}}}}"#
                ),
                &format!("user msg_3 after=msg_2: {text}"),
                "folded: text of its message",
            ],
        );
    }
}

#[test]
fn the_first_prompt_of_a_sub_agents_session_is_its_callers() {
    check(
        r#"s ses_1 {"parentID":"ses_0"}
           m msg_1 {"role":"user"}
           p prt_1 {"type":"text","text":"look"}
           m msg_2 {"role":"user"}
           p prt_2 {"type":"text","text":"and there"}"#,
        &[
            "user msg_1 HARNESS signal=\"sub-agent-prompt\": look",
            "folded: text of its message",
            "user msg_2 after=msg_1: and there",
            "folded: text of its message",
        ],
    );
}
