//! Messages that are written again under new ids before the list of messages is built anew.
//!
//! When the CLI masks or cuts old outputs, or compresses, it writes what it keeps once more, each message as a line of
//! its own with a new id and without model and tokens, and then the list. Only the list tells such lines from what was
//! said again: the last line before it repeats the last message before them all.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read};

use crate::digest::{self, Id};
use crate::lines::{End, Piece, Pieces, mend};
use crate::shape::Record;
use crate::source::{Layout, Source};
use crate::turns::Message;

/// Copies and what they are copies of.
pub(crate) type Copies = HashMap<Id, Id>;

/// Finds the copies in a log.
pub(crate) fn of(input: impl Read) -> io::Result<Copies> {
    let mut finder = Finder::default();
    let mut source = Source::new(input, Layout::Lines);
    while let Some(raw) = source.next()? {
        if raw.is_too_long() {
            continue;
        }
        let mended = mend(raw.bytes);
        for piece in Pieces::of(&mended.text, End::Whole) {
            let Piece::Record(json) = piece else { continue };
            finder.see(json);
        }
    }
    Ok(finder.copies)
}

#[derive(Default)]
struct Finder {
    /// What was said, by the user and the model: id and digest.
    said: Vec<(Id, u64)>,
    /// Where each stands.
    places: HashMap<Id, usize>,
    /// Messages from this one on could be copies.
    since: usize,
    copies: Copies,
}

impl Finder {
    fn see(&mut self, json: &str) {
        let Ok(record) = serde_json::from_str::<Record<'_>>(json) else { return };
        if let Some(target) = record.rewind_to.text() {
            let at = self.places.get(&digest::of_id(&target)).copied().unwrap_or(0);
            for (id, _) in self.said.drain(at..) {
                self.places.remove(&id);
            }
            self.since = self.since.min(at);
        } else if let Some(id) = record.id.filled() {
            self.message(digest::of_id(&id), &Message::of(record, json, &id));
        } else if let Some(patch) = record.set.object::<Record<'_>>()
            && let Some(messages) = patch.messages.list()
        {
            let list: Vec<(Id, u64)> = messages
                .into_iter()
                .filter_map(|raw| {
                    let record: Record<'_> = raw.object()?;
                    let id = record.id.filled()?;
                    let message = Message::of(record, raw.json().unwrap_or_default(), &id);
                    message.is_said().then(|| (digest::of_id(&id), message.digest()))
                })
                .collect();
            self.pair(&list);
            self.places = list.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
            self.said = list;
            self.since = self.said.len();
        }
    }

    fn message(&mut self, id: Id, message: &Message<'_>) {
        if !message.is_said() {
            return;
        }
        if let Some(&at) = self.places.get(&id) {
            self.said[at].1 = message.digest();
        } else {
            self.places.insert(id, self.said.len());
            self.said.push((id, message.digest()));
        }
        if !message.may_be_copy() {
            self.since = self.said.len();
        }
    }

    /// Pairs the last lines with what they repeat, from the last to the first.
    fn pair(&mut self, list: &[(Id, u64)]) {
        let (mut before, again) = self.said.split_at(self.since.min(self.said.len()));
        let listed: HashSet<Id> = list.iter().map(|(id, _)| *id).collect();
        for (nth, &(id, content)) in again.iter().rev().enumerate() {
            let at = before.iter().rposition(|&(_, said)| said == content);
            match at.filter(|&at| nth > 0 || at + 1 == before.len()) {
                Some(at) if listed.contains(&id) => {
                    // A copy of a copy leads to what was said.
                    let original = self.copies.get(&before[at].0).copied().unwrap_or(before[at].0);
                    self.copies.insert(id, original);
                    before = &before[..at];
                }
                _ if nth == 0 => return,
                _ => {}
            }
        }
    }
}
