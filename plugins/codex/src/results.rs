//! What tools answered, and whether that was a failure.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::shape;

use crate::content::Content;
use crate::record::Item;

shape! {
    /// An answer that is an object of its own.
    Answer {
        content: "content" | "body",
        success: "success",
    }
}

shape! {
    /// An answer that is a text that holds JSON: `{"output":"...","metadata":{"exit_code":0}}`.
    Wrapped {
        output: "output",
        metadata: "metadata",
    }
}

shape! {
    /// Its metadata.
    Exit {
        code: "exit_code",
    }
}

/// A tool's answer.
#[derive(Clone, Debug)]
pub(crate) struct Answered<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Blocks that are no text.
    pub(crate) rest: Vec<&'a str>,
    /// What the answer itself says.
    pub(crate) is_error: Option<bool>,
}

/// What a patch that was applied is answered with.
pub(crate) const PATCHED: &str = "Success. Updated the following files:";

/// The answer in an item.
pub(crate) fn of_item<'a>(item: &Item<'a>) -> Answered<'a> {
    if item.output.json().is_none() && item.tools.json().is_some() {
        return Answered { text: item.tools.json().unwrap_or_default().into(), rest: Vec::new(), is_error: None };
    }
    let answer: Answer<'a> = item.output.object().unwrap_or_default();
    let field = if answer.content.json().is_some() { answer.content } else { item.output };
    let content = Content::of(field);
    let is_error = answer.success.boolean().map(|success| !success).or_else(|| is_error(&content.text));
    Answered { text: content.text, rest: content.rest, is_error }
}

/// What a text says about failure: an exit code where one belongs, or a sentence that only the harness writes.
fn is_error(text: &str) -> Option<bool> {
    let wrapped: Wrapped<'_> = Field::parse(text).object().unwrap_or_default();
    if let Some(code) = wrapped.metadata.object::<Exit<'_>>().and_then(|exit| exit.code.number()) {
        return Some(code != 0);
    }
    let text = text.trim();
    if text.starts_with("execution error:") || is_aborted(text) {
        return Some(true);
    }
    // What a command printed comes behind this line, and may say anything.
    let head = text.lines().take(8).take_while(|line| *line != "Output:");
    for line in head {
        let code = line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "));
        if let Some(code) = code.and_then(|code| code.trim().parse::<i64>().ok()) {
            return Some(code != 0);
        }
    }
    if text.starts_with(PATCHED) {
        return Some(false);
    }
    text.contains("rejected by user").then_some(true)
}

fn is_aborted(text: &str) -> bool {
    let last = text.lines().next_back().unwrap_or_default();
    let is_only = text.lines().count() == 1;
    match last {
        "aborted" | "command aborted by user" => is_only,
        "aborted by user" => is_only || text.starts_with("Wall time: "),
        _ => is_only && last.starts_with("aborted by user after "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(output: &str, text: &str, is_error: Option<bool>) {
        let json = format!(r#"{{"type":"function_call_output","output":{output}}}"#);
        let item: Item<'_> = Field::parse(&json).object().expect("an item");
        let answered = of_item(&item);
        assert_eq!((&*answered.text, answered.is_error), (text, is_error), "{output}");
    }

    #[test]
    fn an_answer_is_a_text_blocks_or_an_object() {
        check(r#""done""#, "done", None);
        check(r#"[{"type":"input_text","text":"a"},{"type":"input_image","image_url":null}]"#, "a\n[image]", None);
        check(r#"{"type":"input_text","text":"a"}"#, "a", None);
        check(r#"{"content":"a","success":false}"#, "a", Some(true));
        check(r#"{"content":[{"type":"input_text","text":"a"}],"success":true}"#, "a", Some(false));
        check("null", "", None);
    }

    #[test]
    fn found_tools_are_an_answer_too() {
        let item: Item<'_> =
            Field::parse(r#"{"type":"tool_search_output","tools":[{"name":"x"}]}"#).object().expect("an item");
        assert_eq!(of_item(&item).text, r#"[{"name":"x"}]"#);
    }

    #[test]
    fn an_exit_code_decides_where_one_belongs() {
        let wrapped =
            |code: i32| format!(r#"{{"output":"x","metadata":{{"exit_code":{code},"duration_seconds":0.1}}}}"#);
        for (text, expected) in [
            (wrapped(0), Some(false)),
            (wrapped(127), Some(true)),
            ("Chunk ID: a\nWall time: 0.0 seconds\nProcess exited with code 0\nOutput:\nx".to_owned(), Some(false)),
            ("Chunk ID: a\nProcess exited with code 2\nOutput:\n".to_owned(), Some(true)),
            ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx".to_owned(), Some(true)),
            ("Wall time: 0.1 seconds\nOutput:\nExit code: 1".to_owned(), None),
            ("I read: Exit code: 1".to_owned(), None),
            (r#"{"exit_code":1}"#.to_owned(), None),
        ] {
            assert_eq!(is_error(&text), expected, "{text}");
        }
    }

    #[test]
    fn what_the_harness_says_in_a_tools_place_is_a_failure() {
        for text in [
            "execution error: Io(..)",
            "aborted",
            "aborted by user after 1.2s",
            "Wall time: 3 seconds\naborted by user",
            "command aborted by user",
            "exec command rejected by user",
        ] {
            assert_eq!(is_error(text), Some(true), "{text}");
        }
        for text in ["it was aborted", "aborted\nand more", "the execution error: x", "aborted by users"] {
            assert_eq!(is_error(text), None, "{text}");
        }
    }

    #[test]
    fn a_patch_that_was_applied_says_so() {
        assert_eq!(is_error(&format!("{PATCHED}\nM a.txt\n")), Some(false));
        assert_eq!(is_error("apply_patch verification failed: Failed to find expected lines"), None);
    }
}
