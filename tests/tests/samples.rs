//! Real sessions, where the folder that `TOOLPATH_SESSIONS` names has them.

use std::fs;
use std::path::Path;

use serde_json::Value;
use toolpath_tests::rules::assert_valid;
use toolpath_tests::{Scratch, message, sample_sessions, steps};

fn derive(scratch: &Scratch, file: &Path) -> toolpath_tests::Run {
    scratch.host([Path::new("--provider"), "claude".as_ref(), "--plugins".as_ref(), "plugins".as_ref(), file])
}

/// Ids of the assistant records that the harness wrote, read from the raw lines in another way than the plugin's.
fn harness_records(session: &str) -> Vec<String> {
    let placeholder = format!("<{}>", "synthetic");
    let is_harness = |record: &Value| {
        record["type"] == "assistant"
            && (record["message"]["model"] == placeholder.as_str() || record["isApiErrorMessage"] == true)
    };
    let records = session.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.filter(is_harness).filter_map(|record| Some(record["uuid"].as_str()?.to_owned())).collect()
}

#[test]
fn each_sample_session_becomes_a_valid_document_twice_the_same() {
    let scratch = Scratch::new();
    for file in sample_sessions("claude", "jsonl") {
        let run = derive(&scratch, &file);
        assert_valid(&run.document());
        assert_eq!(derive(&scratch, &file).stdout(), run.stdout(), "{}", file.display());
    }
}

#[test]
fn no_sample_session_credits_a_model_with_what_the_harness_wrote() {
    let scratch = Scratch::new();
    let mut notices = 0;
    let files = sample_sessions("claude", "jsonl");
    for file in &files {
        let document = derive(&scratch, file).document();
        let path = &document["paths"][0];
        let actors = path["meta"]["actors"].as_object().expect("actors");
        for (actor, entry) in actors {
            assert!(!actor.contains("synthetic"), "{}: {actor}", file.display());
            let model = entry["model"].as_str().unwrap_or_default();
            assert!(!model.starts_with('<'), "{}: {model}", file.display());
        }
        let session = String::from_utf8_lossy(&fs::read(file).expect("the session")).into_owned();
        let wanted = harness_records(&session);
        let found: Vec<String> = steps(&document)
            .iter()
            .filter(|step| step["step"]["actor"] == "tool:claude-code" && message(step)["role"] == "assistant")
            .map(|step| step["step"]["id"].as_str().expect("an id").split('#').next().expect("an id").to_owned())
            .collect();
        assert_eq!(found, wanted, "{}", file.display());
        notices += found.len();
    }
    assert!(files.is_empty() || notices >= 15, "{notices} notices in {} sessions", files.len());
}
