//! What becomes of a response item: a part of a response, a message to the model, a tool's answer.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::shape;
use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{
    DelegationRecord, Disposition, Origin, PluginError, Role, Sink, Stopped, ToolResultRecord, TurnRecord,
};

use crate::calls::{Call, call_id, is_call, is_result};
use crate::content::{Content, texts};
use crate::place::Place;
use crate::read::{Reader, Told};
use crate::record::Item;
use crate::results;
use crate::signal::{self, Delivery, ReviewExit, Signal};
use crate::turn::{Pending, tell_blocks};
use crate::words;

shape! {
    /// What spawning an agent is answered with.
    Spawned {
        agent: "agent_id" | "thread_id",
    }
}

impl Reader {
    /// Tells a response item.
    pub(crate) fn item(
        &mut self,
        item: &Item<'_>,
        told: &Told<'_, '_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let kind = item.kind();
        match (&*kind, item.role.text().as_deref()) {
            ("message", Some("assistant")) => self.assistant(item, told, sink)?,
            ("message", Some("user")) => self.user(item, told, sink)?,
            ("message", Some("developer" | "system")) => self.other(Role::System, item, told, sink)?,
            ("message", Some(role)) => self.other(Role::Other(role), item, told, sink)?,
            ("agent_message", _) => self.other(Role::Other("agent"), item, told, sink)?,
            ("reasoning", _) => {
                self.review = None;
                let thoughts = texts(item.summary).into_iter().chain(texts(item.content));
                let mut said: Vec<String> = Vec::new();
                for thought in thoughts {
                    if !said.iter().any(|said| *said == thought) {
                        said.push(thought.into_owned());
                    }
                }
                self.gather(item, told, None, sink, |pending, _| pending.thoughts.append(&mut said))?;
            }
            (kind, _) if is_call(kind) => {
                self.review = None;
                let mut call = Call::of(item, kind, self.environment.dir.as_deref());
                if call.id.is_empty() {
                    call.id = format!("{}/call", self.place(told, item.id).id);
                }
                self.writes.open(&call);
                self.gather(item, told, None, sink, |pending, origin| {
                    pending.weight += call.weight();
                    pending.calls.push((call, origin));
                })?;
            }
            (kind, _) if is_result(kind) => self.result(item, told, sink)?,
            _ => self.event(told, sink)?,
        }
        Ok(())
    }

    /// Adds a record to the response that it is part of.
    fn gather(
        &mut self,
        item: &Item<'_>,
        told: &Told<'_, '_>,
        signal: Option<Signal>,
        sink: &mut Sink<'_>,
        add: impl FnOnce(&mut Pending, Origin),
    ) -> Result<(), Stopped> {
        let response = told.step.response.unwrap_or_default();
        let fits = |pending: &Pending| pending.response == response && pending.signal == signal && !pending.is_heavy();
        if self.pending.as_ref().is_some_and(|pending| !fits(pending)) {
            self.flush(sink)?;
        }
        let place = self.place(told, item.id);
        let origin = place.origin;
        if self.pending.is_some() {
            self.skip(Disposition::Folded, "part of a response that is told as one turn", told.piece, sink)?;
        }
        // What was brought over, or made by the model of a review, is not the context's model's.
        let is_others = self.review.is_some() || self.is_imported(item.passthrough().turn_id, told.piece);
        let pending = self.pending.get_or_insert_with(|| Pending {
            response,
            group: format!("{}/response-{response}", self.thread),
            model: self.model.clone().filter(|_| !is_others),
            usage: self.survey.cost(response).copied(),
            environment: self.environment.clone(),
            signal,
            texts: Vec::new(),
            thoughts: Vec::new(),
            calls: Vec::new(),
            rest: Vec::new(),
            weight: 0,
            place,
        });
        pending.weight += told.piece.text.len();
        add(pending, origin);
        Ok(())
    }

    fn assistant(&mut self, item: &Item<'_>, told: &Told<'_, '_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let delivery = signal::delivery(told.record.metadata).or_else(|| signal::delivery(item.metadata));
        if delivery == Some(Delivery::Copy) {
            return self.skip(Disposition::Duplicate, "repeats what a tool's call delivered", told.piece, sink);
        }
        let content = Content::of(item.content);
        let is_imported = self.is_imported(item.passthrough().turn_id, told.piece);
        let signal = match delivery {
            Some(_) => Some(Signal::DeliveryPlaceholder),
            None => signal::of_assistant(item, &content.text, self.review, is_imported),
        };
        self.gather(item, told, signal, sink, |pending, origin| {
            if !content.text.is_empty() {
                pending.texts.push(content.text.into_owned());
            }
            pending.rest.extend(content.rest.iter().map(|block| ((*block).to_owned(), origin)));
        })?;
        // One message ends a review; what the model says after it is its own.
        if self.review.take().is_some() || signal.is_some() {
            self.flush(sink)?;
        }
        Ok(())
    }

    fn user(&mut self, item: &Item<'_>, told: &Told<'_, '_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        self.flush(sink)?;
        let content = Content::of(item.content);
        let signal = words::of_user(&content, &item.passthrough());
        match words::review_exit(&content.text) {
            Some(is_interrupted) => self.review = Some(ReviewExit { is_interrupted }),
            None if signal.is_none() => self.review = None,
            None => {}
        }
        self.prompt(&content, signal, self.place(told, item.id), sink)
    }

    /// Tells a message in the user's position.
    pub(crate) fn prompt(
        &mut self,
        content: &Content<'_>,
        signal: Option<Signal>,
        place: Place,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        self.flush(sink)?;
        if signal.is_none() {
            self.is_near_compaction = false;
            self.tell_left(sink)?;
            self.prompts.push(self.last.clone());
        }
        // On a branch the host knows who asked.
        let asked = (self.is_sub_agents && self.branch.is_none()).then_some(Signal::SubAgentPrompt);
        self.message(Role::User, content, signal.or(asked), place, sink)
    }

    fn other(
        &mut self,
        role: Role<'_>,
        item: &Item<'_>,
        told: &Told<'_, '_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        self.flush(sink)?;
        self.message(role, &Content::of(item.content), None, self.place(told, item.id), sink)
    }

    /// Tells a message that is no part of a response.
    pub(crate) fn message(
        &mut self,
        role: Role<'_>,
        content: &Content<'_>,
        signal: Option<Signal>,
        place: Place,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        let mut turn = TurnRecord::new(role, &place.id, &place.time, place.origin);
        turn.parent(self.last.as_deref()).text(&content.text);
        self.environment.set(&mut turn);
        if let Some(branch) = &self.branch {
            turn.ext(ext::BRANCH, branch);
        }
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)?;
        let rest: Vec<_> = content.rest.iter().map(|block| ((*block).to_owned(), place.origin)).collect();
        tell_blocks(&rest, &place, self.branch.as_deref(), sink)?;
        self.last = Some(place.id);
        Ok(())
    }

    fn result(&mut self, item: &Item<'_>, told: &Told<'_, '_>, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        self.flush(sink)?;
        let place = self.place(told, item.id);
        let call = call_id(item).map_or_else(|| format!("{}/result", place.id), |id| id.into_owned());
        let answered = results::of_item(item);
        let outcome = self.writes.close(&call);
        let stated = outcome.is_failed.or(answered.is_error);
        let spawned: Spawned<'_> = Field::parse(&answered.text).object().unwrap_or_default();
        let agent = spawned.agent.filled().filter(|_| outcome.prompt.is_some());
        let agent = agent.or(outcome.agent.map(Into::into));
        if let Some(agent) = &agent {
            self.read_agent(agent, &call, sink)?;
        }
        let mut result = ToolResultRecord::new(&call, &answered.text, stated.unwrap_or(false), place.origin);
        result.timestamp(&place.time);
        // A patch alone is no write: the answer must say that it was applied.
        let is_done = stated == Some(false);
        let asked = outcome.asked.iter().filter(|_| outcome.reported.is_empty() && is_done);
        for edit in outcome.reported.iter().chain(asked) {
            result.mutation(edit.record(&call));
        }
        if let Some(agent) = &agent {
            result.delegation(DelegationRecord::new(agent, outcome.prompt.as_deref().unwrap_or_default()));
        }
        sink.tool_result(&result)?;
        let rest: Vec<_> = answered.rest.iter().map(|block| ((*block).to_owned(), place.origin)).collect();
        let parent = Place { id: self.last.clone().unwrap_or_default(), ..place };
        tell_blocks(&rest, &parent, self.branch.as_deref(), sink)?;
        Ok(())
    }
}
