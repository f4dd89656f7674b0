//! What a host is told of whole logs: `credit` is about who wrote what, `tree` about parents and branches, `records` about
//! what becomes of the rest, `damage` about what is no record, and `listing` about folders.

mod credit;
mod damage;
mod listing;
mod recorder;
mod records;
mod tree;

use crate::tests::recorder::read;

/// A header of version 3, as the host is told of it.
const HEADER: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-02T10:00:00.000Z","cwd":"/w"}"#;
const HEADER_TOLD: &str = r#"event session s: {"cwd":"/w","version":3}"#;

/// Reads `log` behind a header; `expected` is what is told of it, without the folder that each turn names.
#[track_caller]
fn check(log: &str, expected: &[&str]) {
    let told = read("s", format!("{HEADER}\n{log}").as_bytes());
    assert_eq!(told.first().map(String::as_str), Some("session s"), "{told:#?}");
    let told: Vec<_> = told
        .iter()
        .filter(|told| !told.starts_with("session ") && *told != HEADER_TOLD)
        .map(|told| told.replacen(" dir=/w", "", 1))
        .collect();
    assert_eq!(told, expected, "{log}");
}
