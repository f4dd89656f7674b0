//! One id, one step: finds out whether a record repeats an earlier one, and which id its step gets.
//!
//! Ids are kept as digests. The texts of the ids that steps got lie in a spool, where a later step finds those of
//! its parents.

use std::collections::VecDeque;
use std::io;

use toolpath_plugin_api::kit::table::Table;

use crate::digest;
use crate::spool::{Segment, Spool};

/// A step, by its place in the path.
pub(crate) type Seq = u32;
/// A line of the conversation: a turn and the events that hang on it, or the events before every turn.
pub(crate) type Line = u32;

/// What an id stands for; small, since there is one for each record.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Half the digest of the first record that was told under this id.
    content: digest::Half,
    first: Seq,
    /// The step it means now; for a skipped record, the line that it leads to.
    latest: u32,
    /// The number for the next record under this id that differs; 0 for a skipped record.
    next: u32,
}

impl Known {
    fn is_step(&self) -> bool {
        self.next > 0
    }
}

/// Where names begin in the spool: half an offset each, and a whole one for every block of names.
#[derive(Debug, Default)]
struct Starts {
    within: Vec<u32>,
    blocks: Vec<u64>,
}

/// Names in a block: as long as they are not of 64 KiB each, an offset within it fits.
const BLOCK: usize = 1 << 16;

impl Starts {
    fn push(&mut self, start: u64) -> io::Result<()> {
        if self.within.len().is_multiple_of(BLOCK) {
            self.blocks.push(start);
        }
        let block = self.blocks[self.within.len() / BLOCK];
        let within = u32::try_from(start - block);
        self.within.push(within.map_err(|_| io::Error::other("the ids of a session are too long"))?);
        Ok(())
    }

    fn get(&self, seq: usize) -> u64 {
        self.blocks[seq / BLOCK] + u64::from(self.within[seq])
    }

    fn len(&self) -> usize {
        self.within.len()
    }
}

/// What becomes of a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It repeats an earlier record.
    Duplicate,
    /// It becomes the step with this id.
    Step(String),
}

/// Where an id leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A step.
    Step(Seq),
    /// A line, through a record of which no step was made.
    Line(Line),
}

/// Names kept in memory, since most steps follow one of the last.
const RECENT: usize = 64;
/// Bytes of names kept in memory before they go to a file.
const NAMES_IN_MEMORY: usize = 64 * 1024;

/// The ids of one path.
#[derive(Debug)]
pub(crate) struct Ids {
    known: Table<Known>,
    names: Spool,
    /// For each step the offset at which its name begins.
    starts: Starts,
    recent: VecDeque<String>,
    scratch: Vec<u8>,
}

impl Ids {
    pub(crate) fn new() -> Self {
        Self {
            known: Table::default(),
            names: Spool::new(NAMES_IN_MEMORY),
            starts: Starts::default(),
            recent: VecDeque::new(),
            scratch: Vec::new(),
        }
    }

    /// Registers the record that will be step `seq`, told under `id` with that content.
    pub(crate) fn register(&mut self, id: &str, content: u128, seq: Seq) -> io::Result<Fate> {
        debug_assert_eq!(seq as usize, self.starts.len(), "steps are registered in order");
        let key = digest::of_text(id);
        let content = digest::half(content);
        let fresh = Known { content, first: seq, latest: seq, next: 2 };
        let name = match self.known.get_mut(key) {
            Some(known) if known.is_step() && known.content == content => {
                known.latest = known.first;
                return Ok(Fate::Duplicate);
            }
            Some(known) if known.is_step() => {
                let mut number = known.next;
                let name = loop {
                    let name = format!("{id}#{number}");
                    number += 1;
                    if !self.known.contains(digest::of_text(&name)) {
                        break name;
                    }
                };
                if let Some(known) = self.known.get_mut(key) {
                    (known.latest, known.next) = (seq, number);
                }
                self.known.insert(digest::of_text(&name), fresh);
                name
            }
            // New, or until now the id of a skipped record.
            _ => {
                self.known.insert(key, fresh);
                id.to_owned()
            }
        };
        self.starts.push(self.names.append(name.as_bytes())?.offset)?;
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(name.clone());
        Ok(Fate::Step(name))
    }

    /// Lets a skipped record's id lead to `line`, unless it means something already.
    pub(crate) fn alias(&mut self, id: &str, line: Line) {
        let alias = || Known { content: digest::Half::default(), first: 0, latest: line, next: 0 };
        self.known.get_or_insert_with(digest::of_text(id), alias);
    }

    /// What the id means now.
    pub(crate) fn target(&self, id: &str) -> Option<Target> {
        let known = self.known.get(digest::of_text(id))?;
        Some(if known.is_step() { Target::Step(known.latest) } else { Target::Line(known.latest) })
    }

    /// The id that a step got.
    pub(crate) fn name(&mut self, seq: Seq) -> io::Result<String> {
        let seq = seq as usize;
        let oldest = self.starts.len() - self.recent.len();
        if seq >= oldest {
            return Ok(self.recent[seq - oldest].clone());
        }
        let (start, end) = (self.starts.get(seq), self.starts.get(seq + 1));
        let mut scratch = std::mem::take(&mut self.scratch);
        self.names.read(Segment { offset: start, length: end - start }, &mut scratch)?;
        let name = String::from_utf8_lossy(&scratch).into_owned();
        self.scratch = scratch;
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(ids: &mut Ids, id: &str, content: u128) -> Fate {
        let seq = ids.starts.len() as Seq;
        ids.register(id, content, seq).expect("a spool in memory")
    }

    fn step(name: &str) -> Fate {
        Fate::Step(name.to_owned())
    }

    #[test]
    fn an_id_is_numbered_on_when_its_records_differ_and_dropped_when_they_repeat_the_first() {
        let mut ids = Ids::new();
        assert_eq!(register(&mut ids, "x", 1), step("x"));
        assert_eq!(register(&mut ids, "x", 2), step("x#2"));
        assert_eq!(ids.target("x"), Some(Target::Step(1)));
        assert_eq!(register(&mut ids, "x", 1), Fate::Duplicate);
        assert_eq!(ids.target("x"), Some(Target::Step(0)));
        assert_eq!(register(&mut ids, "x", 2), step("x#3"));
    }

    #[test]
    fn a_number_that_is_taken_is_passed_over() {
        let mut ids = Ids::new();
        for id in ["x#2", "x"] {
            assert_eq!(register(&mut ids, id, 1), step(id));
        }
        assert_eq!(register(&mut ids, "x", 2), step("x#3"));
        assert_eq!(register(&mut ids, "x#3", 9), step("x#3#2"));
    }

    #[test]
    fn a_skipped_record_leads_on_until_its_id_is_a_step() {
        let mut ids = Ids::new();
        ids.alias("p", 7);
        ids.alias("p", 8);
        assert_eq!(ids.target("p"), Some(Target::Line(7)));
        assert_eq!(register(&mut ids, "p", 1), step("p"));
        assert_eq!(ids.target("p"), Some(Target::Step(0)));
        assert_eq!(ids.target("q"), None);
    }

    #[test]
    fn names_of_old_steps_are_found_again() {
        let mut ids = Ids::new();
        for n in 0..1000_u32 {
            register(&mut ids, &format!("id-{n}"), u128::from(n));
        }
        for n in [0, 1, 500, 999 - RECENT as u32, 1000 - RECENT as u32, 999] {
            assert_eq!(ids.name(n).expect("a spool in memory"), format!("id-{n}"));
        }
    }
}
