//! The first reading: everything but the turns, of which only the ids are kept.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use toolpath_plugin_api::SessionRecord;

use crate::shape::{Base, Event, Producer, TokenUsage, at, or_null};
use crate::tell;

/// A view without its turns.
#[derive(Debug, serde::Deserialize)]
#[serde(expecting = "a conversation view")]
pub(crate) struct Outline {
    id: String,
    started_at: Option<String>,
    last_activity: Option<String>,
    pub(crate) turns: TurnIds,
    total_usage: Option<TokenUsage>,
    provider_id: Option<String>,
    #[serde(default, deserialize_with = "or_null")]
    files_changed: Vec<String>,
    #[serde(default, deserialize_with = "or_null")]
    session_ids: Vec<String>,
    #[serde(default, deserialize_with = "or_null")]
    pub(crate) events: Events,
    base: Option<Base>,
    producer: Option<Producer>,
}

impl Outline {
    /// What the session as a whole is called.
    pub(crate) fn session(&self) -> SessionRecord<'_> {
        let mut session = SessionRecord::new(&self.id);
        session.provider_id = self.provider_id.as_deref().filter(|id| !id.is_empty());
        session.started_at = self.started_at.as_deref();
        session.last_activity = self.last_activity.as_deref();
        session.producer = self.producer.as_ref().map(|producer| (&*producer.name, producer.version.as_deref()));
        if let Some(base) = &self.base {
            session.working_dir = base.working_dir.as_deref();
            session.vcs_revision = base.vcs_revision.as_deref();
            session.vcs_branch = base.vcs_branch.as_deref();
            session.vcs_remote = base.vcs_remote.as_deref();
        }
        // A view lists all files, or none: an empty list must not make the host collect its own.
        session.files_changed = Some(self.files_changed.iter().map(String::as_str).collect());
        session.session_ids = self.session_ids.iter().map(String::as_str).collect();
        session.total_usage = self.total_usage.as_ref().map(tell::usage);
        session
    }
}

/// The ids of all turns, and for each the index of the last turn that has it.
#[derive(Debug, Default)]
pub(crate) struct TurnIds {
    pub(crate) last: HashMap<Box<str>, u64>,
    pub(crate) count: u64,
}

/// The events, in the view's order.
#[derive(Debug, Default)]
pub(crate) struct Events(pub(crate) Vec<Event>);

#[derive(serde::Deserialize)]
#[serde(expecting = "a turn")]
struct TurnId {
    id: Box<str>,
}

struct TurnIdsVisitor;

impl<'de> Visitor<'de> for TurnIdsVisitor {
    type Value = TurnIds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of turns")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<TurnIds, A::Error> {
        let mut ids = TurnIds::default();
        while let Some(TurnId { id }) = list.next_element().map_err(|err| at("turns", ids.count, err))? {
            ids.last.insert(id, ids.count);
            ids.count += 1;
        }
        Ok(ids)
    }
}

impl<'de> Deserialize<'de> for TurnIds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(TurnIdsVisitor)
    }
}

struct EventsVisitor;

impl<'de> Visitor<'de> for EventsVisitor {
    type Value = Events;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Events, A::Error> {
        let mut events = Vec::new();
        while let Some(event) = list.next_element().map_err(|err| at("events", events.len() as u64, err))? {
            events.push(event);
        }
        Ok(Events(events))
    }
}

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(EventsVisitor)
    }
}
