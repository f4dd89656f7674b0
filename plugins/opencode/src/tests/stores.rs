//! Where sessions are found, listed and asked for.

use std::fs;

use toolpath_plugin_api::kit::sqlite::rusqlite::Connection;
use toolpath_plugin_api::kit::testing;

use super::{Made, told};
use crate::Opencode;

const TWO: &str = "s ses_1 {}\nm msg_1 {\"role\":\"user\"}\np prt_1 {\"type\":\"text\",\"text\":\"hi\"}\n
                   s ses_2 {\"title\":\"B\"}\nm msg_2 {\"role\":\"user\"}\ns ses_3 {\"parentID\":\"ses_1\"}";

fn failure(path: &std::path::Path, id: Option<&str>) -> String {
    let told = testing::read_as::<Opencode>(path, "store", id, &[]);
    told.last().and_then(|line| line.strip_prefix("failed: ")).expect("a failure").to_owned()
}

#[test]
fn a_store_of_several_sessions_asks_which() {
    let made = Made::of(TWO);
    for path in [made.database(), made.tree(), made.folder().to_owned()] {
        assert_eq!(failure(&path, None), "holds 2 sessions; name one as PATH#ID: ses_1, ses_2");
        assert_eq!(failure(&path, Some("ses_9")).split(" among").next(), Some("holds no session `ses_9`"));
        assert!(told(&path, "ses_2")[0].starts_with("user msg_2"));
    }
    let many: String = (100..130).map(|n| format!("s ses_{n} {{}}\n")).collect();
    let message = failure(&Made::of(&many).database(), None);
    assert!(message.starts_with("holds 30 sessions; name one as PATH#ID: ses_100, "), "{message}");
    assert!(message.ends_with(", ses_119, ..."), "{message}");
}

#[test]
fn a_store_of_one_session_needs_no_id() {
    let made = Made::of("s ses_1 {}\nm msg_1 {\"role\":\"user\"}\ns ses_2 {\"parentID\":\"ses_1\"}");
    for path in [made.database(), made.tree()] {
        let told = testing::read::<Opencode>(&path);
        assert!(told[0].starts_with("session ses_1 "), "{told:#?}");
    }
    // Both stores hold it, and it is one session.
    assert!(testing::read::<Opencode>(made.folder())[0].contains("version=1.2.6"));
}

#[test]
fn sessions_are_listed_once_and_the_database_wins() {
    let made = Made::of(TWO);
    let (database, tree) = (made.database(), made.tree());
    let listed = testing::sessions::<Opencode>(&[made.folder()]);
    let at = database.display();
    assert_eq!(
        listed,
        [
            format!(
                "ses_1 at {at} project=/w title=A title from=2026-02-02T02:40:00Z to=2026-02-02T02:40:00Z turns=1 bytes=42"
            ),
            format!(
                "ses_2 at {at} project=/w title=B from=2026-02-02T02:40:03Z to=2026-02-02T02:40:03Z turns=1 bytes=15"
            ),
        ]
    );
    fs::remove_file(&database).expect("the database");
    let listed = testing::sessions::<Opencode>(&[made.folder()]);
    let expected = format!("ses_1 at {} project=/w title=A title from=2026-02-02T02:40:00Z", tree.display());
    assert!(listed[0].starts_with(&expected) && listed[0].contains(" turns=1 bytes="), "{listed:#?}");
    assert_eq!(listed.len(), 2);
    assert_eq!(testing::sessions::<Opencode>(&[&made.folder().join("none")]), [""; 0]);
}

#[test]
fn what_cannot_be_listed_is_said() {
    let made = Made::of(TWO);
    made.tree();
    fs::write(made.folder().join("opencode.db"), "no database").expect("a file");
    let listed = testing::sessions::<Opencode>(&[made.folder()]);
    let at = made.folder().join("opencode.db");
    assert_eq!(listed[0], format!("! unreadable-store {}: is no SQLite database, or an encrypted one", at.display()));
    assert_eq!(listed.len(), 3);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_opened() {
    let made = Made::of(TWO);
    let tree = made.tree();
    for name in ["session/p/ses_0.json", "message/ses_1/msg_0.json"] {
        let done = std::process::Command::new("mkfifo").arg(tree.join(name)).status().expect("mkfifo runs");
        assert!(done.success());
    }
    let listed = testing::sessions::<Opencode>(&[made.folder()]);
    assert_eq!(
        listed[0],
        format!("! unreadable-file {}: cannot be read: it is no file", tree.join("session/p/ses_0.json").display())
    );
    assert_eq!(
        told(&tree, "ses_1")[..2],
        [
            r#"event unreadable msg_0 UNREADABLE: {"raw":""}"#,
            "! unreadable-record 0@0+0: `msg_0` cannot be read: `message/ses_1/msg_0.json` cannot be read: it is no file"
        ]
    );
}

#[test]
fn a_sessions_own_file_leads_to_its_messages_or_says_where_they_are() {
    let made = Made::of(TWO);
    let tree = made.tree();
    let file = tree.join("session/p/ses_1.json");
    assert!(testing::read::<Opencode>(&file)[2].starts_with("user msg_1"));
    fs::remove_dir_all(tree.join("message")).expect("the messages");
    let message =
        format!("is the head of a session whose messages lie elsewhere; name it as `{}#ses_1`", tree.display());
    assert_eq!(failure(&file, None), message);
}

#[test]
fn an_exported_session_is_read_like_a_stored_one() {
    let made = Made::of("");
    let path = made.folder().join("x.json");
    let export = r#"{"info":{"id":"ses_1","title":"T","directory":"/w","time":{"created":1770000000000}},"messages":[
        {"info":{"id":"msg_1","role":"user","time":{"created":1770000001000}},"parts":[{"id":"prt_1","type":"text","text":"hi"}]},
        {"info":{"id":"msg_2","role":"assistant","modelID":"m-1"},"parts":[{"type":"text","text":"Sure"},7]},7]}"#;
    fs::write(&path, export).expect("a file");
    assert_eq!(
        told(&path, "ses_1"),
        [
            "user msg_1: hi",
            "folded: text of its message",
            "assistant msg_2 after=msg_1 model=m-1: Sure",
            "folded: text of its message",
            r#"event unreadable msg_2/2 after=msg_2 UNREADABLE: {"raw":"7"}"#,
            "! unreadable-record 2@0+0: `msg_2/2` cannot be read: the part is no JSON object",
            r#"event unreadable message-3 after=msg_2 UNREADABLE: {"raw":"7"}"#,
            "! unreadable-record 3@0+0: `message-3` cannot be read: the message is no JSON object",
        ]
    );
    for cut in 0..export.len() {
        fs::write(&path, &export[..cut]).expect("a file");
        assert!(!failure(&path, None).is_empty());
    }
}

#[test]
fn what_is_none_of_opencodes_is_refused() {
    let made = Made::of("");
    let path = made.folder().join("x.db");
    Connection::open(&path).expect("a database").execute_batch("CREATE TABLE sessions (id)").expect("a table");
    assert_eq!(failure(&path, None), "holds no sessions of opencode; name its database, or another --provider");
    assert_eq!(
        failure(made.folder(), None),
        "holds no sessions of opencode; name its data folder, its `storage` or its database"
    );
    for text in ["", "{}", "[1]", "words", "{\"info\":{},\"messages\":[]}"] {
        fs::write(&path, text).expect("a file");
        assert_eq!(
            failure(&path, None),
            "holds no session of opencode; name its database, its `storage` or an export",
            "{text}"
        );
    }
}

#[test]
fn parts_are_found_where_a_migration_renamed_their_message() {
    let made = Made::of("m msg_1 {\"id\":\"m_old\",\"role\":\"user\"}\np prt_1 {\"type\":\"text\",\"text\":\"hi\"}");
    let tree = made.tree();
    fs::rename(tree.join("part/msg_1"), tree.join("part/m_old")).expect("the parts");
    assert_eq!(told(&tree, "ses_1"), ["user msg_1: hi", "folded: text of its message"]);
}

#[test]
fn messages_are_found_where_a_migration_renamed_their_session() {
    let made = Made::of("s ses_1 {\"id\":\"s_old\"}\nm msg_1 {\"role\":\"user\"}");
    let tree = made.tree();
    fs::rename(tree.join("message/ses_1"), tree.join("message/s_old")).expect("the messages");
    assert_eq!(told(&tree, "ses_1"), ["user msg_1: "]);
}

#[test]
fn a_database_of_an_older_version_lacks_columns() {
    let made = Made::of("");
    let path = made.folder().join("opencode.db");
    let database = Connection::open(&path).expect("a database");
    let schema = "CREATE TABLE session (id text); INSERT INTO session VALUES ('ses_1');
                  CREATE TABLE message (id text, session_id text, data text);
                  INSERT INTO message VALUES ('msg_1', 'ses_1', '{\"role\":\"user\"}');
                  CREATE TABLE part (id text, message_id text, data text);";
    database.execute_batch(schema).expect("the schema");
    assert_eq!(told(&path, "ses_1"), ["user msg_1: "]);
    assert_eq!(
        testing::sessions::<Opencode>(&[made.folder()]),
        [format!("ses_1 at {} turns=1 bytes=15", path.display())]
    );
}

#[test]
fn messages_are_in_the_order_of_their_times() {
    let made = Made::of("m msg_2 {\"role\":\"user\"}\nm msg_1 {\"role\":\"user\"}");
    assert_eq!(told(&made.database(), "ses_1"), ["user msg_2: ", "user msg_1 after=msg_2: "]);
}
