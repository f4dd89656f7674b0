//! What a tool's own report tells of a file it wrote.
//!
//! Of the evidence the best is taken: hunks that fit the file before, the file before with what was replaced, what was
//! replaced alone. A diff whose line numbers are told as the file's is one that a tool applies to it.

mod commands;
mod hunks;

use std::borrow::Cow;

use memchr::memmem;
use toolpath_plugin_api::MutationRecord;
use toolpath_plugin_api::kit::diff::unified;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::path::absolute;

use crate::edits::hunks::LogHunk;
use crate::shape::{ByCommand, Outcome, Step};

/// A file whose text would grow beyond this when a replacement is made throughout is not put together.
const LONGEST: usize = 64 * 1024 * 1024;

/// One write to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    path: String,
    operation: Option<&'static str>,
    diff: Diff,
}

#[derive(Debug, PartialEq, Eq)]
enum Diff {
    /// Its line numbers are the file's.
    Placed(String),
    /// Its place in the file is not known.
    Partial(String),
    /// The report does not tell, or nothing changed.
    Unknown,
}

impl Edit {
    /// The writes that `outcome` reports; none when it reports none, or not enough to tell.
    pub(crate) fn all_of(outcome: &Outcome<'_>, cwd: Option<&str>) -> Vec<Self> {
        let by_command: Option<ByCommand<'_>> = outcome.by_command.object();
        match by_command {
            Some(changed) => commands::of(&changed, cwd),
            None => Self::of(outcome, cwd).into_iter().collect(),
        }
    }

    /// A write to the notebook at `path` of which nothing more is known.
    pub(crate) fn of_notebook(path: &str, cwd: Option<&str>) -> Self {
        Self { path: absolute(path, cwd), operation: Some("update"), diff: Diff::Unknown }
    }

    /// The file.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    fn of(outcome: &Outcome<'_>, cwd: Option<&str>) -> Option<Self> {
        if outcome.new_source.json().is_some() {
            let path = absolute(&outcome.notebook_path.filled()?, cwd);
            // A notebook's report tells its failures here.
            if outcome.error.filled().is_some() {
                return None;
            }
            let diff = match (outcome.original.text(), outcome.updated.text()) {
                (Some(before), Some(after)) => placed(&path, &before, &after),
                _ => Diff::Unknown,
            };
            return Some(Self { path, operation: Some("update"), diff });
        }
        let path = absolute(&outcome.file_path.filled()?, cwd);
        let (operation, diff) = Report::of(outcome).diff(&path)?;
        Some(Self { path, operation: Some(operation), diff })
    }

    /// As it is told, for the call `call_id`.
    pub(crate) fn record<'e>(&'e self, call_id: &'e str) -> MutationRecord<'e> {
        let record = MutationRecord::new(&self.path).tool_id(call_id);
        let record = self.operation.map_or(record, |operation| record.operation(operation));
        match &self.diff {
            Diff::Placed(diff) => record.diff(diff),
            Diff::Partial(diff) => record.partial_diff(diff),
            Diff::Unknown => record,
        }
    }
}

/// The report of an edit, with its texts read.
struct Report<'a> {
    is_create: bool,
    is_update: bool,
    replace_all: bool,
    original: Option<Cow<'a, str>>,
    old: Option<Cow<'a, str>>,
    new: Option<Cow<'a, str>>,
    content: Option<Cow<'a, str>>,
    /// What was replaced by what, one after the other, in reports of several replacements; where that does not lead to
    /// the file after, the host has it from the call.
    steps: Vec<Replacement<'a>>,
    has_patch: bool,
    /// Empty where one of them cannot be read.
    hunks: Vec<LogHunk<'a>>,
}

impl<'a> Report<'a> {
    fn of(outcome: &Outcome<'a>) -> Self {
        let kind = outcome.kind.text();
        Self {
            is_create: kind.as_deref() == Some("create"),
            is_update: kind.as_deref() == Some("update"),
            replace_all: outcome.replace_all.flag(),
            original: outcome.original.text(),
            old: outcome.old.text(),
            new: outcome.new.text(),
            content: outcome.content.text(),
            steps: replacements(outcome.edits),
            has_patch: outcome.patch.list().is_some_and(|patch| !patch.is_empty()),
            hunks: hunks::of(outcome.patch).unwrap_or_default(),
        }
    }

    fn diff(&self, path: &str) -> Option<(&'static str, Diff)> {
        let was_there = self.original.as_deref().is_some_and(|original| !original.is_empty());
        let is_new = !self.is_update && !self.has_patch && self.original.is_none();
        if let Some(content) = self.content.as_deref().filter(|_| (self.is_create && !was_there) || is_new) {
            return Some(("add", placed(path, "", content)));
        }
        let after = self.after();
        let diff = if let Some(diff) = self.patched(path, after.as_deref()) {
            Diff::Placed(diff)
        } else if let (Some(original), Some(after)) = (&self.original, &after) {
            placed(path, original, after)
        } else if let Some(diff) = self.original.as_ref().and_then(|_| self.believed(path)) {
            Diff::Partial(diff)
        } else if let (Some(old), Some(new)) = (&self.old, &self.new) {
            if old == new { Diff::Unknown } else { Diff::Partial(unified(path, old, new)) }
        } else if self.content.is_some() {
            Diff::Unknown
        } else {
            return None;
        };
        Some(("update", diff))
    }

    /// The file's text after the write, when its text before is known.
    fn after(&self) -> Option<Cow<'_, str>> {
        let original = self.original.as_deref()?;
        if !self.steps.is_empty() {
            let mut text = Cow::Borrowed(original);
            for step in &self.steps {
                text = replaced(&text, &step.old, &step.new, step.all)?.into();
            }
            return Some(text);
        }
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => replaced(original, old, new, self.replace_all).map(Cow::Owned),
            _ => self.content.as_deref().map(Cow::Borrowed),
        }
    }

    /// The diff of the hunks, when their place is known: they fit the file before, or nothing speaks against them.
    fn patched(&self, path: &str, after: Option<&str>) -> Option<String> {
        match &self.original {
            Some(original) => hunks::fitted(path, &self.hunks, original, after, &|| self.has_tabs()),
            None => self.believed(path),
        }
    }

    /// The hunks as they stand, unless they lost their tabs.
    fn believed(&self, path: &str) -> Option<String> {
        if self.has_tabs() && !hunks::show_tabs(&self.hunks) { None } else { hunks::as_they_stand(path, &self.hunks) }
    }

    fn has_tabs(&self) -> bool {
        let texts = [&self.original, &self.old, &self.new, &self.content];
        let steps = self.steps.iter().flat_map(|step| [&step.old, &step.new]);
        texts
            .into_iter()
            .flatten()
            .chain(steps)
            .any(|text| text.starts_with('\t') || memmem::find(text.as_bytes(), b"\n\t").is_some())
    }
}

/// One replacement of several.
struct Replacement<'a> {
    old: Cow<'a, str>,
    new: Cow<'a, str>,
    all: bool,
}

/// The replacements in a list; none when one of them cannot be read.
fn replacements<'a>(field: Field<'a>) -> Vec<Replacement<'a>> {
    let one = |step: Field<'a>| {
        let step: Step<'_> = step.object()?;
        Some(Replacement { old: step.old.text()?, new: step.new.text()?, all: step.all.flag() })
    };
    field.list().and_then(|list| list.into_iter().map(one).collect()).unwrap_or_default()
}

fn placed(path: &str, before: &str, after: &str) -> Diff {
    if before == after { Diff::Unknown } else { Diff::Placed(unified(path, before, after)) }
}

/// `text` with `old` replaced as Claude Code does it; `None` when it does not hold it.
fn replaced(text: &str, old: &str, new: &str, all: bool) -> Option<String> {
    if old.is_empty() {
        return text.is_empty().then(|| new.to_owned());
    }
    // A line that is deleted takes its end along.
    let whole_line = format!("{old}\n");
    let holds = |part: &str| memmem::find(text.as_bytes(), part.as_bytes());
    let old = if new.is_empty() && !old.ends_with('\n') && holds(&whole_line).is_some() { &whole_line } else { old };
    if !all {
        return holds(old).map(|at| [&text[..at], new, &text[at + old.len()..]].concat());
    }
    let count = text.matches(old).count();
    let length = text.len().checked_add(count.checked_mul(new.len())?)?;
    (count > 0 && length <= LONGEST.max(text.len())).then(|| text.replace(old, new))
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
