//! The signals that give away what no model said and no human typed.
//!
//! Every `assistant.message` comes from a model, and what Copilot says itself has kinds of its own. So the kind decides,
//! and in the user's place what the event says of its source. What a text sounds like is no signal.

use crate::shape::Data;

/// Why a turn is the harness's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Assistant: an error that Copilot shows where the answer would stand.
    SessionError,
    /// System: a warning.
    SessionWarning,
    /// System: a piece of information.
    SessionInfo,
    /// System: the notice that something was interrupted.
    Abort,
    /// System: the system's prompt.
    SystemMessage,
    /// User: a notification.
    SystemNotification,
    /// User: Copilot goes on by itself.
    AutopilotContinuation,
    /// User: a skill's text.
    SkillSource,
    /// User: another agent's words.
    AgentSource,
    /// User: another source that is not the user.
    SourceNotUser,
    /// User: a skill's text, by its beginning.
    SkillContext,
}

impl Signal {
    /// Its name, as a JSON string.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Self::SessionError => "\"session-error\"",
            Self::SessionWarning => "\"session-warning\"",
            Self::SessionInfo => "\"session-info\"",
            Self::Abort => "\"abort\"",
            Self::SystemMessage => "\"system-message\"",
            Self::SystemNotification => "\"system-notification\"",
            Self::AutopilotContinuation => "\"autopilot-continuation\"",
            Self::SkillSource => "\"skill-source\"",
            Self::AgentSource => "\"agent-source\"",
            Self::SourceNotUser => "\"source-not-user\"",
            Self::SkillContext => "\"skill-context\"",
        }
    }
}

/// The signal that a user's message shows; `on_branch` when it was said to a sub-agent.
pub(crate) fn of_user(data: &Data<'_>, text: &str, on_branch: bool) -> Option<Signal> {
    if data.is_autopilot.flag() {
        return Some(Signal::AutopilotContinuation);
    }
    match data.source.filled().as_deref() {
        None | Some("user") => {}
        Some(source) if source.starts_with("skill-") => return Some(Signal::SkillSource),
        // What an agent asks a sub-agent is that agent's.
        Some(source) if source.starts_with("agent-") => return (!on_branch).then_some(Signal::AgentSource),
        Some(_) => return Some(Signal::SourceNotUser),
    }
    text.starts_with("<skill-context").then_some(Signal::SkillContext)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(data: &str, expected: Option<Signal>) {
        let data: Data<'_> = serde_json::from_str(data).expect("data");
        assert_eq!(of_user(&data, &data.content.text().unwrap_or_default(), false), expected);
    }

    #[test]
    fn what_autopilot_skills_and_agents_say_is_not_the_users() {
        check(r#"{"content":"Go on","isAutopilotContinuation":true}"#, Some(Signal::AutopilotContinuation));
        check(r#"{"content":"x","source":"skill-pdf"}"#, Some(Signal::SkillSource));
        check(r#"{"content":"x","source":"agent-a1"}"#, Some(Signal::AgentSource));
        check(r#"{"content":"x","source":"schedule"}"#, Some(Signal::SourceNotUser));
        check(r#"{"content":"<skill-context name=\"pdf\">x</skill-context>"}"#, Some(Signal::SkillContext));
    }

    #[test]
    fn what_the_user_says_is_the_users() {
        check(r#"{"content":"Go on"}"#, None);
        check(r#"{"content":"Go on","isAutopilotContinuation":false,"source":"user"}"#, None);
        check(r#"{"content":"Go on","isAutopilotContinuation":"true","source":""}"#, None);
        check(r#"{"content":"Go on","source":null,"agentMode":"autopilot","delivery":"queued"}"#, None);
        check(r#"{"content":"What is <skill-context> for?"}"#, None);
        check(r#"{"content":"rate limit exceeded"}"#, None);
    }

    #[test]
    fn an_agents_words_to_its_sub_agent_are_that_agents() {
        let data: Data<'_> = serde_json::from_str(r#"{"source":"agent-a1"}"#).expect("data");
        assert_eq!(of_user(&data, "x", true), None);
    }
}
