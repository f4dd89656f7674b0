//! Where the tree begins anew.
//!
//! Going back to before the first message begins the tree a second time. An event there has no parent, and a host hangs an
//! event without one on the turn before it; a turn that follows it would hang there too, and the abandoned tree would
//! look like its history. So such events are remembered, by their ids' digests, and the turn that follows one is a root.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_128;

use crate::messages::is_turn;
use crate::place::{Parent, Place};
use crate::shape::Message;

/// The events that stand before a second beginning.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    has_turns: bool,
    events: HashSet<u128>,
}

impl Roots {
    /// Takes the record at `place` into account, and makes a root of it where it is one; says whether it is a turn.
    pub(crate) fn place(&mut self, place: &mut Place<'_>, kind: Option<&str>, message: Option<&Message<'_>>) -> bool {
        let is_turn = is_turn(kind, message);
        let follows_root = match &place.parent {
            Parent::Named(parent) => self.events.contains(&xxh3_128(parent.as_bytes())),
            Parent::Root => self.has_turns,
            Parent::Previous => false,
        };
        if is_turn {
            self.has_turns = true;
            if follows_root {
                place.parent = Parent::Root;
            }
        } else if follows_root {
            self.events.insert(xxh3_128(place.id.as_bytes()));
        }
        is_turn
    }
}
