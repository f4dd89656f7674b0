//! A host that writes down what it is told, a line a call, and checks that every record was accounted for.

use std::cell::RefCell;
use std::fmt::Write;

use toolpath_plugin_api::abi_stable::std_types::{ROption, RSlice, RStr};
use toolpath_plugin_api::export::{Declaration, LibHeader, header};
use toolpath_plugin_api::table::{Answer, Context, ProviderRef, SinkTable, SinkView};
use toolpath_plugin_api::view::{
    DiagnosticView, DispositionCode, EventView, ExtView, FileMutationView, OutcomeView, ReadRequestView, RoleCode,
    SessionView, SkipView, ToolResultView, TurnView, flag,
};
use toolpath_plugin_api::{PluginError, Provider, ReadRequest, Sink, Summary};

use crate::agents::Agents;
use crate::read::Reader;

thread_local! {
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static COUNTED: RefCell<u64> = const { RefCell::new(0) };
}

/// Reads the log that the test left, instead of a file.
#[derive(Default)]
struct FromMemory;

impl Provider for FromMemory {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let log = LOG.take();
        Reader::new(request.name(), Agents::unknown()).read(&*log, sink)
    }
}

impl Declaration for FromMemory {
    type Provider = Self;
    const JSON: &'static str = "{}";
}

static HEADER: LibHeader = header::<FromMemory>();

/// What the host is told of `log`, the session `id`.
#[track_caller]
pub(super) fn read(id: &str, log: &[u8]) -> Vec<String> {
    LOG.set(log.to_vec());
    TOLD.set(Vec::new());
    COUNTED.set(0);
    let table = SinkTable { session, turn, tool_result, event, skip, diagnostic, fail };
    let sink = SinkView { context: Context(std::ptr::null_mut()), table: &table };
    let request =
        ReadRequestView { path: RSlice::EMPTY, name: id.into(), session_id: ROption::RNone, options: RSlice::EMPTY };
    let module: ProviderRef = HEADER.init_root_module().expect("our own module");
    let outcome = module.read()(&request, &sink);
    let told = TOLD.take();
    if !told.last().is_some_and(|last| last.starts_with("failed: ")) {
        assert_eq!(outcome, OutcomeView { code: OutcomeView::DONE, records: COUNTED.take() });
    }
    told
}

fn told(line: String, flags: u64) -> Answer {
    let part = flags & flag::PART_OF_RECORD != 0;
    if !part {
        COUNTED.with_borrow_mut(|count| *count += 1);
    }
    TOLD.with_borrow_mut(|told| told.push(if part { format!("+ {line}") } else { line }));
    Answer::GO_ON
}

fn field(line: &mut String, name: &str, value: ROption<RStr<'_>>) {
    if let ROption::RSome(value) = value {
        let _ = write!(line, " {name}={value}");
    }
}

fn exts(line: &mut String, list: RSlice<'_, ExtView<'_>>) {
    for ExtView { key, json } in list {
        let _ = write!(line, " {key}={json}");
    }
}

fn mutations(line: &mut String, list: RSlice<'_, FileMutationView<'_>>) {
    for mutation in list {
        field(line, "write", ROption::RSome(mutation.path));
        field(line, "by", mutation.tool_id);
        field(line, "operation", mutation.operation);
        field(line, if mutation.flags & flag::PARTIAL_DIFF == 0 { "diff" } else { "partial" }, mutation.raw_diff);
    }
}

extern "C" fn session(_: Context, view: &SessionView<'_>) -> Answer {
    let mut line = format!("session {}", view.id);
    field(&mut line, "title", view.title);
    field(&mut line, "dir", view.working_dir);
    field(&mut line, "branch", view.vcs_branch);
    field(&mut line, "from", view.started_at);
    field(&mut line, "to", view.last_activity);
    field(&mut line, "version", view.producer_version);
    TOLD.with_borrow_mut(|told| told.push(line));
    Answer::GO_ON
}

extern "C" fn turn(_: Context, view: &TurnView<'_>) -> Answer {
    let role = if view.role == RoleCode::USER { "user" } else { "assistant" };
    let mut line = format!("{role} {}", view.id);
    field(&mut line, "after", view.parent_id);
    field(&mut line, "group", view.group_id);
    field(&mut line, "model", view.model);
    field(&mut line, "thinking", view.thinking);
    field(&mut line, "stop", view.stop_reason);
    if let ROption::RSome(usage) = view.token_usage {
        let name = if view.flags & flag::USAGE_SNAPSHOT == 0 { "usage" } else { "snapshot" };
        let counts = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
        let counts = counts.map(|count| count.map_or("-".to_owned(), |count| count.to_string()));
        let _ = write!(line, " {name}={}", counts.join("/"));
    }
    if let ROption::RSome(environment) = view.environment {
        field(&mut line, "dir", environment.working_dir);
        field(&mut line, "branch", environment.vcs_branch);
    }
    for call in view.tool_uses {
        let _ = write!(line, " call={}:{}:{}:{}", call.id, call.name, call.category.0, call.input);
        if call.flags & flag::WRITE_NEEDS_RESULT != 0 {
            line.push_str(" needs-result");
        }
    }
    mutations(&mut line, view.file_mutations);
    if view.flags & flag::HARNESS_GENERATED != 0 {
        line.push_str(" HARNESS");
    }
    exts(&mut line, view.ext);
    told(format!("{line}: {}", view.text), view.flags)
}

extern "C" fn tool_result(_: Context, view: &ToolResultView<'_>) -> Answer {
    let mut line = format!("result {}", view.call_id);
    if view.body.is_error {
        line.push_str(" ERROR");
    }
    mutations(&mut line, view.file_mutations);
    for delegation in view.delegations {
        let _ = write!(line, " delegation={}:{}", delegation.agent_id, delegation.prompt);
        field(&mut line, "answer", delegation.result);
    }
    told(format!("{line}: {}", view.body.content), view.flags)
}

extern "C" fn event(_: Context, view: &EventView<'_>) -> Answer {
    let mut line = format!("event {} {}", view.event_type, view.id);
    field(&mut line, "after", view.parent_id);
    if view.flags & flag::UNREADABLE != 0 {
        line.push_str(" UNREADABLE");
    }
    exts(&mut line, view.ext);
    told(format!("{line}: {}", view.data), view.flags)
}

extern "C" fn skip(_: Context, view: &SkipView<'_>) -> Answer {
    let word = if view.disposition == DispositionCode::FOLDED { "folded" } else { "duplicate" };
    let mut line = word.to_owned();
    field(&mut line, "id", view.id);
    field(&mut line, "after", view.parent_id);
    told(format!("{line}: {}", view.reason), view.flags)
}

extern "C" fn diagnostic(_: Context, view: &DiagnosticView<'_>) -> Answer {
    let place = view.origin;
    let line = format!("! {} {}@{}+{}: {}", view.code, place.line, place.offset, place.length, view.message);
    TOLD.with_borrow_mut(|told| told.push(line));
    Answer::GO_ON
}

extern "C" fn fail(_: Context, message: RStr<'_>) -> Answer {
    TOLD.with_borrow_mut(|told| told.push(format!("failed: {message}")));
    Answer::GO_ON
}
