//! What a piece of a file tells of its session, without reading the rest.

use std::collections::HashSet;
use std::io;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::lines::{Lines, trim};
use toolpath_plugin_api::kit::time::Span;

use crate::digest::{self, Id};
use crate::lines::{End, Piece, Pieces, mend};
use crate::scan::What;
use crate::shape::Record;
use crate::signal;
use crate::source::{Layout, Source};
use crate::survey::is_field;
use crate::turns::Message;

/// Characters of a title that is made of the first prompt.
const LONGEST_TITLE: usize = 80;

/// What is known by now.
#[derive(Debug, Default)]
pub(crate) struct Glance {
    pub(crate) id: Option<String>,
    pub(crate) directory: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) span: Span,
    /// A record is one that Gemini CLI writes.
    pub(crate) is_recognised: bool,
    /// The session names itself and its project, as every header does.
    pub(crate) has_header: bool,
    /// Gemini said something, or called a tool.
    pub(crate) has_model: bool,
    /// Messages are those of another harness with the same layout.
    pub(crate) is_foreign: bool,
    /// It is a saved conversation.
    pub(crate) is_saved: bool,
    /// It has prompts of the log of all prompts.
    pub(crate) has_logged_prompts: bool,
    is_log: bool,
    has_project: bool,
    seen: HashSet<Id>,
    turns: u64,
    /// Somebody said something: the CLI's own words at the beginning of each session are none.
    has_words: bool,
}

impl Glance {
    /// Looks at the beginning of a file.
    pub(crate) fn at(head: &[u8]) -> io::Result<Self> {
        let layout = Layout::of(head)?;
        let mut glance = Self { is_log: layout == Layout::Lines, ..Self::default() };
        let mut source = Source::new(head, layout);
        while let Some(raw) = source.next()? {
            let mended = mend(raw.bytes);
            match raw.what {
                What::Field(key) => {
                    let (key, value) = (String::from_utf8_lossy(&key), trim(&mended.text));
                    if is_field(&key, value) {
                        let json = format!("{{{key}:{value}}}");
                        glance.facts(&serde_json::from_str(&json).unwrap_or_default());
                    }
                }
                What::Message => glance.records(&mended.text),
                What::Stray => {}
            }
        }
        glance.has_header = glance.id.is_some() && glance.has_project;
        glance.is_recognised |= glance.has_header;
        Ok(glance)
    }

    /// Looks at the end of the same file.
    pub(crate) fn tail(&mut self, tail: &[u8]) -> io::Result<()> {
        // The first line is most likely the end of one. Documents have their times at the beginning.
        let whole = tail.iter().position(|&byte| byte == b'\n').map_or(tail.len(), |at| at + 1);
        let mut lines = Lines::new(&tail[whole..]);
        while let Some(line) = lines.next()?.filter(|_| self.is_log) {
            self.records(&mend(line.bytes).text);
        }
        Ok(())
    }

    /// Messages of the user and of Gemini, each counted once.
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// Whether nothing was said, where this `is_all` of the file.
    pub(crate) fn is_empty(&self, is_all: bool) -> bool {
        is_all && !self.has_words
    }

    fn records(&mut self, text: &str) {
        for piece in Pieces::of(text, End::Whole) {
            let Piece::Record(json) = piece else { continue };
            let Ok(record) = serde_json::from_str::<Record<'_>>(json) else { continue };
            if self.is_log && record.id.filled().is_none() {
                let patch = record.set.object::<Record<'_>>();
                self.is_recognised |= patch.is_some() || record.rewind_to.text().is_some();
                self.facts(&patch.unwrap_or(record));
            }
            self.message(record, json);
        }
    }

    fn facts(&mut self, facts: &Record<'_>) {
        let text = |field: Field<'_>| field.filled().map(|text| text.into_owned());
        self.has_project |= facts.project_hash.text().is_some();
        if self.id.is_none() {
            self.id = text(facts.session_id);
        }
        if let Some(summary) = text(facts.summary) {
            self.summary = Some(summary);
        }
        let directories = facts.directories.list().unwrap_or_default();
        if self.directory.is_none() {
            self.directory = text(directories.first().copied().unwrap_or_default());
        }
        for time in [facts.start_time, facts.last_updated] {
            self.span.see(&time.text().unwrap_or_default());
        }
        for message in facts.messages.list().unwrap_or_default() {
            self.message(message.object_or_default(), message.json().unwrap_or("null"));
        }
    }

    fn message(&mut self, record: Record<'_>, json: &str) {
        let Some(kind) = record.kind() else { return };
        self.is_foreign |= matches!(&*kind, "qwen" | "assistant");
        self.has_logged_prompts |= !self.is_log && record.session_of_prompt().is_some();
        self.is_saved |= record.role.text().is_some() && record.parts.is_list();
        let is_said = matches!(&*kind, "user" | "gemini");
        let is_notice = matches!(&*kind, "info" | "warning" | "error");
        let has_body = record.body().json().is_some() || record.calls.is_list();
        if !has_body || !(is_said || is_notice) {
            return;
        }
        self.is_recognised |= (record.id.filled().is_some() && record.content.json().is_some()) || self.is_saved;
        self.has_model |= kind == "gemini" && self.is_recognised;
        self.span.see(&record.timestamp.text().unwrap_or_default());
        let is_new = record.id.filled().is_none_or(|id| self.seen.insert(digest::of_id(&id)));
        let message = Message::of(record, json, "");
        if !is_new || message.content.is_answers_only() {
            return;
        }
        self.turns += 1;
        let text = &message.content.text;
        let is_typed = kind == "user" && signal::of_user(text).is_none() && !message.is_summary();
        self.has_words |= is_typed || kind == "gemini";
        if self.prompt.is_none() && is_typed {
            let line = text.lines().map(str::trim).find(|line| !line.is_empty());
            self.prompt = line.map(|line| line.chars().take(LONGEST_TITLE).collect());
        }
    }
}
