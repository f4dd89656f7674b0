//! What a tool's own report tells of a file it wrote.
//!
//! Of the evidence the best is taken: hunks with their line numbers, the file before with what was replaced, what was
//! replaced alone. Claude Code shows each leading tab of a hunk's line as two spaces; such a hunk is not what hit the
//! disk, so its lines are taken from the file's own text, or the hunk is not believed.

use std::borrow::Cow;

use toolpath_plugin_api::MutationRecord;
use toolpath_plugin_api::kit::diff::{Hunk, from_hunks, unified};

use crate::shape::{Field, Outcome, Patch};

/// A file whose text would grow beyond this when a replacement is made throughout is not put together.
const LONGEST: usize = 64 * 1024 * 1024;

/// One write to one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    path: String,
    operation: &'static str,
    diff: Diff,
}

#[derive(Debug, PartialEq, Eq)]
enum Diff {
    /// Its line numbers are the file's.
    Placed(String),
    /// Its place in the file is not known.
    Partial(String),
    /// The report does not tell, or nothing changed.
    Unknown,
}

impl Edit {
    /// The write that `outcome` reports; `None` when it reports none, or not enough to tell.
    pub(crate) fn of(outcome: &Outcome<'_>, cwd: Option<&str>) -> Option<Self> {
        if outcome.new_source.json().is_some() {
            let path = absolute(&outcome.notebook_path.filled()?, cwd);
            // A notebook's report tells its failures here, and no lines.
            let failed = outcome.error.filled().is_some();
            return (!failed).then_some(Self { path, operation: "update", diff: Diff::Unknown });
        }
        let path = absolute(&outcome.file_path.filled()?, cwd);
        let (operation, diff) = Report::of(outcome).diff(&path)?;
        Some(Self { path, operation, diff })
    }

    /// As it is told, for the call `call_id`.
    pub(crate) fn record<'e>(&'e self, call_id: &'e str) -> MutationRecord<'e> {
        let record = MutationRecord::new(&self.path).tool_id(call_id).operation(self.operation);
        match &self.diff {
            Diff::Placed(diff) => record.diff(diff),
            Diff::Partial(diff) => record.partial_diff(diff),
            Diff::Unknown => record,
        }
    }
}

/// The report of an edit, with its texts read.
struct Report<'a> {
    is_create: bool,
    is_update: bool,
    replace_all: bool,
    original: Option<Cow<'a, str>>,
    old: Option<Cow<'a, str>>,
    new: Option<Cow<'a, str>>,
    content: Option<Cow<'a, str>>,
    hunks: Vec<LogHunk<'a>>,
}

impl<'a> Report<'a> {
    fn of(outcome: &Outcome<'a>) -> Self {
        let kind = outcome.kind.text();
        Self {
            is_create: kind.as_deref() == Some("create"),
            is_update: kind.as_deref() == Some("update"),
            replace_all: outcome.replace_all.flag(),
            original: outcome.original.text(),
            old: outcome.old.text(),
            new: outcome.new.text(),
            content: outcome.content.text(),
            hunks: hunks(outcome.patch).unwrap_or_default(),
        }
    }

    fn diff(&self, path: &str) -> Option<(&'static str, Diff)> {
        let is_new = !self.is_update && self.hunks.is_empty() && self.original.is_none();
        if let Some(content) = self.content.as_deref().filter(|_| self.is_create || is_new) {
            return Some(("add", placed(path, "", content)));
        }
        let after = self.after();
        let diff = if let Some(diff) = self.patched(path, after.as_deref()) {
            Diff::Placed(diff)
        } else if let (Some(original), Some(after)) = (&self.original, &after) {
            placed(path, original, after)
        } else if let (Some(old), Some(new)) = (&self.old, &self.new) {
            if old == new { Diff::Unknown } else { Diff::Partial(unified(path, old, new)) }
        } else if self.content.is_some() {
            Diff::Unknown
        } else {
            return None;
        };
        Some(("update", diff))
    }

    /// The file's text after the write, when its text before is known.
    fn after(&self) -> Option<Cow<'_, str>> {
        let original = self.original.as_deref()?;
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => replaced(original, old, new, self.replace_all).map(Cow::Owned),
            _ => self.content.as_deref().map(Cow::Borrowed),
        }
    }

    /// The diff of the hunks, when they can be believed.
    fn patched(&self, path: &str, after: Option<&str>) -> Option<String> {
        if self.hunks.is_empty() {
            return None;
        }
        if let (Some(original), Some(after)) = (&self.original, after)
            && let Some(hunks) = restored(&self.hunks, original, after)
        {
            return diff_of(path, &hunks);
        }
        let texts = [&self.original, &self.old, &self.new, &self.content];
        let has_tabs = texts.into_iter().flatten().any(|text| text.starts_with('\t') || text.contains("\n\t"));
        let shows_tabs = self.hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line[1..].starts_with('\t'));
        if has_tabs && !shows_tabs { None } else { diff_of(path, &self.hunks) }
    }
}

fn placed(path: &str, before: &str, after: &str) -> Diff {
    if before == after { Diff::Unknown } else { Diff::Placed(unified(path, before, after)) }
}

/// A hunk as the log has it.
struct LogHunk<'a> {
    old_start: u64,
    old_lines: u64,
    new_start: u64,
    new_lines: u64,
    /// With their signs: each line has at least that one byte.
    lines: Vec<Cow<'a, str>>,
}

/// The hunks of a `structuredPatch`; `None` when one of them is not as it should be.
fn hunks(field: Field<'_>) -> Option<Vec<LogHunk<'_>>> {
    let one = |raw| {
        let patch: Patch<'_> = Field(Some(raw)).object()?;
        let lines = patch.lines.list()?.into_iter().map(|line| Field(Some(line)).text());
        let lines: Vec<_> = lines.collect::<Option<_>>()?;
        if lines.iter().any(|line| !line.starts_with([' ', '-', '+', '\\']) || line.contains('\n')) {
            return None;
        }
        let (old_lines, new_lines) = (patch.old_lines.count()?, patch.new_lines.count()?);
        // The log counts from the line where an empty range would be; a unified diff from the one before it.
        let start = |start: u64, lines: u64| if lines == 0 { start.saturating_sub(1) } else { start };
        let old_start = start(patch.old_start.count()?, old_lines);
        let new_start = start(patch.new_start.count()?, new_lines);
        Some(LogHunk { old_start, old_lines, new_start, new_lines, lines })
    };
    field.list()?.into_iter().map(one).collect()
}

/// The hunks with each line as the file has it; `None` when they don't tell how `before` became `after`.
fn restored<'t>(hunks: &'t [LogHunk<'_>], before: &str, after: &str) -> Option<Vec<LogHunk<'t>>> {
    let (before, after): (Vec<_>, Vec<_>) = (before.split('\n').collect(), after.split('\n').collect());
    let mut restored = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        let from = |start: u64| usize::try_from(start.saturating_sub(1)).ok();
        let (mut old, mut new) = (from(hunk.old_start)?, from(hunk.new_start)?);
        let mut lines = Vec::with_capacity(hunk.lines.len());
        for line in &hunk.lines {
            let (sign, shown) = line.split_at(1);
            let real = match sign {
                " " => before.get(old).filter(|real| after.get(new) == Some(real))?,
                "-" => before.get(old)?,
                "+" => after.get(new)?,
                _ => {
                    lines.push(Cow::Borrowed(&**line));
                    continue;
                }
            };
            old += usize::from(sign != "+");
            new += usize::from(sign != "-");
            lines.push(match *real {
                real if real == shown => Cow::Borrowed(&**line),
                real if is_shown_as(real, shown) => Cow::Owned(format!("{sign}{real}")),
                _ => return None,
            });
        }
        restored.push(LogHunk { lines, ..*hunk });
    }
    Some(restored)
}

/// Whether a hunk shows the file's line `real` as `shown`: with two spaces for each leading tab.
fn is_shown_as(real: &str, shown: &str) -> bool {
    let rest = real.trim_start_matches('\t');
    let tabs = real.len() - rest.len();
    shown.strip_suffix(rest).is_some_and(|spaces| spaces.len() == 2 * tabs && spaces.bytes().all(|byte| byte == b' '))
}

fn diff_of(path: &str, hunks: &[LogHunk<'_>]) -> Option<String> {
    let lines: Vec<Vec<&str>> = hunks.iter().map(|hunk| hunk.lines.iter().map(AsRef::as_ref).collect()).collect();
    let hunks: Vec<_> = hunks
        .iter()
        .zip(&lines)
        .map(|(hunk, lines)| Hunk {
            old_start: hunk.old_start,
            old_lines: hunk.old_lines,
            new_start: hunk.new_start,
            new_lines: hunk.new_lines,
            lines,
        })
        .collect();
    from_hunks(path, &hunks)
}

/// `text` with `old` replaced as Claude Code does it; `None` when it does not hold it.
fn replaced(text: &str, old: &str, new: &str, all: bool) -> Option<String> {
    if old.is_empty() {
        return text.is_empty().then(|| new.to_owned());
    }
    // A line that is deleted takes its end along.
    let whole_line = format!("{old}\n");
    let old = if new.is_empty() && !old.ends_with('\n') && text.contains(&whole_line) { &whole_line } else { old };
    if !all {
        return text.contains(old).then(|| text.replacen(old, new, 1));
    }
    let count = text.matches(old).count();
    let length = text.len().checked_add(count.checked_mul(new.len())?)?;
    (count > 0 && length <= LONGEST.max(text.len())).then(|| text.replace(old, new))
}

fn absolute(path: &str, cwd: Option<&str>) -> String {
    match cwd {
        Some(cwd) if !is_absolute(path) && is_absolute(cwd) => {
            format!("{}/{}", cwd.trim_end_matches('/'), path.strip_prefix("./").unwrap_or(path))
        }
        _ => path.to_owned(),
    }
}

/// Whether a path of either kind of system is absolute, whichever this one is.
fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive =
        bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && matches!(bytes[2], b'\\' | b'/');
    path.starts_with('/') || path.starts_with("\\\\") || drive
}

#[cfg(test)]
mod tests;
