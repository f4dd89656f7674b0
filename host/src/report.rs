//! What the user is told besides the result: `file:line: sentence`, on standard error.
//!
//! Of each code the first hundred are told, then how many there were.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::intake::HarnessTurn;
use crate::record::{Diagnostic, Origin};

/// How many sentences of one code are told.
const MOST: usize = 100;

/// Gathers sentences about one session.
#[derive(Debug)]
pub struct Report {
    /// Names of the session's files, in the order that origins count.
    files: Vec<String>,
    lines: Vec<String>,
    /// How often each code came up.
    counts: BTreeMap<String, usize>,
    verbose: bool,
}

impl Report {
    /// A report about the session `name`; a verbose one tells of each harness-generated turn, too.
    pub fn new(name: &str, verbose: bool) -> Self {
        Self { files: vec![name.to_owned()], lines: Vec::new(), counts: BTreeMap::new(), verbose }
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
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= MOST {
            let line = format!("{}: {}", self.place(diagnostic.origin), one_line(&diagnostic.message));
            self.lines.push(line);
        }
    }

    /// Takes note of a turn that the harness wrote.
    pub fn harness_turn(&mut self, turn: &HarnessTurn) {
        if self.verbose {
            let signal = turn.signal.as_deref().unwrap_or("a signal without a name");
            self.lines.push(format!("{}: written by the harness ({})", self.place(turn.origin), one_line(signal)));
        }
    }

    /// Writes everything to `out`, and forgets it.
    pub fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        for line in self.lines.drain(..) {
            writeln!(out, "{line}")?;
        }
        for (code, count) in std::mem::take(&mut self.counts) {
            if count > MOST {
                let (file, code) = (one_line(&self.files[0]), one_line(&code));
                writeln!(out, "{file}: {} more of `{code}`", count - MOST)?;
            }
        }
        Ok(())
    }

    fn place(&self, origin: Origin) -> String {
        let file = one_line(self.files.get(origin.file as usize).unwrap_or(&self.files[0]));
        match origin.line {
            0 => file,
            line => format!("{file}:{line}"),
        }
    }
}

/// A text from a session or a plugin must not break out of its line, nor steer the terminal.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Severity;

    #[test]
    fn the_first_hundred_of_a_code_are_told_and_the_rest_are_counted() {
        let mut report = Report::new("s\u{1b}.jsonl", false);
        for line in 1..=250 {
            let origin = Origin { line, ..Origin::default() };
            let message = format!("odd\u{1b}[31m line\n{line}");
            report.add(Diagnostic { severity: Severity::Info, code: "odd-line".to_owned(), message, origin });
        }
        let mut told = Vec::new();
        report.write(&mut told).expect("writing to memory");
        let told = String::from_utf8(told).expect("text");
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), 101);
        assert_eq!(lines[0], "s .jsonl:1: odd [31m line 1");
        assert_eq!(lines[99], "s .jsonl:100: odd [31m line 100");
        assert_eq!(lines[100], "s .jsonl: 150 more of `odd-line`");
    }
}
