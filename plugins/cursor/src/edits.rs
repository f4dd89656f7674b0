//! What a tool's record tells of the files it wrote.
//!
//! Of the evidence the best is taken: the file before and after, which the editor keeps by their hashes; the chunks of a
//! diff; what was replaced by what; the path alone.

use toolpath_plugin_api::Category;
use toolpath_plugin_api::kit::diff::unified;
use toolpath_plugin_api::kit::edits::{Diff, Edit, envelope, placed};
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::path::absolute;

use crate::shape::{Args, Chunk, Edited};
use crate::tools;

/// The key of a text ends with its SHA-256; this is that of no text, which stands for a file that was not there.
const OF_NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// The writes of a call of the tool `tool`, of which each of `args` tells some arguments; `text_of` finds the text that a
/// key stands for.
pub(crate) fn of(
    tool: &str,
    args: &[Field<'_>],
    result: Field<'_>,
    text_of: &dyn Fn(&str) -> Option<String>,
    cwd: Option<&str>,
) -> Vec<Edit> {
    if tools::category_of(tool) != Category::FILE_WRITE {
        return Vec::new();
    }
    let args: Vec<Args<'_>> = args.iter().map(|args| args.object_or_default()).collect();
    let arg = |of: &dyn Fn(&Args<'_>) -> Option<String>| args.iter().find_map(of);
    let path = arg(&|args| args.path.filled().map(Into::into)).map(|path| absolute(&path, cwd));
    let Some(path) = path else {
        let patch = arg(&|args| args.patch.text().map(Into::into)).or_else(|| args_text(&args));
        return patch.map_or_else(Vec::new, |patch| envelope::edits(&patch, cwd));
    };
    if matches!(tool, "delete_file" | "Delete") {
        return vec![Edit::new(path, "delete", Diff::Unknown)];
    }
    let edited: Edited<'_> = result.object_or_default();
    if let Some(edit) = whole(&path, &edited, text_of) {
        return vec![edit];
    }
    let chunks = chunks(&path, &edited);
    if !chunks.is_empty() {
        return chunks;
    }
    let texts = arg(&|args| args.old.text().map(Into::into)).zip(arg(&|args| args.new.text().map(Into::into)));
    let contents = arg(&|args| args.contents.text().map(Into::into));
    let edit = match (texts, contents) {
        (Some((old, new)), _) if old != new => {
            Edit::new(path.clone(), "update", Diff::Partial(unified(&path, &old, &new)))
        }
        (None, after @ Some(_)) => Edit { after, ..Edit::new(path, "update", Diff::Unknown) },
        _ => Edit::new(path, "update", Diff::Unknown),
    };
    vec![edit]
}

/// A patch may be all that a call was given, without a name for it.
fn args_text(args: &[Args<'_>]) -> Option<String> {
    args.iter().find_map(|args| args.contents.text()).filter(|text| text.starts_with("*** ")).map(Into::into)
}

/// The write of a file whose texts before and after are kept.
fn whole(path: &str, edited: &Edited<'_>, text_of: &dyn Fn(&str) -> Option<String>) -> Option<Edit> {
    let (before, after) = (edited.before.filled(), edited.after.filled());
    if before.is_none() && after.is_none() {
        return None;
    }
    let text = |key: Option<&str>| match key {
        Some(key) if key.ends_with(OF_NOTHING) => Some(String::new()),
        Some(key) => text_of(key),
        None => None,
    };
    let is_new = before.as_deref().is_some_and(|key| key.ends_with(OF_NOTHING));
    let operation = if is_new { "add" } else { "update" };
    Some(match (text(before.as_deref()), text(after.as_deref())) {
        (Some(before), Some(after)) => Edit::new(path.to_owned(), operation, placed(path, &before, &after)),
        (_, after) => Edit { after, ..Edit::new(path.to_owned(), operation, Diff::Unknown) },
    })
}

/// The writes that the chunks of a diff tell; their numbers were seen in exporters only and are not believed.
fn chunks(path: &str, edited: &Edited<'_>) -> Vec<Edit> {
    let diff: Edited<'_> = edited.diff.object_or_default();
    let chunks = diff.chunks.list().unwrap_or_default();
    let chunks = chunks.iter().filter_map(|raw| {
        let chunk: Chunk<'_> = raw.object()?;
        let lines = chunk.lines.text()?;
        let (mut old, mut new) = (String::new(), String::new());
        for line in lines.lines() {
            let (sign, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
            match sign {
                "-" => old.extend([rest, "\n"]),
                "+" => new.extend([rest, "\n"]),
                " " => {
                    old.extend([rest, "\n"]);
                    new.extend([rest, "\n"]);
                }
                _ => return None,
            }
        }
        (old != new).then(|| Edit::new(path.to_owned(), "update", Diff::Partial(unified(path, &old, &new))))
    });
    chunks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tool: &str, args: &str, result: &str, expected: &[Edit]) {
        let field = |json| Field::of(serde_json::from_str(json).expect("JSON"));
        let text_of = |key: &str| match key {
            "composer.content.a" => Some("x\n".to_owned()),
            "composer.content.b" => Some("y\n".to_owned()),
            _ => None,
        };
        let edits = of(tool, &[field("null"), field(args)], field(result), &text_of, Some("/w"));
        assert_eq!(edits, expected, "{tool} {args} {result}");
    }

    fn edit(operation: &'static str, diff: Diff) -> Edit {
        Edit::new("/w/f".to_owned(), operation, diff)
    }

    const ARGS: &str = r#"{"relativeWorkspacePath":"f"}"#;

    #[test]
    fn the_texts_before_and_after_are_the_best_evidence() {
        check(
            "edit_file_v2",
            ARGS,
            r#"{"beforeContentId":"composer.content.a","afterContentId":"composer.content.b"}"#,
            &[edit("update", Diff::Placed("--- a/w/f\n+++ b/w/f\n@@ -1 +1 @@\n-x\n+y\n".to_owned()))],
        );
        check(
            "edit_file_v2",
            ARGS,
            &format!(r#"{{"beforeContentId":"composer.content.{OF_NOTHING}","afterContentId":"composer.content.b"}}"#),
            &[edit("add", Diff::Placed("--- a/w/f\n+++ b/w/f\n@@ -0,0 +1 @@\n+y\n".to_owned()))],
        );
        check(
            "edit_file_v2",
            ARGS,
            r#"{"beforeContentId":"composer.content.gone","afterContentId":"composer.content.b"}"#,
            &[Edit { after: Some("y\n".to_owned()), ..edit("update", Diff::Unknown) }],
        );
        check(
            "edit_file_v2",
            ARGS,
            r#"{"beforeContentId":"composer.content.a","afterContentId":"composer.content.a"}"#,
            &[edit("update", Diff::Unknown)],
        );
    }

    #[test]
    fn chunks_and_replaced_texts_have_no_place() {
        let partial = edit("update", Diff::Partial("--- a/w/f\n+++ b/w/f\n@@ -1,2 +1,2 @@\n k\n-x\n+y\n".to_owned()));
        check(
            "search_replace",
            r#"{"target_file":"f"}"#,
            r#"{"diff":{"chunks":[{"diffString":" k\n-x\n+y","oldStart":4,"newStart":4},{"diffString":"?"},7]}}"#,
            std::slice::from_ref(&partial),
        );
        check("StrReplace", r#"{"path":"f","old_string":"k\nx\n","new_string":"k\ny\n"}"#, "null", &[partial]);
    }

    #[test]
    fn a_written_file_has_an_end_and_a_deleted_one_is_gone() {
        let after = Some("y\n".to_owned());
        check(
            "Write",
            r#"{"path":"/w/f","contents":"y\n"}"#,
            "null",
            &[Edit { after, ..edit("update", Diff::Unknown) }],
        );
        check("Delete", r#"{"path":"/w/f"}"#, "null", &[edit("delete", Diff::Unknown)]);
        check("edit_file", r#"{"target_file":"f"}"#, "\"ok\"", &[edit("update", Diff::Unknown)]);
    }

    #[test]
    fn a_patch_is_told_by_its_text() {
        check(
            "ApplyPatch",
            r#"{"patch":"*** Begin Patch\n*** Delete File: f\n*** End Patch"}"#,
            "null",
            &[edit("delete", Diff::Unknown)],
        );
    }

    #[test]
    fn what_tells_no_file_writes_none() {
        check("edit_file_v2", "[7]", "7", &[]);
        check("read_file", ARGS, "{}", &[]);
    }
}
