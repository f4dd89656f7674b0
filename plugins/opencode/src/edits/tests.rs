use super::*;

#[track_caller]
fn check(tool: &str, input: &str, metadata: &str, expected: &[Edit]) {
    let field = |json| Field::of(serde_json::from_str(json).expect("JSON"));
    assert_eq!(of(tool, field(input), field(metadata), Some("/w")), expected, "{tool} {input} {metadata}");
}

fn update(path: &str, diff: Diff) -> Edit {
    Edit::new(path.to_owned(), "update", diff)
}

const HEADER: &str = "--- a/w/f\n+++ b/w/f\n";

fn placed_as(hunks: &str) -> Diff {
    Diff::Placed(format!("{HEADER}{hunks}"))
}

fn partial(hunks: &str) -> Diff {
    Diff::Partial(format!("{HEADER}{hunks}"))
}

#[test]
fn the_file_before_and_after_is_the_best_evidence() {
    check(
        "edit",
        r#"{"filePath":"f","oldString":"b","newString":"c"}"#,
        r#"{"filediff":{"file":"/w/f","before":"a\nb\n","after":"a\nc\n","additions":1}}"#,
        &[update("/w/f", placed_as("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"))],
    );
    check(
        "edit",
        r#"{"filePath":"/w/f","oldString":"b","newString":"c"}"#,
        r#"{"filediff":{"file":"/w/f","before":"a\n","after":"a\n"}}"#,
        &[update("/w/f", Diff::Unknown)],
    );
}

#[test]
fn a_shown_diff_is_believed_where_the_call_proves_its_indentation() {
    let shown = r#"Index: /w/f\n===\n--- /w/f\n+++ /w/f\n@@ -7,2 +7,3 @@\n if x:\n-    y\n+    z\n+    w\n"#;
    check(
        "edit",
        r#"{"filePath":"/w/f","oldString":"y","newString":"z\n    w"}"#,
        &format!(r#"{{"filediff":{{"file":"/w/f","patch":"{shown}"}}}}"#),
        &[update("/w/f", placed_as("@@ -7,2 +7,3 @@\n if x:\n-    y\n+    z\n+    w\n"))],
    );
    check(
        "edit",
        r#"{"filePath":"/w/f","oldString":"if x:\n    y","newString":"z"}"#,
        &format!(r#"{{"diff":"{shown}"}}"#),
        &[update("/w/f", placed_as("@@ -7,2 +7,3 @@\n if x:\n-    y\n+    z\n+    w\n"))],
    );
}

#[test]
fn a_shown_diff_that_may_have_lost_indentation_is_not_believed() {
    let shown = r#"--- /w/f\n+++ /w/f\n@@ -7 +7,2 @@\n-y\n+z\n+w\n"#;
    check(
        "edit",
        r#"{"filePath":"/w/f","oldString":"y","newString":"z\n    w"}"#,
        &format!(r#"{{"diff":"{shown}"}}"#),
        &[update(
            "/w/f",
            partial("@@ -1 +1,2 @@\n-y\n\\ No newline at end of file\n+z\n+    w\n\\ No newline at end of file\n"),
        )],
    );
    check(
        "edit",
        r#"{"filePath":"/w/f","oldString":"y\n","newString":"z\n"}"#,
        r#"{"diff":"--- /w/f\n+++ /w/f\n@@ -7 +7 @@\n-y\n+z\n"}"#,
        &[update("/w/f", partial("@@ -1 +1 @@\n-y\n+z\n"))],
    );
}

#[test]
fn a_created_file_is_all_new_and_an_overwritten_one_has_an_end() {
    check(
        "write",
        r#"{"filePath":"/w/f","content":"a\n"}"#,
        r#"{"exists":false,"filepath":"/w/f"}"#,
        &[Edit::new("/w/f".to_owned(), "add", placed_as("@@ -0,0 +1 @@\n+a\n"))],
    );
    check(
        "write",
        r#"{"filePath":"f","content":"a\n"}"#,
        r#"{"exists":true}"#,
        &[Edit { after: Some("a\n".to_owned()), ..update("/w/f", Diff::Unknown) }],
    );
}

#[test]
fn each_edit_of_several_is_one() {
    check(
        "multiedit",
        r#"{"filePath":"/w/f","edits":[{"oldString":"a\n","newString":"b\n"},{"oldString":"c\n","newString":"d\n"},7]}"#,
        r#"{"results":[{"filediff":{"file":"/w/f","before":"a\nc\n","after":"b\nc\n"}}]}"#,
        &[update("/w/f", placed_as("@@ -1,2 +1,2 @@\n-a\n+b\n c\n")), update("/w/f", partial("@@ -1 +1 @@\n-c\n+d\n"))],
    );
}

#[test]
fn a_patch_is_told_by_its_files_or_by_its_text() {
    check(
        "apply_patch",
        r#"{"patchText":"*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch"}"#,
        r#"{"files":[{"filePath":"/w/f","type":"move","before":"a\n","after":"b\n","movePath":"/w/g"}]}"#,
        &[Edit { to: Some("/w/g".to_owned()), ..update("/w/f", placed_as("@@ -1 +1 @@\n-a\n+b\n")) }],
    );
    check(
        "apply_patch",
        r#"{"patchText":"*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch"}"#,
        r#"{"patch":"Index: /w/f\n===\n--- /w/f\n+++ /w/f\n@@ -3 +3 @@\n-  a\n+  b\n\n","files":[{"filePath":"/w/f","type":"update","patch":"-a\n+b"}]}"#,
        &[update("/w/f", placed_as("@@ -3 +3 @@\n-  a\n+  b\n"))],
    );
    check(
        "patch",
        r#"{"patchText":"*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch"}"#,
        r#"{"files":["f"]}"#,
        &[update("/w/f", partial("@@ -1 +1 @@\n-a\n+b\n"))],
    );
}

#[test]
fn what_tells_no_file_writes_none() {
    for tool in ["edit", "write", "multiedit", "apply_patch", "bash"] {
        check(tool, "{}", "null", &[]);
        check(tool, "[7]", r#"{"filediff":7,"files":{},"results":"x"}"#, &[]);
    }
}
