//! What a finished turn changed: the conversation, and the files that its tool calls wrote.
//!
//! A write that the provider reported stands as it is. For a file-writing call of which nothing was reported, the
//! call's input tells what was replaced by what, but not where: such a diff is marked partial. A call that
//! failed wrote nothing. Several writes to one file are one change that keeps them all.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::Value;
use toolpath_plugin_api::kit::diff;

use crate::step::{Append, Change, Edits, FileWrite, OneWrite, Structural};
use crate::turn::{FileMutation, ToolCategory, ToolInvocation, Turn};

/// What to leave out of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Keep the models' reasoning.
    pub thinking: bool,
    /// Keep tool calls.
    pub tools: bool,
}

/// Marks on the parts of a turn that its wire form has no room for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks<'a> {
    /// Indices of tool calls whose input alone makes no write, ascending.
    pub(crate) needs_result: &'a [u32],
    /// Indices of file mutations whose diff has no known line numbers, ascending.
    pub(crate) partial: &'a [u32],
}

/// The changes of a turn; `key` is that of the conversation.
pub(crate) fn changes<'a>(
    turn: &'a Turn<'a>,
    marks: Marks<'_>,
    key: &'a str,
    detail: Detail,
) -> BTreeMap<Cow<'a, str>, Change<'a>> {
    let mut files: BTreeMap<Cow<'a, str>, Vec<Write<'a>>> = BTreeMap::new();
    for write in writes(turn, marks) {
        files.entry(write.path.clone()).or_default().push(write);
    }
    let own = files.remove(key);
    let mut changes: BTreeMap<_, _> = files.into_iter().map(|(path, writes)| (path, file_change(writes))).collect();
    if let Some(writes) = own {
        // The conversation's own key is taken; a file of that very name is written under a name that means the same.
        let mut path = format!("./{key}");
        while changes.contains_key(path.as_str()) {
            path.insert_str(0, "./");
        }
        changes.insert(Cow::Owned(path), file_change(writes));
    }
    let append = Change { raw: None, structural: Structural::Append(Box::new(append(turn, detail))) };
    changes.insert(Cow::Borrowed(key), append);
    changes
}

/// The turn without what is to be left out.
pub(crate) fn without<'a>(turn: &'a Turn<'a>, detail: Detail) -> Cow<'a, Turn<'a>> {
    if detail == WHOLE {
        return Cow::Borrowed(turn);
    }
    let mut turn = turn.clone();
    if !detail.thinking {
        turn.thinking = None;
    }
    if !detail.tools {
        turn.tool_uses.clear();
    }
    Cow::Owned(turn)
}

const WHOLE: Detail = Detail { thinking: true, tools: true };

fn append<'a>(turn: &'a Turn<'a>, detail: Detail) -> Append<'a> {
    let mut append = Append::new(turn.role.word(), &turn.text);
    append.attributed_token_usage = turn.attributed_token_usage.as_ref().map(Into::into);
    append.delegations = turn.delegations.iter().map(Into::into).collect();
    append.environment = turn.environment.as_ref().map(Into::into);
    append.group_id = turn.group_id.as_deref();
    append.stop_reason = turn.stop_reason.as_deref();
    append.token_usage = turn.token_usage.as_ref().map(Into::into);
    if detail.thinking {
        append.thinking = turn.thinking.as_deref();
    }
    if detail.tools {
        append.tool_uses = turn.tool_uses.iter().map(Into::into).collect();
    }
    append
}

/// One write to one file.
#[derive(Debug)]
struct Write<'a> {
    path: Cow<'a, str>,
    raw: Option<Cow<'a, str>>,
    detail: OneWrite<'a>,
}

/// The writes of a turn, in the order of the calls that made them; those of no call first.
fn writes<'a>(turn: &'a Turn<'a>, marks: Marks<'_>) -> Vec<Write<'a>> {
    let mut calls = HashMap::new();
    for (index, call) in turn.tool_uses.iter().enumerate() {
        calls.entry(&*call.id).or_insert(index);
    }
    let call_of = |mutation: &FileMutation<'_>| calls.get(mutation.tool_id.as_deref()?).copied();
    let wrote = |index: usize| match &turn.tool_uses[index].result {
        Some(result) => !result.is_error,
        None => marks.needs_result.binary_search(&(index as u32)).is_err(),
    };
    // What a mutation names is reported, whichever of the calls that share the id it was.
    let reported: HashSet<&str> = turn.file_mutations.iter().filter_map(|file| file.tool_id.as_deref()).collect();
    let mut writes = Vec::new();
    for (index, mutation) in turn.file_mutations.iter().enumerate() {
        let call = call_of(mutation);
        if call.is_none_or(wrote) {
            let partial = marks.partial.binary_search(&(index as u32)).is_ok();
            writes.push((call, reported_write(mutation, call.map(|call| &turn.tool_uses[call]), partial)));
        }
    }
    for (index, call) in turn.tool_uses.iter().enumerate() {
        if !reported.contains(&*call.id) && wrote(index) {
            writes.extend(write_from_input(call).map(|write| (Some(index), write)));
        }
    }
    writes.sort_by_key(|(call, _)| *call);
    writes.into_iter().map(|(_, write)| write).collect()
}

fn reported_write<'a>(
    mutation: &'a FileMutation<'a>,
    call: Option<&'a ToolInvocation<'a>>,
    partial: bool,
) -> Write<'a> {
    Write {
        path: Cow::Borrowed(&mutation.path),
        raw: mutation.raw_diff.as_deref().map(Cow::Borrowed),
        detail: OneWrite {
            after: mutation.after.as_deref().map(Cow::Borrowed),
            before: mutation.before.as_deref().map(Cow::Borrowed),
            edits: None,
            operation: mutation.operation.as_deref(),
            partial,
            rename_to: mutation.rename_to.as_deref(),
            tool: call.map(|call| &*call.name),
            tool_id: mutation.tool_id.as_deref(),
        },
    }
}

/// The change that a call's input alone tells of, and the file that it is of.
pub(crate) fn from_input<'a>(call: &'a ToolInvocation<'a>) -> Option<(Cow<'a, str>, Change<'a>)> {
    write_from_input(call).map(|write| (write.path.clone(), file_change(vec![write])))
}

/// The write that the input of a file-writing call tells of.
fn write_from_input<'a>(call: &'a ToolInvocation<'a>) -> Option<Write<'a>> {
    if call.category != Some(ToolCategory::FileWrite) {
        return None;
    }
    let Value::Object(mut input) = call.input.value() else { return None };
    let path = ["file_path", "path", "filename", "file"].iter().find_map(|key| input.get(*key)?.as_str())?.to_owned();
    let mut detail = OneWrite { tool: Some(&call.name), tool_id: Some(&call.id), ..OneWrite::default() };
    let mut take = |key: &str| match input.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let raw = match (take("old_string"), take("new_string"), take("content")) {
        (Some(old), Some(new), _) => {
            let raw = diff::unified(&path, &old, &new);
            (detail.before, detail.after) = (Some(Cow::Owned(old)), Some(Cow::Owned(new)));
            Some(raw)
        }
        (_, _, Some(content)) => {
            let raw = diff::unified(&path, "", &content);
            detail.after = Some(Cow::Owned(content));
            Some(raw)
        }
        _ => match input.remove("edits") {
            Some(Value::Array(edits)) => {
                let raw = diff_of_edits(&path, &edits);
                detail.edits = Some(Edits::Given(Value::Array(edits)));
                raw
            }
            _ => None,
        },
    };
    detail.partial = raw.is_some();
    Some(Write { path: Cow::Owned(path), raw: raw.map(Cow::Owned), detail })
}

fn diff_of_edits(path: &str, edits: &[Value]) -> Option<String> {
    let side = |edit: &Value, key: &str| edit.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let diffs = edits.iter().map(|edit| diff::unified(path, &side(edit, "old_string"), &side(edit, "new_string")));
    joined(diffs.map(Cow::Owned).collect::<Vec<_>>().as_slice())
}

/// Several diffs of one file, each behind a line that counts them.
fn joined(diffs: &[Cow<'_, str>]) -> Option<String> {
    let mut all = String::new();
    for (index, diff) in diffs.iter().enumerate() {
        if index > 0 {
            all.push('\n');
        }
        let _ = write!(all, "# edit {}/{}\n{diff}", index + 1, diffs.len());
    }
    (!diffs.is_empty()).then_some(all)
}

fn file_change(mut writes: Vec<Write<'_>>) -> Change<'_> {
    if writes.len() == 1 {
        let Write { raw, detail, .. } = writes.remove(0);
        let OneWrite { after, before, edits, operation, partial, rename_to, tool, tool_id } = detail;
        let write =
            FileWrite { after, before, edits, operation, partial, rename_to, tool, tool_id, ..FileWrite::default() };
        return Change { raw, structural: Structural::Write(Box::new(write)) };
    }
    let raw = writes.iter().any(|write| write.raw.is_some()).then(|| {
        let diffs: Vec<Cow<'_, str>> = writes.iter_mut().map(|write| write.raw.take().unwrap_or_default()).collect();
        Cow::Owned(joined(&diffs).unwrap_or_default())
    });
    let write = FileWrite {
        before: writes.first().and_then(|write| write.detail.before.clone()),
        after: writes.last().and_then(|write| write.detail.after.clone()),
        partial: writes.iter().any(|write| write.detail.partial),
        // The edits that one call was given are told by its diff, and by the call itself.
        edits: Some(Edits::Writes(writes.into_iter().map(|write| OneWrite { edits: None, ..write.detail }).collect())),
        ..FileWrite::default()
    };
    Change { raw, structural: Structural::Write(Box::new(write)) }
}
