//! What has to be known of a file before it is told: what each response cost, and which words stand twice.

use std::borrow::Cow;
use std::collections::HashMap;

use toolpath_plugin_api::PluginError;
use toolpath_plugin_api::kit::field::Field;

use crate::content::Content;
use crate::flow::{Flow, Step};
use crate::log::{Found, Log, Part};
use crate::record::{Event, Item, Kind, Record};
use crate::repeats::{Repeats, Speaker, Stretch};
use crate::signal::IMPORTED;
use crate::usage::{Count, Tokens};

/// What was learnt of a file.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Whether a record was one of Codex.
    pub(crate) is_recognised: bool,
    /// Records, readable or not.
    pub(crate) records: u64,
    /// The session's id, from its first header.
    pub(crate) id: Option<String>,
    /// The record with which a sub-agent's own lines begin, behind those that were copied.
    pub(crate) own_from: Option<u64>,
    /// The record that marks the end of what was brought over from another product; 0 when nothing was.
    pub(crate) import_ends_at: u64,
    /// Whether notes of responses' usage stand in the file, so that nothing else counts.
    pub(crate) has_notes: bool,
    counted: Costs,
    noted: Costs,
    /// The first response whose usage was noted.
    first_noted: Option<u64>,
    /// Words that events say again.
    pub(crate) repeats: Repeats,
}

impl Survey {
    /// Goes through the file.
    pub(crate) fn of(log: &Log) -> Result<Self, PluginError> {
        let mut survey = Self::default();
        let mut flow = Flow::default();
        let mut marks = Vec::new();
        log.each(&mut |found| {
            match found {
                Found::Record(piece) => survey.take(&Record::of(&piece), piece.part, &mut flow, &mut marks),
                Found::Unreadable(..) => survey.records += 1,
                Found::Note(..) => {}
            }
            Ok(())
        })?;
        survey.own_from = flow.own_from();
        survey.import_ends_at = survey.repeats.last_alone(IMPORTED, marks).unwrap_or(0);
        survey.counted.end();
        survey.noted.end();
        survey.first_noted = survey.noted.of.keys().min().copied();
        Ok(survey)
    }

    /// Takes a record, and adds to `marks` where the assistant is shown to say that an import has ended.
    fn take(&mut self, record: &Record<'_>, part: Part<'_>, flow: &mut Flow, marks: &mut Vec<(u64, Stretch)>) {
        self.records += 1;
        self.is_recognised |= record.is_known || part == Part::Header;
        let step = flow.take(record);
        match &record.kind {
            Kind::Meta(meta) if self.id.is_none() => self.id = meta.id.filled().map(|id| id.into_owned()),
            Kind::Item(item) => self.item(item, step.stretch),
            Kind::Event(event) => {
                let (name, event) = finished(&record.name, event);
                match speaker(&name) {
                    Some(Speaker::User) => self.repeats.learn_event(&words_of(&event), step.stretch),
                    Some(Speaker::Assistant) if words_of(&event).trim() == IMPORTED => {
                        marks.push((self.records, step.stretch));
                    }
                    _ => {}
                }
            }
            Kind::Usage(_) => self.has_notes |= step.noted.is_some(),
            _ => {}
        }
        let called = match step.count {
            Some(Count::Call(tokens)) => Some(tokens),
            _ => None,
        };
        self.counted.take(&step, called);
        self.noted.take(&step, step.noted);
    }

    fn item(&mut self, item: &Item<'_>, at: Stretch) {
        match (&*item.kind(), item.role.text().as_deref()) {
            ("message", Some("user")) => self.repeats.learn_item(Speaker::User, &Content::of(item.content), at),
            ("message", Some("assistant")) => {
                self.repeats.learn_item(Speaker::Assistant, &Content::of(item.content), at);
            }
            ("reasoning", _) => {
                for text in crate::content::texts(item.summary).iter().chain(&crate::content::texts(item.content)) {
                    self.repeats.learn_thought(text);
                }
            }
            _ => {}
        }
    }

    /// What the response cost.
    pub(crate) fn cost(&self, response: u64) -> Option<&Tokens> {
        // The harness may have learnt to note them in the middle of the session.
        let is_before_notes = self.first_noted.is_some_and(|first| response < first);
        let costs = if self.has_notes && !is_before_notes { &self.noted } else { &self.counted };
        costs.of.get(&response)
    }

    /// What was paid for no response that the file holds.
    pub(crate) fn unplaced(&self) -> Option<&Tokens> {
        let costs = if self.has_notes { &self.noted } else { &self.counted };
        costs.carried.as_ref()
    }
}

/// The text of an event, or of the finished item in it.
pub(crate) fn words_of<'a>(event: &Event<'a>) -> std::borrow::Cow<'a, str> {
    event.message.text().or_else(|| event.text.text()).unwrap_or_else(|| Content::of(event.content).text)
}

/// What an event is, and its fields: those of the item, where it says that one was finished.
pub(crate) fn finished<'a>(name: &Cow<'a, str>, event: &Event<'a>) -> (Cow<'a, str>, Event<'a>) {
    let field: Field<'a> = event.item;
    let item: Event<'a> = field.object().filter(|_| name == "item_completed").unwrap_or_default();
    match item.kind.filled() {
        Some(kind) => (kind, item),
        None => (name.clone(), *event),
    }
}

/// Whose words an event of this name shows.
pub(crate) fn speaker(name: &str) -> Option<Speaker> {
    match name {
        "user_message" | "UserMessage" => Some(Speaker::User),
        "agent_message" | "AgentMessage" => Some(Speaker::Assistant),
        _ => None,
    }
}

/// What responses cost. The log says it before, within or behind a response, depending on its age.
#[derive(Debug, Default)]
struct Costs {
    of: HashMap<u64, Tokens>,
    /// The response that what comes next is paid for, unless it has been.
    open: Option<u64>,
    last: Option<u64>,
    /// Paid, but for no response yet.
    carried: Option<Tokens>,
}

impl Costs {
    fn take(&mut self, step: &Step, cost: Option<Tokens>) {
        if step.is_input {
            self.open = None;
        }
        if let Some(response) = step.response.filter(|_| !step.is_inherited) {
            (self.open, self.last) = (Some(response), Some(response));
            if let Some(carried) = self.carried.take() {
                self.pay(response, carried);
            }
        }
        if let Some(cost) = cost {
            match self.open.filter(|open| !self.of.contains_key(open)) {
                Some(open) => self.pay(open, cost),
                None => self.carried = Some(self.carried.map_or(cost, |carried| carried.plus(cost))),
            }
        }
    }

    /// What was paid last is for the last response, if there is one.
    fn end(&mut self) {
        if let (Some(last), Some(carried)) = (self.last, self.carried) {
            self.pay(last, carried);
            self.carried = None;
        }
    }

    fn pay(&mut self, response: u64, cost: Tokens) {
        let before = self.of.get(&response).copied();
        self.of.insert(response, before.map_or(cost, |before| before.plus(cost)));
    }
}
