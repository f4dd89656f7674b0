//! What becomes of each record of the editor's store.

use toolpath_plugin_api::kit::testing;

use super::{Made, check, told};
use crate::Cursor;

#[test]
fn bubbles_are_told_in_the_order_of_their_list() {
    check(
        r#"b u1 {"type":1,"text":"hi"}
           b a1 {"type":2,"thinking":{"text":"Well"},"capabilityType":30,"modelInfo":{"modelName":"m-1"}}
           b a2 {"type":2,"text":"Sure","modelInfo":{"modelName":"m-1"},"tokenCount":{"inputTokens":10,"outputTokens":5}}
           b x1 {"type":2,"text":"","capabilityType":22}
           b a3 {"type":"ai","text":"More"}
           b u2 {"type":"user","rawText":"ok"}"#,
        &[
            "user u1 after=c1: hi",
            "assistant a1 after=u1 model=m-1 thinking=Well: ",
            "assistant a2 after=a1 model=m-1 usage=10/5/-/-: Sure",
            "folded id=x1 after=a2: an empty mark of the editor's",
            "assistant a3 after=x1: More",
            "user u2 after=a3: ok",
        ],
    );
}

#[test]
fn a_call_has_its_result_beside_it() {
    check(
        r#"b a1 {"type":2,"text":"","capabilityType":15,"toolFormerData":{"tool":15,"name":"run_terminal_cmd","toolCallId":"t\nu","status":"completed","rawArgs":"{\"command\":\"ls\"}","result":"{\"output\":\"a\",\"exitCode\":0}"}}
           b a2 {"type":2,"toolFormerData":{"tool":19,"name":"mcp-files-x","status":"running","params":"{broken"}}"#,
        &[
            "assistant a1 after=c1 call=t\nu:run_terminal_cmd:4:{\"command\":\"ls\"}: ",
            "+ result t\nu: {\"output\":\"a\",\"exitCode\":0}",
            "assistant a2 after=a1 call=a2:mcp:0:\"{broken\": ",
        ],
    );
}

#[test]
fn an_edit_has_the_texts_that_the_editor_kept() {
    let log = |status: &str| {
        format!(
            r#"c c1 {{"workspaceIdentifier":{{"uri":{{"fsPath":"/w"}}}}}}
               k composer.content.aa x
               k composer.content.bb y
               b a1 {{"type":2,"toolFormerData":{{"tool":38,"name":"edit_file_v2","toolCallId":"t",{status},"params":"{{\"relativeWorkspacePath\":\"f\"}}","result":"{{\"beforeContentId\":\"composer.content.aa\",\"afterContentId\":\"composer.content.bb\"}}"}}}}"#
        )
    };
    let call = "assistant a1 after=c1 call=t:edit_file_v2:2:{\"relativeWorkspacePath\":\"f\"} needs-result: ";
    let result = r#"{"beforeContentId":"composer.content.aa","afterContentId":"composer.content.bb"}"#;
    let note = "\\ No newline at end of file";
    check(
        &log(r#""status":"completed""#),
        &[
            call,
            &format!(
                "+ result t write=/w/f by=t operation=update diff=--- a/w/f\n+++ b/w/f\n@@ -1 +1 @@\n-x\n{note}\n+y\n{note}\n: {result}"
            ),
        ],
    );
    for failed in
        [r#""status":"error""#, r#""status":"cancelled""#, r#""status":"completed","userDecision":"rejected""#]
    {
        check(&log(failed), &[call, &format!("+ result t ERROR: {result}")]);
    }
}

#[test]
fn a_prompt_without_a_time_has_that_of_its_reply() {
    let made = Made::of(
        r#"c c1 {"name":"T","createdAt":1780325474978}
           b u1 {"type":1,"text":"hi"}
           b a1 {"type":2,"text":"Sure","createdAt":"2026-06-01T14:52:08.647Z"}
           b a2 {"type":2,"text":"More"}"#,
    );
    let told = testing::read_as::<Cursor>(&made.database(), "store", Some("c1"), &[]);
    assert_eq!(told[0], "session c1 title=T from=2026-06-01T14:51:14.978Z to=2026-06-01T14:51:14.978Z");
    assert_eq!(
        told.last().map(String::as_str),
        Some("session c1 title=T from=2026-06-01T14:51:14.978Z to=2026-06-01T14:52:08.647Z")
    );
}

#[test]
fn bubbles_that_were_taken_back_are_a_line_of_their_own_and_never_the_end() {
    check(
        r#"b u1 {"type":1,"text":"a","createdAt":"2026-06-01T00:00:01Z"}
           o x1 {"type":2,"text":"back 1","createdAt":"2026-06-01T00:00:02Z"}
           o x2 {"type":2,"text":"back 2","createdAt":"2026-06-01T00:00:03Z"}
           b a1 {"type":2,"text":"b","createdAt":"2026-06-01T00:00:04Z"}
           o x3 {"type":1,"text":"back 3","createdAt":"2026-06-01T00:00:05Z"}"#,
        &[
            "user u1 after=c1: a",
            "assistant x1 after=u1: back 1",
            "assistant x2 after=x1: back 2",
            "user x3 after=x2: back 3",
            "assistant a1 after=u1: b",
        ],
    );
}

#[test]
fn an_error_that_nobody_listed_stands_where_it_came() {
    check(
        r#"b u1 {"type":1,"text":"a","createdAt":"2026-06-01T00:00:01Z"}
           o x1 {"type":2,"createdAt":"2026-06-01T00:00:02Z","errorDetails":{"message":"No"}}
           b u2 {"type":1,"text":"b","createdAt":"2026-06-01T00:00:04Z"}"#,
        &[
            "user u1 after=c1: a",
            "assistant x1 after=u1 stop=error HARNESS signal=\"error-without-reply\": No",
            r#"+ event error  after=x1: {"error":{"message":"No"}}"#,
            "user u2 after=x1: b",
        ],
    );
}

#[test]
fn the_newest_bubbles_of_a_session_that_runs_are_its_end() {
    check(
        r#"c c1 {"status":"generating"}
           b u1 {"type":1,"text":"a","createdAt":"2026-06-01T00:00:01Z"}
           o a1 {"type":2,"text":"b","createdAt":"2026-06-01T00:00:02Z"}"#,
        &["user u1 after=c1: a", "assistant a1 after=u1: b"],
    );
}

#[test]
fn listed_bubbles_that_are_not_there_are_counted() {
    let made = Made::of(r#"c c1 {"x":1}"#);
    let path = made.database();
    let database = toolpath_plugin_api::kit::sqlite::rusqlite::Connection::open(&path).expect("the database");
    let composer = r#"{"fullConversationHeadersOnly":[{"bubbleId":"a"},{"bubbleId":"b"},"c",{"type":1},7]}"#;
    database.execute("UPDATE cursorDiskKV SET value = ?1", [composer]).expect("the composer");
    assert_eq!(told(&path, "c1"), ["! missing-bubbles 1@0+0: 3 of 5 listed bubbles are not there"]);
}

#[test]
fn the_composers_own_record_is_told_without_its_secrets() {
    let made = Made::of(
        r#"c c1 {"name":"T","blobEncryptionKey":"SECRET","speculativeSummarizationEncryptionKey":"SECRET","conversation":[]}"#,
    );
    let told = testing::read_as::<Cursor>(&made.database(), "store", Some("c1"), &[]);
    assert_eq!(told[1], r#"event composer c1: {"composer":{"fullConversationHeadersOnly":[],"name":"T"}}"#);
    assert!(!told.iter().any(|line| line.contains("SECRET")));
}

#[test]
fn older_versions_keep_bubbles_and_tools_in_the_composer() {
    let tools =
        r#"{\"a2\":{\"tool\":5,\"toolCallId\":\"t\",\"status\":\"completed\",\"params\":\"{}\",\"result\":\"text\"}}"#;
    check(
        &format!(
            r#"c c1 {{"conversation":[{{"bubbleId":"u1","type":1,"text":"hi"}},{{"type":2,"text":"Sure"}},{{"bubbleId":"a2","type":2}},7],"capabilities":[{{"type":1}},{{"type":15,"data":{{"bubbleDataMap":"{tools}"}}}}]}}"#
        ),
        &[
            "user u1 after=c1: hi",
            "assistant c1:2 after=u1: Sure",
            "assistant a2 after=c1:2 call=t:read_file:1:{}: ",
            "+ result t: text",
            r#"event unreadable c1:4 after=a2 UNREADABLE: {"raw":"7"}"#,
            "! unreadable-record 1@0+0: `c1:4` cannot be read: expected an object",
        ],
    );
}

#[test]
fn a_sub_agents_composer_is_a_branch_between_the_call_and_its_result() {
    check(
        r#"c c1 {"subagentComposerIds":["c2","c3","gone"]}
           b a1 {"type":2,"toolFormerData":{"tool":48,"name":"task_v2","toolCallId":"t","status":"completed","params":"{\"prompt\":\"look\",\"subagentType\":\"review\"}","result":"fine"}}
           b a2 {"type":2,"text":"Done"}
           c c2 {"subagentInfo":{"parentComposerId":"c1","toolCallId":"t"}}
           b v1 {"type":1,"text":"look"}
           b v2 {"type":2,"text":"fine","modelInfo":{"modelName":"m-2"}}
           c c3 {"x":1}
           b w1 {"type":1,"text":"else"}"#,
        &[
            "assistant a1 after=c1 call=t:task_v2:6:{\"prompt\":\"look\",\"subagentType\":\"review\"}: ",
            r#"event composer c2 branch={"call":"t","agent":"review"}: {"composer":{"fullConversationHeadersOnly":[{"bubbleId":"v1"},{"bubbleId":"v2"}],"subagentInfo":{"parentComposerId":"c1","toolCallId":"t"}}}"#,
            r#"user v1 after=c2 branch={"call":"t","agent":"review"}: look"#,
            r#"assistant v2 after=v1 model=m-2 branch={"call":"t","agent":"review"}: fine"#,
            "+ result t delegation=c2:look answer=fine: fine",
            "assistant a2 after=a1: Done",
            r#"event composer c3 branch={"call":null,"agent":"c3"}: {"composer":{"fullConversationHeadersOnly":[{"bubbleId":"w1"}],"x":1}}"#,
            r#"user w1 after=c3 branch={"call":null,"agent":"c3"}: else"#,
            "! orphan-sub-agent 6@0+0: the sub-agent's session `c3` is named by no call of its caller",
        ],
    );
}

#[test]
fn composers_that_name_each_other_are_told_once() {
    let made = Made::of(
        "c c1 {\"subComposerIds\":[\"c1\",\"c2\"]}\nb a1 {\"type\":2,\"text\":\"A\"}\nc c2 {\"subComposerIds\":[\"c1\"]}\nb a2 {\"type\":2,\"text\":\"B\"}",
    );
    let told = told(&made.database(), "c1");
    assert_eq!(told.iter().filter(|line| line.starts_with("assistant ")).count(), 2, "{told:#?}");
}

#[test]
fn the_folder_is_the_composers_or_that_of_its_bubbles() {
    let dir = |log: &str| {
        let made = Made::of(log);
        let told = testing::read_as::<Cursor>(&made.database(), "store", Some("c1"), &[]);
        told.last().and_then(|line| line.split(" dir=").nth(1).map(str::to_owned))
    };
    assert_eq!(dir(r#"c c1 {"workspaceIdentifier":{"uri":{"fsPath":"/w"}}}"#).as_deref(), Some("/w"));
    let heads = r#"h {"allComposers":[7,{"composerId":"c1","workspaceIdentifier":{"uri":{"path":"/v"}}}]}"#;
    assert_eq!(dir(&format!("c c1 {{}}\n{heads}")).as_deref(), Some("/v"));
    assert_eq!(dir(r#"b u1 {"type":1,"text":"x","workspaceUris":["file:///a%20b"]}"#).as_deref(), Some("/a b"));
    assert_eq!(dir(r#"b u1 {"type":1,"text":"x","workspaceProjectDir":"/p"}"#).as_deref(), Some("/p"));
    assert_eq!(dir(r#"b u1 {"type":1,"text":"x"}"#), None);
}

#[test]
fn a_bubble_of_no_known_type_is_an_event() {
    check(
        r#"b x1 {"type":99,"message":"m"}
           b a1 {"type":2,"text":"A","conversationSummary":{"summary":"s"}}"#,
        &[
            r#"event bubble x1 after=c1: {"bubble":{"type":99,"message":"m"}}"#,
            "! unknown-record-type 1@0+0: `x1` is a bubble of no known type; it is kept as an event",
            "assistant a1 after=x1: A",
            r#"+ event conversation-summary  after=a1: {"conversation-summary":{"summary":"s"}}"#,
        ],
    );
}
