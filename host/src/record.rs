//! What a plugin tells, in plain Rust: the input of [`Intake`](crate::intake::Intake).
//!
//! The mapping from the boundary's views (and, from a worker, of frames) ends here; nothing behind it knows how a
//! record came.

use crate::json::Json;
use crate::turn::{DelegatedWork, FileMutation, Text, TokenUsage, ToolResult, Turn};

/// Where a record stands in its source, and whether it is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Index of the file among the session's.
    pub file: u32,
    /// Line or row, from 1; 0 when it has none.
    pub line: u64,
    /// Offset of its first byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

/// Facts of the session; `None` and empty lists say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// The harness's id, whole.
    pub id: String,
    /// Provider id, when it is not the manifest's.
    pub provider_id: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Time of the first record.
    pub started_at: Option<String>,
    /// Time of the last record.
    pub last_activity: Option<String>,
    /// Program that wrote the session, and its version.
    pub producer: Option<(String, Option<String>)>,
    /// Directory the session worked in.
    pub working_dir: Option<String>,
    /// Revision it started from.
    pub vcs_revision: Option<String>,
    /// Branch it started on.
    pub vcs_branch: Option<String>,
    /// Remote of the repository.
    pub vcs_remote: Option<String>,
    /// Files changed, as the provider lists them.
    pub files_changed: Option<Vec<String>>,
    /// Sessions that were joined to this one.
    pub session_ids: Vec<String>,
    /// Usage that the log states for the whole session.
    pub total_usage: Option<TokenUsage>,
    /// Names of the files read.
    pub files: Vec<String>,
}

impl SessionFacts {
    /// Takes over what `later` says. The ids stay, and so does the base once its directory is known: a stream begins
    /// with it.
    pub fn learn(&mut self, later: Self) {
        fn take<T>(known: &mut Option<T>, later: Option<T>) {
            if later.is_some() {
                *known = later;
            }
        }
        take(&mut self.title, later.title);
        take(&mut self.started_at, later.started_at);
        take(&mut self.last_activity, later.last_activity);
        take(&mut self.producer, later.producer);
        if self.working_dir.is_none() {
            take(&mut self.working_dir, later.working_dir);
            take(&mut self.vcs_revision, later.vcs_revision);
            take(&mut self.vcs_branch, later.vcs_branch);
        }
        take(&mut self.vcs_remote, later.vcs_remote);
        take(&mut self.files_changed, later.files_changed);
        take(&mut self.total_usage, later.total_usage);
        if !later.session_ids.is_empty() {
            self.session_ids = later.session_ids;
        }
        if !later.files.is_empty() {
            self.files = later.files;
        }
    }
}

/// The sub-agent's branch that a record belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    /// Id of the tool call that started it, where the log says.
    pub call: Option<String>,
    /// The agent's name.
    pub agent: String,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRecord<'a> {
    /// The message.
    pub turn: Turn<'a>,
    /// `token_usage` repeats what the whole group has used so far.
    pub usage_is_snapshot: bool,
    /// Without a known parent it follows the turn before it.
    pub parent_or_previous: bool,
    /// The branch it belongs to.
    pub branch: Option<Branch>,
    /// The signal that made it harness-generated.
    pub signal: Option<String>,
    /// Indices of the tool calls whose input alone makes no write.
    pub needs_result: Vec<u32>,
    /// Indices of the file mutations whose diff has no known line numbers.
    pub partial: Vec<u32>,
    /// Part of a record that is counted elsewhere.
    pub part_of_record: bool,
    /// Where it stands.
    pub origin: Origin,
}

/// The result of an earlier call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultRecord<'a> {
    /// Id of the call.
    pub call_id: Text<'a>,
    /// The answer.
    pub result: ToolResult<'a>,
    /// Files the call wrote.
    pub file_mutations: Vec<FileMutation<'a>>,
    /// Indices of those whose diff has no known line numbers.
    pub partial: Vec<u32>,
    /// Delegations the call made.
    pub delegations: Vec<DelegatedWork<'a>>,
    /// Time of the result.
    pub timestamp: Text<'a>,
    /// Part of a record that is counted elsewhere.
    pub part_of_record: bool,
    /// Where it stands.
    pub origin: Origin,
}

/// A record that is no message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRecord<'a> {
    /// Id; may be empty.
    pub id: Text<'a>,
    /// Time as recorded; may be empty.
    pub timestamp: Text<'a>,
    /// What kind of record.
    pub event_type: Text<'a>,
    /// Id of an earlier record.
    pub parent_id: Option<Text<'a>>,
    /// Its data, a JSON object; `None` for none.
    pub data: Option<Json<'a>>,
    /// The record could not be read.
    pub unreadable: bool,
    /// The branch it belongs to.
    pub branch: Option<Branch>,
    /// Part of a record that is counted elsewhere.
    pub part_of_record: bool,
    /// Where it stands.
    pub origin: Origin,
}

impl TurnRecord<'_> {
    /// Reads the JSON in it; answers why where some can only be kept as text.
    pub fn read_json(&mut self) -> Vec<String> {
        let mut odd = Vec::new();
        for call in &mut self.turn.tool_uses {
            odd.extend(call.input.read());
            odd.extend(call.result.as_mut().and_then(|result| result.content.read()));
        }
        odd.extend(read_turns(&mut self.turn.delegations));
        odd
    }
}

impl ResultRecord<'_> {
    /// As [`TurnRecord::read_json`].
    pub fn read_json(&mut self) -> Vec<String> {
        self.result.content.read().into_iter().chain(read_turns(&mut self.delegations)).collect()
    }
}

impl EventRecord<'_> {
    /// As [`TurnRecord::read_json`].
    pub fn read_json(&mut self) -> Vec<String> {
        self.data.iter_mut().filter_map(Json::read).collect()
    }
}

fn read_turns(delegations: &mut [DelegatedWork<'_>]) -> Vec<String> {
    let odd = delegations.iter_mut().filter_map(|work| work.turns.as_mut()?.read()).collect();
    for work in delegations {
        work.turns.take_if(|turns| turns.text() == "[]");
    }
    odd
}

/// What becomes of a record of which no step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Its content lives on in another record.
    Folded,
    /// It repeats a record told before.
    Duplicate,
}

/// A record of which no step is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkipRecord<'a> {
    /// What becomes of it.
    pub disposition: Disposition,
    /// Its id.
    pub id: Option<Text<'a>>,
    /// Where records that name it are led on to.
    pub parent_id: Option<Text<'a>>,
    /// Where it stands.
    pub origin: Origin,
}

/// Weight of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// The document is less than the session was.
    Warning,
    /// Something could not be read.
    Error,
}

/// A sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Weight.
    pub severity: Severity,
    /// Stable code.
    pub code: String,
    /// The sentence.
    pub message: String,
    /// What it is about.
    pub origin: Origin,
}

/// One session of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The harness's id.
    pub id: String,
    /// What to read, as the bytes of a path.
    pub path: Vec<u8>,
    /// Directory it worked in, as recorded.
    pub project: Option<String>,
    /// Title.
    pub title: Option<String>,
    /// Time of the first record.
    pub started_at: Option<String>,
    /// Time of the last record.
    pub last_activity: Option<String>,
    /// Turns, where they could be counted.
    pub turns: Option<u64>,
    /// Size in bytes.
    pub bytes: u64,
}
