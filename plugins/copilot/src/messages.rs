//! Messages: what the human, a model, the system and a sub-agent's caller said.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::{Category, Disposition, Role, Sink, SkipRecord, Stopped, ToolUseRecord};

use crate::events;
use crate::facts::Facts;
use crate::place::Place;
use crate::shape::{Data, Record, Request};
use crate::signal::{self, Signal};
use crate::streams::{At, OpenCall, Reasoning, Stream, Streams, digest};
use crate::{tools, usage};

/// Tells a user's message, or what stands in the user's place.
pub(crate) fn user(
    record: &Record<'_>,
    data: &Data<'_>,
    place: &Place<'_>,
    facts: &Facts,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let text = text_of(data.content, record.prompt);
    let mut turn = place.turn(Role::User, &place.id);
    facts.place(&mut turn);
    turn.text(&text);
    if let Some(signal) = signal::of_user(data, &text, place.branch.is_some()) {
        turn.harness_generated(signal.json());
    }
    sink.turn(&turn)?;
    // What the model was shown instead: the prompt with the harness's additions.
    let shown = data.transformed.text().filter(|shown| *shown != text).and(data.transformed.json());
    let attachments = data.attachments.json().filter(|json| *json != "[]");
    events::rest(
        "user-message",
        &[("attachments", attachments), ("transformedContent", shown)],
        place,
        Some(&place.id),
        sink,
    )
}

/// Tells a message of the system's, or a notification in the user's place.
pub(crate) fn system(
    role: Role<'_>,
    signal: Signal,
    data: &Data<'_>,
    place: &Place<'_>,
    facts: &Facts,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let text = text_of(data.content, Field::default());
    let mut turn = place.turn(role, &place.id);
    facts.place(&mut turn);
    turn.text(&text).harness_generated(signal.json());
    sink.turn(&turn)?;
    events::rest("notification", &[("kind", data.kind.json())], place, Some(&place.id), sink)
}

/// Tells a model's message: one line of an answer, whose lines share the API's call.
pub(crate) fn assistant(
    record: &Record<'_>,
    data: &Data<'_>,
    place: &Place<'_>,
    facts: &Facts,
    (streams, at): (&mut Streams, At),
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let id = data.message_id.id().unwrap_or_else(|| place.id.clone());
    let text = text_of(data.content, record.output);
    let calls = calls(data, &id);
    let api_call = data.api_call.id();

    let stream = streams.at(at);
    stream.begin(api_call.as_deref());
    let before = std::mem::take(&mut stream.reasoning);
    for reasoning in &before {
        let reason = "told with its message";
        sink.skip(&SkipRecord::new(Disposition::Folded, reason, reasoning.origin))?;
    }
    let thinking = thinking(&before, data.reasoning.filled());
    stream.last_thought = data.reasoning.filled().map_or(0, |thought| digest(&thought));
    // Older versions do not name the model in the message; the event that chose it did.
    let model = data.model.filled().map(Cow::into_owned).or_else(|| stream.model.clone());

    let mut turn = place.turn(Role::Assistant, &id);
    facts.place(&mut turn);
    turn.text(&text).thinking(thinking.as_deref()).model(model.as_deref()).group(api_call.as_deref());
    for call in &calls {
        turn.tool_use(call.told(place));
    }
    if let Some(usage) = usage::of_message(data) {
        // Lines of one call may each have the whole count.
        if api_call.is_some() {
            turn.usage_snapshot(usage)
        } else {
            turn.usage(usage)
        };
    }
    sink.turn(&turn)?;
    for call in calls {
        streams.call(&call.id);
        streams.at(at).open.extend(call.open());
    }
    let fields = [("citations", data.citations.json()), ("serverTools", data.server_tools.json())];
    events::rest("assistant-message", &fields, place, Some(&id), sink)
}

/// Keeps reasoning until its message comes; says what stood in one already.
pub(crate) fn reasoning(
    data: &Data<'_>,
    place: &Place<'_>,
    stream: &mut Stream,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let text = text_of(data.content, Field::default());
    if !text.is_empty() && digest(&text) == stream.last_thought {
        return sink.skip(&SkipRecord::new(Disposition::Duplicate, "stood in its message", place.origin));
    }
    let (id, time) = (place.id.clone().into_owned(), place.time.clone().into_owned());
    stream.reasoning.push(Reasoning { id, time, origin: place.origin, text: text.into_owned() });
    Ok(())
}

/// Tells reasoning for which no message came.
pub(crate) fn left_alone(stream: &mut Stream, sink: &mut Sink<'_>) -> Result<(), Stopped> {
    for reasoning in std::mem::take(&mut stream.reasoning) {
        let Reasoning { id, time, origin, text } = reasoning;
        let place = Place { id: id.into(), time: time.into(), branch: stream.branch.clone(), origin };
        let mut turn = place.turn(Role::Assistant, &place.id);
        turn.thinking(Some(&text)).model(stream.model.as_deref());
        sink.turn(&turn)?;
    }
    Ok(())
}

fn thinking(before: &[Reasoning], own: Option<Cow<'_, str>>) -> Option<String> {
    let own = own.filter(|own| before.iter().all(|reasoning| reasoning.text != **own));
    let thoughts: Vec<&str> = before.iter().map(|reasoning| reasoning.text.as_str()).chain(own.as_deref()).collect();
    Some(thoughts.join("\n")).filter(|thinking| !thinking.is_empty())
}

/// The text of a message, in the one field or the other; a value of another kind is told as it stands.
pub(crate) fn text_of<'a>(field: Field<'a>, other: Field<'a>) -> Cow<'a, str> {
    let as_it_stands = || field.json().or(other.json()).filter(|json| !json.starts_with('"')).map(Cow::Borrowed);
    field.text().or_else(|| other.text()).or_else(as_it_stands).unwrap_or_default()
}

/// One tool call.
pub(crate) struct Call<'a> {
    /// Id that results refer to.
    pub(crate) id: Cow<'a, str>,
    /// The tool's name.
    pub(crate) name: Cow<'a, str>,
    /// Its arguments as JSON.
    pub(crate) arguments: Cow<'a, str>,
    category: Category,
}

impl<'a> Call<'a> {
    /// A call of the tool `name`; `of_server` when a server offers it.
    pub(crate) fn new(id: Cow<'a, str>, name: Cow<'a, str>, arguments: Field<'a>, of_server: bool) -> Self {
        let arguments = arguments_of(arguments);
        let category = tools::category_of(&name, &arguments, of_server);
        Self { id, name, arguments, category }
    }

    /// As it is told.
    pub(crate) fn told(&self, place: &Place<'_>) -> ToolUseRecord<'_> {
        let call = ToolUseRecord::new(&self.id, &self.name, &self.arguments, place.origin).category(self.category);
        if self.writes() { call.write_needs_result() } else { call }
    }

    /// Whether it writes files.
    pub(crate) fn writes(&self) -> bool {
        self.category == Category::FILE_WRITE
    }

    /// What its result will need, if anything.
    pub(crate) fn open(self) -> Option<OpenCall> {
        let is_write = self.writes();
        (is_write || self.category == Category::DELEGATION).then(|| OpenCall {
            id: self.id.into_owned(),
            name: self.name.into_owned(),
            arguments: self.arguments.into_owned(),
            writes: is_write,
        })
    }
}

fn calls<'a>(data: &Data<'a>, turn: &str) -> Vec<Call<'a>> {
    let requests = data.requests.list().unwrap_or_default().into_iter();
    requests
        .enumerate()
        .map(|(nth, request)| {
            let request: Request<'_> = request.object_or_default();
            // Without an id of its own it must not be taken for another call without one.
            let id = request.id.id().unwrap_or_else(|| format!("{turn}/{nth}").into());
            let name = request.name.text().unwrap_or_default();
            Call::new(id, name, request.arguments, request.mcp_server.filled().is_some())
        })
        .collect()
}

/// The arguments as JSON: older versions have them as a text that holds JSON.
fn arguments_of(field: Field<'_>) -> Cow<'_, str> {
    let is_object = |text: &Cow<'_, str>| Field::parse(text).is_object();
    let json = field.json().unwrap_or("null");
    field.text().filter(is_object).unwrap_or(Cow::Borrowed(json))
}
