//! Results of tool calls: folded into their calls, with the writes and delegations that the tool reported.

use std::borrow::Cow;

use toolpath_plugin_api::kit::json::RawValue;
use toolpath_plugin_api::{DelegationRecord, Sink, Stopped, ToolResultRecord};

use crate::content::answer;
use crate::edits::Edit;
use crate::place::Place;
use crate::shape::{Block, Field, Outcome, Record};

/// Tells the results that a record holds as parts of it; hands out the blocks that have no place in a result.
pub(crate) fn tell<'a>(
    results: &[Block<'a>],
    record: &Record<'a>,
    place: &Place<'a>,
    sink: &mut Sink<'_>,
) -> Result<Vec<&'a RawValue>, Stopped> {
    // The tool's report names no call, so it says something only when there is one result that it can belong to.
    let outcome: Option<Outcome<'_>> = if results.len() == 1 { record.outcome.object() } else { None };
    let mut rest = Vec::new();
    for (index, block) in results.iter().enumerate() {
        let call = call_of(block, record);
        // One that names no call belongs to none, and not to another that has no id.
        let call = call.unwrap_or_else(|| format!("{}/result-{index}", place.id).into());
        let (text, blocks) = answer(block.content);
        rest.extend(blocks);
        let is_error = block.is_error.flag() || is_error_block(block.content);
        let edit = outcome.filter(|_| !is_error).and_then(|outcome| Edit::of(&outcome, record.cwd.filled().as_deref()));
        let handed_over = outcome.and_then(|outcome| Delegation::of(&outcome));

        let mut result = ToolResultRecord::new(&call, &text, is_error, place.origin);
        result.timestamp(&place.time).part_of_record(true);
        if let Some(edit) = &edit {
            result.mutation(edit.record(&call));
        }
        if let Some(Delegation { agent, prompt, answer }) = &handed_over {
            result.delegation(DelegationRecord::new(agent, prompt).result(answer.as_deref()));
        }
        sink.tool_result(&result)?;
    }
    Ok(rest)
}

fn call_of<'a>(block: &Block<'a>, record: &Record<'a>) -> Option<Cow<'a, str>> {
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
