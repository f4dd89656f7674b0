//! What the records of one file have in common: the session's own, or a sub-agent's.

use std::rc::Rc;

use toolpath_plugin_api::kit::lines::Line;
use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{EventRecord, Origin};

use crate::agents::Told;
use crate::branches::Branches;
use crate::calls::Calls;
use crate::content::Content;
use crate::place::{Place, line_id};
use crate::shape::{Message, Record};
use crate::threads::Threads;
use crate::words;

/// One file while it is read.
pub(super) struct Scope {
    /// Its index among the session's files.
    file: u32,
    /// How deep in files of sub-agents it is told.
    pub(super) depth: usize,
    /// The sub-agent whose file it is, and its branch.
    agent: Option<(String, Rc<str>)>,
    /// What was told of it before.
    told: Told,
    /// A prompt that was written after this time begins what is told later.
    until: Option<String>,
    has_begun: bool,
    /// The record of another file that the first message follows.
    follows: Option<String>,
    /// Whether the file is a sub-agent's own and read as a session, so that its branch is the main line; known from
    /// its first record.
    is_agents_own: Option<bool>,
    is_named_as_agents: bool,
    branches: Branches,
    pub(super) threads: Threads,
}

impl Scope {
    /// The session's own file, which is called `id`.
    pub(super) fn of_session(id: &str) -> Self {
        Self {
            file: 0,
            depth: 0,
            agent: None,
            told: Told::default(),
            until: None,
            has_begun: false,
            follows: None,
            is_agents_own: None,
            is_named_as_agents: id.starts_with("agent-"),
            branches: Branches::default(),
            threads: Threads::default(),
        }
    }

    /// The file of `agent`, whose index is `file`, from where it was not told yet to what was written after `until`.
    pub(super) fn of_agent(agent: &str, branch: Rc<str>, file: u32, told: Told, until: Option<&str>) -> Self {
        Self {
            file,
            agent: Some((agent.to_owned(), branch)),
            told,
            until: until.map(str::to_owned),
            ..Self::of_session("")
        }
    }

    /// Whether it is the session's own file.
    pub(super) fn is_session(&self) -> bool {
        self.agent.is_none()
    }

    /// Where a line of it stands.
    pub(super) fn origin(&self, line: &Line<'_>) -> Origin {
        let (before, bytes) = (self.told.lines, self.told.bytes);
        Origin { file: self.file, line: before + line.number, offset: bytes + line.offset, length: line.length }
    }

    /// The name of the `nth` record of a line, when it has none of its own.
    pub(super) fn line_id(&self, line: u64, nth: usize) -> String {
        let id = line_id(line, nth);
        self.agent.as_ref().map(|(agent, _)| format!("agent-{agent}/{id}")).unwrap_or(id)
    }

    /// The branch on which `record` stands.
    pub(super) fn branch_of(&mut self, record: &Record<'_>, calls: &mut Calls) -> Option<Rc<str>> {
        if let Some((_, branch)) = &self.agent {
            return Some(branch.clone());
        }
        // Captures of the stream mark a sub-agent's messages by the call alone.
        let is_message = || matches!(record.kind.text().as_deref(), Some("user" | "assistant"));
        let is_sidechain = record.is_sidechain.flag() || (record.parent_tool_use.id().is_some() && is_message());
        let is_named = self.is_named_as_agents;
        let is_agents_own = *self.is_agents_own.get_or_insert(is_sidechain && is_named);
        (is_sidechain && !is_agents_own).then(|| self.branches.of(record, calls))
    }

    /// The branch of a sub-agent that has no file, and of which this one tells.
    pub(super) fn branch_within(&mut self, agent: &str, call: Option<&str>) -> Rc<str> {
        self.branches.named(agent, call)
    }

    /// Puts what has no record of its own on the file's branch.
    pub(super) fn put_on_branch<'s>(&'s self, event: &mut EventRecord<'s>) {
        if let Some((_, branch)) = &self.agent {
            event.ext(ext::BRANCH, branch);
        }
    }

    /// Learns from a record that is no message where the first message belongs.
    pub(super) fn learn(&mut self, record: &Record<'_>) {
        if !self.is_session() && record.kind.text().as_deref() == Some("fork-context-ref") {
            self.follows = record.parent_last.filled().map(Into::into);
        }
    }

    /// Gives a message what it has of its file: the first one the parent that it has in another file.
    pub(super) fn adopt(&mut self, place: &mut Place<'_>) {
        self.has_begun = true;
        place.is_helpers = self.agent.as_ref().is_some_and(|(agent, _)| words::is_prompted_by_harness(agent));
        if let Some(parent) = self.follows.take() {
            place.parent.get_or_insert(parent.into());
        }
    }

    /// Whether `record` is the prompt for work that was handed over after the time up to which the file is told.
    pub(super) fn begins_later(&self, record: &Record<'_>) -> bool {
        let Some(until) = self.until.as_deref().filter(|_| self.has_begun) else { return false };
        let is_later = record.timestamp.text().is_some_and(|time| is_comparable(&time, until) && *time > *until);
        if !is_later || record.kind.text().as_deref() != Some("user") {
            return false;
        }
        let Some(message) = Message::of(record.message) else { return false };
        let content = Content::of(message.content, "", false);
        content.results.is_empty()
            && !content.text.is_empty()
            && words::of_agents_prompt(record, &content.text).is_none()
    }
}

/// Whether the order of two time stamps is that of their texts.
fn is_comparable(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.ends_with('Z') && other.ends_with('Z')
}
