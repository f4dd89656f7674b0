//! What becomes of messages, their calls, and the records beside them.

use std::fs;

use toolpath_plugin_api::kit::testing;

use super::{HEADER, check, told};
use crate::GeminiCli;

#[test]
fn a_message_of_a_log_is_a_turn_after_the_one_before() {
    check(
        &[
            r#"{"id":"u","timestamp":"t1","type":"user","content":[{"text":"hi"}]}"#,
            r#"{"$set":{"lastUpdated":"2026-01-02T03:04:05.000Z"}}"#,
            r#"{"id":"m","timestamp":"t2","type":"gemini","content":"Hello.","thoughts":[{"subject":"A","description":"b"}],
                "tokens":{"input":900,"output":12,"cached":500,"thoughts":30,"tool":0,"total":942},"model":"g-1"}"#
                .replace("\n                ", "")
                .as_str(),
        ],
        &[
            "user u: hi",
            "folded: the time of the last change, which the session has",
            "assistant m after=u model=g-1 thinking=A\nb usage=400/42/500/- output:thoughts=30: Hello.",
        ],
    );
}

#[test]
fn the_last_version_of_a_message_is_told_in_the_place_of_the_first() {
    let duplicate = "duplicate: a version of a message that is told by its last";
    check(
        &[
            r#"{"id":"m","type":"gemini","content":"Hel","model":"g-1","tokens":{"input":1,"output":1}}"#,
            r#"{"id":"n","type":"info","content":"busy"}"#,
            r#"{"id":"m","type":"gemini","content":"Hell","model":"g-1","tokens":{"input":2,"output":2}}"#,
            r#"{"id":"m","type":"gemini","content":"Hello","model":"g-1","tokens":{"input":3,"output":3}}"#,
        ],
        &[
            "assistant m model=g-1 usage=3/3/-/-: Hello",
            "system n after=m HARNESS signal=\"info-record\": busy",
            duplicate,
            duplicate,
        ],
    );
}

#[test]
fn a_call_has_its_result_with_it() {
    let call = |id: &str, status: &str, result: &str| {
        format!(
            r#"{{"id":"{id}","name":"read_file","args":{{"file_path":"a"}},"status":"{status}","result":{result}}}"#
        )
    };
    let answer = |id: &str, body: &str| format!(r#"[{{"functionResponse":{{"id":"{id}","response":{body}}}}}]"#);
    let calls = [
        call("a", "success", &answer("a", r#"{"output":"text"}"#)),
        call("b", "error", &answer("b", r#"{"error":"none"}"#)),
        call("c", "cancelled", "null"),
        call("d", "executing", "null"),
        r#"{"name":"glob","args":{},"status":"success"}"#.to_owned(),
    ];
    check(
        &[&format!(r#"{{"id":"m","type":"gemini","content":"","toolCalls":[{}]}}"#, calls.join(","))],
        &[concat!(
            r#"assistant m call=a:read_file:1:{"file_path":"a"} result=text"#,
            r#" call=b:read_file:1:{"file_path":"a"} result=ERROR none call=c:read_file:1:{"file_path":"a"} result=ERROR "#,
            r#" call=d:read_file:1:{"file_path":"a"} call=m/4:glob:3:{} result=: "#
        )],
    );
}

#[test]
fn a_call_that_a_crash_left_in_the_content_has_no_result() {
    check(
        &[
            r#"{"id":"m","type":"gemini","content":[{"functionCall":{"id":"c","name":"write_file","args":{"a":1}}}],"model":"g"}"#,
        ],
        &[r#"assistant m model=g call=c:write_file:2:{"a":1} needs-result: "#],
    );
}

#[test]
fn answers_that_stand_by_themselves_go_to_their_calls_once() {
    let response = r#"{"functionResponse":{"id":"c","name":"glob","response":{"output":"x"}}}"#;
    let user = format!(r#"{{"id":"u","type":"user","content":[{response}]}}"#);
    let next = r#"{"id":"v","type":"user","content":"next"}"#;
    let with = |result: &str| {
        format!(
            r#"{{"id":"m","type":"gemini","content":"","model":"g","toolCalls":[{{"id":"c","name":"glob","args":{{}}{result}}}]}}"#
        )
    };
    check(
        &[&with(&format!(r#","status":"success","result":[{response}]"#)), &user, next],
        &[
            "assistant m model=g call=c:glob:3:{} result=x: ",
            "folded id=u after=m: results of tools",
            "user v after=u: next",
        ],
    );
    check(
        &[&with(""), &user, &user.replace("\"u\"", "\"w\""), next],
        &[
            "assistant m model=g call=c:glob:3:{}: ",
            "+ result c: x",
            "folded id=u after=m: results of tools",
            "folded id=w after=u: results of tools",
            "user v after=w: next",
        ],
    );
}

#[test]
fn a_write_that_succeeded_has_a_diff() {
    let call = |status: &str| {
        format!(
            r#"{{"id":"m","type":"gemini","content":"","toolCalls":[{{"id":"c","name":"write_file","args":{{"file_path":"/w/a"}},"status":"{status}","resultDisplay":{{"fileDiff":"?","originalContent":"x\n","newContent":"y\n"}}}}]}}"#
        )
    };
    let told = |answer: &str, write: &str| {
        format!(r#"assistant m call=c:write_file:2:{{"file_path":"/w/a"}} needs-result result={answer}{write}: "#)
    };
    let diff = "--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-x\n+y\n";
    check(&[&call("success")], &[&told("", &format!(" write=/w/a by=c operation=update diff={diff}"))]);
    check(&[&call("error")], &[&told("ERROR ", "")]);
}

#[test]
fn what_the_user_saw_is_the_users_text_and_what_was_sent_is_kept() {
    check(
        &[r#"{"id":"u","type":"user","displayContent":"see @a","content":[{"text":"see @a"},{"text":"all of a"}]}"#],
        &[
            "user u: see @a",
            r#"+ event sent-content  after=u: {"content":[{"text":"see @a"},{"text":"all of a"}],"id":"u"}"#,
        ],
    );
    check(&[r#"{"id":"u","type":"user","displayContent":"Hello","content":[{"text":"Hello"}]}"#], &["user u: Hello"]);
}

#[test]
fn parts_that_are_no_text_are_kept_whole() {
    let part = r#"{"inlineData":{"mimeType":"image/png","data":"AAAA"}}"#;
    check(
        &[&format!(r#"{{"id":"u","type":"user","content":[{{"text":"see"}},{part}]}}"#)],
        &[
            "user u: see\n[inlineData: image/png, 3 bytes]",
            &format!(r#"+ event content-part  after=u: {{"part":{part}}}"#),
        ],
    );
}

#[test]
fn other_records_are_events_and_other_types_other_roles() {
    check(
        &[
            r#"{"$set":{"summary":"A title"}}"#,
            r#"{"id":"x","type":"later","content":"?"}"#,
            r#"{"id":"y","type":"later"}"#,
            r#"{"id":"z"}"#,
            r#"{"else":1}"#,
        ],
        &[
            r#"event set line-2: {"$set":{"summary":"A title"}}"#,
            "later x: ?",
            r#"event later y after=x: {"raw":{"id":"y","type":"later"}}"#,
            r#"event message z after=y: {"raw":{"id":"z"}}"#,
            r#"event unknown line-6 after=z: {"raw":{"else":1}}"#,
        ],
    );
}

#[test]
fn a_document_tells_its_fields_first_wherever_they_stand() {
    let document = "{\"sessionId\":\"s-1\",\"projectHash\":\"p\",\"startTime\":\"2026-01-02T03:04:05Z\",\n\"messages\":[\n\
        {\"id\":\"u\",\"type\":\"user\",\"content\":\"hi\",\"timestamp\":\"2026-01-02T03:05:00Z\"},\n\
        {\"type\":\"gemini\",\"content\":\"Hello.\"}\n],\"summary\":\"Greeting\",\"directories\":[\"/w\"]}";
    assert_eq!(
        told("session-x.json", document),
        [
            "session s-1 title=Greeting dir=/w from=2026-01-02T03:04:05Z to=2026-01-02T03:05:00Z",
            concat!(
                r#"event session session: {"sessionId":"s-1","projectHash":"p","startTime":"2026-01-02T03:04:05Z","#,
                r#""summary":"Greeting","directories":["/w"]}"#
            ),
            "user u: hi",
            "assistant message-2 after=u: Hello.",
        ]
    );
}

#[test]
fn a_saved_conversation_is_read_too() {
    let saved = r#"[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"Hello."}]}]"#;
    assert_eq!(
        told("checkpoint-a.json", saved),
        [
            "session checkpoint-a title=Gemini session: checkpoi",
            "user message-1: hi",
            "assistant message-2 after=message-1: Hello."
        ]
    );
}

#[test]
fn a_document_that_became_a_log_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session-x.json");
    let user = r#"{"id":"u","type":"user","content":"hi"}"#;
    fs::write(&path, format!("{{\"sessionId\":\"s\",\"messages\":[{user}]}}")).expect("a file");
    let log = folder.path().join("session-x.jsonl");
    let said = "! continued-elsewhere 0@0+0: the session goes on in `session-x.jsonl` beside this file; read that";
    assert!(!testing::read::<GeminiCli>(&path).contains(&said.to_owned()));
    fs::write(&log, format!("{}\n{user}\n", HEADER.replace("\"s\"", "\"other\""))).expect("a file");
    assert!(!testing::read::<GeminiCli>(&path).contains(&said.to_owned()), "the log is of another session");
    fs::write(&log, format!("{HEADER}\n{user}\n")).expect("a file");
    assert_eq!(testing::read::<GeminiCli>(&path)[1], said);
    assert_eq!(testing::read::<GeminiCli>(&log).len(), 3);
    let copied = testing::read_as::<GeminiCli>(&path, "-", None, &[]);
    assert!(!copied.contains(&said.to_owned()));
}
