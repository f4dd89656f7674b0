//! Writes the streaming form of a document: one line a step, as soon as it may leave.
//!
//! The first line names the path and its base, so steps wait until the base is known or the session ends. What is
//! learnt late (title, files, producer) comes in one line at the end. A stream without `PathClose` as its last line is
//! incomplete: its run failed, or still goes on.

use std::io::{self, Write};

use serde::Serialize;

use crate::derive::{Deriver, Steps};
use crate::document::{Base, Choices, KIND, Producer, base, path_id, title};
use crate::error::Error;
use crate::output::Output;
use crate::record::SessionFacts;

/// A stream that is being written.
#[derive(Debug)]
pub struct Stream<'s> {
    out: &'s mut Output,
    choices: &'s Choices,
    is_live: bool,
    /// The title that the first line told.
    opened: Option<Option<String>>,
}

#[derive(Serialize)]
enum Line<'a> {
    PathOpen {
        version: &'a str,
        id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        base: Option<Base<'a>>,
        meta: OpenMeta<'a>,
    },
    PathMeta {
        patch: Patch<'a>,
    },
    Head {
        step_id: &'a str,
    },
    PathClose {},
}

#[derive(Serialize)]
struct OpenMeta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

#[derive(Serialize)]
struct Patch<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files_changed: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    producer: Option<Producer<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vcs_remote: Option<&'a str>,
}

impl<'s> Stream<'s> {
    /// Begins a stream to `out`.
    pub fn new(out: &'s mut Output, choices: &'s Choices) -> Self {
        let is_live = out.is_live();
        Self { out, choices, is_live, opened: None }
    }

    /// Lets what is finished leave, once the base is known.
    pub fn advance(
        &mut self,
        provider: &Provider<'_>,
        facts: &SessionFacts,
        deriver: &mut Deriver,
    ) -> Result<(), Error> {
        if self.opened.is_none() {
            if facts.working_dir.is_none() {
                return Ok(());
            }
            self.open(provider, facts, None)?;
        }
        let mut any = false;
        self.out.write(|out| {
            any = deriver.leave(out)?;
            Ok(())
        })?;
        if any && self.is_live { self.out.flush() } else { Ok(()) }
    }

    /// Ends the stream.
    pub fn finish(mut self, provider: &Provider<'_>, facts: &SessionFacts, steps: Steps) -> Result<(), Error> {
        let Steps { mut pieces, head, first_working_dir, .. } = steps;
        if self.opened.is_none() {
            self.open(provider, facts, first_working_dir.as_deref())?;
        }
        let told = self.opened.take().flatten();
        let title = Some(title(self.choices, facts, provider.id)).filter(|title| Some(title) != told.as_ref());
        let patch = Patch {
            title,
            files_changed: facts.files_changed.as_deref().unwrap_or(pieces.files()),
            producer: Producer::of(facts),
            vcs_remote: facts.vcs_remote.as_deref(),
        };
        let mut last = Vec::new();
        let is_empty = patch.title.is_none()
            && patch.files_changed.is_empty()
            && patch.producer.is_none()
            && patch.vcs_remote.is_none();
        if !is_empty {
            write_line(&Line::PathMeta { patch }, &mut last).map_err(Error::Spool)?;
        }
        if !head.is_empty() {
            write_line(&Line::Head { step_id: &head }, &mut last).map_err(Error::Spool)?;
        }
        write_line(&Line::PathClose {}, &mut last).map_err(Error::Spool)?;
        self.out.write(|out| {
            pieces.leave(out)?;
            out.write_all(&last)
        })
    }

    fn open(&mut self, provider: &Provider<'_>, facts: &SessionFacts, first: Option<&str>) -> Result<(), Error> {
        let told = self.choices.title.clone().or_else(|| facts.title.clone());
        let line = Line::PathOpen {
            version: "1",
            id: path_id(self.choices, facts, provider.id),
            base: base(self.choices, facts, first),
            meta: OpenMeta { title: told.as_deref(), kind: KIND, source: provider.source },
        };
        self.out.write(|out| write_line(&line, out))?;
        self.opened = Some(told);
        if self.is_live { self.out.flush() } else { Ok(()) }
    }
}

/// The provider of a session.
#[derive(Clone, Copy, Debug)]
pub struct Provider<'p> {
    /// Its id; `unknown` when nobody named it.
    pub id: &'p str,
    /// Its id, when somebody named it.
    pub source: Option<&'p str>,
}

fn write_line(line: &Line<'_>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    out.write_all(&text)
}
