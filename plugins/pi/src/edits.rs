//! What a call of `write` or `edit` replaces by what, as its arguments tell.
//!
//! Where in the file that is, the log does not say in a form that can be relied on: the result's `details.diff` is made
//! for the screen. So every diff is a partial one. Whether the file was written, the call's result decides.

use toolpath_plugin_api::MutationRecord;
use toolpath_plugin_api::kit::diff::unified;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::path;

use crate::content::Call;
use crate::shape::Arguments;
use crate::tools::{EDIT, WRITE};

/// One write to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    path: String,
    call: String,
    is_update: bool,
    /// `None` where nothing changed, or the arguments do not tell.
    diff: Option<String>,
}

impl Edit {
    /// The writes that `call` asks for, made in `working_dir`.
    pub(crate) fn of(call: &Call<'_>, working_dir: Option<&str>) -> Vec<Self> {
        let is_update = match &*call.name {
            EDIT => true,
            WRITE => false,
            _ => return Vec::new(),
        };
        let Some(arguments) = call.arguments.object::<Arguments<'_>>() else { return Vec::new() };
        let Some(path) = arguments.path.filled() else { return Vec::new() };
        let path = absolute(&path, working_dir);
        let edit = |diff| Self { path: path.clone(), call: call.id.clone().into_owned(), is_update, diff };
        if !is_update {
            let content = arguments.content.text().unwrap_or_default();
            return vec![edit(changed(&path, "", &content))];
        }
        let mut edits: Vec<_> = replacements(&arguments, |old, new| edit(changed(&path, old, new)));
        if edits.is_empty() {
            edits.push(edit(None));
        }
        edits
    }

    /// As it is told.
    pub(crate) fn record(&self) -> MutationRecord<'_> {
        let record = MutationRecord::new(&self.path).tool_id(&self.call);
        // Whether `write` made the file or wrote over another, nothing tells.
        let record = if self.is_update { record.operation("update") } else { record };
        match &self.diff {
            Some(diff) => record.partial_diff(diff),
            None => record,
        }
    }
}

fn changed(path: &str, old: &str, new: &str) -> Option<String> {
    (old != new).then(|| unified(path, old, new))
}

/// The replacements of an `edit`: a list, the same list as a text, or one on its own in older versions.
fn replacements<T>(arguments: &Arguments<'_>, mut made: impl FnMut(&str, &str) -> T) -> Vec<T> {
    let mut all = Vec::new();
    let text = arguments.edits.text();
    let list = match text.as_deref() {
        Some(text) => Field::parse(text).list(),
        None => arguments.edits.list(),
    };
    for one in list.unwrap_or_default() {
        let one: Arguments<'_> = one.object().unwrap_or_default();
        if let (Some(old), Some(new)) = (one.old.text(), one.new.text()) {
            all.push(made(&old, &new));
        }
    }
    if let (Some(old), Some(new)) = (arguments.old.text(), arguments.new.text()) {
        all.push(made(&old, &new));
    }
    all
}

fn absolute(path: &str, working_dir: Option<&str>) -> String {
    // A home folder's place is not in the log.
    path::absolute(path, working_dir.filter(|_| !path.starts_with('~')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, arguments: &str, expected: &[(&str, Option<&str>)]) {
        let arguments = Field::parse(arguments);
        let call = Call { id: "t".into(), name: name.into(), arguments };
        let edits = Edit::of(&call, Some("/w"));
        let found: Vec<_> = edits.iter().map(|edit| (&*edit.path, edit.diff.as_deref())).collect();
        assert_eq!(found, expected);
        assert!(edits.iter().all(|edit| edit.call == "t" && edit.is_update == (name == EDIT)));
    }

    const DIFF: &str = "--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-x\n+y\n";
    const MORE: &str = "--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-v\n+w\n";

    #[test]
    fn a_write_adds_all_lines_of_its_content() {
        check(WRITE, r#"{"path":"a","content":"x\n"}"#, &[("/w/a", Some("--- a/w/a\n+++ b/w/a\n@@ -0,0 +1 @@\n+x\n"))]);
        check(WRITE, r#"{"path":"/b","content":""}"#, &[("/b", None)]);
        check(WRITE, r#"{"path":"/b"}"#, &[("/b", None)]);
    }

    #[test]
    fn an_edit_may_be_a_list_a_list_in_a_text_or_one_alone() {
        let list = r#"[{"oldText":"x\n","newText":"y\n"},{"oldText":"v\n","newText":"w\n"}]"#;
        let both = [("/w/a", Some(DIFF)), ("/w/a", Some(MORE))];
        check(EDIT, &format!(r#"{{"path":"./a","edits":{list}}}"#), &both);
        let text = toolpath_plugin_api::kit::json::quoted(list);
        check(EDIT, &format!(r#"{{"file_path":"a","edits":{text}}}"#), &both);
        check(EDIT, r#"{"path":"a","oldText":"x\n","newText":"y\n"}"#, &both[..1]);
    }

    #[test]
    fn an_edit_that_changes_or_tells_nothing_has_no_diff() {
        check(EDIT, r#"{"path":"a","oldText":"x","newText":"x"}"#, &[("/w/a", None)]);
        for arguments in [
            r#"{"path":"a","oldText":"x"}"#,
            r#"{"path":"a","edits":"[{"}"#,
            r#"{"path":"a","edits":[7,{"oldText":1,"newText":"y"}]}"#,
            r#"{"path":"a","edits":{}}"#,
        ] {
            check(EDIT, arguments, &[("/w/a", None)]);
        }
    }

    #[test]
    fn other_calls_and_calls_without_a_path_write_nothing() {
        check("read", r#"{"path":"a"}"#, &[]);
        check(EDIT, r#"{"oldText":"x","newText":"y"}"#, &[]);
        check(EDIT, r#"{"path":7}"#, &[]);
        check(WRITE, "\"a\"", &[]);
        check(WRITE, "null", &[]);
    }

    #[test]
    fn a_path_is_taken_from_the_sessions_folder() {
        for (path, dir, expected) in [
            ("a", Some("/w/"), "/w/a"),
            ("a", None, "a"),
            ("~/a", Some("/w"), "~/a"),
            ("/a", Some("/w"), "/a"),
            ("C:\\a", Some("/w"), "C:\\a"),
            ("a", Some("w"), "a"),
        ] {
            assert_eq!(absolute(path, dir), expected);
        }
    }
}
