//! Writes to files: what a patch asked for, and what Codex reports to have been written.
//!
//! A report's diff has line numbers. A patch has none, so its hunks only tell what was replaced by what.

mod patch;
mod report;

use std::borrow::Cow;

use toolpath_plugin_api::MutationRecord;

pub(crate) use patch::{in_command, of_patch};
pub(crate) use report::of_report;

/// One write to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    path: String,
    operation: &'static str,
    diff: Diff,
    moved_to: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Diff {
    /// Its line numbers are the file's.
    Placed(String),
    /// Its place in the file is not known.
    Partial(String),
    /// The log does not tell, or nothing changed.
    Unknown,
}

impl Edit {
    /// As it is told, for the call `call`.
    pub(crate) fn record<'e>(&'e self, call: &'e str) -> MutationRecord<'e> {
        let mut record = MutationRecord::new(&self.path).tool_id(call).operation(self.operation);
        record = match &self.diff {
            Diff::Placed(diff) => record.diff(diff),
            Diff::Partial(diff) => record.partial_diff(diff),
            Diff::Unknown => record,
        };
        match &self.moved_to {
            Some(path) => record.rename_to(path),
            None => record,
        }
    }

    /// Roughly the bytes it takes.
    pub(crate) fn weight(&self) -> usize {
        let diff = match &self.diff {
            Diff::Placed(diff) | Diff::Partial(diff) => diff.len(),
            Diff::Unknown => 0,
        };
        200 + self.path.len() + diff
    }
}

/// `path` as seen from the folder `dir`, where that is known.
pub(crate) fn absolute(path: &str, dir: Option<&str>) -> String {
    let drive = path.as_bytes().get(1) == Some(&b':');
    match dir {
        Some(dir) if !path.starts_with(['/', '\\']) && !drive && !dir.is_empty() => {
            let path = path.strip_prefix("./").unwrap_or(path);
            format!("{}/{path}", dir.trim_end_matches('/'))
        }
        _ => path.to_owned(),
    }
}

fn is_changed(before: &str, after: &str) -> bool {
    before != after
}

fn unified(path: &str, before: &str, after: &str) -> Diff {
    if is_changed(before, after) {
        Diff::Placed(toolpath_plugin_api::kit::diff::unified(path, before, after))
    } else {
        Diff::Unknown
    }
}

/// A text without escapes costs no copy.
type Words<'a> = Cow<'a, str>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_seen_from_the_folder_of_the_turn() {
        for (path, dir, whole) in [
            ("a.txt", Some("/p"), "/p/a.txt"),
            ("./a.txt", Some("/p/"), "/p/a.txt"),
            ("/a.txt", Some("/p"), "/a.txt"),
            ("C:\\a.txt", Some("/p"), "C:\\a.txt"),
            ("a.txt", Some(""), "a.txt"),
            ("a.txt", None, "a.txt"),
        ] {
            assert_eq!(absolute(path, dir), whole);
        }
    }
}
