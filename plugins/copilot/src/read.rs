//! From lines to what is told: the order of things, and what becomes of each record.

use std::io::Read;

use toolpath_plugin_api::kit::json::{mend_surrogates, quoted};
use toolpath_plugin_api::kit::lines::{Line, Lines, trim, within};
use toolpath_plugin_api::kit::tree::Places;
use toolpath_plugin_api::{
    Disposition, EventRecord, Origin, PluginError, Role, SessionRecord, Severity, Sink, SkipRecord, Stopped, Summary,
};

use crate::facts::Facts;
use crate::joined::{Held, State};
use crate::known::is_known;
use crate::lines::{Fault, Piece, is_whole, pieces};
use crate::place::{Place, line_id};
use crate::shape::{Data, Record};
use crate::signal::Signal;
use crate::streams::{MAIN, Streams};
use crate::usage::Totals;
use crate::workspace::Workspace;
use crate::{events, messages, notices, results};

/// Reads one session.
pub(crate) struct Reader<'i> {
    id: &'i str,
    workspace: Workspace,
    facts: Facts,
    streams: Streams,
    totals: Totals,
    /// A record that goes on in the next line.
    held: Option<Held>,
    /// Where the values of a line stand.
    places: Places,
    records: u64,
    /// Whether a record was one that Copilot writes.
    is_recognised: bool,
}

impl<'i> Reader<'i> {
    /// Reads the session `id`.
    pub(crate) fn new(id: &'i str, workspace: Workspace) -> Self {
        Self {
            id,
            workspace,
            facts: Facts::default(),
            streams: Streams::default(),
            totals: Totals::default(),
            held: None,
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
            if self.held.is_some() || !line.is_blank() {
                self.line(&line, sink)?;
            }
        }
        self.give_up("the file ends inside a record", sink)?;
        for at in self.streams.places() {
            messages::left_alone(self.streams.at(at), sink)?;
        }
        if self.records == 0 {
            return Err(PluginError::new("holds no records; name a session of Copilot"));
        }
        if !self.is_recognised {
            let message = "holds no record of Copilot; name a session of it, or another --provider";
            return Err(PluginError::new(message));
        }
        self.facts.whole(self.id, &self.workspace, self.totals.whole(), |session| sink.session(session))?;
        Ok(Summary { records: self.records })
    }

    fn line(&mut self, line: &Line<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let origin = Origin { file: 0, line: line.number, offset: line.offset, length: line.length };
        let (text, is_faithful) = line.text();
        if !is_faithful {
            sink.diagnostic(Severity::Warning, "invalid-utf8", "bytes that are no UTF-8 were replaced", origin)?;
        }
        if line.is_cut() {
            self.give_up("the line ends inside a record", sink)?;
            let reason = "the line is too long, and only its beginning is kept";
            return self.unreadable(&text, reason, 0, origin, sink);
        }
        let mended = mend_surrogates(&text);
        if mended.is_some() {
            sink.diagnostic(Severity::Info, "lone-surrogate", "halves of surrogate pairs were replaced", origin)?;
        }
        let whole = mended.as_deref().unwrap_or(&text);
        let trimmed = trim(whole);
        if self.held.is_some() {
            // NULs stand in no text, and a whole record in none that goes on.
            let is_apart = trimmed.is_empty() && !line.is_blank() || trimmed.starts_with(r#"{""#) && is_whole(trimmed);
            if !is_apart {
                return self.goes_on(whole, line, sink);
            }
            self.give_up("the line ends inside a record", sink)?;
        }
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
        for (nth, piece) in pieces(trimmed).into_iter().enumerate() {
            let (Piece::Record(_, part) | Piece::Unreadable(part, _)) = &piece;
            // Where bytes were replaced, a piece's place in the text is not its place in the file.
            let is_placed = is_faithful && mended.is_none() && part.len() < trimmed.len();
            let origin = if is_placed { within(origin, whole, part) } else { origin };
            match piece {
                Piece::Record(record, json) => {
                    self.records += 1;
                    self.record(&record, json, nth, origin, sink)?;
                }
                Piece::Unreadable(text, Fault::Cut) if line.ended && text.starts_with('{') => {
                    self.held = Some(Held::new(text, nth, origin));
                }
                Piece::Unreadable(text, fault) => {
                    self.unreadable(text, &reason(fault, line.ended), nth, origin, sink)?
                }
            }
        }
        Ok(())
    }

    /// The line goes on with the record that is held.
    fn goes_on(&mut self, text: &str, line: &Line<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let Some(mut held) = self.held.take() else { return Ok(()) };
        match held.add(text, line.offset + line.length) {
            State::Open => {
                self.held = Some(held);
                Ok(())
            }
            State::Closed => {
                let json = held.json();
                let Ok(record) = serde_json::from_str(trim(&json)) else {
                    self.held = Some(held);
                    return self.give_up("the lines make no record", sink);
                };
                self.records += 1;
                self.record(&record, trim(&json), held.nth, held.origin, sink)
            }
            State::TooLong => {
                self.held = Some(held);
                self.give_up("the lines make no record", sink)
            }
        }
    }

    /// What is held is no record.
    fn give_up(&mut self, reason: &str, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let Some(held) = self.held.take() else { return Ok(()) };
        let reason = if held.has_several_lines() { "the lines make no record" } else { reason };
        self.unreadable(&held.raw, reason, held.nth, held.origin, sink)
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
        let kind = record.kind.filled().unwrap_or("unknown".into());
        let is_printed = record.prompt.json().or(record.output.json()).is_some();
        let Some(data) = record.data.object::<Data<'_>>().or_else(|| is_printed.then(Data::default)) else {
            return events::named(&kind, json, &Place::of(record, nth, origin), sink);
        };
        let mut place = Place::of(record, nth, origin);
        if self.facts.learn(record, &data, &place.time) {
            sink.session(&self.facts.base(self.id))?;
        }
        let at = self.streams.learn(&kind, record, &data);
        place.branch = self.streams.at(at).branch.clone();
        let (place, facts, streams) = (&place, &self.facts, &mut self.streams);
        let notice = notices::of(&kind);
        let ends_answer = matches!(&*kind, "user.message" | "assistant.turn_start" | "assistant.turn_end");
        if notice.is_some() || ends_answer || kind == "session.shutdown" {
            messages::left_alone(streams.at(at), sink)?;
        }
        if let Some(signal) = notice {
            return notices::tell(signal, &data, record.data.json(), place, facts, sink);
        }
        match &*kind {
            "user.message" => messages::user(record, &data, place, facts, sink),
            "assistant.message" => {
                self.totals.message(&data);
                messages::assistant(record, &data, place, facts, (streams, at), sink)
            }
            "assistant.reasoning" => messages::reasoning(&data, place, streams.at(at), sink),
            "system.message" => messages::system(Role::System, Signal::SystemMessage, &data, place, facts, sink),
            "system.notification" => {
                messages::system(Role::User, Signal::SystemNotification, &data, place, facts, sink)
            }
            "tool.user_requested" => results::by_user(&data, place, facts, streams, sink),
            "tool.execution_start" => results::begins(&data, json, place, streams, sink),
            "tool.execution_complete" => results::ends(&data, place, facts, streams, sink),
            // Captures of the output have each piece of a message before the whole.
            kind if kind.ends_with("_delta") || kind == "tool.execution_partial_result" => {
                sink.skip(&SkipRecord::new(Disposition::Folded, "superseded by the whole", origin))
            }
            kind => {
                if kind == "session.shutdown" && at == MAIN {
                    self.totals.shutdown(&data);
                }
                events::named(kind, json, place, sink)
            }
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

fn reason(fault: Fault, has_end: bool) -> String {
    match fault {
        Fault::Cut if has_end => "the line ends inside a record".to_owned(),
        Fault::Cut => "the file ends inside a record".to_owned(),
        Fault::Overrun => "another record begins inside this one".to_owned(),
        Fault::Other(reason) => reason,
    }
}
