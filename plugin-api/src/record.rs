//! Safe builders for what a plugin tells the host: one a view, borrowed from the plugin's own buffers.
//!
//! A builder holds references and small lists, never a copy of a text; it is made, filled, handed to the
//! [`Sink`](crate::Sink) by reference and dropped. Absent is `None`, which differs from `Some("")`.

use abi_stable::std_types::{ROption, RSlice, RStr};

use crate::kit::json::unescaped;
use crate::view::{
    BreakdownView, CategoryCode, DelegationView, DispositionCode, EntryView, EnvironmentView, EventView, ExtView,
    FileMutationView, ResultBodyView, RoleCode, SessionView, SkipView, ToolResultView, ToolUseView, TurnView,
    UsageView, ext, flag,
};

pub use crate::view::{CategoryCode as Category, OriginView as Origin};

/// Bits this version of the kit speaks of, per view.
const TURN_FLAGS: u64 =
    flag::HARNESS_GENERATED | flag::USAGE_SNAPSHOT | flag::PART_OF_RECORD | flag::PARENT_OR_PREVIOUS;
const EVENT_FLAGS: u64 = flag::PART_OF_RECORD | flag::UNREADABLE | flag::PARENT_OR_PREVIOUS;

fn text(value: Option<&str>) -> ROption<RStr<'_>> {
    value.map(RStr::from).into()
}

fn set(flags: &mut u64, bit: u64, on: bool) {
    if on {
        *flags |= bit;
    } else {
        *flags &= !bit;
    }
}

/// Position in which the harness shows a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<'a> {
    /// The user's.
    User,
    /// The assistant's.
    Assistant,
    /// The system's.
    System,
    /// Any other, by name.
    Other(&'a str),
}

/// Token counts; `None` where the log has none.
#[derive(Clone, Debug, Default)]
pub struct UsageRecord<'a> {
    /// Input tokens, cache not included.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Input tokens read from the cache.
    pub cache_read_tokens: Option<u64>,
    /// Input tokens written to the cache.
    pub cache_write_tokens: Option<u64>,
    breakdowns: Vec<BreakdownView<'a>>,
}

impl<'a> UsageRecord<'a> {
    /// Adds a part of a count, for information: `tokens` of the `class` (`output`) are of the kind `part`.
    pub fn breakdown(&mut self, class: &'a str, part: &'a str, tokens: u64) -> &mut Self {
        self.breakdowns.push(BreakdownView { class: class.into(), part: part.into(), tokens });
        self
    }

    fn view(&self) -> UsageView<'_> {
        UsageView {
            input_tokens: self.input_tokens.into(),
            output_tokens: self.output_tokens.into(),
            cache_read_tokens: self.cache_read_tokens.into(),
            cache_write_tokens: self.cache_write_tokens.into(),
            breakdowns: RSlice::from_slice(&self.breakdowns),
        }
    }
}

/// Facts of the session as a whole; see [`SessionView`]. Fields left `None` keep what an earlier call said.
#[derive(Clone, Debug, Default)]
pub struct SessionRecord<'a> {
    /// The harness's id of the session, whole.
    pub id: &'a str,
    /// Provider id, when it is not the manifest's.
    pub provider_id: Option<&'a str>,
    /// Title to show.
    pub title: Option<&'a str>,
    /// Time of the first record, RFC 3339 UTC.
    pub started_at: Option<&'a str>,
    /// Time of the last record, RFC 3339 UTC.
    pub last_activity: Option<&'a str>,
    /// Program that wrote the session, and its version.
    pub producer: Option<(&'a str, Option<&'a str>)>,
    /// Directory the session worked in. Fixed, with revision and branch, by the first call that gives it.
    pub working_dir: Option<&'a str>,
    /// Revision it started from.
    pub vcs_revision: Option<&'a str>,
    /// Branch it started on.
    pub vcs_branch: Option<&'a str>,
    /// Remote of the repository.
    pub vcs_remote: Option<&'a str>,
    /// Files changed; `None` lets the host collect them.
    pub files_changed: Option<Vec<&'a str>>,
    /// Ids of all sessions that were joined to this one.
    pub session_ids: Vec<&'a str>,
    /// Usage of the whole session, where the log states it.
    pub total_usage: Option<UsageRecord<'a>>,
    /// Names of the files read, in the order that [`Origin::file`] counts.
    pub files: Vec<&'a str>,
    ext: Vec<ExtView<'a>>,
}

impl<'a> SessionRecord<'a> {
    /// Facts of the session `id`.
    pub fn new(id: &'a str) -> Self {
        Self { id, ..Self::default() }
    }

    /// Adds an `ext` entry: a key and one JSON value.
    pub fn ext(&mut self, key: &'a str, json: &'a str) -> &mut Self {
        self.ext.push(ExtView { key: key.into(), json: json.into() });
        self
    }

    pub(crate) fn with_view<T>(&self, call: impl FnOnce(&SessionView<'_>) -> T) -> T {
        let strs = |list: &[&'a str]| list.iter().map(|&item| RStr::from(item)).collect::<Vec<_>>();
        let files_changed = self.files_changed.as_deref().map(strs);
        let (session_ids, files) = (strs(&self.session_ids), strs(&self.files));
        call(&SessionView {
            id: self.id.into(),
            provider_id: text(self.provider_id),
            title: text(self.title),
            started_at: text(self.started_at),
            last_activity: text(self.last_activity),
            producer_name: text(self.producer.map(|(name, _)| name)),
            producer_version: text(self.producer.and_then(|(_, version)| version)),
            working_dir: text(self.working_dir),
            vcs_revision: text(self.vcs_revision),
            vcs_branch: text(self.vcs_branch),
            vcs_remote: text(self.vcs_remote),
            files_changed: files_changed.as_deref().map(RSlice::from_slice).into(),
            session_ids: RSlice::from_slice(&session_ids),
            total_usage: self.total_usage.as_ref().map(UsageRecord::view).into(),
            files: RSlice::from_slice(&files),
            flags: 0,
            flags_known: 0,
            ext: RSlice::from_slice(&self.ext),
        })
    }
}

/// One message; see [`TurnView`].
#[derive(Clone, Debug)]
pub struct TurnRecord<'a> {
    view: TurnView<'a>,
    tool_uses: Vec<ToolUseView<'a>>,
    delegations: Vec<DelegationView<'a>>,
    file_mutations: Vec<FileMutationView<'a>>,
    token_usage: Option<UsageRecord<'a>>,
    attributed_token_usage: Option<UsageRecord<'a>>,
    ext: Vec<ExtView<'a>>,
}

impl<'a> TurnRecord<'a> {
    /// A message without text. `id` and `timestamp` may be empty.
    pub fn new(role: Role<'a>, id: &'a str, timestamp: &'a str, origin: Origin) -> Self {
        let (role, other) = match role {
            Role::User => (RoleCode::USER, ""),
            Role::Assistant => (RoleCode::ASSISTANT, ""),
            Role::System => (RoleCode::SYSTEM, ""),
            Role::Other(name) => (RoleCode::OTHER, name),
        };
        Self {
            view: TurnView {
                id: id.into(),
                parent_id: ROption::RNone,
                group_id: ROption::RNone,
                role,
                other_role: other.into(),
                timestamp: timestamp.into(),
                text: RStr::empty(),
                thinking: ROption::RNone,
                tool_uses: RSlice::EMPTY,
                model: ROption::RNone,
                stop_reason: ROption::RNone,
                token_usage: ROption::RNone,
                attributed_token_usage: ROption::RNone,
                environment: ROption::RNone,
                delegations: RSlice::EMPTY,
                file_mutations: RSlice::EMPTY,
                origin,
                flags: 0,
                flags_known: TURN_FLAGS,
                ext: RSlice::EMPTY,
            },
            tool_uses: Vec::new(),
            delegations: Vec::new(),
            file_mutations: Vec::new(),
            token_usage: None,
            attributed_token_usage: None,
            ext: Vec::new(),
        }
    }

    /// Id of any record told earlier: a turn, an event or a skipped one.
    pub fn parent(&mut self, id: Option<&'a str>) -> &mut Self {
        self.view.parent_id = text(id);
        self
    }

    /// When the parent is absent or unknown, hang on the previous turn instead of starting a line of its own.
    pub fn parent_or_previous(&mut self) -> &mut Self {
        set(&mut self.view.flags, flag::PARENT_OR_PREVIOUS, true);
        self
    }

    /// The response this turn is part of.
    pub fn group(&mut self, id: Option<&'a str>) -> &mut Self {
        self.view.group_id = text(id);
        self
    }

    /// What was said.
    pub fn text(&mut self, value: &'a str) -> &mut Self {
        self.view.text = value.into();
        self
    }

    /// The model's reasoning.
    pub fn thinking(&mut self, value: Option<&'a str>) -> &mut Self {
        self.view.thinking = text(value);
        self
    }

    /// The model that answered, as recorded; `None` when the log does not say.
    pub fn model(&mut self, name: Option<&'a str>) -> &mut Self {
        self.view.model = text(name);
        self
    }

    /// Why the model stopped.
    pub fn stop_reason(&mut self, value: Option<&'a str>) -> &mut Self {
        self.view.stop_reason = text(value);
        self
    }

    /// Usage of the group, told once: on the last turn of it.
    pub fn usage(&mut self, usage: UsageRecord<'a>) -> &mut Self {
        self.token_usage = Some(usage);
        set(&mut self.view.flags, flag::USAGE_SNAPSHOT, false);
        self
    }

    /// Usage of the group so far, as formats have it that repeat it on each line; the host counts it once.
    pub fn usage_snapshot(&mut self, usage: UsageRecord<'a>) -> &mut Self {
        self.token_usage = Some(usage);
        set(&mut self.view.flags, flag::USAGE_SNAPSHOT, true);
        self
    }

    /// Usage of this turn alone.
    pub fn attributed_usage(&mut self, usage: UsageRecord<'a>) -> &mut Self {
        self.attributed_token_usage = Some(usage);
        self
    }

    /// Where it was made.
    pub fn environment(
        &mut self,
        working_dir: Option<&'a str>,
        vcs_branch: Option<&'a str>,
        vcs_revision: Option<&'a str>,
    ) -> &mut Self {
        self.view.environment = ROption::RSome(EnvironmentView {
            working_dir: text(working_dir),
            vcs_branch: text(vcs_branch),
            vcs_revision: text(vcs_revision),
        });
        self
    }

    /// The harness wrote this message itself, and `signal` gave it away (`api-error-flag`, as a JSON string).
    pub fn harness_generated(&mut self, signal_json: &'a str) -> &mut Self {
        set(&mut self.view.flags, flag::HARNESS_GENERATED, true);
        self.ext(crate::view::ext::SIGNAL, signal_json)
    }

    /// This turn is part of a record that another call accounts for.
    pub fn part_of_record(&mut self) -> &mut Self {
        set(&mut self.view.flags, flag::PART_OF_RECORD, true);
        self
    }

    /// Adds a tool call.
    pub fn tool_use(&mut self, tool_use: ToolUseRecord<'a>) -> &mut Self {
        self.tool_uses.push(tool_use.view);
        self
    }

    /// Adds a write to a file.
    pub fn mutation(&mut self, mutation: MutationRecord<'a>) -> &mut Self {
        self.file_mutations.push(mutation.view);
        self
    }

    /// Adds work handed to a sub-agent.
    pub fn delegation(&mut self, delegation: DelegationRecord<'a>) -> &mut Self {
        self.delegations.push(delegation.view);
        self
    }

    /// Adds an `ext` entry: a key and one JSON value.
    pub fn ext(&mut self, key: &'a str, json: &'a str) -> &mut Self {
        self.ext.push(ExtView { key: key.into(), json: json.into() });
        self
    }

    pub(crate) fn view(&self) -> TurnView<'_> {
        TurnView {
            tool_uses: RSlice::from_slice(&self.tool_uses),
            delegations: RSlice::from_slice(&self.delegations),
            file_mutations: RSlice::from_slice(&self.file_mutations),
            token_usage: self.token_usage.as_ref().map(UsageRecord::view).into(),
            attributed_token_usage: self.attributed_token_usage.as_ref().map(UsageRecord::view).into(),
            ext: RSlice::from_slice(&self.ext),
            ..self.view
        }
    }
}

/// One tool call; see [`ToolUseView`].
#[derive(Clone, Copy, Debug)]
pub struct ToolUseRecord<'a> {
    view: ToolUseView<'a>,
}

impl<'a> ToolUseRecord<'a> {
    /// A call of tool `name`; `input` is one JSON value.
    pub fn new(id: &'a str, name: &'a str, input: &'a str, origin: Origin) -> Self {
        Self {
            view: ToolUseView {
                id: id.into(),
                name: name.into(),
                input: input.into(),
                result: ROption::RNone,
                category: CategoryCode::NONE,
                origin,
                flags: 0,
                flags_known: flag::WRITE_NEEDS_RESULT,
                ext: RSlice::EMPTY,
            },
        }
    }

    /// What kind of tool it is.
    pub fn category(mut self, category: Category) -> Self {
        self.view.category = category;
        self
    }

    /// Without a result this call wrote nothing: its input alone makes no change.
    pub fn write_needs_result(mut self) -> Self {
        set(&mut self.view.flags, flag::WRITE_NEEDS_RESULT, true);
        self
    }

    /// The result, where it stands with the call.
    pub fn result(mut self, content: &'a str, is_error: bool) -> Self {
        self.view.result = ROption::RSome(ResultBodyView { content: content.into(), is_error });
        self
    }
}

/// One write to one file; see [`FileMutationView`].
#[derive(Clone, Copy, Debug)]
pub struct MutationRecord<'a> {
    view: FileMutationView<'a>,
}

impl<'a> MutationRecord<'a> {
    /// A write to `path`.
    pub fn new(path: &'a str) -> Self {
        Self {
            view: FileMutationView {
                path: path.into(),
                tool_id: ROption::RNone,
                operation: ROption::RNone,
                raw_diff: ROption::RNone,
                before: ROption::RNone,
                after: ROption::RNone,
                rename_to: ROption::RNone,
                flags: 0,
                flags_known: flag::PARTIAL_DIFF,
                ext: RSlice::EMPTY,
            },
        }
    }

    /// The tool call that wrote it.
    pub fn tool_id(mut self, id: &'a str) -> Self {
        self.view.tool_id = text(Some(id));
        self
    }

    /// `add`, `update`, `delete` or another word.
    pub fn operation(mut self, word: &'a str) -> Self {
        self.view.operation = text(Some(word));
        self
    }

    /// A unified diff whose line numbers are known; see [`kit::diff`](crate::kit::diff).
    pub fn diff(mut self, diff: &'a str) -> Self {
        self.view.raw_diff = text(Some(diff));
        self
    }

    /// A unified diff of the replaced and the new text, whose place in the file is not known.
    pub fn partial_diff(mut self, diff: &'a str) -> Self {
        set(&mut self.view.flags, flag::PARTIAL_DIFF, true);
        self.diff(diff)
    }

    /// Texts of the file before and after.
    pub fn states(mut self, before: Option<&'a str>, after: Option<&'a str>) -> Self {
        self.view.before = text(before);
        self.view.after = text(after);
        self
    }

    /// New path of a file that moved.
    pub fn rename_to(mut self, path: &'a str) -> Self {
        self.view.rename_to = text(Some(path));
        self
    }
}

/// Work handed to a sub-agent; see [`DelegationView`].
#[derive(Clone, Copy, Debug)]
pub struct DelegationRecord<'a> {
    view: DelegationView<'a>,
}

impl<'a> DelegationRecord<'a> {
    /// `prompt` was given to `agent_id`.
    pub fn new(agent_id: &'a str, prompt: &'a str) -> Self {
        Self {
            view: DelegationView {
                agent_id: agent_id.into(),
                prompt: prompt.into(),
                turns: RStr::empty(),
                result: ROption::RNone,
                flags: 0,
                flags_known: 0,
                ext: RSlice::EMPTY,
            },
        }
    }

    /// What it answered.
    pub fn result(mut self, value: Option<&'a str>) -> Self {
        self.view.result = text(value);
        self
    }

    /// Its turns, a JSON list in wire form.
    pub fn turns(mut self, json: &'a str) -> Self {
        self.view.turns = json.into();
        self
    }
}

/// The result of a call of an earlier turn; see [`ToolResultView`].
#[derive(Clone, Debug)]
pub struct ToolResultRecord<'a> {
    view: ToolResultView<'a>,
    file_mutations: Vec<FileMutationView<'a>>,
    delegations: Vec<DelegationView<'a>>,
    json_content: Option<&'a str>,
}

impl<'a> ToolResultRecord<'a> {
    /// The call `call_id` answered `content`.
    pub fn new(call_id: &'a str, content: &'a str, is_error: bool, origin: Origin) -> Self {
        Self {
            view: ToolResultView {
                call_id: call_id.into(),
                body: ResultBodyView { content: content.into(), is_error },
                file_mutations: RSlice::EMPTY,
                delegations: RSlice::EMPTY,
                timestamp: RStr::empty(),
                origin,
                flags: 0,
                flags_known: flag::PART_OF_RECORD,
                ext: RSlice::EMPTY,
            },
            file_mutations: Vec::new(),
            delegations: Vec::new(),
            json_content: None,
        }
    }

    /// Tells the answer's text by the JSON string that the log has of it, in place of `content`. A long text need not be
    /// unescaped then.
    pub fn json_content(&mut self, json: &'a str) -> &mut Self {
        self.json_content = Some(json);
        self
    }

    /// Time of the result.
    pub fn timestamp(&mut self, value: &'a str) -> &mut Self {
        self.view.timestamp = value.into();
        self
    }

    /// Adds a write that the result tells of.
    pub fn mutation(&mut self, mutation: MutationRecord<'a>) -> &mut Self {
        self.file_mutations.push(mutation.view);
        self
    }

    /// Adds a delegation that the result tells of.
    pub fn delegation(&mut self, delegation: DelegationRecord<'a>) -> &mut Self {
        self.delegations.push(delegation.view);
        self
    }

    /// This result is part of a record that another call accounts for.
    pub fn part_of_record(&mut self, on: bool) -> &mut Self {
        set(&mut self.view.flags, flag::PART_OF_RECORD, on);
        self
    }

    /// Hands its view to `tell`; for a host that does not take JSON, with the text that the JSON stands for.
    pub(crate) fn with_view<T>(&self, takes_json: bool, tell: impl FnOnce(&ToolResultView<'_>) -> T) -> T {
        let view = ToolResultView {
            file_mutations: RSlice::from_slice(&self.file_mutations),
            delegations: RSlice::from_slice(&self.delegations),
            ..self.view
        };
        match self.json_content {
            None => tell(&view),
            Some(json) if takes_json => {
                let content = [ExtView { key: ext::CONTENT.into(), json: json.into() }];
                let body = ResultBodyView { content: RStr::empty(), ..view.body };
                tell(&ToolResultView { body, ext: RSlice::from_slice(&content), ..view })
            }
            Some(json) => {
                let text = unescaped(json).unwrap_or(json.into());
                let body = ResultBodyView { content: (&*text).into(), ..view.body };
                tell(&ToolResultView { body, ..view })
            }
        }
    }
}

/// A record that is no message; see [`EventView`].
#[derive(Clone, Debug)]
pub struct EventRecord<'a> {
    view: EventView<'a>,
    ext: Vec<ExtView<'a>>,
}

impl<'a> EventRecord<'a> {
    /// An event without data. `id` and `timestamp` may be empty.
    pub fn new(event_type: &'a str, id: &'a str, timestamp: &'a str, origin: Origin) -> Self {
        Self {
            view: EventView {
                id: id.into(),
                timestamp: timestamp.into(),
                event_type: event_type.into(),
                parent_id: ROption::RNone,
                data: RStr::empty(),
                origin,
                flags: 0,
                flags_known: EVENT_FLAGS,
                ext: RSlice::EMPTY,
            },
            ext: Vec::new(),
        }
    }

    /// Id of any record told earlier.
    pub fn parent(&mut self, id: Option<&'a str>) -> &mut Self {
        self.view.parent_id = text(id);
        self
    }

    /// The data: one JSON object.
    pub fn data(&mut self, json: &'a str) -> &mut Self {
        self.view.data = json.into();
        self
    }

    /// The record could not be read, and the data holds its raw text.
    pub fn unreadable(&mut self) -> &mut Self {
        set(&mut self.view.flags, flag::UNREADABLE, true);
        self
    }

    /// This event is part of a record that another call accounts for.
    pub fn part_of_record(&mut self) -> &mut Self {
        set(&mut self.view.flags, flag::PART_OF_RECORD, true);
        self
    }

    /// Adds an `ext` entry: a key and one JSON value.
    pub fn ext(&mut self, key: &'a str, json: &'a str) -> &mut Self {
        self.ext.push(ExtView { key: key.into(), json: json.into() });
        self
    }

    pub(crate) fn view(&self) -> EventView<'_> {
        EventView { ext: RSlice::from_slice(&self.ext), ..self.view }
    }
}

/// What became of a record of which no step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Its content lives on in another record.
    Folded,
    /// It repeats a record told before.
    Duplicate,
}

/// A record of which no step is made; see [`SkipView`].
#[derive(Clone, Copy, Debug)]
pub struct SkipRecord<'a> {
    pub(crate) view: SkipView<'a>,
}

impl<'a> SkipRecord<'a> {
    /// The record at `origin` is passed over for `reason`.
    pub fn new(disposition: Disposition, reason: &'a str, origin: Origin) -> Self {
        let disposition = match disposition {
            Disposition::Folded => DispositionCode::FOLDED,
            Disposition::Duplicate => DispositionCode::DUPLICATE,
        };
        Self {
            view: SkipView {
                disposition,
                id: ROption::RNone,
                parent_id: ROption::RNone,
                reason: reason.into(),
                origin,
                flags: 0,
                flags_known: 0,
                ext: RSlice::EMPTY,
            },
        }
    }

    /// Records that name `id` as their parent are led on to `parent`.
    pub fn link(mut self, id: Option<&'a str>, parent: Option<&'a str>) -> Self {
        self.view.id = text(id);
        self.view.parent_id = text(parent);
        self
    }
}

/// One session of a listing; see [`EntryView`].
#[derive(Clone, Debug, Default)]
pub struct EntryRecord<'a> {
    /// The harness's id.
    pub id: &'a str,
    /// Directory it worked in, as recorded.
    pub project: Option<&'a str>,
    /// Title.
    pub title: Option<&'a str>,
    /// Time of the first record.
    pub started_at: Option<&'a str>,
    /// Time of the last record.
    pub last_activity: Option<&'a str>,
    /// Turns, when they could be counted without reading everything.
    pub turns: Option<u64>,
    /// Size in bytes.
    pub bytes: u64,
}

impl EntryRecord<'_> {
    pub(crate) fn view<'b>(&'b self, path: &'b [u8]) -> EntryView<'b> {
        EntryView {
            id: self.id.into(),
            path: RSlice::from_slice(path),
            project: text(self.project),
            title: text(self.title),
            started_at: text(self.started_at),
            last_activity: text(self.last_activity),
            turns: self.turns.into(),
            bytes: self.bytes,
            flags: 0,
            flags_known: 0,
            ext: RSlice::EMPTY,
        }
    }
}
