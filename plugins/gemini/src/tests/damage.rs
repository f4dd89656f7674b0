//! What cannot be read, and what can be read around it.

use super::{HEADER, told};

const USER: &str = r#"{"id":"u","type":"user","content":"hi"}"#;

#[test]
fn a_document_that_is_cut_tells_the_messages_before_the_cut() {
    let told = told("session-x.json", format!("{{\"sessionId\":\"s\",\n\"messages\":[\n{USER},\n{{\"id\":\"m\",\"ty"));
    assert_eq!(
        told[1..],
        [
            r#"event session session: {"sessionId":"s"}"#,
            "user u: hi",
            r#"event unreadable message-2 UNREADABLE: {"raw":"{\"id\":\"m\",\"ty"}"#,
            "! unreadable-record 4@72+13: the file ends inside a record",
        ]
    );
}

#[test]
fn a_document_that_is_cut_between_messages_says_so() {
    let told = told("session-x.json", format!("{{\"sessionId\":\"s\",\n\"messages\":[\n{USER},\n"));
    assert_eq!(told[3..], ["! unreadable-record 4@72+0: the file ends too early"]);
}

#[test]
fn a_log_that_is_cut_tells_the_lines_before_the_cut() {
    let told = told("session-x.jsonl", format!("{HEADER}\n{USER}\n{{\"id\":\"m\""));
    assert_eq!(
        told[2..],
        [
            "user u: hi",
            r#"event unreadable line-3 UNREADABLE: {"raw":"{\"id\":\"m\""}"#,
            "! unreadable-record 3@90+9: the file ends inside a record",
        ]
    );
}

#[test]
fn a_last_version_that_is_cut_leaves_the_one_before() {
    let told = told("session-x.jsonl", format!("{HEADER}\n{USER}\n{}", &USER[..30]));
    assert_eq!(told[2], "user u: hi");
    assert_eq!(told.len(), 5);
}

#[test]
fn a_header_that_cannot_be_read_costs_the_header_only() {
    let told = told("session-2026-01-02T03-04-abcdef01.jsonl", format!("{{\"sessionId\":\"s\",\"proj\n{USER}\n"));
    assert_eq!(
        told,
        [
            "session session-2026-01-02T03-04-abcdef01 title=Gemini session: session-",
            r#"event unreadable line-1 UNREADABLE: {"raw":"{\"sessionId\":\"s\",\"proj"}"#,
            "! unreadable-record 1@0+22: the record ends too early",
            "user u: hi",
        ]
    );
}

#[test]
fn lines_that_run_into_each_other_are_told_apart_and_nuls_are_told() {
    let told = told("session-x.jsonl", format!("{HEADER}\n{USER}{}\n\0\0\n[1]\n", USER.replace("\"u\"", "\"v\"")));
    assert_eq!(
        told[2..],
        [
            "user u: hi",
            "user v after=u: hi",
            r#"event unreadable line-3 UNREADABLE: {"raw":"2 NUL bytes"}"#,
            "! unreadable-record 3@129+2: the line holds nothing but NUL bytes",
            r#"event unreadable line-4 UNREADABLE: {"raw":"[1]"}"#,
            "! unreadable-record 4@132+3: expected an object",
        ]
    );
}

#[test]
fn broken_texts_are_mended_and_said() {
    let line = [br#"{"id":"u","type":"user","content":"a"#.as_slice(), b"\xff", br#"\ud83d"}"#].concat();
    let told = told("session-x.jsonl", [HEADER.as_bytes(), b"\n", &line, b"\n"].concat());
    assert_eq!(
        told[2..],
        [
            "! invalid-utf8 2@50+45: bytes that are no UTF-8 were replaced",
            "! lone-surrogate 2@50+45: halves of surrogate pairs were replaced",
            "user u: a\u{fffd}\u{fffd}",
        ]
    );
}

#[test]
fn fields_of_a_wrong_kind_cost_the_field_only() {
    for odd in ["7", "-7", "1e999", "true", "[1,{\"a\":[]}]", "{\"a\":1}", "null", "\"x\""] {
        let line = format!(
            r#"{{"id":"m","type":"gemini","timestamp":{odd},"content":"hi","thoughts":{odd},"tokens":{odd},"model":{odd},"toolCalls":{odd},"displayContent":{odd}}}"#
        );
        let told = told("session-x.jsonl", format!("{HEADER}\n{line}\n{{\"$set\":{odd}}}\n{{\"$rewindTo\":{odd}}}\n"));
        assert!(told[2].starts_with("assistant m") && told[2].ends_with(": hi"), "{told:#?}");
    }
}

#[test]
fn what_is_nobodys_or_another_harnesss_is_refused() {
    for (text, reason) in [
        ("", "failed: holds no records; name a Gemini CLI session file"),
        ("words\n", "failed: holds no record of Gemini CLI; name a session file of it, or another --provider"),
        (
            r#"{"type":"user","uuid":"a","message":{"content":"hi"}}"#,
            "failed: holds no record of Gemini CLI; name a session file of it, or another --provider",
        ),
    ] {
        assert_eq!(told("session-x.jsonl", text).last().map(String::as_str), Some(reason), "{text}");
    }
}

#[test]
fn the_log_of_prompts_is_refused_with_the_file_to_take() {
    let prompt = |session: &str, number: u32| {
        format!(
            r#"{{"sessionId":"{session}","messageId":{number},"type":"user","message":"Fix it","timestamp":"2026-01-02T03:04:05.000Z"}}"#
        )
    };
    let one = prompt("1a2b3c4d-0000-4000-8000-000000000001", 0);
    let refusal = |file: &str| {
        format!(
            "failed: is Gemini CLI's log of prompts, which has no answers; name a session file, `chats/session-{file}.jsonl` or `.json` beside it"
        )
    };
    for (text, file) in [
        (format!("[{one}]"), "*-1a2b3c4d"),
        (format!("[\n  {one},\n  {}\n]\n", one.replace(":0,", ":1,")), "*-1a2b3c4d"),
        (format!("[\n  {one},\n  {}\n]\n", prompt("b", 0)), "*"),
        (format!("[\n  {one},\n  {{\"sess"), "*-1a2b3c4d"),
    ] {
        assert_eq!(told("logs.json", &text), [refusal(file)], "{text}");
    }
}

#[test]
fn a_saved_conversation_or_a_session_that_speaks_of_prompts_is_read() {
    for (name, text) in [
        ("checkpoint-a.json", r#"[{"role":"user","parts":[{"text":"hi"}],"sessionId":"s","messageId":1}]"#.to_owned()),
        (
            "session-x.jsonl",
            format!("{HEADER}\n{}\n", r#"{"sessionId":"s","messageId":1,"type":"user","message":"hi"}"#),
        ),
    ] {
        let told = told(name, text);
        assert!(told.iter().any(|line| line.starts_with("user ") && line.ends_with(": hi")), "{told:#?}");
    }
}

#[test]
fn a_session_cut_anywhere_is_told_or_refused() {
    let line = r#"{"id":"m","type":"gemini","content":"é","model":"g","toolCalls":[{"id":"c","name":"glob","result":[{"functionResponse":{"id":"c","response":{"output":"\ud83d\ude00"}}}]}]}"#;
    let rebuilt = format!(r#"{{"$set":{{"messages":[{USER},{line}]}}}}"#);
    let log = format!("{HEADER}\n{USER}\n{line}\n{rebuilt}\n{{\"$rewindTo\":\"m\"}}\n");
    let document = format!("{{\"sessionId\":\"s\",\n\"messages\":[\n{USER},\n{line}\n],\n\"summary\":\"x\"}}\n");
    for (name, text) in [("session-x.jsonl", log), ("session-x.json", document)] {
        for end in 0..text.len() {
            let told = told(name, &text.as_bytes()[..end]);
            assert!(!told.is_empty(), "{name} cut at {end}");
        }
    }
}

#[test]
fn each_fixture_cut_after_any_line_is_told_or_refused() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sessions/gemini");
    let mut sessions = 0;
    for case in std::fs::read_dir(folder).expect("the fixtures") {
        for name in ["session.jsonl", "session.json"] {
            let path = case.as_ref().expect("a case").path().join(name);
            let Ok(text) = std::fs::read(&path) else { continue };
            sessions += 1;
            let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
            for end in ends.flat_map(|at| [at, at + 1]) {
                let told = told(name, &text[..end]);
                let has_ended = told.iter().any(|line| line.starts_with("failed: ")) || told.len() > 1;
                assert!(has_ended, "{} cut at {end}: {told:#?}", path.display());
            }
        }
    }
    assert!(sessions >= 6, "the fixtures are gone");
}

#[test]
fn each_fixture_with_a_byte_changed_is_told_or_refused() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sessions/gemini");
    for case in std::fs::read_dir(folder).expect("the fixtures") {
        for name in ["session.jsonl", "session.json"] {
            let Ok(text) = std::fs::read(case.as_ref().expect("a case").path().join(name)) else { continue };
            for at in (0..text.len()).step_by(17) {
                let mut broken = text.clone();
                broken[at] = *b"\"{]\xff\n:,\\0".get(at % 9).expect("a byte");
                assert!(!told(name, broken).is_empty());
            }
        }
    }
}
