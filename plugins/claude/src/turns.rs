//! Messages: what stands in the assistant's and in the user's position.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::{Category, Disposition, Role, Sink, SkipRecord, Stopped, ToolUseRecord, TurnRecord};

use crate::content::{Call, Content};
use crate::facts::branch_of;
use crate::place::Place;
use crate::read::Returned;
use crate::results::{Beside, Desk};
use crate::shape::{Attachment, Message, Record};
use crate::signal::Signal;
use crate::{events, results, signal, tools, usage, words};

/// Tells an assistant record: one line of a model's message, or the harness speaking in its place.
pub(crate) fn assistant(
    record: &Record<'_>,
    message: &Message<'_>,
    place: &Place<'_>,
    desk: &mut Desk,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let signal = signal::of_assistant(record, message);
    // On a record that the harness wrote, a model's name is a leftover of the request that failed.
    let model = if signal.is_none() { message.model.filled() } else { None };
    let content = Content::of(message.content, &place.id, model.is_some());
    for call in &content.calls {
        desk.calls.make(call);
    }
    let (group, stop_reason) = (message.id.filled(), message.stop_reason.filled());
    let environment = Environment::of(record);

    let mut turn = place.turn(Role::Assistant);
    turn.group(group.as_deref()).model(model.as_deref()).stop_reason(stop_reason.as_deref());
    fill(&mut turn, &content, &environment, place);
    if let Some(usage) = usage::of(message.usage) {
        // Each line of a message repeats the usage of the whole.
        if group.is_some() {
            turn.usage_snapshot(usage)
        } else {
            turn.usage(usage)
        };
    }
    if let Some(signal) = signal {
        turn.harness_generated(signal.json());
    }
    sink.turn(&turn)?;
    let beside = results::tell(&content.results, record, place, desk, sink)?;
    events::blocks(&content.rest, place, sink)?;
    beside.tell(place, sink)
}

/// Tells a user record: a prompt, the harness's words, results of tool calls, or results with words beside them.
pub(crate) fn user(
    record: &Record<'_>,
    message: &Message<'_>,
    content: Content<'_>,
    place: &Place<'_>,
    returned: Returned,
    desk: &mut Desk,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let signal = match &place.branch {
        _ if place.is_helpers => Some(Signal::HelperPrompt),
        Some(_) => words::of_agents_prompt(record, &content.text),
        None => words::of_user(record, &content.text),
    };
    let content = if signal.is_none() { typed(message.content, content, place) } else { content };
    let beside = match returned {
        Returned::Now => results::tell(&content.results, record, place, desk, sink)?,
        Returned::Later => Beside::default(),
    };
    let is_results_only = !content.results.is_empty()
        && content.text.is_empty()
        && content.thinking.is_none()
        && content.calls.is_empty()
        && content.rest.is_empty();
    if is_results_only && place.is_part {
        // What accounts for the record leads on as well.
    } else if is_results_only {
        // Records that follow name this one as their parent, which only a skipped record can lead on.
        sink.skip(&place.link(SkipRecord::new(Disposition::Folded, "tool result", place.origin)))?;
    } else {
        let environment = Environment::of(record);
        let mut turn = place.turn(Role::User);
        fill(&mut turn, &content, &environment, place);
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)?;
    }
    events::blocks(&content.rest, place, sink)?;
    beside.tell(place, sink)
}

/// Tells a prompt that was typed while Claude worked, and that no user record repeats.
pub(crate) fn queued(
    record: &Record<'_>,
    attachment: &Attachment<'_>,
    place: &Place<'_>,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let content = Content::of(attachment.prompt, &place.id, false);
    let signal = words::of_queued(record, attachment, &content.text);
    // What the harness put beside a prompt is in the attachment, which is told below.
    let content = if signal.is_none() { typed(attachment.prompt, content, place) } else { content };
    let environment = Environment::of(record);
    let mut turn = place.turn(Role::User);
    fill(&mut turn, &content, &environment, place);
    if let Some(signal) = signal {
        turn.harness_generated(signal.json());
    }
    sink.turn(&turn)?;
    let data = format!(r#"{{"attachment":{}}}"#, record.attachment.json().unwrap_or("null"));
    sink.event(place.part("attachment").data(&data))
}

/// A prompt's content without the blocks that the harness put beside what was typed.
fn typed<'a>(field: Field<'a>, content: Content<'a>, place: &Place<'_>) -> Content<'a> {
    if content.text.is_empty() || !field.json().is_some_and(|json| json.starts_with('[')) {
        return content;
    }
    let is_harness = |text: &str| words::of_text(text).is_some();
    let without = Content::without(field, &place.id, is_harness);
    // A block that nothing was typed beside is shown as it is.
    if without.text.is_empty() { content } else { without }
}

/// Where a record was made.
struct Environment<'a> {
    cwd: Option<std::borrow::Cow<'a, str>>,
    branch: Option<std::borrow::Cow<'a, str>>,
}

impl<'a> Environment<'a> {
    fn of(record: &Record<'a>) -> Self {
        Self { cwd: record.cwd.filled(), branch: branch_of(record) }
    }
}

fn fill<'t>(turn: &mut TurnRecord<'t>, content: &'t Content<'_>, environment: &'t Environment<'_>, place: &Place<'_>) {
    turn.text(&content.text).thinking(content.thinking.as_deref());
    for Call { id, name, input } in &content.calls {
        let category = tools::category_of(name);
        let mut call = ToolUseRecord::new(id, name, input, place.origin).category(category);
        if category == Category::FILE_WRITE {
            call = call.write_needs_result();
        }
        turn.tool_use(call);
    }
    if environment.cwd.is_some() || environment.branch.is_some() {
        turn.environment(environment.cwd.as_deref(), environment.branch.as_deref(), None);
    }
}
