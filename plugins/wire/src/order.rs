//! Which turn each event follows.
//!
//! An event follows the turn that its parent names, or the turn that its parent, an event, follows. Events without a turn
//! come before all turns. When several turns share an id, the last of them counts.

use std::collections::HashMap;

use crate::outline::{Events, TurnIds};
use crate::shape::Event;

/// The events, each in its place and there in the view's order.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Those that come before all turns.
    pub(crate) first: Vec<Event>,
    /// Those that follow a turn, by its index.
    pub(crate) after: HashMap<u64, Vec<Event>>,
}

impl Order {
    /// Finds the place of each event.
    pub(crate) fn of(Events(events): Events, turns: &TurnIds) -> Self {
        let places = places(&events, turns);
        let mut order = Self::default();
        for (event, place) in events.into_iter().zip(places) {
            match place {
                Some(turn) => order.after.entry(turn).or_default().push(event),
                None => order.first.push(event),
            }
        }
        order
    }
}

/// For each event the turn that it follows.
fn places(events: &[Event], turns: &TurnIds) -> Vec<Option<u64>> {
    let by_id: HashMap<&str, usize> = events.iter().map(|event| &*event.id).zip(0..).collect();
    let mut places: Vec<Option<Option<u64>>> = vec![None; events.len()];
    let mut chain = Vec::new();
    for start in 0..events.len() {
        let mut at = start;
        let place = loop {
            if let Some(known) = places[at] {
                break known;
            }
            // Events that name each other in a ring lead to no turn.
            places[at] = Some(None);
            chain.push(at);
            // An empty id names nothing.
            let Some(parent) = events[at].parent_id.as_deref().filter(|id| !id.is_empty()) else { break None };
            if let Some(&turn) = turns.last.get(parent) {
                break Some(turn);
            }
            let Some(&event) = by_id.get(parent) else { break None };
            at = event;
        };
        for event in chain.drain(..) {
            places[event] = Some(place);
        }
    }
    places.into_iter().map(Option::flatten).collect()
}
