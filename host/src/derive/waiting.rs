//! Turns that wait for the results of their tool calls.
//!
//! A turn's place is fixed when it arrives; its content may come later, in any order and however much later. What
//! waits stays in memory up to a limit; beyond it the turn that has waited longest goes to a spool, and its results are
//! laid beside it as they come. There is no limit that changes the document.

use std::collections::{HashMap, VecDeque};
use std::io;

use serde::{Deserialize, Serialize};

use crate::derive::ids::Seq;
use crate::spool::{Segment, Spool};
use crate::turn::{DelegatedWork, FileMutation, TokenUsage, ToolResult, Turn};

/// Bytes of waiting turns kept in memory.
const IN_MEMORY: usize = 16 * 1024 * 1024;

/// A turn whose place is fixed, and everything that is fixed with it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) parents: Vec<String>,
    pub(crate) actor: String,
    pub(crate) turn: Turn<'static>,
    pub(crate) needs_result: Vec<u32>,
    pub(crate) partial: Vec<u32>,
}

/// What comes to a turn after it arrived.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Brought {
    /// The result of one of its calls.
    Result(Box<CallResult>),
    /// The turn after it is known, and with it the usage that it carries.
    Usage(Option<TokenUsage>),
    /// One of its calls can have no result any more.
    Nothing,
}

/// What a tool call's result brings.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallResult {
    pub(crate) call: u32,
    pub(crate) result: ToolResult<'static>,
    pub(crate) file_mutations: Vec<FileMutation<'static>>,
    pub(crate) partial: Vec<u32>,
    pub(crate) delegations: Vec<DelegatedWork<'static>>,
}

impl Held {
    fn take(&mut self, brought: Brought) {
        let brought = match brought {
            Brought::Result(brought) => *brought,
            Brought::Usage(usage) => {
                self.turn.token_usage = usage;
                return;
            }
            Brought::Nothing => return,
        };
        if let Some(call) = self.turn.tool_uses.get_mut(brought.call as usize) {
            call.result = Some(brought.result);
        }
        let before = self.turn.file_mutations.len() as u32;
        self.partial.extend(brought.partial.into_iter().map(|index| before + index));
        self.turn.file_mutations.extend(brought.file_mutations);
        self.turn.delegations.extend(brought.delegations);
    }

    /// Roughly the bytes it takes.
    fn weight(&self) -> usize {
        let turn = &self.turn;
        let calls: usize = turn
            .tool_uses
            .iter()
            .map(|call| {
                200 + call.input.text().len() + call.result.as_ref().map_or(0, |result| result.content.length())
            })
            .sum();
        let files: usize = turn.file_mutations.iter().map(weight_of_file).sum();
        600 + turn.text.len() + turn.thinking.as_ref().map_or(0, |text| text.len()) + calls + files
    }
}

fn weight_of_file(mutation: &FileMutation<'_>) -> usize {
    [&mutation.raw_diff, &mutation.before, &mutation.after]
        .iter()
        .map(|text| text.as_ref().map_or(0, |text| text.len()))
        .sum::<usize>()
        + 200
}

impl Brought {
    fn weight(&self) -> usize {
        match self {
            Self::Result(brought) => {
                200 + brought.result.content.length() + brought.file_mutations.iter().map(weight_of_file).sum::<usize>()
            }
            Self::Usage(_) | Self::Nothing => 0,
        }
    }
}

/// A turn that waits, and for how many things.
#[derive(Debug)]
struct Slot {
    outstanding: u32,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory { held: Box<Held>, weight: usize },
    Spooled { held: Segment, brought: Vec<Segment> },
}

/// The turns that wait.
#[derive(Debug)]
pub(crate) struct Waiting {
    slots: HashMap<Seq, Slot>,
    /// Turns in memory, the one that has waited longest first; some may have left since.
    order: VecDeque<Seq>,
    weight: usize,
    limit: usize,
    spool: Spool,
}

impl Default for Waiting {
    fn default() -> Self {
        Self::with_limit(IN_MEMORY)
    }
}

impl Waiting {
    fn with_limit(limit: usize) -> Self {
        Self { slots: HashMap::new(), order: VecDeque::new(), weight: 0, limit, spool: Spool::new(0) }
    }

    /// Lets a turn wait for that many things.
    pub(crate) fn hold(&mut self, seq: Seq, held: Held, outstanding: u32) -> io::Result<()> {
        let weight = held.weight();
        self.weight += weight;
        self.slots.insert(seq, Slot { outstanding, place: Place::Memory { held: Box::new(held), weight } });
        self.order.push_back(seq);
        self.make_room()
    }

    /// Brings one thing to the turn that waits for it; a turn that waits for nothing more is released.
    pub(crate) fn bring(&mut self, seq: Seq, brought: Brought) -> io::Result<Option<Held>> {
        let Some(slot) = self.slots.get_mut(&seq) else { return Ok(None) };
        slot.outstanding = slot.outstanding.saturating_sub(1);
        let outstanding = slot.outstanding;
        match &mut slot.place {
            Place::Memory { held, weight } => {
                let more = brought.weight();
                held.take(brought);
                *weight += more;
                self.weight += more;
            }
            Place::Spooled { brought: pieces, .. } => pieces.push(self.spool.append(&serde_json::to_vec(&brought)?)?),
        }
        if outstanding == 0 {
            return self.release(seq);
        }
        self.make_room()?;
        Ok(None)
    }

    /// The turns that still wait, in order.
    pub(crate) fn waiting(&self) -> Vec<Seq> {
        let mut waiting: Vec<Seq> = self.slots.keys().copied().collect();
        waiting.sort_unstable();
        waiting
    }

    /// Takes a turn out, with all that was brought to it.
    pub(crate) fn release(&mut self, seq: Seq) -> io::Result<Option<Held>> {
        match self.slots.remove(&seq).map(|slot| slot.place) {
            Some(Place::Memory { held, weight }) => {
                self.weight -= weight;
                while self.order.front().is_some_and(|seq| !self.slots.contains_key(seq)) {
                    self.order.pop_front();
                }
                Ok(Some(*held))
            }
            Some(Place::Spooled { held, brought }) => {
                let mut piece = Vec::new();
                self.spool.read(held, &mut piece)?;
                let mut held: Held = serde_json::from_slice(&piece)?;
                for segment in brought {
                    self.spool.read(segment, &mut piece)?;
                    held.take(serde_json::from_slice(&piece)?);
                }
                Ok(Some(held))
            }
            None => Ok(None),
        }
    }

    fn make_room(&mut self) -> io::Result<()> {
        while self.weight > self.limit {
            let Some(seq) = self.order.pop_front() else { return Ok(()) };
            let Some(slot) = self.slots.get_mut(&seq) else { continue };
            if let Place::Memory { held, weight } = &slot.place {
                let segment = self.spool.append(&serde_json::to_vec(held)?)?;
                self.weight -= weight;
                slot.place = Place::Spooled { held: segment, brought: Vec::new() };
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Words;

    fn held(name: &str) -> Held {
        let call = |id: &str| format!(r#"{{"id":"{id}","name":"Edit","input":{{"file_path":"/a"}},"result":null}}"#);
        let turn = format!(
            r#"{{"id":"{name}","role":"Assistant","timestamp":"","text":"é","tool_uses":[{},{}]}}"#,
            call("c"),
            call("d")
        );
        Held {
            id: name.to_owned(),
            parents: vec!["p".to_owned()],
            actor: "agent:m".to_owned(),
            turn: serde_json::from_str(&turn).expect("a turn"),
            needs_result: vec![1],
            partial: Vec::new(),
        }
    }

    fn result(call: u32) -> Brought {
        Brought::Result(Box::new(CallResult {
            call,
            result: ToolResult { content: Words::of("x".repeat(3000)), is_error: call == 1 },
            file_mutations: vec![FileMutation { path: "/a".into(), ..FileMutation::default() }],
            partial: vec![0],
            delegations: Vec::new(),
        }))
    }

    #[test]
    fn a_turn_that_waited_on_disk_is_the_one_that_waited_in_memory() {
        let outcome = |limit: usize| {
            let mut waiting = Waiting::with_limit(limit);
            for seq in 0..20 {
                waiting.hold(seq, held(&format!("t{seq}")), 3).expect("holding");
            }
            let mut left = Vec::new();
            for seq in (0..20).rev() {
                let usage = TokenUsage { output_tokens: Some(u64::from(seq)), ..TokenUsage::default() };
                for brought in [result(1), Brought::Usage(Some(usage)), result(0)] {
                    left.extend(waiting.bring(seq, brought).expect("bringing"));
                }
            }
            assert_eq!(waiting.waiting(), Vec::<Seq>::new());
            left
        };
        let in_memory = outcome(usize::MAX);
        assert_eq!(in_memory.len(), 20);
        assert_eq!(in_memory[3].partial, [0, 1]);
        assert_eq!(in_memory[3].turn.tool_uses[1].result.as_ref().map(|result| result.is_error), Some(true));
        assert_eq!(in_memory[3].turn.token_usage.as_ref().and_then(|usage| usage.output_tokens), Some(16));
        assert_eq!(outcome(0), in_memory);
        assert_eq!(outcome(20_000), in_memory);
    }

    #[test]
    fn a_turn_leaves_once() {
        let mut waiting = Waiting::default();
        waiting.hold(4, held("t"), 2).expect("holding");
        assert!(waiting.bring(4, Brought::Nothing).expect("bringing").is_none());
        assert_eq!(waiting.waiting(), [4]);
        assert!(waiting.release(4).expect("releasing").is_some());
        assert!(waiting.release(4).expect("releasing").is_none());
        assert_eq!(waiting.weight, 0);
        assert!(waiting.order.is_empty());
    }
}
