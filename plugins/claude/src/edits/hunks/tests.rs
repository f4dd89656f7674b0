//! Hunks that fit the file before are placed, and what a tool makes of them is the file after; others are not.

use crate::edits::Diff;
use crate::edits::simulation::apply;
use crate::edits::tests::{edit, partial_diff, placed_diff};

/// A hunk as the log has it: starts, lengths, and its lines one below the other.
fn hunk(old: (u64, u64), new: (u64, u64), lines: &[&str]) -> String {
    let ((old_start, old_lines), (new_start, new_lines)) = (old, new);
    format!(
        r#"{{"oldStart":{old_start},"oldLines":{old_lines},"newStart":{new_start},"newLines":{new_lines},"lines":{}}}"#,
        serde_json::to_string(lines).expect("a list")
    )
}

fn report(original: Option<&str>, texts: Option<(&str, &str)>, hunks: &[String]) -> Option<Diff> {
    let original = original.map_or(serde_json::Value::Null, Into::into);
    let texts = texts.map_or(String::new(), |(old, new)| {
        format!(r#","oldString":{},"newString":{}"#, serde_json::Value::from(old), serde_json::Value::from(new))
    });
    let hunks = hunks.join(",");
    let json = format!(r#"{{"filePath":"/p/a","originalFile":{original}{texts},"structuredPatch":[{hunks}]}}"#);
    edit(&json).map(|edit| edit.diff)
}

/// The report of an edit whose text after is `after` is told as a diff that makes that of `before`.
#[track_caller]
fn check(before: &str, texts: Option<(&str, &str)>, hunks: &[String], after: &str) -> String {
    let diff = report(Some(before), texts, hunks);
    let Some(Diff::Placed(diff)) = diff else { panic!("{diff:?} is not placed") };
    assert_eq!(apply(&diff, before).as_deref(), Ok(after), "{diff}");
    diff
}

/// Checks it with the replaced and the new text in the report, and with the hunks alone.
#[track_caller]
fn check_both(before: &str, texts: (&str, &str), hunks: &[String], after: &str) {
    check(before, Some(texts), hunks, after);
    check(before, None, hunks, after);
}

#[test]
fn hunks_of_another_file_give_way_to_the_texts() {
    let stale = [hunk((2, 1), (2, 1), &["-zzz", "+yyy"])];
    check("a\nb\nc\n", Some(("b", "B")), &stale, "a\nB\nc\n");
    let partial = partial_diff("@@ -2 +2 @@\n-zzz\n+yyy\n");
    assert_eq!(report(Some("a\nb\nc\n"), None, &stale), Some(partial));
}

#[test]
fn a_last_line_without_an_end_says_so_where_the_hunk_does_not() {
    let hunks = [hunk((1, 2), (1, 2), &[" a", "-b", "+B"])];
    check("a\nb", Some(("b", "B")), &hunks, "a\nB");
    // Whether the new line has an end cannot be known.
    assert_eq!(report(Some("a\nb"), None, &hunks), Some(partial_diff("@@ -1,2 +1,2 @@\n a\n-b\n+B\n")));
    check_both("a\nb", ("a", "A"), &[hunk((1, 2), (1, 2), &["-a", "+A", " b"])], "A\nb");
}

#[test]
fn an_end_that_the_hunk_notes_is_one_that_the_file_has() {
    let note = "\\ No newline at end of file";
    check_both("a\nb", ("b", "B"), &[hunk((1, 2), (1, 2), &[" a", "-b", note, "+B", note])], "a\nB");
    check("a\nb", None, &[hunk((1, 2), (1, 2), &[" a", "-b", note, "+B"])], "a\nB\n");
    check("a\nb\n", None, &[hunk((1, 2), (1, 2), &[" a", "-b", "+B", note])], "a\nB");
    // Here the notes are wrong, or something follows the end of the file.
    for lines in [&[" a", note, "-b", "+B"][..], &[" a", "-b", note, "+B"], &["+B", note, " a", "-b"]] {
        let diff = report(Some("a\nb\n"), None, &[hunk((1, 2), (1, 2), lines)]);
        assert!(!matches!(diff, Some(Diff::Placed(_))), "{lines:?}");
    }
    for lines in [&[" a", " b", "+c"][..], &[" a", " b", note, "+c"]] {
        let diff = report(Some("a\nb"), None, &[hunk((1, 2), (1, 3), lines)]);
        assert!(!matches!(diff, Some(Diff::Placed(_))), "{lines:?}");
    }
}

#[test]
fn carriage_returns_that_a_hunk_does_not_show_are_the_files_again() {
    let hunks = [hunk((1, 2), (1, 3), &[" a", "-b", "+B", "+C"])];
    check_both("a\r\nb\r\n", ("b", "B\r\nC"), &hunks, "a\r\nB\r\nC\r\n");
    check_both("a\r\nb\r\n", ("b", "B"), &[hunk((1, 2), (1, 2), &[" a\r", "-b\r", "+B\r"])], "a\r\nB\r\n");
    // The file has both kinds of ends, so what the new lines have is known from the texts only.
    let hunks = [hunk((1, 2), (1, 2), &[" a", "-b", "+B"])];
    check("a\r\nb\n", Some(("b", "B")), &hunks, "a\r\nB\n");
    assert!(matches!(report(Some("a\r\nb\n"), None, &hunks), Some(Diff::Partial(_))));
    assert!(matches!(report(Some("a\r\n"), None, &[hunk((2, 0), (2, 1), &["+b"])]), Some(Diff::Partial(_))));
}

#[test]
fn tabs_that_hunks_show_as_spaces_are_restored_or_the_hunks_are_not_believed() {
    let hunks = [hunk((1, 3), (1, 3), &["   a", "-    b", "+    B", "   c"])];
    let before = "\ta\n\t\tb\n  c\n";
    check(before, Some(("\t\tb", "\t\tB")), &hunks, "\ta\n\t\tB\n  c\n");
    assert_eq!(report(Some(before), None, &hunks), None);
    check(before, None, &[hunk((1, 3), (1, 3), &["   a", "-    b", "+B", "   c"])], "\ta\nB\n  c\n");
}

#[test]
fn hunks_that_no_tool_would_take_give_way() {
    let change = || hunk((2, 1), (2, 1), &["-b", "+B"]);
    for (fault, hunks) in [
        ("another note", vec![hunk((2, 1), (2, 1), &["-b", "+B", "\\ x"])]),
        ("the same twice", vec![change(), change()]),
        ("empty", vec![hunk((0, 0), (0, 0), &[])]),
        ("an empty line", vec![hunk((2, 1), (2, 1), &["-b", "", "+B"])]),
        ("a sign of two bytes", vec![hunk((2, 1), (2, 1), &["-b", "é", "+B"])]),
        ("two lines in one", vec![hunk((2, 1), (2, 1), &["-b", "+B\n+C"])]),
        ("no change", vec![hunk((2, 1), (2, 1), &[" b"])]),
        ("out of order", vec![hunk((4, 1), (4, 1), &["-d", "+D"]), change()]),
        ("overlap", vec![hunk((1, 2), (1, 2), &["-a", "+A", " b"]), change()]),
        ("far away", vec![hunk((u64::MAX, 1), (u64::MAX, 1), &["-b", "+B"])]),
        ("lines do not add up", vec![hunk((2, 2), (2, 1), &["-b", "+B"])]),
    ] {
        let before = "a\nb\nc\nd\n";
        check(before, Some(("b", "B")), &hunks, "a\nB\nc\nd\n");
        let without_file =
            partial_diff("@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n");
        assert_eq!(report(None, Some(("b", "B")), &hunks), Some(without_file), "{fault}");
        let without_texts = r#"{"filePath":"/p/a","structuredPatch":["#.to_owned() + &hunks.join(",") + "]}";
        assert_eq!(edit(&without_texts), None, "{fault}");
    }
}

#[test]
fn well_formed_hunks_are_placed_where_the_file_is_not_known() {
    let hunks = [hunk((2, 1), (2, 2), &["-b", "+B", "+C"]), hunk((9, 0), (10, 1), &["+x"])];
    assert_eq!(report(None, None, &hunks), Some(placed_diff("@@ -2 +2,2 @@\n-b\n+B\n+C\n@@ -8,0 +10 @@\n+x\n")));
}

#[test]
fn hunks_that_make_another_text_than_what_was_replaced_give_way() {
    for lines in [&[" a", "-b", "+yyy", " c"][..], &[" a", "-b", " c"], &["+B", " a", " b", " c"]] {
        let count = |signs: [char; 2]| lines.iter().filter(|line| line.starts_with(signs)).count() as u64;
        let hunks = [hunk((1, count([' ', '-'])), (1, count([' ', '+'])), lines)];
        check("a\nb\nc\n", Some(("b", "B")), &hunks, "a\nB\nc\n");
    }
}

#[test]
fn a_hunk_that_no_context_ends_is_given_some() {
    let diff = check("a\nb\nc\n", None, &[hunk((2, 1), (2, 1), &["-b", "+B"])], "a\nB\nc\n");
    assert_eq!(diff, "--- a/p/a\n+++ b/p/a\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
    check("a\nb\n", Some(("", "")), &[hunk((1, 0), (1, 1), &["+x"])], "x\na\nb\n");
}

#[test]
fn the_new_line_numbers_are_counted_and_not_taken_from_the_log() {
    let diff = check("a\nb\nc\n", None, &[hunk((2, 2), (7, 2), &["-b", "+B", " c"])], "a\nB\nc\n");
    assert_eq!(diff, "--- a/p/a\n+++ b/p/a\n@@ -2,2 +2,2 @@\n-b\n+B\n c\n");
}

#[test]
fn lines_that_begin_like_a_header_are_lines() {
    let before = "-- a/x\n++ b/x\n";
    check_both(
        before,
        ("-- a/x\n++ b/x\n", "@@ -1 +1 @@\n"),
        &[hunk((1, 2), (1, 1), &["--- a/x", "-++ b/x", "+@@ -1 +1 @@"])],
        "@@ -1 +1 @@\n",
    );
}

#[test]
fn a_line_that_is_added_twice_at_one_place_is_added_once() {
    let added = || hunk((1, 0), (1, 1), &["+x"]);
    check("", Some(("", "x\n")), &[added(), added()], "x\n");
}
