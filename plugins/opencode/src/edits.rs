//! What a tool's record tells of the files it wrote.
//!
//! Of the evidence the best is taken: the file before and after, a diff that shows lines as the file has them, what was
//! replaced by what. Diffs that opencode shows lose the indentation that all their lines share, so one is believed only
//! where the texts of the call prove that it lost none.

mod unified;

use std::borrow::Cow;

use toolpath_plugin_api::kit::diff;
use toolpath_plugin_api::kit::edits::{Diff, Edit, envelope, placed};
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::path::absolute;

use crate::edits::unified::Section;
use crate::shape::{FileDiff, Input, Metadata};

/// The writes of a successful call of the tool `tool`, which worked in `cwd`.
pub(crate) fn of(tool: &str, input: Field<'_>, metadata: Field<'_>, cwd: Option<&str>) -> Vec<Edit> {
    let (input, metadata): (Input<'_>, Metadata<'_>) = (input.object_or_default(), metadata.object_or_default());
    match tool {
        "edit" => edit(&input, &metadata, cwd).into_iter().collect(),
        "write" => write(&input, &metadata, cwd).into_iter().collect(),
        "multiedit" => multiedit(&input, &metadata, cwd),
        "patch" | "apply_patch" => patch(&input, &metadata, cwd),
        _ => Vec::new(),
    }
}

fn edit(input: &Input<'_>, metadata: &Metadata<'_>, cwd: Option<&str>) -> Option<Edit> {
    let file: FileDiff<'_> = metadata.file_diff.object_or_default();
    let path = file.file.filled().or_else(|| metadata.path.filled()).or_else(|| input.file.filled());
    let path = absolute(&path?, cwd);
    let (old, new) = (input.old.text(), input.new.text());
    let shown = file.patch.filled().or_else(|| metadata.diff.filled());
    let diff = if let (Some(before), Some(after)) = (file.before.text(), file.after.text()) {
        placed(&path, &before, &after)
    } else if let Some(diff) = shown.and_then(|shown| believed(&path, &shown, old.as_deref(), new.as_deref())) {
        Diff::Placed(diff)
    } else if let (Some(old), Some(new)) = (old, new) {
        if old == new { Diff::Unknown } else { Diff::Partial(diff::unified(&path, &old, &new)) }
    } else {
        Diff::Unknown
    };
    Some(Edit::new(path, "update", diff))
}

fn write(input: &Input<'_>, metadata: &Metadata<'_>, cwd: Option<&str>) -> Option<Edit> {
    let path = absolute(&metadata.path.filled().or_else(|| input.file.filled())?, cwd);
    let file: FileDiff<'_> = metadata.file_diff.object_or_default();
    let content = input.content.text();
    if let (Some(before), Some(after)) = (file.before.text(), file.after.text()) {
        let diff = placed(&path, &before, &after);
        return Some(Edit::new(path, "update", diff));
    }
    if metadata.exists.json() == Some("false") {
        let diff = content.map_or(Diff::Unknown, |content| placed(&path, "", &content));
        return Some(Edit::new(path, "add", diff));
    }
    let after = content.map(Cow::into_owned);
    Some(Edit { after, ..Edit::new(path, "update", Diff::Unknown) })
}

fn multiedit(input: &Input<'_>, metadata: &Metadata<'_>, cwd: Option<&str>) -> Vec<Edit> {
    let edits = input.edits.list().unwrap_or_default();
    let results = metadata.results.list().unwrap_or_default();
    let edits = edits.iter().enumerate().filter_map(|(index, raw)| {
        let own: Input<'_> = raw.object()?;
        let result = results.get(index).copied().unwrap_or_default().object_or_default();
        edit(&Input { file: input.file, ..own }, &result, cwd)
    });
    edits.collect()
}

fn patch(input: &Input<'_>, metadata: &Metadata<'_>, cwd: Option<&str>) -> Vec<Edit> {
    let files = metadata.files.list().unwrap_or_default();
    let files: Vec<FileDiff<'_>> = files.iter().filter_map(|raw| raw.object()).collect();
    let whole: Vec<Edit> = files.iter().filter_map(|file| whole(file, cwd)).collect();
    if !whole.is_empty() && whole.len() == files.len() {
        return whole;
    }
    // The sections of `metadata.patch` show lines as the file has them; those of `metadata.diff` do not.
    let text = metadata.patch.filled().unwrap_or_default();
    let sections = unified::sections(&text);
    let of_sections: Vec<Edit> = files.iter().filter_map(|file| of_section(file, &sections, cwd)).collect();
    if !of_sections.is_empty() && of_sections.len() == files.len() {
        return of_sections;
    }
    input.patch.text().map_or_else(Vec::new, |text| envelope::edits(&text, cwd))
}

/// The write of a file whose text is known before and after.
fn whole(file: &FileDiff<'_>, cwd: Option<&str>) -> Option<Edit> {
    let path = absolute(&file.file.filled()?, cwd);
    let diff = placed(&path, &file.before.text()?, &file.after.text()?);
    Some(Edit { to: to(file, cwd), ..Edit::new(path, operation(file), diff) })
}

fn of_section(file: &FileDiff<'_>, sections: &[Section<'_>], cwd: Option<&str>) -> Option<Edit> {
    let name = file.file.filled()?;
    let section = sections.iter().find(|section| section.name == name)?;
    let path = absolute(&name, cwd);
    let diff = section.diff(&path).map_or(Diff::Unknown, Diff::Placed);
    Some(Edit { to: to(file, cwd), ..Edit::new(path, operation(file), diff) })
}

fn operation(file: &FileDiff<'_>) -> &'static str {
    match file.kind.text().as_deref() {
        Some("add") => "add",
        Some("delete") => "delete",
        _ => "update",
    }
}

fn to(file: &FileDiff<'_>, cwd: Option<&str>) -> Option<String> {
    file.to.filled().map(|to| absolute(&to, cwd))
}

/// The diff that `shown` tells, when one of the texts of the call stands in it with all its indentation.
fn believed(path: &str, shown: &str, old: Option<&str>, new: Option<&str>) -> Option<String> {
    let sections = unified::sections(shown);
    let [section] = sections.as_slice() else { return None };
    // The first line may begin in the middle of the file's line, so it proves nothing.
    let proves = |text: &str| text.split('\n').skip(1).any(|line| !line.trim().is_empty());
    let stands =
        |text: Option<&str>, sign: char| text.is_some_and(|text| proves(text) && section.side(sign).contains(text));
    if stands(old, '-') || stands(new, '+') { section.diff(path) } else { None }
}

#[cfg(test)]
mod tests;
