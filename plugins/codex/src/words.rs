//! Who wrote what stands in the user's position: a human, or the harness.
//!
//! Codex puts its own fragments there, each text between a mark at its start and one at its end. A text decides only as
//! a whole, and only by both marks; what a person may type within a prompt never does.

use crate::content::Content;
use crate::record::Passthrough;
use crate::signal::Signal;

/// What a fragment begins and ends with; compared without regard to case.
const FRAGMENTS: &[(&str, &str)] = &[
    ("# AGENTS.md instructions", "</INSTRUCTIONS>"),
    ("<user_instructions>", "</user_instructions>"),
    ("<environment_context>", "</environment_context>"),
    ("<environments_instructions>", "</environments_instructions>"),
    ("<skill>", "</skill>"),
    ("<user_shell_command>", "</user_shell_command>"),
    ("<turn_aborted>", "</turn_aborted>"),
    ("<subagent_notification>", "</subagent_notification>"),
    ("<recommended_plugins>", "</recommended_plugins>"),
    ("<codex_internal_context source=\"", "</codex_internal_context>"),
    ("<goal_context>", "</goal_context>"),
    ("<hook_prompt hook_run_id=\"", "</hook_prompt>"),
    ("<user_action>", "</user_action>"),
    ("Warning: apply_patch was requested via ", "Use the apply_patch tool instead of exec_command."),
    ("Warning: The maximum number of unified exec processes you can keep open is", ""),
    ("Warning: Your account was flagged for potentially high-risk cyber activity", ""),
];
const SUMMARY: &str = "Another language model started to solve this problem and produced a summary";

/// The signal of a user message; `None` for a human's.
pub(crate) fn of_user(content: &Content<'_>, passthrough: &Passthrough<'_>) -> Option<Signal> {
    if let Some(is_human) = kinds(content, passthrough) {
        return (!is_human).then_some(Signal::ContextKinds);
    }
    if starts_with(content.text.trim_start(), SUMMARY) {
        return Some(Signal::CompactionSummary);
    }
    let is_context =
        content.rest.is_empty() && !content.texts.is_empty() && content.texts.iter().all(|text| is_fragment(text));
    is_context.then_some(Signal::ContextFragment)
}

/// Whether a text is what Codex writes when a review ended, and whether that was interrupted.
pub(crate) fn review_exit(text: &str) -> Option<bool> {
    let text = text.trim();
    (starts_with(text, "<user_action>") && ends_with(text, "</user_action>"))
        .then(|| text.contains("but was interrupted"))
}

/// Whether the item's notes, one a block, say that a human wrote any of it.
fn kinds(content: &Content<'_>, passthrough: &Passthrough<'_>) -> Option<bool> {
    let kinds = passthrough.kinds.list().filter(|kinds| !kinds.is_empty())?;
    let kinds: Vec<_> = kinds.into_iter().map(|kind| kind.text().unwrap_or_default()).collect();
    let is_human = |kind: &str| {
        kind.is_empty()
            || kind == "unknown"
            || ["user.", "images.", "audio."].iter().any(|start| kind.starts_with(start))
    };
    (kinds.len() == content.texts.len() + content.rest.len()).then(|| kinds.iter().any(|kind| is_human(kind)))
}

fn is_fragment(text: &str) -> bool {
    let text = text.trim();
    FRAGMENTS.iter().any(|(start, end)| starts_with(text, start) && ends_with(text, end)) || is_external(text)
}

/// Whether a text is what another program gave as context: `<external_KEY>...</external_KEY>`.
fn is_external(text: &str) -> bool {
    let Some((key, rest)) = text.strip_prefix("<external_").and_then(|rest| rest.split_once('>')) else { return false };
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    is_key && rest.ends_with(&format!("</external_{key}>"))
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn ends_with(text: &str, end: &str) -> bool {
    let from = text.len().checked_sub(end.len());
    from.and_then(|from| text.get(from..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolpath_plugin_api::kit::field::Field;

    fn of(texts: &[&str], kinds: &str) -> Option<Signal> {
        let blocks: Vec<_> = texts.iter().map(|text| serde_json::json!({"type": "input_text", "text": text})).collect();
        let (blocks, passthrough) =
            (serde_json::Value::from(blocks).to_string(), format!(r#"{{"content_item_kinds":{kinds}}}"#));
        of_user(&Content::of(Field::parse(&blocks)), &Field::parse(&passthrough).object().expect("notes"))
    }

    #[track_caller]
    fn check(text: &str, expected: Option<Signal>) {
        assert_eq!(of(&[text], "null"), expected, "{text}");
    }

    #[test]
    fn each_fragment_is_the_harness_speaking_when_it_is_all_there_is() {
        for (start, end) in FRAGMENTS {
            check(&format!("{start} x\ny {end}"), Some(Signal::ContextFragment));
            check(&format!("\n{} x {}\n", start.to_uppercase(), end.to_uppercase()), Some(Signal::ContextFragment));
            check(&format!("please look: {start} x {end}"), None);
            if !end.is_empty() {
                check(&format!("{start} x {end} please fix"), None);
                check(&format!("{start} x"), None);
            }
        }
    }

    #[test]
    fn context_of_another_program_is_known_by_its_own_key_at_both_ends() {
        check("<external_ide>open files</external_ide>", Some(Signal::ContextFragment));
        check("<external_ide>open files</external_other>", None);
        check("<external_>x</external_>", None);
        check("<external_ide>x</external_ide> and?", None);
    }

    #[test]
    fn any_other_tag_is_a_humans() {
        for text in ["<b>x</b>", "<instructions>x</instructions>", "</INSTRUCTIONS>", "", "<skill", "é"] {
            check(text, None);
        }
    }

    #[test]
    fn a_prompt_beside_a_fragment_is_a_humans() {
        let context = "<environment_context>x</environment_context>";
        assert_eq!(
            of(&["# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>", context], "null"),
            Some(Signal::ContextFragment)
        );
        assert_eq!(of(&[context, "fix it"], "null"), None);
        let image = r#"[{"type":"input_text","text":"<skill>x</skill>"},{"type":"input_image","image_url":"x"}]"#;
        assert_eq!(of_user(&Content::of(Field::parse(image)), &Passthrough::default()), None);
    }

    #[test]
    fn the_items_own_notes_decide_when_there_is_one_for_each_block() {
        assert_eq!(of(&["x"], r#"["environment.context"]"#), Some(Signal::ContextKinds));
        assert_eq!(of(&["<skill>x</skill>"], r#"["user.text"]"#), None);
        assert_eq!(of(&["x", "y"], r#"["environment.context","user.text"]"#), None);
        for human in ["", "unknown", "images.1", "audio.1", "user.x"] {
            assert_eq!(of(&["<skill>x</skill>"], &format!("[\"{human}\"]")), None, "{human}");
        }
        assert_eq!(of(&["x", "y"], r#"["environment.context"]"#), None);
        assert_eq!(of(&["<skill>x</skill>"], "[]"), Some(Signal::ContextFragment));
    }

    #[test]
    fn the_summary_of_a_compaction_is_no_prompt() {
        check(&format!("{SUMMARY} of its thinking process. ..."), Some(Signal::CompactionSummary));
        check("Why did another language model start to solve this problem?", None);
    }

    #[test]
    fn the_end_of_a_review_says_whether_it_was_interrupted() {
        assert_eq!(
            review_exit("<user_action>\nUser initiated a review task, but was interrupted. x\n</user_action>\n"),
            Some(true)
        );
        assert_eq!(review_exit("<user_action>\nfindings\n  </user_action>\n"), Some(false));
        assert_eq!(review_exit("but was interrupted"), None);
    }
}
