//! What is no record, and every fixture cut in every place that is likely to be wrong.

use std::fs;
use std::path::Path;

use super::check;
use super::recorder::read;

#[test]
fn what_cannot_be_read_is_kept_and_the_rest_goes_on() {
    check(
        "{broken\n\0\0\n{\"type\":\"label\",\"id\":\"a\",\"targetId\":\"b\"}{\"type\":\"label\",\"id\":\"c\",\"targetId\":\"d\"}\n[1]\n{\"type\":\"la",
        &[
            r#"event unreadable line-2 UNREADABLE: {"raw":"{broken"}"#,
            "! unreadable-record 2@90+7: key must be a string at column 2",
            r#"event unreadable line-3 UNREADABLE: {"raw":"2 NUL bytes"}"#,
            "! unreadable-record 3@98+2: the line holds nothing but NUL bytes",
            r#"event label a: {"targetId":"b"}"#,
            r#"event label c: {"targetId":"d"}"#,
            r#"event unreadable line-5 UNREADABLE: {"raw":"[1]"}"#,
            "! unreadable-record 5@182+3: expected an object",
            r#"event unreadable line-6 UNREADABLE: {"raw":"{\"type\":\"la"}"#,
            "! unreadable-record 6@186+11: the file ends inside a record",
        ],
    );
}

#[test]
fn only_a_newline_ends_a_line() {
    check(
        "{\"type\":\"message\",\"id\":\"u\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"a\u{2028}b\u{2029}c\"}}",
        &["user u: a\u{2028}b\u{2029}c"],
    );
}

#[test]
fn half_a_surrogate_pair_costs_the_character_only() {
    check(
        r#"{"type":"message","id":"u","parentId":null,"message":{"role":"user","content":"a\ud83d"}}"#,
        &["! lone-surrogate 2@90+89: halves of surrogate pairs were replaced", "user u: a\u{fffd}"],
    );
}

/// Reads `log`, which must be told whole, or refused with a reason.
fn survives(log: &[u8]) {
    let told = read("s", log);
    let last = told.last().expect("something is told");
    let is_told = last.starts_with("session ") && told.len() > 2;
    let is_refused = last.strip_prefix("failed: ").is_some_and(|reason| reason.starts_with("holds no record"));
    assert!(is_told || is_refused, "{told:#?}");
}

fn fixtures() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/sessions/pi");
    let cases = fs::read_dir(folder).expect("the fixtures");
    let logs: Vec<_> =
        cases.map(|case| fs::read(case.expect("a case").path().join("session.jsonl")).expect("a session")).collect();
    assert!(logs.len() >= 8);
    logs
}

#[test]
fn a_session_cut_after_any_line_and_within_it_is_told_or_refused() {
    for log in fixtures() {
        let mut start = 0;
        let ends = (0..log.len()).filter(|&at| log[at] == b'\n').chain([log.len()]);
        for end in ends {
            let length = end - start;
            for cut in [end, end + 1, start + 1, start + length / 3, start + length / 2, end.saturating_sub(2)] {
                survives(&log[..cut.min(log.len())]);
            }
            start = end + 1;
        }
    }
}

#[test]
fn a_session_with_any_line_missing_doubled_or_swapped_is_told_or_refused() {
    for log in fixtures() {
        let lines: Vec<&[u8]> = log.split_inclusive(|&byte| byte == b'\n').collect();
        for at in 0..lines.len() {
            let mut missing = lines.clone();
            missing.remove(at);
            survives(&missing.concat());
            let mut doubled = lines.clone();
            doubled.insert(at, lines[at]);
            survives(&doubled.concat());
            let mut swapped = lines.clone();
            swapped.swap(at, lines.len() - 1 - at);
            survives(&swapped.concat());
        }
    }
}

#[test]
fn a_session_with_wrong_bytes_is_told_or_refused() {
    // Numbers that repeat, so that a failure does as well.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    let wrong: [&[u8]; 12] =
        [b"\0", b"\xff", b"\"", b"{", b"}", b"[", b"]", b"\n", b"null", b"-1e999", b"\\ud800", b":"];
    for log in fixtures() {
        for _ in 0..150 {
            let mut log = log.clone();
            for _ in 0..=next(3) {
                let (at, bytes) = (next(log.len()), wrong[next(wrong.len())]);
                let until = (at + next(3)).min(log.len());
                log.splice(at..until, bytes.iter().copied());
            }
            survives(&log);
        }
    }
}
