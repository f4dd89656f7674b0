//! The oldest layout: one document, with the screen's entries, the API's messages, or both.

use super::recorder::read;

#[track_caller]
fn check(document: &str, expected: &[&str]) {
    let told = read("s", document.as_bytes());
    let told: Vec<_> = told.iter().map(String::as_str).filter(|told| !told.starts_with("session ")).collect();
    assert_eq!(told, expected, "{document}");
}

const SESSION: &str = r#"event session session: {"sessionId":"s-1"}"#;
const MESSAGES: &str = r#"[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}]"#;

#[test]
fn messages_alone_are_turns_of_a_model_that_nobody_recorded() {
    check(
        &format!(r#"{{"sessionId":"s-1","chatMessages":{MESSAGES},"timeline":[]}}"#),
        &[SESSION, "user message-1: hi", r#"assistant message-2 call=c:bash:4:{"command":"ls"}: "#, "result c: x"],
    );
}

#[test]
fn entries_lead_and_messages_that_say_the_same_are_duplicates() {
    let timeline = r#"[{"id":"e1","type":"user","text":"hi","timestamp":"t"},{"id":"e2","type":"tool_call_requested","callId":"c","name":"bash","arguments":{"command":"ls"}},{"id":"e3","type":"tool_call_completed","callId":"c","result":{"type":"success","log":"x"}},{"type":"copilot","text":"done"}]"#;
    let more = MESSAGES.replace("}]}", "}]},{\"role\":\"assistant\",\"content\":\"unseen\"}");
    check(
        &format!(r#"{{"sessionId":"s-1","chatMessages":{more},"timeline":{timeline}}}"#),
        &[
            SESSION,
            "user e1: hi",
            r#"assistant e2 call=c:bash:4:{"command":"ls"}: "#,
            "result c: x",
            "assistant entry-4: done",
            "duplicate: told as it was shown",
            "duplicate: told as it was shown",
            r#"event chat-message message-3: {"content":"unseen","role":"assistant"}"#,
            "duplicate: told as it was shown",
        ],
    );
}

#[test]
fn messages_lead_where_the_screen_shows_calls_only() {
    let timeline = r#"[{"type":"tool_call_requested","callId":"c"},{"type":"tool_call_completed","callId":"c","result":{"type":"failure","log":"no"}}]"#;
    check(
        &format!(r#"{{"sessionId":"s-1","chatMessages":{MESSAGES},"timeline":{timeline}}}"#),
        &[
            SESSION,
            "user message-1: hi",
            r#"assistant message-2 call=c:bash:4:{"command":"ls"}: "#,
            "result c ERROR: x",
            "duplicate: told by the message",
            "duplicate: told by the message",
        ],
    );
}

#[test]
fn a_call_that_only_its_end_tells_of_is_a_turn_with_its_result() {
    check(
        r#"{"sessionId":"s-1","timeline":[{"type":"tool_call_completed","callId":"c","toolTitle":"str_replace_editor","arguments":{"command":"str_replace","path":"/a","old_str":"x\n","new_str":"y\n"},"result":{"type":"success","log":"ok"}}]}"#,
        &[
            SESSION,
            r#"assistant entry-1 call=c:str_replace_editor:2:{"command":"str_replace","path":"/a","old_str":"x\n","new_str":"y\n"} needs-result: "#,
            "+ result c write=/a by=c operation=update partial=--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n: ok",
        ],
    );
}

#[test]
fn notices_are_the_harnesss() {
    check(
        r#"{"sessionId":"s-1","timeline":[{"type":"error","text":"e"},{"type":"warning","text":"w"},{"type":"info","text":"i"},{"type":"later"},7]}"#,
        &[
            SESSION,
            r#"assistant entry-1 HARNESS signal="session-error": e"#,
            r#"system entry-2 HARNESS signal="session-warning": w"#,
            r#"system entry-3 HARNESS signal="session-info": i"#,
            r#"event later entry-4: {}"#,
            r#"event unknown entry-5: {"raw":7}"#,
        ],
    );
}

#[test]
fn a_document_that_is_not_whole_fails_in_one_sentence() {
    let told = read("s", br#"{"sessionId":"s-1","timeline":[{"type":"error""#);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("failed: is no whole document of a Copilot session: EOF"), "{told:#?}");
}
