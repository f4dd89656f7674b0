//! `detailedContent` of a result: diffs as git writes them, nearly, one for each file.
//!
//! The file's lines stand there with their numbers, three of context around each change. A created file has an old side
//! that begins at 1 where it should at 0. A text is taken apart at its newlines: what ends with one has an empty line
//! more behind the last, which is no line of the file, and what does not has no note that says so.

use toolpath_plugin_api::kit::diff::{Hunk, NO_NEWLINE, from_hunks};

/// Lines of context that a change has, but for those at the beginning and the end of the file.
const CONTEXT: usize = 3;

/// The diff of one file.
#[derive(Debug, Default)]
pub(super) struct Section<'a> {
    /// The path without the slash that it may begin with.
    path: &'a str,
    /// Whether there was no file before.
    pub(super) is_new: bool,
    hunks: Vec<LogHunk<'a>>,
}

#[derive(Clone, Debug)]
struct LogHunk<'a> {
    old: (u64, u64),
    new: (u64, u64),
    lines: Vec<&'a str>,
}

/// The sections of `text`; none where it is no diff, or not a whole one.
pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    read(text).unwrap_or_default()
}

fn read(text: &str) -> Option<Vec<Section<'_>>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n').peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("diff --git ") {
            sections.push(Section::default());
            continue;
        }
        let Some(section) = sections.last_mut() else {
            if line.is_empty() {
                continue;
            }
            return None;
        };
        if let Some(path) = line.strip_prefix("--- ") {
            section.is_new = path == "a/dev/null" || path == "/dev/null";
            section.path = path.strip_prefix("a/").unwrap_or(path);
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let path = path.strip_prefix("b/").unwrap_or(path);
            if !matches!(path, "dev/null" | "/dev/null") {
                section.path = path;
            }
        } else if line.starts_with("@@ ") {
            let (old, new) = ranges(line)?;
            let mut hunk = LogHunk { old, new, lines: Vec::new() };
            let (mut old_left, mut new_left) = (old.1, new.1);
            while old_left > 0 || new_left > 0 {
                let line = lines.next()?;
                let (old, new) = match line.bytes().next()? {
                    b' ' => (1, 1),
                    b'-' => (1, 0),
                    b'+' => (0, 1),
                    _ if line == NO_NEWLINE => (0, 0),
                    _ => return None,
                };
                (old_left, new_left) = (old_left.checked_sub(old)?, new_left.checked_sub(new)?);
                hunk.lines.push(line);
            }
            if lines.peek() == Some(&NO_NEWLINE) {
                hunk.lines.extend(lines.next());
            }
            section.hunks.push(hunk);
        } else if !is_header(line) {
            return None;
        }
    }
    Some(sections)
}

/// Lines between `diff` and the hunks that tell nothing we need.
fn is_header(line: &str) -> bool {
    let words = ["index ", "create file mode ", "new file mode ", "deleted file mode ", "old mode ", "new mode "];
    let more = ["similarity index ", "rename from ", "rename to ", "delete file mode "];
    words.iter().chain(&more).any(|word| line.starts_with(word)) || line.is_empty()
}

/// First line and count of both sides.
fn ranges(line: &str) -> Option<((u64, u64), (u64, u64))> {
    let mut words = line.split(' ').skip(1);
    let range = |word: Option<&str>, sign: char| {
        let word = word?.strip_prefix(sign)?;
        let (start, count) = word.split_once(',').unwrap_or((word, "1"));
        let (start, count): (u64, u64) = (start.parse().ok()?, count.parse().ok()?);
        // An empty side begins one lower.
        Some((if count == 0 { start.saturating_sub(1) } else { start }, count))
    };
    Some((range(words.next(), '-')?, range(words.next(), '+')?))
}

impl Section<'_> {
    /// Whether it is about the file at `path`.
    pub(super) fn is_of(&self, path: &str) -> bool {
        fn same(path: &str) -> String {
            path.trim_start_matches("./").trim_start_matches('/').replace('\\', "/")
        }
        !self.path.is_empty() && same(self.path) == same(path)
    }

    /// The text of the side that does not have lines with the sign `other`.
    fn side(&self, other: char) -> String {
        let mut text = String::new();
        for hunk in &self.hunks {
            for (at, line) in hunk.lines.iter().enumerate() {
                if line.starts_with([other, '\\']) {
                    continue;
                }
                text.push_str(&line[1..]);
                if hunk.lines.get(at + 1) != Some(&NO_NEWLINE) {
                    text.push('\n');
                }
            }
        }
        text
    }

    /// The text that its lines show of a file which was not there before.
    pub(super) fn created(&self) -> Option<String> {
        let text = || {
            let mut text = self.side('-');
            // The last line has no end: if it is empty, it is the end of the one before.
            text.pop();
            text
        };
        (self.is_new && self.hunks.iter().all(|hunk| hunk.old.1 == 0)).then(text)
    }

    /// Whether what its hunks change is that `old` becomes `new`.
    pub(super) fn makes(&self, old: &str, new: &str) -> bool {
        const MOST: usize = 100;
        if old.is_empty() {
            return false;
        }
        let (before, after) = (self.side('+'), self.side('-'));
        before.match_indices(old).take(MOST).any(|(at, _)| {
            let (front, back) = (&before[..at], &before[at + old.len()..]);
            after.len() == front.len() + new.len() + back.len()
                && after.starts_with(front)
                && after.ends_with(back)
                && &after[front.len()..front.len() + new.len()] == new
        })
    }

    /// Its lines that go and come, in order.
    pub(super) fn changes(&self) -> Vec<&str> {
        let lines = self.hunks.iter().flat_map(|hunk| &hunk.lines);
        lines.copied().filter(|line| line.starts_with(['-', '+'])).collect()
    }

    /// Its diff under `path`; `None` when no tool would take it, or the file's end is not sure.
    pub(super) fn diff(&self, path: &str) -> Option<String> {
        let mut hunks = self.hunks.clone();
        hunks.last_mut()?.end()?;
        let hunks: Vec<_> = hunks
            .iter()
            .map(|hunk| Hunk {
                old_start: hunk.old.0,
                old_lines: hunk.old.1,
                new_start: hunk.new.0,
                new_lines: hunk.new.1,
                lines: &hunk.lines,
            })
            .collect();
        from_hunks(path, &hunks)
    }
}

impl LogHunk<'_> {
    /// Ends the last hunk as the file does.
    fn end(&mut self) -> Option<()> {
        if self.lines.contains(&NO_NEWLINE) {
            return Some(());
        }
        let is_context = |line: &&&str| line.starts_with(' ');
        let (before, behind) =
            (self.lines.iter().take_while(is_context).count(), self.lines.iter().rev().take_while(is_context).count());
        let is_empty = self.lines.last() == Some(&" ");
        let is_full = before >= CONTEXT || self.old.0 <= 1;
        match behind {
            // A change at the very end, or one whose context is not what we take it to be.
            0 => return None,
            1..CONTEXT if !is_full => return None,
            // The file ends there, without a newline.
            1..CONTEXT if !is_empty => self.lines.push(NO_NEWLINE),
            // The line may be none of the file's, or its last, and there is context enough without it.
            _ => {
                self.lines.pop();
                self.old.1 -= 1;
                self.new.1 -= 1;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED: &str = "\ndiff --git a/w/a b/w/a\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ b/w/a\n@@ -1,0 +1,2 @@\n+x\n+\n";

    fn edited(hunk: &str) -> String {
        format!("\ndiff --git a/w/a b/w/a\nindex 0000000..0000000 100644\n--- a/w/a\n+++ b/w/a\n{hunk}")
    }

    #[test]
    fn a_created_files_lines_are_its_text() {
        let sections = sections(CREATED);
        let [section] = &sections[..] else { panic!("one section") };
        assert!(section.is_new && section.is_of("/w/a") && section.is_of("w/a") && !section.is_of("/w/b"));
        assert_eq!(section.created().as_deref(), Some("x\n"));
    }

    #[test]
    fn an_edits_hunks_make_what_was_asked_or_not() {
        let text = edited("@@ -4,3 +4,3 @@\n p\n-old\n+new\n q\n");
        let sections = sections(&text);
        let [section] = &sections[..] else { panic!("one section") };
        assert!(!section.is_new && section.created().is_none());
        for (old, new, makes) in [
            ("old", "new", true),
            ("p\nold\n", "p\nnew\n", true),
            ("ol", "ne", false),
            ("old", "newer", false),
            ("", "", false),
            ("old\nq\nmore", "new\nq\nmore", false),
        ] {
            assert_eq!(section.makes(old, new), makes, "{old:?} {new:?}");
        }
        assert_eq!(section.changes(), ["-old", "+new"]);
    }

    #[track_caller]
    fn check_diff(hunk: &str, expected: Option<&str>) {
        let diff = sections(&edited(hunk))[0].diff("/w/a");
        let expected = expected.map(|hunk| format!("--- a/w/a\n+++ b/w/a\n{hunk}"));
        assert_eq!(diff, expected, "{hunk}");
    }

    #[test]
    fn the_last_line_of_context_may_be_none_of_the_files() {
        check_diff(
            "@@ -4,7 +4,7 @@\n a\n b\n c\n-x\n+y\n d\n e\n f\n",
            Some("@@ -4,6 +4,6 @@\n a\n b\n c\n-x\n+y\n d\n e\n"),
        );
        check_diff("@@ -4,5 +4,5 @@\n a\n b\n c\n-x\n+y\n \n", Some("@@ -4,4 +4,4 @@\n a\n b\n c\n-x\n+y\n"));
    }

    #[test]
    fn a_file_that_ends_without_a_newline_says_so() {
        let ended = format!("@@ -4,5 +4,5 @@\n a\n b\n c\n-x\n+y\n d\n{NO_NEWLINE}\n");
        check_diff("@@ -4,5 +4,5 @@\n a\n b\n c\n-x\n+y\n d\n", Some(&ended));
        let short = format!("@@ -1,2 +1,2 @@\n-x\n+y\n d\n{NO_NEWLINE}\n");
        check_diff("@@ -1,2 +1,2 @@\n-x\n+y\n d\n", Some(&short));
        // What has the note already is as it should be.
        check_diff(&ended, Some(&ended));
    }

    #[test]
    fn where_the_files_end_is_not_sure_there_is_no_diff() {
        check_diff("@@ -4,4 +4,4 @@\n a\n b\n c\n-x\n+y\n", None);
        check_diff("@@ -4,3 +4,3 @@\n c\n-x\n+y\n d\n", None);
        assert_eq!(sections(&edited(""))[0].diff("/w/a"), None);
    }

    #[test]
    fn windows_paths_have_other_slashes() {
        let sections = sections("diff --git a/C:/w/a b/C:/w/a\n--- a/C:/w/a\n+++ b/C:/w/a\n@@ -1 +1 @@\n-x\n+y\n");
        assert!(sections[0].is_of("C:\\w\\a"));
    }

    #[test]
    fn several_files_are_several_sections() {
        let both = format!("{CREATED}{}", edited("@@ -1 +1 @@\n-x\n+y\n"));
        assert_eq!(sections(&both).iter().map(Section::changes).map(|lines| lines.len()).collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn what_is_no_whole_diff_has_no_sections() {
        for text in [
            "",
            "Created file /w/a",
            "diff --git a/w/a b/w/a\n--- a/w/a\n+++ b/w/a\n@@ -1,2 +1 @@\n-x\n",
            "diff --git a/w/a b/w/a\n@@ -1 +1 @@\n*x\n",
            "diff --git a/w/a b/w/a\n@@ x @@\n",
            "diff --git a/w/a b/w/a\n@@ -1 +1 @@\n\n",
            "diff --git a/w/a b/w/a\nwhat is this\n",
            "diff --git a/w/a b/w/a\n@@ -1,99999999999999999999 +1 @@\n-x\n",
        ] {
            assert!(sections(text).is_empty(), "{text}");
        }
    }
}
