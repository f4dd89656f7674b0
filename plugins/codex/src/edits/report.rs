//! Codex's own report of what a patch wrote: `changes`, a file each.

use toolpath_plugin_api::kit::diff::{Hunk, NO_NEWLINE, from_hunks, header};
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::shape;

use crate::edits::{Diff, Edit, Words, absolute, unified};

shape! {
    /// What became of one file.
    Change {
        kind: "type",
        content: "content",
        diff: "unified_diff",
        moved_to: "move_path",
        // Until November 2025 the kind was the key of an object.
        add: "add",
        delete: "delete",
        update: "update",
    }
}

/// The writes that `changes` reports, its paths as seen from `dir`.
pub(crate) fn of_report(changes: Field<'_>, dir: Option<&str>) -> Vec<Edit> {
    let entries = changes.entries().unwrap_or_default();
    entries.iter().filter_map(|(path, change)| edit(&absolute(path, dir), *change, dir)).collect()
}

fn edit(path: &str, field: Field<'_>, dir: Option<&str>) -> Option<Edit> {
    let mut change: Change<'_> = field.object()?;
    let kinds = [("add", change.add), ("delete", change.delete), ("update", change.update)];
    let mut kind = change.kind.text();
    if let (None, Some((tag, inner))) = (&kind, kinds.into_iter().find(|(_, inner)| inner.json().is_some())) {
        (kind, change) = (Some(tag.into()), inner.object().unwrap_or_default());
    }
    let content = change.content.text();
    let (operation, diff) = match kind.as_deref() {
        Some("add") => ("add", content.map_or(Diff::Unknown, |content| unified(path, "", &content))),
        Some("delete") => ("delete", content.map_or(Diff::Unknown, |content| unified(path, &content, ""))),
        Some("update") => ("update", change.diff.text().map_or(Diff::Unknown, |diff| placed(path, &diff))),
        _ => return None,
    };
    let moved_to = change.moved_to.filled().map(|to: Words<'_>| absolute(&to, dir)).filter(|to| to != path);
    Some(Edit { path: path.to_owned(), operation, diff, moved_to })
}

/// The diff of hunks that have their place, but no header.
fn placed(path: &str, text: &str) -> Diff {
    let Some(start) = text.starts_with("@@ ").then_some(0).or_else(|| text.find("\n@@ ").map(|at| at + 1)) else {
        return Diff::Unknown;
    };
    match hunks(&text[start..]).and_then(|hunks| written(path, &hunks)) {
        Some(diff) => Diff::Placed(diff),
        // It still tells what was replaced by what.
        None => Diff::Partial(format!("{}{}", header(path), ended(&text[start..]))),
    }
}

fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end_matches('\n'))
}

/// A hunk's ranges and lines.
type Ranged<'t> = ([(u64, u64); 2], Vec<&'t str>);

fn hunks(text: &str) -> Option<Vec<Ranged<'_>>> {
    let mut hunks = Vec::new();
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        if line.is_empty() && lines.peek().is_none() {
            break;
        }
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let (old, new) = (range(old)?, range(new)?);
        let (mut old_left, mut new_left) = (old.1, new.1);
        let mut body = Vec::new();
        while old_left + new_left > 0 {
            let line = lines.next()?;
            match line.chars().next() {
                Some('-') => old_left = old_left.checked_sub(1)?,
                Some('+') => new_left = new_left.checked_sub(1)?,
                Some(' ') => (old_left, new_left) = (old_left.checked_sub(1)?, new_left.checked_sub(1)?),
                Some('\\') => {}
                _ => return None,
            }
            body.push(if line.starts_with('\\') { NO_NEWLINE } else { line });
        }
        if lines.next_if(|line| line.starts_with('\\')).is_some() {
            body.push(NO_NEWLINE);
        }
        hunks.push(([old, new], body));
    }
    (!hunks.is_empty()).then_some(hunks)
}

fn range(text: &str) -> Option<(u64, u64)> {
    let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, lines.parse().ok().filter(|&lines| lines < 1 << 32)?))
}

fn written(path: &str, hunks: &[Ranged<'_>]) -> Option<String> {
    let hunks: Vec<Hunk<'_>> = hunks
        .iter()
        .map(|([old, new], lines)| Hunk {
            old_start: old.0,
            old_lines: old.1,
            new_start: new.0,
            new_lines: new.1,
            lines,
        })
        .collect();
    from_hunks(path, &hunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: &str, operation: &str, diff: Diff, moved_to: Option<&str>) {
        let json = format!(r#"{{"a.txt":{change}}}"#);
        let edits = of_report(Field::parse(&json), Some("/p"));
        let [edit] = edits.as_slice() else { panic!("one edit: {edits:?}") };
        let found = (&*edit.path, edit.operation, &edit.diff, edit.moved_to.as_deref());
        assert_eq!(found, ("/p/a.txt", operation, &diff, moved_to), "{change}");
    }

    fn diff(body: &str) -> String {
        format!("--- a/p/a.txt\n+++ b/p/a.txt\n{body}")
    }

    #[test]
    fn a_file_that_came_or_went_is_all_of_its_lines() {
        let added = diff("@@ -0,0 +1 @@\n+x\n");
        check(r#"{"type":"add","content":"x\n"}"#, "add", Diff::Placed(added.clone()), None);
        check(r#"{"add":{"content":"x\n"}}"#, "add", Diff::Placed(added), None);
        check(r#"{"type":"delete","content":"x\n"}"#, "delete", Diff::Placed(diff("@@ -1 +0,0 @@\n-x\n")), None);
        check(r#"{"type":"delete"}"#, "delete", Diff::Unknown, None);
        check(r#"{"type":"add","content":""}"#, "add", Diff::Unknown, None);
    }

    #[test]
    fn an_update_has_the_hunks_of_its_report() {
        let hunks =
            "@@ -3,2 +3,2 @@\\n a\\n-b\\n+c\\n@@ -9 +9,2 @@ fn x\\n-d\\n+e\\n+f\\n\\\\ No newline at end of file\\n";
        let written = diff("@@ -3,2 +3,2 @@\n a\n-b\n+c\n@@ -9 +9,2 @@\n-d\n+e\n+f\n\\ No newline at end of file\n");
        check(
            &format!(r#"{{"type":"update","unified_diff":"{hunks}","move_path":"b.txt"}}"#),
            "update",
            Diff::Placed(written.clone()),
            Some("/p/b.txt"),
        );
        check(
            &format!(r#"{{"update":{{"unified_diff":"--- x\n+++ y\n{hunks}","move_path":null}}}}"#),
            "update",
            Diff::Placed(written),
            None,
        );
    }

    #[test]
    fn hunks_that_do_not_add_up_only_tell_what_was_replaced() {
        let partial = Diff::Partial(diff("@@ -3,9 +3,2 @@\n-b\n+c\n"));
        check(r#"{"type":"update","unified_diff":"@@ -3,9 +3,2 @@\n-b\n+c\n"}"#, "update", partial, None);
        check(r#"{"type":"update","unified_diff":"[trimmed]"}"#, "update", Diff::Unknown, None);
        check(r#"{"type":"update"}"#, "update", Diff::Unknown, None);
    }

    #[test]
    fn what_is_no_change_is_none() {
        for changes in ["{}", "[]", "7", r#"{"a":7}"#, r#"{"a":{"type":"other"}}"#, r#"{"a":{}}"#] {
            assert_eq!(of_report(Field::parse(changes), None), [], "{changes}");
        }
    }
}
