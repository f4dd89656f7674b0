//! The frozen views: what crosses the boundary, borrowed for the length of one call.
//!
//! No field is ever added, removed or reordered within a major version. A view grows through three doors only:
//! a bit in `flags` (with the same bit in `flags_known`, which says that the plugin speaks of it), an entry in
//! `ext` (a key and a JSON text), and an option key. Readers ignore bits and keys they do not know.
//!
//! Absent and empty differ: an absent text is `RNone`, an empty one `RSome("")`. JSON crosses as text. Token
//! counts are whole numbers of tokens. Times are texts as the log has them, RFC 3339 where the log has that.

use abi_stable::StableAbi;
use abi_stable::std_types::{ROption, RSlice, RStr};

/// Bits of `flags` and `flags_known`. A bit means the same in each kind of view that lists it.
pub mod flag {
    /// Turn: the harness wrote this message itself; no model ran, or no human typed it.
    pub const HARNESS_GENERATED: u64 = 1 << 0;
    /// Turn: `token_usage` is a snapshot of its whole group so far, repeated on each turn of the group. The host
    /// keeps the snapshot with the most output tokens (the last of equals), counts it once, on the last turn of
    /// the run, and when the group goes on after another turn, counts there only what was added.
    pub const USAGE_SNAPSHOT: u64 = 1 << 1;
    /// Turn, tool result, event: part of a record that an earlier call already accounts for; not counted again.
    pub const PART_OF_RECORD: u64 = 1 << 2;
    /// Event: the record could not be read; `data` holds its raw text. Counted as unreadable only.
    pub const UNREADABLE: u64 = 1 << 3;
    /// Turn, event: when `parent_id` is absent or names nothing seen so far, the previous turn is the parent.
    pub const PARENT_OR_PREVIOUS: u64 = 1 << 4;
    /// Tool use: without a result, the call wrote no file that is worth a change.
    pub const WRITE_NEEDS_RESULT: u64 = 1 << 5;
    /// File mutation: `raw_diff` tells what was replaced by what, and its line numbers are not known.
    pub const PARTIAL_DIFF: u64 = 1 << 6;
}

/// Keys of `ext` that the host of this version reads.
pub mod ext {
    /// Turn: JSON string, the name of the signal that made a turn harness-generated (`api-error-flag`).
    pub const SIGNAL: &str = "signal";
    /// Turn, event: JSON object `{"call": id of the calling tool use or null, "agent": name}`; the record belongs
    /// to a sub-agent's branch, not to the main line.
    pub const BRANCH: &str = "branch";
    /// Tool result: the answer's text, as the JSON string that the log has of it; the body's `content` is empty. Only
    /// where [`option::JSON_CONTENT`](super::option::JSON_CONTENT) asks for it.
    pub const CONTENT: &str = "content";
}

/// Keys of options that the host of this version gives.
pub mod option {
    /// Read: JSON `true` when the path is that of a copy (of standard input, of a pipe) and says nothing of the session.
    pub const COPY: &str = "copy";
    /// Read: JSON `true` when the host takes [`ext::CONTENT`](super::ext::CONTENT).
    pub const JSON_CONTENT: &str = "json-content";
}

/// Where a record stands in its source.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OriginView {
    /// Index into [`SessionView::files`]; 0 is the session itself.
    pub file: u32,
    /// Line or row, from 1; 0 when it has none.
    pub line: u64,
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Length in bytes, the line's end not included.
    pub length: u64,
}

/// A key and a JSON text: the door for what a later minor version adds.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ExtView<'a> {
    /// The key, kebab-case.
    pub key: RStr<'a>,
    /// One JSON value.
    pub json: RStr<'a>,
}

/// Token counts.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct UsageView<'a> {
    /// Input tokens, cache not included.
    pub input_tokens: ROption<u64>,
    /// Output tokens.
    pub output_tokens: ROption<u64>,
    /// Input tokens read from the cache.
    pub cache_read_tokens: ROption<u64>,
    /// Input tokens written to the cache.
    pub cache_write_tokens: ROption<u64>,
    /// Parts of the counts above, for information; never added to a total.
    pub breakdowns: RSlice<'a, BreakdownView<'a>>,
}

/// One part of a token count.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct BreakdownView<'a> {
    /// The count it is part of (`output`, `cache_write`, ...).
    pub class: RStr<'a>,
    /// Name of the part.
    pub part: RStr<'a>,
    /// Tokens.
    pub tokens: u64,
}

/// Where a turn was made.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EnvironmentView<'a> {
    /// Working directory.
    pub working_dir: ROption<RStr<'a>>,
    /// Branch of the version control.
    pub vcs_branch: ROption<RStr<'a>>,
    /// Revision of the version control.
    pub vcs_revision: ROption<RStr<'a>>,
}

/// What is known of the session as a whole. May be told in parts: a later value replaces an earlier one.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct SessionView<'a> {
    /// The harness's id of the session, whole. Fixed by the first call.
    pub id: RStr<'a>,
    /// Provider id, when it is not the manifest's. Fixed by the first call.
    pub provider_id: ROption<RStr<'a>>,
    /// Title to show.
    pub title: ROption<RStr<'a>>,
    /// Time of the first record, RFC 3339 UTC.
    pub started_at: ROption<RStr<'a>>,
    /// Time of the last record, RFC 3339 UTC.
    pub last_activity: ROption<RStr<'a>>,
    /// Program that wrote the session.
    pub producer_name: ROption<RStr<'a>>,
    /// Its version.
    pub producer_version: ROption<RStr<'a>>,
    /// Directory the session worked in. Fixed, with revision and branch, by the first call that gives it.
    pub working_dir: ROption<RStr<'a>>,
    /// Revision it started from.
    pub vcs_revision: ROption<RStr<'a>>,
    /// Branch it started on.
    pub vcs_branch: ROption<RStr<'a>>,
    /// Remote of the repository.
    pub vcs_remote: ROption<RStr<'a>>,
    /// Files changed; when absent, the host collects the paths that the turns write.
    pub files_changed: ROption<RSlice<'a, RStr<'a>>>,
    /// Ids of all sessions that were joined to this one.
    pub session_ids: RSlice<'a, RStr<'a>>,
    /// Usage of the whole session, where the log states it.
    pub total_usage: ROption<UsageView<'a>>,
    /// Names of the files read, in the order that [`OriginView::file`] counts; empty: only the session itself.
    pub files: RSlice<'a, RStr<'a>>,
    /// See [`flag`].
    pub flags: u64,
    /// Bits the plugin speaks of.
    pub flags_known: u64,
    /// See [`ext`].
    pub ext: RSlice<'a, ExtView<'a>>,
}

/// Code of a role: see the constants.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleCode(pub u32);

impl RoleCode {
    /// In the user's position.
    pub const USER: Self = Self(1);
    /// In the assistant's position.
    pub const ASSISTANT: Self = Self(2);
    /// In the system's position.
    pub const SYSTEM: Self = Self(3);
    /// Any other position, named by `other_role`. Unknown codes read as this.
    pub const OTHER: Self = Self(4);
}

/// One message of the transcript.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct TurnView<'a> {
    /// Id; may be empty, then the host numbers it.
    pub id: RStr<'a>,
    /// Id of any record told earlier: a turn, an event, or a skipped one.
    pub parent_id: ROption<RStr<'a>>,
    /// Turns next to each other with one group are one model response.
    pub group_id: ROption<RStr<'a>>,
    /// Position in which the harness shows the message.
    pub role: RoleCode,
    /// Name of the position when `role` is [`RoleCode::OTHER`].
    pub other_role: RStr<'a>,
    /// Time as the log has it; may be empty.
    pub timestamp: RStr<'a>,
    /// What was said.
    pub text: RStr<'a>,
    /// The model's reasoning.
    pub thinking: ROption<RStr<'a>>,
    /// Tool calls, in order.
    pub tool_uses: RSlice<'a, ToolUseView<'a>>,
    /// Model that answered, as recorded; absent when the log does not say.
    pub model: ROption<RStr<'a>>,
    /// Why the model stopped.
    pub stop_reason: ROption<RStr<'a>>,
    /// Usage of the group (see [`flag::USAGE_SNAPSHOT`]).
    pub token_usage: ROption<UsageView<'a>>,
    /// Usage of this turn alone.
    pub attributed_token_usage: ROption<UsageView<'a>>,
    /// Where it was made.
    pub environment: ROption<EnvironmentView<'a>>,
    /// Work handed to sub-agents.
    pub delegations: RSlice<'a, DelegationView<'a>>,
    /// Files written.
    pub file_mutations: RSlice<'a, FileMutationView<'a>>,
    /// Where the record stands.
    pub origin: OriginView,
    /// See [`flag`].
    pub flags: u64,
    /// Bits the plugin speaks of.
    pub flags_known: u64,
    /// See [`ext`].
    pub ext: RSlice<'a, ExtView<'a>>,
}

/// Code of a tool's category: see the constants.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub struct CategoryCode(pub u32);

impl CategoryCode {
    /// Not known, or none of the others. Unknown codes read as this.
    pub const NONE: Self = Self(0);
    /// Reads files.
    pub const FILE_READ: Self = Self(1);
    /// Writes files.
    pub const FILE_WRITE: Self = Self(2);
    /// Searches among files.
    pub const FILE_SEARCH: Self = Self(3);
    /// Runs commands.
    pub const SHELL: Self = Self(4);
    /// Reaches the network.
    pub const NETWORK: Self = Self(5);
    /// Hands work to another agent.
    pub const DELEGATION: Self = Self(6);
}

/// One tool call.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ToolUseView<'a> {
    /// Id that results refer to.
    pub id: RStr<'a>,
    /// Tool's name.
    pub name: RStr<'a>,
    /// Input, one JSON value.
    pub input: RStr<'a>,
    /// Result, when it stands with the call.
    pub result: ROption<ResultBodyView<'a>>,
    /// Category.
    pub category: CategoryCode,
    /// Where the call stands.
    pub origin: OriginView,
    /// See [`flag`].
    pub flags: u64,
    /// Bits the plugin speaks of.
    pub flags_known: u64,
    /// See [`ext`].
    pub ext: RSlice<'a, ExtView<'a>>,
}

/// What a tool answered.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ResultBodyView<'a> {
    /// Text of the answer.
    pub content: RStr<'a>,
    /// The call failed.
    pub is_error: bool,
}

/// Work handed to a sub-agent.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DelegationView<'a> {
    /// The sub-agent.
    pub agent_id: RStr<'a>,
    /// What it was asked.
    pub prompt: RStr<'a>,
    /// Its turns: a JSON list in wire form; empty text when there are none.
    pub turns: RStr<'a>,
    /// What it answered.
    pub result: ROption<RStr<'a>>,
    /// See [`flag`].
    pub flags: u64,
    /// Bits the plugin speaks of.
    pub flags_known: u64,
    /// See [`ext`].
    pub ext: RSlice<'a, ExtView<'a>>,
}

/// One write to one file.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct FileMutationView<'a> {
    /// File written.
    pub path: RStr<'a>,
    /// Tool call that wrote it.
    pub tool_id: ROption<RStr<'a>>,
    /// `add`, `update`, `delete` or another word.
    pub operation: ROption<RStr<'a>>,
    /// Unified diff.
    pub raw_diff: ROption<RStr<'a>>,
    /// Text before.
    pub before: ROption<RStr<'a>>,
    /// Text after.
    pub after: ROption<RStr<'a>>,
    /// New path of a file that moved.
    pub rename_to: ROption<RStr<'a>>,
    /// See [`flag`].
    pub flags: u64,
    /// Bits the plugin speaks of.
    pub flags_known: u64,
    /// See [`ext`].
    pub ext: RSlice<'a, ExtView<'a>>,
}

/// The result of a tool call of an earlier turn, with what became known through it.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ToolResultView<'a> {
    /// Id of the call.
    pub call_id: RStr<'a>,
    /// The answer.
    pub body: ResultBodyView<'a>,
    /// Files that the call wrote; their `tool_id` is `call_id` unless given.
    pub file_mutations: RSlice<'a, FileMutationView<'a>>,
    /// Delegations that the call made.
    pub delegations: RSlice<'a, DelegationView<'a>>,
    /// Time of the result, for the event it becomes when no call is known; may be empty.
    pub timestamp: RStr<'a>,
    /// Where the record stands.
    pub origin: OriginView,
    /// See [`flag`].
    pub flags: u64,
    /// Bits the plugin speaks of.
    pub flags_known: u64,
    /// See [`ext`].
    pub ext: RSlice<'a, ExtView<'a>>,
}

/// A record that is no message.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EventView<'a> {
    /// Id; may be empty, then the host numbers it.
    pub id: RStr<'a>,
    /// Time as the log has it; may be empty.
    pub timestamp: RStr<'a>,
    /// What kind of record.
    pub event_type: RStr<'a>,
    /// Id of any record told earlier.
    pub parent_id: ROption<RStr<'a>>,
    /// Its data, a JSON object; empty text for none.
    pub data: RStr<'a>,
    /// Where the record stands.
    pub origin: OriginView,
    /// See [`flag`].
    pub flags: u64,
    /// Bits the plugin speaks of.
    pub flags_known: u64,
    /// See [`ext`].
    pub ext: RSlice<'a, ExtView<'a>>,
}

/// Code of what became of a record that is told by `skip`: see the constants.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispositionCode(pub u32);

impl DispositionCode {
    /// Its content lives on in another record (a progress line in the call whose result supersedes it).
    pub const FOLDED: Self = Self(1);
    /// It repeats a record told before. Unknown codes read as this.
    pub const DUPLICATE: Self = Self(2);
}

/// A record of which no step is made.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct SkipView<'a> {
    /// What became of it.
    pub disposition: DispositionCode,
    /// Its id: records that name it as their parent are led on to `parent_id`.
    pub id: ROption<RStr<'a>>,
    /// Id of its own parent.
    pub parent_id: ROption<RStr<'a>>,
    /// Why, in a few words.
    pub reason: RStr<'a>,
    /// Where the record stands.
    pub origin: OriginView,
    /// See [`flag`].
    pub flags: u64,
    /// Bits the plugin speaks of.
    pub flags_known: u64,
    /// See [`ext`].
    pub ext: RSlice<'a, ExtView<'a>>,
}

/// Code of a diagnostic's weight: see the constants.
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeverityCode(pub u32);

impl SeverityCode {
    /// Worth knowing.
    pub const INFO: Self = Self(1);
    /// The document is less than the session was. Unknown codes read as this.
    pub const WARNING: Self = Self(2);
    /// Something could not be read.
    pub const ERROR: Self = Self(3);
}

/// A sentence for the user.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DiagnosticView<'a> {
    /// Weight.
    pub severity: SeverityCode,
    /// Stable kebab-case code.
    pub code: RStr<'a>,
    /// One sentence, lowercase, without a full stop.
    pub message: RStr<'a>,
    /// What it is about.
    pub origin: OriginView,
}

/// What the host asks of `read`.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ReadRequestView<'a> {
    /// File or folder to read: the platform's bytes on Unix, UTF-8 elsewhere.
    pub path: RSlice<'a, u8>,
    /// How messages name it; `-` for standard input, whose spooled copy stands at `path`.
    pub name: RStr<'a>,
    /// Which session, where the store holds several.
    pub session_id: ROption<RStr<'a>>,
    /// Options: unknown keys are ignored.
    pub options: RSlice<'a, ExtView<'a>>,
}

/// What the host asks of `sessions`.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct ListRequestView<'a> {
    /// Folders to look in, the manifest's roots as the host expanded them; bytes as in [`ReadRequestView::path`].
    pub roots: RSlice<'a, RSlice<'a, u8>>,
    /// Options: unknown keys are ignored.
    pub options: RSlice<'a, ExtView<'a>>,
}

/// What the host asks of `detect`.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct DetectRequestView<'a> {
    /// File or folder; bytes as in [`ReadRequestView::path`].
    pub path: RSlice<'a, u8>,
    /// How messages name it.
    pub name: RStr<'a>,
    /// Its first bytes, at most 64 KiB; empty for a folder.
    pub head: RSlice<'a, u8>,
}

/// One session that `sessions` found.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug)]
pub struct EntryView<'a> {
    /// The harness's id.
    pub id: RStr<'a>,
    /// What to pass to `read`; bytes as in [`ReadRequestView::path`].
    pub path: RSlice<'a, u8>,
    /// Directory it worked in, as recorded; absent when the log does not say.
    pub project: ROption<RStr<'a>>,
    /// Title.
    pub title: ROption<RStr<'a>>,
    /// Time of the first record.
    pub started_at: ROption<RStr<'a>>,
    /// Time of the last record.
    pub last_activity: ROption<RStr<'a>>,
    /// Turns, when they could be counted without reading everything.
    pub turns: ROption<u64>,
    /// Size in bytes.
    pub bytes: u64,
    /// See [`flag`].
    pub flags: u64,
    /// Bits the plugin speaks of.
    pub flags_known: u64,
    /// See [`ext`].
    pub ext: RSlice<'a, ExtView<'a>>,
}

/// How a call ended.
#[repr(C)]
#[derive(StableAbi, Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutcomeView {
    /// See the constants.
    pub code: u32,
    /// Records read, each of which the sink was told.
    pub records: u64,
}

impl OutcomeView {
    /// Everything was read.
    pub const DONE: u32 = 0;
    /// Failed; the sink's `fail` was told why.
    pub const FAILED: u32 = 1;
    /// The host answered stop, and so it did.
    pub const STOPPED: u32 = 2;
    /// The plugin panicked; the sink's `fail` was told the panic's message.
    pub const PANICKED: u32 = 3;
}
