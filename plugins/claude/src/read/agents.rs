//! Sub-agents' files, told where their work comes back.
//!
//! A file is told before the result of the call that started the sub-agent. One that goes on in the background answers
//! twice: its first result only says that it was started. That result is told when the work comes back, with the file
//! before it, so that what follows takes the work up. What never came back is told at the end.

use std::rc::Rc;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::lines::Lines;
use toolpath_plugin_api::{Disposition, Origin, SessionRecord, Severity, Sink, SkipRecord, Stopped};

use super::kind::AgentSaid;
use super::scope::Scope;
use super::{Kind, Reader, Taken};
use crate::agents::Told;
use crate::branches::branch;
use crate::content::Content;
use crate::place::Place;
use crate::results::{self, HeldResult};
use crate::shape::{AgentReport, Block, Message, Record, Source};
use crate::{digest, events, notices, turns, words};

/// Files of sub-agents that are told one within the other; those beyond are told at the end.
const DEEPEST: usize = 16;

/// Work that goes on in the background.
#[derive(Debug)]
pub(super) struct Launch {
    agent: usize,
    /// What the call answered at once.
    result: HeldResult,
}

/// Whether the results of a record are told with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returned {
    /// They are.
    Now,
    /// Its only one is told when the work comes back.
    Later,
}

impl Reader<'_> {
    /// Says how the files of the sub-agents are called.
    pub(super) fn announce(&mut self, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        if self.agents.count() == self.announced {
            return Ok(());
        }
        self.announced = self.agents.count();
        let folder = self.name.rfind('/').map_or("", |at| &self.name[..=at]);
        let names: Vec<_> = self.agents.names().map(|name| format!("{folder}{name}")).collect();
        let mut session = SessionRecord::new(self.id);
        session.files = std::iter::once(self.name).chain(names.iter().map(String::as_str)).collect();
        sink.session(&session)
    }

    /// Tells what results of `record` come from, and says whether they are told now.
    pub(super) fn before_results(
        &mut self,
        record: &Record<'_>,
        message: &Message<'_>,
        results: &[Block<'_>],
        place: &mut Place<'_>,
        scope: &Scope,
        sink: &mut Sink<'_>,
    ) -> Result<Returned, Stopped> {
        let calls: Vec<_> = results.iter().filter_map(|block| results::call_of(block, record)).collect();
        if calls.is_empty() {
            return Ok(Returned::Now);
        }
        place.lead = scope.threads.last_line(place.branch.as_ref(), place.parent.as_deref());
        let report: Option<AgentReport<'_>> = if calls.len() == 1 { record.outcome.object() } else { None };
        for ended in report.iter().flat_map(results::ended) {
            self.come_back(|launch, agent| agent == ended || launch.result.call() == ended, place, scope, sink)?;
        }
        let session = record.session_id.filled();
        let reported = report.as_ref().and_then(results::agent_of);
        let reported = reported.and_then(|agent| self.agents.named(&agent, session.as_deref()));
        let mut returned = Returned::Now;
        for call in &calls {
            let asked = self.desk.calls.prompt_of(call);
            let by_call = || self.agents.called(digest::of_text(call));
            let found = reported.or_else(by_call).or_else(|| self.agents.prompted(asked?));
            self.desk.calls.answer(call);
            let Some(agent) = found else { continue };
            if !self.is_readable(agent, sink)? {
                continue;
            }
            let held = report.as_ref().filter(|report| results::is_launch(report));
            if let Some(result) = held.and_then(|_| HeldResult::of(message.content, record, place)) {
                self.launched.push(Launch { agent, result });
                returned = Returned::Later;
            } else {
                self.tell(agent, Some(call), Some(&place.time), scope.depth, sink)?;
            }
        }
        Ok(returned)
    }

    /// Tells the work that a notice says has come back.
    pub(super) fn before_notice(
        &mut self,
        record: &Record<'_>,
        content: Field<'_>,
        place: &Place<'_>,
        scope: &Scope,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        if self.launched.is_empty() {
            return Ok(());
        }
        let origin: Source<'_> = record.origin.object().unwrap_or_default();
        if let (Some("peer"), Some(from)) = (origin.kind.text().as_deref(), origin.from.filled()) {
            self.come_back(|_, agent| agent == from, place, scope, sink)?;
        }
        let content = Content::of(content, "", false);
        if !notices::is_notice(&content.text) {
            return Ok(());
        }
        for ended in notices::ended(&content.text) {
            self.come_back(|launch, agent| ended.is(agent, launch.result.call()), place, scope, sink)?;
        }
        Ok(())
    }

    /// Tells a row of progress in which a sub-agent says something.
    pub(super) fn agent_progress(
        &mut self,
        record: &Record<'_>,
        said: &AgentSaid<'_>,
        json: &str,
        place: &mut Place<'_>,
        scope: &mut Scope,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        let session = record.session_id.filled();
        let file = said.agent.as_ref().and_then(|agent| self.agents.named(agent, session.as_deref()));
        place.lead = scope.threads.last_line(place.branch.as_ref(), place.parent.as_deref());
        let (Some(agent), Some(inner)) = (&said.agent, &said.record) else {
            return events::record(record, json, place, sink);
        };
        let call = record.parent_tool_use.id();
        let mut branch = None;
        if let Some(file) = file
            && self.is_readable(file, sink)?
        {
            if self.agents.file(file).holds(inner) {
                let reason = "told in the sub-agent's own file";
                return sink.skip(&place.link(SkipRecord::new(Disposition::Duplicate, reason, place.origin)));
            }
            // The file was cut or damaged: the rows go on where it ends.
            self.tell(file, call.as_deref(), Some(&place.time), scope.depth, sink)?;
            branch = self.agents.file(file).branch.clone();
        }
        let kind = Kind::of(inner);
        if !matches!(kind, Kind::Assistant(_) | Kind::User(_)) {
            return events::record(record, json, place, sink);
        }
        let skip = SkipRecord::new(Disposition::Folded, "told as what the sub-agent said", place.origin);
        sink.skip(&place.link(skip))?;
        if let Some(call) = &call {
            self.desk.calls.claim(digest::of_text(call));
        }
        let branch = branch.unwrap_or_else(|| scope.branch_within(agent, call.as_deref()));
        let mut within = Place::of(inner, || format!("{}/said", place.id), Some(branch), place.origin);
        within.is_part = true;
        self.facts.see(&within);
        match kind {
            Kind::Assistant(message) => {
                scope.threads.say(within.branch.as_ref(), message.id.filled().as_deref(), &within.id);
                turns::assistant(inner, &message, &within, &mut self.desk, sink)
            }
            Kind::User(message) => {
                let content = Content::of(message.content, &within.id, false);
                let returned = self.before_results(inner, &message, &content.results, &mut within, scope, sink)?;
                turns::user(inner, &message, content, &within, returned, &mut self.desk, sink)
            }
            _ => Ok(()),
        }
    }

    /// Tells what is left when the session's own file has been read: work that never came back, and orphans.
    pub(super) fn tell_rest(&mut self, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        for launch in std::mem::take(&mut self.launched) {
            self.tell(launch.agent, Some(launch.result.call()), None, 0, sink)?;
            launch.result.tell(sink)?;
        }
        if self.desk.calls.were_made() {
            self.agents.search_folder();
        }
        let mut agent = 0;
        // Telling one may bring up others.
        while agent < self.agents.count() {
            if self.is_readable(agent, sink)? {
                let call = if self.agents.file(agent).is_begun() { None } else { self.caller(agent, sink)? };
                self.tell(agent, call.as_deref(), None, 0, sink)?;
            }
            agent += 1;
        }
        for launch in std::mem::take(&mut self.launched) {
            launch.result.tell(sink)?;
        }
        Ok(())
    }

    /// The call that started a sub-agent and has no answer; an orphan has none.
    fn caller(&mut self, agent: usize, sink: &mut Sink<'_>) -> Result<Option<Box<str>>, Stopped> {
        let file = self.agents.file(agent);
        let by_sidecar = file.call.and_then(|call| self.desk.calls.claim(call));
        let call = match by_sidecar {
            None => file.prompt().and_then(|prompt| self.desk.calls.claim_by_prompt(prompt)),
            call => call,
        };
        if call.is_none() && !words::is_helper(&file.agent) {
            let message = format!("no call in the session started the sub-agent `{}`", file.agent);
            sink.diagnostic(Severity::Warning, "orphan-sub-agent", &message, origin_of(agent))?;
        }
        Ok(call)
    }

    /// Whether a sub-agent's file can be read; says so once if not.
    fn is_readable(&mut self, agent: usize, sink: &mut Sink<'_>) -> Result<bool, Stopped> {
        self.announce(sink)?;
        match self.agents.file(agent).check() {
            Ok(is_readable) => Ok(is_readable),
            Err(reason) => {
                sink.diagnostic(Severity::Warning, "unreadable-file", &reason, origin_of(agent))?;
                Ok(false)
            }
        }
    }

    /// Tells the background work of which `is` says that it has come back.
    fn come_back(
        &mut self,
        is: impl Fn(&Launch, &str) -> bool,
        place: &Place<'_>,
        scope: &Scope,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        let at = (0..self.launched.len()).find(|&at| {
            let launch = &self.launched[at];
            is(launch, &self.agents.file(launch.agent).agent)
        });
        let Some(at) = at else { return Ok(()) };
        let launch = self.launched.remove(at);
        self.tell(launch.agent, Some(launch.result.call()), Some(&place.time), scope.depth, sink)?;
        launch.result.tell(sink)
    }

    /// Tells a sub-agent's file from where it was not told yet, as the work that `call` started.
    fn tell(
        &mut self,
        agent: usize,
        call: Option<&str>,
        until: Option<&str>,
        depth: usize,
        sink: &mut Sink<'_>,
    ) -> Result<(), Stopped> {
        if depth >= DEEPEST || self.telling.contains(&agent) {
            return Ok(());
        }
        let file = self.agents.file(agent);
        let told = file.told();
        let log = match file.open() {
            Ok(log) => log,
            Err(err) => {
                let reason = err.to_string();
                return sink.diagnostic(Severity::Warning, "unreadable-file", &reason, origin_of(agent));
            }
        };
        let branch: Rc<str> = match (&file.branch, call) {
            (Some(branch), None) => branch.clone(),
            _ => branch(call, &file.agent),
        };
        file.branch = Some(branch.clone());
        let mut scope = Scope::of_agent(&file.agent, branch, origin_of(agent).file, told, until);
        scope.depth = depth + 1;
        let mut now = Told { bytes: told.bytes + log.limit(), lines: told.lines };
        // Whoever asks again while it is told gets nothing more.
        file.tell_to(now);
        self.telling.push(agent);
        let mut lines = Lines::new(log);
        loop {
            let line = match lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(err) => {
                    let reason = err.to_string();
                    sink.diagnostic(Severity::Warning, "unreadable-file", &reason, origin_of(agent))?;
                    break;
                }
            };
            if !line.is_blank() && self.line(&line, &mut scope, sink)? == Taken::NotYet {
                now = Told { bytes: told.bytes + line.offset, lines: told.lines + line.number - 1 };
                break;
            }
            now.lines = told.lines + line.number;
        }
        self.telling.pop();
        self.agents.file(agent).tell_to(now);
        Ok(())
    }
}

/// A place that is a sub-agent's file as a whole.
fn origin_of(agent: usize) -> Origin {
    Origin { file: u32::try_from(agent + 1).unwrap_or(u32::MAX), ..Origin::default() }
}
