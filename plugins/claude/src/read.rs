//! From lines to what is told: the order of things, and what becomes of each record.

mod agents;
mod kind;
mod scope;

use std::io::Read;

use toolpath_plugin_api::kit::json::{mend_surrogates, quoted};
use toolpath_plugin_api::kit::lines::{Line, Lines, trim, trim_bytes, within};
use toolpath_plugin_api::kit::tree::Places;
use toolpath_plugin_api::{
    Disposition, EventRecord, Origin, PluginError, SessionRecord, Severity, Sink, SkipRecord, Stopped, Summary,
};

use crate::agents::Agents;
use crate::content::Content;
use crate::facts::{Facts, News};
use crate::known::is_known;
use crate::lines::{End, Piece, Pieces};
use crate::novel::Novel;
use crate::place::Place;
use crate::queue::Queue;
use crate::results::Desk;
use crate::seen::{Repeats, Seen};
use crate::shape::Record;
use crate::spill::Spills;
use crate::{events, turns};

pub(crate) use agents::Returned;

use agents::Launch;
use kind::Kind;
use scope::Scope;

/// Reads one session.
pub(crate) struct Reader<'i> {
    id: &'i str,
    /// How messages name the session.
    name: &'i str,
    agents: Agents,
    /// How many sub-agents' files the host knows by name.
    announced: usize,
    /// Sub-agents whose files are being told, one within the other.
    telling: Vec<usize>,
    /// Sub-agents that go on in the background.
    launched: Vec<Launch>,
    desk: Desk,
    queue: Queue,
    seen: Seen,
    facts: Facts,
    novel: Novel,
    /// Where the values of a line stand.
    places: Places,
    records: u64,
    /// Whether a record was one that Claude Code writes.
    is_recognised: bool,
}

/// Whether a record was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Yes,
    /// It belongs to what is told later.
    NotYet,
}

impl<'i> Reader<'i> {
    /// Reads the session `id`, which messages call `name`.
    pub(crate) fn new(id: &'i str, name: &'i str, agents: Agents, spills: Spills) -> Self {
        Self {
            id,
            name,
            agents,
            announced: 0,
            telling: Vec::new(),
            launched: Vec::new(),
            desk: Desk { spills, ..Desk::default() },
            queue: Queue::default(),
            seen: Seen::default(),
            facts: Facts::default(),
            novel: Novel::default(),
            places: Places::default(),
            records: 0,
            is_recognised: false,
        }
    }

    /// Tells every record of `log`, and how many there were.
    pub(crate) fn read(mut self, log: impl Read, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        sink.session(&SessionRecord::new(self.id))?;
        self.announce(sink)?;
        let mut scope = Scope::of_session(self.id);
        let mut lines = Lines::new(log);
        while let Some(line) = lines.next()? {
            if !line.is_blank() {
                self.line(&line, &mut scope, sink)?;
            }
        }
        if self.records == 0 {
            return Err(PluginError::new("holds no records; name a Claude Code session file"));
        }
        if !self.is_recognised {
            let message = "holds no record of Claude Code; name a session file of it, or another --provider";
            return Err(PluginError::new(message));
        }
        self.tell_rest(sink)?;
        self.novel.tell(sink)?;
        for prompt in std::mem::take(&mut self.queue).rest() {
            prompt.tell(None, sink)?;
        }
        self.facts.whole(self.id, |session| sink.session(session))?;
        Ok(Summary { records: self.records })
    }

    fn line(&mut self, line: &Line<'_>, scope: &mut Scope, sink: &mut Sink<'_>) -> Result<Taken, Stopped> {
        // What a record brings up, such as a sub-agent's file, has lines of its own.
        let mut places = std::mem::take(&mut self.places);
        let tree = if line.is_cut() { None } else { places.of_bytes(trim_bytes(line.bytes)) };
        let taken = match &tree {
            Some(tree) => {
                let record: Record<'_> = tree.root().object_or_default();
                if scope.begins_later(&record) {
                    return Ok(Taken::NotYet);
                }
                self.record(&record, tree.text(), 0, scope.origin(line), scope, sink).map(|()| Taken::Yes)
            }
            None => self.odd_line(line, scope, sink),
        };
        self.places = places;
        taken
    }

    /// A line that is not plainly one record.
    fn odd_line(&mut self, line: &Line<'_>, scope: &mut Scope, sink: &mut Sink<'_>) -> Result<Taken, Stopped> {
        let origin = scope.origin(line);
        let (text, is_faithful) = line.text();
        let mended = if line.is_cut() { None } else { mend_surrogates(&text) };
        let whole = mended.as_deref().unwrap_or(&text);
        let trimmed = trim(whole);
        let end = if line.ended { End::Newline } else { End::File };
        let mut pieces = Pieces::of(trimmed, end).peekable();
        if let (false, Some(Piece::Record(record, _))) = (line.is_cut(), pieces.peek())
            && scope.begins_later(record)
        {
            return Ok(Taken::NotYet);
        }
        if !is_faithful {
            sink.diagnostic(Severity::Warning, "invalid-utf8", "bytes that are no UTF-8 were replaced", origin)?;
        }
        if line.is_cut() {
            let reason = "the line is too long, and only its beginning is kept";
            return self.unreadable(&text, reason, 0, origin, scope, sink);
        }
        if mended.is_some() {
            sink.diagnostic(Severity::Info, "lone-surrogate", "halves of surrogate pairs were replaced", origin)?;
        }
        if trimmed.is_empty() {
            let nuls = format!("{} NUL bytes", line.bytes.iter().filter(|&&byte| byte == 0).count());
            return self.unreadable(&nuls, "the line holds nothing but NUL bytes", 0, origin, scope, sink);
        }
        for (nth, piece) in pieces.enumerate() {
            let (Piece::Record(_, part) | Piece::Unreadable(part, _)) = &piece;
            // Where bytes were replaced, a piece's place in the text is not its place in the file.
            let is_placed = is_faithful && mended.is_none() && part.len() < trimmed.len();
            let origin = if is_placed { within(origin, whole, part) } else { origin };
            match piece {
                Piece::Record(record, json) => self.record(&record, json, nth, origin, scope, sink)?,
                Piece::Unreadable(text, reason) => {
                    self.unreadable(text, &reason, nth, origin, scope, sink)?;
                }
            }
        }
        Ok(Taken::Yes)
    }

    fn record(
        &mut self,
        record: &Record<'_>,
        json: &str,
        nth: usize,
        origin: Origin,
        scope: &mut Scope,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        self.records += 1;
        let branch = scope.branch_of(record, &mut self.desk.calls);
        let mut place = Place::of(record, || scope.line_id(origin.line, nth), branch, origin);
        if scope.is_session() {
            self.is_recognised = self.is_recognised || is_known(json);
            if self.facts.learn(record, &place) == News::Base {
                sink.session(&self.facts.base(self.id))?;
            }
        } else {
            self.facts.see(&place);
        }
        let kind = Kind::of(record);
        if let Kind::Assistant(message) | Kind::User(message) = &kind
            && let Some(repeats) = self.seen.repeats(record, message)
        {
            return sink.skip(&replay(repeats, &mut place));
        }
        match kind {
            Kind::Assistant(message) => {
                scope.adopt(&mut place);
                if place.branch.is_none() {
                    for prompt in self.queue.take() {
                        prompt.tell(place.parent.as_deref(), sink)?;
                        place.parent = Some(prompt.id().to_owned().into());
                    }
                }
                scope.threads.say(place.branch.as_ref(), message.id.filled().as_deref(), &place.id);
                turns::assistant(record, &message, &place, &mut self.desk, sink)
            }
            Kind::User(message) => {
                scope.adopt(&mut place);
                self.queue.repeat(message.content);
                self.before_notice(record, message.content, &place, scope, sink)?;
                let content = Content::of(message.content, &place.id, false);
                let returned = self.before_results(record, &message, &content.results, &mut place, scope, sink)?;
                turns::user(record, &message, content, &place, returned, &mut self.desk, sink)
            }
            // The prompt became a message of its own as well.
            Kind::Queued(attachment) if attachment.source.filled().is_some_and(|source| self.seen.has(&source)) => {
                events::record(record, json, &place, sink)
            }
            Kind::Queued(attachment) => {
                self.queue.repeat(attachment.prompt);
                self.before_notice(record, attachment.prompt, &place, scope, sink)?;
                turns::queued(record, &attachment, &place, sink)
            }
            Kind::Summary => events::named("compaction-summary", json, &place, sink),
            Kind::ToolProgress => {
                place.lead = scope.threads.last_line(place.branch.as_ref(), place.parent.as_deref());
                let reason = "superseded by the tool's result";
                sink.skip(&place.link(SkipRecord::new(Disposition::Folded, reason, origin)))
            }
            Kind::AgentProgress(said) => self.agent_progress(record, &said, json, &mut place, scope, sink),
            Kind::Other => {
                scope.learn(record);
                self.novel.see(record, self.facts.version(), origin);
                if scope.is_session() && record.kind.text().as_deref() == Some("queue-operation") {
                    self.queue.learn(record, &place, self.facts.version());
                }
                events::record(record, json, &place, sink)
            }
        }
    }

    fn unreadable(
        &mut self,
        text: &str,
        reason: &str,
        nth: usize,
        origin: Origin,
        scope: &Scope,
        sink: &mut Sink<'_>,
    ) -> Result<Taken, Stopped> {
        self.records += 1;
        let (id, data) = (scope.line_id(origin.line, nth), format!(r#"{{"raw":{}}}"#, quoted(text)));
        let mut event = EventRecord::new("unreadable", &id, "", origin);
        scope.put_on_branch(&mut event);
        sink.event(event.data(&data).unreadable())?;
        sink.diagnostic(Severity::Error, "unreadable-record", reason, origin)?;
        Ok(Taken::Yes)
    }
}

/// A record that repeats another: what names it is led on to that one.
fn replay<'p>(repeats: Repeats, place: &'p mut Place<'_>) -> SkipRecord<'p> {
    let skip = SkipRecord::new(Disposition::Duplicate, "repeats a message told before", place.origin);
    match repeats {
        // Its id stands for the first already.
        Repeats::Itself => skip,
        Repeats::Another(first) => {
            place.lead = first.map(Into::into);
            place.link(skip)
        }
    }
}
