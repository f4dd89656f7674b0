//! What a host is told of whole sessions: `credit` is about who wrote what, `records` about the rest, `cuts` about what
//! is no session any more.

mod agents;
mod credit;
mod cuts;
mod records;

use std::io::Write;

use toolpath_plugin_api::kit::testing;

use crate::Codex;

/// What is told of a session's content, without the facts of the session.
fn told(content: &[u8]) -> Vec<String> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(content).expect("writing");
    let told = testing::read::<Codex>(file.path());
    told.into_iter().filter(|line| !line.starts_with("session ")).collect()
}

/// A header, and each of `payloads` in an envelope: `kind payload`.
fn log(payloads: &[&str]) -> String {
    let mut log = r#"{"type":"session_meta","payload":{"id":"s"}}"#.to_owned();
    for payload in payloads {
        let (kind, payload) = payload.split_once(' ').expect("a kind and a payload");
        let kind = match kind {
            "item" => "response_item",
            "event" => "event_msg",
            other => other,
        };
        log.push_str(&format!("\n{{\"type\":\"{kind}\",\"payload\":{payload}}}"));
    }
    log
}

/// What is told of `payloads` after the header.
#[track_caller]
fn check(payloads: &[&str], expected: &[&str]) {
    let told = told(log(payloads).as_bytes());
    assert_eq!(told[0], r#"event session_meta line-1: {"id":"s"}"#);
    assert_eq!(told[1..], *expected, "{payloads:?}");
}

/// An item with a message.
fn said(role: &str, text: &str) -> String {
    let text = serde_json::Value::from(text);
    format!(r#"item {{"type":"message","role":"{role}","content":[{{"type":"text","text":{text}}}]}}"#)
}

const CONTEXT: &str = r#"turn_context {"model":"m-1"}"#;
const CONTEXT_TOLD: &str = r#"event turn_context line-2: {"model":"m-1"}"#;
