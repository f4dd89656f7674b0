//! What Copilot says itself: errors where an answer would stand, warnings, information, and that something was interrupted.

use toolpath_plugin_api::{Role, Sink, Stopped};

use crate::events;
use crate::facts::Facts;
use crate::place::Place;
use crate::shape::Data;
use crate::signal::Signal;

/// The notice that an event of the kind `kind` is, if it is one.
pub(crate) fn of(kind: &str) -> Option<Signal> {
    match kind {
        "session.error" => Some(Signal::SessionError),
        "session.warning" => Some(Signal::SessionWarning),
        "session.info" => Some(Signal::SessionInfo),
        "abort" => Some(Signal::Abort),
        _ => None,
    }
}

/// Tells a notice.
pub(crate) fn tell(
    signal: Signal,
    data: &Data<'_>,
    json: Option<&str>,
    place: &Place<'_>,
    facts: &Facts,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    // An error stands where the answer would; the others stand beside the conversation.
    let (role, stop_reason) = match signal {
        Signal::SessionError => (Role::Assistant, Some("error")),
        Signal::Abort => (Role::System, Some("aborted")),
        _ => (Role::System, None),
    };
    let text = data.message.text().or_else(|| data.reason.text()).unwrap_or_default();
    let mut turn = place.turn(role, &place.id);
    facts.place(&mut turn);
    turn.text(&text).stop_reason(stop_reason).harness_generated(signal.json());
    sink.turn(&turn)?;
    events::rest("notice", &[("data", json)], place, Some(&place.id), sink)
}
