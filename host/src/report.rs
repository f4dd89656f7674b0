//! What the user is told besides the result: `file:line: sentence`, on standard error.
//!
//! Of each code the first hundred are told, then how many there were.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::intake::{HarnessTurn, shortened};
use crate::record::{Diagnostic, Origin, Severity};

/// How many sentences of one code are told.
const MOST: usize = 100;

/// Gathers sentences about one session.
#[derive(Debug)]
pub struct Report {
    /// Names of the session's files, in the order that origins count.
    files: Vec<String>,
    told: Vec<Told>,
    /// How often each code came up.
    counts: BTreeMap<String, usize>,
    verbose: bool,
}

/// A sentence, and where what it is about stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Told {
    /// The file.
    pub file: String,
    /// Line or row, from 1; 0 when it has none.
    pub line: u64,
    /// Weight.
    pub severity: Severity,
    /// Stable code.
    pub code: String,
    /// The sentence.
    pub message: String,
}

impl Told {
    fn sentence(&self) -> String {
        format!("{}: {}", place(&self.file, self.line), one_line(&self.message))
    }
}

/// A file, and a line of it unless that is 0.
pub fn place(file: &str, line: u64) -> String {
    match line {
        0 => one_line(file),
        line => format!("{}:{line}", one_line(file)),
    }
}

impl Report {
    /// A report about the session `name`; a verbose one tells of each harness-generated turn, too.
    pub fn new(name: &str, verbose: bool) -> Self {
        Self { files: vec![name.to_owned()], told: Vec::new(), counts: BTreeMap::new(), verbose }
    }

    /// Takes over the names of the files that were read, when the plugin tells them.
    pub fn name_files(&mut self, files: &[String]) {
        if !files.is_empty() {
            self.files = files.to_vec();
        }
    }

    /// Adds a sentence.
    pub fn add(&mut self, diagnostic: Diagnostic) {
        // Codes are few; a plugin that makes one up for each sentence does not get around the limit so.
        let is_known = self.counts.len() < MOST || self.counts.contains_key(&diagnostic.code);
        let code = if is_known { diagnostic.code } else { "other".to_owned() };
        let count = self.counts.entry(code.clone()).or_default();
        *count += 1;
        if *count <= MOST {
            self.tell(diagnostic.origin, diagnostic.severity, code, shortened(diagnostic.message));
        }
    }

    /// Takes note of a turn that the harness wrote.
    pub fn harness_turn(&mut self, turn: &HarnessTurn) {
        if self.verbose {
            let signal = turn.signal.as_deref().unwrap_or("a signal without a name");
            let message = format!("written by the harness ({signal})");
            self.tell(turn.origin, Severity::Info, String::new(), message);
        }
    }

    fn tell(&mut self, origin: Origin, severity: Severity, code: String, message: String) {
        let (file, line) = (self.file(origin).to_owned(), origin.line);
        self.told.push(Told { file, line, severity, code, message });
    }

    /// The sentences so far, of each code the first hundred, and one more that counts the rest.
    pub fn take(&mut self) -> Vec<Told> {
        let mut told = std::mem::take(&mut self.told);
        for (code, count) in std::mem::take(&mut self.counts) {
            if count > MOST {
                let message = format!("{} more of `{}`", count - MOST, one_line(&code));
                let file = self.files[0].clone();
                told.push(Told { file, line: 0, severity: Severity::Info, code, message });
            }
        }
        told
    }

    /// Writes sentences that were taken.
    pub fn write_all(told: &[Told], out: &mut impl Write) -> io::Result<()> {
        told.iter().try_for_each(|told| writeln!(out, "{}", told.sentence()))
    }

    /// The file that a record stands in.
    pub fn file(&self, origin: Origin) -> &str {
        self.files.get(origin.file as usize).unwrap_or(&self.files[0])
    }
}

/// A text from a session or a plugin must not break out of its line, nor steer the terminal.
pub fn one_line(text: &str) -> String {
    // Marks that turn the direction of writing, or end a line for some programs, mislead as well.
    let steers = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|c| if steers(c) { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hundred_of_a_code_are_told_and_the_rest_are_counted() {
        let mut report = Report::new("s\u{1b}.jsonl", false);
        for line in 1..=250 {
            let origin = Origin { line, ..Origin::default() };
            let message = format!("odd\u{1b}[31m line\n{line}");
            report.add(Diagnostic { severity: Severity::Info, code: "odd-line".to_owned(), message, origin });
        }
        let mut told = Vec::new();
        Report::write_all(&report.take(), &mut told).expect("writing to memory");
        let told = String::from_utf8(told).expect("text");
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 101);
        assert_eq!(lines[0], "s .jsonl:1: odd [31m line 1");
        assert_eq!(lines[99], "s .jsonl:100: odd [31m line 100");
        assert_eq!(lines[100], "s .jsonl: 150 more of `odd-line`");
    }
}
