//! The command line's store.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolpath_plugin_api::kit::sqlite::rusqlite::{Connection, params};
use toolpath_plugin_api::kit::testing;

use crate::Cursor;

/// A chat whose root lists these messages.
fn made(messages: &[&[u8]]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("chat/store.db");
    fs::create_dir_all(folder.path().join("chat")).expect("a folder");
    let database = Connection::open(&path).expect("a database");
    let schema =
        "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);";
    database.execute_batch(schema).expect("the schema");
    let put = |id: &str, data: &[u8]| {
        database.execute("INSERT INTO blobs VALUES (?1, ?2)", params![id, data]).expect("a row");
    };
    let mut root = Vec::new();
    for (nth, message) in messages.iter().enumerate() {
        let id = [u8::try_from(nth + 1).expect("few messages"); 32];
        root.extend([0x0a, 32]);
        root.extend(id);
        put(&id.map(|byte| format!("{byte:02x}")).concat(), message);
    }
    root.extend([0x0a, 32]);
    root.extend([0xee; 32]);
    put("r00t", &root);
    put("left-behind", br#"{"role":"user","content":"no"}"#);
    let meta = r#"{"agentId":"c1","latestRootBlobId":"r00t","name":"T","createdAt":1700000000000,"lastUsedModel":"m-1","blobEncryptionKey":"SECRET"}"#;
    let hex: String = meta.bytes().map(|byte| format!("{byte:02x}")).collect();
    database.execute("INSERT INTO meta VALUES ('0', ?1)", [hex]).expect("a row");
    fs::write(folder.path().join("chat/meta.json"), r#"{"cwd":"/w","updatedAtMs":1700000001000}"#).expect("a file");
    (folder, path)
}

fn id(nth: u8) -> String {
    format!("{nth:02x}").repeat(32)
}

#[track_caller]
fn read(path: &Path) -> Vec<String> {
    testing::read_as::<Cursor>(path, "store", None, &[])
}

#[test]
fn a_chat_is_what_its_root_lists() {
    let call = br#"{"id":"3","role":"assistant","content":[{"type":"reasoning","text":"Well"},{"type":"text","text":"Sure"},{"type":"tool-call","toolCallId":"t","toolName":"Grep","args":{"pattern":"x"}},{"type":"odd"}]}"#;
    let mut wrapped = vec![
        0x0a,
        u8::try_from(call.len() & 0x7f).expect("a byte") | 0x80,
        u8::try_from(call.len() >> 7).expect("a byte"),
    ];
    wrapped.extend(call);
    let (_folder, path) = made(&[
        br#"{"id":"1","role":"system","content":"Be brief"}"#,
        br#"{"role":"user","content":[{"type":"text","text":"<user_info>OS</user_info>"}]}"#,
        br#"{"role":"user","content":[{"type":"text","text":"<user_query>hi</user_query>"}]}"#,
        &wrapped,
        br#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"t","toolName":"Grep","result":"found"}]}"#,
        b"\x99encrypted",
        br#"{"role":"tool","content":[]}"#,
    ]);
    let [m1, m2, m3, m4, m6, m7, gone] = [1, 2, 3, 4, 6, 7, 0xee].map(id);
    let told = read(&path);
    assert_eq!(
        told,
        [
            "session c1 title=T dir=/w from=2023-11-14T22:13:20Z to=2023-11-14T22:13:21Z".to_owned(),
            r#"event chat c1: {"chat":{"createdAt":1700000000000,"lastUsedModel":"m-1","latestRootBlobId":"r00t","name":"T"}}"#.to_owned(),
            format!("system {m1} after=c1: Be brief"),
            format!("user {m2} after={m1} HARNESS signal=\"context-only\": <user_info>OS</user_info>"),
            format!("user {m3} after={m2}: hi"),
            format!("assistant {m4} after={m3} model=m-1 thinking=Well call=t:Grep:3:{{\"pattern\":\"x\"}}: Sure"),
            format!(r#"+ event content-block  after={m4}: {{"content-block":{{"type":"odd"}}}}"#),
            "result t: found".to_owned(),
            format!(r#"event unreadable {m6} after={} UNREADABLE: {{"raw":""}}"#, id(5)),
            format!("! unreadable-record 6@0+0: `{m6}` cannot be read: the blob holds no message that can be read; it may be encrypted"),
            format!(r#"event tool {m7} after={m6}: {{"tool":{{"role":"tool","content":[]}}}}"#),
            format!(r#"event unreadable {gone} after={m7} UNREADABLE: {{"raw":""}}"#),
            format!("! unreadable-record 0@0+0: `{gone}` cannot be read: the blob is not there"),
            "session c1 title=T dir=/w from=2023-11-14T22:13:20Z to=2023-11-14T22:13:21Z".to_owned(),
        ]
    );
    assert!(!told.iter().any(|line| line.contains("SECRET")));
}

#[test]
fn a_chat_without_a_readable_record_tells_so_and_not_what_it_holds() {
    let (_folder, path) = made(&[]);
    let database = Connection::open(&path).expect("the database");
    database.execute("UPDATE meta SET value = ?1", ["{\"blobEncryptionKey\":\"SECRET"]).expect("a row");
    let told = read(&path);
    assert_eq!(told[1], r#"event unreadable chat UNREADABLE: {"raw":""}"#);
    assert!(!told.iter().any(|line| line.contains("SECRET")));
}

#[test]
fn chats_are_listed_by_what_stands_beside_them() {
    let (folder, path) = made(&[]);
    let listed = testing::sessions::<Cursor>(&[folder.path().parent().expect("a folder")]);
    let expected =
        format!("c1 at {} project=/w title=T from=2023-11-14T22:13:20Z to=2023-11-14T22:13:21Z", path.display());
    assert!(listed.iter().any(|line| line.starts_with(&expected)), "{listed:#?}");
}
