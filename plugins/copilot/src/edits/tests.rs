//! Which diff comes of which evidence.

use toolpath_plugin_api::kit::json::quoted;

use super::{Diff, Edit};

/// `operation diff` of each file, by the words `placed`, `partial` and `none`.
#[track_caller]
fn check(name: &str, arguments: &str, detailed: Option<&str>, expected: &[(&str, Option<&str>, &str, &str)]) {
    let edits = Edit::of(name, arguments, detailed, Some("/w"));
    let found: Vec<_> = edits
        .iter()
        .map(|edit| {
            let (word, diff) = match &edit.diff {
                Diff::Placed(diff) => ("placed", diff.as_str()),
                Diff::Partial(diff) => ("partial", diff.as_str()),
                Diff::Unknown => ("none", ""),
            };
            (edit.path.as_str(), edit.operation, word, diff)
        })
        .collect();
    assert_eq!(found, expected, "{name} {arguments}");
}

const ADDED: &str = "--- a/w/a\n+++ b/w/a\n@@ -0,0 +1 @@\n+x\n";
const CHANGED: &str = "--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-x\n+y\n";

fn shown(path: &str, header: &str, hunks: &str) -> String {
    format!("\ndiff --git a/{path} b/{path}\n{header}index 0000000..0000000\n{hunks}")
}

#[test]
fn a_file_that_the_result_shows_as_new_is_added_whole() {
    let detailed = shown("w/a", "create file mode 100644\n", "--- a/dev/null\n+++ b/w/a\n@@ -1,0 +1,2 @@\n+x\n+\n");
    let arguments = r#"{"path":"/w/a","file_text":"x\n"}"#;
    check("create", arguments, Some(&detailed), &[("/w/a", Some("add"), "placed", ADDED)]);
    let detailed = shown("w/a", "create file mode 100644\n", "--- a/dev/null\n+++ b/w/a\n@@ -1,0 +1,1 @@\n+x\n");
    check("create", arguments, Some(&detailed), &[("/w/a", Some("add"), "placed", ADDED)]);
    let without = "--- a/w/a\n+++ b/w/a\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n";
    check("create", r#"{"path":"a","file_text":"x"}"#, Some(&detailed), &[("/w/a", Some("add"), "placed", without)]);
}

#[test]
fn without_that_it_may_have_been_there_before() {
    let arguments = r#"{"path":"/w/a","file_text":"x\n"}"#;
    for detailed in
        [None, Some("Created file"), Some("diff --git a/w/a b/w/a\n--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-y\n+x\n")]
    {
        check("create", arguments, detailed, &[("/w/a", None, "partial", ADDED)]);
    }
    let other = shown("w/b", "create file mode 100644\n", "--- a/dev/null\n+++ b/w/b\n@@ -1,0 +1,1 @@\n+x\n");
    check("create", arguments, Some(&other), &[("/w/a", None, "partial", ADDED)]);
    check("create", r#"{"path":"/w/a"}"#, None, &[("/w/a", None, "none", "")]);
    check("create", r#"{"path":"/w/a","file_text":""}"#, None, &[("/w/a", None, "none", "")]);
}

#[test]
fn a_result_that_shows_the_change_tells_its_place() {
    let detailed = shown("w/a", "", "--- a/w/a\n+++ b/w/a\n@@ -7,7 +7,7 @@\n n\n o\n p\n-x\n+y\n q\n r\n s\n");
    let placed = "--- a/w/a\n+++ b/w/a\n@@ -7,6 +7,6 @@\n n\n o\n p\n-x\n+y\n q\n r\n";
    check(
        "edit",
        r#"{"path":"/w/a","old_str":"x","new_str":"y"}"#,
        Some(&detailed),
        &[("/w/a", Some("update"), "placed", placed)],
    );
}

#[test]
fn a_result_that_shows_another_change_or_none_does_not() {
    let arguments = r#"{"path":"/w/a","old_str":"x\n","new_str":"y\n"}"#;
    let other = shown("w/a", "", "--- a/w/a\n+++ b/w/a\n@@ -7 +7 @@\n-x\n+z\n");
    // What `view` shows has no change in it.
    let view = shown("w/a", "", "--- a/w/a\n+++ b/w/a\n@@ -7,2 +7,2 @@\n x\n y\n");
    for detailed in [None, Some(other.as_str()), Some(view.as_str()), Some("File updated")] {
        check("edit", arguments, detailed, &[("/w/a", Some("update"), "partial", CHANGED)]);
    }
    check("edit", r#"{"path":"/w/a","old_str":"x","new_str":"x"}"#, None, &[("/w/a", Some("update"), "none", "")]);
    check("edit", r#"{"path":"/w/a","old_str":"x"}"#, None, &[("/w/a", Some("update"), "none", "")]);
    check("edit", r#"{"old_str":"x","new_str":"y"}"#, None, &[]);
    check("edit", "null", None, &[]);
}

#[test]
fn the_old_editor_does_what_its_command_says() {
    let name = "str_replace_editor";
    check(name, r#"{"command":"create","path":"/w/a","file_text":"x\n"}"#, None, &[("/w/a", None, "partial", ADDED)]);
    check(
        name,
        r#"{"command":"str_replace","path":"/w/a","old_str":"x\n","new_str":"y\n"}"#,
        None,
        &[("/w/a", Some("update"), "partial", CHANGED)],
    );
    check(
        name,
        r#"{"command":"insert","path":"/w/a","insert_line":3,"new_str":"x\n"}"#,
        None,
        &[("/w/a", Some("update"), "partial", ADDED)],
    );
    check("delete_file", r#"{"path":"/w/a"}"#, None, &[("/w/a", Some("delete"), "none", "")]);
}

#[test]
fn a_patch_writes_each_of_its_files() {
    let patch =
        "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Add File: /w/b\n+z\n*** Delete File: c\n*** End Patch";
    let added = "--- a/w/b\n+++ b/w/b\n@@ -0,0 +1 @@\n+z\n";
    let rest = [("/w/b", Some("add"), "partial", added), ("/w/c", Some("delete"), "none", "")];
    let unplaced = [("/w/a", Some("update"), "partial", CHANGED), rest[0], rest[1]];
    for arguments in [quoted(patch), format!(r#"{{"input":{}}}"#, quoted(patch))] {
        check("apply_patch", &arguments, None, &unplaced);
    }
    let placed = "--- a/w/a\n+++ b/w/a\n@@ -1,3 +1,3 @@\n-x\n+y\n p\n q\n";
    let detailed = shown("w/a", "", "--- a/w/a\n+++ b/w/a\n@@ -1,4 +1,4 @@\n-x\n+y\n p\n q\n r\n");
    let expected = [("/w/a", Some("update"), "placed", placed), rest[0], rest[1]];
    check("apply_patch", &quoted(patch), Some(&detailed), &expected);
    let new = shown("w/b", "create file mode 100644\n", "--- a/dev/null\n+++ b/w/b\n@@ -1,0 +1,1 @@\n+z\n");
    let expected = [expected[0], ("/w/b", Some("add"), "placed", added), rest[1]];
    check("apply_patch", &quoted(patch), Some(&(detailed + &new)), &expected);
}

#[test]
fn a_file_that_moves_says_where_to() {
    let patch = "*** Update File: a\n*** Move to: d/b\n-x\n+y\n";
    let edits = Edit::of("apply_patch", &quoted(patch), None, Some("/w"));
    assert_eq!(edits[0].to.as_deref(), Some("/w/d/b"));
}
