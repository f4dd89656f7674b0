//! What a host is told of whole sessions: `credit` is about who wrote what, `records` about the rest of a file,
//! `threads` about what was dropped and rebuilt, `lists` about messages that a rebuilt list has another version of,
//! `branches` about sub-agents, `damage` about what cannot be read, `listing` about folders.

mod branches;
mod credit;
mod damage;
mod listing;
mod lists;
mod records;
mod threads;

use std::fs;

use toolpath_plugin_api::kit::testing;

use crate::GeminiCli;

const HEADER: &str = r#"{"sessionId":"s","projectHash":"p","kind":"main"}"#;

/// What the host is told of the file `name` with this text, but for the session's facts.
#[track_caller]
fn told(name: &str, text: impl AsRef<[u8]>) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    testing::read::<GeminiCli>(&path)
}

/// Reads a log of these lines after a header.
#[track_caller]
fn check(lines: &[&str], expected: &[&str]) {
    let log = format!("{HEADER}\n{}\n", lines.join("\n"));
    let told = told("session-x.jsonl", log);
    let header = format!("event session line-1: {HEADER}");
    assert_eq!(told.get(1), Some(&header), "{told:#?}");
    assert_eq!(told[2..], *expected, "{lines:#?}");
}
