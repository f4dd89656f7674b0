//! What becomes of each kind of record, and of what is no record.

use std::io::Read;

use super::folder::Folder;
use super::recorder::read;
use super::{check, check_as};
use crate::as_it_is;

#[test]
fn a_session_is_announced_with_its_base_as_soon_as_that_is_known() {
    let told = read(
        "0123456789",
        br#"{"type":"mode","mode":"x"}
{"type":"user","uuid":"u","timestamp":"2026-05-04T08:15:00.000Z","cwd":"/srv/demo","gitBranch":"main","version":"2.1.1","message":{"content":"hi"}}
{"type":"custom-title","customTitle":"Retries"}
"#,
    );
    assert_eq!(
        told,
        [
            "session 0123456789",
            r#"event mode line-1: {"raw":{"type":"mode","mode":"x"}}"#,
            "session 0123456789 dir=/srv/demo branch=main",
            "user u dir=/srv/demo branch=main: hi",
            r#"event custom-title line-3: {"raw":{"type":"custom-title","customTitle":"Retries"}}"#,
            "session 0123456789 title=Retries dir=/srv/demo branch=main from=2026-05-04T08:15:00Z to=2026-05-04T08:15:00Z version=2.1.1",
        ]
    );
}

#[test]
fn a_log_without_a_record_of_claude_code_fails() {
    assert_eq!(read("s", b"\n \n"), ["session s", "failed: holds no records; name a Claude Code session file"]);
    let failed = "failed: holds no record of Claude Code; name a session file of it, or another --provider";
    for log in [
        "{\"type\":\"session_meta\",\"payload\":{}}\n[1]\n",
        r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","parts":[{"text":"hi"}]}}"#,
        r#"{"sessionId":"s","projectHash":"p"}"#,
    ] {
        assert_eq!(read("s", log.as_bytes()).last().map(String::as_str), Some(failed), "{log}");
    }
}

#[test]
fn a_line_of_a_message_is_a_turn_of_its_own_in_the_messages_group() {
    check(
        r#"{"type":"assistant","uuid":"a","message":{"id":"g","model":"m","content":[{"type":"thinking","thinking":"hm"}],"usage":{"output_tokens":1}}}
{"type":"assistant","uuid":"b","parentUuid":"a","message":{"id":"g","model":"m","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/a"}}],"usage":{"output_tokens":9}}}"#,
        &[
            "assistant a group=g model=m thinking=hm snapshot=-/1/-/-: ",
            r#"assistant b after=a group=g model=m stop=tool_use snapshot=-/9/-/- call=t:Write:2:{"file_path":"/a"} needs-result: "#,
        ],
    );
}

#[test]
fn without_a_messages_id_usage_is_the_lines_own() {
    check(
        r#"{"type":"assistant","message":{"id":"","model":"","content":"x","usage":{"output_tokens":1}}}"#,
        &["assistant line-1 usage=-/1/-/-: x"],
    );
}

#[test]
fn results_fold_into_their_calls_and_their_record_leads_on() {
    check(
        r#"{"type":"user","uuid":"u","parentUuid":"a","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"ok"},{"type":"tool_result","tool_use_id":"v","is_error":true}]}}"#,
        &["+ result t: ok", "+ result v ERROR: ", "folded id=u after=a: tool result"],
    );
}

#[test]
fn calls_and_results_without_an_id_are_not_taken_for_each_other() {
    check(
        r#"{"type":"assistant","uuid":"a","message":{"content":[{"type":"tool_use","name":"Bash","input":{}},{"type":"tool_use","id":5,"name":"Bash","input":{}}]}}
{"type":"user","uuid":"u","message":{"content":[{"type":"tool_result","content":"x"},{"type":"tool_result","tool_use_id":{},"content":"y"},{"type":"tool_result","tool_use_id":5,"content":"z"}]}}
{"type":"user","uuid":"v","sourceToolUseID":"t","message":{"content":[{"type":"tool_result","content":"x"}]}}"#,
        &[
            "assistant a call=a/0:Bash:4:{} call=5:Bash:4:{}: ",
            "+ result u/result-0: x",
            "+ result u/result-1: y",
            "+ result 5: z",
            "folded id=u: tool result",
            "+ result t: x",
            "folded id=v: tool result",
        ],
    );
}

#[test]
fn a_result_takes_its_writes_from_the_tools_report() {
    let log = |error: bool, more: &str| {
        format!(
            r#"{{"type":"user","uuid":"u","cwd":"/p","toolUseResult":{{"type":"create","filePath":"a","content":"x\n"}},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t","is_error":{error},"content":"ok"}}{more}]}}}}"#
        )
    };
    check(
        &log(false, ""),
        &[
            "+ result t write=/p/a by=t operation=add diff=--- a/p/a\n+++ b/p/a\n@@ -0,0 +1 @@\n+x\n: ok",
            "folded id=u: tool result",
        ],
    );
    check(&log(true, ""), &["+ result t ERROR: ok", "folded id=u: tool result"]);
    // Which of several results the report is about, it does not say.
    check(
        &log(false, r#",{"type":"tool_result","tool_use_id":"v"}"#),
        &["+ result t: ok", "+ result v: ", "folded id=u: tool result"],
    );
}

#[test]
fn an_edit_that_a_human_changed_says_so_beside_its_result() {
    let log = |modified: &str| {
        format!(
            r#"{{"type":"user","uuid":"u","toolUseResult":{{"filePath":"/p/a","oldString":"x","newString":"y","originalFile":"x\n","userModified":{modified}}},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"ok"}}]}}}}"#
        )
    };
    let result = "+ result t write=/p/a by=t operation=update diff=--- a/p/a\n+++ b/p/a\n@@ -1 +1 @@\n-x\n+y\n: ok";
    let folded = "folded id=u: tool result";
    check(&log("false"), &[result, folded]);
    let changed = r#"+ event edit-changed-by-user  after=u: {"path":"/p/a","tool_use_id":"t"}"#;
    check(&log("true"), &[result, folded, changed]);
}

#[test]
fn a_notebooks_write_is_known_by_the_call_where_the_result_reports_nothing() {
    let log = |result: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"a","message":{{"content":[{{"type":"tool_use","id":"t","name":"NotebookEdit","input":{{"notebook_path":"n.ipynb","new_source":"x"}}}}]}}}}
{{"type":"user","uuid":"u","cwd":"/p","message":{{"content":[{{"type":"tool_result","tool_use_id":"t"{result}}}]}}}}"#
        )
    };
    let call = r#"assistant a call=t:NotebookEdit:2:{"notebook_path":"n.ipynb","new_source":"x"} needs-result: "#;
    let folded = "folded id=u: tool result";
    check(&log(""), &[call, "+ result t write=/p/n.ipynb by=t operation=update: ", folded]);
    check(&log(r#","is_error":true"#), &[call, "+ result t ERROR: ", folded]);
}

#[test]
fn an_output_that_was_written_to_a_file_says_where_and_what() {
    let folder = Folder::new();
    let said = r"<persisted-output>\nOutput too large (9KB). Full output saved to: /old/s/tool-results/b1.txt\n\nPreview:\nab\n</persisted-output>";
    let log = |report: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"u"{report},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"{text}"}}]}}}}"#
        )
    };
    folder.write("s/tool-results/b1.txt", "hello");
    let report = r#","toolUseResult":{"stdout":"ab","persistedOutputPath":"/old/s/tool-results/b1.txt"}"#;
    for log in [log(report, "ab"), log("", said), log(report, said)] {
        folder.write("s.jsonl", log);
        assert_eq!(
            folder.records("s.jsonl")[2],
            r#"+ event spilled-output  after=u: {"bytes":5,"path":"/old/s/tool-results/b1.txt","sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","tool_use_id":"t"}"#
        );
    }
    folder.write("s.jsonl", log("", "Full output saved to: /old/s/tool-results/b1.txt"));
    assert_eq!(folder.records("s.jsonl").len(), 2);
}

#[test]
fn a_result_tells_what_was_handed_to_a_sub_agent() {
    let log = |report: &str| {
        format!(
            r#"{{"type":"user","uuid":"u","toolUseResult":{report},"message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"ok"}}]}}}}"#
        )
    };
    check(
        &log(r#"{"agentId":"x","prompt":"look","content":[{"type":"text","text":"found"}]}"#),
        &["+ result t delegation=x:look answer=found: ok", "folded id=u: tool result"],
    );
    check(
        &log(r#"{"isAsync":true,"agentId":"x","prompt":"look"}"#),
        &["+ result t delegation=x:look: ok", "folded id=u: tool result"],
    );
    check(&log(r#""Error: no""#), &["+ result t: ok", "folded id=u: tool result"]);
}

#[test]
fn blocks_that_have_no_place_are_kept_whole_beside_the_record() {
    check(
        r#"{"type":"user","uuid":"u","message":{"content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}}"#,
        &[
            "user u: see\n[image: image/png, 3 bytes, sha256 709e80c88487a241]",
            r#"+ event content-block  after=u: {"block":{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}}"#,
        ],
    );
    check(
        r#"{"type":"user","uuid":"u","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image"}]}]}}"#,
        &[
            "+ result t: [image]",
            "folded id=u: tool result",
            r#"+ event content-block  after=u: {"block":{"type":"image"}}"#,
        ],
    );
    check(
        r#"{"type":"assistant","uuid":"a","message":{"content":[{"type":"redacted_thinking","data":"x"}]}}"#,
        &["assistant a: ", r#"+ event content-block  after=a: {"block":{"type":"redacted_thinking","data":"x"}}"#],
    );
}

#[test]
fn the_apis_own_tools_answer_within_the_message() {
    check(
        r#"{"type":"assistant","uuid":"a","message":{"content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":{"type":"web_search_tool_result_error"}}]}}"#,
        &[
            "assistant a call=s:web_search:5:{}: ",
            "+ result s ERROR: [web_search_tool_result_error]",
            r#"+ event content-block  after=a: {"block":{"type":"web_search_tool_result_error"}}"#,
        ],
    );
}

#[test]
fn a_tools_progress_is_folded_and_leads_on() {
    check(
        r#"{"type":"progress","uuid":"p","parentUuid":"a","data":{"type":"bash_progress"}}"#,
        &["folded id=p after=a: superseded by the tool's result"],
    );
}

#[test]
fn a_sub_agents_progress_is_kept_where_the_sub_agent_has_no_file() {
    check(
        r#"{"type":"progress","uuid":"p","parentUuid":"a","data":{"type":"agent_progress","agentId":"x"}}"#,
        &[r#"event progress p after=a: {"data":{"type":"agent_progress","agentId":"x"},"parentUuid":"a"}"#],
    );
}

#[test]
fn sidechains_are_branches_except_in_a_sub_agents_own_file() {
    let log = r#"{"type":"user","uuid":"u","isSidechain":true,"agentId":"x","message":{"content":"look"}}
{"type":"system","uuid":"e","parentUuid":"u","isSidechain":true,"agentId":"x"}
{"type":"user","uuid":"v","message":{"content":"hi"}}"#;
    check(
        log,
        &[
            r#"user u branch={"call":null,"agent":"x"}: look"#,
            r#"event system e after=u branch={"call":null,"agent":"x"}: {"agentId":"x","isSidechain":true,"parentUuid":"u"}"#,
            "user v: hi",
        ],
    );
    check_as(
        "agent-x",
        log,
        &[
            "user u: look",
            r#"event system e after=u: {"agentId":"x","isSidechain":true,"parentUuid":"u"}"#,
            "user v: hi",
        ],
    );
}

#[test]
fn a_prompt_from_the_queue_is_a_turn_with_its_record_beside_it() {
    check(
        r#"{"type":"attachment","uuid":"q","parentUuid":"a","attachment":{"type":"queued_command","prompt":"and the tests","commandMode":"prompt"}}"#,
        &[
            "user q after=a: and the tests",
            r#"+ event attachment  after=q: {"attachment":{"type":"queued_command","prompt":"and the tests","commandMode":"prompt"}}"#,
        ],
    );
    check(
        r#"{"type":"attachment","uuid":"q","attachment":{"type":"queued_command","prompt":null}}"#,
        &[r#"event attachment q: {"attachment":{"type":"queued_command","prompt":null}}"#],
    );
}

#[test]
fn records_of_any_other_kind_are_events() {
    check(
        r#"{"type":"brand-new","uuid":"e","timestamp":"t","x":1}
{"no":"type"}
{"type":"assistant","uuid":"f","message":7}
{"type":"file-history-snapshot","messageId":"e"}"#,
        &[
            r#"event brand-new e: {"x":1}"#,
            r#"event unknown line-2: {"raw":{"no":"type"}}"#,
            r#"event assistant f: {"message":7}"#,
            r#"event file-history-snapshot line-4: {"raw":{"type":"file-history-snapshot","messageId":"e"}}"#,
            "! unknown-record-type 1@0+53: a record of the kind `brand-new` is unknown to this plugin; it is kept as an event",
            "! unknown-record-type 2@54+13: a record without a kind is unknown to this plugin; it is kept as an event",
        ],
    );
}

#[test]
fn kinds_that_are_not_known_are_counted_by_the_version_that_wrote_them() {
    let told = read(
        "s",
        br#"{"type":"brand-new","version":"3.0"}
{"type":"user","uuid":"u","message":{"content":"hi"}}
{"type":"brand-new","version":"3.0"}
{"type":"brand-new","version":"3.1"}"#,
    );
    let told: Vec<&str> = told.iter().filter_map(|line| line.strip_prefix("! unknown-record-type ")).collect();
    assert_eq!(
        told,
        [
            "1@0+36: 2 records of the kind `brand-new`, written by version 3.0, are unknown to this plugin; they are kept as events",
            "4@128+36: a record of the kind `brand-new`, written by version 3.1, is unknown to this plugin; it is kept as an event",
        ]
    );
}

#[test]
fn records_on_one_line_are_told_in_their_places() {
    check(
        r#"{"type":"mode"}{"type":"user","message":{"content":"hi"}}{"type":"#,
        &[
            r#"event mode line-1: {"raw":{"type":"mode"}}"#,
            "user line-1.2: hi",
            r#"event unreadable line-1.3 UNREADABLE: {"raw":"{\"type\":"}"#,
            "! unreadable-record 1@57+8: the file ends inside a record",
        ],
    );
}

#[test]
fn what_cannot_be_read_is_kept_and_reported() {
    check(
        "{nonsense}\n[1]\n\0\0\0\n{\"type\":\"summary\",\"summary\":\"x\"}",
        &[
            r#"event unreadable line-1 UNREADABLE: {"raw":"{nonsense}"}"#,
            "! unreadable-record 1@0+10: key must be a string at column 2",
            r#"event unreadable line-2 UNREADABLE: {"raw":"[1]"}"#,
            "! unreadable-record 2@11+3: expected an object",
            r#"event unreadable line-3 UNREADABLE: {"raw":"3 NUL bytes"}"#,
            "! unreadable-record 3@15+3: the line holds nothing but NUL bytes",
            r#"event summary line-4: {"raw":{"type":"summary","summary":"x"}}"#,
        ],
    );
}

#[test]
fn texts_cut_within_a_character_are_mended_and_reported() {
    check(
        r#"{"type":"user","uuid":"u","message":{"content":"cut \ud83d"}}"#,
        &["! lone-surrogate 1@0+61: halves of surrogate pairs were replaced", "user u: cut \u{fffd}"],
    );
    let told = read("s", b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\"}}");
    assert_eq!(told[1..3], ["! invalid-utf8 1@0+41: bytes that are no UTF-8 were replaced", "user line-1: \u{fffd}"]);
}

#[test]
fn a_log_cut_after_any_byte_is_read_to_its_end() {
    let log = br#"{"type":"user","uuid":"u","message":{"content":"h\u00e9 \ud83d\ude00"}}
{"type":"assistant","uuid":"a","message":{"id":"g","content":[{"type":"text","text":"x"}]}}"#;
    for end in 0..=log.len() {
        read("s", &log[..end]);
    }
}

#[test]
fn a_file_that_grows_while_it_is_read_is_read_to_where_it_ended() {
    let path = std::env::temp_dir().join(format!("toolpath-provider-claude-grows-{}", std::process::id()));
    std::fs::write(&path, "before").expect("a file");
    let mut file = as_it_is(std::fs::File::open(&path).expect("the file")).expect("its length");
    std::fs::write(&path, "before and after").expect("the file");
    let mut text = String::new();
    file.read_to_string(&mut text).expect("the file");
    std::fs::remove_file(&path).expect("the file");
    assert_eq!(text, "before");
}
