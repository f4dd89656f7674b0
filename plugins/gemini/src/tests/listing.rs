//! What a host is told of folders.

use std::fs;

use toolpath_plugin_api::kit::testing;

use super::HEADER;
use crate::GeminiCli;

#[test]
fn sessions_are_listed_with_their_project_and_first_prompt() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let write = |name: &str, text: &str| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    };
    let user = r#"{"id":"u","type":"user","content":"<session_context>x</session_context>","timestamp":"2026-01-02T03:04:05Z"}"#;
    let ask = r#"{"id":"v","type":"user","content":"Fix it\nplease","timestamp":"2026-01-02T03:05:05Z"}"#;
    let set = r#"{"$set":{"lastUpdated":"2026-01-02T04:00:00Z"}}"#;
    let log = format!("{HEADER}\n{user}\n{ask}\n{ask}\n{set}\n");
    write("demo/.project_root", "/srv/demo\n");
    write("demo/chats/session-a.jsonl", &log);
    write("demo/chats/session-a.json", "{}");
    write("demo/chats/s/agent.jsonl", &log);
    write("demo/chats/session-a.jsonl.unreadable-1", "x");
    write(
        "old/chats/session-b.json",
        r#"{"sessionId":"b","projectHash":"p","summary":"B","messages":[{"id":"m","type":"gemini","content":"x"}]}"#,
    );
    write("old/chats/session-c.jsonl", &format!("{HEADER}\n"));
    write("old/chats/session-d.jsonl", "words\n");
    write("old/logs.json", "[]");
    let told: Vec<String> = testing::sessions::<GeminiCli>(&[root, &root.join("demo"), &root.join("missing")])
        .into_iter()
        .map(|line| line.replace(&root.display().to_string(), "ROOT"))
        .collect();
    assert_eq!(
        told,
        [
            format!(
                "s at ROOT/demo/chats/session-a.jsonl project=/srv/demo title=Fix it from=2026-01-02T03:04:05Z to=2026-01-02T04:00:00Z turns=2 bytes={}",
                log.len()
            ),
            "b at ROOT/old/chats/session-b.json title=B turns=1 bytes=103".to_owned(),
            "! unreadable-file ROOT/old/chats/session-c.jsonl: holds nothing that anybody said".to_owned(),
            "! unreadable-file ROOT/old/chats/session-d.jsonl: holds no record of Gemini CLI".to_owned(),
        ]
    );
}

#[test]
fn a_long_session_is_known_by_its_head_and_its_tail() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session-a.jsonl");
    let line = format!("{{\"id\":\"u\",\"type\":\"user\",\"content\":\"{}\"}}\n", "x".repeat(1000));
    let last = r#"{"$set":{"lastUpdated":"2026-01-02T04:00:00Z","summary":"Long"}}"#;
    let log = format!("{HEADER}\n{}{last}\n", line.repeat(200));
    fs::write(&path, &log).expect("a file");
    let told = testing::sessions::<GeminiCli>(&[folder.path()]);
    let expected = format!(
        "s at {} title=Long from=2026-01-02T04:00:00Z to=2026-01-02T04:00:00Z bytes={}",
        path.display(),
        log.len()
    );
    assert_eq!(told, [expected]);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_not_opened() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("session-a.jsonl");
    let socket = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    let told = testing::sessions::<GeminiCli>(&[folder.path()]);
    drop(socket);
    assert_eq!(told, [format!("! unreadable-file {}: is no regular file and was not opened", path.display())]);
}

#[test]
fn files_of_one_session_are_listed_each_and_said_to_be_of_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, said: &str| {
        fs::create_dir_all(folder.path().join(name).parent().expect("a folder")).expect("a folder");
        fs::write(folder.path().join(name), format!("{HEADER}\n{said}\n")).expect("a file");
    };
    let said = r#"{"id":"v","type":"user","content":"Fix it"}"#;
    let context = r#"{"id":"u","type":"user","content":"<session_context>x</session_context>"}"#;
    write("hash/chats/session-a.jsonl", said);
    write("slug/chats/session-a.jsonl", said);
    write("slug/chats/session-b.jsonl", context);
    write("slug/chats/session-c.jsonl", &said.replace("Fix", "Mend"));
    let told: Vec<String> = testing::sessions::<GeminiCli>(&[folder.path()])
        .into_iter()
        .map(|line| line.replace(&folder.path().display().to_string(), "ROOT"))
        .collect();
    assert_eq!(
        told,
        [
            "s at ROOT/hash/chats/session-a.jsonl title=Fix it turns=1 bytes=94",
            "s at ROOT/slug/chats/session-a.jsonl title=Fix it turns=1 bytes=94",
            "! same-session ROOT/slug/chats/session-a.jsonl: is of the session `s`, as `ROOT/hash/chats/session-a.jsonl` is",
            "! unreadable-file ROOT/slug/chats/session-b.jsonl: holds nothing that anybody said",
            "s at ROOT/slug/chats/session-c.jsonl title=Mend it turns=1 bytes=95",
            "! same-session ROOT/slug/chats/session-c.jsonl: is of the session `s`, as `ROOT/hash/chats/session-a.jsonl` is",
        ]
    );
}
