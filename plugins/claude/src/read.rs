//! From lines to what is told: the order of things, and what becomes of each record.

use std::io::Read;

use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::kit::lines::{Line, Lines};
use toolpath_plugin_api::{
    Disposition, EventRecord, Origin, PluginError, SessionRecord, Severity, Sink, SkipRecord, Stopped, Summary,
};

use crate::agents::Agents;
use crate::facts::{Facts, News};
use crate::known::is_known;
use crate::lines::{End, Piece, Pieces, mend, trim};
use crate::place::{Place, line_id};
use crate::shape::{Attachment, Field, Message, Progress, Record};
use crate::{events, turns};

/// Reads one session.
pub(crate) struct Reader<'i> {
    id: &'i str,
    agents: Agents,
    facts: Facts,
    /// Whether the file is a sub-agent's own, so that its branch is the main line here; known from its first record.
    is_agents_own: Option<bool>,
    records: u64,
    /// Whether a record was one that Claude Code writes.
    is_recognised: bool,
}

impl<'i> Reader<'i> {
    /// Reads the session `id`.
    pub(crate) fn new(id: &'i str, agents: Agents) -> Self {
        Self { id, agents, facts: Facts::default(), is_agents_own: None, records: 0, is_recognised: false }
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
            return Err(PluginError::new("holds no records; name a Claude Code session file"));
        }
        if !self.is_recognised {
            let message = "holds no record of Claude Code; name a session file of it, or another --provider";
            return Err(PluginError::new(message));
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
        let mended = mend(&text);
        if mended.is_some() {
            sink.diagnostic(Severity::Info, "lone-surrogate", "halves of surrogate pairs were replaced", origin)?;
        }
        let whole = mended.as_deref().unwrap_or(&text);
        let trimmed = trim(whole);
        if trimmed.is_empty() {
            let nuls = format!("{} NUL bytes", line.bytes.iter().filter(|&&byte| byte == 0).count());
            return self.unreadable(&nuls, "the line holds nothing but NUL bytes", 0, origin, sink);
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
        self.is_recognised = self.is_recognised || is_known(json);
        let is_sidechain = record.is_sidechain.flag();
        let is_agents_own = *self.is_agents_own.get_or_insert(is_sidechain && self.id.starts_with("agent-"));
        let place = Place::of(record, is_sidechain && !is_agents_own, nth, origin);
        if self.facts.learn(record, &place) == News::Base {
            sink.session(&self.facts.base(self.id))?;
        }
        match Kind::of(record) {
            Kind::Assistant(message) => turns::assistant(record, &message, &place, sink),
            Kind::User(message) => turns::user(record, &message, &place, sink),
            Kind::Queued(attachment) => turns::queued(record, &attachment, &place, sink),
            Kind::Summary => events::named("compaction-summary", json, &place, sink),
            Kind::ToolProgress => {
                let reason = "superseded by the tool's result";
                sink.skip(&place.link(SkipRecord::new(Disposition::Folded, reason, origin)))
            }
            Kind::AgentProgress(agent) if agent.as_deref().is_some_and(|agent| self.agents.has_file(agent)) => {
                let reason = "told in the sub-agent's own file";
                sink.skip(&place.link(SkipRecord::new(Disposition::Duplicate, reason, origin)))
            }
            Kind::AgentProgress(_) | Kind::Other => events::record(record, json, &place, sink),
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

/// What becomes of a record.
enum Kind<'a> {
    /// A turn in the assistant's position.
    Assistant(Message<'a>),
    /// A turn in the user's position, or results.
    User(Message<'a>),
    /// A prompt that waited in the queue.
    Queued(Attachment<'a>),
    /// What a model made of the conversation so far: said by no one in it.
    Summary,
    /// How far a tool has come.
    ToolProgress,
    /// What a sub-agent said, and its id.
    AgentProgress(Option<std::borrow::Cow<'a, str>>),
    /// Anything else is kept as it is.
    Other,
}

impl<'a> Kind<'a> {
    fn of(record: &Record<'a>) -> Self {
        let message = || Message::of(record.message);
        match record.kind.text().as_deref() {
            Some("assistant") => message().map_or(Self::Other, Self::Assistant),
            Some("user") if record.is_compact_summary.flag() => Self::Summary,
            Some("user") => message().map_or(Self::Other, Self::User),
            Some("progress") => {
                let progress: Progress<'_> = record.data.object().unwrap_or_default();
                if progress.kind.text().as_deref() == Some("agent_progress") {
                    Self::AgentProgress(progress.agent_id.filled().or_else(|| record.agent_id.filled()))
                } else {
                    Self::ToolProgress
                }
            }
            Some("attachment") => record
                .attachment
                .object::<Attachment<'_>>()
                .filter(|attachment| attachment.kind.text().as_deref() == Some("queued_command"))
                .filter(|attachment| is_prompt(attachment.prompt))
                .map_or(Self::Other, Self::Queued),
            _ => Self::Other,
        }
    }
}

fn is_prompt(field: Field<'_>) -> bool {
    field.json().is_some_and(|json| json.starts_with(['"', '[']))
}

/// The place of `part`, which lies in `whole`, the line's text.
fn within(line: Origin, whole: &str, part: &str) -> Origin {
    let before = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    Origin { offset: line.offset + before as u64, length: part.len() as u64, ..line }
}
