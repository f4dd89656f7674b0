//! The text of a patch: `*** Begin Patch`, files with their hunks, `*** End Patch`.

use std::borrow::Cow;

use toolpath_plugin_api::kit::diff::{Hunk, from_hunks};

use crate::edits::{Diff, Edit, absolute, unified};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// The writes that a patch asks for, its paths as seen from `dir`.
pub(crate) fn of_patch(text: &str, dir: Option<&str>) -> Vec<Edit> {
    let mut lines = text.lines().skip_while(|line| line.trim() != BEGIN).skip(1);
    let mut files: Vec<File<'_>> = Vec::new();
    for line in lines.by_ref().take_while(|line| line.trim() != END) {
        match (File::named_by(line), files.last_mut()) {
            (Some(file), _) => files.push(file),
            (None, Some(file)) => file.take(line),
            (None, None) => {}
        }
    }
    files.into_iter().map(|file| file.edit(dir)).collect()
}

/// The patch that a command applies, and the folder that it goes to before.
///
/// A command is a list of words or a script; a script applies a patch when that is all it does.
pub(crate) fn in_command<'a>(words: &'a [Cow<'a, str>]) -> Option<(&'a str, Option<&'a str>)> {
    match words {
        [program, patch] if is_program(program) => Some((patch, None)),
        [script] | [_, _, script] | [_, _, _, script] => in_script(script),
        _ => None,
    }
}

fn in_script(script: &str) -> Option<(&str, Option<&str>)> {
    let script = script.trim_start();
    let (dir, script) = match script.strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        Some((dir, rest)) if !dir.contains('\n') => (Some(unquoted(dir.trim())), rest.trim_start()),
        _ => (None, script),
    };
    let (program, _) = script.split_once(|c: char| c.is_whitespace() || c == '<')?;
    (is_program(program) && script.contains(BEGIN)).then_some((script, dir))
}

fn is_program(word: &str) -> bool {
    matches!(word, "apply_patch" | "applypatch")
}

fn unquoted(word: &str) -> &str {
    let inner = |quote: char| word.strip_prefix(quote).and_then(|word| word.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(word)
}

/// One file of a patch.
struct File<'p> {
    path: &'p str,
    change: Change<'p>,
}

enum Change<'p> {
    Add(String),
    Delete,
    Update { moved_to: Option<&'p str>, hunks: Vec<Vec<Cow<'p, str>>> },
}

impl<'p> File<'p> {
    fn named_by(line: &'p str) -> Option<Self> {
        let line = line.trim();
        let of = |marker: &str, change: Change<'p>| Some(Self { path: line.strip_prefix(marker)?.trim(), change });
        of("*** Add File: ", Change::Add(String::new()))
            .or_else(|| of("*** Delete File: ", Change::Delete))
            .or_else(|| of("*** Update File: ", Change::Update { moved_to: None, hunks: Vec::new() }))
    }

    fn take(&mut self, line: &'p str) {
        match &mut self.change {
            Change::Add(content) => {
                if let Some(added) = line.strip_prefix('+') {
                    content.push_str(added);
                    content.push('\n');
                }
            }
            Change::Delete => {}
            Change::Update { moved_to, hunks } => {
                if let Some(path) = line.trim().strip_prefix("*** Move to: ") {
                    *moved_to = Some(path.trim());
                } else if line == "@@" || line.starts_with("@@ ") {
                    hunks.push(Vec::new());
                } else if line.trim() != "*** End of File" {
                    if hunks.is_empty() {
                        hunks.push(Vec::new());
                    }
                    // An empty line is one of context whose blank was lost.
                    let line = if line.is_empty() { Cow::Borrowed(" ") } else { Cow::Borrowed(line) };
                    hunks.last_mut().into_iter().for_each(|hunk| hunk.push(line.clone()));
                }
            }
        }
    }

    fn edit(self, dir: Option<&str>) -> Edit {
        let path = absolute(self.path, dir);
        let (operation, diff, moved_to) = match self.change {
            Change::Add(content) => ("add", unified(&path, "", &content), None),
            Change::Delete => ("delete", Diff::Unknown, None),
            Change::Update { moved_to, hunks } => {
                let moved_to = moved_to.map(|path| absolute(path, dir));
                ("update", without_place(&path, &hunks), moved_to)
            }
        };
        Edit { path, operation, diff, moved_to }
    }
}

/// The diff of hunks whose place is not known: one after the other, a line apart.
fn without_place(path: &str, hunks: &[Vec<Cow<'_, str>>]) -> Diff {
    let lines: Vec<Vec<&str>> = hunks
        .iter()
        .filter(|lines| lines.iter().any(|line| line.starts_with(['-', '+'])))
        .map(|lines| lines.iter().map(AsRef::as_ref).collect())
        .collect();
    let (mut old, mut new) = (0_u64, 0_u64);
    let hunks: Vec<Hunk<'_>> = lines
        .iter()
        .map(|lines| {
            let count = |sign: char| lines.iter().filter(|line| line.starts_with([' ', sign])).count() as u64;
            let (old_lines, new_lines) = (count('-'), count('+'));
            let start = |before: u64, lines: u64| before + u64::from(lines > 0);
            let hunk = Hunk {
                old_start: start(old, old_lines),
                old_lines,
                new_start: start(new, new_lines),
                new_lines,
                lines,
            };
            (old, new) = (old + old_lines + 1, new + new_lines + 1);
            hunk
        })
        .collect();
    let diff = if hunks.is_empty() { None } else { from_hunks(path, &hunks) };
    diff.map_or(Diff::Unknown, Diff::Partial)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, operation: &'static str, diff: Diff) -> Edit {
        Edit { path: path.to_owned(), operation, diff, moved_to: None }
    }

    #[test]
    fn a_patch_adds_deletes_updates_and_moves() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** Delete File: b.txt\n*** Update File: c.txt\n\
                     *** Move to: d.txt\n@@ fn main\n x\n-y\n+z\n\n*** End of File\n*** End Patch\n";
        let added = "--- a/p/a.txt\n+++ b/p/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n";
        let updated = "--- a/p/c.txt\n+++ b/p/c.txt\n@@ -1,3 +1,3 @@\n x\n-y\n+z\n \n";
        let moved = Edit {
            moved_to: Some("/p/d.txt".to_owned()),
            ..edit("/p/c.txt", "update", Diff::Partial(updated.to_owned()))
        };
        let expected =
            [edit("/p/a.txt", "add", Diff::Placed(added.to_owned())), edit("/p/b.txt", "delete", Diff::Unknown), moved];
        assert_eq!(of_patch(patch, Some("/p")), expected);
    }

    #[test]
    fn hunks_without_a_place_stand_apart() {
        let patch = "*** Begin Patch\n*** Update File: /a\n+first\n@@\n+second\n@@\n same\n@@\n-x\n+y\n*** End Patch";
        let diff = "--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+first\n@@ -1,0 +3 @@\n+second\n@@ -3 +5 @@\n-x\n+y\n";
        assert_eq!(of_patch(patch, None), [edit("/a", "update", Diff::Partial(diff.to_owned()))]);
    }

    #[test]
    fn a_patch_that_is_none_or_changes_nothing_has_no_diff() {
        assert_eq!(of_patch("words", None), []);
        assert_eq!(of_patch("*** Begin Patch\n+x\n*** End Patch", None), []);
        let odd = "*** Begin Patch\n*** Update File: /a\n@@\n?x\n-y\n*** End Patch";
        assert_eq!(of_patch(odd, None), [edit("/a", "update", Diff::Unknown)]);
        let same = "*** Begin Patch\n*** Update File: /a\n x\n*** Add File: /b\n*** End Patch";
        assert_eq!(of_patch(same, None), [edit("/a", "update", Diff::Unknown), edit("/b", "add", Diff::Unknown)]);
    }

    #[track_caller]
    fn check(words: &[&str], expected: Option<Option<&str>>) {
        let words: Vec<Cow<'_, str>> = words.iter().map(|word| (*word).into()).collect();
        let found = in_command(&words).map(|(text, dir)| {
            assert_eq!(of_patch(text, None).len(), 1);
            dir
        });
        assert_eq!(found, expected, "{words:?}");
    }

    #[test]
    fn a_command_may_apply_a_patch() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        let script = format!("apply_patch <<'EOF'\n{patch}\nEOF\n");
        check(&["apply_patch", patch], Some(None));
        check(&["apply_patch", &format!("<<'EOF'\n{patch}\nEOF")], Some(None));
        check(&["bash", "-lc", &script], Some(None));
        check(&[&script], Some(None));
        check(&["bash", "-lc", &format!("cd '/p q' && {script}")], Some(Some("/p q")));
        check(&["bash", "-lc", &format!("echo x; {script}")], None);
        check(&["bash", "-lc", &format!("cat <<'EOF'\n{patch}\nEOF")], None);
        check(&["bash", "-lc", "apply_patch --help"], None);
        check(&[], None);
    }
}
