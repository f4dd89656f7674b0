//! Where sessions are found, listed and asked for.

use std::fs;
use std::path::Path;

use toolpath_plugin_api::kit::sqlite::rusqlite::Connection;
use toolpath_plugin_api::kit::testing;

use super::{Made, told};
use crate::Cursor;

fn failure(path: &Path, id: Option<&str>) -> String {
    let told = testing::read_as::<Cursor>(path, "store", id, &[]);
    told.last().and_then(|line| line.strip_prefix("failed: ")).expect("a failure").to_owned()
}

const TWO: &str = r#"c c1 {"name":"A","createdAt":1780325474978,"subComposerIds":["c3"]}
b u1 {"type":1,"text":"hi"}
c c2 {"name":"B"}
b u2 {"type":1,"text":"ho"}
c c3 {"x":1}
b u3 {"type":1,"text":"sub"}
c c4 {"x":"a draft"}
h {"allComposers":[{"composerId":"c2","lastUpdatedAt":1780325508923,"workspaceIdentifier":{"uri":{"fsPath":"/w"}}}]}"#;

#[test]
fn a_store_of_several_sessions_asks_which() {
    let made = Made::of(TWO);
    let path = made.database();
    assert_eq!(failure(&path, None), "holds 2 sessions; name one as PATH#ID: c1, c2");
    assert_eq!(failure(&path, Some("c9")), "holds no session `c9`");
    assert_eq!(told(&path, "c2"), ["user u2 after=c2: ho"]);
    let many: String = (100..130).map(|n| format!("c c{n} {{}}\nb b{n} {{\"type\":1,\"text\":\"hi\"}}\n")).collect();
    let message = failure(&Made::of(&many).database(), None);
    assert!(message.starts_with("holds 30 sessions; name one as PATH#ID: c100, "), "{message}");
    assert!(message.ends_with(", c119, ..."), "{message}");
}

#[test]
fn a_store_of_one_session_needs_no_id() {
    let made = Made::of(
        "c c1 {\"subComposerIds\":[\"c2\"]}\nb u1 {\"type\":1,\"text\":\"hi\"}\nc c2 {\"x\":1}\nb u2 {\"type\":1,\"text\":\"ho\"}",
    );
    assert_eq!(testing::read::<Cursor>(&made.database())[0], "session c1");
    assert_eq!(testing::read::<Cursor>(made.folder())[0], "session c1");
    assert_eq!(failure(&Made::of("c c1 {}").database(), None), "holds no session with messages; name another store");
}

#[test]
fn composers_are_listed_without_drafts_and_sub_agents() {
    let made = Made::of(TWO);
    let path = made.database();
    let at = path.display();
    let listed = testing::sessions::<Cursor>(&[made.folder()]);
    assert_eq!(listed.len(), 2, "{listed:#?}");
    assert!(
        listed[0].starts_with(&format!("c1 at {at} title=A from=2026-06-01T14:51:14.978Z turns=1 bytes=")),
        "{listed:#?}"
    );
    let second = format!("c2 at {at} project=/w title=B to=2026-06-01T14:51:48.923Z turns=1 bytes=");
    assert!(listed[1].starts_with(&second), "{listed:#?}");
}

#[test]
fn a_session_in_several_stores_is_listed_where_most_of_it_is() {
    let made = Made::of(TWO);
    let folder = made.folder().join("projects/w/agent-transcripts");
    for name in ["c1/c1.jsonl", "t1/t1.jsonl", "t2.txt", "t1/subagents/a.jsonl", "other.md"] {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, "12345").expect("a file");
    }
    made.database();
    let listed = testing::sessions::<Cursor>(&[made.folder()]);
    let (t1, t2) = (folder.join("t1/t1.jsonl"), folder.join("t2.txt"));
    assert_eq!(listed[2..], [format!("t1 at {} bytes=5", t1.display()), format!("t2 at {} bytes=5", t2.display())]);
    assert!(listed[0].starts_with("c1 at ") && listed[0].contains("state.vscdb"));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_or_no_database_is_said_and_not_opened() {
    let made = Made::of(TWO);
    let folder = made.folder().join("projects/w/agent-transcripts/t");
    fs::create_dir_all(&folder).expect("a folder");
    let fifo = folder.join("t.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    fs::write(made.folder().join("state.vscdb"), "SQLite format 3\0 and no more").expect("a file");
    assert_eq!(
        testing::sessions::<Cursor>(&[made.folder()]),
        [
            format!(
                "! unreadable-store {}: is no SQLite database, or an encrypted one",
                made.folder().join("state.vscdb").display()
            ),
            format!("! unreadable-file {}: cannot be read: it is no file", fifo.display()),
        ]
    );
}

#[test]
fn what_is_none_of_cursors_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state.vscdb");
    let database = Connection::open(&path).expect("a database");
    database.execute_batch("CREATE TABLE ItemTable (key TEXT, value BLOB)").expect("a table");
    let message = "holds no sessions of Cursor; name its `globalStorage/state.vscdb`, a `store.db` or a transcript";
    assert_eq!(failure(&path, None), message);
    let empty = tempfile::tempdir().expect("a folder");
    let message = "holds no session of Cursor; name its `state.vscdb`, a `store.db` or a transcript";
    assert_eq!(failure(empty.path(), None), message);
}

#[test]
fn a_store_of_one_session_holds_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.jsonl");
    fs::write(&path, r#"{"role":"user","message":{"content":"hi"}}"#).expect("a file");
    assert_eq!(failure(&path, Some("u")), "holds no session `u`, only `t`");
    assert_eq!(testing::read_as::<Cursor>(&path, "-", None, &[])[0], "session stdin");
}
