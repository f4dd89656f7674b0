//! Made-up sessions: what the generator says it wrote is what the host finds.

use std::path::Path;

use serde_json::{Value, json};
use toolpath_tests::Scratch;
use toolpath_tests::generate::{PROJECT, Wanted, Written, folder, session};
use toolpath_tests::rules::assert_valid;

/// Checks documents, balance, harness turns and tokens of a session against what was written.
#[track_caller]
fn check(scratch: &Scratch, file: &Path, written: Written) {
    let reading = ["--provider", "claude", "--plugins", "plugins"].map(Path::new);
    let run = |command: &str, more: &[&str]| {
        let command = [Path::new(command)].into_iter().chain(reading);
        scratch.host(command.chain([file]).chain(more.iter().map(Path::new)))
    };
    let derived = run("derive", &["--strict", "--output", "document.json"]);
    assert_eq!(derived.succeeds(), "");
    assert_eq!(derived.stderr(), "", "nothing in the session is odd");
    scratch.host(["validate", "document.json"]).succeeds();
    let document = std::fs::read(scratch.path("document.json")).expect("the document");
    assert_valid(&serde_json::from_slice(&document).expect("JSON"));

    let audit: Value = serde_json::from_str(&run("audit", &["--json"]).succeeds()).expect("JSON");
    let tokens = written.tokens;
    let expected = json!({"input": tokens.input, "output": tokens.output, "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write});
    assert_eq!(audit["tokens"], expected);
    assert_eq!(audit["harness_turns"].as_array().map(Vec::len), Some(written.harness_turns as usize));
    assert_eq!(audit["records"]["read"], written.lines);
    assert!(written.harness_turns > 0 && written.agents > 0, "a session that shows something: {written:?}");
}

#[test]
fn the_host_finds_in_a_session_with_sidechains_what_was_written() {
    let scratch = Scratch::new();
    let mut bytes = Vec::new();
    let written = session(Wanted { bytes: 8_000_000, seed: 7 }, &mut bytes).expect("memory takes everything");
    check(&scratch, &scratch.write("session.jsonl", bytes), written);
}

#[test]
fn the_host_finds_in_a_session_with_files_of_sub_agents_what_was_written() {
    let scratch = Scratch::new();
    let (written, files) =
        folder(Wanted { bytes: 8_000_000, seed: 7 }, 1, &scratch.path("sessions")).expect("a folder to write to");
    check(&scratch, &files[0], written);
}

#[test]
fn a_folder_of_sessions_is_listed_and_audited_as_one_set() {
    let scratch = Scratch::new();
    let (written, _) =
        folder(Wanted { bytes: 200_000, seed: 7 }, 12, &scratch.path("sessions")).expect("a folder to write to");
    let reading = ["--provider", "claude", "--plugins", "plugins", "--root", "sessions", "--json"];
    let listed = scratch.host(["sessions"].into_iter().chain(reading)).succeeds();
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(12));
    let audit = scratch.host(["audit", "--project", PROJECT].into_iter().chain(reading)).succeeds();
    let audit: Value = serde_json::from_str(&audit).expect("JSON");
    assert_eq!(audit["total"]["sessions"], 12);
    assert_eq!(audit["total"]["harness_turns"], written.harness_turns);
    assert_eq!(audit["total"]["tokens"]["output"], written.tokens.output);
    assert_eq!(audit["total"]["records"]["read"], written.lines);
}
