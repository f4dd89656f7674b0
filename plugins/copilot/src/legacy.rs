//! The oldest layout: one JSON document with the messages of the API, the entries of the screen, or both.
//!
//! Entries have times and notices, messages have not. So entries are told where there are any of a conversation, and the
//! messages that say the same are duplicates of them; otherwise it is the other way round.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::{RawValue, mend_surrogates};
use toolpath_plugin_api::kit::lines::trim;
use toolpath_plugin_api::{
    Disposition, Origin, PluginError, Role, SessionRecord, Severity, Sink, SkipRecord, Stopped, Summary,
    ToolResultRecord,
};

use crate::edits::Edit;
use crate::events;
use crate::messages::{Call, text_of};
use crate::place::{Place, time};
use crate::shape::{Entry, Function, Legacy, LegacyCall, Log, OldMessage};
use crate::signal::Signal;
use crate::streams::digest;

/// Whether a file that begins with `head` is such a document.
pub(crate) fn is_legacy(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    let text = trim(&text);
    let first = text.lines().next().unwrap_or_default();
    // A line that is an event by itself belongs to a log of lines.
    let is_event = crate::lines::pieces(trim(first))
        .iter()
        .any(|piece| matches!(piece, crate::lines::Piece::Record(record, _) if record.kind.text().is_some()));
    let has = |key: &str| text.contains(key);
    text.starts_with('{') && !is_event && has("\"sessionId\"") && (has("\"chatMessages\"") || has("\"timeline\""))
}

/// The text after a key, near the beginning of a document of which only the beginning was read.
pub(crate) fn glimpse(head: &str, key: &str) -> Option<String> {
    let after = &head[head.find(&format!("\"{key}\""))? + key.len() + 2..];
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
    values.next()?.ok()
}

/// Reads the document `bytes`; `name` is the session's, where it does not say.
pub(crate) fn read(bytes: &[u8], name: &str, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
    let text = String::from_utf8_lossy(bytes);
    let mended = mend_surrogates(&text);
    let text: &str = mended.as_deref().unwrap_or(&text);
    let document: Legacy<'_> = serde_json::from_str(trim(text))
        .map_err(|err| PluginError::new(format!("is no whole document of a Copilot session: {err}")))?;
    let id = document.session_id.filled().unwrap_or(name.into());
    sink.session(&SessionRecord::new(&id))?;
    if text.contains('\u{fffd}') && std::str::from_utf8(bytes).is_err() {
        let message = "bytes that are no UTF-8 were replaced";
        sink.diagnostic(Severity::Warning, "invalid-utf8", message, Origin::default())?;
    }
    if mended.is_some() {
        let message = "halves of surrogate pairs were replaced";
        sink.diagnostic(Severity::Info, "lone-surrogate", message, Origin::default())?;
    }
    let started = time(document.start_time);
    let mut reader = Reader::of(&document, text);
    let records = reader.read(trim(text), sink)?;
    let mut session = SessionRecord::new(&id);
    let title = format!("Copilot session: {}", id.chars().take(8).collect::<String>());
    let (first, last) = (reader.span.first(), reader.span.last());
    session.title = Some(&title);
    session.started_at = Some(&*started).filter(|time| !time.is_empty()).or(first.as_deref());
    session.last_activity = last.as_deref();
    session.producer = Some(("copilot", None));
    sink.session(&session)?;
    Ok(Summary { records })
}

/// The elements of a list, those that are `null` too, since each has a place; none when it is no list.
fn elements(field: Field<'_>) -> Vec<&RawValue> {
    field.json().and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

/// Tells one document.
struct Reader<'a> {
    text: &'a str,
    messages: Vec<&'a RawValue>,
    entries: Vec<&'a RawValue>,
    entries_lead: bool,
    /// Digests of what was said, and of the calls that were made.
    said: HashSet<u128>,
    calls: HashMap<String, Open<'a>>,
    /// How the screen says that calls ended.
    ended: HashMap<String, Log<'a>>,
    span: toolpath_plugin_api::kit::time::Span,
    /// The line that the text was counted to.
    counted: (usize, u64),
}

/// What a call's result needs.
struct Open<'a> {
    name: Cow<'a, str>,
    arguments: Cow<'a, str>,
    writes: bool,
    has_result: bool,
}

impl<'a> Reader<'a> {
    fn of(document: &Legacy<'a>, text: &'a str) -> Self {
        let (messages, entries) = (elements(document.messages), elements(document.timeline));
        let shapes = || entries.iter().map(|raw| Field::of(raw).object_or_default::<Entry<'_>>());
        let kinds = |entry: Entry<'a>| entry.kind.text();
        let entries_lead =
            messages.is_empty() || shapes().any(|e| matches!(kinds(e).as_deref(), Some("user" | "copilot")));
        let ended = shapes().filter(|entry| kinds(*entry).as_deref() == Some("tool_call_completed"));
        let ended = ended.filter_map(|entry| Some((entry.call.id()?.into_owned(), entry.result.object()?))).collect();
        Self {
            text,
            messages,
            entries,
            entries_lead,
            said: HashSet::new(),
            calls: HashMap::new(),
            ended,
            span: Default::default(),
            counted: (0, 1),
        }
    }

    fn read(&mut self, json: &str, sink: &mut Sink<'_>) -> Result<u64, Stopped> {
        let origin = Origin { line: 1, ..Origin::default() };
        let place = Place { id: "session".into(), time: "".into(), branch: None, origin };
        events::without("session", json, &["chatMessages", "timeline"], &place, sink)?;
        let (messages, entries) = (std::mem::take(&mut self.messages), std::mem::take(&mut self.entries));
        if self.entries_lead {
            self.entries(&entries, sink)?;
            self.messages(&messages, sink)?;
        } else {
            self.messages(&messages, sink)?;
            self.entries(&entries, sink)?;
        }
        Ok(1 + messages.len() as u64 + entries.len() as u64)
    }

    fn messages(&mut self, messages: &[&'a RawValue], sink: &mut Sink<'_>) -> Result<(), Stopped> {
        // Each list begins at a place of its own.
        self.counted = (0, 1);
        for (nth, raw) in messages.iter().enumerate() {
            let message: OldMessage<'_> = Field::of(raw).object_or_default();
            let id = format!("message-{}", nth + 1);
            let place = Place { id: id.into(), time: "".into(), branch: None, origin: self.origin(raw) };
            self.message(&message, raw.get(), &place, sink)?;
        }
        Ok(())
    }

    fn message(
        &mut self,
        message: &OldMessage<'a>,
        json: &str,
        place: &Place<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        let text = text_of(message.content, Field::default());
        let role = message.role.text();
        if self.entries_lead {
            let calls = message.calls.list().unwrap_or_default();
            let is_told = match role.as_deref() {
                Some("tool") => {
                    message.call.id().is_some_and(|call| self.calls.get(&*call).is_some_and(|c| c.has_result))
                }
                Some("user" | "assistant") => {
                    (text.is_empty() || self.said.contains(&digest(trim(&text))))
                        && calls.iter().all(|call| {
                            let call: LegacyCall<'_> = call.object_or_default();
                            call.id.id().is_some_and(|id| self.calls.contains_key(&*id))
                        })
                }
                _ => false,
            };
            if is_told {
                return sink.skip(&SkipRecord::new(Disposition::Duplicate, "told as it was shown", place.origin));
            }
            // What was not shown has no place among what was.
            return events::named("chat-message", json, place, sink);
        }
        match role.as_deref() {
            Some("user") => self.says(Role::User, None, &text, place, sink),
            Some("system") => self.says(Role::System, Some(Signal::SystemMessage), &text, place, sink),
            Some("assistant") => {
                let calls = message.calls.list().unwrap_or_default().into_iter().enumerate();
                let calls: Vec<_> = calls
                    .map(|(nth, call)| {
                        let call: LegacyCall<'_> = call.object_or_default();
                        let function: Function<'_> = call.function.object().unwrap_or_default();
                        let id = call.id.id().unwrap_or_else(|| format!("{}/{nth}", place.id).into());
                        Call::new(id, function.name.text().unwrap_or_default(), function.arguments, false)
                    })
                    .collect();
                self.answers(&text, calls, place, sink)
            }
            Some("tool") => {
                let call = message.call.id().unwrap_or_else(|| format!("{}/result", place.id).into());
                self.ends(&call, &text, place, sink)
            }
            _ => events::named("chat-message", json, place, sink),
        }
    }

    fn entries(&mut self, entries: &[&'a RawValue], sink: &mut Sink<'_>) -> Result<(), Stopped> {
        self.counted = (0, 1);
        for (nth, raw) in entries.iter().enumerate() {
            let entry: Entry<'_> = Field::of(raw).object_or_default();
            let id = entry.id.id().unwrap_or_else(|| format!("entry-{}", nth + 1).into());
            let place = Place { id, time: time(entry.timestamp), branch: None, origin: self.origin(raw) };
            self.span.see(&place.time);
            self.entry(&entry, raw.get(), &place, sink)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'a>, json: &str, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let text = text_of(entry.text, Field::default());
        let kind = entry.kind.filled().unwrap_or("unknown".into());
        let call = entry.call.id();
        let duplicate = SkipRecord::new(Disposition::Duplicate, "told by the message", place.origin);
        match &*kind {
            "user" if self.entries_lead => self.says(Role::User, None, &text, place, sink),
            "copilot" if self.entries_lead => self.answers(&text, Vec::new(), place, sink),
            "error" => self.says(Role::Assistant, Some(Signal::SessionError), &text, place, sink),
            "warning" => self.says(Role::System, Some(Signal::SessionWarning), &text, place, sink),
            "info" => self.says(Role::System, Some(Signal::SessionInfo), &text, place, sink),
            "tool_call_requested" | "tool_call_completed" => {
                let is_end = kind == "tool_call_completed";
                let is_made = call.as_ref().and_then(|call| self.calls.get(&**call)).map(|call| call.has_result);
                if is_made == Some(true) || (is_made.is_some() && !is_end) {
                    return sink.skip(&duplicate);
                }
                let id = call.unwrap_or_else(|| format!("{}/0", place.id).into());
                if is_made.is_none() {
                    let name = entry.name.filled().or_else(|| entry.tool_title.filled()).unwrap_or_default();
                    let call = Call::new(id.clone(), name, entry.arguments, false);
                    self.answers("", vec![call], place, sink)?;
                }
                if !is_end {
                    return Ok(());
                }
                let log: Log<'_> = entry.result.object().unwrap_or_default();
                let text = text_of(log.log, entry.result);
                if is_made.is_none() {
                    self.answered(&id, &text, true, place, sink)
                } else {
                    self.ends(&id, &text, place, sink)
                }
            }
            _ => events::named(&kind, json, place, sink),
        }
    }

    fn says(
        &mut self,
        role: Role<'_>,
        signal: Option<Signal>,
        text: &str,
        place: &Place<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        self.said.insert(digest(trim(text)));
        let mut turn = place.turn(role, &place.id);
        turn.text(text);
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)
    }

    fn answers(
        &mut self,
        text: &str,
        calls: Vec<Call<'a>>,
        place: &Place<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        self.said.insert(digest(trim(text)));
        let mut turn = place.turn(Role::Assistant, &place.id);
        turn.text(text);
        for call in &calls {
            turn.tool_use(call.told(place));
        }
        sink.turn(&turn)?;
        for call in calls {
            let (id, writes) = (call.id.clone().into_owned(), call.writes());
            let Call { name, arguments, .. } = call;
            self.calls.insert(id, Open { name, arguments, writes, has_result: false });
        }
        Ok(())
    }

    fn ends(&mut self, call: &str, text: &str, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        self.answered(call, text, false, place, sink)
    }

    /// Tells the result of `call`; `is_part` when the call stood in the same record.
    fn answered(
        &mut self,
        call: &str,
        text: &str,
        is_part: bool,
        place: &Place<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        let ended = self.ended.get(call);
        let word = ended.and_then(|log| log.kind.filled());
        let is_error = word.is_some_and(|word| word != "success");
        let log = ended.and_then(|log| log.log.text());
        let edits = match self.calls.get_mut(call) {
            Some(open) => {
                open.has_result = true;
                if open.writes && !is_error {
                    Edit::of(&open.name, &open.arguments, log.as_deref(), None)
                } else {
                    Vec::new()
                }
            }
            None => Vec::new(),
        };
        let mut result = ToolResultRecord::new(call, text, is_error, place.origin);
        result.timestamp(&place.time).part_of_record(is_part);
        for edit in &edits {
            result.mutation(edit.record(call));
        }
        sink.tool_result(&result)
    }

    /// Where `raw`, which stands behind those before it in its list, lies in the text.
    fn origin(&mut self, raw: &RawValue) -> Origin {
        let at = (raw.get().as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let (from, line) = self.counted;
        let between = self.text.get(from..at).unwrap_or_default();
        let line = line + between.bytes().filter(|&byte| byte == b'\n').count() as u64;
        self.counted = (at, line);
        Origin { file: 0, line, offset: at as u64, length: raw.get().len() as u64 }
    }
}
