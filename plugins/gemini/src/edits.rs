//! What the display of a tool's result tells of a file that was written.

use toolpath_plugin_api::MutationRecord;
use toolpath_plugin_api::kit::diff::{Hunk, from_hunks, unified};
use toolpath_plugin_api::kit::field::Field;

use crate::shape::{Args, Display};

/// One write to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    path: String,
    is_new: bool,
    /// Its line numbers are the file's.
    diff: Option<String>,
}

impl Edit {
    /// The write that `display` tells of a call with `args`; `None` when it tells none.
    pub(crate) fn of(display: Field<'_>, args: Field<'_>) -> Option<Self> {
        let display: Display<'_> = display.object()?;
        let (old, new, diff) = (display.original.text(), display.new.text(), display.diff.text());
        if new.is_none() && diff.is_none() {
            return None;
        }
        let args: Args<'_> = args.object().unwrap_or_default();
        let path = args.file_path.filled().or_else(|| args.path.filled()).or_else(|| display.path.filled())?;
        let is_new = display.is_new.flag() || (old.is_none() && display.is_new.json().is_none() && starts_new(&diff));
        let diff = match (old.as_deref().or(is_new.then_some("")), new) {
            (Some(old), Some(new)) if old == new => None,
            (Some(old), Some(new)) => Some(unified(&path, old, &new)),
            _ => diff.and_then(|diff| rewritten(&path, &diff)),
        };
        Some(Self { path: path.into_owned(), is_new, diff })
    }

    /// As it is told, for the call `call_id`.
    pub(crate) fn record<'e>(&'e self, call_id: &'e str) -> MutationRecord<'e> {
        let operation = if self.is_new { "add" } else { "update" };
        let record = MutationRecord::new(&self.path).tool_id(call_id).operation(operation);
        match &self.diff {
            Some(diff) => record.diff(diff),
            None => record,
        }
    }
}

/// Whether a diff's only hunk makes a file out of nothing.
fn starts_new(diff: &Option<std::borrow::Cow<'_, str>>) -> bool {
    diff.as_deref().is_some_and(|diff| diff.lines().any(|line| line.starts_with("@@ -0,0 ")))
}

/// A diff of the log's with our header: theirs names the file without its folder.
fn rewritten(path: &str, diff: &str) -> Option<String> {
    let mut heads: Vec<[u64; 4]> = Vec::new();
    let mut bodies: Vec<Vec<&str>> = Vec::new();
    let text = diff.strip_suffix('\n').unwrap_or(diff);
    for line in text.split('\n') {
        let is_full = || heads.last().zip(bodies.last()).is_none_or(|(head, body)| is_full(head, body));
        if line.starts_with("@@ ") && is_full() {
            heads.push(numbers(line)?);
            bodies.push(Vec::new());
        } else if let Some(body) = bodies.last_mut() {
            body.push(line);
        }
    }
    let hunks: Vec<Hunk<'_>> = heads
        .iter()
        .zip(&bodies)
        .map(|(&[old_start, old_lines, new_start, new_lines], lines)| Hunk {
            old_start,
            old_lines,
            new_start,
            new_lines,
            lines,
        })
        .collect();
    if hunks.is_empty() { None } else { from_hunks(path, &hunks) }
}

fn is_full(&[_, old, _, new]: &[u64; 4], body: &[&str]) -> bool {
    let count = |signs: [char; 2]| body.iter().filter(|line| line.starts_with(signs)).count() as u64;
    count([' ', '-']) >= old && count([' ', '+']) >= new
}

/// The numbers of `@@ -1,2 +3,4 @@`.
fn numbers(line: &str) -> Option<[u64; 4]> {
    let ranges = line.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, lines.parse().ok()?))
    };
    let ((old_start, old_lines), (new_start, new_lines)) = (range(old)?, range(new)?);
    Some([old_start, old_lines, new_start, new_lines])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(display: &str, expected: Option<(&str, bool, Option<&str>)>) {
        let field = |json| Field::of(serde_json::from_str(json).expect("JSON"));
        let edit = Edit::of(field(display), field(r#"{"file_path":"/w/a.txt"}"#));
        let seen = edit.as_ref().map(|edit| (&*edit.path, edit.is_new, edit.diff.as_deref()));
        assert_eq!(seen, expected, "{display}");
    }

    #[test]
    fn the_file_before_and_after_give_the_diff() {
        let diff = "--- a/w/a.txt\n+++ b/w/a.txt\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n";
        check(
            r#"{"fileDiff":"?","fileName":"a.txt","originalContent":"x\ny\n","newContent":"x\nz\n"}"#,
            Some(("/w/a.txt", false, Some(diff))),
        );
    }

    #[test]
    fn a_new_file_is_added() {
        let diff = "--- a/w/a.txt\n+++ b/w/a.txt\n@@ -0,0 +1 @@\n+x\n";
        check(r#"{"originalContent":null,"newContent":"x\n","isNewFile":true}"#, Some(("/w/a.txt", true, Some(diff))));
        check(r#"{"fileDiff":"@@ -0,0 +1,1 @@\n+x\n","newContent":"x\n"}"#, Some(("/w/a.txt", true, Some(diff))));
    }

    #[test]
    fn a_diff_alone_is_told_with_a_header_of_ours() {
        check(
            r#"{"fileDiff":"Index: a.txt\n====\n--- a.txt\tCurrent\n+++ a.txt\tProposed\n@@ -4,1 +4,2 @@\n x\n+@@ y\n"}"#,
            Some(("/w/a.txt", false, Some("--- a/w/a.txt\n+++ b/w/a.txt\n@@ -4 +4,2 @@\n x\n+@@ y\n"))),
        );
        for broken in ["nothing", "@@ -1 +1 @@", "@@ -a +b @@\\n x"] {
            check(&format!(r#"{{"fileDiff":"{broken}"}}"#), Some(("/w/a.txt", false, None)));
        }
    }

    #[test]
    fn nothing_changed_is_no_diff_and_nothing_told_is_no_write() {
        check(r#"{"originalContent":"x","newContent":"x"}"#, Some(("/w/a.txt", false, None)));
        check(r#""written""#, None);
        check(r#"{"isSubagentProgress":true}"#, None);
    }
}
