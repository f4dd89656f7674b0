//! Turns and events in, steps out.
//!
//! A step's place (its id, its parents, its actor) is fixed when its record arrives; its content may come later. What
//! is complete is written at once, and an index puts it in order at the end. Memory grows with
//! the number of ids, by digests, never with texts. Nothing here reads a clock, the environment or a file of the
//! user's.
//!
//! Parents are found through *lines*: a turn starts a line, events lengthen the line they stand on, and whatever
//! names a record of a line hangs on that line's tip. So every record of the main line is an ancestor of the head, and
//! what happened on an abandoned branch stays there.

pub(crate) mod actor;
pub(crate) mod change;
mod ids;
pub(crate) mod pieces;
#[cfg(test)]
mod properties;
mod tally;
#[cfg(test)]
mod tests;
mod usage;
mod waiting;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};
use toolpath_plugin_api::kit::table::Table;

use crate::digest;
use crate::record::{Branch, Diagnostic, EventRecord, Origin, ResultRecord, Severity, SkipRecord, TurnRecord};
use crate::turn::{FileMutation, Role, ToolResult, Turn};

pub(crate) use actor::ActorEntry;
use actor::{ActorId, Actors};
pub use change::Detail;
use ids::{Fate, Ids, Line, Seq, Target};
pub use pieces::Form;
use pieces::{Pieces, PlacedEvent};
pub use tally::{ModelTally, Tally, Tokens};
pub use usage::{CountedElsewhere, Responses};
use usage::{Groups, Said, Uncounted};
use waiting::{Brought, CallResult, Held, Waiting};

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// A step for a turn.
    Turn,
    /// Part of its call's step.
    Folded,
    /// A step for an event.
    Event,
    /// Nothing: it repeats an earlier record.
    Duplicate,
}

/// All steps of a path, in order, and what the result says around them.
#[derive(Debug)]
pub struct Steps {
    pub(crate) pieces: Pieces,
    /// The tip of the main line; empty without steps.
    pub(crate) head: String,
    /// The actors' entries.
    pub(crate) actors: BTreeMap<String, ActorEntry>,
    /// The first working directory that a turn recorded.
    pub(crate) first_working_dir: Option<String>,
    /// What was counted for each response, when that was asked for.
    pub(crate) responses: Responses,
}

impl Steps {
    /// How much there was of what, where only that was asked for.
    pub fn tally(&self) -> &Tally {
        self.pieces.tally()
    }
}

/// A line of the conversation.
#[derive(Clone, Copy, Debug)]
struct LineEnd {
    /// Its last step so far.
    tip: Seq,
    /// The turn that started it; [`NO_TURN`] for the events before every turn.
    turn: Seq,
}

/// Stands where a turn might.
const NO_TURN: Seq = Seq::MAX;

/// A sub-agent's branch.
#[derive(Clone, Copy, Debug)]
struct BranchEnd {
    /// The line of its last turn.
    line: Line,
    /// Who wrote what stands in the user's position there; `None` for a model that the log does not name.
    prompter: Option<ActorId>,
}

/// A tool call.
#[derive(Clone, Copy, Debug)]
struct Call {
    turn: Seq,
    index: u32,
    actor: ActorId,
    /// Half the digest of its result; [`NO_RESULT`] while it has none.
    result: digest::Half,
}

/// Derives the steps of one path.
#[derive(Debug)]
pub struct Deriver {
    ids: Ids,
    actors: Actors,
    groups: Groups,
    waiting: Waiting,
    calls: Table<Call>,
    /// The line of each step.
    line_of: Vec<Line>,
    lines: Vec<LineEnd>,
    /// Line of the last turn on the main line.
    main: Option<Line>,
    /// Line of the events before every turn.
    preamble: Option<Line>,
    branches: digest::Map<BranchEnd>,
    /// Branches by the call that started them.
    branches_of: digest::Map<Vec<u128>>,
    /// Branches whose result has come and that the next turn of the main line takes up.
    returning: Vec<u128>,
    last_turn: Option<Seq>,
    turns: u64,
    events: u64,
    pieces: Pieces,
    first_working_dir: Option<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Deriver {
    /// Derives the session `session_id` of `provider`.
    pub fn new(provider: &str, session_id: &str, form: Form, detail: Detail) -> Self {
        Self {
            ids: Ids::new(),
            actors: Actors::new(provider),
            groups: Groups::default(),
            waiting: Waiting::default(),
            calls: Table::default(),
            line_of: Vec::new(),
            lines: Vec::new(),
            main: None,
            preamble: None,
            branches: digest::Map::default(),
            branches_of: digest::Map::default(),
            returning: Vec::new(),
            last_turn: None,
            turns: 0,
            events: 0,
            pieces: Pieces::new(form, format!("{provider}://{session_id}"), detail),
            first_working_dir: None,
            diagnostics: Vec::new(),
        }
    }

    /// Notes what is counted for each response.
    pub fn note_responses(&mut self) {
        self.groups.note_responses();
    }

    /// Leaves out the usage of responses that another session counts.
    pub fn leave_out(&mut self, elsewhere: Arc<CountedElsewhere>) {
        self.groups.leave_out(elsewhere);
    }

    /// The id of the last step of a turn.
    pub fn last_turn_id(&mut self) -> io::Result<Option<String>> {
        self.last_turn.map(|seq| self.ids.name(seq)).transpose()
    }

    /// Copies the pieces of a stream that may leave to `out`; says whether there were any.
    pub fn leave(&mut self, out: &mut dyn Write) -> io::Result<bool> {
        self.pieces.leave(out)
    }

    /// What there is to say about the records so far; each is said once.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        for Uncounted { response, session, origin } in self.groups.take_uncounted() {
            let message = format!("the response `{response}` is counted in `{session}`, and not again here");
            self.say(Severity::Info, "replayed-response", message, origin);
        }
        std::mem::take(&mut self.diagnostics)
    }

    /// Takes in a message.
    pub fn turn(&mut self, record: TurnRecord<'_>) -> io::Result<Became> {
        let content = digest::of(&(0_u8, &record.turn, &record.partial, &record.branch));
        self.turns += 1;
        let numbered;
        let id: &str = if record.turn.id.is_empty() {
            numbered = format!("step-{:04}", self.turns);
            &numbered
        } else {
            &record.turn.id
        };
        let named = self.line_named(record.turn.parent_id.as_deref());
        let seq = self.next_seq();
        let Fate::Step(id) = self.ids.register(id, content, seq)? else { return Ok(Became::Duplicate) };

        self.report_unknown_parent(record.turn.parent_id.as_deref(), named, record.origin);
        let branch = record.branch.as_ref().map(digest::of);
        let (parent, prompter) = match (&record.branch, branch) {
            (Some(branch), Some(key)) => self.branch_parent(branch, key, named),
            _ => (named.or_else(|| self.parent_without_name(record.parent_or_previous)), None),
        };
        let is_prompt = branch.is_some() && record.turn.role == Role::User && !record.turn.harness_generated;
        let mut parents = Vec::new();
        if let Some(line) = parent {
            parents.push(self.tip_name(line)?);
        }
        if branch.is_none() {
            for branch in std::mem::take(&mut self.returning) {
                let tip = self.tip_name(self.branches[&branch].line)?;
                if !parents.contains(&tip) {
                    parents.push(tip);
                }
            }
        }

        let line = self.start_line(seq, Some(seq));
        let actor = match prompter {
            Some(prompter) if is_prompt => prompter,
            None if is_prompt => self.actors.model(None),
            _ => self.actors.of(&record.turn),
        };
        self.define_actor(seq, actor);
        match branch {
            Some(key) => {
                self.branches.insert(key, BranchEnd { line, prompter });
            }
            None => self.main = Some(line),
        }
        if self.first_working_dir.is_none() {
            let environment = record.turn.environment.as_ref();
            self.first_working_dir = environment.and_then(|place| place.working_dir.as_deref()).map(str::to_owned);
        }

        let mut turn = record.turn;
        if self.pieces.form() == Form::View {
            turn.id = id.clone().into();
            turn.parent_id = self.turn_name(parent)?.map(Into::into);
        }
        let said = Said {
            group: turn.group_id.as_deref(),
            usage: turn.token_usage.take(),
            is_snapshot: record.usage_is_snapshot,
            id: &id,
            timestamp: &turn.timestamp,
            origin: record.origin,
        };
        let usage = self.groups.next(said);
        if let Some(last) = self.last_turn.replace(seq) {
            self.bring(last, Brought::Usage(usage))?;
        }
        let outstanding = self.expect_results(&turn, seq, actor)?;
        let held = Held {
            id,
            parents,
            actor: self.actors.name(actor).to_owned(),
            turn: turn.into_owned(),
            needs_result: record.needs_result,
            partial: record.partial,
        };
        // One more for the turn after it, which decides whether this one carries its group's usage.
        self.waiting.hold(seq, held, outstanding + 1)?;
        Ok(Became::Turn)
    }

    /// Takes in the result of a tool call; one for a call that nobody made becomes an event.
    pub fn result(&mut self, record: ResultRecord<'_>) -> io::Result<Became> {
        let key = digest::of_text(&record.call_id);
        let content = result_digest(&record.result, &record.file_mutations);
        match self.calls.get_mut(key) {
            Some(call) if call.result == NO_RESULT => {
                call.result = content;
                let (turn, index) = (call.turn, call.index);
                self.returning.extend(self.branches_of.get(&key).into_iter().flatten());
                let result = CallResult {
                    call: index,
                    result: record.result.into_owned(),
                    file_mutations: record.file_mutations.into_iter().map(|file| file.into_owned()).collect(),
                    partial: record.partial,
                    delegations: record.delegations.into_iter().map(|work| work.into_owned()).collect(),
                };
                self.bring(turn, Brought::Result(Box::new(result)))?;
                Ok(Became::Folded)
            }
            Some(call) if call.result == content => Ok(Became::Duplicate),
            known => {
                let message = match known {
                    None => {
                        format!("the result of `{}` answers no call before it; it is kept as an event", record.call_id)
                    }
                    Some(_) => format!(
                        "a second result for `{}` differs from the first; it is kept as an event",
                        record.call_id
                    ),
                };
                self.say(Severity::Warning, "orphan-result", message, record.origin);
                if !self.calls.contains(key) {
                    // Remembered, so that the same result told again is a duplicate.
                    let actor = self.actors.harness();
                    self.calls.insert(key, Call { turn: NO_TURN, index: 0, actor, result: content });
                }
                self.event(event_of(record))
            }
        }
    }

    /// Takes in a record that is no message.
    pub fn event(&mut self, record: EventRecord<'_>) -> io::Result<Became> {
        let received = (&record.id, &record.timestamp, &record.event_type, &record.parent_id);
        let content = digest::of(&(1_u8, received, &record.data, &record.branch));
        let numbered;
        let id: &str = if record.id.is_empty() {
            numbered = format!("event-{:04}", self.events + 1);
            &numbered
        } else {
            &record.id
        };
        let named = self.line_named(record.parent_id.as_deref());
        let seq = self.next_seq();
        let Fate::Step(id) = self.ids.register(id, content, seq)? else { return Ok(Became::Duplicate) };
        self.events += 1;

        self.report_unknown_parent(record.parent_id.as_deref(), named, record.origin);
        let in_branch = record.branch.as_ref().and_then(|branch| self.branches.get(&digest::of(branch)));
        let line = named.or(in_branch.map(|branch| branch.line)).or(self.main).or(self.preamble);
        let mut parents = Vec::new();
        match line {
            Some(line) => {
                parents.push(self.tip_name(line)?);
                self.lines[line as usize].tip = seq;
                self.line_of.push(line);
                self.pieces.reserve();
            }
            None => self.preamble = Some(self.start_line(seq, None)),
        }

        let actor = self.actors.harness();
        self.define_actor(seq, actor);
        let turn = if self.pieces.form() == Form::View { self.turn_name(line)? } else { None };
        let event = PlacedEvent {
            id: &id,
            parents: &parents,
            actor: self.actors.name(actor),
            turn,
            source_id: &record.id,
            timestamp: &record.timestamp,
            event_type: &record.event_type,
            data: record.data.as_ref(),
        };
        self.pieces.event(seq, &event)?;
        Ok(Became::Event)
    }

    /// Takes note of a record of which no step is made.
    pub fn skip(&mut self, record: &SkipRecord<'_>) {
        let Some(id) = record.id.as_deref().filter(|id| !id.is_empty()) else { return };
        let line = self.line_named(record.parent_id.as_deref()).or(self.main).or(self.preamble);
        if let Some(line) = line {
            self.ids.alias(id, line);
        }
    }

    /// Ends the path: what still waits has no result.
    pub fn finish(mut self) -> io::Result<(Steps, Vec<Diagnostic>)> {
        let usage = self.groups.end();
        if let Some(last) = self.last_turn {
            self.bring(last, Brought::Usage(usage))?;
        }
        for seq in self.waiting.waiting() {
            if let Some(held) = self.waiting.release(seq)? {
                self.pieces.turn(seq, &held)?;
            }
        }
        let head = match self.main.or(self.preamble).or(self.line_of.last().copied()) {
            Some(line) => self.tip_name(line)?,
            None => String::new(),
        };
        let diagnostics = self.take_diagnostics();
        let steps = Steps {
            pieces: self.pieces,
            head,
            actors: self.actors.into_entries(),
            first_working_dir: self.first_working_dir,
            responses: self.groups.take_responses(),
        };
        Ok((steps, diagnostics))
    }

    fn next_seq(&self) -> Seq {
        Seq::try_from(self.line_of.len()).expect("a session has fewer than four billion records")
    }

    fn line_named(&self, id: Option<&str>) -> Option<Line> {
        match self.ids.target(id?)? {
            Target::Step(seq) => Some(self.line_of[seq as usize]),
            Target::Line(line) => Some(line),
        }
    }

    fn tip_name(&mut self, line: Line) -> io::Result<String> {
        self.ids.name(self.lines[line as usize].tip)
    }

    /// The turn that started a line, by its step's id.
    fn turn_name(&mut self, line: Option<Line>) -> io::Result<Option<String>> {
        let turn = line.map(|line| self.lines[line as usize].turn).filter(|turn| *turn != NO_TURN);
        turn.map(|turn| self.ids.name(turn)).transpose()
    }

    fn define_actor(&mut self, seq: Seq, actor: ActorId) {
        if let Some(entry) = self.actors.take_new(actor) {
            self.pieces.define(seq, self.actors.name(actor), &entry);
        }
    }

    /// Starts a line with step `seq`, whose place is kept with it.
    fn start_line(&mut self, seq: Seq, turn: Option<Seq>) -> Line {
        let line = Line::try_from(self.lines.len()).expect("there are no more lines than steps");
        self.lines.push(LineEnd { tip: seq, turn: turn.unwrap_or(NO_TURN) });
        self.line_of.push(line);
        self.pieces.reserve();
        line
    }

    /// Where a main-line turn hangs that names no earlier record: the first one on the events before it, a later one
    /// on the turn before it where the provider says so.
    fn parent_without_name(&self, or_previous: bool) -> Option<Line> {
        match self.main {
            None => self.preamble,
            Some(main) => or_previous.then_some(main),
        }
    }

    /// Where a turn of a branch hangs, and who speaks in the user's position there.
    fn branch_parent(&mut self, branch: &Branch, key: u128, named: Option<Line>) -> (Option<Line>, Option<ActorId>) {
        if let Some(&end) = self.branches.get(&key) {
            return (Some(named.unwrap_or(end.line)), end.prompter);
        }
        let call = branch.call.as_deref().map(digest::of_text);
        // A call of which only a result was told was made by no turn.
        let caller = call.and_then(|call| self.calls.get(call)).copied().filter(|caller| caller.turn != NO_TURN);
        if let Some(call) = call {
            self.branches_of.entry(call).or_default().push(key);
        }
        match caller {
            Some(caller) => (Some(self.line_of[caller.turn as usize]), Some(caller.actor)),
            None => (named.or(self.main).or(self.preamble), None),
        }
    }

    /// Registers the calls of a turn whose results are still to come, and answers how many there are.
    fn expect_results(&mut self, turn: &Turn<'_>, seq: Seq, actor: ActorId) -> io::Result<u32> {
        let mut outstanding = 0_u32;
        for (index, call) in turn.tool_uses.iter().enumerate() {
            let key = digest::of_text(&call.id);
            let result = call.result.as_ref().map_or(NO_RESULT, |result| result_digest(result, &[]));
            let index = u32::try_from(index).expect("fewer than four billion calls in a turn");
            let before = self.calls.insert(key, Call { turn: seq, index, actor, result });
            if result == NO_RESULT {
                outstanding += 1;
            }
            // The id means this call from now on: an earlier one of the same id gets no result any more.
            match before {
                Some(before) if before.result == NO_RESULT && before.turn == seq => outstanding -= 1,
                Some(before) if before.result == NO_RESULT => self.bring(before.turn, Brought::Nothing)?,
                _ => {}
            }
        }
        Ok(outstanding)
    }

    fn bring(&mut self, seq: Seq, brought: Brought) -> io::Result<()> {
        match self.waiting.bring(seq, brought)? {
            Some(held) => self.pieces.turn(seq, &held),
            None => Ok(()),
        }
    }

    fn report_unknown_parent(&mut self, parent: Option<&str>, found: Option<Line>, origin: Origin) {
        if let (Some(parent), None) = (parent, found) {
            let message = format!("the parent `{parent}` is not among the records before it");
            self.say(Severity::Info, "unknown-parent", message, origin);
        }
    }

    fn say(&mut self, severity: Severity, code: &str, message: String, origin: Origin) {
        self.diagnostics.push(Diagnostic { severity, code: code.to_owned(), message, origin });
    }
}

/// Stands for no result, and for no digest of one.
const NO_RESULT: digest::Half = [0; 2];

fn result_digest(result: &ToolResult<'_>, files: &[FileMutation<'_>]) -> digest::Half {
    digest::half(digest::of(&(result, files)) | 1)
}

/// The event that a result becomes for which there is no call.
fn event_of(record: ResultRecord<'_>) -> EventRecord<'_> {
    let mut data = json!({
        "tool_use_id": record.call_id,
        "content": record.result.content,
        "is_error": record.result.is_error,
    });
    if let (false, Value::Object(data)) = (record.file_mutations.is_empty(), &mut data) {
        data.insert("file_mutations".to_owned(), json!(record.file_mutations));
    }
    if let (false, Value::Object(data)) = (record.delegations.is_empty(), &mut data) {
        data.insert("delegations".to_owned(), json!(record.delegations));
    }
    EventRecord {
        id: "".into(),
        timestamp: record.timestamp,
        event_type: "tool-result".into(),
        parent_id: None,
        data: Some(crate::json::Json::of(&data)),
        unreadable: false,
        branch: None,
        part_of_record: record.part_of_record,
        origin: record.origin,
    }
}
