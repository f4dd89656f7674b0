//! Diffs as opencode shows them, read back: a section for each file, with hunks.

use toolpath_plugin_api::kit::diff::{Hunk, from_hunks};

/// The diff of one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section<'a> {
    /// The file's name behind `--- `.
    pub(super) name: &'a str,
    hunks: Vec<Shown<'a>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Shown<'a> {
    old: (u64, u64),
    new: (u64, u64),
    lines: Vec<&'a str>,
}

/// The sections of `text`; what is in none is passed over.
pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("--- ") {
            // Behind a tab there may be a time.
            let name = name.split('\t').next().unwrap_or(name);
            sections.push(Section { name, hunks: Vec::new() });
        } else if let Some((old, new)) = ranges(line) {
            let mut hunk = Shown { old, new, lines: Vec::new() };
            let mut missing = [old.1, new.1];
            // A line of the text may look like a header, so it is the numbers that say where a hunk ends.
            while let Some(line) = lines.next_if(|line| missing != [0, 0] || line.starts_with('\\')) {
                // What strips white space at the ends of lines leaves nothing of an empty one.
                let line = if line.is_empty() { " " } else { line };
                let takes = match line.as_bytes()[0] {
                    b' ' => [1, 1],
                    b'-' => [1, 0],
                    b'+' => [0, 1],
                    _ => [0, 0],
                };
                missing = [missing[0].saturating_sub(takes[0]), missing[1].saturating_sub(takes[1])];
                hunk.lines.push(line);
            }
            if let Some(section) = sections.last_mut() {
                section.hunks.push(hunk);
            }
        }
    }
    sections
}

impl Section<'_> {
    /// The diff under `path`; `None` when no tool would take it.
    pub(super) fn diff(&self, path: &str) -> Option<String> {
        let hunks: Vec<Hunk<'_>> = self
            .hunks
            .iter()
            .map(|hunk| Hunk {
                old_start: hunk.old.0,
                old_lines: hunk.old.1,
                new_start: hunk.new.0,
                new_lines: hunk.new.1,
                lines: &hunk.lines,
            })
            .collect();
        if hunks.is_empty() { None } else { from_hunks(path, &hunks) }
    }

    /// The lines of the old (`-`) or the new (`+`) text that the hunks show.
    pub(super) fn side(&self, sign: char) -> String {
        let mut side = String::new();
        for line in self.hunks.iter().flat_map(|hunk| &hunk.lines) {
            if let Some(line) = line.strip_prefix(' ').or_else(|| line.strip_prefix(sign)) {
                side.push_str(line);
                side.push('\n');
            }
        }
        side
    }
}

/// The ranges of a hunk's header.
fn ranges(line: &str) -> Option<((u64, u64), (u64, u64))> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |range: &str| match range.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((range.parse().ok()?, 1)),
    };
    Some((range(old)?, range(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Index: /w/a\n=====\n--- /w/a\t1\n+++ /w/a\n@@ -1,2 +1,2 @@\n x\n--- y\n+++ z\n\
                        \\ No newline at end of file\n--- /w/b\n+++ /w/b\n@@ -0,0 +1 @@\n+b\n\n";

    #[test]
    fn sections_end_where_their_numbers_say() {
        let sections = sections(TEXT);
        assert_eq!(sections.iter().map(|section| section.name).collect::<Vec<_>>(), ["/w/a", "/w/b"]);
        let first = "--- a/w/a\n+++ b/w/a\n@@ -1,2 +1,2 @@\n x\n--- y\n+++ z\n\\ No newline at end of file\n";
        assert_eq!(sections[0].diff("/w/a").as_deref(), Some(first));
        assert_eq!(sections[1].diff("/w/b").as_deref(), Some("--- a/w/b\n+++ b/w/b\n@@ -0,0 +1 @@\n+b\n"));
        assert_eq!((sections[0].side('-').as_str(), sections[0].side('+').as_str()), ("x\n-- y\n", "x\n++ z\n"));
    }

    #[test]
    fn what_is_no_diff_makes_none() {
        for text in
            ["", "words", "@@ -1 +1 @@\n-a\n+b", "--- a\n+++ a\n", "--- a\n@@ -1 +x @@\n", "--- a\n@@ -1,9 +1,9 @@\n x"]
        {
            assert!(sections(text).iter().all(|section| section.diff("a").is_none()), "{text}");
        }
    }
}
