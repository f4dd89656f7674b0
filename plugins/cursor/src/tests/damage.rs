//! What is broken, missing or of another kind than expected in the editor's store.

use std::fs;

use toolpath_plugin_api::kit::sqlite::rusqlite::{Connection, params};
use toolpath_plugin_api::kit::testing;

use super::{Made, check, told};
use crate::Cursor;

#[test]
fn a_broken_bubble_is_kept_and_reported_and_the_others_are_read() {
    check(
        "b a1 {\"type\":2,\"text\":\"A\"\nb a2 7\nb a3 {\"type\":2,\"text\":\"C\"}",
        &[
            r#"event unreadable a1 after=c1 UNREADABLE: {"raw":"{\"type\":2,\"text\":\"A\""}"#,
            "! unreadable-record 1@0+0: `a1` cannot be read: it ends inside a value",
            r#"event unreadable a2 after=a1 UNREADABLE: {"raw":"7"}"#,
            "! unreadable-record 2@0+0: `a2` cannot be read: expected an object",
            "assistant a3 after=a2: C",
        ],
    );
}

#[test]
fn values_that_are_null_or_of_another_type_are_told_apart() {
    let made = Made::of("b a1 {}\nb a2 {}\nb a3 {}\nb a4 {}");
    let path = made.database();
    let database = Connection::open(&path).expect("the database");
    let put = "UPDATE cursorDiskKV SET value = ?2 WHERE key = 'bubbleId:c1:' || ?1";
    database.execute(put, params!["a1", None::<String>]).expect("a row");
    database.execute(put, params!["a2", 7]).expect("a row");
    database.execute(put, params!["a3", br#"{"type":2,"text":"blob"}"#.as_slice()]).expect("a row");
    database.execute(put, params!["a4", b"{\"type\":2,\"text\":\"\xff\"}".as_slice()]).expect("a row");
    let told: Vec<String> = told(&path, "c1").into_iter().filter(|line| !line.starts_with("! unreadable")).collect();
    assert_eq!(
        told,
        [
            r#"event unreadable a1 after=c1 UNREADABLE: {"raw":""}"#,
            r#"event unreadable a2 after=a1 UNREADABLE: {"raw":""}"#,
            "assistant a3 after=a2: blob",
            "! invalid-utf8 4@0+0: bytes of `a4` that are no UTF-8 were replaced",
            "assistant a4 after=a3: \u{fffd}",
        ]
    );
}

#[test]
fn fields_of_unexpected_kinds_cost_themselves_only() {
    for odd in ["7", "null", "[1]", "\"x\"", "{}", "1e999", "true"] {
        let log = format!(
            r#"c c1 {{"name":{odd},"createdAt":{odd},"status":{odd},"modelConfig":{odd},"subComposerIds":{odd},"capabilities":{odd},"conversation":{odd},"workspaceIdentifier":{odd},"subagentInfo":{odd}}}
               b a1 {{"type":2,"text":"Sure","thinking":{odd},"allThinkingBlocks":{odd},"tokenCount":{odd},"modelInfo":{odd},"timingInfo":{odd},"capabilityType":{odd},"workspaceUris":{odd},"serviceStatusUpdate":{odd}}}
               b a2 {{"type":2,"text":"More","toolFormerData":{odd}}}
               b a3 {{"type":2,"toolFormerData":{{"tool":38,"toolCallId":"t","status":"completed","params":{odd},"rawArgs":{odd},"result":{odd},"error":{odd},"userDecision":{odd}}}}}"#
        );
        let told = told(&Made::of(&log).database(), "c1");
        assert!(told.iter().any(|line| line.starts_with("assistant a1") && line.ends_with(": Sure")), "{told:#?}");
        assert!(told.iter().any(|line| line.starts_with("assistant a3")), "{told:#?}");
    }
}

#[test]
fn a_composer_that_cannot_be_read_has_its_bubbles_all_the_same() {
    let made = Made::of("o a1 {\"type\":2,\"text\":\"A\",\"createdAt\":\"2026-06-01T00:00:01Z\"}");
    let path = made.database();
    let database = Connection::open(&path).expect("the database");
    database.execute("UPDATE cursorDiskKV SET value = '{' WHERE key = 'composerData:c1'", []).expect("a row");
    assert_eq!(
        told(&path, "c1"),
        [
            r#"event unreadable c1 UNREADABLE: {"raw":"{"}"#,
            "! unreadable-record 2@0+0: `c1` cannot be read: it ends inside a value",
            "assistant a1 after=c1: A",
        ]
    );
    assert_eq!(testing::sessions::<Cursor>(&[made.folder()]).len(), 1);
}

#[test]
fn a_database_cut_or_garbled_anywhere_is_read_or_refused() {
    let made = Made::of(
        r#"c c1 {"subComposerIds":["c2"]}
           b u1 {"type":1,"text":"hi"}
           b a1 {"type":2,"toolFormerData":{"tool":38,"toolCallId":"t","status":"completed","params":"{\"path\":\"f\"}","result":"{\"beforeContentId\":\"k\"}"}}
           o x1 {"type":2,"text":"x"}
           c c2 {"x":1}
           b u2 {"type":1,"text":"ho"}"#,
    );
    let path = made.database();
    let bytes = fs::read(&path).expect("the database");
    for cut in (0..bytes.len()).step_by(997) {
        fs::write(&path, &bytes[..cut]).expect("the database");
        testing::read_as::<Cursor>(&path, "store", None, &[]);
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
        testing::read_as::<Cursor>(&path, "store", Some("c1"), &[]);
        testing::sessions::<Cursor>(&[made.folder()]);
    }
}
