//! The hunks of an edit's report, and the file's own lines for them.
//!
//! A hunk shows each leading tab of a line as two spaces, and may show lines without their `\r` and the last one without
//! the note that it has no end. That is not what hit the disk, so where the file before is known a hunk only says
//! which lines stay, go and come: the lines themselves are the file's.

use std::borrow::Cow;

use toolpath_plugin_api::kit::diff::{Hunk, NO_NEWLINE, from_hunks, lines, unified};
use toolpath_plugin_api::kit::field::Field;

use crate::shape::Patch;

/// A hunk as the log has it; its starts are counted as in a unified diff.
pub(super) struct LogHunk<'a> {
    old_start: u64,
    old_lines: u64,
    new_start: u64,
    new_lines: u64,
    /// With their signs, if they have any.
    lines: Vec<Cow<'a, str>>,
}

/// The hunks of a `structuredPatch`; `None` when one of them cannot be read.
pub(super) fn of<'a>(field: Field<'a>) -> Option<Vec<LogHunk<'a>>> {
    let one = |patch: Field<'a>| {
        let patch: Patch<'a> = patch.object()?;
        let lines = patch.lines.list()?.into_iter().map(Field::text);
        let lines: Vec<_> = lines.collect::<Option<_>>()?;
        let (old_lines, new_lines) = (patch.old_lines.count()?, patch.new_lines.count()?);
        // The log counts from the line where an empty range would be; a unified diff from the one before it.
        let start = |start: u64, lines: u64| if lines == 0 { start.saturating_sub(1) } else { start };
        let old_start = start(patch.old_start.count()?, old_lines);
        let new_start = start(patch.new_start.count()?, new_lines);
        Some(LogHunk { old_start, old_lines, new_start, new_lines, lines })
    };
    field.list()?.into_iter().map(one).collect()
}

/// Whether a line begins with a tab, so that tabs are not lost.
pub(super) fn show_tabs(hunks: &[LogHunk<'_>]) -> bool {
    hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.get(1..).is_some_and(|text| text.starts_with('\t')))
}

/// The diff of the hunks; `None` when there are none or they make none.
pub(super) fn as_they_stand(path: &str, hunks: &[LogHunk<'_>]) -> Option<String> {
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
    if hunks.is_empty() { None } else { from_hunks(path, &hunks) }
}

/// The diff of the hunks with each line as the texts have it; `None` when they do not fit.
///
/// Where `after` is not known, added lines are taken as the hunks show them, if that leaves no doubt; `has_tabs` says
/// whether any text of the report begins a line with a tab.
pub(super) fn fitted(
    path: &str,
    hunks: &[LogHunk<'_>],
    before: &str,
    after: Option<&str>,
    has_tabs: &dyn Fn() -> bool,
) -> Option<String> {
    let (old, new) = (lines(before), after.map(lines));
    let fit = Fit::of(hunks, &old, new.as_deref(), has_tabs)?;
    let hunks: Vec<_> = fit.hunks.iter().map(FittedHunk::lines).collect();
    let lines: Vec<Vec<&str>> = hunks.iter().map(|lines| lines.iter().map(String::as_str).collect()).collect();
    let hunks: Vec<_> = fit.hunks.iter().zip(&lines).map(|(hunk, lines)| hunk.as_written(lines)).collect();
    let diff = if hunks.is_empty() { None } else { from_hunks(path, &hunks) }?;
    // git looks for a hunk that no context ends at the end of the file only.
    let is_open = |hunk: &FittedHunk<'_>| hunk.old_end() < old.len() && hunk.lines.last().is_some_and(|l| l.0 != ' ');
    Some(if fit.hunks.iter().any(is_open) { unified(path, before, &fit.after(&old)) } else { diff })
}

/// Hunks that were found to fit a text.
struct Fit<'t> {
    hunks: Vec<FittedHunk<'t>>,
}

/// A hunk with the texts' own lines.
struct FittedHunk<'t> {
    /// Lines before it in the two texts.
    old: usize,
    new: usize,
    /// Signs, and lines with their ends.
    lines: Vec<(char, Cow<'t, str>)>,
}

impl<'t> Fit<'t> {
    fn of(
        hunks: &'t [LogHunk<'_>],
        before: &[&'t str],
        after: Option<&[&'t str]>,
        has_tabs: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let (mut old, mut new) = (0, 0);
        let mut fit = Self { hunks: Vec::with_capacity(hunks.len()) };
        let mut seen = Seen::default();
        // Whether a line without an end came, after which there is nothing.
        let mut is_over = false;
        let mut ends_with_added = false;
        for hunk in hunks {
            let start = if hunk.old_lines == 0 { hunk.old_start } else { hunk.old_start.checked_sub(1)? };
            let between = before.get(old..usize::try_from(start).ok()?)?;
            if after.is_some_and(|after| after.get(new..new + between.len()) != Some(between)) {
                return None;
            }
            (old, new) = (old + between.len(), new + between.len());
            is_over |= between.last().is_some_and(|line| !line.ends_with('\n'));
            let mut fitted = FittedHunk { old, new, lines: Vec::with_capacity(hunk.lines.len()) };
            let mut lines = hunk.lines.iter().peekable();
            while let Some(line) = lines.next() {
                let sign = line.chars().next()?;
                let shown = &line[sign.len_utf8()..];
                let is_last = lines.next_if(|next| **next == NO_NEWLINE).is_some();
                let real: Cow<'t, str> = match (sign, after) {
                    (' ' | '-', _) => {
                        let real = *before.get(old)?;
                        seen.see(real, shown, is_last)?;
                        if sign == ' ' && after.is_some_and(|after| after.get(new) != Some(&real)) {
                            return None;
                        }
                        real.into()
                    }
                    ('+', Some(after)) => {
                        let real = *after.get(new)?;
                        Quirks::of(real, shown)?;
                        real.into()
                    }
                    ('+', None) if shown.contains('\n') => return None,
                    ('+', None) if is_last => shown.into(),
                    ('+', None) => format!("{shown}\n").into(),
                    _ => return None,
                };
                let has_end = real.ends_with('\n');
                if (is_last && has_end) || (is_over && sign != '-') {
                    return None;
                }
                old += usize::from(sign != '+');
                new += usize::from(sign != '-');
                if sign != '-' {
                    (is_over, ends_with_added) = (!has_end, sign == '+');
                }
                fitted.lines.push((sign, real));
            }
            let is_count = |count: usize, expected: u64| count as u64 == expected;
            if !is_count(old - fitted.old, hunk.old_lines) || !is_count(new - fitted.new, hunk.new_lines) {
                return None;
            }
            fit.hunks.push(fitted);
        }
        let rest = &before[old..];
        if let Some(after) = after {
            return (after.get(new..) == Some(rest)).then_some(fit);
        }
        if !rest.is_empty() && is_over || rest.is_empty() && ends_with_added && seen.notes_lost {
            return None;
        }
        seen.amend(&mut fit, before, has_tabs())?;
        Some(fit)
    }

    /// The text after the hunks.
    fn after(&self, before: &[&str]) -> String {
        let mut text = String::new();
        let mut next = 0;
        for hunk in &self.hunks {
            text.extend(before[next..hunk.old].iter().copied());
            text.extend(hunk.lines.iter().filter(|(sign, _)| *sign != '-').map(|(_, line)| line.as_ref()));
            next = hunk.old_end();
        }
        text.extend(before[next..].iter().copied());
        text
    }
}

impl FittedHunk<'_> {
    fn count(&self, sign: char) -> usize {
        self.lines.iter().filter(|line| line.0 == ' ' || line.0 == sign).count()
    }

    fn old_end(&self) -> usize {
        self.old + self.count('-')
    }

    /// Its lines as a diff has them.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::with_capacity(self.lines.len() + 1);
        for (sign, line) in &self.lines {
            let text = line.strip_suffix('\n');
            lines.push(format!("{sign}{}", text.unwrap_or(line)));
            if text.is_none() {
                lines.push(NO_NEWLINE.to_owned());
            }
        }
        lines
    }

    fn as_written<'l>(&self, lines: &'l [&'l str]) -> Hunk<'l> {
        let start = |before: usize, lines: usize| (before + usize::from(lines > 0)) as u64;
        let (old, new) = (self.count('-'), self.count('+'));
        Hunk {
            old_start: start(self.old, old),
            old_lines: old as u64,
            new_start: start(self.new, new),
            new_lines: new as u64,
            lines,
        }
    }
}

/// What a hunk does not show of a line.
struct Quirks {
    tabs: bool,
    carriage_return: bool,
}

impl Quirks {
    /// How the line `real` became `shown`; `None` when it is another one.
    fn of(real: &str, shown: &str) -> Option<Self> {
        let line = real.strip_suffix('\n').unwrap_or(real);
        if line == shown {
            return Some(Self { tabs: false, carriage_return: false });
        }
        if is_shown_as(line, shown) {
            return Some(Self { tabs: true, carriage_return: false });
        }
        let line = real.strip_suffix("\r\n")?;
        let tabs = line != shown;
        (!tabs || is_shown_as(line, shown)).then_some(Self { tabs, carriage_return: true })
    }
}

/// Whether a hunk shows the file's line `real` as `shown`: with two spaces for each leading tab.
fn is_shown_as(real: &str, shown: &str) -> bool {
    let rest = real.trim_start_matches('\t');
    let tabs = real.len() - rest.len();
    shown.strip_suffix(rest).is_some_and(|spaces| spaces.len() == 2 * tabs && spaces.bytes().all(|byte| byte == b' '))
}

/// How the lines of the file before were shown, from which follows what added lines are.
#[derive(Default)]
struct Seen {
    tabs_lost: bool,
    tabs_shown: bool,
    returns_lost: bool,
    /// A line was seen that did not lose its `\r`.
    returns_kept: bool,
    notes_lost: bool,
}

impl Seen {
    fn see(&mut self, real: &str, shown: &str, is_noted: bool) -> Option<()> {
        let quirks = Quirks::of(real, shown)?;
        self.tabs_lost |= quirks.tabs;
        self.tabs_shown |= shown.starts_with('\t');
        self.returns_lost |= quirks.carriage_return;
        self.returns_kept |= !quirks.carriage_return && real.ends_with('\n');
        self.notes_lost |= !real.ends_with('\n') && !is_noted;
        Some(())
    }

    /// Gives added lines what the hunks lost; `None` when that is not certain.
    fn amend(&self, fit: &mut Fit<'_>, before: &[&str], has_tabs: bool) -> Option<()> {
        let tabs_may_be_lost = self.tabs_lost || (has_tabs && !self.tabs_shown);
        let returns_may_be_lost = if self.returns_lost || self.returns_kept {
            self.returns_lost
        } else {
            before.iter().any(|line| line.ends_with("\r\n"))
        };
        let added = fit.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines).filter(|(sign, _)| *sign == '+');
        for (_, line) in added {
            if tabs_may_be_lost && line.starts_with("  ") {
                return None;
            }
            if returns_may_be_lost && line.ends_with('\n') && !line.ends_with("\r\n") {
                if self.returns_kept || !self.returns_lost {
                    return None;
                }
                let end = line.len() - 1;
                line.to_mut().insert(end, '\r');
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
