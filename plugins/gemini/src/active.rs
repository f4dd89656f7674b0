//! The thread that Gemini CLI would go on with: what is left of the messages after rewinds and rebuilt lists.
//!
//! The format has no parents; a message follows the one before it in this list. What was dropped from it was told all
//! the same, and hangs where it hung: a dead end.

use std::collections::{HashMap, HashSet};

use crate::digest::Id;

/// A message of the thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) id: Id,
    /// Digest of what it says.
    pub(crate) content: u64,
    /// It is the CLI's own notice, which the model never saw and no rebuilt list has.
    pub(crate) is_notice: bool,
    /// Where the message stands on which hangs what follows this one.
    tip: u32,
}

impl Entry {
    /// A message that what follows it hangs on.
    pub(crate) fn new(id: Id, content: u64, is_notice: bool) -> Self {
        Self { id, content, is_notice, tip: 0 }
    }

    /// Whether what followed it hung on it, where it stood at `at`; else it is what a compression kept, and was told
    /// before the summary that it stands behind.
    pub(crate) fn is_tip(self, at: usize) -> bool {
        self.tip as usize == at
    }
}

/// The messages that count, in order.
#[derive(Debug, Default)]
pub(crate) struct Active {
    entries: Vec<Entry>,
}

impl Active {
    /// Adds a message that follows all others; answers where it stands.
    pub(crate) fn push(&mut self, entry: Entry) -> usize {
        self.push_before(entry, self.entries.len())
    }

    /// Adds a message behind which nothing hangs on it, but on the one that stands at `tip`.
    pub(crate) fn push_before(&mut self, entry: Entry, tip: usize) -> usize {
        let tip = u32::try_from(tip).expect("a session has fewer than four billion messages");
        self.entries.push(Entry { tip, ..entry });
        self.entries.len() - 1
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Drops the message `id` and all that follow it, or all when it is not there.
    pub(crate) fn rewind(&mut self, id: Id) {
        let at = self.entries.iter().rposition(|entry| entry.id == id).unwrap_or(0);
        self.entries.truncate(at);
    }

    /// The message that the next one follows.
    pub(crate) fn last(&self) -> Option<Id> {
        self.entries.last().map(|last| self.entries[last.tip as usize].id)
    }

    /// Takes the list away, to be built anew.
    pub(crate) fn take(&mut self) -> Rebuilt {
        let old = std::mem::take(&mut self.entries);
        let mut same: HashMap<u64, Vec<usize>> = HashMap::new();
        for (at, entry) in old.iter().enumerate() {
            same.entry(entry.content).or_default().push(at);
        }
        let places = old.iter().enumerate().map(|(at, entry)| (entry.id, at)).collect();
        Rebuilt { old, places, same, passed: 0, notices: HashSet::new() }
    }
}

/// The list that was, while another is built of it.
#[derive(Debug)]
pub(crate) struct Rebuilt {
    old: Vec<Entry>,
    places: HashMap<Id, usize>,
    /// Where messages that say the same stand.
    same: HashMap<u64, Vec<usize>>,
    /// Messages before this one have their copies already.
    passed: usize,
    /// Notices that were taken over.
    notices: HashSet<usize>,
}

impl Rebuilt {
    /// Passes the message `id`, when it was in the list; says where.
    fn pass(&mut self, id: Id) -> Option<(usize, Entry)> {
        let at = *self.places.get(&id)?;
        self.passed = self.passed.max(at + 1);
        Some((at, self.old[at]))
    }

    /// The message `id`, or what it is a copy of, when it was in the list; and where.
    pub(crate) fn entry(&mut self, id: Id, original: Option<Id>) -> Option<(usize, Entry)> {
        self.pass(id).or_else(|| self.pass(original?))
    }

    /// The next message that says what a copy says.
    pub(crate) fn original(&mut self, content: u64) -> Option<(usize, Entry)> {
        let same = self.same.get(&content)?;
        let at = *same.get(same.partition_point(|&at| at < self.passed))?;
        self.passed = at + 1;
        Some((at, self.old[at]))
    }

    /// Takes over the notices that stood from `at` on, up to the next message: each once.
    pub(crate) fn notices(&mut self, at: usize) -> Vec<(usize, Entry)> {
        let notices = self.old.iter().copied().enumerate().skip(at).take_while(|(_, entry)| entry.is_notice);
        notices.filter(|&(at, _)| self.notices.insert(at)).collect()
    }

    /// Takes over the notice that stood at `at`, unless it was.
    pub(crate) fn notice(&mut self, at: usize) -> bool {
        self.notices.insert(at)
    }
}
