//! What is made of each kind of report, the bad ones included.

use super::*;

#[track_caller]
pub(super) fn edit(json: &str) -> Option<Edit> {
    let outcome: Outcome<'_> = serde_json::from_str(json).expect("an outcome");
    Edit::of(&outcome, Some("/srv/demo"))
}

#[track_caller]
fn check(json: &str, operation: &str, diff: Diff) {
    let edit = edit(json).expect("an edit");
    assert_eq!((&*edit.path, edit.operation, edit.diff), ("/p/a", Some(operation), diff), "{json}");
}

pub(super) fn placed_diff(hunks: &str) -> Diff {
    Diff::Placed(format!("--- a/p/a\n+++ b/p/a\n{hunks}"))
}

pub(super) fn partial_diff(hunks: &str) -> Diff {
    Diff::Partial(format!("--- a/p/a\n+++ b/p/a\n{hunks}"))
}

#[test]
fn hunks_are_the_diff() {
    check(
        r#"{"filePath":"/p/a","oldString":"b","newString":"B","originalFile":null,"structuredPatch":[
            {"oldStart":7,"oldLines":2,"newStart":7,"newLines":2,"lines":[" a","-b","+B","\\ No newline at end of file"]}]}"#,
        "update",
        placed_diff("@@ -7,2 +7,2 @@\n a\n-b\n+B\n\\ No newline at end of file\n"),
    );
}

#[test]
fn tabs_that_the_hunks_show_as_spaces_are_the_files_again() {
    check(
        r#"{"filePath":"/p/a","oldString":"\tb","newString":"\t\tB","originalFile":"a\n\tb\n  c\n","structuredPatch":[
            {"oldStart":1,"oldLines":3,"newStart":1,"newLines":3,"lines":[" a","-  b","+    B","   c"]}]}"#,
        "update",
        placed_diff("@@ -1,3 +1,3 @@\n a\n-\tb\n+\t\tB\n   c\n"),
    );
}

#[test]
fn hunks_that_lost_their_tabs_are_not_believed_without_the_file() {
    check(
        r#"{"filePath":"/p/a","oldString":"\tb","newString":"\tB","originalFile":null,"structuredPatch":[
            {"oldStart":7,"oldLines":1,"newStart":7,"newLines":1,"lines":["-  b","+  B"]}]}"#,
        "update",
        partial_diff("@@ -1 +1 @@\n-\tb\n\\ No newline at end of file\n+\tB\n\\ No newline at end of file\n"),
    );
}

#[test]
fn the_place_of_hunks_beyond_the_recorded_file_is_not_known() {
    // Later versions record only the beginning of a long file.
    check(
        r#"{"filePath":"/p/a","oldString":"b","newString":"B","originalFile":"start","structuredPatch":[
            {"oldStart":90,"oldLines":1,"newStart":90,"newLines":1,"lines":["-b","+B"]}]}"#,
        "update",
        partial_diff("@@ -90 +90 @@\n-b\n+B\n"),
    );
}

#[test]
fn bad_hunks_give_way_to_the_file_before() {
    for hunk in [
        r#"{"oldStart":1,"oldLines":5,"newStart":1,"newLines":1,"lines":["-b","+B"]}"#,
        r#"{"oldStart":-1,"oldLines":1,"newStart":1e999,"newLines":1,"lines":["-b","+B"]}"#,
        r#"{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-b","","+B"]}"#,
        r#"{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-b","+B\n+C"]}"#,
        r#"{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":"-b"}"#,
        "7",
    ] {
        check(
            &format!(
                r#"{{"filePath":"/p/a","oldString":"b","newString":"B","originalFile":"b\n","structuredPatch":[{hunk}]}}"#
            ),
            "update",
            placed_diff("@@ -1 +1 @@\n-b\n+B\n"),
        );
    }
}

#[test]
fn hunks_far_beyond_the_file_do_no_harm() {
    let edit = edit(
        r#"{"filePath":"/p/a","originalFile":"b","content":"c","type":"update","structuredPatch":[
            {"oldStart":18446744073709551615,"oldLines":1,"newStart":18446744073709551615,"newLines":1,"lines":["-b","+c"]}]}"#,
    );
    assert!(edit.is_some());
}

#[test]
fn a_range_without_lines_starts_one_line_earlier() {
    check(
        r#"{"filePath":"/p/a","oldString":"","newString":"x\n","originalFile":"","structuredPatch":[
            {"oldStart":1,"oldLines":0,"newStart":1,"newLines":1,"lines":["+x"]}]}"#,
        "update",
        placed_diff("@@ -0,0 +1 @@\n+x\n"),
    );
}

#[test]
fn a_created_file_is_added_as_a_whole() {
    let diff = || placed_diff("@@ -0,0 +1,2 @@\n+x\n+y\n");
    check(
        r#"{"type":"create","filePath":"/p/a","content":"x\ny\n","structuredPatch":[],"originalFile":null}"#,
        "add",
        diff(),
    );
    check(r#"{"filePath":"/p/a","content":"x\ny\n","structuredPatch":[]}"#, "add", diff());
    check(r#"{"type":"create","filePath":"/p/a","content":""}"#, "add", Diff::Unknown);
}

#[test]
fn a_file_that_was_there_is_not_added() {
    check(
        r#"{"type":"create","filePath":"/p/a","content":"y\n","structuredPatch":[],"originalFile":"x\n"}"#,
        "update",
        placed_diff("@@ -1 +1 @@\n-x\n+y\n"),
    );
    check(r#"{"filePath":"/p/a","content":"x\n","structuredPatch":[7]}"#, "update", Diff::Unknown);
}

#[test]
fn a_file_written_anew_is_compared_with_what_it_was() {
    check(
        r#"{"type":"update","filePath":"/p/a","content":"y\n","structuredPatch":[],"originalFile":"x\n"}"#,
        "update",
        placed_diff("@@ -1 +1 @@\n-x\n+y\n"),
    );
    check(r#"{"type":"update","filePath":"/p/a","content":"x","originalFile":"x"}"#, "update", Diff::Unknown);
    check(r#"{"type":"update","filePath":"/p/a","content":"x","originalFile":null}"#, "update", Diff::Unknown);
}

#[test]
fn a_replacement_is_made_once_or_throughout() {
    let json = |all| {
        format!(
            r#"{{"filePath":"/p/a","oldString":"b","newString":"$&","originalFile":"b\nb\n","replaceAll":{all},"structuredPatch":[]}}"#
        )
    };
    check(&json(false), "update", placed_diff("@@ -1,2 +1,2 @@\n-b\n+$&\n b\n"));
    check(&json(true), "update", placed_diff("@@ -1,2 +1,2 @@\n-b\n-b\n+$&\n+$&\n"));
}

#[test]
fn a_deleted_line_takes_its_end_along() {
    assert_eq!(replaced("a\nb\nc\n", "b", "", false).as_deref(), Some("a\nc\n"));
    assert_eq!(replaced("a b c", "b", "", false).as_deref(), Some("a  c"));
    assert_eq!(replaced("", "", "new", false).as_deref(), Some("new"));
    assert_eq!(replaced("a", "", "new", true), None);
    assert_eq!(replaced("a", "b", "c", true), None);
}

#[test]
fn a_replacement_that_would_fill_the_memory_is_not_made() {
    let (text, new) = ("a".repeat(100_000), "b".repeat(10_000));
    assert_eq!(replaced(&text, "a", &new, true), None);
}

#[test]
fn without_the_file_only_what_was_replaced_is_known() {
    check(
        r#"{"filePath":"/p/a","oldString":"b\n","newString":"B\n","originalFile":null}"#,
        "update",
        partial_diff("@@ -1 +1 @@\n-b\n+B\n"),
    );
    // The recorded file may be cut short, and then it does not hold what was replaced.
    check(
        r#"{"filePath":"/p/a","oldString":"b\n","newString":"B\n","originalFile":"a","structuredPatch":[]}"#,
        "update",
        partial_diff("@@ -1 +1 @@\n-b\n+B\n"),
    );
}

#[test]
fn a_notebook_is_updated_without_a_diff() {
    check(r#"{"notebook_path":"/p/a","new_source":"x","cell_id":"c","error":""}"#, "update", Diff::Unknown);
    assert_eq!(edit(r#"{"notebook_path":"/p/a","new_source":"x","error":"no such cell"}"#), None);
}

#[test]
fn reports_of_other_tools_are_no_edits() {
    for json in [
        "{}",
        r#"{"stdout":"x","stderr":""}"#,
        r#"{"type":"text","file":{"filePath":"/p/a","content":"x"}}"#,
        r#"{"plan":"x","filePath":"/p/plan.md"}"#,
        r#"{"filePath":"/p/a","edits":[{"old_string":"a","new_string":"b"}]}"#,
        r#"{"filePath":7,"content":"x"}"#,
    ] {
        assert_eq!(edit(json), None, "{json}");
    }
}

#[test]
fn a_path_is_absolute_when_it_can_be() {
    let check = |path: &str, cwd: Option<&str>, expected: &str| assert_eq!(absolute(path, cwd), expected);
    check("a.txt", Some("/srv/demo/"), "/srv/demo/a.txt");
    check("./a.txt", Some("/srv/demo"), "/srv/demo/a.txt");
    check("/a.txt", Some("/srv"), "/a.txt");
    check("C:\\a.txt", Some("/srv"), "C:\\a.txt");
    check("a.txt", Some("C:\\x"), "C:\\x/a.txt");
    check("a.txt", Some("srv"), "a.txt");
    check("a.txt", None, "a.txt");
}

#[test]
fn several_replacements_are_made_one_after_the_other() {
    let log = |original: &str, patch: &str| {
        format!(
            r#"{{"filePath":"/p/a","originalFileContents":{original},"structuredPatch":{patch},"edits":[
                {{"old_string":"a","new_string":"b"}},{{"old_string":"b","new_string":"c","replace_all":true}},{{"old_string":"x","new_string":"x"}}]}}"#
        )
    };
    check(&log(r#""a\nb\nx\n""#, "[]"), "update", placed_diff("@@ -1,3 +1,3 @@\n-a\n-b\n+c\n+c\n x\n"));
    let hunk = r#"[{"oldStart":1,"oldLines":3,"newStart":1,"newLines":3,"lines":["-a","-b","+c","+c"," x"]}]"#;
    check(&log(r#""a\nb\nx\n""#, hunk), "update", placed_diff("@@ -1,3 +1,3 @@\n-a\n-b\n+c\n+c\n x\n"));
    // What was replaced by what is told by the call as well.
    for original in ["null", r#""cut sh""#] {
        assert_eq!(edit(&log(original, "[]")), None);
    }
}

#[test]
fn a_notebook_has_a_diff_where_its_texts_are_recorded() {
    let log = |more: &str| format!(r#"{{"notebook_path":"/p/a","new_source":"x","edit_mode":"replace"{more}}}"#);
    check(
        &log(r#","original_file":"{1}\n","updated_file":"{2}\n","error":"""#),
        "update",
        placed_diff("@@ -1 +1 @@\n-{1}\n+{2}\n"),
    );
    check(&log(r#","original_file":"{1}\n""#), "update", Diff::Unknown);
    assert_eq!(edit(&log(r#","original_file":"","updated_file":"","error":"no such cell""#)), None);
}

#[test]
fn what_a_command_changed_is_told_file_by_file() {
    let outcome: Outcome<'_> = serde_json::from_str(
        r#"{"stdout":"","bashEditDiff":{"files":[
            {"filePath":"/p/a","hunks":[{"oldStart":1,"oldLines":1,"newStart":1,"newLines":1,"lines":["-a","+b"]}]},
            {"filePath":"b","hunks":"odd"},{"hunks":[]},7],"moreFiles":2,"changedFiles":["/p/a","/srv/demo/b","c",7,""]}}"#,
    )
    .expect("an outcome");
    let edits = Edit::all_of(&outcome, Some("/srv/demo"));
    let told: Vec<_> = edits.iter().map(|edit| (edit.path(), edit.operation, &edit.diff)).collect();
    assert_eq!(
        told,
        [
            ("/p/a", None, &partial_diff("@@ -1 +1 @@\n-a\n+b\n")),
            ("/srv/demo/b", None, &Diff::Unknown),
            ("/srv/demo/c", None, &Diff::Unknown),
        ]
    );
}
