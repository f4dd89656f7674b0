//! One response of the model, gathered from the records that it is written in.

use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{EventRecord, Origin, Role, Sink, Stopped, ToolUseRecord, TurnRecord};

use crate::calls::Call;
use crate::place::Place;
use crate::signal::Signal;
use crate::usage::Tokens;

/// Above this many bytes a response is told in several turns, which share its group.
const HEAVY: usize = 4 << 20;

/// A response that is still being gathered.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Where its first record stands; that record it accounts for.
    pub(crate) place: Place,
    /// Its number in the file.
    pub(crate) response: u64,
    pub(crate) group: String,
    pub(crate) model: Option<String>,
    pub(crate) usage: Option<Tokens>,
    pub(crate) environment: Environment,
    pub(crate) signal: Option<Signal>,
    pub(crate) texts: Vec<String>,
    pub(crate) thoughts: Vec<String>,
    pub(crate) calls: Vec<(Call, Origin)>,
    /// Blocks that found no place in the text.
    pub(crate) rest: Vec<(String, Origin)>,
    pub(crate) weight: usize,
}

/// Where turns are made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment {
    pub(crate) dir: Option<String>,
    pub(crate) branch: Option<String>,
    pub(crate) revision: Option<String>,
}

impl Environment {
    /// Says so in a turn.
    pub(crate) fn set<'e>(&'e self, turn: &mut TurnRecord<'e>) {
        if self.dir.is_some() || self.branch.is_some() || self.revision.is_some() {
            turn.environment(self.dir.as_deref(), self.branch.as_deref(), self.revision.as_deref());
        }
    }
}

impl Pending {
    /// Whether there is nothing to be read in it yet: a thought that is encrypted says nothing.
    pub(crate) fn is_silent(&self) -> bool {
        self.texts.is_empty() && self.thoughts.is_empty() && self.calls.is_empty() && self.rest.is_empty()
    }

    /// Whether it is time to tell it, whatever comes.
    pub(crate) fn is_heavy(&self) -> bool {
        self.weight > HEAVY
    }

    /// Tells it as the turn after `parent`.
    pub(crate) fn tell(&self, parent: Option<&str>, branch: Option<&str>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let (text, thinking) = (self.texts.join("\n\n"), self.thoughts.join("\n\n"));
        let mut turn = TurnRecord::new(Role::Assistant, &self.place.id, &self.place.time, self.place.origin);
        turn.parent(parent).group(Some(&self.group)).text(&text);
        turn.thinking(Some(thinking.as_str()).filter(|thinking| !thinking.is_empty()));
        self.environment.set(&mut turn);
        if let Some(branch) = branch {
            turn.ext(ext::BRANCH, branch);
        }
        match self.signal {
            Some(signal) => turn.harness_generated(signal.json()),
            None => turn.model(self.model.as_deref()),
        };
        if let Some(usage) = &self.usage {
            turn.usage_snapshot(usage.record());
        }
        for (call, origin) in &self.calls {
            let mut told = ToolUseRecord::new(&call.id, &call.name, &call.input, *origin).category(call.category);
            if call.writes() {
                told = told.write_needs_result();
            }
            if let Some(result) = &call.result {
                told = told.result(result, false);
            }
            turn.tool_use(told);
        }
        sink.turn(&turn)?;
        tell_blocks(&self.rest, &self.place, branch, sink)
    }
}

/// Tells the blocks that found no place in the message at `place`.
pub(crate) fn tell_blocks(
    blocks: &[(String, Origin)],
    place: &Place,
    branch: Option<&str>,
    sink: &mut Sink<'_>,
) -> Result<(), Stopped> {
    for (block, origin) in blocks {
        let data = format!(r#"{{"block":{block}}}"#);
        let mut event = EventRecord::new("content-block", "", &place.time, *origin);
        event.parent(Some(&place.id)).data(&data).part_of_record();
        if let Some(branch) = branch {
            event.ext(ext::BRANCH, branch);
        }
        sink.event(&event)?;
    }
    Ok(())
}
