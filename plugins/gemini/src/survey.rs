//! The first look at a file: what the session is called, and where the last version of each message stands.
//!
//! A message is written again whenever more of it is known, and only its last version is told. So a file is read
//! twice, and between the two there is one small entry for each id.

use std::collections::HashMap;
use std::io::{self, Read};

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::lines::{trim, within};
use toolpath_plugin_api::kit::time::Span;
use toolpath_plugin_api::{Origin, SessionRecord};

use crate::digest::{self, Id};
use crate::lines::{End, Piece, Pieces, mend};
use crate::scan::What;
use crate::shape::Record;
use crate::source::{Layout, Source};

/// The last version of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    offset: u64,
    length: u32,
    /// The line, and in its highest bit whether the message was told.
    line: u32,
}

const TOLD: u32 = 1 << 31;

impl Version {
    /// `None` where the numbers are too large: a record that is longer is not read at all.
    fn at(origin: Origin) -> Option<Self> {
        let line = u32::try_from(origin.line).ok().filter(|line| line & TOLD == 0)?;
        Some(Self { offset: origin.offset, length: u32::try_from(origin.length).ok()?, line })
    }

    /// Its place.
    pub(crate) fn origin(self, file: u32) -> Origin {
        Origin { file, line: (self.line & !TOLD).into(), offset: self.offset, length: self.length.into() }
    }

    /// Whether the message was told.
    pub(crate) fn is_told(self) -> bool {
        self.line & TOLD != 0
    }

    /// Remembers that it was.
    pub(crate) fn tell(&mut self) {
        self.line |= TOLD;
    }
}

/// The last version of a message that a rebuilt list has, of those with the most calls.
#[derive(Clone, Copy, Debug)]
struct Listed {
    offset: u64,
    length: u32,
    calls: u32,
}

/// What the first look found.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) session_id: Option<String>,
    summary: Option<String>,
    directory: Option<String>,
    span: Span,
    /// The fields of a document beside its messages, as one JSON object.
    pub(crate) head: Option<String>,
    /// Last versions by id.
    pub(crate) versions: HashMap<Id, Version>,
    /// Versions within rebuilt lists.
    listed: HashMap<Id, Listed>,
    /// Whether a record was one that Gemini CLI writes.
    pub(crate) is_recognised: bool,
    /// The sessions that a log of prompts tells of: the first, and whether there are others.
    prompts_of: Option<(String, bool)>,
    /// Whether the session is a sub-agent's.
    pub(crate) is_sub_agent: bool,
    /// Whether the list of messages is built anew somewhere.
    pub(crate) has_lists: bool,
}

impl Survey {
    /// Looks through `input`.
    pub(crate) fn of(input: impl Read, layout: Layout) -> io::Result<Self> {
        let mut survey = Self::default();
        let mut head = String::new();
        let mut source = Source::new(input, layout);
        while let Some(raw) = source.next()? {
            if raw.is_too_long() {
                continue;
            }
            let mended = mend(raw.bytes);
            match raw.what {
                What::Field(key) => {
                    let (key, value) = (String::from_utf8_lossy(&key), trim(&mended.text));
                    if is_field(&key, value) {
                        head.push(if head.is_empty() { '{' } else { ',' });
                        head.push_str(&key);
                        head.push(':');
                        head.push_str(value);
                    }
                }
                What::Message => {
                    let origin = raw.origin;
                    for (nth, piece) in Pieces::of(&mended.text, End::Whole).enumerate() {
                        let Piece::Record(json) = piece else { continue };
                        let Ok(record) = serde_json::from_str::<Record<'_>>(json) else { continue };
                        let origin = if mended.is_as_it_was() { within(origin, &mended.text, json) } else { origin };
                        survey.learn(&record, (nth == 0 || mended.is_as_it_was()).then_some(origin));
                        // Surrogates are replaced by as many bytes.
                        if layout == Layout::Lines && !mended.has_invalid_utf8 {
                            survey.list(&record, raw.origin, &mended.text);
                        }
                        survey.is_recognised |= layout == Layout::Whole && is_saved(&record);
                    }
                }
                What::Stray => {}
            }
        }
        if !head.is_empty() {
            head.push('}');
            let facts = serde_json::from_str::<Record<'_>>(&head).unwrap_or_default();
            survey.is_recognised |= facts.session_id.filled().is_some();
            survey.facts(&facts);
            survey.head = Some(head);
        }
        Ok(survey)
    }

    fn learn(&mut self, record: &Record<'_>, origin: Option<Origin>) {
        if record.rewind_to.text().is_some() {
            self.is_recognised = true;
        } else if let Some(id) = record.id.filled() {
            self.message(record);
            if let Some(version) = origin.and_then(Version::at) {
                self.versions.insert(digest::of_id(&id), version);
            }
        } else if let Some(patch) = record.set.object::<Record<'_>>() {
            self.is_recognised = true;
            self.has_lists |= patch.messages.is_list();
            self.patch(&patch);
        } else if record.session_id.filled().is_some() && record.project_hash.text().is_some() {
            self.is_recognised = true;
            self.patch(record);
        } else if record.kind().is_some() && record.body().json().is_some() {
            if let Some(session) = record.session_of_prompt() {
                let (first, has_others) = self.prompts_of.get_or_insert_with(|| (session.clone().into_owned(), false));
                *has_others |= *first != session;
            }
            self.message(record);
        }
    }

    /// Why a file with nothing else in it than logged prompts is no session, if it is such a file.
    pub(crate) fn refusal(&self) -> Option<String> {
        let (session, has_others) = self.prompts_of.as_ref().filter(|_| !self.is_recognised)?;
        let id: String = session.chars().take(8).collect();
        let file = if *has_others { "*" } else { &format!("*-{id}") };
        Some(format!(
            "is Gemini CLI's log of prompts, which has no answers; name a session file, `chats/session-{file}.jsonl` or `.json` beside it"
        ))
    }

    /// Remembers where the messages of a rebuilt list stand, which is in `whole`, the text at `origin`.
    fn list(&mut self, record: &Record<'_>, origin: Origin, whole: &str) {
        if record.rewind_to.text().is_some() || record.id.filled().is_some() {
            return;
        }
        let list = record.set.object::<Record<'_>>().map_or(record.messages, |patch| patch.messages);
        for raw in list.list().unwrap_or_default() {
            let record: Record<'_> = raw.object_or_default();
            let place = within(origin, whole, raw.json().unwrap_or_default());
            let (Some(id), Ok(length)) = (record.id.filled(), u32::try_from(place.length)) else { continue };
            let in_content = record.body().json().map_or(0, |json| json.matches("\"functionCall\"").count());
            let calls = record.calls.list().map_or(0, |calls| calls.len()).max(in_content);
            let listed = Listed { offset: place.offset, length, calls: u32::try_from(calls).unwrap_or(u32::MAX) };
            let known = self.listed.entry(digest::of_id(&id)).or_insert(listed);
            if known.calls <= listed.calls {
                *known = listed;
            }
        }
    }

    /// Where a rebuilt list has the message `id`, if one does.
    pub(crate) fn listed(&self, id: &str, file: u32) -> Option<Origin> {
        let listed = self.listed.get(&digest::of_id(id))?;
        Some(Origin { file, line: 0, offset: listed.offset, length: listed.length.into() })
    }

    fn message(&mut self, record: &Record<'_>) {
        let is_known = matches!(record.kind().as_deref(), Some("user" | "gemini" | "info" | "warning" | "error"));
        let has_body = record.content.json().is_some() || record.calls.is_list();
        self.is_recognised |= is_known && has_body && record.id.filled().is_some();
        self.span.see(&record.timestamp.text().unwrap_or_default());
    }

    fn patch(&mut self, facts: &Record<'_>) {
        self.facts(facts);
        for message in facts.messages.list().unwrap_or_default() {
            if let Some(record) = message.object::<Record<'_>>() {
                self.message(&record);
            }
        }
    }

    fn facts(&mut self, facts: &Record<'_>) {
        let keep = |slot: &mut Option<String>, field: Field<'_>| {
            if let Some(text) = field.filled() {
                *slot = Some(text.into_owned());
            }
        };
        if self.session_id.is_none() {
            keep(&mut self.session_id, facts.session_id);
        }
        keep(&mut self.summary, facts.summary);
        self.is_sub_agent |= facts.agent_kind.is("subagent");
        if self.directory.is_none() {
            let directories = facts.directories.list().unwrap_or_default();
            keep(&mut self.directory, directories.first().copied().unwrap_or_default());
        }
        for time in [facts.start_time, facts.last_updated] {
            self.span.see(&time.text().unwrap_or_default());
        }
    }

    /// Tells `tell` what is known of the session `id`.
    pub(crate) fn session<T>(&self, id: &str, tell: impl FnOnce(&SessionRecord<'_>) -> T) -> T {
        let (first, last) = (self.span.first(), self.span.last());
        let plain = format!("Gemini session: {}", id.chars().take(8).collect::<String>());
        let mut session = SessionRecord::new(id);
        session.title = self.summary.as_deref().or(Some(&plain));
        session.started_at = first.as_deref();
        session.last_activity = last.as_deref();
        session.working_dir = self.directory.as_deref();
        session.producer = Some(("gemini-cli", None));
        tell(&session)
    }
}

/// Whether a field of a document is whole.
pub(crate) fn is_field(key: &str, value: &str) -> bool {
    serde_json::from_str::<&toolpath_plugin_api::kit::json::RawValue>(value).is_ok()
        && serde_json::from_str::<String>(key).is_ok()
}

/// Whether a record is one of a saved conversation, which has the shape of what is sent to the model.
fn is_saved(record: &Record<'_>) -> bool {
    matches!(record.role.text().as_deref(), Some("user" | "model")) && record.parts.is_list()
}
