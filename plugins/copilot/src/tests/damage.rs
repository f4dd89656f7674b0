//! What is no record, and every fixture cut in every place that is likely to be wrong.

use std::fs;
use std::path::Path;

use super::recorder::read;
use super::{check, event};

#[test]
fn what_cannot_be_read_is_kept_and_the_rest_goes_on() {
    let log = "not json\n\0\0\n{\"type\":\"hook.end\",\"data\":{},\"id\":\"a\",\"timestamp\":\"t\"}{\"type\":\"hook.end\",\"data\":{},\"id\":\"b\",\"timestamp\":\"t\"}\n[1]\n{\"type\":\"ho";
    check(
        &[log.to_owned()],
        &[
            r#"event unreadable line-1 UNREADABLE: {"raw":"not json"}"#,
            "! unreadable-record 1@0+8: expected ident at column 2",
            r#"event unreadable line-2 UNREADABLE: {"raw":"2 NUL bytes"}"#,
            "! unreadable-record 2@9+2: the line holds nothing but NUL bytes",
            r#"event hook.end a: {"data":{}}"#,
            r#"event hook.end b: {"data":{}}"#,
            r#"event unreadable line-4 UNREADABLE: {"raw":"[1]"}"#,
            "! unreadable-record 4@121+3: expected an object",
            r#"event unreadable line-5 UNREADABLE: {"raw":"{\"type\":\"ho"}"#,
            "! unreadable-record 5@125+11: the file ends inside a record",
        ],
    );
}

#[test]
fn a_text_with_raw_newlines_is_one_record() {
    let log =
        "{\"type\":\"user.message\",\"data\":{\"content\":\"one\n\n  {two}\nthree\"},\"id\":\"a\",\"timestamp\":\"t\"}";
    check(
        &[log.to_owned(), event("user.message", "b", r#"{"content":"x"}"#)],
        &["user a: one\n\n  {two}\nthree", "user b: x"],
    );
}

#[test]
fn a_cut_line_before_a_whole_one_is_the_only_one_lost() {
    check(
        &[
            "{\"type\":\"user.message\",\"data\":{\"content\":\"cut".to_owned(),
            event("user.message", "b", r#"{"content":"x"}"#),
        ],
        &[
            r#"event unreadable line-1 UNREADABLE: {"raw":"{\"type\":\"user.message\",\"data\":{\"content\":\"cut"}"#,
            "! unreadable-record 1@0+45: the line ends inside a record",
            "user b: x",
        ],
    );
}

#[test]
fn lines_that_make_no_record_are_one_unreadable_record() {
    check(
        &[
            "{\"type\":\"x\",\"data\":{\"a\":\"cut\nand\nmore\"}}}".to_owned(),
            event("user.message", "b", r#"{"content":"x"}"#),
        ],
        &[
            r#"event unreadable line-1 UNREADABLE: {"raw":"{\"type\":\"x\",\"data\":{\"a\":\"cut\nand\nmore\"}}}"}"#,
            "! unreadable-record 1@0+41: the lines make no record",
            "user b: x",
        ],
    );
}

#[test]
fn a_whole_record_right_behind_a_cut_one_is_read() {
    let cut = "{\"type\":\"assistant.message\",\"data\":{\"content\":\"cu";
    let whole = event("user.message", "b", r#"{"content":"x"}"#);
    check(
        &[format!("{cut}{whole}")],
        &[
            r#"event unreadable line-1 UNREADABLE: {"raw":"{\"type\":\"assistant.message\",\"data\":{\"content\":\"cu"}"#,
            "! unreadable-record 1@0+49: another record begins inside this one",
            "user b: x",
        ],
    );
}

#[test]
fn nuls_at_the_end_cost_nothing_else() {
    let log = event("user.message", "b", r#"{"content":"x"}"#);
    check(&[format!("{log}\0\0\0")], &["user b: x"]);
    check(
        &[log.clone(), "\0\0\0".to_owned()],
        &[
            "user b: x",
            r#"event unreadable line-2 UNREADABLE: {"raw":"3 NUL bytes"}"#,
            &format!("! unreadable-record 2@{}+3: the line holds nothing but NUL bytes", log.len() + 1),
        ],
    );
}

#[test]
fn only_a_newline_ends_a_line() {
    let log = event("user.message", "u", "{\"content\":\"a\u{2028}b\u{2029}c\"}");
    check(&[log], &["user u: a\u{2028}b\u{2029}c"]);
}

#[test]
fn half_a_surrogate_pair_costs_the_character_only() {
    let log = event("user.message", "u", r#"{"content":"a\ud83d"}"#);
    let said = format!("! lone-surrogate 1@0+{}: halves of surrogate pairs were replaced", log.len());
    check(&[log], &[&said, "user u: a\u{fffd}"]);
}

/// Reads `log`, which must be told whole, or refused with a reason.
fn survives(log: &[u8]) {
    let told = read("s", log);
    let last = told.last().expect("something is told");
    let is_told = last.starts_with("session ") && told.len() > 2;
    let is_refused = last.strip_prefix("failed: ").is_some_and(is_reason);
    assert!(is_told || is_refused, "{told:#?}");
}

fn is_reason(reason: &str) -> bool {
    reason.starts_with("holds no record") || reason.starts_with("is no whole document")
}

fn fixtures() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/sessions/copilot");
    let cases = fs::read_dir(folder).expect("the fixtures");
    let logs: Vec<_> = cases
        .map(|case| {
            let case = case.expect("a case").path();
            let log = fs::read(case.join("session.jsonl")).or_else(|_| fs::read(case.join("session.json")));
            log.expect("a session")
        })
        .collect();
    assert!(logs.len() >= 7);
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
