//! What the user is told: a sentence that begins with its place, and of many the first hundred.

use std::fmt;

use serde_json::Value;

use super::Counts;
use crate::report::one_line;

/// How many findings of one file are told.
const MOST: usize = 100;

/// How much of a text that a document holds is quoted in a finding, in characters.
const QUOTED: usize = 120;

/// One broken rule, as a sentence that begins with its place.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    file: String,
    place: Place,
    sentence: String,
}

impl Finding {
    pub(super) fn new(file: &str, place: Place, sentence: impl Into<String>) -> Self {
        Self { file: file.to_owned(), place, sentence: sentence.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.file))?;
        for number in [self.place.line, self.place.column].into_iter().flatten() {
            write!(f, ":{number}")?;
        }
        f.write_str(": ")?;
        if let Some(path) = &self.place.path {
            f.write_str(path)?;
            if let Some(step) = &self.place.step {
                write!(f, ", {step}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.sentence)
    }
}

/// Where a rule is broken.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) line: Option<usize>,
    pub(super) column: Option<usize>,
    pub(super) path: Option<String>,
    pub(super) step: Option<String>,
    /// Findings are told in this order: what has a line first, then each path before its steps.
    pub(super) order: (usize, usize),
}

impl Place {
    pub(super) fn at(line: usize, column: usize) -> Self {
        // A text that ends right after a line feed ends in column 0.
        Self { column: Some(column.max(1)), ..Self::line(line) }
    }

    pub(super) fn line(line: usize) -> Self {
        Self { line: Some(line), order: (0, line), ..Self::default() }
    }
}

/// Gathers what is told of one file.
#[derive(Debug)]
pub(super) struct Findings<'a> {
    file: &'a str,
    told: Vec<Finding>,
    /// All, told or not.
    count: usize,
}

impl<'a> Findings<'a> {
    pub(super) fn of(file: &'a str) -> Self {
        Self { file, told: Vec::new(), count: 0 }
    }

    pub(super) fn add(&mut self, place: Place, sentence: impl Into<String>) {
        self.count += 1;
        if self.count <= MOST {
            self.told.push(Finding::new(self.file, place, sentence));
        }
    }

    pub(super) fn verdict(mut self, counts: Counts) -> Result<Counts, Vec<Finding>> {
        if self.count == 0 {
            return Ok(counts);
        }
        self.told.sort_by_key(|finding| finding.place.order);
        if self.count > MOST {
            let sentence = plural(self.count - MOST, "more finding");
            self.told.push(Finding::new(self.file, Place::default(), sentence));
        }
        Err(self.told)
    }
}

/// `step` and its id or, where it has none, its number from 1.
pub(super) fn called(noun: &str, id: &Value, index: usize) -> String {
    match id.as_str() {
        Some(id) if !id.is_empty() => format!("{noun} {}", quoted(id)),
        _ => format!("{noun} {}", index + 1),
    }
}

/// A text of the document in backticks, on one line, and not the whole of a long one.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("`{}…`", one_line(&text[..end])),
        None => format!("`{}`", one_line(text)),
    }
}

pub(super) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hundred_findings_are_told_and_the_rest_are_counted() {
        for (count, last) in [(1, "f: s"), (100, "f: s"), (101, "f: 1 more finding"), (250, "f: 150 more findings")] {
            let mut findings = Findings::of("f");
            for _ in 0..count {
                findings.add(Place::default(), "s");
            }
            let told = findings.verdict(Counts::default()).expect_err("findings");
            assert_eq!(told.len(), count.min(101));
            assert_eq!(told.last().map(Finding::to_string).as_deref(), Some(last));
        }
    }

    #[test]
    fn a_text_of_the_document_stays_on_its_line_and_short() {
        assert_eq!(quoted("a\nb\u{1b}"), "`a b `");
        assert_eq!(quoted(&"é".repeat(120)), format!("`{}`", "é".repeat(120)));
        assert_eq!(quoted(&"é".repeat(121)), format!("`{}…`", "é".repeat(120)));
    }
}
