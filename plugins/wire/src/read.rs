//! A view from its first byte to its last, twice: what is read when, and what is said when it cannot be.

use std::cell::Cell;
use std::io::{self, BufReader, Read, Seek};

use serde::de::{Deserialize, DeserializeSeed};
use serde_json::Deserializer;
use serde_json::de::IoRead;
use toolpath_plugin_api::{Origin, PluginError, Severity, Sink, Stopped, Summary};

use crate::mend::{Found, Mended};
use crate::order::Order;
use crate::outline::Outline;
use crate::tell;
use crate::turns::{Telling, View};

/// Tells the view that `input` holds. One record is one turn or one event.
pub(crate) fn read(input: &mut (impl Read + Seek), sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
    let found = Found::default();
    let outline = whole(&mut *input, &found, |json| Outline::deserialize(json))?;
    sink.session(&outline.session())?;
    if found.halves.get() > 0 {
        let message = "halves of surrogate pairs were replaced";
        sink.diagnostic(Severity::Info, "lone-surrogate", message, Origin::default())?;
    }
    let (turns, events) = (outline.turns.count, outline.events.0.len() as u64);
    let order = Order::of(outline.events, &outline.turns);
    drop(outline.turns);
    for event in order.first {
        sink.event(&tell::event(&event))?;
    }

    input.rewind()?;
    let mut telling = Telling { sink, after: order.after, told: 0, is_stopped: false };
    let read = whole(input, &Found::default(), |json| View(&mut telling).deserialize(json));
    if telling.is_stopped {
        return Err(Stopped.into());
    }
    read?;
    if telling.told != turns {
        return Err(PluginError::new("was changed while it was read; try again"));
    }
    Ok(Summary { records: turns + events })
}

type Json<'f, R> = Deserializer<IoRead<BufReader<Mended<'f, R>>>>;

/// Reads one JSON document, after which nothing may stand.
fn whole<'f, R: Read, T>(
    input: R,
    found: &'f Found,
    read: impl FnOnce(&mut Json<'f, R>) -> serde_json::Result<T>,
) -> Result<T, PluginError> {
    let mut json = Deserializer::from_reader(BufReader::new(Mended::new(input, found)));
    let read = read(&mut json).and_then(|value| json.end().map(|()| value));
    read.map_err(|err| refused(&err, &found.failed))
}

fn refused(err: &serde_json::Error, failed: &Cell<Option<io::Error>>) -> PluginError {
    // A failure of the file may have become part of a sentence about its content on the way here.
    if let Some(failed) = failed.take() {
        return failed.into();
    }
    if err.is_eof() {
        let (line, column) = (err.line(), err.column());
        return PluginError::new(format!("ends within the conversation view, at line {line} column {column}"));
    }
    PluginError::new(format!("is no conversation view: {err}"))
}
