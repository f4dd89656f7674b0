//! What a host is told of whole sessions: `credit` is about who wrote what in the editor's store, `records` about the
//! rest of it, `transcripts` and `chats` about the other stores, `stores` about where sessions are found, `damage` about
//! what is broken.

mod chats;
mod credit;
mod damage;
mod made;
mod records;
mod stores;
mod transcripts;

use std::path::Path;

use toolpath_plugin_api::kit::testing;

use crate::Cursor;
use crate::tests::made::Made;

/// What is told of the session `id` of a store, but for what the session itself is called, and for the composer's own
/// record.
#[track_caller]
fn told(path: &Path, id: &str) -> Vec<String> {
    let told = testing::read_as::<Cursor>(path, "store", Some(id), &[]);
    let is_own = |line: &String| line.starts_with("session ") || line.starts_with(&format!("event composer {id}: "));
    told.into_iter().filter(|line| !is_own(line)).collect()
}

/// Makes `log` into the editor's database and compares what is told of its composer `c1`.
#[track_caller]
fn check(log: &str, expected: &[&str]) {
    let made = Made::of(log);
    assert_eq!(told(&made.database(), "c1"), expected, "{log}");
}
