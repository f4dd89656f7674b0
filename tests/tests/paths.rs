//! A session whose lines are read in one pass, and the same one whose lines are read by the strict parser, come to the same.
//!
//! White space other than blanks between the values of a line means nothing, and leaves the line to the strict parser. Of
//! the plugins, those below read lines in both ways.

use std::fs;
use std::path::Path;

use serde_json::Value;
use toolpath_tests::generate::{Wanted, session};
use toolpath_tests::{Scratch, sample_sessions, top};

/// Providers, and how many fixtures of lines each has at least.
const PROVIDERS: [(&str, usize); 4] = [("claude", 10), ("codex", 7), ("copilot", 5), ("pi", 8)];

/// The session with a tab before the closing bracket of each line that is an object; by how a line begins, a plugin may
/// tell one that is a record from one that goes on with the record before.
fn with_tabs(session: &[u8]) -> Vec<u8> {
    let is_object = |line: &[u8]| serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object());
    let mut tabbed = Vec::with_capacity(session.len());
    for line in session.split_inclusive(|byte| *byte == b'\n') {
        match line.iter().rposition(|byte| *byte == b'}') {
            Some(at) if is_object(line) => {
                tabbed.extend_from_slice(&line[..at]);
                tabbed.push(b'\t');
                tabbed.extend_from_slice(&line[at..]);
            }
            _ => tabbed.extend_from_slice(line),
        }
    }
    tabbed
}

#[track_caller]
fn check(scratch: &Scratch, provider: &str, session: &[u8], name: &Path) {
    for format in ["document", "turns"] {
        let derive = |session: &[u8]| {
            fs::write(scratch.path("session.jsonl"), session).expect("the session");
            scratch.host(["--provider", provider, "--plugins", "plugins", "--format", format, "session.jsonl"])
        };
        let (plain, tabbed) = (derive(session), derive(&with_tabs(session)));
        assert_eq!(plain.code(), tabbed.code(), "{}", name.display());
        assert_eq!(plain.stderr(), tabbed.stderr(), "{}", name.display());
        assert_eq!(plain.stdout(), tabbed.stdout(), "{}", name.display());
    }
}

#[test]
fn each_fixture_comes_to_the_same_on_both_ways_through_its_lines() {
    let scratch = Scratch::new();
    for (provider, least) in PROVIDERS {
        let cases = fs::read_dir(top().join("tests/fixtures/sessions").join(provider)).expect("the fixtures");
        let sessions = cases.map(|case| case.expect("a case").path().join("session.jsonl"));
        let sessions: Vec<_> = sessions.filter(|file| file.exists()).collect();
        assert!(sessions.len() >= least, "{provider}");
        for file in sessions {
            check(&scratch, provider, &fs::read(&file).expect("the session"), &file);
        }
    }
}

#[test]
fn each_sample_session_comes_to_the_same_on_both_ways_through_its_lines() {
    let scratch = Scratch::new();
    for (provider, _) in PROVIDERS {
        for file in sample_sessions(provider, "jsonl") {
            check(&scratch, provider, &fs::read(&file).expect("the session"), &file);
        }
    }
}

#[test]
fn a_made_up_session_comes_to_the_same_on_both_ways_through_its_lines() {
    let scratch = Scratch::new();
    let mut bytes = Vec::new();
    let written = session(Wanted { bytes: 2_000_000, seed: 11 }, &mut bytes).expect("memory takes everything");
    assert!(written.lines > 200);
    assert_eq!(with_tabs(&bytes).len(), bytes.len() + written.lines as usize);
    check(&scratch, "claude", &bytes, Path::new("a made-up session"));
}
