//! For a plugin's own tests: a host that writes down what it is told, a line a call.
//!
//! ```
//! # use toolpath_plugin_api::{PluginError, Provider, ReadRequest, Sink, Summary};
//! use toolpath_plugin_api::kit::testing;
//! # #[derive(Default)]
//! # struct Demo;
//! # impl Provider for Demo {
//! #     fn read(&self, _: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
//! #         sink.session(&toolpath_plugin_api::record::SessionRecord::new("s"))?;
//! #         Ok(Summary { records: 0 })
//! #     }
//! # }
//!
//! assert_eq!(testing::read::<Demo>("session.log".as_ref()), ["session s"]);
//! ```
//!
//! A turn's line is `assistant ID after=PARENT group=G model=M usage=IN/OUT/READ/WRITE call=ID:NAME:CATEGORY:INPUT HARNESS
//! signal="..." : TEXT`, and so on; what is absent is left out. `+ ` begins what is part of a record that another line
//! accounts for, `! ` a diagnostic, `failed: ` the reason of a failure.

use std::cell::RefCell;
use std::fmt::Write;
use std::path::Path;

use abi_stable::std_types::{ROption, RSlice, RStr};

use crate::provider::{DetectRequest, ListRequest, Provider, ReadRequest, path_bytes, path_from};
use crate::sink::{ListSink, Sink};
use crate::table::{Answer, Context, ListTable, ListView, SinkTable, SinkView};
use crate::view::{
    DelegationView, DetectRequestView, DiagnosticView, DispositionCode, EntryView, EventView, ExtView,
    FileMutationView, ListRequestView, ReadRequestView, RoleCode, SessionView, SkipView, ToolResultView, TurnView,
    UsageView, ext, flag, option,
};

thread_local! {
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static COUNTED: RefCell<u64> = const { RefCell::new(0) };
}

/// What the host is told when `P` reads `path`.
///
/// # Panics
///
/// When the reader's count of records is not the number of records it told of.
#[track_caller]
pub fn read<P: Provider>(path: &Path) -> Vec<String> {
    read_as::<P>(path, &path.display().to_string(), None, &[])
}

/// What the host is told when `P` reads session `id` of `path` under a `name` (`-`: standard input), with `options`
/// (key and JSON).
///
/// # Panics
///
/// As [`read`], and when another is told to a host that takes the content of results as JSON than to one that does not.
#[track_caller]
pub fn read_as<P: Provider>(path: &Path, name: &str, id: Option<&str>, options: &[(&str, &str)]) -> Vec<String> {
    let told = read_with::<P>(path, name, id, options);
    let with_json = [options, &[(option::JSON_CONTENT, "true")]].concat();
    assert_eq!(read_with::<P>(path, name, id, &with_json), told, "with and without JSON");
    told
}

#[track_caller]
fn read_with<P: Provider>(path: &Path, name: &str, id: Option<&str>, options: &[(&str, &str)]) -> Vec<String> {
    TOLD.set(Vec::new());
    COUNTED.set(0);
    let table = SinkTable { session, turn, tool_result, event, skip, diagnostic, fail };
    let sink = SinkView { context: Context(std::ptr::null_mut()), table: &table };
    let bytes = path_bytes(path);
    let options: Vec<ExtView<'_>> =
        options.iter().map(|&(key, json)| ExtView { key: key.into(), json: json.into() }).collect();
    let request = ReadRequestView {
        path: RSlice::from_slice(&bytes),
        name: name.into(),
        session_id: id.map(RStr::from).into(),
        options: RSlice::from_slice(&options),
    };
    let request = ReadRequest::new(&request);
    let outcome = P::default().read(&request, &mut Sink::new(&sink, &request));
    let mut told = TOLD.take();
    match outcome {
        Ok(summary) => assert_eq!(summary.records, COUNTED.take(), "records read and told of: {told:#?}"),
        Err(err) => told.push(format!("failed: {err}")),
    }
    told
}

/// What the host is told when `P` lists the sessions under `roots`.
pub fn sessions<P: Provider>(roots: &[&Path]) -> Vec<String> {
    TOLD.set(Vec::new());
    let table = ListTable { entry, diagnostic: list_diagnostic, fail };
    let sink = ListView { context: Context(std::ptr::null_mut()), table: &table };
    let bytes: Vec<_> = roots.iter().map(|root| path_bytes(root)).collect();
    let roots: Vec<RSlice<'_, u8>> = bytes.iter().map(|bytes| RSlice::from_slice(bytes)).collect();
    let request = ListRequestView { roots: RSlice::from_slice(&roots), options: RSlice::EMPTY };
    let outcome = P::default().sessions(&ListRequest::new(&request), &mut ListSink::new(&sink));
    let mut told = TOLD.take();
    if let Err(err) = outcome {
        told.push(format!("failed: {err}"));
    }
    told
}

/// How sure `P` is that it reads a file at `path` that begins with `head`.
pub fn detect<P: Provider>(path: &Path, head: &[u8]) -> u8 {
    let (bytes, name) = (path_bytes(path), path.display().to_string());
    let request = DetectRequestView {
        path: RSlice::from_slice(&bytes),
        name: name.as_str().into(),
        head: RSlice::from_slice(head),
    };
    P::default().detect(&DetectRequest::new(&request))
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
        field(line, "to", mutation.rename_to);
        field(line, if mutation.flags & flag::PARTIAL_DIFF == 0 { "diff" } else { "partial" }, mutation.raw_diff);
        field(line, "before", mutation.before);
        field(line, "after", mutation.after);
    }
}

fn delegations(line: &mut String, list: RSlice<'_, DelegationView<'_>>) {
    for delegation in list {
        let _ = write!(line, " delegation={}:{}", delegation.agent_id, delegation.prompt);
        field(line, "answer", delegation.result);
    }
}

fn usage(line: &mut String, name: &str, usage: ROption<UsageView<'_>>) {
    let ROption::RSome(usage) = usage else { return };
    let counts = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens];
    let counts = counts.map(|count| count.map_or("-".to_owned(), |count| count.to_string()));
    let _ = write!(line, " {name}={}", counts.join("/"));
    for part in usage.breakdowns {
        let _ = write!(line, " {}:{}={}", part.class, part.part, part.tokens);
    }
}

extern "C" fn session(_: Context, view: &SessionView<'_>) -> Answer {
    let mut line = format!("session {}", view.id);
    field(&mut line, "title", view.title);
    field(&mut line, "dir", view.working_dir);
    field(&mut line, "branch", view.vcs_branch);
    field(&mut line, "revision", view.vcs_revision);
    field(&mut line, "remote", view.vcs_remote);
    field(&mut line, "from", view.started_at);
    field(&mut line, "to", view.last_activity);
    field(&mut line, "version", view.producer_version);
    usage(&mut line, "total", view.total_usage);
    for file in view.files {
        field(&mut line, "file", ROption::RSome(*file));
    }
    TOLD.with_borrow_mut(|told| told.push(line));
    Answer::GO_ON
}

extern "C" fn turn(_: Context, view: &TurnView<'_>) -> Answer {
    let role = match view.role {
        RoleCode::USER => "user",
        RoleCode::ASSISTANT => "assistant",
        RoleCode::SYSTEM => "system",
        _ => view.other_role.as_str(),
    };
    let mut line = format!("{role} {}", view.id);
    field(&mut line, "after", view.parent_id);
    field(&mut line, "group", view.group_id);
    field(&mut line, "model", view.model);
    field(&mut line, "thinking", view.thinking);
    field(&mut line, "stop", view.stop_reason);
    usage(&mut line, if view.flags & flag::USAGE_SNAPSHOT == 0 { "usage" } else { "snapshot" }, view.token_usage);
    usage(&mut line, "attributed", view.attributed_token_usage);
    if let ROption::RSome(environment) = view.environment {
        field(&mut line, "dir", environment.working_dir);
        field(&mut line, "branch", environment.vcs_branch);
    }
    for call in view.tool_uses {
        let _ = write!(line, " call={}:{}:{}:{}", call.id, call.name, call.category.0, call.input);
        if call.flags & flag::WRITE_NEEDS_RESULT != 0 {
            line.push_str(" needs-result");
        }
        if let ROption::RSome(result) = call.result {
            let _ = write!(line, " result={}{}", if result.is_error { "ERROR " } else { "" }, result.content);
        }
    }
    mutations(&mut line, view.file_mutations);
    delegations(&mut line, view.delegations);
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
    delegations(&mut line, view.delegations);
    let json = view.ext.as_slice().iter().find(|entry| entry.key.as_str() == ext::CONTENT);
    let content = match json {
        Some(entry) => serde_json::from_str(entry.json.as_str()).expect("the content as a JSON string"),
        None => view.body.content.to_string(),
    };
    told(format!("{line}: {content}"), view.flags)
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

extern "C" fn entry(_: Context, view: &EntryView<'_>) -> Answer {
    let mut line = format!("{} at {}", view.id, path_from(view.path.as_slice()).display());
    field(&mut line, "project", view.project);
    field(&mut line, "title", view.title);
    field(&mut line, "from", view.started_at);
    field(&mut line, "to", view.last_activity);
    if let ROption::RSome(turns) = view.turns {
        let _ = write!(line, " turns={turns}");
    }
    let _ = write!(line, " bytes={}", view.bytes);
    TOLD.with_borrow_mut(|told| told.push(line));
    Answer::GO_ON
}

extern "C" fn list_diagnostic(_: Context, view: &DiagnosticView<'_>, path: RSlice<'_, u8>) -> Answer {
    let line = format!("! {} {}: {}", view.code, path_from(path.as_slice()).display(), view.message);
    TOLD.with_borrow_mut(|told| told.push(line));
    Answer::GO_ON
}
