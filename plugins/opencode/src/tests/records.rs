//! What becomes of each record.

use toolpath_plugin_api::kit::testing;

use super::{Made, check, told};
use crate::Opencode;

#[test]
fn a_reply_has_its_text_its_thoughts_its_calls_its_model_and_its_usage() {
    check(
        r#"m msg_1 {"role":"user","agent":"build","model":{"providerID":"p","modelID":"m-1"}}
           p prt_1 {"type":"text","text":"hi"}
           m msg_2 {"role":"assistant","parentID":"msg_1","modelID":"m-1","providerID":"p","path":{"cwd":"/w/sub","root":"/w"},"cost":0.1,"tokens":{"input":5,"output":7,"reasoning":2,"cache":{"read":90,"write":1}},"finish":"tool-calls"}
           p prt_2 {"type":"step-start","snapshot":"aa"}
           p prt_3 {"type":"reasoning","text":"First"}
           p prt_4 {"type":"text","text":"Sure."}
           p prt_5 {"type":"tool","callID":"c1","tool":"read","state":{"status":"completed","input":{"filePath":"/w/a"},"output":"text","title":"a"}}
           p prt_6 {"type":"tool","callID":"c2","tool":"bash","state":{"status":"error","input":{"command":"x"},"error":"Tool execution aborted"}}
           p prt_7 {"type":"text","text":"Done."}
           p prt_8 {"type":"patch","hash":"bb","files":["/w/a"]}
           p prt_9 {"type":"step-finish","reason":"tool-calls","tokens":{"input":5,"output":7}}"#,
        &[
            "user msg_1: hi",
            "folded: text of its message",
            "assistant msg_2 after=msg_1 model=m-1 thinking=First stop=tool-calls usage=5/7/90/1 output:reasoning=2 dir=/w/sub call=c1:read:1:{\"filePath\":\"/w/a\"} call=c2:bash:4:{\"command\":\"x\"}: Sure.\nDone.",
            r#"event step-start prt_2 after=msg_2: {"step-start":{"type":"step-start","snapshot":"aa"}}"#,
            "folded: reasoning of its message",
            "folded: text of its message",
            "result c1: text",
            "result c2 ERROR: Tool execution aborted",
            "folded: text of its message",
            r#"event patch prt_8 after=msg_2: {"patch":{"type":"patch","hash":"bb","files":["/w/a"]}}"#,
            r#"event step-finish prt_9 after=msg_2: {"step-finish":{"type":"step-finish","reason":"tool-calls","tokens":{"input":5,"output":7}}}"#,
        ],
    );
}

#[test]
fn steps_that_share_a_message_are_added_up() {
    let step = r#"{"type":"step-finish","tokens":{"input":5,"output":7,"cache":{"read":1,"write":0}}}"#;
    let event = |id: &str| format!(r#"event step-finish {id} after=msg_1: {{"step-finish":{step}}}"#);
    check(
        &format!(
            "m msg_1 {{\"role\":\"assistant\",\"modelID\":\"m-1\",\"tokens\":{{\"input\":5,\"output\":7}}}}\np prt_1 {step}\np prt_2 {step}"
        ),
        &["assistant msg_1 model=m-1 usage=10/14/2/0: ", &event("prt_1"), &event("prt_2")],
    );
}

#[test]
fn a_successful_edit_is_a_write_and_a_failed_one_is_none() {
    let part = |state: &str| {
        format!(
            r#"m msg_1 {{"role":"assistant","modelID":"m-1"}}
               p prt_1 {{"type":"tool","callID":"c","tool":"edit","state":{{{state},"input":{{"filePath":"a.txt","oldString":"x","newString":"y"}}}}}}"#
        )
    };
    let call = "assistant msg_1 model=m-1 call=c:edit:2:{\"filePath\":\"a.txt\",\"oldString\":\"x\",\"newString\":\"y\"} needs-result: ";
    check(
        &part(
            r#""status":"completed","output":"ok","metadata":{"filediff":{"file":"/w/a.txt","before":"x\n","after":"y\n"}}"#,
        ),
        &[
            call,
            "result c write=/w/a.txt by=c operation=update diff=--- a/w/a.txt\n+++ b/w/a.txt\n@@ -1 +1 @@\n-x\n+y\n: ok",
        ],
    );
    check(&part(r#""status":"error","error":"no such file""#), &[call, "result c ERROR: no such file"]);
    check(&part(r#""status":"running""#), &[call, "folded: a call without a result"]);
    check(&part(r#""status":"pending""#), &[call, "folded: a call without a result"]);
}

#[test]
fn a_call_that_could_not_be_read_failed() {
    check(
        r#"m msg_1 {"role":"assistant","modelID":"m-1"}
           p prt_1 {"type":"tool","callID":"c","tool":"invalid","state":{"status":"completed","input":{},"output":"The arguments are invalid"}}"#,
        &["assistant msg_1 model=m-1 call=c:invalid:0:{}: ", "result c ERROR: The arguments are invalid"],
    );
}

#[test]
fn calls_that_a_retry_left_twice_are_told_apart() {
    let tool = |output: &str| {
        format!(
            r#"{{"type":"tool","callID":"c","tool":"bash","state":{{"status":"completed","input":{{}},"output":"{output}"}}}}"#
        )
    };
    check(
        &format!(
            "m msg_1 {{\"role\":\"assistant\",\"modelID\":\"m-1\"}}\np prt_1 {}\np prt_2 {}",
            tool("a"),
            tool("b")
        ),
        &["assistant msg_1 model=m-1 call=c:bash:4:{} call=prt_2:bash:4:{}: ", "result c: a", "result prt_2: b"],
    );
}

#[test]
fn files_leave_a_placeholder_and_their_record() {
    check(
        r#"m msg_1 {"role":"user","summary":{"title":"t"}}
           p prt_1 {"type":"text","text":"see"}
           p prt_2 {"type":"file","mime":"image/png","url":"data:image/png;base64,AAAA","filename":"a.png"}
           p prt_3 {"type":"file","mime":"text/plain","url":"file:///w/b"}
           p prt_4 {"type":"agent","name":"review"}
           p prt_5 {"type":"of-tomorrow"}
           p prt_6 {"no":"type"}"#,
        &[
            "user msg_1: see\n[file: a.png, image/png]\n[file: file:///w/b, text/plain]",
            r#"+ event summary  after=msg_1: {"summary":{"title":"t"}}"#,
            "folded: text of its message",
            r#"event file prt_2 after=msg_1: {"file":{"type":"file","mime":"image/png","url":"data:image/png;base64,AAAA","filename":"a.png"}}"#,
            r#"event file prt_3 after=msg_1: {"file":{"type":"file","mime":"text/plain","url":"file:///w/b"}}"#,
            r#"event agent prt_4 after=msg_1: {"agent":{"type":"agent","name":"review"}}"#,
            r#"event of-tomorrow prt_5 after=msg_1: {"of-tomorrow":{"type":"of-tomorrow"}}"#,
            r#"event part prt_6 after=msg_1: {"part":{"no":"type"}}"#,
        ],
    );
}

#[test]
fn attachments_and_structured_answers_are_kept_beside_the_turn() {
    check(
        r#"m msg_1 {"role":"assistant","modelID":"m-1","structured":{"a":1}}
           p prt_1 {"type":"tool","callID":"c","tool":"read","state":{"status":"completed","input":{},"output":"an image","attachments":[{"mime":"image/png"}]}}"#,
        &[
            "assistant msg_1 model=m-1 call=c:read:1:{}: ",
            r#"+ event structured  after=msg_1: {"structured":{"a":1}}"#,
            "result c: an image",
            r#"+ event attachments  after=msg_1: {"attachments":[{"mime":"image/png"}]}"#,
        ],
    );
}

const CALLER: &str = r#"s ses_1 {}
m msg_1 {"role":"assistant","modelID":"m-1"}
p prt_1 {"type":"tool","callID":"c","tool":"task","state":{"status":"completed","input":{"prompt":"look","subagent_type":"review"},"output":"fine","metadata":{"sessionId":"ses_2"}}}
m msg_2 {"role":"assistant","modelID":"m-1"}
"#;
const CALLED: &str = r#"s ses_2 {"parentID":"ses_1"}
m msg_3 {"role":"user"}
p prt_3 {"type":"text","text":"look"}
m msg_4 {"role":"assistant","modelID":"m-2"}
p prt_4 {"type":"step-start"}
"#;

#[test]
fn a_sub_agents_session_is_a_branch_between_the_call_and_its_result() {
    check(
        &format!("{CALLER}{CALLED}"),
        &[
            "assistant msg_1 model=m-1 call=c:task:6:{\"prompt\":\"look\",\"subagent_type\":\"review\"}: ",
            r#"user msg_3 branch={"call":"c","agent":"review"}: look"#,
            "folded: text of its message",
            r#"assistant msg_4 after=msg_3 model=m-2 branch={"call":"c","agent":"review"}: "#,
            r#"event step-start prt_4 after=msg_4 branch={"call":"c","agent":"review"}: {"step-start":{"type":"step-start"}}"#,
            "result c delegation=ses_2:look answer=fine: fine",
            "assistant msg_2 after=msg_1 model=m-1: ",
        ],
    );
}

#[test]
fn a_sub_agents_session_that_no_call_names_is_told_at_the_end() {
    check(
        &format!("s ses_1 {{}}\nm msg_1 {{\"role\":\"assistant\",\"modelID\":\"m-1\"}}\n{CALLED}"),
        &[
            "assistant msg_1 model=m-1: ",
            r#"user msg_3 branch={"call":null,"agent":"ses_2"}: look"#,
            "folded: text of its message",
            r#"assistant msg_4 after=msg_3 model=m-2 branch={"call":null,"agent":"ses_2"}: "#,
            r#"event step-start prt_4 after=msg_4 branch={"call":null,"agent":"ses_2"}: {"step-start":{"type":"step-start"}}"#,
            "! orphan-sub-agent @: the sub-agent's session `ses_2` is named by no call of its caller",
        ],
    );
}

#[test]
fn sessions_that_name_each_other_or_a_strangers_are_told_once() {
    let task = |id: &str, session: &str| {
        format!(
            r#"p {id} {{"type":"tool","callID":"{id}","tool":"task","state":{{"status":"running","input":{{}},"metadata":{{"sessionId":"{session}"}}}}}}"#
        )
    };
    let log = format!(
        "s ses_1 {{\"parentID\":\"ses_2\"}}\nm msg_1 {{\"role\":\"assistant\"}}\n{}\n{}\n{}\n{}\n
         s ses_2 {{\"parentID\":\"ses_1\"}}\nm msg_2 {{\"role\":\"assistant\"}}\n{}\n
         s ses_3 {{\"parentID\":\"ses_9\"}}\nm msg_3 {{\"role\":\"assistant\"}}",
        task("prt_1", "ses_1"),
        task("prt_2", "ses_2"),
        task("prt_3", "ses_3"),
        task("prt_4", "../../etc/passwd"),
        task("prt_5", "ses_1"),
    );
    let made = Made::of(&log);
    for path in [made.database(), made.tree()] {
        let told = told(&path, "ses_1");
        assert_eq!(told.iter().filter(|line| line.starts_with("assistant ")).count(), 2, "{told:#?}");
    }
}

#[test]
fn what_was_taken_back_is_told_with_where_it_began() {
    let made = Made::of(
        r#"s ses_1 {"revert":{"messageID":"msg_2"}}
           m msg_1 {"role":"user"}
           p prt_1 {"type":"text","text":"hi"}
           m msg_2 {"role":"user"}
           p prt_2 {"type":"text","text":"no"}
           m msg_3 {"role":"assistant"}"#,
    );
    assert_eq!(
        told(&made.database(), "ses_1"),
        [
            "user msg_1: hi",
            "folded: text of its message",
            "user msg_2 after=msg_1: no",
            "folded: text of its message",
            "assistant msg_3 after=msg_2: ",
            r#"+ event revert ses_1-revert after=msg_1: {"revert":{"messageID":"msg_2"},"messages":2}"#,
            "! reverted-messages 1@0+0: the last 2 messages were taken back, and still stand on the main line",
        ]
    );
}

#[test]
fn todos_are_events() {
    let made = Made::of("m msg_1 {\"role\":\"user\"}\nt - Tests");
    assert_eq!(
        told(&made.database(), "ses_1")[1..],
        [r#"event todo todo-row-1: {"todo":{"session_id":"ses_1","content":"Tests","status":"pending","position":2}}"#]
    );
    assert_eq!(told(&made.tree(), "ses_1")[1..], [r#"event todo todo-ses_1: {"todo":{"list":[{"content":"Tests"}]}}"#]);
}

#[test]
fn the_session_is_called_what_the_store_says() {
    let made = Made::of("s ses_1 {\"directory\":\"/w\",\"title\":\"Fix it\"}\nm msg_1 {\"role\":\"user\"}");
    let told = testing::read_as::<Opencode>(&made.database(), "store", Some("ses_1"), &[]);
    let files = "file=store[session] file=store[message] file=store[part] file=store[session_message] file=store[todo]";
    assert_eq!(
        told,
        [
            &format!(
                "session ses_1 title=Fix it dir=/w from=2026-02-02T02:40:00Z to=2026-02-02T02:40:00Z version=1.2.6 {files}"
            ),
            r#"event session ses_1: {"session":{"id":"ses_1","project_id":"p","slug":"slug","directory":"/w","title":"Fix it","version":"1.2.6","time_created":1770000000000,"time_updated":1770000000000}}"#,
            "user msg_1: ",
            &format!(
                "session ses_1 title=Fix it dir=/w from=2026-02-02T02:40:00Z to=2026-02-02T02:40:01Z version=1.2.6 {files}"
            ),
        ]
    );
}

#[test]
fn rows_of_the_newest_model_are_turns_and_events() {
    let made = Made::of(
        r#"n m1 model-switched {"model":{"id":"m-1"}}
           n m2 user {"text":"hi","files":[{"mime":"image/png"}]}
           n m3 synthetic {"text":"Continue"}
           n m4 system {"text":"Be brief"}
           n m5 shell {"callID":"c","command":"ls","output":"a"}
           n m6 assistant {"agent":"build","model":{"id":"m-1","providerID":"p"},"content":[{"type":"reasoning","text":"Well"},{"type":"text","text":"Sure"},{"type":"tool","id":"t","name":"bash","state":{"status":"completed","input":{"command":"ls"},"content":[{"type":"text","text":"a"},{"type":"file","mime":"image/png"}]}},{"type":"tool","id":"u","name":"bash","state":{"status":"error","input":{},"error":{"type":"x","message":"no"}}}],"finish":"stop","tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}
           n m7 assistant {"model":{"id":"m-1"},"content":[],"error":{"type":"provider","message":"Overloaded"}}
           n m8 assistant {"model":{"id":"m-1"},"content":[{"type":"text","text":"Ha"}],"error":{"type":"provider","message":"Overloaded"}}
           n m9 compaction {"reason":"auto","summary":"We did."}"#,
    );
    assert_eq!(
        told(&made.database(), "ses_1"),
        [
            r#"event model-switched m1: {"model-switched":{"model":{"id":"m-1"}}}"#,
            "user m2 after=m1: hi",
            r#"+ event files  after=m2: {"files":[{"mime":"image/png"}]}"#,
            "user m3 after=m2 HARNESS signal=\"synthetic-message\": Continue",
            "system m4 after=m3 HARNESS signal=\"system-message\": Be brief",
            "assistant m5 after=m4 call=c:bash:4:{\"command\":\"ls\"} HARNESS signal=\"shell-message\": ",
            "+ result c: a",
            "assistant m6 after=m5 model=m-1 thinking=Well stop=stop usage=1/5/4/5 output:reasoning=3 call=t:bash:4:{\"command\":\"ls\"} call=u:bash:4:{}: Sure",
            "+ result t: a\n[file: image/png]",
            "+ result u ERROR: no",
            "assistant m7 after=m6 stop=provider HARNESS signal=\"error-without-reply\": Overloaded",
            r#"+ event error  after=m7: {"error":{"type":"provider","message":"Overloaded"}}"#,
            "assistant m8 after=m7 model=m-1 stop=provider: Ha",
            r#"+ event error  after=m8: {"error":{"type":"provider","message":"Overloaded"}}"#,
            r#"event compaction m9 after=m8: {"compaction":{"reason":"auto","summary":"We did."}}"#,
        ]
    );
}

#[test]
fn a_session_in_both_models_is_told_once() {
    let made = Made::of("m msg_1 {\"role\":\"user\"}\nn m1 user {\"text\":\"hi\"}");
    assert_eq!(
        told(&made.database(), "ses_1"),
        ["user msg_1: ", "! unread-copy 1@0+0: 1 rows of `session_message` tell it a second time and were not read"]
    );
}
