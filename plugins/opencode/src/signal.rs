//! The signals that give away what the harness wrote itself.
//!
//! opencode flags no message; it gives itself away by the shape of a row and of the row it answers. Usage of zero is a
//! part of such a shape and never a signal by itself: providers report none for real answers.

/// Why a turn is the harness's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Assistant: a command that the user ran (`!command`), shown as a model's call.
    UserShell,
    /// Assistant: the call of a sub-agent that a slash command makes.
    CommandSubtask,
    /// Assistant: an error, and nothing of a reply.
    ErrorWithoutReply,
    /// Assistant: the user stopped it before anything came.
    AbortedWithoutReply,
    /// Assistant: a conversation too long to be compacted.
    CompactionOverflow,
    /// Assistant: nothing but text marked as synthetic.
    SyntheticTextLikely,
    /// User: nothing but text marked as synthetic.
    SyntheticText,
    /// User: the last prompt once more, after a compaction that it did not fit into.
    ReplayedPrompt,
    /// User: the first prompt of a sub-agent's session, which the calling agent wrote.
    SubAgentPrompt,
    /// Newest model: a row of the type `synthetic`.
    SyntheticMessage,
    /// Newest model: a row of the type `system`.
    SystemMessage,
    /// Newest model: a row of the type `shell`.
    ShellMessage,
}

impl Signal {
    /// Its name, as a JSON string.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Self::UserShell => "\"user-shell\"",
            Self::CommandSubtask => "\"command-subtask\"",
            Self::ErrorWithoutReply => "\"error-without-reply\"",
            Self::AbortedWithoutReply => "\"aborted-without-reply\"",
            Self::CompactionOverflow => "\"compaction-overflow\"",
            Self::SyntheticTextLikely => "\"synthetic-text-likely\"",
            Self::SyntheticText => "\"synthetic-text\"",
            Self::ReplayedPrompt => "\"replayed-prompt\"",
            Self::SubAgentPrompt => "\"sub-agent-prompt\"",
            Self::SyntheticMessage => "\"synthetic-message\"",
            Self::SystemMessage => "\"system-message\"",
            Self::ShellMessage => "\"shell-message\"",
        }
    }
}

/// What the harness writes in the user's position before it shows a command that the user ran.
pub(crate) const SHELL_NOTE: &str = "The following tool was executed by the user";

/// The shape of an assistant row, as far as signals look at it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape<'a> {
    /// Name of the error.
    pub(crate) error: Option<&'a str>,
    /// It is the answer to a compaction.
    pub(crate) is_summary: bool,
    /// Why the model stopped.
    pub(crate) finish: Option<&'a str>,
    /// It has a count of tokens, or a cost, that is not zero.
    pub(crate) has_usage: bool,
    /// It has a part that begins or ends a step.
    pub(crate) has_steps: bool,
    /// It has text or reasoning that is not empty.
    pub(crate) has_words: bool,
    /// It has text marked as synthetic.
    pub(crate) has_synthetic: bool,
    /// Names of the tools called.
    pub(crate) tools: Vec<&'a str>,
    /// The input of the first of them names a sub-agent or a command.
    pub(crate) names_agent: bool,
    /// The row it answers.
    pub(crate) parent: Parent,
}

/// What the row that an assistant row answers holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Parent {
    /// Nothing of interest, or it is not known.
    #[default]
    Other,
    /// [`SHELL_NOTE`] as its only text.
    ShellNote,
    /// A sub-task.
    Subtask,
}

/// The signal that an assistant row shows.
pub(crate) fn of_assistant(row: &Shape<'_>) -> Option<Signal> {
    let is_empty = !row.has_words && row.tools.is_empty();
    if let Some(error) = row.error.filter(|_| is_empty) {
        return Some(match error {
            "MessageAbortedError" => Signal::AbortedWithoutReply,
            "ContextOverflowError" if row.is_summary => Signal::CompactionOverflow,
            _ => Signal::ErrorWithoutReply,
        });
    }
    let no_model_ran = !row.has_usage && !row.has_steps && !row.has_words;
    match (row.parent, row.tools.as_slice()) {
        (Parent::ShellNote, ["bash" | "shell"]) if no_model_ran && row.finish.is_none() => Some(Signal::UserShell),
        (Parent::Subtask, ["task"]) if no_model_ran && row.finish == Some("tool-calls") && row.names_agent => {
            Some(Signal::CommandSubtask)
        }
        (_, []) if no_model_ran && row.has_synthetic => Some(Signal::SyntheticTextLikely),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shape: Shape<'_>, expected: Option<Signal>) {
        assert_eq!(of_assistant(&shape), expected, "{shape:?}");
    }

    fn shell() -> Shape<'static> {
        Shape { parent: Parent::ShellNote, tools: vec!["bash"], ..Shape::default() }
    }

    #[test]
    fn a_command_that_the_user_ran_is_known_by_its_shape() {
        check(shell(), Some(Signal::UserShell));
        check(Shape { tools: vec!["shell"], ..shell() }, Some(Signal::UserShell));
    }

    #[test]
    fn a_command_that_lacks_a_part_of_that_shape_is_a_models() {
        for shape in [
            Shape { parent: Parent::Other, ..shell() },
            Shape { parent: Parent::Subtask, ..shell() },
            Shape { has_usage: true, ..shell() },
            Shape { has_steps: true, ..shell() },
            Shape { has_words: true, ..shell() },
            Shape { finish: Some("tool-calls"), ..shell() },
            Shape { tools: vec!["bash", "bash"], ..shell() },
            Shape { tools: vec!["read"], ..shell() },
        ] {
            check(shape, None);
        }
    }

    fn subtask() -> Shape<'static> {
        Shape {
            parent: Parent::Subtask,
            tools: vec!["task"],
            finish: Some("tool-calls"),
            names_agent: true,
            ..Shape::default()
        }
    }

    #[test]
    fn the_call_of_a_slash_command_is_known_by_its_shape() {
        check(subtask(), Some(Signal::CommandSubtask));
    }

    #[test]
    fn a_call_of_a_sub_agent_that_lacks_a_part_of_that_shape_is_a_models() {
        for shape in [
            Shape { parent: Parent::Other, ..subtask() },
            Shape { parent: Parent::ShellNote, ..subtask() },
            Shape { has_usage: true, ..subtask() },
            Shape { has_steps: true, ..subtask() },
            Shape { has_words: true, ..subtask() },
            Shape { finish: None, ..subtask() },
            Shape { finish: Some("stop"), ..subtask() },
            Shape { names_agent: false, ..subtask() },
            Shape { tools: vec!["task", "task"], ..subtask() },
        ] {
            check(shape, None);
        }
    }

    #[test]
    fn an_error_without_a_word_of_a_reply_is_the_harnesss() {
        for error in ["APIError", "ProviderAuthError", "UnknownError", "ContextOverflowError", "ErrorOfTomorrow"] {
            check(Shape { error: Some(error), ..Shape::default() }, Some(Signal::ErrorWithoutReply));
            check(Shape { error: Some(error), has_steps: true, ..Shape::default() }, Some(Signal::ErrorWithoutReply));
        }
    }

    #[test]
    fn an_abort_before_anything_came_is_the_harnesss() {
        let aborted = Shape { error: Some("MessageAbortedError"), ..Shape::default() };
        check(aborted.clone(), Some(Signal::AbortedWithoutReply));
        check(Shape { has_words: true, ..aborted.clone() }, None);
        check(Shape { tools: vec!["bash"], ..aborted }, None);
    }

    #[test]
    fn a_conversation_too_long_to_be_compacted_is_the_harnesss() {
        let overflow =
            Shape { error: Some("ContextOverflowError"), is_summary: true, finish: Some("error"), ..Shape::default() };
        check(overflow.clone(), Some(Signal::CompactionOverflow));
        check(Shape { has_words: true, ..overflow }, None);
    }

    #[test]
    fn an_error_with_a_part_of_a_reply_leaves_it_the_models() {
        for error in ["APIError", "StructuredOutputError", "ContentFilterError", "MessageOutputLengthError"] {
            check(Shape { error: Some(error), has_words: true, ..Shape::default() }, None);
            check(Shape { error: Some(error), tools: vec!["read"], ..Shape::default() }, None);
        }
    }

    #[test]
    fn synthetic_text_is_likely_the_harnesss_when_it_is_all_there_is() {
        let synthetic = Shape { has_synthetic: true, ..Shape::default() };
        check(synthetic.clone(), Some(Signal::SyntheticTextLikely));
        check(Shape { has_steps: true, ..synthetic.clone() }, None);
        check(Shape { has_words: true, ..synthetic.clone() }, None);
        check(Shape { has_usage: true, ..synthetic.clone() }, None);
        check(Shape { tools: vec!["read"], ..synthetic }, None);
    }

    #[test]
    fn no_usage_an_empty_answer_and_an_unknown_end_are_no_signals() {
        check(Shape { has_words: true, ..Shape::default() }, None);
        check(Shape { finish: Some("unknown"), has_steps: true, ..Shape::default() }, None);
        check(Shape { finish: Some("stop"), is_summary: true, has_words: true, ..Shape::default() }, None);
        check(Shape::default(), None);
    }
}
