//! What a tool wrote, by its arguments and by what its result shows.
//!
//! The arguments tell what was replaced by what, the result where. A diff whose numbers are told as the file's comes from
//! a result that shows the very change that was asked for.

mod detail;
mod patch;

use toolpath_plugin_api::MutationRecord;
use toolpath_plugin_api::kit::diff::unified;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::path;

use crate::edits::detail::{Section, sections};
use crate::edits::patch::{FilePatch, Kind, files};
use crate::shape::Arguments;
use crate::tools::PATCH;

/// One write to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    path: String,
    to: Option<String>,
    operation: Option<&'static str>,
    diff: Diff,
}

#[derive(Debug, PartialEq, Eq)]
enum Diff {
    /// Its line numbers are the file's.
    Placed(String),
    /// Its place in the file is not known.
    Partial(String),
    /// Nothing tells, or nothing changed.
    Unknown,
}

impl Edit {
    /// The writes that a call of the tool `name` with `arguments` made in `working_dir`, and whose result shows `detailed`.
    pub(crate) fn of(name: &str, arguments: &str, detailed: Option<&str>, working_dir: Option<&str>) -> Vec<Self> {
        let field = Field::parse(arguments);
        let shape: Arguments<'_> = field.object().unwrap_or_default();
        let shown = sections(detailed.unwrap_or_default());
        if name == PATCH {
            let text = field.text().or_else(|| shape.patch.text()).unwrap_or_default();
            return files(&text).iter().map(|file| Self::of_patch(file, &shown, working_dir)).collect();
        }
        let Some(path) = shape.path.filled() else { return Vec::new() };
        let path = absolute(&path, working_dir);
        let shown = shown.iter().find(|section| section.is_of(&path));
        let what = shape.command.text();
        let (operation, diff) = match (what.as_deref(), name) {
            (Some("create"), _) | (_, "create" | "create_file" | "write_file") => {
                written(&path, shape.text.text().as_deref(), shown)
            }
            (_, "delete_file") => (Some("delete"), Diff::Unknown),
            // A line is put in, and what it comes after is only counted.
            (Some("insert"), _) => (Some("update"), replaced(&path, Some(""), shape.new.text().as_deref(), shown)),
            _ => (Some("update"), replaced(&path, shape.old.text().as_deref(), shape.new.text().as_deref(), shown)),
        };
        vec![Self { path, to: None, operation, diff }]
    }

    fn of_patch(file: &FilePatch<'_>, shown: &[Section<'_>], working_dir: Option<&str>) -> Self {
        let path = absolute(file.path, working_dir);
        let of = |path: &str| shown.iter().find(|section| section.is_of(path));
        let shown = of(&path).or_else(|| of(file.path));
        let changed = || shown.filter(|section| section.changes() == file.changes());
        let placed = || changed().and_then(|section| section.diff(&path)).map(Diff::Placed);
        let (operation, diff) = match file.kind {
            // Nothing keeps a patch from adding a file that was there.
            Kind::Add => ("add", written(&path, Some(&file.side('-')), shown).1),
            Kind::Delete => ("delete", Diff::Unknown),
            Kind::Update => ("update", placed().unwrap_or_else(|| partial(&path, &file.side('+'), &file.side('-')))),
        };
        Self { to: file.to.map(|to| absolute(to, working_dir)), operation: Some(operation), path, diff }
    }

    /// As it is told, for the call `call_id`.
    pub(crate) fn record<'e>(&'e self, call_id: &'e str) -> MutationRecord<'e> {
        let mut record = MutationRecord::new(&self.path).tool_id(call_id);
        if let Some(operation) = self.operation {
            record = record.operation(operation);
        }
        if let Some(to) = &self.to {
            record = record.rename_to(to);
        }
        match &self.diff {
            Diff::Placed(diff) => record.diff(diff),
            Diff::Partial(diff) => record.partial_diff(diff),
            Diff::Unknown => record,
        }
    }
}

/// A whole file was written: whether there was one before, the result shows or nothing does.
fn written(path: &str, text: Option<&str>, shown: Option<&Section<'_>>) -> (Option<&'static str>, Diff) {
    let Some(text) = text else { return (None, Diff::Unknown) };
    if shown.is_some_and(|section| section.created().is_some_and(|lines| is_same_text(&lines, text))) {
        return (Some("add"), placed_text(path, "", text));
    }
    (None, partial(path, "", text))
}

/// Whether a text is the lines, with or without an end of the last.
fn is_same_text(lines: &str, text: &str) -> bool {
    text.strip_prefix(lines).is_some_and(|rest| matches!(rest, "" | "\n"))
}

fn replaced(path: &str, old: Option<&str>, new: Option<&str>, shown: Option<&Section<'_>>) -> Diff {
    let (Some(old), Some(new)) = (old, new) else { return Diff::Unknown };
    let placed = shown.filter(|section| section.makes(old, new)).and_then(|section| section.diff(path));
    placed.map_or_else(|| partial(path, old, new), Diff::Placed)
}

fn placed_text(path: &str, old: &str, new: &str) -> Diff {
    if old == new { Diff::Unknown } else { Diff::Placed(unified(path, old, new)) }
}

fn partial(path: &str, old: &str, new: &str) -> Diff {
    if old == new { Diff::Unknown } else { Diff::Partial(unified(path, old, new)) }
}

fn absolute(path: &str, working_dir: Option<&str>) -> String {
    // A home folder's place is not in the log.
    path::absolute(path, working_dir.filter(|_| !path.starts_with('~')))
}

#[cfg(test)]
mod tests;
