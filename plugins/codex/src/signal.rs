//! The signals that give away what Codex wrote itself, or what no human typed.
//!
//! Codex shows errors, limits and timeouts as events, never as messages. What it writes in the assistant's position is a
//! handful of sentences, each in a place of its own: a sentence alone decides nothing.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::shape;

use crate::record::{Item, Metadata};

/// Why a turn is the harness's own, or not a human's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Assistant: what stands for the answer of a review that was interrupted.
    ReviewInterrupted,
    /// Assistant: what stands for the answer of a review that gave none.
    ReviewWithoutAnswer,
    /// Assistant: the notice that a compaction is done.
    CompactNotice,
    /// Assistant: the mark at the end of an imported session.
    ImportMarker,
    /// Assistant: the place of a message that was delivered and whose text is lost.
    DeliveryPlaceholder,
    /// Assistant: another agent's message, put where the assistant speaks.
    AgentMail,
    /// Assistant: a tool's result of an imported session.
    ImportedToolResult,
    /// User: nothing but fragments that Codex puts before the model.
    ContextFragment,
    /// User: the item's own notes say that it holds no prompt.
    ContextKinds,
    /// User: the summary with which a compacted conversation goes on.
    CompactionSummary,
    /// User: what another agent asked, in the session of a sub-agent.
    SubAgentPrompt,
}

impl Signal {
    /// Its name, as a JSON string.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Self::ReviewInterrupted => "\"review-interrupted\"",
            Self::ReviewWithoutAnswer => "\"review-without-answer\"",
            Self::CompactNotice => "\"compact-notice\"",
            Self::ImportMarker => "\"import-marker\"",
            Self::DeliveryPlaceholder => "\"delivery-placeholder\"",
            Self::AgentMail => "\"agent-mail\"",
            Self::ImportedToolResult => "\"imported-tool-result\"",
            Self::ContextFragment => "\"context-fragment\"",
            Self::ContextKinds => "\"context-kinds\"",
            Self::CompactionSummary => "\"compaction-summary\"",
            Self::SubAgentPrompt => "\"sub-agent-prompt\"",
        }
    }
}

/// Turns that a session of another product was cut into.
pub(crate) const IMPORTED_TURN: &str = "external-import-turn-";

const INTERRUPTED: &str = "Review was interrupted. Please re-run /review and wait for it to complete.";
const NO_ANSWER: &str = "Reviewer failed to output a response.";
const COMPACTED: &str = "Compact task completed";
/// What stands at the end of what was imported.
pub(crate) const IMPORTED: &str = "<EXTERNAL SESSION IMPORTED>";

/// How a review ended whose answer is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReviewExit {
    pub(crate) is_interrupted: bool,
}

/// How a message came to be delivered by a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Its text is lost.
    Incomplete,
    /// The record repeats what the tool's call says.
    Copy,
}

/// Whether an item was written for a message that a tool call delivered.
pub(crate) fn delivery(metadata: Field<'_>) -> Option<Delivery> {
    const MARK: &str = "codex:code-mode-delivery:v1:";
    let delivered = metadata.object::<Metadata<'_>>()?.delivered.text()?;
    let state = delivered.strip_prefix(MARK)?;
    if state.starts_with("incomplete:") {
        Some(Delivery::Incomplete)
    } else {
        (state == "complete" || state.starts_with("complete:")).then_some(Delivery::Copy)
    }
}

/// The signal of an assistant message with this text.
pub(crate) fn of_assistant(item: &Item<'_>, text: &str, exit: Option<ReviewExit>, is_imported: bool) -> Option<Signal> {
    match exit {
        Some(ReviewExit { is_interrupted: true }) if text == INTERRUPTED => Some(Signal::ReviewInterrupted),
        Some(_) if text == NO_ANSWER => Some(Signal::ReviewWithoutAnswer),
        _ if is_imported && is_tool_result(text) => Some(Signal::ImportedToolResult),
        _ if item.phase.is("commentary") && is_mail(text) => Some(Signal::AgentMail),
        _ => None,
    }
}

/// The signal of a message that stands in an event only; `near_compaction` when the same turn was compacted.
pub(crate) fn of_event(text: &str, near_compaction: bool) -> Option<Signal> {
    match text {
        IMPORTED => Some(Signal::ImportMarker),
        COMPACTED if near_compaction => Some(Signal::CompactNotice),
        _ => None,
    }
}

shape! {
    /// What one agent writes to another.
    Letter {
        author: "author",
        recipient: "recipient",
        others: "other_recipients",
        content: "content",
        trigger: "trigger_turn",
    }
}

fn is_mail(text: &str) -> bool {
    let field = Field::parse(text.trim());
    let letter: Letter<'_> = field.object().unwrap_or_default();
    field.entries().is_some_and(|entries| entries.len() == 5)
        && [letter.author, letter.recipient, letter.content].iter().all(|text| text.text().is_some())
        && letter.others.list().is_some()
        && letter.trigger.boolean().is_some()
}

/// Whether a text is results of tools and nothing else, as an import writes them.
fn is_tool_result(text: &str) -> bool {
    const OPEN: &str = "[external_agent_tool_result";
    const CLOSE: &str = "[/external_agent_tool_result]";
    let mut rest = text.trim();
    while !rest.is_empty() {
        let after = rest.strip_prefix(OPEN).and_then(|rest| rest.strip_prefix("]").or(rest.strip_prefix(": error]")));
        let Some((_, next)) = after.and_then(|after| after.split_once(CLOSE)) else { return false };
        rest = next.trim_start();
    }
    !text.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTER: &str =
        r#"{"author":"/lead/a","recipient":"/lead","other_recipients":[],"content":"done","trigger_turn":false}"#;

    #[track_caller]
    fn check(phase: &str, text: &str, exit: Option<bool>, is_imported: bool, expected: Option<Signal>) {
        let json = format!(r#"{{"type":"message","role":"assistant","phase":{phase}}}"#);
        let item: Item<'_> = Field::parse(&json).object().expect("an item");
        let exit = exit.map(|is_interrupted| ReviewExit { is_interrupted });
        assert_eq!(of_assistant(&item, text, exit, is_imported), expected, "{text}");
    }

    #[test]
    fn the_answer_of_an_interrupted_review_is_the_harnesss_behind_the_review_only() {
        check("null", INTERRUPTED, Some(true), false, Some(Signal::ReviewInterrupted));
        check("null", INTERRUPTED, Some(false), false, None);
        check("null", INTERRUPTED, None, false, None);
        check("null", "Review was interrupted.", Some(true), false, None);
    }

    #[test]
    fn the_answer_of_a_review_that_gave_none_is_the_harnesss_behind_the_review_only() {
        check("null", NO_ANSWER, Some(false), false, Some(Signal::ReviewWithoutAnswer));
        check("null", NO_ANSWER, None, false, None);
        check("null", "All is well.", Some(false), false, None);
    }

    #[test]
    fn another_agents_letter_is_no_answer_of_this_model() {
        check("\"commentary\"", LETTER, None, false, Some(Signal::AgentMail));
        check("\"final_answer\"", LETTER, None, false, None);
        check("null", LETTER, None, false, None);
        for text in [
            r#"{"author":"a","recipient":"b","content":"c"}"#,
            r#"{"author":"a","recipient":"b","other_recipients":[],"content":"c","trigger_turn":false,"more":1}"#,
            r#"{"author":"a","recipient":"b","other_recipients":[],"content":"c","trigger_turn":"no"}"#,
            &format!("Look: {LETTER}"),
            "[1]",
            "words",
        ] {
            check("\"commentary\"", text, None, false, None);
        }
    }

    #[test]
    fn a_tools_result_of_an_imported_session_is_no_answer() {
        let result = "[external_agent_tool_result]\nok\n[/external_agent_tool_result]";
        let error = "[external_agent_tool_result: error]\nno\n[/external_agent_tool_result]";
        check("null", result, None, true, Some(Signal::ImportedToolResult));
        check("null", &format!("{error}\n\n{result}"), None, true, Some(Signal::ImportedToolResult));
        check("null", result, None, false, None);
        for text in [
            format!("Now I know.\n\n{result}"),
            format!("{result}\n\nNow I know."),
            "[external_agent_tool_call: Bash]\ncommand: ls\n[/external_agent_tool_call]".to_owned(),
            "[external_agent_tool_result]\nopen".to_owned(),
            String::new(),
        ] {
            check("null", &text, None, true, None);
        }
    }

    #[test]
    fn the_marks_in_events_are_known_by_their_whole_text_and_their_place() {
        assert_eq!(of_event(IMPORTED, false), Some(Signal::ImportMarker));
        assert_eq!(of_event(COMPACTED, true), Some(Signal::CompactNotice));
        assert_eq!(of_event(COMPACTED, false), None);
        assert_eq!(of_event("Compact task completed.", true), None);
        assert_eq!(of_event("An <EXTERNAL SESSION IMPORTED>", true), None);
    }

    #[test]
    fn a_delivery_says_whether_its_text_is_lost() {
        let of = |mark: &str| delivery(Field::parse(&format!(r#"{{"delivered_assistant_message":"{mark}"}}"#)));
        assert_eq!(of("codex:code-mode-delivery:v1:incomplete:abc"), Some(Delivery::Incomplete));
        assert_eq!(of("codex:code-mode-delivery:v1:complete"), Some(Delivery::Copy));
        assert_eq!(of("codex:code-mode-delivery:v1:complete:abc"), Some(Delivery::Copy));
        assert_eq!(of("codex:code-mode-delivery:v2:incomplete:abc"), None);
        assert_eq!(of("incomplete:"), None);
        assert_eq!(delivery(Field::parse(r#"{"compaction_output":true}"#)), None);
        assert_eq!(delivery(Field::default()), None);
    }

    #[test]
    fn an_errors_text_in_an_answer_is_the_models() {
        for text in ["stream disconnected before completion", "You've hit your usage limit.", "aborted by user"] {
            check("null", text, None, false, None);
            assert_eq!(of_event(text, true), None);
        }
    }
}
