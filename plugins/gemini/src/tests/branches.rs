//! Sub-agents, whose files stand beside the session's.

use std::fs;

use toolpath_plugin_api::kit::testing;

use super::HEADER;
use crate::GeminiCli;

#[test]
fn a_sub_agents_file_is_the_branch_of_its_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session-x.jsonl");
    let call = concat!(
        r#"{"id":"c","name":"invoke_agent","args":{"agent_name":"scout","prompt":"look"},"agentId":"a1","status":"success","#,
        r#""result":[{"functionResponse":{"id":"c","response":{"output":"found"}}}]}"#
    );
    let log = format!(
        "{HEADER}\n{{\"id\":\"m\",\"type\":\"gemini\",\"content\":\"\",\"model\":\"g\",\"toolCalls\":[{call}]}}\n{{\"id\":\"n\",\"type\":\"gemini\",\"content\":\"Done.\",\"model\":\"g\"}}\n"
    );
    fs::write(&path, log).expect("a file");
    fs::create_dir(folder.path().join("s")).expect("a folder");
    let header = r#"{"sessionId":"a1","projectHash":"p","kind":"subagent"}"#;
    let agent = format!(
        "{header}\n{{\"id\":\"p\",\"type\":\"user\",\"content\":\"look\"}}\n{{\"id\":\"q\",\"type\":\"gemini\",\"content\":\"found\",\"model\":\"h\"}}\n"
    );
    fs::write(folder.path().join("s/a1.jsonl"), agent).expect("a file");
    fs::write(folder.path().join("s/b2.jsonl"), "{\"id\":\"r\",\"type\":\"user\",\"content\":\"alone\"}\n")
        .expect("a file");
    let branch = r#"branch={"call":"c","agent":"scout"}"#;
    assert_eq!(
        testing::read::<GeminiCli>(&path)[1..],
        [
            format!("event session line-1: {HEADER}"),
            r#"assistant m model=g call=c:invoke_agent:6:{"agent_name":"scout","prompt":"look"}: "#.to_owned(),
            format!("user p {branch}: look"),
            format!("event session a1/line-1 after=p {branch}: {header}"),
            format!("assistant q after=p model=h {branch}: found"),
            "+ result c delegation=a1:look answer=found: found".to_owned(),
            "assistant n after=m model=g: Done.".to_owned(),
            r#"user r branch={"call":null,"agent":"b2"}: alone"#.to_owned(),
            "! orphan-sub-agent 0@0+0: no call names this sub-agent".to_owned(),
            "session s title=Gemini session: s file=session-x.jsonl file=a1.jsonl file=b2.jsonl".to_owned(),
        ]
    );
}

#[test]
fn a_session_from_standard_input_has_nothing_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("copy");
    fs::write(&path, format!("{HEADER}\n{{\"id\":\"u\",\"type\":\"user\",\"content\":\"hi\"}}\n")).expect("a file");
    fs::create_dir(folder.path().join("s")).expect("a folder");
    fs::write(folder.path().join("s/b2.jsonl"), "{\"id\":\"r\",\"type\":\"user\",\"content\":\"alone\"}\n")
        .expect("a file");
    let told = testing::read_as::<GeminiCli>(&path, "-", None, &[]);
    assert_eq!(told.len(), 3, "{told:#?}");
}
