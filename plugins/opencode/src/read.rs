//! From rows to what is told: the order of things.
//!
//! A session's own record comes first, then its messages, each with its parts behind it, then what else belongs to it.
//! Where a tool call started another session, that one is told as a branch between the call and its result, so that the
//! turn which takes up the result takes up the branch. A message follows the one before it: to opencode a session is a
//! list, whatever prompt a reply names.

use std::collections::{HashMap, HashSet};

use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::kit::time::from_millis;
use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{
    Disposition, EventRecord, Origin, PluginError, Role, Severity, Sink, SkipRecord, Summary, TurnRecord,
};

use crate::facts::Facts;
use crate::shape::{Revert, Session};
use crate::signal::Parent;
use crate::store::{Row, Rows, Store};

/// Sessions that start sessions that start sessions: deeper ones are not followed.
const DEEPEST: usize = 16;

/// Reads one session and those that it started.
pub(crate) struct Reader<'s> {
    pub(crate) store: &'s dyn Store,
    pub(crate) facts: Facts,
    /// Sessions that were told.
    told: HashSet<String>,
    records: u64,
}

/// One session's line of messages, as far as it was told.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The session.
    pub(crate) session: String,
    /// The branch that it is, as JSON; none for the session that was asked for.
    pub(crate) branch: Option<String>,
    /// The record that the next one follows.
    pub(crate) previous: Option<String>,
    /// Another session started it.
    pub(crate) is_child: bool,
    /// A prompt was told.
    pub(crate) has_prompt: bool,
    /// User rows that say something of their replies.
    pub(crate) parents: HashMap<String, Parent>,
    /// Digest of the last prompt.
    pub(crate) prompt: Option<u64>,
    /// Digest of the prompt that a compaction may have been replayed for.
    pub(crate) replay: Option<u64>,
    /// How many sessions lie around it.
    pub(crate) depth: usize,
}

impl Line {
    /// A turn of this line.
    pub(crate) fn turn<'l>(&'l self, role: Role<'l>, id: &'l str, time: &'l str, origin: Origin) -> TurnRecord<'l> {
        let mut turn = TurnRecord::new(role, id, time, origin);
        turn.parent(self.previous.as_deref());
        match &self.branch {
            Some(branch) => turn.ext(ext::BRANCH, branch),
            None => turn.parent_or_previous(),
        };
        turn
    }

    /// An event of this line, behind the record `parent`.
    pub(crate) fn event<'l>(
        &'l self,
        kind: &'l str,
        id: &'l str,
        time: &'l str,
        parent: Option<&'l str>,
        origin: Origin,
    ) -> EventRecord<'l> {
        let mut event = EventRecord::new(kind, id, time, origin);
        event.parent(parent);
        if let Some(branch) = &self.branch {
            event.ext(ext::BRANCH, branch);
        }
        event
    }
}

impl<'s> Reader<'s> {
    /// Tells the session `id` of `store`, whose messages call it `name`, and how many records there were.
    pub(crate) fn read(
        store: &'s dyn Store,
        id: &str,
        name: &str,
        sink: &mut Sink<'_>,
    ) -> Result<Summary, PluginError> {
        let Some(row) = store.session(id)? else {
            return Err(PluginError::new(format!("holds no session `{id}`")));
        };
        let session: Session<'_> = row.shape();
        let facts = Facts::new(id, &session, store.files(name));
        facts.tell(|session| sink.session(session))?;
        let mut reader = Self { store, facts, told: HashSet::from([id.to_owned()]), records: 0 };
        let line = Line { session: id.to_owned(), is_child: session.parent.filled().is_some(), ..Line::default() };
        reader.session(&row, line, sink)?;
        reader.facts.tell(|session| sink.session(session))?;
        Ok(Summary { records: reader.records })
    }

    /// Tells one session, whose own record is `row`.
    fn session(&mut self, row: &Row, mut line: Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let session: Session<'_> = row.shape();
        let time = self.time_of(row, crate::facts::moment_of(session.created));
        self.event("session", row, &time, line.previous.as_deref(), &line, sink)?;

        let revert: Revert<'_> = session.revert.object_or_default();
        let revert = revert.message.filled();
        let mut kept = None;
        let mut reverted = 0_u64;
        let id = line.session.clone();
        let mut count = 0_u64;
        for message in self.checked(self.store.messages(&id)?, sink)? {
            let message = message?;
            if reverted > 0 || revert.as_deref() == Some(&*message.id) {
                kept = kept.or_else(|| line.previous.clone());
                reverted += 1;
            }
            count += 1;
            self.message(&message, &mut line, sink)?;
        }
        let next = self.store.next(&id)?;
        if count == 0 {
            for message in self.checked(next, sink)? {
                self.next(&message?, &mut line, sink)?;
            }
        } else if next.rows.size_hint().0 > 0 {
            let message = format!(
                "{} rows of `session_message` tell it a second time and were not read",
                next.rows.size_hint().0
            );
            sink.diagnostic(Severity::Info, "unread-copy", &message, row.origin)?;
        }
        if reverted > 0 {
            let data = format!(r#"{{"revert":{},"messages":{reverted}}}"#, session.revert.json().unwrap_or("null"));
            let id = format!("{id}-revert");
            let mut event = line.event("revert", &id, "", kept.as_deref(), row.origin);
            sink.event(event.data(&data).part_of_record())?;
            let message = format!("the last {reverted} messages were taken back, and still stand on the main line");
            sink.diagnostic(Severity::Warning, "reverted-messages", &message, row.origin)?;
        }
        // What a deleted or broken row started has nobody to name it any more.
        for child in self.store.children(&id)? {
            if self.child(&child, "null", &child, &line, sink)? {
                let message = format!("the sub-agent's session `{child}` is named by no call of its caller");
                sink.diagnostic(Severity::Info, "orphan-sub-agent", &message, row.origin)?;
            }
        }
        for other in self.checked(self.store.rest(&id)?, sink)? {
            let other = other?;
            let time = self.time_of(&other, None);
            self.event(&other.kind, &other, &time, None, &line, sink)?;
        }
        Ok(())
    }

    /// Tells the session `id` that a call of `line` started, unless it was told or is not there; `call` is JSON.
    pub(crate) fn child(
        &mut self,
        id: &str,
        call: &str,
        agent: &str,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<bool, PluginError> {
        if self.told.contains(id) || line.depth >= DEEPEST {
            return Ok(false);
        }
        let Some(row) = self.store.session(id)? else { return Ok(false) };
        let session: Session<'_> = row.shape();
        // A record may name any session; only what belongs to this one is told with it.
        if session.parent.filled().is_some_and(|parent| parent != line.session) {
            return Ok(false);
        }
        self.told.insert(id.to_owned());
        let child = Line {
            session: id.to_owned(),
            branch: Some(format!(r#"{{"call":{call},"agent":{}}}"#, quoted(agent))),
            is_child: true,
            depth: line.depth + 1,
            ..Line::default()
        };
        self.session(&row, child, sink)?;
        Ok(true)
    }

    /// The rows, when what is missing of them was said.
    fn checked<'r>(
        &self,
        rows: Rows<'r>,
        sink: &mut Sink<'_>,
    ) -> Result<Box<dyn Iterator<Item = Result<Row, PluginError>> + 'r>, PluginError> {
        if let Some(damage) = &rows.damage {
            sink.diagnostic(Severity::Error, "damaged-store", damage, Origin::default())?;
        }
        Ok(rows.rows)
    }

    /// The parts of a message.
    pub(crate) fn parts(&self, session: &str, message: &Row, sink: &mut Sink<'_>) -> Result<Vec<Row>, PluginError> {
        self.checked(self.store.parts(session, message)?, sink)?.collect()
    }

    /// When a record was made.
    pub(crate) fn time_of(&mut self, row: &Row, otherwise: Option<String>) -> String {
        let time = row.time.and_then(from_millis).or(otherwise).unwrap_or_default();
        self.facts.see(&time);
        time
    }

    /// Counts a record, and says what was replaced in it.
    pub(crate) fn count(&mut self, row: &Row, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        self.records += 1;
        if row.replaced.bytes {
            let message = format!("bytes of `{}` that are no UTF-8 were replaced", row.id);
            sink.diagnostic(Severity::Warning, "invalid-utf8", &message, row.origin)?;
        }
        if row.replaced.surrogates {
            let message = format!("halves of surrogate pairs in `{}` were replaced", row.id);
            sink.diagnostic(Severity::Info, "lone-surrogate", &message, row.origin)?;
        }
        Ok(())
    }

    /// Tells a record as an event of the kind `kind`, or as unreadable, behind the record `parent`.
    pub(crate) fn event(
        &mut self,
        kind: &str,
        row: &Row,
        time: &str,
        parent: Option<&str>,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        self.count(row, sink)?;
        match &row.data {
            Ok(json) => {
                let data = format!(r#"{{{}:{json}}}"#, quoted(kind));
                sink.event(line.event(kind, &row.id, time, parent, row.origin).data(&data))?;
            }
            Err(unread) => {
                let data = format!(r#"{{"raw":{}}}"#, quoted(&unread.raw));
                let mut event = line.event("unreadable", &row.id, time, parent, row.origin);
                sink.event(event.data(&data).unreadable())?;
                let message = format!("`{}` cannot be read: {}", row.id, unread.reason);
                sink.diagnostic(Severity::Error, "unreadable-record", &message, row.origin)?;
            }
        }
        Ok(())
    }

    /// Tells that a record's content stands in another.
    pub(crate) fn folded(&mut self, row: &Row, reason: &str, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        self.count(row, sink)?;
        Ok(sink.skip(&SkipRecord::new(Disposition::Folded, reason, row.origin))?)
    }
}
