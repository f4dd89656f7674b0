//! What becomes of each kind of record.

use super::recorder::read;
use super::{HEADER, check};

#[test]
fn a_session_is_announced_with_its_base_as_soon_as_that_is_known() {
    let log = format!(
        r#"{HEADER}
{{"type":"message","id":"u","parentId":null,"timestamp":"2026-03-02T10:00:09.000Z","message":{{"role":"user","content":"hi"}}}}
{{"type":"session_info","id":"i","parentId":"u","timestamp":"2026-03-02T10:00:10.000Z","name":"Beans"}}
"#
    );
    assert_eq!(
        read("other", log.as_bytes()),
        [
            "session s",
            "session s dir=/w",
            r#"event session s: {"cwd":"/w","version":3}"#,
            "user u dir=/w: hi",
            r#"event session_info i after=u: {"name":"Beans","parentId":"u"}"#,
            "session s title=Beans dir=/w from=2026-03-02T10:00:00Z to=2026-03-02T10:00:10Z",
        ]
    );
}

#[test]
fn a_log_without_a_record_of_pi_fails() {
    assert_eq!(read("s", b"\n \n"), ["session s", "failed: holds no records; name a session file of Pi"]);
    let failed = "failed: holds no record of Pi; name a session file of it, or another --provider";
    for log in [
        "{\"type\":\"session_meta\",\"payload\":{}}\n[1]\n",
        r#"{"type":"session_start","id":"s","cwd":"/w"}"#,
        r#"{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"hi"}}"#,
    ] {
        assert_eq!(read("s", log.as_bytes()).last().map(String::as_str), Some(failed), "{log}");
    }
}

#[test]
fn usage_is_the_messages_own_and_its_sum_and_price_are_not_told() {
    check(
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","model":"m","content":"x","usage":{"input":3,"output":4,"cacheRead":10,"cacheWrite":2,"totalTokens":19,"cost":{"total":0.5}}}}"#,
        &["assistant a model=m usage=3/4/10/2: x"],
    );
}

#[test]
fn an_edit_is_told_with_its_call_and_needs_its_result() {
    check(
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"edit","arguments":{"path":"f","oldText":"x\n","newText":"y\n"}}]}}"#,
        &[
            "assistant a call=t:edit:2:{\"path\":\"f\",\"oldText\":\"x\\n\",\"newText\":\"y\\n\"} needs-result write=/w/f by=t operation=update partial=--- a/w/f\n+++ b/w/f\n@@ -1 +1 @@\n-x\n+y\n: ",
        ],
    );
}

#[test]
fn pictures_leave_a_placeholder_and_are_kept() {
    let picture = r#"{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}"#;
    check(
        &format!(
            r#"{{"type":"message","id":"u","parentId":null,"message":{{"role":"user","content":[{{"type":"text","text":"see"}},{picture}]}}}}
{{"type":"message","id":"r","parentId":"u","message":{{"role":"toolResult","toolCallId":"t","content":[{picture}],"isError":true}}}}"#
        ),
        &[
            "user u: see\n[image: image/png, 5 bytes]",
            &format!(r#"+ event content-block  after=u: {{"block":{picture}}}"#),
            "+ result t ERROR: [image: image/png, 5 bytes]",
            "folded id=r after=u: tool result",
            &format!(r#"+ event content-block  after=r: {{"block":{picture}}}"#),
        ],
    );
}

#[test]
fn kinds_and_roles_that_are_not_known_are_events() {
    check(
        r#"{"type":"later","id":"a","parentId":null,"x":[1.50]}
{"type":"message","id":"b","parentId":"a","message":{"role":"later","content":"x"}}
{"type":"message","id":"c","parentId":"b","message":"x"}
{"id":"d","parentId":"c"}
{"type":"message","id":"e","parentId":"d","message":{"role":"compactionSummary","summary":"x"}}"#,
        &[
            r#"event later a: {"parentId":null,"x":[1.50]}"#,
            r#"event message b after=a: {"message":{"role":"later","content":"x"},"parentId":"a"}"#,
            r#"event message c after=b: {"message":"x","parentId":"b"}"#,
            r#"event unknown d after=c: {"parentId":"c"}"#,
            r#"event compaction e after=d: {"message":{"role":"compactionSummary","summary":"x"},"parentId":"d"}"#,
        ],
    );
}

#[test]
fn calls_and_results_without_an_id_are_not_taken_for_each_other() {
    check(
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":[{"type":"toolCall","name":"ls","arguments":null}]}}
{"type":"message","id":"r","parentId":"a","message":{"role":"toolResult","content":"ok"}}"#,
        &["assistant a call=a/0:ls:3:null: ", "+ result r/result: ok", "folded id=r after=a: tool result"],
    );
}

#[test]
fn a_second_header_is_an_event_and_changes_nothing() {
    let log = format!("{HEADER}\n{}", HEADER.replace(r#""id":"s""#, r#""id":"s2""#).replace("/w", "/x"));
    assert_eq!(
        read("other", log.as_bytes())[2..],
        [
            r#"event session s: {"cwd":"/w","version":3}"#,
            r#"event session s2: {"cwd":"/x","version":3}"#,
            "session s title=Pi session: s dir=/w from=2026-03-02T10:00:00Z to=2026-03-02T10:00:00Z",
        ]
    );
}
