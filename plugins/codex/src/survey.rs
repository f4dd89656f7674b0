//! What has to be known of a file before it is told: what each response cost, and which words stand twice.

use std::collections::HashMap;

use toolpath_plugin_api::PluginError;
use xxhash_rust::xxh3::xxh3_128;

use crate::content::Content;
use crate::field::Field;
use crate::flow::{Flow, Step};
use crate::log::{Found, Log, Part};
use crate::record::{Event, Item, Kind, Record};
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
    /// Words of messages, by whom and how often.
    words: HashMap<u128, u32>,
    thoughts: HashMap<u128, u32>,
}

/// Who said words that may stand twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
}

impl Survey {
    /// Goes through the file.
    pub(crate) fn of(log: &Log) -> Result<Self, PluginError> {
        let mut survey = Self::default();
        let mut flow = Flow::default();
        log.each(&mut |found| {
            match found {
                Found::Record(piece) => survey.take(&Record::of(&piece), piece.part, &mut flow),
                Found::Unreadable(..) => survey.records += 1,
                Found::Note(..) => {}
            }
            Ok(())
        })?;
        survey.own_from = flow.own_from();
        survey.counted.end();
        survey.noted.end();
        Ok(survey)
    }

    fn take(&mut self, record: &Record<'_>, part: Part<'_>, flow: &mut Flow) {
        self.records += 1;
        self.is_recognised |= record.is_known || part == Part::Header;
        let step = flow.take(record);
        match &record.kind {
            Kind::Meta(meta) if self.id.is_none() => self.id = meta.id.filled().map(|id| id.into_owned()),
            Kind::Item(item) => self.item(item),
            Kind::Event(event) if words_of(event) == IMPORTED => self.import_ends_at = self.records,
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

    fn item(&mut self, item: &Item<'_>) {
        match (&*item.kind(), item.role.text().as_deref()) {
            ("message", Some("user")) => {
                let content = Content::of(item.content);
                let whole = key(Speaker::User, &content.text);
                *self.words.entry(whole).or_default() += 1;
                for text in content.texts.iter().map(|text| key(Speaker::User, text)).filter(|text| *text != whole) {
                    *self.words.entry(text).or_default() += 1;
                }
            }
            ("message", Some("assistant")) => {
                let text = Content::of(item.content).text;
                *self.words.entry(key(Speaker::Assistant, &text)).or_default() += 1;
            }
            ("reasoning", _) => {
                for text in crate::content::texts(item.summary).iter().chain(&crate::content::texts(item.content)) {
                    *self.thoughts.entry(digest(text)).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    /// What the response cost.
    pub(crate) fn cost(&self, response: u64) -> Option<&Tokens> {
        let costs = if self.has_notes { &self.noted } else { &self.counted };
        costs.of.get(&response)
    }

    /// What was paid for no response that the file holds.
    pub(crate) fn unplaced(&self) -> Option<&Tokens> {
        let costs = if self.has_notes { &self.noted } else { &self.counted };
        costs.carried.as_ref()
    }

    /// Whether an event only repeats the words of a message; each message is repeated once.
    pub(crate) fn repeats(&mut self, speaker: Speaker, words: &str) -> bool {
        take_one(&mut self.words, key(speaker, words))
    }

    /// Whether an event only repeats a thought.
    pub(crate) fn repeats_thought(&mut self, text: &str) -> bool {
        take_one(&mut self.thoughts, digest(text))
    }
}

fn take_one(words: &mut HashMap<u128, u32>, key: u128) -> bool {
    match words.get_mut(&key) {
        Some(left) if *left > 0 => {
            *left -= 1;
            true
        }
        _ => false,
    }
}

fn key(speaker: Speaker, words: &str) -> u128 {
    digest(words) ^ u128::from(speaker == Speaker::User)
}

fn digest(text: &str) -> u128 {
    xxh3_128(text.trim().as_bytes())
}

/// The text of an event, or of the finished item in it.
pub(crate) fn words_of<'a>(event: &Event<'a>) -> std::borrow::Cow<'a, str> {
    event.message.text().or_else(|| event.text.text()).unwrap_or_else(|| Content::of(event.content).text)
}

/// The event in an `item_completed`: the item.
pub(crate) fn finished<'a>(event: &Event<'a>) -> Option<Event<'a>> {
    let item: Field<'a> = event.item;
    item.object()
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
