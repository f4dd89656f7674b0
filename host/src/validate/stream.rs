//! The streaming form: one path as lines, each an object whose one key is the line's kind.
//!
//! Each line meets the schema of lines by itself. What the lines say together becomes a path, and that meets the rules
//! of any other path; a finding about a step has the step's line. Kinds of lines that are not known are passed over.

use std::collections::{BTreeSet, HashSet};

use serde_json::{Map, Value, json};

use super::finding::{Findings, Place, called, plural, quoted};
use super::{Counts, PathAt, check_path, not_json, schema};

/// The kinds of lines.
const KINDS: [&str; 7] = ["PathOpen", "Step", "ActorDef", "PathMeta", "Signature", "Head", "PathClose"];

/// Whether a text is a stream: its first line begins with a kind of line, be it the wrong one.
pub(super) fn is_stream(text: &[u8]) -> bool {
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(inside) = first.trim_ascii_start().strip_prefix(b"{") else { return false };
    let key = serde_json::Deserializer::from_slice(inside).into_iter::<String>().next();
    matches!(key, Some(Ok(key)) if KINDS.contains(&key.as_str()))
}

/// Checks a stream.
pub(super) fn check(text: &[u8], findings: &mut Findings<'_>) -> Counts {
    let mut stream = Stream::default();
    let (lines, is_ended) = text.strip_suffix(b"\n").map_or((text, false), |lines| (lines, true));
    let mut last = 0;
    for (line, number) in lines.split(|byte| *byte == b'\n').zip(1..) {
        last = number;
        if stream.is_closed {
            findings.add(Place::line(number), "stands after `PathClose`, which must be the last line");
            break;
        }
        stream.line(line, number, findings);
    }
    if stream.is_closed && !is_ended {
        findings.add(Place::line(last), "must end with a line feed");
    }
    stream.finish(findings)
}

/// What the lines said so far.
#[derive(Debug, Default)]
struct Stream {
    /// `PathOpen` without its meta.
    open: Option<Value>,
    meta: Map<String, Value>,
    actors: Map<String, Value>,
    /// All, whatever they sign.
    signatures: Vec<Value>,
    steps: Vec<Value>,
    /// The line of each step.
    lines: Vec<usize>,
    ids: HashSet<String>,
    head: Option<Value>,
    is_closed: bool,
}

impl Stream {
    fn line(&mut self, line: &[u8], number: usize, findings: &mut Findings<'_>) {
        let place = Place::line(number);
        if line.trim_ascii().is_empty() {
            return findings.add(place, "is a blank line");
        }
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(err) => return findings.add(Place::at(number, err.column()), not_json(&err)),
        };
        let kind = match value.as_object().map(|object| object.keys().collect::<Vec<_>>()).as_deref() {
            Some([kind]) => (*kind).clone(),
            _ => return findings.add(place, "must be an object with one key, the line's kind"),
        };
        if number == 1 && kind != "PathOpen" {
            findings.add(place.clone(), format!("the first line must be `PathOpen`, not {}", quoted(&kind)));
        }
        let mut place = place;
        if kind == "Step" {
            place.path = Some(self.called());
            place.step = Some(called("step", &value["Step"]["step"]["id"], self.steps.len()));
        }
        for fault in schema::faults(&schema::LINE, &value) {
            let in_step = fault.pointer.strip_prefix("/Step").filter(|_| kind == "Step");
            findings.add(place.clone(), fault.sentence(in_step.unwrap_or(&fault.pointer), "step"));
        }
        let Value::Object(mut line) = value else { return };
        self.take(&kind, line.remove(&kind).unwrap_or_default(), place, findings);
    }

    fn take(&mut self, kind: &str, mut body: Value, place: Place, findings: &mut Findings<'_>) {
        match kind {
            "PathOpen" if self.open.is_some() => {
                findings.add(place, "is a second `PathOpen`; a stream holds one path");
            }
            "PathOpen" => {
                self.merge(taken(&mut body, "meta"));
                self.open = Some(body);
                if place.line != Some(1) {
                    findings.add(place, "`PathOpen` must be the first line");
                }
            }
            "Step" => {
                self.ids.extend(body["step"]["id"].as_str().map(str::to_owned));
                self.lines.extend(place.line);
                self.steps.push(body);
            }
            "ActorDef" => {
                if let Some(actor) = body["actor"].as_str().map(str::to_owned) {
                    self.actors.insert(actor, taken(&mut body, "definition"));
                }
            }
            "PathMeta" => self.merge(taken(&mut body, "patch")),
            "Signature" => {
                let step = body["target"].as_str().and_then(|target| target.strip_prefix("step:"));
                if let Some(step) = step.filter(|step| !self.ids.contains(*step)) {
                    findings.add(place, format!("signs the step {}, which is none before it", quoted(step)));
                }
                self.signatures.push(taken(&mut body, "signature"));
            }
            "Head" => self.head = Some(taken(&mut body, "step_id")),
            "PathClose" => self.is_closed = true,
            _ => {}
        }
    }

    fn merge(&mut self, patch: Value) {
        if let Value::Object(patch) = patch {
            self.meta.extend(patch);
        }
    }

    fn called(&self) -> String {
        called("path", self.open.as_ref().map_or(&Value::Null, |open| &open["id"]), 0)
    }

    fn finish(mut self, findings: &mut Findings<'_>) -> Counts {
        let counts = Counts { paths: 1, steps: self.steps.len() };
        let at_end = || Place { order: (usize::MAX, 0), ..Place::default() };
        let head = match (self.head.take(), self.tips().as_slice()) {
            (Some(head), _) => head,
            (None, []) => json!(""),
            (None, [tip]) => json!(tip),
            (None, tips) => {
                // One that still goes on has its `Head` to come.
                if self.is_closed {
                    let tips = plural(tips.len(), "step");
                    let place = Place { path: Some(self.called()), ..at_end() };
                    findings.add(place, format!("there is no `Head`, and {tips} are no step's parent"));
                }
                Value::Null
            }
        };
        if !self.is_closed {
            findings.add(at_end(), "is incomplete; it ends without `PathClose`");
        }
        // What is only known as the entries of maps and lists in a document stands on lines of its own here.
        if !self.actors.is_empty() {
            self.meta.insert("actors".to_owned(), Value::Object(self.actors));
        }
        if !self.signatures.is_empty() {
            self.meta.insert("signatures".to_owned(), Value::Array(self.signatures));
        }
        let id = self.open.map_or(Value::Null, |mut open| taken(&mut open, "id"));
        let path = json!({"path": {"id": id, "head": head}, "steps": null, "meta": self.meta});
        let Value::Object(mut path) = path else { return counts };
        path.insert("steps".to_owned(), Value::Array(self.steps));
        let value = Value::Object(path);
        let path = PathAt { value: &value, index: 0, lines: Some(&self.lines), is_whole: self.is_closed };
        check_path(&path, findings);
        counts
    }

    /// The steps that are no step's parent.
    fn tips(&self) -> Vec<&str> {
        let lists = self.steps.iter().filter_map(|step| step["step"]["parents"].as_array());
        let parents: BTreeSet<&str> = lists.flatten().filter_map(Value::as_str).collect();
        let ids = self.steps.iter().filter_map(|step| step["step"]["id"].as_str());
        ids.filter(|id| !parents.contains(id)).collect()
    }
}

/// The value of a key, out of what may be no object, or null.
fn taken(body: &mut Value, key: &str) -> Value {
    body.get_mut(key).map(Value::take).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_known_by_its_first_line() {
        for (text, expected) in [
            ("{\"PathOpen\":{}}\n", true),
            (" { \"PathOpen\" : {\"ver", true),
            ("{\"Step\":{}}\n{\"PathOpen\":{}}\n", true),
            ("{\"Path\\u004fpen\":{}}", true),
            ("{\"graph\":{},\"paths\":[]}\n", false),
            ("{\n\"PathOpen\":{}}\n", false),
            ("\n{\"PathOpen\":{}}\n", false),
            ("[\"PathOpen\"]", false),
            ("{\"Unknown\":{}}", false),
            ("{\"PathOpe", false),
            ("", false),
        ] {
            assert_eq!(is_stream(text.as_bytes()), expected, "{text}");
        }
    }
}
