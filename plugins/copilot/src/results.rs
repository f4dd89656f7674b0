//! Tools: calls that the human made, and the results of all of them.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::{DelegationRecord, Disposition, Role, Sink, SkipRecord, Stopped, ToolResultRecord};

use crate::edits::Edit;
use crate::events;
use crate::facts::Facts;
use crate::messages::Call;
use crate::place::Place;
use crate::shape::{Arguments, Data, Outcome, Part};
use crate::streams::{OpenCall, Streams};

/// Tells a call that the human made with `!`: the human's, and no model's.
pub(crate) fn by_user(
    data: &Data<'_>,
    place: &Place<'_>,
    facts: &Facts,
    streams: &mut Streams,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let id = data.call.id().unwrap_or_else(|| format!("{}/0", place.id).into());
    let call = Call::new(id, data.tool.text().unwrap_or_default(), data.arguments, false);
    let arguments: Arguments<'_> = Field::parse(&call.arguments).object().unwrap_or_default();
    let typed = arguments.command.filled().map(|command| format!("!{command}")).unwrap_or_default();
    let mut turn = place.turn(Role::User, &place.id);
    facts.place(&mut turn);
    turn.text(&typed).tool_use(call.told(place));
    streams.call(&call.id);
    sink.turn(&turn)
}

/// Tells that a call begins; of one that no message made, the event is all there is.
pub(crate) fn begins(
    data: &Data<'_>,
    json: &str,
    place: &Place<'_>,
    streams: &Streams,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    if data.call.id().is_some_and(|call| streams.is_called(&call)) {
        return sink.skip(&SkipRecord::new(Disposition::Folded, "told with its call", place.origin));
    }
    events::named("tool.execution_start", json, place, sink)
}

/// Tells the result of a call.
pub(crate) fn ends(
    data: &Data<'_>,
    place: &Place<'_>,
    facts: &Facts,
    streams: &mut Streams,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    // One that names no call belongs to none, and not to another that has no id.
    let call = data.call.id().unwrap_or_else(|| format!("{}/result", place.id).into());
    let outcome: Outcome<'_> = data.result.object().unwrap_or_default();
    let (text, rest) = answer(data, &outcome);
    let is_error =
        data.success.json() == Some("false") || (data.success.json().is_none() && data.error.json().is_some());
    let open = streams.close(&call);
    let detailed = outcome.detailed.text();
    let edits = match &open {
        Some(OpenCall { name, arguments, writes: true, .. }) if !is_error => {
            Edit::of(name, arguments, detailed.as_deref(), facts.working_dir())
        }
        _ => Vec::new(),
    };
    let asked = open.as_ref().and_then(OpenCall::prompt);
    let agent = open.as_ref().map(|open| agent_of(streams, open));

    let mut result = ToolResultRecord::new(&call, &text, is_error, place.origin);
    result.timestamp(&place.time);
    for edit in &edits {
        result.mutation(edit.record(&call));
    }
    if let (Some(asked), Some(agent)) = (&asked, &agent) {
        result.delegation(DelegationRecord::new(agent, asked).result(Some(&text)));
    }
    sink.tool_result(&result)?;
    for part in rest {
        events::rest("content-block", &[("block", Some(part))], place, None, sink)?;
    }
    Ok(())
}

/// The agent that a call started, by the name that it was said to start under, or that was asked for.
fn agent_of(streams: &Streams, open: &OpenCall) -> String {
    let arguments: Arguments<'_> = Field::parse(&open.arguments).object().unwrap_or_default();
    let asked = || arguments.agent_type.filled().map(String::from);
    streams.agent_of(&open.id).map(str::to_owned).or_else(asked).unwrap_or_else(|| open.name.clone())
}

/// What a tool answered, and the parts of it that are no text.
fn answer<'a>(data: &Data<'a>, outcome: &Outcome<'a>) -> (Cow<'a, str>, Vec<&'a str>) {
    let mut texts: Vec<Cow<'_, str>> = Vec::new();
    texts.extend(data.result.text().or_else(|| outcome.content.text()));
    let mut rest = Vec::new();
    for field in outcome.contents.list().unwrap_or_default() {
        let part: Part<'_> = field.object_or_default();
        let kind = part.kind.filled().unwrap_or("part".into());
        // Texts stand in the content as well.
        if kind != "text" && kind != "terminal" {
            texts.push(placeholder(&part, &kind).into());
            rest.push(field.json().unwrap_or("null"));
        }
    }
    if texts.iter().all(|text| text.is_empty()) {
        let error: Part<'_> = data.error.object().unwrap_or_default();
        texts.extend(error.message.text().or_else(|| data.error.text()));
    }
    texts.retain(|text| !text.is_empty());
    let text = if texts.len() > 1 { texts.join("\n").into() } else { texts.pop().unwrap_or_default() };
    (text, rest)
}

/// What stands in the text for a part: `[image: image/png, 12345 bytes]`.
fn placeholder(part: &Part<'_>, kind: &str) -> String {
    let mut notes: Vec<Cow<'_, str>> = part.media_type.filled().into_iter().collect();
    if let Some(data) = part.data.text() {
        let digits = data.trim_end().trim_end_matches('=').len();
        notes.push(format!("{} bytes", digits / 4 * 3 + digits % 4 * 3 / 4).into());
    }
    if notes.is_empty() { format!("[{kind}]") } else { format!("[{kind}: {}]", notes.join(", ")) }
}
