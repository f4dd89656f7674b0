//! Parents: the tree, where it begins anew, lists of version 1, and sub-agents' branches.

use super::check;

#[test]
fn entries_follow_their_parents_and_a_result_leads_on_to_its_call() {
    check(
        r#"{"type":"message","id":"u","parentId":null,"message":{"role":"user","content":"hi"}}
{"type":"message","id":"a","parentId":"u","message":{"role":"assistant","model":"m","content":[{"type":"toolCall","id":"t","name":"bash","arguments":{}}]}}
{"type":"message","id":"r","parentId":"a","message":{"role":"toolResult","toolCallId":"t","toolName":"bash","content":[{"type":"text","text":"ok"}],"isError":false}}
{"type":"message","id":"b","parentId":"r","message":{"role":"assistant","model":"m","content":"done"}}
{"type":"branch_summary","id":"s","parentId":"u","fromId":"b","summary":"x"}
{"type":"message","id":"v","parentId":"s","message":{"role":"user","content":"again"}}"#,
        &[
            "user u: hi",
            "assistant a after=u model=m call=t:bash:4:{}: ",
            "+ result t: ok",
            "folded id=r after=a: tool result",
            "assistant b after=r model=m: done",
            r#"event branch_summary s after=u: {"fromId":"b","parentId":"u","summary":"x"}"#,
            "user v after=s: again",
        ],
    );
}

#[test]
fn a_turn_after_events_that_begin_anew_has_no_parent() {
    check(
        r#"{"type":"model_change","id":"m","parentId":null,"modelId":"x"}
{"type":"message","id":"u","parentId":"m","message":{"role":"user","content":"hi"}}
{"type":"model_change","id":"n","parentId":null,"modelId":"y"}
{"type":"label","id":"l","parentId":"n","targetId":"u"}
{"type":"message","id":"v","parentId":"l","message":{"role":"user","content":"anew"}}
{"type":"message","id":"w","parentId":"v","message":{"role":"user","content":"more"}}"#,
        &[
            r#"event model_change m: {"modelId":"x","parentId":null}"#,
            "user u after=m: hi",
            r#"event model_change n: {"modelId":"y","parentId":null}"#,
            r#"event label l after=n: {"parentId":"n","targetId":"u"}"#,
            "user v: anew",
            "user w after=v: more",
        ],
    );
}

#[test]
fn records_of_version_1_are_named_by_their_lines_and_follow_each_other() {
    check(
        r#"{"type":"message","message":{"role":"user","content":"hi","timestamp":1772355600000}}
{"type":"compaction","summary":"x","firstKeptEntryIndex":1,"tokensBefore":5}
{"type":"message","message":{"role":"toolResult","toolCallId":"t","content":"ok"}}"#,
        &[
            "user line-2: hi",
            r#"event compaction line-3: {"firstKeptEntryIndex":1,"summary":"x","tokensBefore":5}"#,
            "+ result t: ok",
            "folded id=line-4: tool result",
        ],
    );
}

#[test]
fn a_sub_agents_messages_are_a_branch_and_its_report_follows_them() {
    let details = r#"{"mode":"single","results":[{"agent":"scout","task":"look","exitCode":0,"usage":{"input":4,"output":5},"messages":[
        {"role":"user","content":[{"type":"text","text":"Task: look"}],"timestamp":1772355600000},
        {"role":"assistant","model":"m-2","content":[{"type":"toolCall","id":"x","name":"write","arguments":{"path":"f","content":"y"}}],"usage":{"input":4,"output":5}},
        {"role":"toolResult","toolCallId":"x","content":"ok"},
        {"role":"assistant","model":"m-2","content":"found"},
        {"role":"later"}]}]}"#
        .replace('\n', "");
    check(
        &format!(
            r#"{{"type":"message","id":"r","parentId":null,"message":{{"role":"toolResult","toolCallId":"t","toolName":"subagent","content":"found","details":{details}}}}}"#
        ),
        &[
            r#"+ user r/1.1 branch={"call":"t","agent":"scout"}: Task: look"#,
            &format!(
                r#"+ assistant r/1.2 model=m-2 usage=4/5/-/- call=x:write:2:{{"path":"f","content":"y"}} needs-result write=f by=x partial={} branch={{"call":"t","agent":"scout"}}: "#,
                "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+y\n\\ No newline at end of file\n"
            ),
            "+ result x: ok",
            r#"+ assistant r/1.4 model=m-2 branch={"call":"t","agent":"scout"}: found"#,
            r#"+ event message r/1.5 branch={"call":"t","agent":"scout"}: {"role":"later"}"#,
            r#"+ event sub-agent-report  branch={"call":"t","agent":"scout"}: {"exitCode":0,"usage":{"input":4,"output":5}}"#,
            "+ result t delegation=scout:look answer=found: found",
            "folded id=r: tool result",
        ],
    );
}

#[test]
fn two_sub_agents_of_one_name_are_two_branches() {
    check(
        r#"{"type":"message","id":"r","parentId":null,"message":{"role":"toolResult","toolCallId":"t","content":"","details":{"results":[{"agent":"a","task":"1","messages":[]},{"agent":"a","task":"2","messages":[]}]}}}"#,
        &[
            r#"+ event sub-agent-report  branch={"call":"t","agent":"a"}: {}"#,
            r#"+ event sub-agent-report  branch={"call":"t","agent":"a#2"}: {}"#,
            "+ result t delegation=a:1 delegation=a#2:2: ",
            "folded id=r: tool result",
        ],
    );
}

#[test]
fn lists_in_other_tools_results_are_no_sub_agents() {
    for results in [r#"[{"url":"x"}]"#, r#"[{"agent":"a"}]"#, r#"[{"messages":[]}]"#, "[7]", "7"] {
        check(
            &format!(
                r#"{{"type":"message","id":"r","parentId":null,"message":{{"role":"toolResult","toolCallId":"t","content":"ok","details":{{"results":{results}}}}}}}"#
            ),
            &["+ result t: ok", "folded id=r: tool result"],
        );
    }
}
