//! Messages of the newest model (`session_message`): one row each, with a type beside its data and no parts.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::{PluginError, Role, Sink, ToolResultRecord};

use crate::facts::moment_of;
use crate::message::tool_use;
use crate::parts::{Call, joined};
use crate::read::{Line, Reader};
use crate::shape::{Error, Model, Next, Piece, Time};
use crate::signal::Signal;
use crate::store::Row;
use crate::{edits, usage};

impl Reader<'_> {
    /// Tells one row of the newest model.
    pub(crate) fn next(&mut self, row: &Row, line: &mut Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let next: Next<'_> = row.shape();
        let made: Time<'_> = next.time.object_or_default();
        let time = self.time_of(row, moment_of(made.created));
        match row.kind.as_str() {
            _ if row.data.is_err() => self.event("unreadable", row, &time, line.previous.as_deref(), line, sink)?,
            "user" => {
                let is_first = line.is_child && line.branch.is_none() && !line.has_prompt;
                line.has_prompt = true;
                self.said(Role::User, is_first.then_some(Signal::SubAgentPrompt), row, &next, &time, line, sink)?;
                self.files(row, &next, &time, line, sink)?;
            }
            "synthetic" => {
                self.said(Role::User, Some(Signal::SyntheticMessage), row, &next, &time, line, sink)?;
            }
            "system" => {
                self.said(Role::System, Some(Signal::SystemMessage), row, &next, &time, line, sink)?;
            }
            "shell" => self.shell(row, &next, &time, line, sink)?,
            "assistant" => self.reply(row, &next, &time, line, sink)?,
            "" => self.event("message", row, &time, line.previous.as_deref(), line, sink)?,
            kind => self.event(kind, row, &time, line.previous.as_deref(), line, sink)?,
        }
        line.previous = Some(row.id.clone());
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "a row, its place, and who said it")]
    fn said(
        &mut self,
        role: Role<'_>,
        signal: Option<Signal>,
        row: &Row,
        next: &Next<'_>,
        time: &str,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        self.count(row, sink)?;
        let text = next.text.text().unwrap_or_default();
        let mut turn = line.turn(role, &row.id, time, row.origin);
        turn.text(&text);
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        Ok(sink.turn(&turn)?)
    }

    /// Tells what came with a prompt as an event beside it.
    fn files(
        &mut self,
        row: &Row,
        next: &Next<'_>,
        time: &str,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        for (name, field) in [("files", next.files), ("agents", next.agents)] {
            if field.list().is_none_or(|list| list.is_empty()) {
                continue;
            }
            let data = format!(r#"{{"{name}":{}}}"#, field.json().unwrap_or("null"));
            let mut event = line.event(name, "", time, Some(&row.id), row.origin);
            sink.event(event.data(&data).part_of_record())?;
        }
        Ok(())
    }

    /// Tells a command that the user ran.
    fn shell(
        &mut self,
        row: &Row,
        next: &Next<'_>,
        time: &str,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        self.count(row, sink)?;
        let id = next.call.filled().unwrap_or_else(|| row.id.as_str().into()).into_owned();
        let input = format!(r#"{{"command":{}}}"#, next.command.json().unwrap_or("null"));
        let input: Field<'_> = Field::parse(&input);
        let nested: Next<'_> = next.output.object_or_default();
        let output = next.output.text().or_else(|| nested.output.text());
        let call = Call {
            id,
            name: "bash".into(),
            input,
            result: output.map(|output| (output, false)),
            metadata: Field::default(),
            attachments: Field::default(),
        };
        let mut turn = line.turn(Role::Assistant, &row.id, time, row.origin);
        turn.tool_use(tool_use(&call, row.origin)).harness_generated(Signal::ShellMessage.json());
        sink.turn(&turn)?;
        if let Some((output, _)) = &call.result {
            let mut result = ToolResultRecord::new(&call.id, output, false, row.origin);
            sink.tool_result(result.timestamp(time).part_of_record(true))?;
        }
        Ok(())
    }

    fn reply(
        &mut self,
        row: &Row,
        next: &Next<'_>,
        time: &str,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        self.count(row, sink)?;
        let pieces = next.content.list().unwrap_or_default();
        let pieces: Vec<Piece<'_>> = pieces.iter().map(|raw| raw.object_or_default()).collect();
        let mut calls: Vec<Call<'_>> = Vec::new();
        for piece in pieces.iter().filter(|piece| piece.kind.is("tool")) {
            let id = piece.id.filled().map(|id| id.into_owned());
            let id = id.filter(|id| !calls.iter().any(|call| call.id == *id));
            let id = id.unwrap_or_else(|| format!("{}/{}", row.id, calls.len() + 1));
            calls.push(Call::of(id, piece.name.text().unwrap_or_default(), piece.state));
        }
        let texts = |kind: &str| {
            joined(pieces.iter().filter(|piece| piece.kind.is(kind)).filter_map(|piece| piece.text.text()))
        };
        let (text, thinking) = (texts("text"), texts("reasoning"));
        let error: Error<'_> = next.error.object_or_default();
        let error_name = error.name.filled().or_else(|| next.error.json().map(|_| "unknown".into()));
        let is_empty = text.trim().is_empty() && thinking.trim().is_empty() && calls.is_empty();
        let signal = error_name.as_deref().filter(|_| is_empty).map(|name| match name {
            "MessageAbortedError" | "aborted" => Signal::AbortedWithoutReply,
            _ => Signal::ErrorWithoutReply,
        });
        let data: Error<'_> = error.data.object_or_default();
        let notice = error.message.filled().or_else(|| data.message.filled()).or_else(|| error_name.clone());
        let model: Model<'_> = next.model.object_or_default();
        let model = model.id.filled().filter(|_| signal.is_none());
        let finish = next.finish.filled();

        let mut turn = line.turn(Role::Assistant, &row.id, time, row.origin);
        turn.text(if signal.is_some() { notice.as_deref().unwrap_or_default() } else { &text });
        turn.thinking(Some(thinking.as_str()).filter(|thinking| !thinking.is_empty()));
        turn.model(model.as_deref()).stop_reason(error_name.as_deref().or(finish.as_deref()));
        if let Some(usage) = usage::of(next.tokens, usage::Reasoning::Beside) {
            turn.usage(usage);
        }
        for call in &calls {
            turn.tool_use(tool_use(call, row.origin));
        }
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)?;
        if let Some(json) = next.error.json() {
            let data = format!(r#"{{"error":{json}}}"#);
            let mut event = line.event("error", "", time, Some(&row.id), row.origin);
            sink.event(event.data(&data).part_of_record())?;
        }
        for call in &calls {
            let Some((content, is_error)) = &call.result else { continue };
            let cwd = self.facts.directory();
            let edits = if *is_error { Vec::new() } else { edits::of(&call.name, call.input, call.metadata, cwd) };
            let mut result = ToolResultRecord::new(&call.id, content, *is_error, row.origin);
            result.timestamp(time).part_of_record(true);
            for edit in &edits {
                result.mutation(edit.record(&call.id));
            }
            sink.tool_result(&result)?;
        }
        Ok(())
    }
}
