//! Unified diffs that `git apply` and `patch` take.
//!
//! Lines end at `\n` and keep their ends; a lone `\r` ends none, or no tool would take the diff. Three lines of
//! context; a range is `start,count`, or `start` for one line, and an empty one starts one lower.

use std::fmt::Write;

use similar::{Algorithm, DiffOp};

const CONTEXT: usize = 3;
/// Myers takes time in the product of both sides; beyond this many line pairs, what differs is replaced as a whole.
const MOST_PAIRS: usize = 16_000_000;
/// `patch` and git count lines in integers of 32 bits.
const LAST: u64 = i32::MAX as u64;

/// The line that says of the line before it that the file ends there without a newline.
pub const NO_NEWLINE: &str = "\\ No newline at end of file";

/// The two lines that name the file: leading slashes are left out of `path`.
///
/// As git writes them: a path with a control character, a quote or a backslash stands in quotes, with escapes, or it
/// would end the line or the name. One with a space has a tab behind it: `patch` takes the name to the first space
/// otherwise, and both tools take a name's end for a date if it looks like one.
pub fn header(path: &str) -> String {
    let path = path.trim_start_matches('/');
    let (mut name, mut is_quoted) = (String::with_capacity(path.len()), false);
    for c in path.chars() {
        is_quoted |= c.is_ascii_control() || matches!(c, '"' | '\\');
        let _ = match c {
            '\t' => name.write_str("\\t"),
            '\n' => name.write_str("\\n"),
            '\r' => name.write_str("\\r"),
            '"' | '\\' => write!(name, "\\{c}"),
            c if c.is_ascii_control() => write!(name, "\\{:03o}", u32::from(c)),
            c => name.write_char(c),
        };
    }
    let quote = if is_quoted { "\"" } else { "" };
    let end = if !is_quoted && name.contains(' ') { "\t" } else { "" };
    format!("--- {quote}a/{name}{quote}{end}\n+++ {quote}b/{name}{quote}{end}\n")
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
    /// Lines with their sign (`" "`, `"-"`, `"+"`), without their end, and [`NO_NEWLINE`] after a line that has none.
    pub lines: &'a [&'a str],
}

/// The diff that a list of hunks tells; `None` when no tool would take it.
///
/// That is when a hunk's lines do not add up to its numbers or change nothing, when hunks overlap or are out of order,
/// when a line is none of a diff's, when something follows the end of the file, and when a number is too large.
pub fn from_hunks(path: &str, hunks: &[Hunk<'_>]) -> Option<String> {
    let mut diff = header(path);
    let mut seen = [Side::default(); 2];
    for hunk in hunks {
        let has_change = hunk.lines.iter().any(|line| line.starts_with(['-', '+']));
        let [old, new] = &mut seen;
        old.starts(hunk.old_start, hunk.old_lines)?;
        new.starts(hunk.new_start, hunk.new_lines)?;
        let mut last = None;
        for line in hunk.lines {
            if memchr::memchr(b'\n', line.as_bytes()).is_some() {
                return None;
            }
            let sign = line.chars().next()?;
            match sign {
                '-' => old.line()?,
                '+' => new.line()?,
                ' ' => {
                    old.line()?;
                    new.line()?;
                }
                _ if *line != NO_NEWLINE => return None,
                _ => {
                    let last = last?;
                    old.has_ended |= last != '+';
                    new.has_ended |= last != '-';
                }
            }
            last = Some(sign).filter(|&sign| sign != '\\');
        }
        if !has_change || old.missing > 0 || new.missing > 0 {
            return None;
        }
        let (old, new) = (range(hunk.old_start, hunk.old_lines), range(hunk.new_start, hunk.new_lines));
        let _ = writeln!(diff, "@@ -{old} +{new} @@");
        for line in hunk.lines {
            diff.push_str(line);
            diff.push('\n');
        }
    }
    Some(diff)
}

/// How far the hunks have come in one of the texts.
#[derive(Clone, Copy, Default)]
struct Side {
    /// The line behind the last hunk, from 0.
    next: Option<u64>,
    /// Lines that the hunk announced and did not bring yet.
    missing: u64,
    /// Whether a line without an end came, which is the text's last.
    has_ended: bool,
}

impl Side {
    fn starts(&mut self, start: u64, lines: u64) -> Option<()> {
        let first = if lines == 0 { start } else { start.checked_sub(1)? };
        // Two that add at the same place would be one.
        if self.next.is_some_and(|next| first < next || (first == next && lines == 0)) {
            return None;
        }
        let next = first.checked_add(lines)?;
        (self.next, self.missing) = (Some(next), lines);
        (next <= LAST).then_some(())
    }

    fn line(&mut self) -> Option<()> {
        self.missing = self.missing.checked_sub(1)?;
        (!self.has_ended).then_some(())
    }
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

/// The lines of a text, each with its end.
pub fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::with_capacity(text.len() / 32);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
        lines.push(&text[start..=end]);
        start = end + 1;
    }
    if start < text.len() {
        lines.push(&text[start..]);
    }
    lines
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
                    let _ = write!(out, "\n{NO_NEWLINE}\n");
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

    #[track_caller]
    fn check_header(path: &str, old: &str, new: &str) {
        assert_eq!(header(path), format!("--- {old}\n+++ {new}\n"), "{path:?}");
    }

    #[test]
    fn a_path_that_would_break_its_line_is_quoted() {
        check_header("/w/x\ty.txt", r#""a/w/x\ty.txt""#, r#""b/w/x\ty.txt""#);
        check_header("/w/x\n+++ b/etc/y", r#""a/w/x\n+++ b/etc/y""#, r#""b/w/x\n+++ b/etc/y""#);
        check_header("w/\r\u{1}\u{7f}é", r#""a/w/\r\001\177é""#, r#""b/w/\r\001\177é""#);
        check_header("w/\"x\"", r#""a/w/\"x\"""#, r#""b/w/\"x\"""#);
        check_header("C:\\w", r#""a/C:\\w""#, r#""b/C:\\w""#);
        check_header("/w/é'x", "a/w/é'x", "b/w/é'x");
    }

    #[test]
    fn a_path_with_spaces_is_not_cut_at_the_first() {
        check_header("/w/x 2020-01-01", "a/w/x 2020-01-01\t", "b/w/x 2020-01-01\t");
        check_header("/w/x \"y", r#""a/w/x \"y""#, r#""b/w/x \"y""#);
    }

    fn hunk<'a>(old: (u64, u64), new: (u64, u64), lines: &'a [&'a str]) -> Hunk<'a> {
        Hunk { old_start: old.0, old_lines: old.1, new_start: new.0, new_lines: new.1, lines }
    }

    #[test]
    fn hunks_are_written_as_they_are() {
        let hunks = [hunk((4, 1), (4, 1), &["-a", "+b"]), hunk((9, 0), (10, 1), &["+c", NO_NEWLINE])];
        let diff = "--- a/p\n+++ b/p\n@@ -4 +4 @@\n-a\n+b\n@@ -9,0 +10 @@\n+c\n\\ No newline at end of file\n";
        assert_eq!(from_hunks("/p", &hunks).as_deref(), Some(diff));
    }

    #[test]
    fn hunks_that_no_tool_would_take_make_no_diff() {
        let change: &[&str] = &["-a", "+b"];
        for (fault, hunks) in [
            ("lines do not add up", vec![hunk((4, 2), (4, 1), change)]),
            ("more lines than announced", vec![hunk((4, 1), (4, 0), change)]),
            ("empty", vec![hunk((0, 0), (0, 0), &[])]),
            ("no change", vec![hunk((1, 1), (1, 1), &[" a"])]),
            ("begins at no line", vec![hunk((0, 1), (1, 1), change)]),
            ("beyond what is counted", vec![hunk((u64::MAX, 1), (u64::MAX, 1), change)]),
            ("beyond what is counted", vec![hunk((1 << 31, 1), (1, 1), change)]),
            ("twice the same", vec![hunk((4, 1), (4, 1), change), hunk((4, 1), (4, 1), change)]),
            ("twice added", vec![hunk((4, 0), (5, 1), &["+b"]), hunk((4, 0), (6, 1), &["+b"])]),
            ("out of order", vec![hunk((9, 1), (9, 1), change), hunk((4, 1), (4, 1), change)]),
            ("overlap", vec![hunk((4, 2), (4, 2), &["-a", "+b", " c"]), hunk((5, 1), (6, 1), change)]),
            ("no sign", vec![hunk((4, 1), (4, 1), &["-a", "+b", ""])]),
            ("another note", vec![hunk((4, 1), (4, 1), &["-a", "+b", "\\ x"])]),
            ("a note on nothing", vec![hunk((4, 1), (4, 1), &[NO_NEWLINE, "-a", "+b"])]),
            ("a note twice", vec![hunk((4, 1), (4, 1), &["-a", "+b", NO_NEWLINE, NO_NEWLINE])]),
            ("a line after the last", vec![hunk((4, 2), (4, 0), &["-a", NO_NEWLINE, "-b"])]),
            ("a hunk after the last", vec![hunk((4, 0), (4, 1), &["+a", NO_NEWLINE]), hunk((8, 1), (9, 1), change)]),
            ("two lines in one", vec![hunk((4, 1), (4, 1), &["-a", "+b\n+c"])]),
        ] {
            assert_eq!(from_hunks("/p", &hunks), None, "{fault}");
        }
    }
}
