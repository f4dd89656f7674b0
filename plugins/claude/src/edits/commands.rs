//! What a command changed, as newer versions report it beside the command's output.
//!
//! The report shows some files' hunks and names all of them. Whether its lines are the files' own was not seen, so its
//! diffs are not passed off as ones that apply.

use toolpath_plugin_api::kit::path::absolute;

use super::{Diff, Edit, hunks};
use crate::shape::{ByCommand, ChangedFile};

/// The writes in a report: those with hunks first, then those that are only named.
pub(super) fn of(report: &ByCommand<'_>, cwd: Option<&str>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for file in report.files.list().unwrap_or_default() {
        let file: ChangedFile<'_> = file.object_or_default();
        let Some(path) = file.path.filled().map(|path| absolute(&path, cwd)) else { continue };
        let diff = hunks::of(file.hunks).and_then(|hunks| hunks::as_they_stand(&path, &hunks));
        edits.push(Edit { path, operation: None, diff: diff.map_or(Diff::Unknown, Diff::Partial) });
    }
    for path in report.changed.list().unwrap_or_default() {
        let Some(path) = path.filled().map(|path| absolute(&path, cwd)) else { continue };
        if edits.iter().all(|edit| edit.path != path) {
            edits.push(Edit { path, operation: None, diff: Diff::Unknown });
        }
    }
    edits
}
