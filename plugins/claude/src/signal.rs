//! The signals that give away what the harness wrote itself, and which of them an assistant record shows.
//!
//! A signal is something the format does on purpose. What a text sounds like, usage of zero and a stop sequence are
//! none: models quote error messages, and gateways report no usage.

use crate::shape::{Message, Record};

/// What Claude Code writes for a model where no model answered.
pub(crate) const PLACEHOLDER_MODEL: &str = "<synthetic>";

/// Why a turn is the harness's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Assistant: the record is flagged as an API error shown as a reply.
    ApiErrorFlag,
    /// Assistant: the model is [`PLACEHOLDER_MODEL`].
    PlaceholderModel,
    /// Assistant: the model is another name in angle brackets, which no model has.
    PlaceholderModelLikely,
    /// User: the record is marked as not typed.
    MetaRecord,
    /// User: the record names an origin, and it is not a human.
    OriginNotHuman,
    /// User: a notification that waited in the queue of prompts.
    QueuedNotification,
    /// User: another agent's message, in a team.
    TeamMessage,
    /// User: what the harness asks a helper of its own, such as the one that sums a session up.
    HelperPrompt,
    /// User: nothing but elements that only the harness writes.
    HarnessWrapper,
    /// User: the caveat that introduces what local commands printed.
    LocalCommandCaveat,
    /// User: the notice that the user interrupted.
    InterruptionNotice,
}

impl Signal {
    /// Its name, as a JSON string.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Self::ApiErrorFlag => "\"api-error-flag\"",
            Self::PlaceholderModel => "\"placeholder-model\"",
            Self::PlaceholderModelLikely => "\"placeholder-model-likely\"",
            Self::MetaRecord => "\"meta-record\"",
            Self::OriginNotHuman => "\"origin-not-human\"",
            Self::QueuedNotification => "\"queued-notification\"",
            Self::TeamMessage => "\"team-message\"",
            Self::HelperPrompt => "\"helper-prompt\"",
            Self::HarnessWrapper => "\"harness-wrapper\"",
            Self::LocalCommandCaveat => "\"local-command-caveat\"",
            Self::InterruptionNotice => "\"interruption-notice\"",
        }
    }
}

/// The signal that an assistant record shows.
pub(crate) fn of_assistant(record: &Record<'_>, message: &Message<'_>) -> Option<Signal> {
    // The flag says more than the placeholder that usually comes with it.
    if record.is_api_error.flag() {
        return Some(Signal::ApiErrorFlag);
    }
    let model = message.model.text()?;
    let model = model.trim();
    if model == PLACEHOLDER_MODEL {
        Some(Signal::PlaceholderModel)
    } else if model.starts_with('<') && model.ends_with('>') {
        Some(Signal::PlaceholderModelLikely)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(record: &str, expected: Option<Signal>) {
        let json = record.replace("PLACEHOLDER", PLACEHOLDER_MODEL);
        let record: Record<'_> = serde_json::from_str(&json).expect("a record");
        let message = Message::of(record.message).expect("a message");
        assert_eq!(of_assistant(&record, &message), expected, "{json}");
    }

    #[test]
    fn the_placeholder_for_a_model_is_a_signal_with_and_without_the_flag() {
        check(r#"{"message":{"model":"PLACEHOLDER"}}"#, Some(Signal::PlaceholderModel));
        check(r#"{"isApiErrorMessage":false,"message":{"model":"PLACEHOLDER"}}"#, Some(Signal::PlaceholderModel));
        check(r#"{"isApiErrorMessage":null,"message":{"model":"PLACEHOLDER"}}"#, Some(Signal::PlaceholderModel));
        check(r#"{"isApiErrorMessage":true,"message":{"model":"PLACEHOLDER"}}"#, Some(Signal::ApiErrorFlag));
    }

    #[test]
    fn white_space_around_the_placeholder_hides_it_no_more() {
        check(r#"{"message":{"model":"PLACEHOLDER "}}"#, Some(Signal::PlaceholderModel));
        check(r#"{"message":{"model":"\tPLACEHOLDER\n"}}"#, Some(Signal::PlaceholderModel));
        check(r#"{"message":{"model":" <offline> "}}"#, Some(Signal::PlaceholderModelLikely));
        check(r#"{"message":{"model":" m-1 "}}"#, None);
    }

    #[test]
    fn the_api_error_flag_is_a_signal_whatever_the_model() {
        check(r#"{"isApiErrorMessage":true,"message":{"model":"m-1"}}"#, Some(Signal::ApiErrorFlag));
        check(r#"{"isApiErrorMessage":true,"message":{}}"#, Some(Signal::ApiErrorFlag));
        check(r#"{"is_api_error_message":true,"message":{"model":"m-1"}}"#, Some(Signal::ApiErrorFlag));
    }

    #[test]
    fn another_name_in_angle_brackets_is_likely_a_placeholder() {
        check(r#"{"message":{"model":"<offline>"}}"#, Some(Signal::PlaceholderModelLikely));
        check(r#"{"message":{"model":"<>"}}"#, Some(Signal::PlaceholderModelLikely));
        check(r#"{"message":{"model":"<"}}"#, None);
        check(r#"{"message":{"model":"m<1>"}}"#, None);
    }

    #[test]
    fn only_a_literal_true_is_the_flag() {
        for value in ["false", "null", "\"true\"", "1", "{}"] {
            check(&format!(r#"{{"isApiErrorMessage":{value},"message":{{"model":"m-1"}}}}"#), None);
        }
    }

    #[test]
    fn no_usage_a_stop_sequence_and_a_bare_id_are_no_signals() {
        check(
            r#"{"message":{"id":"0f0e0d0c-0000-4000-8000-000000000001","model":"m-1","stop_reason":"stop_sequence",
                "stop_sequence":"","usage":{"input_tokens":0,"output_tokens":0}}}"#,
            None,
        );
        check(r#"{"message":{"model":"m-1"}}"#, None);
    }

    #[test]
    fn no_model_is_no_signal_even_with_an_errors_text() {
        check(r#"{"message":{"content":"API Error: 500","usage":{"output_tokens":0}}}"#, None);
        check(r#"{"message":{"model":null,"content":"API Error: 500"}}"#, None);
    }

    #[test]
    fn a_model_that_quotes_an_error_is_a_model() {
        for text in ["API Error: 500 ..", "You've hit your session limit", "No response requested.", "Not logged in"] {
            check(&format!(r#"{{"message":{{"model":"m-1","content":"{text}"}}}}"#), None);
        }
    }

    #[test]
    fn flags_about_display_are_no_signals() {
        check(
            r#"{"isVirtual":true,"isVisibleInTranscriptOnly":true,"isMeta":true,"error":"unknown","message":{"model":"m-1"}}"#,
            None,
        );
    }
}
