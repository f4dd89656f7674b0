//! The signals that give away what the harness wrote itself.
//!
//! The format has no flag for it. What decides is a type of record that only the CLI writes, or one of its fixed
//! texts as a whole in a message that names neither a model nor tokens, as none that a model wrote does.

use toolpath_plugin_api::kit::field::Field;

use crate::content::{Content, parts};
use crate::shape::{Function, Part, Record};

/// Why a turn is the harness's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Model: stands for a response that broke off.
    InterruptedResponse,
    /// Model: says that binary content has come.
    BinaryAcknowledgement,
    /// Model: answers the summary of a compression.
    CompressionAcknowledgement,
    /// Model: calls a skill that the user asked for.
    SkillActivation,
    /// A record of the type `error`.
    ErrorRecord,
    /// A record of the type `warning`.
    WarningRecord,
    /// A record of the type `info` that is a text.
    InfoRecord,
    /// User: where the session runs.
    SessionContext,
    /// User: what a hook said.
    HookContext,
    /// User: asks the model to leave a loop.
    LoopRecovery,
    /// User: asks the model to go on after a response that could not be used.
    ContinueRequest,
    /// User: in a session that is a sub-agent's, where nobody types.
    SubAgentPrompt,
}

impl Signal {
    /// Its name, as a JSON string.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Self::InterruptedResponse => "\"interrupted-response\"",
            Self::BinaryAcknowledgement => "\"binary-acknowledgement\"",
            Self::CompressionAcknowledgement => "\"compression-acknowledgement\"",
            Self::SkillActivation => "\"skill-activation\"",
            Self::ErrorRecord => "\"error-record\"",
            Self::WarningRecord => "\"warning-record\"",
            Self::InfoRecord => "\"info-record\"",
            Self::SessionContext => "\"session-context\"",
            Self::HookContext => "\"hook-context\"",
            Self::LoopRecovery => "\"loop-recovery\"",
            Self::ContinueRequest => "\"continue-request\"",
            Self::SubAgentPrompt => "\"sub-agent-prompt\"",
        }
    }
}

const INTERRUPTED: &str = "[The previous response was interrupted before it completed.]";
const BINARY: &str = "Binary content received. Proceeding with analysis.";
const COMPRESSED: &str = "Got it. Thanks for the additional context!";
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The signal that a record in the model's position shows; `after_summary` when it follows that of a compression.
pub(crate) fn of_model(record: &Record<'_>, content: &Content<'_>, after_summary: bool) -> Option<Signal> {
    if record.model.json().is_some() || record.tokens.json().is_some() {
        return None;
    }
    let says_only = |text: &str| content.text == text && content.calls.is_empty() && content.rest.is_empty();
    let has_no_calls = record.calls.list().is_none_or(|calls| calls.is_empty());
    if says_only(INTERRUPTED) && has_no_calls {
        Some(Signal::InterruptedResponse)
    } else if after_summary && says_only(COMPRESSED) && has_no_calls {
        Some(Signal::CompressionAcknowledgement)
    } else if is_binary_acknowledgement(record.body()) {
        Some(Signal::BinaryAcknowledgement)
    } else if is_skill_activation(record.body()) {
        Some(Signal::SkillActivation)
    } else {
        None
    }
}

/// The only part of a list.
fn only_part(field: Field<'_>) -> Option<Part<'_>> {
    match *parts(field).as_slice() {
        [part] if field.is_list() => part.object(),
        _ => None,
    }
}

fn is_binary_acknowledgement(field: Field<'_>) -> bool {
    only_part(field).is_some_and(|part| {
        part.thought.flag()
            && part.text.text().as_deref() == Some(BINARY)
            && part.signature.text().as_deref() == Some(NO_SIGNATURE)
    })
}

fn is_skill_activation(field: Field<'_>) -> bool {
    only_part(field).is_some_and(|part| {
        let call: Option<Function<'_>> = part.call.object();
        let is_bare = part.signature.json().is_none() && part.text.json().is_none();
        is_bare && call.is_some_and(|call| call.name.text().as_deref() == Some("activate_skill"))
    })
}

/// The signal that a text in the user's position shows.
pub(crate) fn of_user(text: &str) -> Option<Signal> {
    let text = text.trim();
    if is_element(text, "session_context") {
        Some(Signal::SessionContext)
    } else if is_element(text, "hook_context") {
        Some(Signal::HookContext)
    } else if text.starts_with("System: Potential loop detected.") {
        Some(Signal::LoopRecovery)
    } else if text == "System: Please continue." {
        Some(Signal::ContinueRequest)
    } else {
        None
    }
}

/// Whether a text in the user's position is what a model made of the conversation so far.
pub(crate) fn is_summary(text: &str) -> bool {
    is_element(text.trim(), "state_snapshot")
}

/// Whether a text is one element of this name, with nothing beside it.
fn is_element(text: &str, name: &str) -> bool {
    let inner = text.strip_prefix(&*format!("<{name}>")).and_then(|rest| rest.strip_suffix(&*format!("</{name}>")));
    inner.is_some_and(|inner| !inner.contains(&*format!("</{name}>")))
}

/// The signal of a record of the type `kind` that nobody but the CLI writes.
pub(crate) fn of_notice(kind: &str, content: Field<'_>) -> Option<Signal> {
    match kind {
        "error" => Some(Signal::ErrorRecord),
        "warning" => Some(Signal::WarningRecord),
        // As a list it is data that a tool read.
        "info" if content.text().is_some() => Some(Signal::InfoRecord),
        _ => None,
    }
}
