//! A plugin's calls to an [`Intake`], within this process: views in, plain records out.
//!
//! No type of the boundary gets past this file. A panic on this side must not reach the plugin, so each thunk catches it
//! and answers stop.

#![expect(unsafe_code, reason = "gets its own pointer back from the plugin")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde_json::Value;
use toolpath_plugin_api::abi_stable::std_types::{ROption, RSlice, RStr};
use toolpath_plugin_api::path_bytes;
use toolpath_plugin_api::table::{Answer, Context, ListTable, ListView, ProviderRef, SinkTable, SinkView};
use toolpath_plugin_api::view::{
    CategoryCode, DelegationView, DetectRequestView, DiagnosticView, DispositionCode, EntryView, EventView, ExtView,
    FileMutationView, ListRequestView, OriginView, OutcomeView, ReadRequestView, ResultBodyView, RoleCode, SessionView,
    SeverityCode, SkipView, ToolResultView, ToolUseView, TurnView, UsageView, ext, flag, option,
};

use crate::intake::{Ended, Flow, Intake};
use crate::json::Json;
use crate::record::{
    Branch, Diagnostic, Disposition, EventRecord, Listed, Origin, ResultRecord, SessionFacts, Severity, SkipRecord,
    TurnRecord,
};
use crate::turn::{
    DelegatedWork, Environment, FileMutation, Role, Text, TokenUsage, ToolCategory, ToolInvocation, ToolResult, Turn,
};
use crate::words::Words;

/// A session as a plugin is asked to read it.
#[derive(Clone, Copy, Debug)]
pub struct Session<'s> {
    /// What to open.
    pub path: &'s Path,
    /// How messages name it.
    pub name: &'s str,
    /// Which session, where the store holds several.
    pub id: Option<&'s str>,
    /// The path is that of a copy, and says nothing about the session.
    pub is_copy: bool,
}

/// Lets a plugin read a session into `intake`.
pub fn read(plugin: ProviderRef, session: &Session<'_>, intake: &mut dyn Intake) -> Ended {
    let mut feed = Feed { intake, failure: None, panicked: false };
    let bytes = path_bytes(session.path);
    let set = |key: &'static str| ExtView { key: key.into(), json: "true".into() };
    let options = [set(option::JSON_CONTENT), set(option::COPY)];
    let request = ReadRequestView {
        path: RSlice::from_slice(&bytes),
        name: session.name.into(),
        session_id: session.id.map(RStr::from).into(),
        options: RSlice::from_slice(&options[..if session.is_copy { 2 } else { 1 }]),
    };
    let sink = SinkView { context: Context((&raw mut feed).cast()), table: &TABLE };
    let outcome = plugin.read()(&request, &sink);
    ended(outcome, feed.failure, feed.panicked)
}

/// Takes in a listing.
pub trait Listing {
    /// One session.
    fn listed(&mut self, entry: Listed) -> Flow;
    /// A sentence about a path, as bytes; empty when it is about none.
    fn remark(&mut self, diagnostic: Diagnostic, path: Vec<u8>) -> Flow;
}

/// Lets a plugin list the sessions under `roots` into `listing`.
pub fn list(plugin: ProviderRef, roots: &[impl AsRef<[u8]>], listing: &mut dyn Listing) -> Ended {
    let mut lister = Lister { listing, failure: None, panicked: false };
    let roots: Vec<RSlice<'_, u8>> = roots.iter().map(|root| RSlice::from_slice(root.as_ref())).collect();
    let request = ListRequestView { roots: RSlice::from_slice(&roots), options: RSlice::EMPTY };
    let list = ListView { context: Context((&raw mut lister).cast()), table: &LIST_TABLE };
    let outcome = plugin.sessions()(&request, &list);
    ended(outcome, lister.failure, lister.panicked)
}

/// How sure a plugin is, from 0 to 100, that it reads what is at `path` and begins with `head`.
pub fn detect(plugin: ProviderRef, path: &[u8], name: &str, head: &[u8]) -> u32 {
    let request =
        DetectRequestView { path: RSlice::from_slice(path), name: name.into(), head: RSlice::from_slice(head) };
    plugin.detect()(&request)
}

fn ended(outcome: OutcomeView, failure: Option<String>, panicked: bool) -> Ended {
    if panicked {
        return Ended::Panicked("the host failed on what the plugin told".to_owned());
    }
    let failure = || failure.unwrap_or_else(|| "the plugin did not say why".to_owned());
    match outcome.code {
        OutcomeView::DONE => Ended::Done(outcome.records),
        OutcomeView::STOPPED => Ended::Stopped,
        OutcomeView::PANICKED => Ended::Panicked(failure()),
        _ => Ended::Failed(failure()),
    }
}

/// What the context of a listing points at.
struct Lister<'l> {
    listing: &'l mut dyn Listing,
    failure: Option<String>,
    panicked: bool,
}

static LIST_TABLE: ListTable = ListTable { entry, diagnostic: remark, fail: list_fail };

/// As [`call`], for a listing.
///
/// # Safety
///
/// `context` is the one that [`list`] made, and its call still runs.
unsafe fn list_call(context: Context, tell: impl FnOnce(&mut Lister<'_>) -> Flow) -> Answer {
    // SAFETY: as in `call`.
    let lister = unsafe { &mut *context.0.cast::<Lister<'_>>() };
    if lister.panicked {
        return Answer::STOP;
    }
    match catch_unwind(AssertUnwindSafe(|| tell(&mut *lister))) {
        Ok(Flow::GoOn) => Answer::GO_ON,
        Ok(Flow::Stop) => Answer::STOP,
        Err(_) => {
            lister.panicked = true;
            Answer::STOP
        }
    }
}

unsafe extern "C" fn entry(context: Context, view: &EntryView<'_>) -> Answer {
    // SAFETY: the plugin hands back the context it was given.
    unsafe { list_call(context, |lister| lister.listing.listed(listed_from(view))) }
}

unsafe extern "C" fn remark(context: Context, view: &DiagnosticView<'_>, path: RSlice<'_, u8>) -> Answer {
    // SAFETY: as in `entry`.
    unsafe { list_call(context, |lister| lister.listing.remark(diagnostic_from(view), path.as_slice().to_vec())) }
}

unsafe extern "C" fn list_fail(context: Context, message: RStr<'_>) -> Answer {
    // SAFETY: as in `entry`.
    unsafe {
        list_call(context, |lister| {
            lister.failure = Some(crate::report::one_line(message.as_str()));
            Flow::GoOn
        })
    }
}

fn listed_from(view: &EntryView<'_>) -> Listed {
    Listed {
        id: view.id.as_str().to_owned(),
        path: view.path.as_slice().to_vec(),
        project: string(view.project),
        title: string(view.title),
        started_at: string(view.started_at),
        last_activity: string(view.last_activity),
        turns: view.turns.into_option(),
        bytes: view.bytes,
    }
}

/// What the context points at during a call.
struct Feed<'i> {
    intake: &'i mut dyn Intake,
    failure: Option<String>,
    panicked: bool,
}

static TABLE: SinkTable = SinkTable { session, turn, tool_result, event, skip, diagnostic, fail };

/// Runs one call.
///
/// # Safety
///
/// `context` is the one that [`read`] made, and its call still runs.
unsafe fn call(context: Context, tell: impl FnOnce(&mut Feed<'_>) -> Flow) -> Answer {
    // SAFETY: promised by the caller; the plugin has one thread, so nothing else holds the reference.
    let feed = unsafe { &mut *context.0.cast::<Feed<'_>>() };
    if feed.panicked {
        return Answer::STOP;
    }
    match catch_unwind(AssertUnwindSafe(|| tell(&mut *feed))) {
        Ok(Flow::GoOn) => Answer::GO_ON,
        Ok(Flow::Stop) => Answer::STOP,
        Err(_) => {
            feed.panicked = true;
            Answer::STOP
        }
    }
}

unsafe extern "C" fn session(context: Context, view: &SessionView<'_>) -> Answer {
    // SAFETY: the plugin hands back the context it was given.
    unsafe { call(context, |feed| feed.intake.session(facts_from(view))) }
}

unsafe extern "C" fn turn(context: Context, view: &TurnView<'_>) -> Answer {
    // SAFETY: as in `session`.
    unsafe { call(context, |feed| feed.intake.turn(turn_from(view))) }
}

unsafe extern "C" fn tool_result(context: Context, view: &ToolResultView<'_>) -> Answer {
    // SAFETY: as in `session`.
    unsafe { call(context, |feed| feed.intake.tool_result(result_from(view))) }
}

unsafe extern "C" fn event(context: Context, view: &EventView<'_>) -> Answer {
    // SAFETY: as in `session`.
    unsafe { call(context, |feed| feed.intake.event(event_from(view))) }
}

unsafe extern "C" fn skip(context: Context, view: &SkipView<'_>) -> Answer {
    // SAFETY: as in `session`.
    unsafe { call(context, |feed| feed.intake.skip(skip_from(view))) }
}

unsafe extern "C" fn diagnostic(context: Context, view: &DiagnosticView<'_>) -> Answer {
    // SAFETY: as in `session`.
    unsafe { call(context, |feed| feed.intake.diagnostic(diagnostic_from(view))) }
}

unsafe extern "C" fn fail(context: Context, message: RStr<'_>) -> Answer {
    // SAFETY: as in `session`.
    unsafe {
        call(context, |feed| {
            feed.failure = Some(crate::report::one_line(message.as_str()));
            Flow::GoOn
        })
    }
}

fn text(view: RStr<'_>) -> Text<'_> {
    Cow::Borrowed(view.as_str())
}

fn maybe(view: ROption<RStr<'_>>) -> Option<Text<'_>> {
    view.into_option().map(text)
}

fn string(view: ROption<RStr<'_>>) -> Option<String> {
    view.into_option().map(|text| text.as_str().to_owned())
}

fn strings(view: RSlice<'_, RStr<'_>>) -> Vec<String> {
    view.iter().map(|text| text.as_str().to_owned()).collect()
}

fn json(view: RStr<'_>) -> Json<'_> {
    Json::told(view.as_str())
}

fn origin_from(view: OriginView) -> Origin {
    Origin { file: view.file, line: view.line, offset: view.offset, length: view.length }
}

/// The JSON text of a known `ext` key.
fn entry_of<'a>(view: RSlice<'a, ExtView<'a>>, key: &str) -> Option<&'a str> {
    view.as_slice().iter().find(|entry| entry.key.as_str() == key).map(|entry| entry.json.as_str())
}

/// The value of a known `ext` key.
fn extra(view: RSlice<'_, ExtView<'_>>, key: &str) -> Option<Value> {
    serde_json::from_str(entry_of(view, key)?).ok()
}

fn branch_from(view: RSlice<'_, ExtView<'_>>) -> Option<Branch> {
    let value = extra(view, ext::BRANCH)?;
    let field = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(Branch { call: field("call"), agent: field("agent").unwrap_or_default() })
}

fn facts_from(view: &SessionView<'_>) -> SessionFacts {
    let producer_version = string(view.producer_version);
    SessionFacts {
        id: view.id.as_str().to_owned(),
        provider_id: string(view.provider_id),
        title: string(view.title),
        started_at: string(view.started_at),
        last_activity: string(view.last_activity),
        producer: string(view.producer_name).map(|name| (name, producer_version)),
        working_dir: string(view.working_dir),
        vcs_revision: string(view.vcs_revision),
        vcs_branch: string(view.vcs_branch),
        vcs_remote: string(view.vcs_remote),
        files_changed: view.files_changed.into_option().map(strings),
        session_ids: strings(view.session_ids),
        total_usage: view.total_usage.as_ref().into_option().map(usage_from),
        files: strings(view.files),
    }
}

fn turn_from<'a>(view: &TurnView<'a>) -> TurnRecord<'a> {
    let flags = view.flags & view.flags_known;
    let has = |bit: u64| flags & bit != 0;
    let marked = |flags: u64, known: u64, bit: u64| flags & known & bit != 0;
    let turn = Turn {
        id: text(view.id),
        parent_id: maybe(view.parent_id),
        group_id: maybe(view.group_id),
        role: match view.role {
            RoleCode::USER => Role::User,
            RoleCode::ASSISTANT => Role::Assistant,
            RoleCode::SYSTEM => Role::System,
            _ => Role::Other(text(view.other_role)),
        },
        timestamp: text(view.timestamp),
        text: text(view.text),
        thinking: maybe(view.thinking),
        tool_uses: view.tool_uses.as_slice().iter().map(call_from).collect(),
        model: maybe(view.model),
        stop_reason: maybe(view.stop_reason),
        token_usage: view.token_usage.as_ref().into_option().map(usage_from),
        attributed_token_usage: view.attributed_token_usage.as_ref().into_option().map(usage_from),
        environment: view.environment.into_option().map(|place| Environment {
            working_dir: maybe(place.working_dir),
            vcs_branch: maybe(place.vcs_branch),
            vcs_revision: maybe(place.vcs_revision),
        }),
        delegations: view.delegations.as_slice().iter().map(work_from).collect(),
        file_mutations: view.file_mutations.as_slice().iter().map(mutation_from).collect(),
        harness_generated: has(flag::HARNESS_GENERATED),
    };
    TurnRecord {
        turn,
        usage_is_snapshot: has(flag::USAGE_SNAPSHOT),
        parent_or_previous: has(flag::PARENT_OR_PREVIOUS),
        branch: branch_from(view.ext),
        signal: extra(view.ext, ext::SIGNAL).and_then(|signal| signal.as_str().map(str::to_owned)),
        needs_result: indices(view.tool_uses.as_slice(), |call| {
            marked(call.flags, call.flags_known, flag::WRITE_NEEDS_RESULT)
        }),
        partial: indices(view.file_mutations.as_slice(), is_partial),
        part_of_record: has(flag::PART_OF_RECORD),
        origin: origin_from(view.origin),
    }
}

fn indices<T>(items: &[T], is_marked: impl Fn(&T) -> bool) -> Vec<u32> {
    (0_u32..).zip(items).filter(|(_, item)| is_marked(item)).map(|(index, _)| index).collect()
}

fn is_partial(mutation: &FileMutationView<'_>) -> bool {
    mutation.flags & mutation.flags_known & flag::PARTIAL_DIFF != 0
}

fn call_from<'a>(view: &ToolUseView<'a>) -> ToolInvocation<'a> {
    ToolInvocation {
        id: text(view.id),
        name: text(view.name),
        input: json(view.input),
        result: view.result.into_option().map(body_from),
        category: match view.category {
            CategoryCode::FILE_READ => Some(ToolCategory::FileRead),
            CategoryCode::FILE_WRITE => Some(ToolCategory::FileWrite),
            CategoryCode::FILE_SEARCH => Some(ToolCategory::FileSearch),
            CategoryCode::SHELL => Some(ToolCategory::Shell),
            CategoryCode::NETWORK => Some(ToolCategory::Network),
            CategoryCode::DELEGATION => Some(ToolCategory::Delegation),
            _ => None,
        },
    }
}

fn body_from(view: ResultBodyView<'_>) -> ToolResult<'_> {
    ToolResult { content: Words::of(view.content.as_str()), is_error: view.is_error }
}

fn usage_from(view: &UsageView<'_>) -> TokenUsage {
    let mut breakdowns: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for part in view.breakdowns.as_slice() {
        let class = breakdowns.entry(part.class.as_str().to_owned()).or_default();
        class.insert(part.part.as_str().to_owned(), part.tokens);
    }
    TokenUsage {
        input_tokens: view.input_tokens.into_option(),
        output_tokens: view.output_tokens.into_option(),
        cache_read_tokens: view.cache_read_tokens.into_option(),
        cache_write_tokens: view.cache_write_tokens.into_option(),
        breakdowns,
    }
}

fn work_from<'a>(view: &DelegationView<'a>) -> DelegatedWork<'a> {
    DelegatedWork {
        agent_id: text(view.agent_id),
        prompt: text(view.prompt),
        turns: (!view.turns.is_empty()).then(|| json(view.turns)),
        result: maybe(view.result),
    }
}

fn mutation_from<'a>(view: &FileMutationView<'a>) -> FileMutation<'a> {
    FileMutation {
        path: text(view.path),
        tool_id: maybe(view.tool_id),
        operation: maybe(view.operation),
        raw_diff: maybe(view.raw_diff),
        before: maybe(view.before),
        after: maybe(view.after),
        rename_to: maybe(view.rename_to),
    }
}

fn result_from<'a>(view: &ToolResultView<'a>) -> ResultRecord<'a> {
    let with_call = |mutation: &FileMutationView<'a>| {
        let mut mutation = mutation_from(mutation);
        mutation.tool_id.get_or_insert(text(view.call_id));
        mutation
    };
    let mut result = body_from(view.body);
    if let Some(json) = entry_of(view.ext, ext::CONTENT) {
        result.content = Words::told(json);
    }
    ResultRecord {
        call_id: text(view.call_id),
        result,
        file_mutations: view.file_mutations.as_slice().iter().map(with_call).collect(),
        partial: indices(view.file_mutations.as_slice(), is_partial),
        delegations: view.delegations.as_slice().iter().map(work_from).collect(),
        timestamp: text(view.timestamp),
        part_of_record: view.flags & view.flags_known & flag::PART_OF_RECORD != 0,
        origin: origin_from(view.origin),
    }
}

fn event_from<'a>(view: &EventView<'a>) -> EventRecord<'a> {
    let flags = view.flags & view.flags_known;
    EventRecord {
        id: text(view.id),
        timestamp: text(view.timestamp),
        event_type: text(view.event_type),
        parent_id: maybe(view.parent_id),
        data: (!view.data.is_empty()).then(|| json(view.data)),
        unreadable: flags & flag::UNREADABLE != 0,
        branch: branch_from(view.ext),
        part_of_record: flags & flag::PART_OF_RECORD != 0,
        origin: origin_from(view.origin),
    }
}

fn skip_from<'a>(view: &SkipView<'a>) -> SkipRecord<'a> {
    SkipRecord {
        disposition: match view.disposition {
            DispositionCode::FOLDED => Disposition::Folded,
            _ => Disposition::Duplicate,
        },
        id: maybe(view.id),
        parent_id: maybe(view.parent_id),
        origin: origin_from(view.origin),
    }
}

fn diagnostic_from(view: &DiagnosticView<'_>) -> Diagnostic {
    Diagnostic {
        severity: match view.severity {
            SeverityCode::INFO => Severity::Info,
            SeverityCode::ERROR => Severity::Error,
            _ => Severity::Warning,
        },
        code: view.code.as_str().to_owned(),
        message: view.message.as_str().to_owned(),
        origin: origin_from(view.origin),
    }
}
