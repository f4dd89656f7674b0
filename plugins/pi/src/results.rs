//! Results of tool calls, which fold into the calls they answer.

use toolpath_plugin_api::{DelegationRecord, Disposition, Sink, SkipRecord, Stopped, ToolResultRecord};

use crate::agents::Agents;
use crate::content::Content;
use crate::events;
use crate::place::Place;
use crate::shape::Message;

/// Tells the result that `message` is.
pub(crate) fn tell(message: &Message<'_>, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
    // One that names no call belongs to none, and not to another that has no id.
    let call = message.call.id().unwrap_or_else(|| format!("{}/result", place.id).into());
    let content = Content::of(message.content, &place.id);
    // A sub-agent cannot tell of sub-agents of its own in this way; nothing nests without end.
    let agents = if place.branch.is_none() { Agents::of(message, &call) } else { Agents::default() };
    // What an agent did stands before the result that ends it.
    agents.tell(place, sink)?;

    let mut result = ToolResultRecord::new(&call, &content.text, message.is_error.flag(), place.origin);
    result.timestamp(&place.time).part_of_record(true);
    for agent in agents.list() {
        result.delegation(DelegationRecord::new(&agent.name, &agent.task).result(agent.answer.as_deref()));
    }
    sink.tool_result(&result)?;
    if !place.is_part {
        // Records that follow name this one as their parent, which only a skipped record can lead on.
        sink.skip(&place.link(SkipRecord::new(Disposition::Folded, "tool result", place.origin)))?;
    }
    events::parts(&content.rest, place, sink)
}
