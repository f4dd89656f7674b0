//! What is broken, missing or of another kind than expected.

use std::fs;

use toolpath_plugin_api::kit::sqlite::rusqlite::{Connection, params};
use toolpath_plugin_api::kit::testing;

use super::{Made, check, told};
use crate::Opencode;

#[test]
fn a_broken_row_is_kept_and_reported_and_the_others_are_read() {
    let made = Made::of(
        r#"m msg_1 {"role":"user"
           p prt_1 {"type":"text","text":"hi"}
           m msg_2 {"role":"assistant","modelID":"m-1"}
           p prt_2 {"type":"text","text":"Sure"}
           p prt_3 [7]"#,
    );
    assert_eq!(
        told(&made.database(), "ses_1"),
        [
            r#"event unreadable msg_1 UNREADABLE: {"raw":"{\"role\":\"user\""}"#,
            "! unreadable-record 1@0+0: `msg_1` cannot be read: the row's data is no JSON: it ends too early",
            r#"event text prt_1 after=msg_1: {"text":{"type":"text","text":"hi"}}"#,
            "assistant msg_2 after=msg_1 model=m-1: Sure",
            "folded: text of its message",
            r#"event unreadable prt_3 after=msg_2 UNREADABLE: {"raw":"[7]"}"#,
            "! unreadable-record 3@0+0: `prt_3` cannot be read: the row's data is no JSON object",
        ]
    );
}

#[test]
fn a_message_of_no_known_role_is_an_event() {
    check(
        "m msg_1 {\"role\":\"tool\"}\nm msg_2 {}\nm msg_3 {\"role\":7}",
        &[
            r#"event message msg_1: {"message":{"role":"tool"}}"#,
            r#"event message msg_2 after=msg_1: {"message":{}}"#,
            r#"event message msg_3 after=msg_2: {"message":{"role":7}}"#,
        ],
    );
}

#[test]
fn fields_of_unexpected_kinds_cost_themselves_only() {
    for odd in ["7", "null", "[1]", "\"x\"", "{}", "1e999", "true"] {
        let log = format!(
            r#"m msg_1 {{"role":"assistant","parentID":{odd},"path":{odd},"tokens":{odd},"cost":{odd},"time":{odd},"model":{odd}}}
               p prt_1 {{"type":"text","text":"Sure","time":{odd},"metadata":{odd}}}
               p prt_2 {{"type":"tool","callID":{odd},"tool":{odd},"state":{odd}}}"#
        );
        let told = told(&Made::of(&log).database(), "ses_1");
        assert!(told[0].starts_with("assistant msg_1") && told[0].ends_with(": Sure"), "{told:#?}");
    }
}

#[test]
fn columns_that_are_null_or_of_another_type_are_told_apart() {
    let made = Made::of("");
    let path = made.database();
    let database = Connection::open(&path).expect("the database");
    // SQLite keeps what it is given, whatever the column was declared as.
    database
        .execute_batch("DROP TABLE message; CREATE TABLE message (id, session_id, time_created, data)")
        .expect("a table");
    let insert = "INSERT INTO message VALUES (?1, 'ses_1', ?2, ?3)";
    database.execute(insert, params![None::<String>, "x", None::<String>]).expect("a row");
    database.execute(insert, params!["msg_2", 2, 7]).expect("a row");
    database.execute(insert, params!["msg_3", 3.0, br#"{"role":"user","x":"#.as_slice()]).expect("a row");
    database
        .execute(insert, params![b"msg_4".as_slice(), 4, b"{\"role\":\"user\",\"x\":\"\xff\"}".as_slice()])
        .expect("a row");
    let mut lines = told(&path, "ses_1");
    lines.retain(|line| !line.starts_with("! unreadable-record"));
    assert_eq!(
        lines,
        [
            r#"event unreadable msg_2 UNREADABLE: {"raw":""}"#,
            r#"event unreadable msg_3 after=msg_2 UNREADABLE: {"raw":"{\"role\":\"user\",\"x\":"}"#,
            "! invalid-utf8 4@0+0: bytes of `msg_4` that are no UTF-8 were replaced",
            "user msg_4 after=msg_3: ",
            r#"event unreadable message-row-1 after=msg_4 UNREADABLE: {"raw":""}"#,
        ]
    );
}

#[test]
fn halves_of_surrogate_pairs_are_mended() {
    check(
        r#"m msg_1 {"role":"user"}
           p prt_1 {"type":"text","text":"cut \ud83d"}"#,
        &[
            "user msg_1: cut \u{fffd}",
            "! lone-surrogate @: halves of surrogate pairs in `prt_1` were replaced",
            "folded: text of its message",
        ],
    );
}

#[test]
fn parts_whose_message_is_gone_are_kept() {
    let made = Made::of("m msg_1 {\"role\":\"user\"}\np prt_1 {\"type\":\"text\",\"text\":\"hi\"}");
    let path = made.database();
    Connection::open(&path).expect("the database").execute_batch("DELETE FROM message").expect("no message");
    assert_eq!(told(&path, "ses_1"), [r#"event orphan-part prt_1: {"orphan-part":{"type":"text","text":"hi"}}"#]);
}

#[test]
fn a_reply_whose_prompt_is_gone_is_a_models() {
    check(
        "m msg_2 {\"role\":\"assistant\",\"parentID\":\"msg_1\",\"modelID\":\"m-1\"}",
        &["assistant msg_2 model=m-1: "],
    );
}

#[test]
fn a_damaged_page_costs_its_messages_and_no_others() {
    let log: String = (100..200)
        .map(|n| {
            let text = format!("text {n} {}", "x".repeat(300));
            format!("m msg_{n} {{\"role\":\"user\"}}\np prt_{n} {{\"type\":\"text\",\"text\":\"{text}\"}}\n")
        })
        .collect();
    let made = Made::of(&log);
    let path = made.database();
    let mut bytes = fs::read(&path).expect("the database");
    let needle = b"text 150 xxx";
    let at = bytes.windows(needle.len()).position(|window| window == needle).expect("the text") / 4096 * 4096;
    bytes[at..at + 4096].fill(0xee);
    fs::write(&path, bytes).expect("the database");
    let told = told(&path, "ses_1");
    let turns = told.iter().filter(|line| line.starts_with("user ")).count();
    let lost = told.iter().filter(|line| line.starts_with("event unreadable part-row-")).count();
    assert_eq!(turns, 100);
    assert!((1..20).contains(&lost), "{lost}");
    assert!(told.iter().any(|line| line.contains("a page of the database is damaged")));
}

#[test]
fn a_database_cut_or_garbled_anywhere_is_read_or_refused() {
    let made = Made::of(
        "m msg_1 {\"role\":\"user\"}\np prt_1 {\"type\":\"text\",\"text\":\"hi\"}\nt - x\nn m1 user {\"text\":\"hi\"}",
    );
    let path = made.database();
    let bytes = fs::read(&path).expect("the database");
    for cut in (0..bytes.len()).step_by(997) {
        fs::write(&path, &bytes[..cut]).expect("the database");
        testing::read_as::<Opencode>(&path, "store", None, &[]);
    }
    let mut seed = 7_u64;
    for _ in 0..300 {
        let mut garbled = bytes.clone();
        for _ in 0..8 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = usize::try_from(seed >> 20).expect("64 bits") % garbled.len();
            garbled[at] = (seed >> 8) as u8;
        }
        fs::write(&path, garbled).expect("the database");
        testing::read_as::<Opencode>(&path, "store", None, &[]);
        testing::sessions::<Opencode>(&[made.folder()]);
    }
}
