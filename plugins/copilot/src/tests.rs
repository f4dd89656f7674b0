//! What a host is told of whole logs: `credit` is about who wrote what, `records` about what becomes of each event, `agents`
//! about sub-agents, `damage` about what is no record, `oldest` about the layout of one document, and `listing` about folders.

mod agents;
mod credit;
mod damage;
mod listing;
mod oldest;
mod recorder;
mod records;

use crate::tests::recorder::read;

/// An event with this kind, id and `data`.
fn event(kind: &str, id: &str, data: &str) -> String {
    format!(r#"{{"type":"{kind}","data":{data},"id":"{id}","timestamp":"t","parentId":null}}"#)
}

/// Reads the events; `expected` is what is told of them.
#[track_caller]
fn check(events: &[String], expected: &[&str]) {
    let told = read("s", events.join("\n").as_bytes());
    assert_eq!(told.first().map(String::as_str), Some("session s"), "{told:#?}");
    let told: Vec<_> = told.iter().map(String::as_str).filter(|told| !told.starts_with("session ")).collect();
    assert_eq!(told, expected, "{events:#?}");
}
