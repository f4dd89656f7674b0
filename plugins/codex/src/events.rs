//! What becomes of an event: most are kept as they are; some say again what items say, or say more about them.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::{Disposition, PluginError, Role, Sink, Stopped};

use crate::content::{Content, texts};
use crate::edits::of_report;
use crate::read::{Reader, Told};
use crate::record::Event;
use crate::repeats::Speaker;
use crate::signal::{self, ReviewExit};
use crate::survey::{finished, speaker, words_of};
use crate::writes::Report;

impl Reader {
    /// Tells an event.
    pub(crate) fn event_of(
        &mut self,
        event: &Event<'_>,
        told: &Told<'_, '_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let (name, event) = finished(&told.record.name, event);
        let event = &event;
        if let Some(speaker) = speaker(&name) {
            return Ok(self.said(speaker, event, told, sink)?);
        }
        match &*name {
            "token_count" => self.token_count(told, sink)?,
            "agent_reasoning" | "agent_reasoning_raw_content" | "Reasoning" => self.thought(event, told, sink)?,
            "patch_apply_end" | "FileChange" => self.report(event, told, sink)?,
            "exec_command_end" | "CommandExecution" => {
                let code = event.exit_code.number().map(|code| code != 0);
                let status = event.status.text().filter(|status| *status != "in_progress");
                let is_failed = code.or_else(|| status.map(|status| status != "completed"));
                let call = event.call_id.filled().or_else(|| event.id.filled());
                if let (Some(call), Some(is_failed)) = (call, is_failed) {
                    self.writes.ended(&call, is_failed);
                }
                self.event(told, sink)?;
            }
            "thread_rolled_back" => {
                self.flush(sink)?;
                self.event(told, sink)?;
                self.roll_back(event.num_turns.count().unwrap_or(0));
            }
            _ => {
                match &*name {
                    "task_started" | "turn_started" => {
                        self.flush(sink)?;
                        self.review = None;
                        self.begin_turn(event.turn_id);
                    }
                    "task_complete" | "turn_complete" | "turn_aborted" => self.flush(sink)?,
                    "thread_settings_applied" => {
                        let context: crate::record::Context<'_> = event.settings.object().unwrap_or_default();
                        self.set_context(context.model, context.cwd);
                    }
                    "thread_name_updated" => {
                        if let Some(title) = event.title.filled() {
                            self.facts.name(title.into_owned());
                        }
                    }
                    "collab_agent_spawn_end" | "sub_agent_activity" => {
                        let call = event.call_id.filled().or_else(|| event.event_id.filled());
                        let agent = event.new_thread.filled().or_else(|| event.agent_thread.filled());
                        if let (Some(call), Some(agent)) = (call, agent) {
                            self.writes.spawned(&call, &agent);
                        }
                    }
                    "exited_review_mode" if self.review.is_none() => {
                        self.review = Some(ReviewExit { is_interrupted: event.review_output.json().is_none() });
                    }
                    _ => {}
                }
                self.event(told, sink)?;
            }
        }
        Ok(())
    }

    /// Words that nearly always stand in an item, too.
    fn said(
        &mut self,
        speaker: Speaker,
        event: &Event<'_>,
        told: &Told<'_, '_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        let words = words_of(event);
        if self.survey.repeats.repeats(speaker, &words, told.step.stretch) {
            return self.skip(Disposition::Folded, "repeats the words of a message", told.piece, sink);
        }
        let mut rest = Content::of(event.content).rest;
        if event.images.is_filled() || event.local_images.is_filled() {
            rest.push(told.record.payload);
        }
        let content = Content { texts: vec![words.clone()], text: words, rest };
        if content.text.is_empty() && content.rest.is_empty() {
            return self.event(told, sink);
        }
        let place = self.place(told, Field::default());
        match speaker {
            Speaker::User => {
                let signal = crate::words::of_user(&content, &crate::record::Passthrough::default());
                self.prompt(&content, signal, place, sink)
            }
            Speaker::Assistant => {
                self.flush(sink)?;
                let signal = signal::of_event(&content.text, self.is_near_compaction);
                self.message(Role::Assistant, &content, signal, place, sink)
            }
        }
    }

    fn thought(&mut self, event: &Event<'_>, told: &Told<'_, '_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let mut thoughts: Vec<Cow<'_, str>> = event.text.filled().into_iter().collect();
        thoughts.extend(texts(event.summary));
        thoughts.extend(texts(event.raw_content));
        if !thoughts.is_empty() && thoughts.iter().all(|thought| self.survey.repeats.repeats_thought(thought)) {
            return self.skip(Disposition::Folded, "repeats a thought of the response", told.piece, sink);
        }
        self.event(told, sink)
    }

    /// Codex's report of what a patch wrote; a patch that failed wrote nothing.
    fn report(&mut self, event: &Event<'_>, told: &Told<'_, '_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let call = event.call_id.filled().or_else(|| event.id.filled()).unwrap_or_default();
        let status = event.status.text().map(|status| status == "completed");
        let is_done = event.success.boolean().or(status).unwrap_or(false);
        self.writes.ended(&call, !is_done);
        let edits = if is_done { of_report(event.changes, self.environment.dir.as_deref()) } else { Vec::new() };
        if edits.is_empty() || !self.writes.has_room_for(&call) {
            return self.event(told, sink);
        }
        let report = Report {
            call: call.into_owned(),
            edits,
            origin: self.place(told, Field::default()).origin,
            name: told.record.name.clone().into_owned(),
            time: told.record.time.clone().into_owned(),
            data: told.record.payload.to_owned(),
        };
        self.writes.report(report);
        self.skip(Disposition::Folded, "its writes are told with their call", told.piece, sink)
    }

    /// Takes back the last prompts, and what followed them: it stays, but what comes next does not follow it.
    fn roll_back(&mut self, turns: u64) {
        for _ in 0..turns {
            let Some(before) = self.prompts.pop() else { break };
            self.last = before.or_else(|| self.preamble.clone());
        }
    }
}
