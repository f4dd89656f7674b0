//! The signals that give away what the harness wrote itself.
//!
//! Cursor makes an empty reply first and fills it as the model answers; what failed before stays empty and gets an error
//! or a notice beside it. Zero usage and the model `default` are the rule in recent versions, and no signals.

/// Why a turn is the harness's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Assistant: an error, and nothing of a reply.
    ErrorWithoutReply,
    /// Assistant: a notice of the service's state, and nothing of a reply.
    ServiceStatusLikely,
    /// Assistant: the last reply of a session that was stopped, and it is empty.
    AbortedWithoutReplyLikely,
    /// Assistant: a transcript's turn ended in an error before anything was said.
    TurnEndedWithoutReply,
    /// User: nothing but elements that Cursor adds.
    ContextOnly,
    /// User: the first prompt of a sub-agent's session, which the calling agent wrote.
    SubAgentPrompt,
}

impl Signal {
    /// Its name, as a JSON string.
    pub(crate) fn json(self) -> &'static str {
        match self {
            Self::ErrorWithoutReply => "\"error-without-reply\"",
            Self::ServiceStatusLikely => "\"service-status-likely\"",
            Self::AbortedWithoutReplyLikely => "\"aborted-without-reply-likely\"",
            Self::TurnEndedWithoutReply => "\"turn-ended-without-reply\"",
            Self::ContextOnly => "\"context-only\"",
            Self::SubAgentPrompt => "\"sub-agent-prompt\"",
        }
    }
}

/// The shape of a reply, as far as signals look at it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    /// It has text, reasoning, or a tool call.
    pub(crate) has_reply: bool,
    /// It is a bubble for reasoning, which may be hidden.
    pub(crate) is_thought: bool,
    /// It has an error.
    pub(crate) has_error: bool,
    /// It has a notice of the service's state.
    pub(crate) has_status: bool,
    /// It is the last of a session that was stopped.
    pub(crate) is_aborted: bool,
}

/// The signal that a reply shows.
pub(crate) fn of_reply(reply: Shape) -> Option<Signal> {
    if reply.has_reply {
        None
    } else if reply.has_error {
        Some(Signal::ErrorWithoutReply)
    } else if reply.is_thought {
        None
    } else if reply.has_status {
        Some(Signal::ServiceStatusLikely)
    } else if reply.is_aborted {
        Some(Signal::AbortedWithoutReplyLikely)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_reply_is_the_harnesss_where_something_stands_beside_it() {
        let empty = Shape::default();
        for (shape, signal) in [
            (Shape { has_error: true, ..empty }, Some(Signal::ErrorWithoutReply)),
            (Shape { has_error: true, has_status: true, is_aborted: true, ..empty }, Some(Signal::ErrorWithoutReply)),
            (Shape { has_status: true, ..empty }, Some(Signal::ServiceStatusLikely)),
            (Shape { is_aborted: true, ..empty }, Some(Signal::AbortedWithoutReplyLikely)),
            (empty, None),
            (Shape { is_thought: true, is_aborted: true, ..empty }, None),
        ] {
            assert_eq!(of_reply(shape), signal, "{shape:?}");
        }
    }

    #[test]
    fn a_part_of_a_reply_is_a_models_whatever_stands_beside_it() {
        let reply = Shape { has_reply: true, has_error: true, has_status: true, is_aborted: true, is_thought: false };
        assert_eq!(of_reply(reply), None);
    }
}
