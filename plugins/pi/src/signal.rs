//! The signals that give away what the harness wrote itself.
//!
//! Pi has no flag for it. What counts is a message's shape: an answer that failed before anything of it arrived is a
//! shell which Pi made, and names the model that was asked, not one that answered. What a text sounds like is none.

use toolpath_plugin_api::kit::field::Field;

use crate::content::Content;
use crate::shape::Message;
use crate::usage;

/// Why a turn is the harness's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Assistant: stopped by an error which it names, without content and without usage.
    FailureShell,
    /// Assistant: stopped by the user, without content and without usage.
    AbortedShell,
    /// Assistant: one of these with usage: a call was made, and nothing of its answer arrived.
    ShellWithUsage,
    /// Assistant: Pi's provider for tests, which gives prepared answers.
    TestProvider,
    /// System: words that an extension shows to the model.
    ExtensionMessage,
}

impl Signal {
    /// Its name, as a JSON string.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Self::FailureShell => "\"failure-shell\"",
            Self::AbortedShell => "\"aborted-shell\"",
            Self::ShellWithUsage => "\"shell-with-usage\"",
            Self::TestProvider => "\"test-provider\"",
            Self::ExtensionMessage => "\"extension-message\"",
        }
    }

    /// Whether the turn's text is the reason why there is no answer.
    pub(crate) fn is_shell(self) -> bool {
        matches!(self, Self::FailureShell | Self::AbortedShell | Self::ShellWithUsage)
    }
}

/// The signal that an assistant's message shows.
pub(crate) fn of_assistant(message: &Message<'_>, content: &Content<'_>) -> Option<Signal> {
    const TEST_PROVIDER: &str = "faux";
    let is_zero = usage::is_zero(message.usage);
    let shell = match message.stop_reason.text().as_deref() {
        Some("error") => message.error.filled().map(|_| Signal::FailureShell),
        Some("aborted") => Some(Signal::AbortedShell),
        _ => None,
    };
    if let (Some(shell), true) = (shell, content.is_empty) {
        return Some(if is_zero { shell } else { Signal::ShellWithUsage });
    }
    let is_test = |field: Field<'_>| field.text().as_deref() == Some(TEST_PROVIDER);
    (is_test(message.provider) || is_test(message.api)).then_some(Signal::TestProvider)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: &str =
        r#""usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"total":0}}"#;

    #[track_caller]
    fn check(message: &str, expected: Option<Signal>) {
        let json = format!(r#"{{"role":"assistant","model":"m-1","provider":"p",{message}}}"#);
        let message: Message<'_> = serde_json::from_str(&json).expect("a message");
        assert_eq!(of_assistant(&message, &Content::of(message.content, "r")), expected, "{json}");
    }

    #[test]
    fn an_error_without_content_and_usage_is_a_shell() {
        for content in ["[]", r#"[{"type":"text","text":""}]"#] {
            check(
                &format!(r#""content":{content},{ZERO},"stopReason":"error","errorMessage":"429 slow down""#),
                Some(Signal::FailureShell),
            );
        }
        check(r#""content":[],"stopReason":"error","errorMessage":"x""#, Some(Signal::FailureShell));
    }

    #[test]
    fn an_abort_without_content_and_usage_is_a_shell_with_and_without_a_reason() {
        check(
            &format!(r#""content":[],{ZERO},"stopReason":"aborted","errorMessage":"Request was aborted""#),
            Some(Signal::AbortedShell),
        );
        check(&format!(r#""content":[],{ZERO},"stopReason":"aborted""#), Some(Signal::AbortedShell));
    }

    #[test]
    fn a_shell_that_cost_tokens_is_one_of_lesser_confidence() {
        let usage = r#""usage":{"input":120,"output":0}"#;
        for reason in ["error", "aborted"] {
            check(
                &format!(r#""content":[],{usage},"stopReason":"{reason}","errorMessage":"x""#),
                Some(Signal::ShellWithUsage),
            );
        }
    }

    #[test]
    fn an_error_or_an_abort_with_any_content_is_the_models() {
        for content in [
            r#"[{"type":"text","text":"I will"}]"#,
            r#"[{"type":"thinking","thinking":"hm"}]"#,
            r#"[{"type":"thinking","thinking":"","thinkingSignature":"s"}]"#,
            r#"[{"type":"toolCall","id":"t","name":"bash","arguments":{}}]"#,
            r#"[{"type":"text","text":""},{"type":"toolCall","id":"t","name":"bash","arguments":{}}]"#,
        ] {
            for reason in ["error", "aborted"] {
                check(&format!(r#""content":{content},{ZERO},"stopReason":"{reason}","errorMessage":"x""#), None);
            }
        }
    }

    #[test]
    fn an_error_without_a_reason_is_no_shell() {
        check(&format!(r#""content":[],{ZERO},"stopReason":"error""#), None);
        check(&format!(r#""content":[],{ZERO},"stopReason":"error","errorMessage":"""#), None);
    }

    #[test]
    fn zero_usage_an_empty_answer_and_other_reasons_are_no_signals() {
        check(&format!(r#""content":[{{"type":"text","text":"Hi"}}],{ZERO},"stopReason":"stop""#), None);
        check(&format!(r#""content":[],{ZERO},"stopReason":"stop""#), None);
        check(&format!(r#""content":[],{ZERO},"stopReason":"length","errorMessage":"x""#), None);
        check(&format!(r#""content":[],{ZERO},"stopReason":"toolUse""#), None);
        check(&format!(r#""content":[],{ZERO},"errorMessage":"x""#), None);
    }

    #[test]
    fn a_filtered_answer_with_text_is_the_models() {
        check(
            &format!(
                r#""content":[{{"type":"text","text":"As"}}],{ZERO},"stopReason":"error","errorMessage":"Provider finish_reason: content_filter""#
            ),
            None,
        );
    }

    #[test]
    fn prepared_answers_of_the_test_provider_are_likely_no_models() {
        let content = r#""content":[{"type":"text","text":"Hi"}],"stopReason":"stop""#;
        check(&format!(r#""provider":"faux",{content}"#), Some(Signal::TestProvider));
        check(&format!(r#""api":"faux",{content}"#), Some(Signal::TestProvider));
        check(&format!(r#""provider":"fauxpas","api":"openai-responses",{content}"#), None);
    }

    #[test]
    fn a_model_that_quotes_an_error_is_a_model() {
        check(r#""content":[{"type":"text","text":"429 rate limit exceeded"}],"stopReason":"stop""#, None);
    }
}
