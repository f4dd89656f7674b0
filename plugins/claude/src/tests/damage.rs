//! Logs that no harness should write, and that are there: each kind of damage, and what is made of it.

use super::check;
use super::recorder::read;

const USER: &str = r#"{"type":"user","uuid":"u","message":{"content":"hi"}}"#;
const REPLY: &str = r#"{"type":"assistant","uuid":"a","parentUuid":"u","message":{"content":"ho"}}"#;
const BOTH: [&str; 2] = ["user u: hi", "assistant a after=u: ho"];

/// What is told of the bytes of a log, without what is told of the session.
fn told(log: &[u8]) -> Vec<String> {
    read("s", log).into_iter().filter(|line| !line.starts_with("session ")).collect()
}

#[test]
fn a_byte_order_mark_other_line_ends_and_blank_lines_make_no_difference() {
    for log in [
        format!("{USER}\n{REPLY}\n"),
        format!("{USER}\n{REPLY}"),
        format!("\u{feff}{USER}\n{REPLY}\n"),
        format!("{USER}\r\n{REPLY}\r\n"),
        format!("\n\n{USER}\n \t\r\n{REPLY}\n\n\n"),
        format!("  {USER}  \n\t{REPLY}\r"),
        format!("\0\0{USER}\0\n{REPLY}\0\0"),
    ] {
        assert_eq!(told(log.as_bytes()), BOTH, "{log:?}");
    }
}

#[test]
fn records_that_run_into_each_other_are_told_apart() {
    for between in ["", " ", "\0\0", "\r"] {
        assert_eq!(told(format!("{USER}{between}{REPLY}").as_bytes()), BOTH, "{between:?}");
    }
    let cut = &USER[..30];
    assert_eq!(
        told(format!("{REPLY}{cut}\n{USER}").as_bytes()),
        [
            "assistant a after=u: ho",
            &format!(r#"event unreadable line-1.2 UNREADABLE: {{"raw":{:?}}}"#, cut),
            &format!("! unreadable-record 1@{}+30: the line ends inside a record", REPLY.len()),
            "user u: hi",
        ]
    );
    // Where the first one was cut, where it ended cannot be told.
    assert_eq!(told(format!("{cut}{REPLY}\n{USER}").as_bytes())[2..], ["user u: hi"]);
}

#[test]
fn a_line_that_is_no_record_is_kept_as_it_stands() {
    for (line, reason) in [
        ("[]", "expected an object"),
        (r#"[{"type":"user"}]"#, "expected an object"),
        ("null", "expected an object"),
        ("7", "expected an object"),
        (r#""words""#, "expected an object"),
        ("{", "the line ends inside a record"),
        (r#"{"type":"user","uuid":"v""#, "the line ends inside a record"),
        ("}", "expected value at column 1"),
        ("words", "expected value at column 1"),
        ("{'type':'user'}", "key must be a string at column 2"),
        (r#"{"a":01}"#, "invalid number at column 7"),
        (r#"{"a":NaN}"#, "expected value at column 6"),
    ] {
        let told = told(format!("{line}\n{USER}").as_bytes());
        let raw = serde_json::to_string(line).expect("JSON");
        assert_eq!(told[0], format!(r#"event unreadable line-1 UNREADABLE: {{"raw":{raw}}}"#));
        assert_eq!(told[1], format!("! unreadable-record 1@0+{}: {reason}", line.len()));
        assert_eq!(told[2..], ["user u: hi"]);
    }
}

#[test]
fn a_log_cut_anywhere_is_told_up_to_there() {
    let log = format!("{USER}\n{REPLY}\n");
    for end in 1..log.len() {
        let told = told(&log.as_bytes()[..end]);
        let whole = told.iter().filter(|line| BOTH.contains(&line.as_str())).count();
        let expected = usize::from(end >= USER.len()) + usize::from(end > USER.len() + REPLY.len());
        assert_eq!(whole, expected, "{end}: {told:?}");
    }
}

#[test]
fn a_character_that_was_cut_is_replaced_and_said() {
    for (content, text) in [
        (r"cut \\ud83d", "cut \\ud83d"),
        (r"cut \ud83d", "cut \u{fffd}"),
        (r"cut \uDE00 here", "cut \u{fffd} here"),
        (r"whole \ud83d\ude00", "whole \u{1f600}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
    ] {
        let told = told(USER.replace("hi", content).as_bytes());
        assert_eq!(told.last().map(String::as_str), Some(format!("user u: {text}").as_str()));
        let said = told.iter().filter(|line| line.starts_with("! lone-surrogate 1@0+")).count();
        assert_eq!(said, usize::from(text.contains('\u{fffd}')), "{content}");
    }
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_said() {
    let log = [USER.as_bytes(), b"\n", &REPLY.replace("ho", "h\u{1}o").into_bytes()].concat();
    let log: Vec<u8> = log.iter().flat_map(|&byte| if byte == 1 { vec![0xff, 0xfe] } else { vec![byte] }).collect();
    assert_eq!(
        told(&log),
        [
            "user u: hi".to_owned(),
            format!("! invalid-utf8 2@{}+{}: bytes that are no UTF-8 were replaced", USER.len() + 1, REPLY.len() + 2),
            "assistant a after=u: h\u{fffd}\u{fffd}o".to_owned(),
        ]
    );
}

#[test]
fn a_line_of_many_megabytes_is_a_line() {
    let long = "x".repeat(16 * 1024 * 1024);
    let told = told(format!("{}\n{REPLY}", USER.replace("hi", &long)).as_bytes());
    assert_eq!(told.iter().map(String::len).collect::<Vec<_>>(), [long.len() + 8, BOTH[1].len()]);
}

#[test]
fn nuls_alone_are_said_to_be_nuls() {
    assert_eq!(
        told(format!("\0\0\0\0\n{USER}").as_bytes()),
        [
            r#"event unreadable line-1 UNREADABLE: {"raw":"4 NUL bytes"}"#,
            "! unreadable-record 1@0+4: the line holds nothing but NUL bytes",
            "user u: hi"
        ]
    );
}

#[test]
fn counts_of_every_kind_are_counts_or_none() {
    for (count, told) in [
        ("12", "12"),
        ("\"12\"", "12"),
        ("12.0", "12"),
        ("0", "0"),
        ("18446744073709551615", "18446744073709551615"),
        ("18446744073709551616", "-"),
        ("-1", "-"),
        ("1.5", "-"),
        ("1e999", "-"),
        ("\"many\"", "-"),
        ("null", "-"),
        ("true", "-"),
        ("[12]", "-"),
        ("{}", "-"),
    ] {
        check(
            &format!(
                r#"{{"type":"assistant","uuid":"a","message":{{"id":"g","content":"","usage":{{"input_tokens":1,"output_tokens":{count}}}}}}}"#
            ),
            &[&format!("assistant a group=g snapshot=1/{told}/-/-: ")],
        );
    }
    for usage in ["null", "7", "[]", "\"x\"", "{}"] {
        check(
            &format!(r#"{{"type":"assistant","uuid":"a","message":{{"id":"g","content":"","usage":{usage}}}}}"#),
            &["assistant a group=g: "],
        );
    }
}

#[test]
fn content_of_every_kind_is_a_turn() {
    for (content, text) in [
        (r#","content":null"#, ""),
        ("", ""),
        (r#","content":"""#, ""),
        (r#","content":[]"#, ""),
        (r#","content":[null]"#, "[block]"),
        (r#","content":7"#, "[block]"),
        (r#","content":[[]]"#, "[block]"),
        (r#","content":{"type":"text","text":"hi"}"#, "hi"),
        (r#","content":["hi"]"#, "hi"),
        (r#","content":[{"type":"text"}]"#, "[text]"),
        (r#","content":[{"type":"text","text":null}]"#, "[text]"),
        (r#","content":[{"type":"from-the-future","x":1}]"#, "[from-the-future]"),
    ] {
        let told = told(
            format!(r#"{{"type":"user","uuid":"u","parentUuid":null,"message":{{"role":"user"{content}}}}}"#)
                .as_bytes(),
        );
        assert_eq!(told[0], format!("user u: {text}"), "{content}");
        assert!(told[1..].iter().all(|line| line.starts_with("+ event content-block")), "{told:?}");
    }
}

#[test]
fn a_message_of_another_kind_is_nobodys_words() {
    for message in ["null", "7", "[]", "true"] {
        let log = format!(r#"{{"type":"user","uuid":"u","parentUuid":null,"message":{message}}}"#);
        assert!(told(log.as_bytes())[0].starts_with("event user u: {"), "{message}");
    }
    assert_eq!(told(r#"{"type":"user","uuid":"u","message":"hi"}"#.as_bytes()), ["user u: hi"]);
}

#[test]
fn fields_of_every_kind_cost_the_field_and_never_the_record() {
    for odd in ["null", "7", "-7", "1e999", "true", "[[1],{}]", r#"{"a":{"b":1}}"#, r#""""#] {
        let names = [
            "parentUuid",
            "sessionId",
            "timestamp",
            "cwd",
            "gitBranch",
            "version",
            "isSidechain2",
            "isMeta2",
            "toolUseResult",
            "origin",
            "agentId",
            "teamName",
            "requestId",
            "forkedFrom",
            "sourceToolUseID",
            "slug",
            "from-the-future",
        ];
        let fields: String = names.iter().map(|name| format!(r#","{name}":{odd}"#)).collect();
        let told = told(format!(r#"{{"type":"user","uuid":"u"{fields},"message":{{"content":"hi"}}}}"#).as_bytes());
        assert!(told.len() == 1 && told[0].starts_with("user u") && told[0].ends_with(": hi"), "{odd}: {told:?}");
    }
}

#[test]
fn nesting_of_any_depth_is_read() {
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let log = format!(
        r#"{{"type":"assistant","uuid":"a","message":{{"content":[{{"type":"tool_use","id":"t","name":"X","input":{deep}}},{{"type":"odd","x":{deep}}}]}},"toolUseResult":{deep}}}"#
    );
    assert!(told(log.as_bytes())[0].starts_with("assistant a call=t:X:0:[["));
}

#[test]
fn ids_that_are_empty_or_repeated_lose_nothing() {
    check(
        &[
            r#"{"type":"user","uuid":"","message":{"content":"a"}}"#,
            r#"{"type":"user","uuid":"u","parentUuid":"u","message":{"content":"b"}}"#,
            r#"{"type":"user","uuid":"u","parentUuid":"","message":{"content":"c"}}"#,
            r#"{"type":"user","uuid":7,"message":{"content":"d"}}"#,
        ]
        .join("\n"),
        &["user line-1: a", "user u after=u: b", "user u: c", "user line-4: d"],
    );
}
