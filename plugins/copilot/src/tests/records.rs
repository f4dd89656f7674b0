//! What becomes of each kind of event.

use super::recorder::read;
use super::{check, event};

#[test]
fn a_session_is_announced_with_its_base_as_soon_as_that_is_known() {
    let log = r#"{"type":"session.start","data":{"sessionId":"s-1","copilotVersion":"1.0.68","context":{"cwd":"/w","branch":"main","headCommit":"c0","repository":"o/r","repositoryHost":"github.com"}},"id":"a","timestamp":"2026-03-03T09:00:00.000Z","parentId":null}
{"type":"user.message","data":{"content":"hi"},"id":"b","timestamp":"2026-03-03T09:00:05.000Z","parentId":"a"}
"#;
    let told = read("other", log.as_bytes());
    assert_eq!(told[0], "session s-1");
    assert_eq!(told[1], "session s-1 dir=/w branch=main revision=c0 remote=https://github.com/o/r");
    assert_eq!(told[3], "user b dir=/w branch=main: hi");
    assert_eq!(
        told[4],
        "session s-1 title=Copilot session: s-1 dir=/w branch=main revision=c0 remote=https://github.com/o/r \
         from=2026-03-03T09:00:00Z to=2026-03-03T09:00:05Z version=1.0.68"
    );
}

#[test]
fn a_log_without_a_record_of_copilot_fails() {
    assert_eq!(read("s", b"\n \n"), ["session s", "failed: holds no records; name a session of Copilot"]);
    let failed = "failed: holds no record of Copilot; name a session of it, or another --provider";
    for log in ["{\"type\":\"session_meta\",\"payload\":{}}\n[1]\n", r#"{"type":"turn.prompt","data":{},"id":"a"}"#] {
        assert_eq!(read("s", log.as_bytes()).last().map(String::as_str), Some(failed), "{log}");
    }
}

#[test]
fn a_message_is_called_by_its_id_and_lines_of_one_call_are_a_group() {
    check(
        &[
            event(
                "assistant.message",
                "a",
                r#"{"messageId":"m-1","apiCallId":"k","model":"m","content":"x","outputTokens":7,"chunkIndex":0}"#,
            ),
            event(
                "assistant.message",
                "b",
                r#"{"messageId":"m-2","apiCallId":"k","model":"m","content":"y","outputTokens":7,"chunkIndex":1}"#,
            ),
            event("assistant.message", "c", r#"{"model":"m","content":"z","outputTokens":2}"#),
        ],
        &[
            "assistant m-1 group=k model=m snapshot=-/7/-/-: x",
            "assistant m-2 group=k model=m snapshot=-/7/-/-: y",
            "assistant c model=m usage=-/2/-/-: z",
        ],
    );
}

#[test]
fn reasoning_of_its_own_event_belongs_to_the_message_after_it() {
    check(
        &[
            event("assistant.reasoning", "r", r#"{"content":"first"}"#),
            event("assistant.reasoning", "s", r#"{"content":"second"}"#),
            event("assistant.message", "a", r#"{"model":"m","content":"x","reasoningText":"second"}"#),
            event("assistant.reasoning", "t", r#"{"content":"second"}"#),
        ],
        &[
            "folded: told with its message",
            "folded: told with its message",
            "assistant a model=m thinking=first\nsecond: x",
            "duplicate: stood in its message",
        ],
    );
}

#[test]
fn reasoning_without_a_message_is_a_turn_of_its_own() {
    let alone = |after: String| {
        [
            event("assistant.turn_start", "m", r#"{"model":"m-1"}"#),
            event("assistant.reasoning", "r", r#"{"content":"hm"}"#),
            after,
        ]
    };
    let start = r#"event assistant.turn_start m: {"data":{"model":"m-1"},"parentId":null}"#;
    let turn = "assistant r model=m-1 thinking=hm: ";
    check(&alone(event("user.message", "u", r#"{"content":"x"}"#)), &[start, turn, "user u: x"]);
    check(&alone(String::new()), &[start, turn]);
}

#[test]
fn arguments_and_results_of_older_versions_read_as_those_of_newer_ones() {
    let request = r#"{"content":"","toolRequests":[{"toolCallId":"c","name":"bash","arguments":"{\"command\":\"ls\"}"},{"toolCallId":"p","name":"apply_patch","arguments":"*** Begin"},{"name":"ls","arguments":7}]}"#;
    check(
        &[
            event("assistant.message", "a", request),
            event("tool.execution_complete", "b", r#"{"toolCallId":"c","success":true,"result":"x"}"#),
            event(
                "tool.execution_complete",
                "d",
                r#"{"toolCallId":"p","success":true,"result":{"result_type":"success","text_result_for_llm":"y"}}"#,
            ),
            event("tool.execution_complete", "e", r#"{"success":true,"result":{"content":"z"}}"#),
        ],
        &[
            r#"assistant a call=c:bash:4:{"command":"ls"} call=p:apply_patch:2:"*** Begin" needs-result call=a/2:ls:0:7: "#,
            "result c: x",
            "result p: y",
            "result e/result: z",
        ],
    );
}

#[test]
fn a_result_tells_what_its_call_wrote_unless_it_failed() {
    let request = r#"{"content":"","toolRequests":[{"toolCallId":"c","name":"edit","arguments":{"path":"/w/a","old_str":"x\n","new_str":"y\n"}}]}"#;
    let result = |success: bool| {
        format!(
            r#"{{"toolCallId":"c","success":{success},"result":{{"content":"done","detailedContent":"diff --git a/w/a b/w/a\n--- a/w/a\n+++ b/w/a\n@@ -1,4 +1,4 @@\n-x\n+y\n p\n q\n \n"}}}}"#
        )
    };
    let turn = "assistant a call=c:edit:2:{\"path\":\"/w/a\",\"old_str\":\"x\\n\",\"new_str\":\"y\\n\"} needs-result: ";
    check(
        &[event("assistant.message", "a", request), event("tool.execution_complete", "b", &result(true))],
        &[
            turn,
            "result c write=/w/a by=c operation=update diff=--- a/w/a\n+++ b/w/a\n@@ -1,3 +1,3 @@\n-x\n+y\n p\n q\n: done",
        ],
    );
    check(
        &[event("assistant.message", "a", request), event("tool.execution_complete", "b", &result(false))],
        &[turn, "result c ERROR: done"],
    );
    // A model that goes on has had its results; what comes later still is taken for the call's, by its input.
    check(
        &[
            event("assistant.message", "a", request),
            event("assistant.message", "z", r#"{"content":"on"}"#),
            event("tool.execution_complete", "b", &result(true)),
        ],
        &[turn, "assistant z: on", "result c: done"],
    );
}

#[test]
fn what_view_shows_is_no_write() {
    check(
        &[
            event(
                "assistant.message",
                "a",
                r#"{"content":"","toolRequests":[{"toolCallId":"c","name":"view","arguments":{"path":"/w"}}]}"#,
            ),
            event(
                "tool.execution_complete",
                "b",
                r#"{"toolCallId":"c","success":true,"result":{"content":"x","detailedContent":"\ndiff --git a/w b/w\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ b/w\n@@ -1,0 +1,1 @@\n x\n"}}"#,
            ),
        ],
        &[r#"assistant a call=c:view:1:{"path":"/w"}: "#, "result c: x"],
    );
}

#[test]
fn parts_of_a_result_that_are_no_text_leave_a_placeholder_and_are_kept() {
    check(
        &[
            event(
                "assistant.message",
                "a",
                r#"{"content":"","toolRequests":[{"toolCallId":"c","name":"docs-x","mcpServerName":"docs","arguments":{}}]}"#,
            ),
            event(
                "tool.execution_complete",
                "b",
                r#"{"toolCallId":"c","success":true,"result":{"content":"x","contents":[{"type":"text","text":"x"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}]}}"#,
            ),
        ],
        &[
            "assistant a call=c:docs-x:0:{}: ",
            "result c: x\n[image: image/png, 5 bytes]",
            r#"+ event content-block : {"block":{"type":"image","data":"aGVsbG8=","mimeType":"image/png"}}"#,
        ],
    );
}

#[test]
fn kinds_that_are_not_known_are_events_and_pieces_of_messages_fold() {
    check(
        &[
            event("from.the_future", "a", r#"{"n":1.50}"#),
            event("assistant.message_delta", "b", r#"{"deltaContent":"x"}"#),
            r#"{"type":"result","sessionId":"s","exitCode":0}"#.to_owned(),
            event("user.message", "c", r#"{"content":{"odd":1}}"#),
            event("user.message", "d", "null"),
        ],
        &[
            r#"event from.the_future a: {"data":{"n":1.50},"parentId":null}"#,
            "folded: superseded by the whole",
            r#"event result line-3: {"exitCode":0,"sessionId":"s"}"#,
            r#"user c: {"odd":1}"#,
            r#"event user.message d: {"data":null,"parentId":null}"#,
        ],
    );
}

#[test]
fn what_hooks_print_is_read() {
    let log = r#"{"session_id":"s-1","cwd":"/w","type":"user.message","prompt":"hi","timestamp":1700001000000}
{"session_id":"s-1","type":"assistant.message","output":"Hello","timestamp":1700001001000}"#;
    let told = read("other", log.as_bytes());
    assert_eq!(told[0], "session s-1");
    assert_eq!(told[2..4], ["user line-1 dir=/w: hi", "assistant line-2 dir=/w: Hello"]);
}

#[test]
fn the_sessions_usage_is_that_of_its_shutdowns() {
    let told = read(
        "s",
        [
            event("assistant.message", "a", r#"{"content":"x","apiCallId":"k","outputTokens":30}"#),
            event(
                "session.shutdown",
                "b",
                r#"{"modelMetrics":{"m":{"usage":{"inputTokens":1000,"outputTokens":30,"cacheReadTokens":800,"cacheWriteTokens":150,"reasoningTokens":9}}}}"#,
            ),
        ]
        .join("\n")
        .as_bytes(),
    );
    assert_eq!(
        told.last().map(String::as_str),
        Some("session s title=Copilot session: s total=50/30/800/150 output:reasoning=9")
    );
}
