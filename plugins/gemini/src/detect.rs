//! How sure we are that a file is Gemini CLI's.

use std::path::Path;

use crate::glance::Glance;

/// From 0 (it is not) to 100 (beyond doubt).
pub(crate) fn score(path: &Path, head: &[u8]) -> u8 {
    let Ok(glance) = Glance::at(head) else { return 0 };
    let is_ours = path.components().any(|part| part.as_os_str() == ".gemini");
    // The harness that descends from this one writes the same layout under its own folder.
    let is_theirs = path.components().any(|part| part.as_os_str() == ".qwen");
    if glance.is_foreign || is_theirs || !(glance.is_recognised || glance.has_logged_prompts) {
        return 0;
    }
    let says = |ours: u8, otherwise: u8| if is_ours { ours } else { otherwise };
    if !glance.is_recognised {
        // It is refused, with a sentence that helps more than that nobody knows it.
        return says(60, 10);
    }
    if glance.is_saved {
        return says(80, 30);
    }
    match (glance.has_header, glance.has_model) {
        (true, true) => 98,
        (true, false) => says(97, 90),
        (false, true) => says(90, 70),
        (false, false) => says(70, 20),
    }
}

#[cfg(test)]
mod tests {
    use toolpath_plugin_api::kit::testing;

    use crate::GeminiCli;

    #[track_caller]
    fn check(path: &str, head: &str, expected: u8) {
        assert_eq!(testing::detect::<GeminiCli>(path.as_ref(), head.as_bytes()), expected, "{path}: {head}");
    }

    const HEADER: &str = r#"{"sessionId":"s","projectHash":"p"}"#;
    const HELLO: &str = r#"{"id":"m","type":"gemini","content":"Hello."}"#;

    #[test]
    fn a_session_names_itself_and_its_project() {
        check("x.jsonl", &format!("{HEADER}\n{HELLO}\n"), 98);
        check("x.jsonl", HEADER, 90);
        check(
            "x.json",
            &format!("{{\"sessionId\":\"s\",\n\"projectHash\":\"p\",\n\"messages\":[\n{HELLO},\n{{\"id"),
            98,
        );
        check("x.json", &format!(r#"{{"messages":[{HELLO}],"projectHash":"p","sessionId":"s"}}"#), 98);
    }

    #[test]
    fn a_session_without_its_header_is_known_by_its_messages() {
        check("x.jsonl", &format!("{{\"sess\n{HELLO}\n"), 70);
        check("/home/d/.gemini/tmp/p/chats/session-x.jsonl", HELLO, 90);
        check("/home/d/.gemini/tmp/p/checkpoint-a.json", r#"[{"role":"user","parts":[{"text":"hi"}]}]"#, 80);
    }

    #[test]
    fn the_log_of_prompts_is_ours_to_refuse() {
        let prompts = r#"[{"sessionId":"s","messageId":0,"type":"user","message":"hi","timestamp":"t"}]"#;
        check("/home/d/.gemini/tmp/p/logs.json", prompts, 60);
        check("logs.json", prompts, 10);
        check("/home/d/.qwen/tmp/p/logs.json", prompts, 0);
    }

    #[test]
    fn files_of_other_harnesses_are_not_ours() {
        for head in [
            "",
            "words",
            "{}",
            "[]",
            r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"hi"}}"#,
            r#"{"uuid":"a","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","parts":[{"text":"x"}]}}"#,
            r#"{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/w"}"#,
            r#"{"timestamp":"t","type":"session_meta","payload":{"id":"s"}}"#,
            r#"{"id":"s","messages":[{"role":"user","content":"hi"}]}"#,
            r#"{"id":"v","turns":[]}"#,
        ] {
            check("x.jsonl", head, 0);
        }
        check("/home/d/.qwen/tmp/p/chats/session-x.json", &format!("{HEADER}\n{HELLO}\n"), 0);
        check("x.jsonl", &format!("{HEADER}\n{}", HELLO.replace("gemini", "qwen")), 0);
    }
}
