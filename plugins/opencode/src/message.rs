//! Messages with their parts: what stands in the user's and in the assistant's position.

use std::hash::{DefaultHasher, Hash, Hasher};

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::{
    Category, DelegationRecord, Origin, PluginError, Role, Sink, ToolResultRecord, ToolUseRecord,
};

use crate::facts::moment_of;
use crate::parts::{Call, Kind, Part, joined};
use crate::read::{Line, Reader};
use crate::shape::{Error, Input, Message, Metadata, Model, Paths, Time};
use crate::signal::{self, Parent, SHELL_NOTE, Shape, Signal};
use crate::store::Row;
use crate::{edits, tools, usage};

/// A message and its parts.
struct Whole<'a> {
    row: &'a Row,
    message: Message<'a>,
    parts: Vec<Part<'a>>,
    time: String,
}

impl Reader<'_> {
    /// Tells one message and its parts.
    pub(crate) fn message(&mut self, row: &Row, line: &mut Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let rows = self.parts(&line.session, row, sink)?;
        let parts: Vec<Part<'_>> = rows.iter().map(Part::of).collect();
        let message: Message<'_> = row.shape();
        let made: Time<'_> = message.time.object_or_default();
        let time = self.time_of(row, moment_of(made.created));
        let whole = Whole { row, message, parts, time };
        match whole.message.role.text().as_deref() {
            Some("user") => self.user(&whole, line, sink)?,
            Some("assistant") => self.assistant(&whole, line, sink)?,
            _ => self.kept("message", &whole, line, sink)?,
        }
        line.previous = Some(row.id.clone());
        Ok(())
    }

    /// Tells a message that is nobody's words as an event, and its parts as others.
    fn kept(&mut self, kind: &str, whole: &Whole<'_>, line: &Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        self.event(kind, whole.row, &whole.time, line.previous.as_deref(), line, sink)?;
        for part in &whole.parts {
            self.part(part, whole, line, sink)?;
        }
        Ok(())
    }

    fn user(&mut self, whole: &Whole<'_>, line: &mut Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let has = |kind: &Kind<'_>| whole.parts.iter().any(|part| part.kind == *kind);
        let has_words = whole.parts.iter().any(|part| part.kind == Kind::Text && part.words().is_some());
        let compaction = whole.parts.iter().find(|part| part.kind == Kind::Compaction);
        if let Some(part) = compaction.filter(|_| !has_words) {
            line.replay = line.prompt.filter(|_| part.shape.auto.flag() || part.shape.overflow.flag());
            return self.kept("compaction", whole, line, sink);
        }
        let is_synthetic = has(&Kind::Synthetic) && !has_words && !has(&Kind::Subtask);
        let is_said = |part: &Part<'_>| match part.kind {
            Kind::Text => true,
            Kind::Synthetic => is_synthetic,
            _ => false,
        };
        let text = joined(whole.parts.iter().filter_map(|part| match part.kind {
            Kind::File | Kind::Subtask => Some(part.placeholder().into()),
            _ if is_said(part) => part.shape.text.text(),
            _ => None,
        }));
        let digest = digest(&text);
        let replay = line.replay.take();
        let signal = if is_synthetic {
            Some(Signal::SyntheticText)
        } else if replay == Some(digest) {
            Some(Signal::ReplayedPrompt)
        } else if line.is_child && line.branch.is_none() && !line.has_prompt {
            Some(Signal::SubAgentPrompt)
        } else {
            None
        };
        if signal != Some(Signal::SyntheticText) {
            line.prompt = Some(digest);
            line.has_prompt = true;
        }
        if is_synthetic && text.trim() == SHELL_NOTE {
            line.parents.insert(whole.row.id.clone(), Parent::ShellNote);
        } else if has(&Kind::Subtask) {
            line.parents.insert(whole.row.id.clone(), Parent::Subtask);
        }

        self.count(whole.row, sink)?;
        let mut turn = line.turn(Role::User, &whole.row.id, &whole.time, whole.row.origin);
        turn.text(&text);
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)?;
        self.beside("summary", whole.message.summary, whole, line, sink)?;
        for part in &whole.parts {
            if is_said(part) {
                self.folded(part.row, "text of its message", sink)?;
            } else {
                self.part(part, whole, line, sink)?;
            }
        }
        Ok(())
    }

    fn assistant(&mut self, whole: &Whole<'_>, line: &mut Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let message = &whole.message;
        let calls = calls(&whole.parts);
        let error: Error<'_> = message.error.object_or_default();
        let error_name = error.name.filled().or_else(|| message.error.json().map(|_| "unknown".into()));
        let finish = message.finish.filled();
        let signal = signal::of_assistant(&shape(whole, &calls, error_name.as_deref(), finish.as_deref(), line));
        if signal.is_none() && message.summary.flag() {
            // What a model made of the conversation: said by no one in it.
            return self.kept("compaction-summary", whole, line, sink);
        }
        let is_notice = matches!(
            signal,
            Some(Signal::ErrorWithoutReply | Signal::AbortedWithoutReply | Signal::CompactionOverflow)
        );
        let is_said = |part: &Part<'_>| match part.kind {
            Kind::Text | Kind::Ignored => true,
            Kind::Synthetic => signal == Some(Signal::SyntheticTextLikely),
            _ => false,
        };
        let text = if is_notice {
            let data: Error<'_> = error.data.object_or_default();
            let text = data.message.filled().or_else(|| error.message.filled()).or_else(|| error_name.clone());
            text.unwrap_or_default().into_owned()
        } else {
            joined(whole.parts.iter().filter_map(|part| match part.kind {
                Kind::File => Some(part.placeholder().into()),
                _ if is_said(part) => part.shape.text.text(),
                _ => None,
            }))
        };
        let thoughts = whole.parts.iter().filter(|part| part.kind == Kind::Reasoning);
        let thinking = Some(joined(thoughts.filter_map(|part| part.shape.text.text())));
        let model: Model<'_> = message.model.object_or_default();
        let model = message.model_id.filled().or_else(|| model.id.filled()).filter(|_| signal.is_none());
        let paths: Paths<'_> = message.path.object_or_default();
        let cwd = paths.cwd.filled();
        let steps = whole.parts.iter().filter(|part| part.kind == Kind::StepFinish);
        let steps: Vec<Field<'_>> = steps.map(|part| part.shape.tokens).collect();

        self.count(whole.row, sink)?;
        let mut turn = line.turn(Role::Assistant, &whole.row.id, &whole.time, whole.row.origin);
        turn.text(&text).thinking(thinking.as_deref().filter(|thinking| !thinking.is_empty()));
        turn.model(model.as_deref()).stop_reason(error_name.as_deref().or(finish.as_deref()));
        if let Some(usage) = usage::of_message(message.tokens, &steps) {
            turn.usage(usage);
        }
        if cwd.is_some() {
            turn.environment(cwd.as_deref(), None, None);
        }
        for call in calls.iter().flatten() {
            turn.tool_use(tool_use(call, whole.row.origin));
        }
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)?;
        self.beside("error", message.error, whole, line, sink)?;
        self.beside("structured", message.structured, whole, line, sink)?;
        let cwd = cwd.map(|cwd| cwd.into_owned()).or_else(|| self.facts.directory().map(str::to_owned));
        for (part, call) in whole.parts.iter().zip(&calls) {
            match call {
                Some(call) => self.call(part, call, whole, cwd.as_deref(), line, sink)?,
                None if is_said(part) => self.folded(part.row, "text of its message", sink)?,
                None if part.kind == Kind::Reasoning => self.folded(part.row, "reasoning of its message", sink)?,
                None => self.part(part, whole, line, sink)?,
            }
        }
        Ok(())
    }

    /// Tells the part of a tool call: the session it started, and its result.
    fn call(
        &mut self,
        part: &Part<'_>,
        call: &Call<'_>,
        whole: &Whole<'_>,
        cwd: Option<&str>,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let metadata: Metadata<'_> = call.metadata.object_or_default();
        let input: Input<'_> = call.input.object_or_default();
        let child = metadata.session.filled().filter(|_| tools::category_of(&call.name) == Category::DELEGATION);
        let agent = input.agent.filled().or_else(|| child.clone());
        if let (Some(child), Some(agent)) = (&child, &agent) {
            self.child(child, &quoted(&call.id), agent, line, sink)?;
        }
        let Some((content, is_error)) = &call.result else {
            return self.folded(part.row, "a call without a result", sink);
        };
        self.count(part.row, sink)?;
        let edits = if *is_error { Vec::new() } else { edits::of(&call.name, call.input, call.metadata, cwd) };
        let mut result = ToolResultRecord::new(&call.id, content, *is_error, part.row.origin);
        result.timestamp(&whole.time);
        for edit in &edits {
            result.mutation(edit.record(&call.id));
        }
        let prompt = input.prompt.text().unwrap_or_default();
        if let Some(agent) = child.as_deref().or(agent.as_deref()) {
            result.delegation(DelegationRecord::new(agent, &prompt).result(Some(content)));
        }
        sink.tool_result(&result)?;
        let has_any = call.attachments.list().is_some_and(|list| !list.is_empty());
        let attachments = Some(call.attachments).filter(|_| has_any).unwrap_or_default();
        self.beside("attachments", attachments, whole, line, sink)
    }

    /// Tells a part that is no words, or an unreadable one, as an event.
    fn part(
        &mut self,
        part: &Part<'_>,
        whole: &Whole<'_>,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let made: Time<'_> = part.shape.time.object_or_default();
        let time = self.time_of(part.row, moment_of(made.created));
        self.event(part.name(), part.row, &time, Some(&whole.row.id), line, sink)
    }

    /// Tells a field of the message that is an object or a list as an event beside it.
    fn beside(
        &mut self,
        name: &str,
        field: Field<'_>,
        whole: &Whole<'_>,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let Some(json) = field.json().filter(|json| json.starts_with(['{', '[', '"'])) else { return Ok(()) };
        let data = format!(r#"{{{}:{json}}}"#, quoted(name));
        let mut event = line.event(name, "", &whole.time, Some(&whole.row.id), whole.row.origin);
        Ok(sink.event(event.data(&data).part_of_record())?)
    }
}

/// The calls among the parts, each in its part's place.
fn calls<'a>(parts: &[Part<'a>]) -> Vec<Option<Call<'a>>> {
    let mut calls: Vec<Option<Call<'a>>> = Vec::with_capacity(parts.len());
    for part in parts {
        let call = (part.kind == Kind::Tool).then(|| {
            let id = part.shape.call.filled().map(|id| id.into_owned());
            // What was tried again keeps the calls of the first try, with the same ids.
            let id = id.filter(|id| !calls.iter().flatten().any(|call| call.id == *id));
            let name = part.shape.tool.text().unwrap_or_default();
            Call::of(id.unwrap_or_else(|| part.row.id.clone()), name, part.shape.state)
        });
        calls.push(call);
    }
    calls
}

/// A call as it is told.
pub(crate) fn tool_use<'c>(call: &'c Call<'_>, origin: Origin) -> ToolUseRecord<'c> {
    let category = tools::category_of(&call.name);
    let told = ToolUseRecord::new(&call.id, &call.name, call.input_json(), origin).category(category);
    if category == Category::FILE_WRITE { told.write_needs_result() } else { told }
}

fn shape<'w>(
    whole: &'w Whole<'_>,
    calls: &'w [Option<Call<'_>>],
    error: Option<&'w str>,
    finish: Option<&'w str>,
    line: &Line,
) -> Shape<'w> {
    let message = &whole.message;
    let tokens: crate::shape::Tokens<'_> = message.tokens.object_or_default();
    let cache: crate::shape::Cache<'_> = tokens.cache.object_or_default();
    let counts = [message.cost, tokens.input, tokens.output, tokens.reasoning, cache.read, cache.write];
    let calls: Vec<&Call<'_>> = calls.iter().flatten().collect();
    let input: Input<'_> = calls.first().map(|call| call.input.object_or_default()).unwrap_or_default();
    let is = |part: &Part<'_>, kinds: &[Kind<'_>]| kinds.contains(&part.kind);
    let words = [Kind::Text, Kind::Ignored, Kind::Reasoning];
    Shape {
        error,
        is_summary: message.summary.flag(),
        finish,
        has_usage: counts.iter().any(|count| count.is_nonzero()),
        has_steps: whole.parts.iter().any(|part| is(part, &[Kind::StepStart, Kind::StepFinish])),
        has_words: whole.parts.iter().any(|part| is(part, &words) && part.words().is_some()),
        has_synthetic: whole.parts.iter().any(|part| is(part, &[Kind::Synthetic]) && part.words().is_some()),
        tools: calls.iter().map(|call| &*call.name).collect(),
        names_agent: input.command.filled().or_else(|| input.agent.filled()).is_some(),
        parent: message.parent.filled().and_then(|id| line.parents.get(&*id).copied()).unwrap_or_default(),
    }
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
