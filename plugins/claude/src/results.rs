//! Results of tool calls: folded into their calls, with the writes and delegations that the tool reported.

use std::borrow::Cow;
use std::collections::BTreeMap;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::{DelegationRecord, Origin, Sink, Stopped, ToolResultRecord};

use crate::calls::Calls;
use crate::content::{Answer, answer};
use crate::edits::Edit;
use crate::events;
use crate::place::Place;
use crate::shape::{AgentReport, Block, Outcome, Record, TaskReport};
use crate::spill::{self, Spills};

/// Tells the results that a record holds as parts of it; hands out what has no place in a result.
pub(crate) fn tell<'a>(
    results: &[Block<'a>],
    record: &Record<'a>,
    place: &Place<'a>,
    desk: &mut Desk,
    sink: &mut Sink<'_>,
) -> Result<Beside<'a>, Stopped> {
    // The tool's report names no call, so it says something only when there is one result that it can belong to.
    let outcome: Option<Outcome<'_>> = if results.len() == 1 { record.outcome.object() } else { None };
    let mut beside = Beside::default();
    for (index, block) in results.iter().enumerate() {
        let call = call_of(block, record);
        // One that names no call belongs to none, and not to another that has no id.
        let call = call.unwrap_or_else(|| format!("{}/result-{index}", place.id).into());
        let answer = Answer::of(block.content);
        beside.blocks.extend(&answer.blocks);
        let is_error = block.is_error.flag() || is_error_block(block.content);
        let cwd = record.cwd.filled();
        let mut edits = match &outcome {
            Some(outcome) if !is_error => Edit::all_of(outcome, cwd.as_deref()),
            _ => Vec::new(),
        };
        let notebook = desk.calls.take_notebook(&call).filter(|_| !is_error && edits.is_empty());
        if let Some(path) = notebook.filter(|_| outcome.is_none_or(|outcome| outcome.error.filled().is_none())) {
            edits.push(Edit::of_notebook(&path, cwd.as_deref()));
        }
        let handed_over = outcome.and_then(|outcome| Delegation::of(&outcome));

        let mut result = answer.record(&call, is_error, place.origin);
        result.timestamp(&place.time).part_of_record(true);
        for edit in &edits {
            result.mutation(edit.record(&call));
        }
        if let Some(Delegation { agent, prompt, answer }) = &handed_over {
            result.delegation(DelegationRecord::new(agent, prompt).result(answer.as_deref()));
        }
        sink.tool_result(&result)?;
        if let (Some(edit), true) = (edits.first(), outcome.is_some_and(|outcome| outcome.user_modified.flag())) {
            let data = format!(r#"{{"path":{},"tool_use_id":{}}}"#, quoted(edit.path()), quoted(&call));
            beside.notes.push(("edit-changed-by-user", data));
        }
        let spilled = outcome.and_then(|outcome| outcome.spilled.filled());
        let said = answer.with(spill::WRAPPER);
        if let Some(path) = spilled.as_deref().or_else(|| spill::path_in(said.as_deref()?)) {
            beside.notes.push(("spilled-output", desk.spills.about(&call, path)));
        }
    }
    Ok(beside)
}

/// What a record's results hold that has no place in a result; told when the record is, whose parts these are.
#[derive(Debug, Default)]
pub(crate) struct Beside<'a> {
    blocks: Vec<Field<'a>>,
    /// Kinds of events, and their data.
    notes: Vec<(&'static str, String)>,
}

impl Beside<'_> {
    /// Tells all of it.
    pub(crate) fn tell(&self, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        for (kind, data) in &self.notes {
            sink.event(place.part(kind).data(data))?;
        }
        events::blocks(&self.blocks, place, sink)
    }
}

/// What is remembered of tools from one record to the next.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// Calls that nobody has answered yet.
    pub(crate) calls: Calls,
    /// Outputs that were written to files.
    pub(crate) spills: Spills,
}

/// The sub-agent that a report tells of.
pub(crate) fn agent_of<'a>(report: &AgentReport<'a>) -> Option<Cow<'a, str>> {
    report.resumed.filled().or_else(|| report.agent_id.filled())
}

/// Whether a report only says that work was started, which goes on in the background.
pub(crate) fn is_launch(report: &AgentReport<'_>) -> bool {
    let is_started = |status: Cow<'_, str>| matches!(&*status, "async_launched" | "teammate_spawned");
    report.is_async.flag() || report.resumed.filled().is_some() || report.status.text().is_some_and(is_started)
}

/// The work of which a report says that it has ended: ids of sub-agents.
pub(crate) fn ended<'a>(report: &AgentReport<'a>) -> Vec<Cow<'a, str>> {
    let is_over = |task: &TaskReport<'_>| task.status.text().is_some_and(|status| status != "running");
    let task = report.task.object::<TaskReport<'a>>().filter(is_over).and_then(|task| task.id.id());
    let is_over = |task: Field<'a>| task.object::<TaskReport<'_>>().is_some_and(|task| is_over(&task));
    let agents: BTreeMap<_, _> = report.agents.entries().unwrap_or_default().into_iter().collect();
    let agents = agents.into_iter().filter(|(_, task)| is_over(*task)).map(|(id, _)| id);
    task.into_iter().chain(agents).collect()
}

/// A result that is told later than its record.
#[derive(Debug)]
pub(crate) struct HeldResult {
    call: String,
    text: String,
    is_error: bool,
    time: String,
    origin: Origin,
    handed_over: Option<(String, String)>,
}

impl HeldResult {
    /// A longer one is told at once: what waits must stay small.
    const LONGEST: usize = 64 * 1024;

    /// The only result in `content`; `None` when it cannot wait.
    pub(crate) fn of(content: Field<'_>, record: &Record<'_>, place: &Place<'_>) -> Option<Self> {
        let block: Block<'_> = content.list()?.into_iter().find(|block| is_result_block(*block))?.object()?;
        let (text, rest) = answer(block.content);
        let outcome: Outcome<'_> = record.outcome.object().unwrap_or_default();
        let handed_over = Delegation::of(&outcome).map(|work| (work.agent.into(), work.prompt.into()));
        let held = Self {
            call: call_of(&block, record)?.into(),
            text: text.into(),
            is_error: block.is_error.flag(),
            time: (*place.time).to_owned(),
            origin: place.origin,
            handed_over,
        };
        let length = held.text.len() + held.handed_over.as_ref().map_or(0, |(_, prompt): &(_, String)| prompt.len());
        (rest.is_empty() && length <= Self::LONGEST).then_some(held)
    }

    /// Id of the call that it answers.
    pub(crate) fn call(&self) -> &str {
        &self.call
    }

    /// Tells it, as a part of the record that held it.
    pub(crate) fn tell(&self, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let mut result = ToolResultRecord::new(&self.call, &self.text, self.is_error, self.origin);
        result.timestamp(&self.time).part_of_record(true);
        if let Some((agent, prompt)) = &self.handed_over {
            result.delegation(DelegationRecord::new(agent, prompt));
        }
        sink.tool_result(&result)
    }
}

fn is_result_block(block: Field<'_>) -> bool {
    block.object::<Block<'_>>().is_some_and(|block| is_result(&block))
}

fn is_result(block: &Block<'_>) -> bool {
    block.kind.text().is_some_and(|kind| kind.ends_with("tool_result"))
}

/// Id of the call that a result answers.
pub(crate) fn call_of<'a>(block: &Block<'a>, record: &Record<'a>) -> Option<Cow<'a, str>> {
    block.tool_use_id.id().or_else(|| record.source_tool_use.id())
}

/// The API's own tools tell a failure by the kind of their only block.
fn is_error_block(content: Field<'_>) -> bool {
    let kind = content.object::<Block<'_>>().and_then(|block| block.kind.text());
    kind.is_some_and(|kind| kind.ends_with("_error"))
}

/// Work that a call handed to a sub-agent.
struct Delegation<'a> {
    agent: Cow<'a, str>,
    prompt: Cow<'a, str>,
    answer: Option<Cow<'a, str>>,
}

impl<'a> Delegation<'a> {
    fn of(outcome: &Outcome<'a>) -> Option<Self> {
        let (agent, prompt) = (outcome.agent_id.filled()?, outcome.prompt.text()?);
        // Of one that goes on in the background, nothing has come back yet.
        let answer = outcome.content.json().map(|_| answer(outcome.content).0);
        Some(Self { agent, prompt, answer })
    }
}
