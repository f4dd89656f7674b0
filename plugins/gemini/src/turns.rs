//! Messages: what stands in the model's, the user's and the CLI's position.

use std::borrow::Cow;
use std::collections::HashSet;

use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::{Disposition, Role, Sink, SkipRecord, Stopped, ToolResultRecord};

use crate::calls::Call;
use crate::content::{Content, said, thoughts};
use crate::digest::{self, Id};
use crate::place::Place;
use crate::shape::{Function, Record};
use crate::signal::Signal;
use crate::{signal, usage};

/// What a message was, as far as what follows depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// A turn, an event, or a skipped record.
    Message,
    /// The summary of what was said so far.
    Summary,
    /// Nothing by itself: its answers went to their calls.
    Nothing,
}

/// One message, read.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    pub(crate) record: Record<'a>,
    json: &'a str,
    kind: Option<Cow<'a, str>>,
    pub(crate) content: Content<'a>,
    pub(crate) calls: Vec<Call<'a>>,
}

impl<'a> Message<'a> {
    /// Reads the message `id` in `record`.
    pub(crate) fn of(record: Record<'a>, json: &'a str, id: &str) -> Self {
        let kind = record.kind();
        let is_users = kind.as_deref() == Some("user");
        // What the user saw is what the user wrote; what was sent may have files put into it.
        let shown = record.display.json().is_some() && is_users;
        let field = if shown { record.display } else { record.body() };
        let content = Content::of(field, if is_users { "\n" } else { "" });
        let calls = Call::all_of(&record, &content, id);
        Self { record, json, kind, content, calls }
    }

    /// Reads the version of the message `id` that `json` is, if it is one.
    pub(crate) fn version_of(json: &'a str, id: &str) -> Option<Self> {
        let record: Record<'a> = serde_json::from_str(json).ok()?;
        (record.id.text()? == id).then(|| Self::of(record, json, id))
    }

    /// Adds what another version of it, the message `id`, has and this one lacks.
    pub(crate) fn completed(mut self, other: Self, id: &str) -> Self {
        let (own, others) = (&mut self.record, &other.record);
        for (own, other) in [(&mut own.model, others.model), (&mut own.tokens, others.tokens)] {
            if own.json().is_none() {
                *own = other;
            }
        }
        if thoughts(own.thoughts).is_empty() {
            own.thoughts = others.thoughts;
        }
        if self.content.is_empty() {
            self.json = other.json;
            (own.content, own.parts, own.message, own.display) =
                (others.content, others.parts, others.message, others.display);
            self.content = other.content;
        } else {
            let own: Vec<_> = self.content.responses.iter().filter_map(|response| response.id.id()).collect();
            let is_new = |response: &Function<'a>| response.id.id().is_some_and(|id| !own.contains(&id));
            let new: Vec<_> = other.content.responses.into_iter().filter(is_new).collect();
            self.content.responses.extend(new);
            if self.content.calls.is_empty() {
                self.content.calls = other.content.calls;
            }
        }
        Call::complete(&mut self.calls, other.calls, id);
        self
    }

    /// A digest that a copy under another id has too: of the kind, the words and the tools.
    pub(crate) fn digest(&self) -> u64 {
        // A copy has what was sent, and not what was shown.
        let sent = self.record.display.json().map(|_| Content::of(self.record.body(), "\n"));
        let content = sent.as_ref().unwrap_or(&self.content);
        let names = self.calls.iter().map(|call| &*call.name);
        let answers = content.responses.iter().map(|response| response.id.json().unwrap_or_default());
        let kind = self.kind.as_deref().unwrap_or_default();
        digest::of_texts([kind, content.text.trim()].into_iter().chain(names).chain(answers))
    }

    /// Whether it stands in the user's or the model's position.
    pub(crate) fn is_said(&self) -> bool {
        matches!(self.kind.as_deref(), Some("user" | "gemini"))
    }

    /// Whether the CLI says it beside the conversation.
    pub(crate) fn is_notice(&self) -> bool {
        matches!(self.kind.as_deref(), Some("info" | "warning" | "error"))
    }

    /// Whether it can be a copy: what a model wrote first names the model or its tokens.
    pub(crate) fn may_be_copy(&self) -> bool {
        self.record.model.json().is_none() && self.record.tokens.json().is_none() && self.is_said()
    }

    /// Whether it is the summary of a compression.
    pub(crate) fn is_summary(&self) -> bool {
        self.kind.as_deref() == Some("user") && signal::is_summary(&self.content.text)
    }

    /// Tells it; results of the calls in `later` follow by themselves, and `answered` knows whose were told. In a session
    /// of `nobody` no human types.
    pub(crate) fn tell(
        &self,
        place: &Place<'_>,
        after_summary: bool,
        nobody: bool,
        later: &[&str],
        answered: &mut HashSet<Id>,
        sink: &mut Sink<'_>,
    ) -> Result<Told, Stopped> {
        for call in self.calls.iter().filter(|call| call.answer.is_some()) {
            answered.insert(digest::of_id(&call.id));
        }
        let data = || format!(r#"{{"raw":{}}}"#, self.json);
        let (role, signal) = match self.kind.as_deref() {
            Some("gemini") => (Role::Assistant, signal::of_model(&self.record, &self.content, after_summary)),
            Some("user") if self.is_summary() => {
                sink.event(&place.event("compaction-summary", &data()))?;
                return Ok(Told::Summary);
            }
            Some("user") if self.content.is_answers_only() => {
                self.answers(place, answered, sink)?;
                if place.is_part {
                    return Ok(Told::Nothing);
                }
                let skip = SkipRecord::new(Disposition::Folded, "results of tools", place.origin);
                sink.skip(&skip.link(Some(&place.id), place.parent.as_deref()))?;
                return Ok(Told::Message);
            }
            Some("user") => {
                self.answers(place, answered, sink)?;
                let prompt = nobody.then_some(Signal::SubAgentPrompt);
                (Role::User, signal::of_user(&self.content.text).or(prompt))
            }
            Some(kind @ ("info" | "warning" | "error")) => match signal::of_notice(kind, self.record.body()) {
                Some(signal) => (Role::System, Some(signal)),
                None => {
                    sink.event(&place.event(kind, &data()))?;
                    return Ok(Told::Message);
                }
            },
            Some(kind) if self.record.body().json().is_some() => (Role::Other(kind), None),
            kind => {
                sink.event(&place.event(kind.unwrap_or("message"), &data()))?;
                return Ok(Told::Message);
            }
        };

        let mut thinking = thoughts(self.record.thoughts);
        thinking.extend(self.content.thoughts.iter().cloned());
        let thinking = thinking.join("\n\n");
        let model = self.record.model.filled().filter(|_| role == Role::Assistant && signal.is_none());
        let mut turn = place.turn(role);
        turn.text(&self.content.text).thinking(Some(&*thinking).filter(|thinking| !thinking.is_empty()));
        turn.model(model.as_deref());
        for call in &self.calls {
            call.tell(&mut turn, later.contains(&&*call.id), place.origin);
        }
        if let Some(usage) = usage::of(self.record.tokens) {
            turn.usage(usage);
        }
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)?;
        self.rest(place, sink)?;
        Ok(Told::Message)
    }

    /// Tells answers that stand in a message of their own, unless their calls have them already.
    fn answers(&self, place: &Place<'_>, answered: &mut HashSet<Id>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        for (nth, response) in self.content.responses.iter().enumerate() {
            let call = response.id.id().unwrap_or_else(|| format!("{}/result-{nth}", place.id).into());
            if answered.insert(digest::of_id(&call)) {
                let (text, is_error) = said(response);
                let mut result = ToolResultRecord::new(&call, &text, is_error, place.origin);
                sink.tool_result(result.timestamp(&place.time).part_of_record(true))?;
            }
        }
        Ok(())
    }

    /// Tells what found no place in the turn.
    fn rest(&self, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let answers = self.calls.iter().filter_map(|call| call.answer.as_ref()).flat_map(|answer| &answer.rest);
        let blocks =
            self.content.rest.iter().map(|raw| raw.json().unwrap_or("null")).chain(answers.map(String::as_str));
        for block in blocks {
            let data = format!(r#"{{"part":{block}}}"#);
            sink.event(&place.part("content-part", &data))?;
        }
        let (shown, sent) = (self.record.display.json(), self.record.content.json());
        if let (Some("user"), Some(shown), Some(sent)) = (self.kind.as_deref(), shown, sent)
            && shown != sent
            && Content::of(self.record.content, "\n").text != self.content.text
        {
            let data = format!(r#"{{"content":{sent},"id":{}}}"#, quoted(&place.id));
            sink.event(&place.part("sent-content", &data))?;
        }
        Ok(())
    }
}
