//! Messages: what the human, a model, an extension and a command's output said.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::{Category, Role, Sink, Stopped, ToolUseRecord, TurnRecord};

use crate::content::{Call, Content};
use crate::edits::Edit;
use crate::place::Place;
use crate::shape::Message;
use crate::signal::{self, Signal};
use crate::tools::{self, BASH};
use crate::{events, results, usage};

/// Whether a record of that kind, with that message, is told as a turn.
pub(crate) fn is_turn(kind: Option<&str>, message: Option<&Message<'_>>) -> bool {
    const ROLES: [&str; 5] = ["user", "assistant", "bashExecution", "custom", "hookMessage"];
    match (kind, message.and_then(|message| message.role.text()).as_deref()) {
        (Some("message"), Some(role)) => ROLES.contains(&role),
        (Some("custom_message"), _) => true,
        _ => false,
    }
}

/// Tells a message at `place`; `json` is its record or, in a sub-agent's branch, itself.
pub(crate) fn tell(
    message: &Message<'_>,
    json: &str,
    place: &Place<'_>,
    working_dir: Option<&str>,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    match message.role.text().as_deref() {
        Some("user") => user(message, place, working_dir, sink),
        Some("assistant") => assistant(message, place, working_dir, sink),
        Some("toolResult") => results::tell(message, place, sink),
        Some("bashExecution") => command(message, place, working_dir, sink),
        Some("custom" | "hookMessage") => {
            let words = Words {
                content: message.content,
                custom_type: message.custom_type,
                display: message.display,
                details: message.details,
            };
            extension(&words, place, working_dir, sink)
        }
        // Summaries that Pi keeps in memory as messages, should one be written out.
        Some("branchSummary") => events::named("branch_summary", json, place, sink),
        Some("compactionSummary") => events::named("compaction", json, place, sink),
        _ => events::named("message", json, place, sink),
    }
}

fn user(
    message: &Message<'_>,
    place: &Place<'_>,
    working_dir: Option<&str>,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let content = Content::of(message.content, &place.id);
    let mut turn = turn(Role::User, place, working_dir);
    turn.text(&content.text);
    sink.turn(&turn)?;
    events::parts(&content.rest, place, sink)
}

fn assistant(
    message: &Message<'_>,
    place: &Place<'_>,
    working_dir: Option<&str>,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let content = Content::of(message.content, &place.id);
    let signal = signal::of_assistant(message, &content);
    let is_shell = signal.is_some_and(Signal::is_shell);
    // A shell names the model that was asked, and none that answered.
    let model = message.response_model.filled().or_else(|| message.model.filled()).filter(|_| signal.is_none());
    let (stop_reason, error) = (message.stop_reason.filled(), message.error.text());
    let edits: Vec<Edit> = content.calls.iter().flat_map(|call| Edit::of(call, working_dir)).collect();

    let mut turn = turn(Role::Assistant, place, working_dir);
    turn.text(if is_shell { error.as_deref().unwrap_or_default() } else { &content.text });
    turn.thinking(content.thinking.as_deref()).model(model.as_deref()).stop_reason(stop_reason.as_deref());
    for Call { id, name, arguments } in &content.calls {
        let category = tools::category_of(name);
        let mut call =
            ToolUseRecord::new(id, name, arguments.json().unwrap_or("null"), place.origin).category(category);
        if category == Category::FILE_WRITE {
            call = call.write_needs_result();
        }
        turn.tool_use(call);
    }
    for edit in &edits {
        turn.mutation(edit.record());
    }
    if let Some(usage) = usage::of(message.usage) {
        turn.usage(usage);
    }
    if let Some(signal) = signal {
        turn.harness_generated(signal.json());
    }
    sink.turn(&turn)?;
    let error = message.error.json().filter(|_| !is_shell);
    events::rest(
        "message-error",
        &[("errorMessage", error), ("diagnostics", message.diagnostics.json())],
        place,
        sink,
    )?;
    events::parts(&content.rest, place, sink)
}

/// A command that the human ran with `!`, or with `!!`, which keeps it from the model: the human's, and no model's.
fn command(
    message: &Message<'_>,
    place: &Place<'_>,
    working_dir: Option<&str>,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let (command, output) = (message.command.text().unwrap_or_default(), message.output.text().unwrap_or_default());
    let typed = format!("{}{command}", if message.excluded.flag() { "!!" } else { "!" });
    let (id, input) = (format!("{}/{BASH}", place.id), format!(r#"{{"command":{}}}"#, quoted(&command)));
    let has_failed = message.cancelled.flag() || message.exit_code.json().is_some_and(|code| code != "0");

    let mut turn = turn(Role::User, place, working_dir);
    turn.text(&typed);
    turn.tool_use(
        ToolUseRecord::new(&id, BASH, &input, place.origin)
            .category(tools::category_of(BASH))
            .result(&output, has_failed),
    );
    sink.turn(&turn)
}

/// What an extension shows to the model.
pub(crate) struct Words<'a> {
    pub(crate) content: Field<'a>,
    pub(crate) custom_type: Field<'a>,
    pub(crate) display: Field<'a>,
    pub(crate) details: Field<'a>,
}

/// Tells an extension's words.
pub(crate) fn extension(
    words: &Words<'_>,
    place: &Place<'_>,
    working_dir: Option<&str>,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    let content = Content::of(words.content, &place.id);
    let mut turn = turn(Role::System, place, working_dir);
    turn.text(&content.text).harness_generated(Signal::ExtensionMessage.json());
    sink.turn(&turn)?;
    let Words { custom_type, display, details, .. } = words;
    let fields = [("customType", custom_type.json()), ("details", details.json()), ("display", display.json())];
    events::rest("extension-message", &fields, place, sink)?;
    events::parts(&content.rest, place, sink)
}

fn turn<'p>(role: Role<'p>, place: &'p Place<'_>, working_dir: Option<&'p str>) -> TurnRecord<'p> {
    let mut turn = place.turn(role);
    if working_dir.is_some() {
        turn.environment(working_dir, None, None);
    }
    turn
}
