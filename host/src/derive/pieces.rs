//! Finished turns and events, written in the form that the result has, each where its place in the order is kept.
//!
//! Pieces are finished in any order and read in the order of the path. In a document a piece is a step followed by a
//! comma; in a stream it is a line, behind the definition of the actor that it uses first; in a view turns and events
//! are kept apart.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use serde::Serialize;

use crate::derive::actor::ActorEntry;
use crate::derive::change::{self, Detail, Marks};
use crate::derive::ids::Seq;
use crate::derive::tally::Tally;
use crate::derive::waiting::Held;
use crate::digest;
use crate::json::Json;
use crate::spool::{Segment, Spool};
use crate::step::{Change, EventData, Step, StepIdentity, Structural};
use crate::turn::{Event, Role};

/// Bytes of finished pieces kept in memory before they go to a file.
const IN_MEMORY: usize = 4 * 1024 * 1024;

/// The form of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One document.
    Document,
    /// A stream of lines.
    Stream,
    /// The conversation in wire form.
    View,
    /// No text at all: only how much there was of what.
    Tally,
}

/// An event whose place is fixed.
pub(crate) struct PlacedEvent<'a> {
    pub(crate) id: &'a str,
    pub(crate) parents: &'a [String],
    pub(crate) actor: &'a str,
    /// The turn on whose line it stands.
    pub(crate) turn: Option<String>,
    pub(crate) source_id: &'a str,
    pub(crate) timestamp: &'a str,
    pub(crate) event_type: &'a str,
    pub(crate) data: Option<&'a Json<'a>>,
}

/// Where a piece lies; smaller than a segment, since there is one for each step. Empty while it is not finished.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The halves of its offset.
    offset: [u32; 2],
    length: u32,
}

impl Place {
    fn of(segment: Segment) -> io::Result<Self> {
        let offset = [(segment.offset >> 32) as u32, segment.offset as u32];
        let length = u32::try_from(segment.length).map_err(|_| io::Error::other("a step takes more than 4 GiB"))?;
        Ok(Self { offset, length })
    }

    fn segment(self) -> Segment {
        let [high, low] = self.offset;
        Segment { offset: u64::from(high) << 32 | u64::from(low), length: self.length.into() }
    }
}

/// The pieces of one path.
#[derive(Debug)]
pub(crate) struct Pieces {
    form: Form,
    /// Key of every conversation change.
    key: String,
    detail: Detail,
    spool: Spool,
    /// Where each step's piece lies; empty while it is not finished.
    index: Vec<Place>,
    /// In a view, the events.
    events: Vec<Place>,
    /// Actors that are defined with the step that uses them first.
    definitions: HashMap<Seq, (String, ActorEntry)>,
    /// The files that were written.
    files: Vec<String>,
    files_seen: digest::Set,
    /// In a stream, the pieces that left already.
    left: usize,
    tally: Tally,
}

#[derive(Serialize)]
enum Line<'a> {
    ActorDef { actor: &'a str, definition: &'a ActorEntry },
    Step(&'a Step<'a>),
}

impl Pieces {
    pub(crate) fn new(form: Form, key: String, detail: Detail) -> Self {
        Self {
            form,
            key,
            detail,
            spool: Spool::new(IN_MEMORY),
            index: Vec::new(),
            events: Vec::new(),
            definitions: HashMap::new(),
            files: Vec::new(),
            files_seen: digest::Set::default(),
            left: 0,
            tally: Tally::default(),
        }
    }

    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Keeps a place for the next step.
    pub(crate) fn reserve(&mut self) {
        self.index.push(Place::default());
    }

    /// Takes note of an actor that step `seq` is the first to use.
    pub(crate) fn define(&mut self, seq: Seq, actor: &str, entry: &ActorEntry) {
        if self.form == Form::Stream {
            self.definitions.insert(seq, (actor.to_owned(), entry.clone()));
        }
    }

    /// Writes the turn at `seq`.
    pub(crate) fn turn(&mut self, seq: Seq, held: &Held) -> io::Result<()> {
        if self.form == Form::Tally {
            let (turn, is_answer) = (&held.turn, held.turn.role != Role::User);
            self.tally.turn(&held.actor, is_answer, turn.model.as_deref(), turn.token_usage.as_ref());
            return Ok(());
        }
        let marks = Marks { needs_result: &held.needs_result, partial: &held.partial };
        let key = std::mem::take(&mut self.key);
        let change = change::changes(&held.turn, marks, &key, self.detail);
        for (path, change) in &change {
            if matches!(change.structural, Structural::Write(_)) && self.files_seen.insert(digest::of_text(path)) {
                self.files.push(path.to_string());
            }
        }
        let written = if self.form == Form::View {
            self.append(&change::without(&held.turn, self.detail), b",").map(|piece| self.index[seq as usize] = piece)
        } else {
            let step = StepIdentity {
                id: &held.id,
                parents: &held.parents,
                actor: &held.actor,
                timestamp: &held.turn.timestamp,
            };
            self.step(seq, &Step { step, change })
        };
        self.key = key;
        written
    }

    /// Writes the event at `seq`.
    pub(crate) fn event(&mut self, seq: Seq, event: &PlacedEvent<'_>) -> io::Result<()> {
        if self.form == Form::Tally {
            self.tally.step(event.actor);
            return Ok(());
        }
        let data = match event.data {
            None => BTreeMap::new(),
            // Data that is no object, or could not be read as one.
            Some(data) => serde_json::from_str(data.text())
                .unwrap_or_else(|_| BTreeMap::from([("data".to_owned(), data.clone())])),
        };
        if self.form == Form::View {
            let event = Event {
                id: event.source_id.into(),
                timestamp: event.timestamp.into(),
                parent_id: event.turn.as_deref().map(Cow::Borrowed),
                event_type: event.event_type.into(),
                data,
            };
            let piece = self.append(&event, b",")?;
            self.events.push(piece);
            return Ok(());
        }
        let structural =
            Structural::Event(EventData { entry_type: event.event_type, source_id: event.source_id, data });
        let key = std::mem::take(&mut self.key);
        let step = Step {
            step: StepIdentity { id: event.id, parents: event.parents, actor: event.actor, timestamp: event.timestamp },
            change: BTreeMap::from([(key.as_str().into(), Change { raw: None, structural })]),
        };
        let written = self.step(seq, &step);
        self.key = key;
        written
    }

    fn step(&mut self, seq: Seq, step: &Step<'_>) -> io::Result<()> {
        let piece = match self.form {
            Form::Stream => {
                let definition = self.definitions.remove(&seq);
                let definition = definition.as_ref().map(|(actor, definition)| Line::ActorDef { actor, definition });
                Place::of(self.spool.append_with(|piece| {
                    for line in definition.into_iter().chain([Line::Step(step)]) {
                        serde_json::to_writer(&mut *piece, &line)?;
                        piece.push(b'\n');
                    }
                    Ok(())
                })?)?
            }
            Form::Document | Form::View | Form::Tally => self.append(step, b",")?,
        };
        self.index[seq as usize] = piece;
        Ok(())
    }

    fn append(&mut self, piece: &impl Serialize, end: &[u8]) -> io::Result<Place> {
        Place::of(self.spool.append_with(|to| {
            serde_json::to_writer(&mut *to, piece)?;
            to.extend_from_slice(end);
            Ok(())
        })?)
    }

    /// Copies the pieces that are finished, with all before them, and have not left yet; says whether there were any.
    pub(crate) fn leave(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        let ready = self.index[self.left..].iter().take_while(|piece| piece.length > 0).count();
        let pieces = self.left..self.left + ready;
        self.left = pieces.end;
        self.spool.copy_all(self.index[pieces].iter().map(|piece| piece.segment()), out)?;
        Ok(ready > 0)
    }

    /// How much there was of what, where only that was asked for.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The files that the steps write, in the order in which their steps were finished.
    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    /// Writes the pieces with commas between them.
    pub(crate) fn write_list(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let index = std::mem::take(&mut self.index);
        self.write(&index, out)
    }

    /// Writes a view's events with commas between them.
    pub(crate) fn write_events(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let events = std::mem::take(&mut self.events);
        self.write(&events, out)
    }

    pub(crate) fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    fn write(&mut self, pieces: &[Place], out: &mut dyn Write) -> io::Result<()> {
        let last = pieces.iter().rposition(|piece| piece.length > 0);
        let pieces = pieces.iter().enumerate().filter(|(_, piece)| piece.length > 0).map(|(nth, piece)| {
            // Without the comma that follows the last piece, too.
            let length = u64::from(piece.length) - u64::from(Some(nth) == last);
            Segment { length, ..piece.segment() }
        });
        let is_last = self.index.is_empty() && self.events.is_empty();
        if is_last { self.spool.copy_last(pieces, out) } else { self.spool.copy_all(pieces, out) }
    }
}
