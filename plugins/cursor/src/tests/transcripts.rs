//! Transcripts of both kinds.

use std::fs;

use toolpath_plugin_api::kit::testing;

use crate::Cursor;

/// What is told of a transcript with this text, which lies in a file of this name.
#[track_caller]
fn told(name: &str, text: &[u8]) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    let told = testing::read_as::<Cursor>(&path, "store", None, &[]);
    told.into_iter().filter(|line| !line.starts_with("session ")).collect()
}

#[track_caller]
fn check(log: &str, expected: &[&str]) {
    let log: String = log.lines().map(|line| format!("{}\n", line.trim())).collect();
    assert_eq!(told("t.jsonl", log.as_bytes()), expected, "{log}");
}

#[test]
fn a_line_is_a_message() {
    check(
        r#"{"role":"user","message":{"content":[{"type":"text","text":"<timestamp>Monday</timestamp>\n<user_query>\nfix it\n</user_query>"}]}}
           {"role":"assistant","message":{"content":[{"type":"text","text":"ok"},{"type":"tool_use","name":"Grep","input":{"pattern":"x"}},{"type":"text","text":"[REDACTED]\n\nso"},{"type":"image"}]}}
           {"role":"user","message":{"content":"plain"}}"#,
        &[
            "user t:1: fix it",
            r#"+ event context  after=t:1: {"context":"<timestamp>Monday</timestamp>\n"}"#,
            "assistant t:2 after=t:1 call=t:2/1:Grep:3:{\"pattern\":\"x\"}: ok\nso\n[image]",
            r#"+ event redacted-thinking  after=t:2: {"redacted-thinking":"[REDACTED]"}"#,
            r#"+ event content-block  after=t:2: {"content-block":{"type":"image"}}"#,
            "user t:3 after=t:2: plain",
        ],
    );
}

#[test]
fn a_write_is_told_by_its_call() {
    check(
        r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":"StrReplace","input":{"path":"/w/f","old_string":"a\n","new_string":"b\n"}},{"type":"tool_use","name":"Delete","input":{"path":"/w/g"}}]}}"#,
        &[
            "assistant t:1 call=t:1/1:StrReplace:2:{\"path\":\"/w/f\",\"old_string\":\"a\\n\",\"new_string\":\"b\\n\"} call=t:1/2:Delete:2:{\"path\":\"/w/g\"} write=/w/f by=t:1/1 operation=update partial=--- a/w/f\n+++ b/w/f\n@@ -1 +1 @@\n-a\n+b\n write=/w/g by=t:1/2 operation=delete: ",
        ],
    );
}

#[test]
fn the_end_of_a_turn_is_an_event_and_the_reason_of_the_reply_before_it() {
    let reply = r#"{"role":"assistant","message":{"content":"ok"}}"#;
    for (status, error, stop) in [
        ("error", "User aborted request", Some("aborted")),
        ("error", "Overloaded", Some("error")),
        ("success", "", None),
    ] {
        let end = format!(r#"{{"type":"turn_ended","status":"{status}","error":"{error}"}}"#);
        let stop = stop.map(|stop| format!(" stop={stop}")).unwrap_or_default();
        check(
            &format!("{reply}\n{end}"),
            &[
                &format!("assistant t:1{stop}: ok"),
                &format!(r#"event turn_ended t:2 after=t:1: {{"turn_ended":{end}}}"#),
            ],
        );
    }
}

#[test]
fn a_turn_that_ended_before_a_reply_is_the_harnesss() {
    let end = r#"{"type":"turn_ended","status":"error","error":"Overloaded"}"#;
    check(
        &format!("{{\"role\":\"user\",\"message\":{{\"content\":\"hi\"}}}}\n{end}"),
        &[
            "user t:1: hi",
            "assistant t:2 after=t:1 stop=error HARNESS signal=\"turn-ended-without-reply\": Overloaded",
            &format!(r#"+ event turn_ended  after=t:2: {{"turn_ended":{end}}}"#),
        ],
    );
    let end = r#"{"type":"turn_ended","status":"success"}"#;
    check(
        &format!("{{\"role\":\"user\",\"message\":{{\"content\":\"hi\"}}}}\n{end}"),
        &["user t:1: hi", &format!(r#"event turn_ended t:2 after=t:1: {{"turn_ended":{end}}}"#)],
    );
}

#[test]
fn a_prompt_of_nothing_but_context_is_the_harnesss() {
    check(
        r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_info>\nOS\n</user_info>"}]}}"#,
        &["user t:1 HARNESS signal=\"context-only\": <user_info>\nOS\n</user_info>"],
    );
}

#[test]
fn what_cannot_be_read_is_kept_and_reported() {
    check(
        r#"{"role":"user","message":{"content":"hi"}}
           {nonsense}
           [1]
           {"role":"system","message":{"content":"x"}}
           {"type":"of-tomorrow"}
           {"x":1}"#,
        &[
            "user t:1: hi",
            r#"event unreadable t:2 after=t:1 UNREADABLE: {"raw":"{nonsense}"}"#,
            "! unreadable-record 2@43+10: `t:2` cannot be read: key must be a string at column 2",
            r#"event unreadable t:3 after=t:2 UNREADABLE: {"raw":"[1]"}"#,
            "! unreadable-record 3@54+3: `t:3` cannot be read: expected an object",
            r#"event system t:4 after=t:3: {"system":{"role":"system","message":{"content":"x"}}}"#,
            r#"event of-tomorrow t:5 after=t:4: {"of-tomorrow":{"type":"of-tomorrow"}}"#,
            r#"event record t:6 after=t:5: {"record":{"x":1}}"#,
        ],
    );
}

#[test]
fn a_transcript_cut_or_garbled_anywhere_is_read_or_refused() {
    let log = b"{\"role\":\"user\",\"message\":{\"content\":\"h\\ud83d \xff\"}}\n{\"role\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n{\"type\":\"turn_ended\",\"status\":\"error\"}";
    for end in 0..log.len() {
        told("t.jsonl", &log[..end]);
    }
}

#[test]
fn what_is_none_of_cursors_is_refused() {
    for (text, message) in [
        ("", "failed: holds no records; name a transcript of Cursor"),
        ("words", "failed: holds no record of Cursor; name a transcript or a database of it, or another --provider"),
        (
            r#"{"type":"user","uuid":"u","message":{"role":"user","content":"hi"}}"#,
            "failed: holds no record of Cursor; name a transcript or a database of it, or another --provider",
        ),
    ] {
        assert_eq!(told("t.jsonl", text.as_bytes()).last().map(String::as_str), Some(message), "{text}");
    }
}

#[test]
fn sub_agents_have_files_of_their_own_and_the_call_that_asked_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t/t.jsonl");
    fs::create_dir_all(folder.path().join("t/subagents")).expect("a folder");
    fs::write(
        &path,
        r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Task","input":{"prompt":"look\n"}}]}}"#,
    )
    .expect("a file");
    let prompt =
        |text: &str| format!(r#"{{"role":"user","message":{{"content":"<user_query>\n{text}\n</user_query>"}}}}"#);
    fs::write(folder.path().join("t/subagents/a1.jsonl"), prompt("look")).expect("a file");
    fs::write(folder.path().join("t/subagents/a2.jsonl"), prompt("else")).expect("a file");
    let told = testing::read_as::<Cursor>(&path, "store", None, &[]);
    assert_eq!(
        told[..4],
        [
            "session t file=store file=subagents/a1.jsonl file=subagents/a2.jsonl",
            "assistant t:1 call=t:1/1:Task:6:{\"prompt\":\"look\\n\"}: ",
            r#"user a1:1 branch={"call":"t:1/1","agent":"a1"}: look"#,
            r#"user a2:1 branch={"call":null,"agent":"a2"}: else"#,
        ]
    );
    let own = testing::read::<Cursor>(&folder.path().join("t/subagents/a1.jsonl"));
    assert_eq!(own[1], "user a1:1 HARNESS signal=\"sub-agent-prompt\": look");
}

#[test]
fn a_text_is_told_by_its_blocks() {
    let text = "user:\n<user_query>\nfix it\n</user_query>\nassistant:\n[Thinking] Well\nthen\n[Tool call] Grep\n  pattern=x\n  \
                path=/w\n[Tool call] Read\n[Tool result] Grep\nfound\nassistant:\nSure\nuser: not one\nuser:\nok";
    assert_eq!(
        told("t.txt", text.as_bytes()),
        [
            "user t:1: fix it",
            "assistant t:5 after=t:1 thinking=Well\nthen call=t:5/1:Grep:3:{\"pattern\":\"x\",\"path\":\"/w\"} call=t:5/2:Read:1:{}: ",
            "+ result t:5/1: found",
            "assistant t:14 after=t:5: Sure\nuser: not one",
            "user t:17 after=t:14: ok",
        ]
    );
    for end in 0..text.len() {
        told("t.txt", &text.as_bytes()[..end]);
    }
}
