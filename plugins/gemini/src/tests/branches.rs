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

/// Documents of a session and of a sub-agent, as older versions write them.
fn documents(folder: &std::path::Path, agent: &str) -> [std::path::PathBuf; 2] {
    let paths = [folder.join("session-x.json"), folder.join(agent)];
    let call = r#"{"id":"c","name":"scout","args":{"objective":"look"},"status":"success","timestamp":"2026-01-02T03:04:09Z","result":"found"}"#;
    let main = format!(
        r#"{{"sessionId":"s","projectHash":"p","messages":[{{"id":"m","type":"gemini","content":"","model":"g","timestamp":"2026-01-02T03:04:05Z","toolCalls":[{call}]}}]}}"#
    );
    let agent = concat!(
        r#"{"sessionId":"abcdef","projectHash":"p","kind":"subagent","startTime":"2026-01-02T03:04:06Z","messages":["#,
        r#"{"id":"p","type":"user","content":"look","timestamp":"2026-01-02T03:04:06Z"},"#,
        r#"{"id":"q","type":"gemini","content":"found","model":"h","timestamp":"2026-01-02T03:04:08Z"}]}"#
    );
    fs::create_dir_all(paths[1].parent().expect("a folder")).expect("a folder");
    fs::write(&paths[0], main).expect("a file");
    fs::write(&paths[1], agent).expect("a file");
    paths
}

#[test]
fn a_sub_agent_that_only_its_time_leads_to_is_a_session_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let [main, agent] = documents(folder.path(), "session-2026-01-02T03-04-abcdef.json");
    let told = testing::read::<GeminiCli>(&main);
    assert_eq!(told.len(), 3, "{told:#?}");
    let told = testing::read::<GeminiCli>(&agent);
    assert_eq!(
        told[2..],
        [r#"user p HARNESS signal="sub-agent-prompt": look"#, "assistant q after=p model=h: found"],
        "nobody typed it"
    );
    let listed = testing::sessions::<GeminiCli>(&[folder.path()]);
    assert_eq!(listed.len(), 2, "{listed:#?}");
}

#[test]
fn a_session_that_says_it_is_a_main_one_is_typed_by_its_user() {
    let told =
        super::told("session-x.jsonl", format!("{HEADER}\n{{\"id\":\"u\",\"type\":\"user\",\"content\":\"hi\"}}\n"));
    assert_eq!(told[2], "user u: hi");
}

#[test]
fn an_older_sub_agents_document_in_the_sessions_folder_is_a_branch() {
    let folder = tempfile::tempdir().expect("a folder");
    let [main, _] = documents(folder.path(), "s/abcdef.json");
    fs::write(folder.path().join("s/notes.json"), r#"{"a":1}"#).expect("a file");
    let branch = r#"branch={"call":null,"agent":"abcdef"}"#;
    let told = testing::read::<GeminiCli>(&main);
    assert!(told[3].starts_with(&format!("user p {branch}: look")), "{told:#?}");
    assert!(told[4].starts_with("event session abcdef/session after=p"), "{told:#?}");
    assert_eq!(
        told[5..],
        [
            format!("assistant q after=p model=h {branch}: found"),
            "! orphan-sub-agent 0@0+0: no call names this sub-agent".to_owned(),
            "! unreadable-file 0@0+0: the file among the sub-agents' holds no record of Gemini CLI".to_owned(),
            "session s title=Gemini session: s from=2026-01-02T03:04:05Z to=2026-01-02T03:04:05Z file=session-x.json file=abcdef.json file=notes.json".to_owned(),
        ]
    );
}
