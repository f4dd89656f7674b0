//! The second reading: the turns, one in memory at a time, each told before the next is read.

use std::collections::HashMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use toolpath_plugin_api::{Sink, Stopped};

use crate::shape::{Event, Turn, at};
use crate::tell;

/// Tells the turns of a view, and after each the events that follow it.
pub(crate) struct Telling<'k, 's> {
    pub(crate) sink: &'k mut Sink<'s>,
    /// Events that are still to be told, by the turn that they follow.
    pub(crate) after: HashMap<u64, Vec<Event>>,
    /// Turns told.
    pub(crate) told: u64,
    /// Whether the host wants no more; the reading then ends with an error that means nothing else.
    pub(crate) is_stopped: bool,
}

impl Telling<'_, '_> {
    fn turn(&mut self, turn: &Turn) -> Result<(), Stopped> {
        self.sink.turn(&tell::turn(turn))?;
        for event in self.after.remove(&self.told).unwrap_or_default() {
            self.sink.event(&tell::event(&event))?;
        }
        self.told += 1;
        Ok(())
    }
}

/// The whole view, for its turns.
pub(crate) struct View<'t, 'k, 's>(pub(crate) &'t mut Telling<'k, 's>);

impl<'de> DeserializeSeed<'de> for View<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for View<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a conversation view")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if name == "turns" {
                fields.next_value_seed(Turns(&mut *self.0))?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

struct Turns<'t, 'k, 's>(&'t mut Telling<'k, 's>);

impl<'de> DeserializeSeed<'de> for Turns<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Turns<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of turns")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(turn) = list.next_element().map_err(|err| at("turns", self.0.told, err))? {
            if let Err(Stopped) = self.0.turn(&turn) {
                self.0.is_stopped = true;
                return Err(A::Error::custom("the host wants no more"));
            }
        }
        Ok(())
    }
}
