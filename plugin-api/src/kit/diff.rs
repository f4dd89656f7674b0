//! Unified diffs that `git apply` and `patch` take.
//!
//! Lines end at `\n` and keep their ends; a lone `\r` ends none, or no tool would take the diff. Three lines of
//! context; a range is `start,count`, or `start` for one line, and an empty one starts one lower.

use std::fmt::Write;

use similar::{Algorithm, DiffOp};

const CONTEXT: usize = 3;
/// Myers takes time in the product of both sides; beyond this many line pairs, what differs is replaced as a whole.
const MOST_PAIRS: usize = 16_000_000;

/// The two lines that name the file: leading slashes are left out of `path`.
pub fn header(path: &str) -> String {
    let path = path.trim_start_matches('/');
    format!("--- a/{path}\n+++ b/{path}\n")
}

/// The diff of two texts under `path`; only the header when they are equal.
pub fn unified(path: &str, old: &str, new: &str) -> String {
    let mut diff = header(path);
    if old != new {
        write_hunks(&mut diff, old, new);
    }
    diff
}

/// One hunk of a diff whose line numbers are known.
pub struct Hunk<'a> {
    /// First line in the old text, from 1 (0 when it has none).
    pub old_start: u64,
    /// Lines in the old text.
    pub old_lines: u64,
    /// First line in the new text, from 1 (0 when it has none).
    pub new_start: u64,
    /// Lines in the new text.
    pub new_lines: u64,
    /// Lines with their sign (`" "`, `"-"`, `"+"`), without their end.
    pub lines: &'a [&'a str],
}

/// The diff that a list of hunks tells; `None` when a hunk's lines do not add up to its numbers.
pub fn from_hunks(path: &str, hunks: &[Hunk<'_>]) -> Option<String> {
    let mut diff = header(path);
    for hunk in hunks {
        let count = |signs: [char; 2]| hunk.lines.iter().filter(|line| line.starts_with(signs)).count() as u64;
        if count([' ', '-']) != hunk.old_lines || count([' ', '+']) != hunk.new_lines {
            return None;
        }
        let _ = writeln!(
            diff,
            "@@ -{} +{} @@",
            range(hunk.old_start, hunk.old_lines),
            range(hunk.new_start, hunk.new_lines)
        );
        for line in hunk.lines {
            diff.push_str(line);
            diff.push('\n');
        }
    }
    Some(diff)
}

fn range(start: u64, count: u64) -> String {
    if count == 1 { start.to_string() } else { format!("{start},{count}") }
}

fn write_hunks(out: &mut String, old: &str, new: &str) {
    let (old_lines, new_lines) = (lines(old), lines(new));
    if old_lines.len().saturating_mul(new_lines.len()) <= MOST_PAIRS {
        let ops = similar::capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines);
        for group in similar::group_diff_ops(ops, CONTEXT) {
            write_hunk(out, &group, &old_lines, &new_lines);
        }
        return;
    }
    let prefix = old_lines.iter().zip(&new_lines).take_while(|(old, new)| old == new).count();
    let rest = old_lines.len().min(new_lines.len()) - prefix;
    let suffix =
        old_lines.iter().rev().zip(new_lines.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let before = prefix.min(CONTEXT);
    let ops = [
        DiffOp::Equal { old_index: prefix - before, new_index: prefix - before, len: before },
        DiffOp::Replace {
            old_index: prefix,
            old_len: old_lines.len() - prefix - suffix,
            new_index: prefix,
            new_len: new_lines.len() - prefix - suffix,
        },
        DiffOp::Equal {
            old_index: old_lines.len() - suffix,
            new_index: new_lines.len() - suffix,
            len: suffix.min(CONTEXT),
        },
    ];
    write_hunk(out, &ops, &old_lines, &new_lines);
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn write_hunk(out: &mut String, ops: &[DiffOp], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (ops.first(), ops.last()) else { return };
    let side = |start: usize, end: usize| {
        let count = end - start;
        range(if count == 0 { start } else { start + 1 } as u64, count as u64)
    };
    let _ = writeln!(
        out,
        "@@ -{} +{} @@",
        side(first.old_range().start, last.old_range().end),
        side(first.new_range().start, last.new_range().end)
    );
    for op in ops {
        let signed: [(char, &[&str]); 2] = match op {
            DiffOp::Equal { .. } => [(' ', &old[op.old_range()]), ('+', &[])],
            _ => [('-', &old[op.old_range()]), ('+', &new[op.new_range()])],
        };
        for (sign, lines) in signed {
            for line in lines {
                out.push(sign);
                out.push_str(line);
                if !line.ends_with('\n') {
                    out.push_str("\n\\ No newline at end of file\n");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_only_the_header() {
        assert_eq!(unified("/srv/a.txt", "x\n", "x\n"), "--- a/srv/a.txt\n+++ b/srv/a.txt\n");
    }

    #[test]
    fn a_changed_line_stands_between_its_context() {
        let diff = unified("a", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n");
        assert_eq!(diff, "--- a/a\n+++ b/a\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    }

    #[test]
    fn ranges_of_one_and_of_no_line() {
        assert_eq!(unified("a", "", "x\n"), "--- a/a\n+++ b/a\n@@ -0,0 +1 @@\n+x\n");
        assert_eq!(unified("a", "x\ny\n", ""), "--- a/a\n+++ b/a\n@@ -1,2 +0,0 @@\n-x\n-y\n");
    }

    #[test]
    fn a_last_line_without_an_end_says_so() {
        let diff = unified("a", "x", "y");
        let note = "\\ No newline at end of file\n";
        assert_eq!(diff, format!("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n{note}+y\n{note}"));
    }

    #[test]
    fn a_lone_carriage_return_ends_no_line() {
        assert_eq!(unified("a", "x\ry\n", "z\ry\n"), "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\ry\n+z\ry\n");
    }

    #[test]
    fn hunks_are_those_of_the_similar_crate() {
        let old: String = (0..60).map(|n| format!("line {n}\n")).collect();
        let new = old.replace("line 7\n", "seven\nand more\n").replace("line 40\n", "").replace("line 41\n", "x\r\n");
        let theirs = similar::TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).to_string();
        assert_eq!(unified("a", &old, &new), header("a") + &theirs);
    }

    #[test]
    fn a_huge_change_is_replaced_as_a_whole_around_what_stays() {
        let side = |tag: &str| {
            let middle: String = (0..5000).map(|n| format!("{tag}{n}\n")).collect();
            format!("same\nsame\nsame\nsame\n{middle}tail\n")
        };
        let diff = unified("a", &side("old"), &side("new"));
        assert!(diff.contains("@@ -2,5004 +2,5004 @@\n same\n same\n same\n-old0\n"));
        assert!(diff.ends_with("+new4999\n tail\n"));
    }

    #[test]
    fn hunks_whose_lines_do_not_add_up_make_no_diff() {
        let hunk = |old_lines| [Hunk { old_start: 4, old_lines, new_start: 4, new_lines: 1, lines: &["-a", "+b"] }];
        assert_eq!(from_hunks("/p", &hunk(1)).as_deref(), Some("--- a/p\n+++ b/p\n@@ -4 +4 @@\n-a\n+b\n"));
        assert_eq!(from_hunks("/p", &hunk(2)), None);
    }
}
