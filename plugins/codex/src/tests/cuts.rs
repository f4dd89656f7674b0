//! Fixtures cut after every line and within some: always something is told, or said why not; never a panic.

use std::path::Path;

use super::told;

#[test]
fn a_session_cut_anywhere_is_told_or_refused_in_one_sentence() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/sessions/codex");
    let mut cases = 0;
    for case in std::fs::read_dir(folder).expect("the fixtures") {
        let folder = case.expect("a case").path();
        for name in ["session.jsonl", "session.json"] {
            let Ok(whole) = std::fs::read(folder.join(name)) else { continue };
            cases += 1;
            let ends = (0..whole.len()).filter(|&at| whole[at] == b'\n').flat_map(|at| [at, at + 1, at + 40]);
            for cut in ends.chain([1, whole.len() / 2, whole.len() - 1]).filter(|&cut| cut <= whole.len()) {
                let told = told(&whole[..cut]);
                let (failures, told): (Vec<_>, Vec<_>) = told.iter().partition(|line| line.starts_with("failed: "));
                assert!(failures.len() <= 1 && (failures.len() == 1) != told.iter().any(|line| !line.starts_with('!')));
            }
        }
    }
    assert!(cases >= 8, "the fixtures are gone");
}

#[test]
fn hostile_lines_are_told() {
    let deep = format!("{}{}", "[".repeat(3000), "]".repeat(3000));
    let header = r#"{"type":"session_meta","payload":{"id":"s"}}"#;
    for line in [
        r#"{"type":"response_item","payload":{"type":"message","role":7,"content":{"a":[]}}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call","name":null,"arguments":17,"call_id":{}}}"#,
        r#"{"type":"response_item","payload":{"type":"function_call_output","output":[[],{},7,null]}}"#,
        r#"{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":18446744073709551615}}"#,
        r#"{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1e999,"output_tokens":-1},"last_token_usage":[]}}}"#,
        r#"{"type":"event_msg","payload":{"type":"patch_apply_end","success":true,"changes":{"":{"type":"update","unified_diff":"@@ -99999999999999999999 +1 @@"}}}}"#,
        r#"{"type":"session_meta","payload":{"id":["x"],"source":{"subagent":{}},"git":"x"}}"#,
        &format!(r#"{{"type":"response_item","payload":{{"type":"message","role":"assistant","content":{deep}}}}}"#),
        "\u{0}\u{0}",
    ] {
        let told = told(format!("{header}\n{line}\n{line}").as_bytes());
        assert!(told.iter().filter(|line| !line.starts_with(['!', '+'])).count() >= 2, "{told:?}");
    }
    for content in [&b""[..], b"\n\n", b"words", b"{}", b"\xff\xfe\x00", b"[1]\n{\"a\":1}"] {
        let told = told(content);
        assert!(told.last().is_some_and(|line| line.starts_with("failed: ")), "{told:?}");
    }
}

#[test]
fn a_compressed_session_is_told_as_the_plain_one() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/sessions/codex/edits/session.jsonl");
    let plain = std::fs::read(fixture).expect("the fixture");
    let compressed = ruzstd::encoding::compress_to_vec(&*plain, ruzstd::encoding::CompressionLevel::Fastest);
    assert_eq!(told(&compressed), told(&plain));
    for cut in 5..compressed.len() {
        let told = told(&compressed[..cut]);
        assert!(
            told.last().is_some_and(|line| line.starts_with("failed: "))
                || told.iter().any(|line| line.contains("UNREADABLE"))
        );
    }
}
