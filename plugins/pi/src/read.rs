//! From lines to what is told: the order of things, and what becomes of each record.

use std::io::Read;

use toolpath_plugin_api::kit::json::{mend_surrogates, quoted};
use toolpath_plugin_api::kit::lines::{Line, Lines, trim, within};
use toolpath_plugin_api::kit::tree::Places;
use toolpath_plugin_api::{EventRecord, Origin, PluginError, SessionRecord, Severity, Sink, Stopped, Summary};

use crate::events;
use crate::facts::{Facts, News};
use crate::known::is_known;
use crate::lines::{End, Piece, Pieces};
use crate::messages::{self, Words};
use crate::place::{Place, line_id};
use crate::roots::Roots;
use crate::shape::{Message, Record};

/// Reads one session.
pub(crate) struct Reader<'i> {
    id: &'i str,
    facts: Facts,
    roots: Roots,
    /// Where the values of a line stand.
    places: Places,
    records: u64,
    /// Whether a record was one that Pi writes.
    is_recognised: bool,
}

impl<'i> Reader<'i> {
    /// Reads the session `id`.
    pub(crate) fn new(id: &'i str) -> Self {
        Self {
            id,
            facts: Facts::default(),
            roots: Roots::default(),
            places: Places::default(),
            records: 0,
            is_recognised: false,
        }
    }

    /// Tells every record of `log`, and how many there were.
    pub(crate) fn read(mut self, log: impl Read, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        sink.session(&SessionRecord::new(self.id))?;
        let mut lines = Lines::new(log);
        while let Some(line) = lines.next()? {
            if !line.is_blank() {
                self.line(&line, sink)?;
            }
        }
        if self.records == 0 {
            return Err(PluginError::new("holds no records; name a session file of Pi"));
        }
        if !self.is_recognised {
            return Err(PluginError::new("holds no record of Pi; name a session file of it, or another --provider"));
        }
        self.facts.whole(self.id, |session| sink.session(session))?;
        Ok(Summary { records: self.records })
    }

    fn line(&mut self, line: &Line<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let origin = Origin { file: 0, line: line.number, offset: line.offset, length: line.length };
        let (text, is_faithful) = line.text();
        if !is_faithful {
            sink.diagnostic(Severity::Warning, "invalid-utf8", "bytes that are no UTF-8 were replaced", origin)?;
        }
        if line.is_cut() {
            let reason = "the line is too long, and only its beginning is kept";
            return self.unreadable(&text, reason, 0, origin, sink);
        }
        let mended = mend_surrogates(&text);
        if mended.is_some() {
            sink.diagnostic(Severity::Info, "lone-surrogate", "halves of surrogate pairs were replaced", origin)?;
        }
        let whole = mended.as_deref().unwrap_or(&text);
        let trimmed = trim(whole);
        if trimmed.is_empty() {
            let nuls = format!("{} NUL bytes", line.bytes.iter().filter(|&&byte| byte == 0).count());
            return self.unreadable(&nuls, "the line holds nothing but NUL bytes", 0, origin, sink);
        }
        let mut places = std::mem::take(&mut self.places);
        let tree = if is_faithful && mended.is_none() { places.of(trimmed) } else { None };
        let told = tree.map(|tree| {
            self.records += 1;
            self.record(&tree.root().object_or_default(), trimmed, 0, origin, sink)
        });
        self.places = places;
        if let Some(told) = told {
            return told;
        }
        let end = if line.ended { End::Newline } else { End::File };
        for (nth, piece) in Pieces::of(trimmed, end).enumerate() {
            let (Piece::Record(_, part) | Piece::Unreadable(part, _)) = &piece;
            // Where bytes were replaced, a piece's place in the text is not its place in the file.
            let is_placed = is_faithful && mended.is_none() && part.len() < trimmed.len();
            let origin = if is_placed { within(origin, whole, part) } else { origin };
            match piece {
                Piece::Record(record, json) => {
                    self.records += 1;
                    self.record(&record, json, nth, origin, sink)?;
                }
                Piece::Unreadable(text, reason) => self.unreadable(text, &reason, nth, origin, sink)?,
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        record: &Record<'_>,
        json: &str,
        nth: usize,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        self.is_recognised = self.is_recognised || is_known(record);
        let kind = record.kind.filled();
        let message: Option<Message<'_>> =
            if kind.as_deref() == Some("message") { record.message.object() } else { None };
        let mut place = Place::of(record, message.unwrap_or_default().timestamp, nth, origin);
        if self.facts.learn(record, &place.time) == News::Header {
            sink.session(&self.facts.base(self.id))?;
        }
        let is_turn = self.roots.place(&mut place, kind.as_deref(), message.as_ref());
        let working_dir = self.facts.working_dir();
        match (message, kind.as_deref()) {
            (Some(message), _) => messages::tell(&message, json, &place, working_dir, sink),
            (None, Some("custom_message")) if is_turn => {
                let Record { content, custom_type, display, details, .. } = *record;
                messages::extension(&Words { content, custom_type, display, details }, &place, working_dir, sink)
            }
            (None, kind) => events::named(kind.unwrap_or("unknown"), json, &place, sink),
        }
    }

    fn unreadable(
        &mut self,
        text: &str,
        reason: &str,
        nth: usize,
        origin: Origin,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        self.records += 1;
        let (id, data) = (line_id(origin.line, nth), format!(r#"{{"raw":{}}}"#, quoted(text)));
        sink.event(EventRecord::new("unreadable", &id, "", origin).data(&data).unreadable())?;
        sink.diagnostic(Severity::Error, "unreadable-record", reason, origin)
    }
}
