//! Says whether a document is valid and, where it is not, what breaks which rule in which step.
//!
//! Two forms are read, and told apart by what they hold: the document, one JSON value, and the stream, lines of one key
//! each, whose first is `PathOpen`. Both meet the same rules: `schema` is what schemas can say, of any path and of a
//! coding session's; `rules` is what they can't, such as that a parent comes before its step; `stream` reads lines, and
//! knows the order they must have. A `finding` is what the user is told.
//!
//! A file is held in memory whole. Keys that stand twice in one object are not found: the last one counts.

mod finding;
mod rules;
mod schema;
mod stream;

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use finding::Finding;
use finding::{Findings, Place, called, plural};

use crate::document::KIND;
use crate::report::one_line;

/// What a valid document holds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Paths, references to paths elsewhere among them.
    pub paths: usize,
    /// Steps of all paths.
    pub steps: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (paths, steps) = (plural(self.paths, "path"), plural(self.steps, "step"));
        write!(f, "{paths}, {steps}")
    }
}

/// Validates each of `files`, `-` being standard input, and answers whether all of them are valid.
///
/// Of a valid file a line goes to standard output; of any other, each finding to standard error.
#[must_use]
pub fn run(files: &[PathBuf]) -> bool {
    let mut all_valid = true;
    for file in files {
        let name = file.display().to_string();
        let verdict = match read(file) {
            Ok(text) => validate(&name, &text),
            Err(reason) => Err(vec![Finding::new(&name, Place::default(), reason)]),
        };
        all_valid &= match verdict {
            Ok(counts) => tell_valid(&format!("{}: valid ({counts})", one_line(&name))),
            Err(findings) => {
                let mut out = io::stderr().lock();
                for finding in findings {
                    // Where nobody reads this, the exit code has to say it.
                    let _ = writeln!(out, "{finding}");
                }
                false
            }
        };
    }
    all_valid
}

/// Validates the document or stream `text`, which findings call `name`.
///
/// Findings are in the order of the file; when there are more than a hundred, the last one counts the rest.
pub fn validate(name: &str, text: &[u8]) -> Result<Counts, Vec<Finding>> {
    let mut findings = Findings::of(name);
    let counts = if text.trim_ascii().is_empty() {
        findings.add(Place::default(), "is empty; there is no document in it");
        Counts::default()
    } else if stream::is_stream(text) {
        stream::check(text, &mut findings)
    } else {
        check_document(text, &mut findings)
    };
    findings.verdict(counts)
}

fn read(file: &Path) -> Result<Vec<u8>, String> {
    // Not every system says so when a folder is read.
    if file.is_dir() {
        return Err("is a folder; name a document's file".to_owned());
    }
    let read = if file == Path::new("-") {
        let mut text = Vec::new();
        io::stdin().lock().read_to_end(&mut text).map(|_| text)
    } else {
        fs::read(file)
    };
    read.map_err(|err| match err.kind() {
        io::ErrorKind::NotFound => "there is no such file; check the path".to_owned(),
        io::ErrorKind::PermissionDenied => "may not be read by you; check its permissions".to_owned(),
        _ => format!("cannot be read: {err}"),
    })
}

/// Answers whether the result reached standard output, or nobody was there to read it.
fn tell_valid(line: &str) -> bool {
    match writeln!(io::stdout().lock(), "{line}") {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr().lock(), "cannot write standard output: {err}");
            false
        }
        _ => true,
    }
}

fn check_document(text: &[u8], findings: &mut Findings<'_>) -> Counts {
    let document: Value = match serde_json::from_slice(text) {
        Ok(document) => document,
        Err(err) => {
            findings.add(Place::at(err.line(), err.column()), not_json(&err));
            return Counts::default();
        }
    };
    for fault in schema::faults(&schema::DOCUMENT, &document) {
        let (place, rest, whole) = locate(&document, &fault.pointer);
        findings.add(place, fault.sentence(rest, whole));
    }
    let none = Vec::new();
    let paths = document["paths"].as_array().unwrap_or(&none);
    let mut counts = Counts { paths: paths.len(), steps: 0 };
    for (index, value) in paths.iter().enumerate() {
        let path = PathAt { value, index, lines: None, is_whole: true };
        counts.steps += path.steps().len();
        check_path(&path, findings);
    }
    counts
}

/// Checks what the schema of documents does not say of a path.
fn check_path(path: &PathAt<'_>, findings: &mut Findings<'_>) {
    if path.value.get("$ref").is_some() {
        return;
    }
    if path.value["meta"]["kind"] == KIND {
        for fault in schema::faults(&schema::SESSION, path.value) {
            let (step, rest) = in_path(&fault.pointer);
            let whole = if step.is_some() { "step" } else { "path" };
            findings.add(path.place(step), fault.sentence(rest, whole));
        }
        rules::check_session(path, findings);
    }
    rules::check_any(path, findings);
}

/// The place that a JSON pointer into a document names, what is left of the pointer, and a word for what it starts from.
fn locate<'p>(document: &Value, pointer: &'p str) -> (Place, &'p str, &'static str) {
    let in_document = (Place::default(), pointer, "document");
    let Some((index, rest)) = pointer.strip_prefix("/paths/").and_then(numbered) else { return in_document };
    let path = PathAt { value: &document["paths"][index], index, lines: None, is_whole: true };
    let (step, rest) = in_path(rest);
    (path.place(step), rest, if step.is_some() { "step" } else { "path" })
}

/// The step that a JSON pointer into a path names, if any, and what is left of the pointer.
fn in_path(pointer: &str) -> (Option<usize>, &str) {
    match pointer.strip_prefix("/steps/").and_then(numbered) {
        Some((index, rest)) => (Some(index), rest),
        None => (None, pointer),
    }
}

/// `7/rest` as 7 and `/rest`.
fn numbered(pointer: &str) -> Option<(usize, &str)> {
    let (number, rest) = pointer.split_at(pointer.find('/').unwrap_or(pointer.len()));
    Some((number.parse().ok()?, rest))
}

/// One path of a document, and what its places are called.
#[derive(Debug)]
struct PathAt<'a> {
    value: &'a Value,
    /// Its number among the document's paths, from 0.
    index: usize,
    /// Of a stream, the line of each step.
    lines: Option<&'a [usize]>,
    /// Whether nothing is still to come.
    is_whole: bool,
}

impl<'a> PathAt<'a> {
    fn steps(&self) -> &'a [Value] {
        self.value["steps"].as_array().map_or(&[], Vec::as_slice)
    }

    /// The place of the path, or of one of its steps.
    fn place(&self, step: Option<usize>) -> Place {
        let line = step.zip(self.lines).and_then(|(step, lines)| lines.get(step).copied());
        Place {
            line,
            column: None,
            path: Some(called("path", &self.value["path"]["id"], self.index)),
            step: step.map(|step| called("step", &self.value["steps"][step]["step"]["id"], step)),
            order: line.map_or((self.index + 1, step.map_or(0, |step| step + 1)), |line| (0, line)),
        }
    }
}

/// Why a text is no JSON, without the place.
fn not_json(err: &serde_json::Error) -> String {
    let message = err.to_string();
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
    if err.is_eof() {
        "is no JSON: it ends inside a value".to_owned()
    } else if reason.starts_with("recursion limit") {
        "is nested deeper than this validator reads (128 levels)".to_owned()
    } else {
        format!("is no JSON: {reason}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pointer_is_told_as_path_step_and_rest() {
        let document = json!({"paths": [
            {"path": {"id": "p"}, "steps": [{"step": {"id": "s"}}, {"step": {"id": ""}}]},
            7,
        ]});
        for (pointer, place, rest) in [
            ("", "document", ""),
            ("/graph/id", "document", "/graph/id"),
            ("/paths", "document", "/paths"),
            ("/paths/0", "path `p`", ""),
            ("/paths/1/meta", "path 2", "/meta"),
            ("/paths/0/steps", "path `p`", "/steps"),
            ("/paths/0/steps/0", "path `p`, step `s`", ""),
            ("/paths/0/steps/1/change/a~1b", "path `p`, step 2", "/change/a~1b"),
        ] {
            let (found, found_rest, whole) = locate(&document, pointer);
            let told: Vec<String> = [found.path, found.step].into_iter().flatten().collect();
            let told = if told.is_empty() { whole.to_owned() } else { told.join(", ") };
            assert_eq!((told.as_str(), found_rest), (place, rest), "{pointer}");
        }
    }

    #[test]
    fn counts_are_words() {
        assert_eq!(Counts { paths: 1, steps: 7 }.to_string(), "1 path, 7 steps");
        assert_eq!(Counts { paths: 0, steps: 1 }.to_string(), "0 paths, 1 step");
    }

    #[test]
    fn any_bytes_get_a_verdict() {
        let deep = "[".repeat(100_000);
        for text in [&b""[..], b"\xff\xfe", b"null", b"{\"PathOpen\"", b"{\"Head\":7}\n\n[]", deep.as_bytes(), b"[[]]"]
        {
            assert!(validate("f", text).is_err(), "{}", String::from_utf8_lossy(text));
        }
    }
}
