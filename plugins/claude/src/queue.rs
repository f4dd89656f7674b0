//! Prompts that a human typed while Claude worked, and that no message repeats.
//!
//! A prompt is put in the queue, and leaves it in one of three ways: as a prompt of its own (`dequeue`, a user record
//! follows), into what Claude is doing (`remove`), or back into the human's hands (`popAll`). Versions that keep
//! attachments write one where it went into Claude's work; older ones do not, and only the queue tells of the prompt.

use std::collections::VecDeque;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::{Origin, Role, Sink, Stopped, TurnRecord};

use crate::content::Content;
use crate::place::Place;
use crate::shape::Record;
use crate::words;

/// Bytes of prompts that are remembered; what is beyond is told as the queue's records only.
const MOST: usize = 1024 * 1024;
/// Prompts that are remembered at a time.
const LONGEST: usize = 1024;
/// Since this version a prompt that went into Claude's work is an attachment.
const ATTACHED: [u64; 3] = [2, 1, 97];

/// The queue as far as the records tell.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: VecDeque<Prompt>,
    /// What went into Claude's work, and what no attachment repeated yet.
    taken: VecDeque<Prompt>,
}

/// One prompt.
#[derive(Debug)]
pub(crate) struct Prompt {
    id: String,
    time: String,
    text: String,
    origin: Origin,
}

impl Queue {
    /// Takes note of a record of the queue, in a log of that version.
    pub(crate) fn learn(&mut self, record: &Record<'_>, place: &Place<'_>, version: Option<&str>) {
        let text = Content::of(record.content, "", false).text;
        // The first in, first out, unless the record says which.
        let which = self.waiting.iter().position(|prompt| !text.is_empty() && prompt.text == text).unwrap_or(0);
        match record.operation.text().as_deref() {
            Some("enqueue") => self.enqueue(&text, place),
            Some("dequeue") => drop(self.waiting.remove(which)),
            Some("remove") => {
                let prompt = self.waiting.remove(which);
                self.taken.extend(prompt.filter(|_| version.is_some_and(is_before_attachments)));
            }
            Some("popAll") => self.waiting.clear(),
            _ => {}
        }
    }

    fn enqueue(&mut self, text: &str, place: &Place<'_>) {
        if self.waiting.len() >= LONGEST {
            return;
        }
        let held: usize = self.waiting.iter().chain(&self.taken).map(|prompt| prompt.text.len()).sum();
        // A place is kept even for what is no prompt, since what leaves the queue does not say what it is.
        let is_kept = held + text.len() <= MOST && !words::is_command(text.trim());
        self.waiting.push_back(Prompt {
            id: format!("{}/prompt", place.id),
            time: (*place.time).to_owned(),
            text: if is_kept { text.to_owned() } else { String::new() },
            origin: place.origin,
        });
    }

    /// A message repeats the prompt `content`.
    pub(crate) fn repeat(&mut self, content: Field<'_>) {
        if self.waiting.is_empty() && self.taken.is_empty() {
            return;
        }
        let text = Content::of(content, "", false).text;
        for queue in [&mut self.taken, &mut self.waiting] {
            if let Some(at) = queue.iter().position(|prompt| prompt.text == text) {
                queue.remove(at);
                return;
            }
        }
    }

    /// What went into Claude's work before the message that is told next.
    pub(crate) fn take(&mut self) -> Vec<Prompt> {
        self.taken.drain(..).filter(Prompt::is_said).collect()
    }

    /// What was typed and never left the queue, when the log ends.
    pub(crate) fn rest(mut self) -> Vec<Prompt> {
        let rest = self.taken.drain(..).chain(self.waiting.drain(..));
        rest.filter(|prompt| prompt.is_said() && words::of_text(&prompt.text).is_none()).collect()
    }
}

impl Prompt {
    /// The id of its turn.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Tells it as a part of the queue's record, after `parent`.
    pub(crate) fn tell(&self, parent: Option<&str>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let mut turn = TurnRecord::new(Role::User, &self.id, &self.time, self.origin);
        turn.parent(parent).parent_or_previous().part_of_record().text(&self.text);
        if let Some(signal) = words::of_text(&self.text) {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)
    }

    fn is_said(&self) -> bool {
        !self.text.trim().is_empty()
    }
}

fn is_before_attachments(version: &str) -> bool {
    let mut numbers = version.split('.').map(|number| number.parse::<u64>().ok());
    let mut number = || numbers.next().flatten();
    let mut version = || Some([number()?, number()?, number()?]);
    version().is_some_and(|version| version < ATTACHED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, expected) in [
            ("2.0.76", true),
            ("2.1.9", true),
            ("2.1.96", true),
            ("2.1.97", false),
            ("2.1.220", false),
            ("3.0.0", false),
        ] {
            assert_eq!(is_before_attachments(version), expected, "{version}");
        }
        for odd in ["", "2", "2.1", "2.x.1", "[trimmed]"] {
            assert!(!is_before_attachments(odd), "{odd}");
        }
    }
}
