//! What a host is told of whole logs: `credit` is about who wrote what, `agents` about sub-agents, `records` about the rest.

pub(crate) mod folder;

mod agents;
mod credit;
mod damage;
mod queue;
mod recorder;
mod records;

use crate::signal::PLACEHOLDER_MODEL;
use crate::tests::recorder::read;

/// Reads a log under the name `id`; `expected` is what is told between the first and the last word of the session.
#[track_caller]
fn check_as(id: &str, log: &str, expected: &[&str]) {
    let log = log.replace("PLACEHOLDER", PLACEHOLDER_MODEL);
    let told = read(id, log.as_bytes());
    assert_eq!(told.first().map(String::as_str), Some(format!("session {id}").as_str()));
    let told: Vec<_> = told.iter().map(String::as_str).filter(|told| !told.starts_with("session ")).collect();
    assert_eq!(told, expected, "{log}");
}

#[track_caller]
fn check(log: &str, expected: &[&str]) {
    check_as("s", log, expected);
}
