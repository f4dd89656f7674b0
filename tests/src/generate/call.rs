//! Tool calls: what the model asks for, what comes back, and the harness's own report of it.

use super::chance::{Chance, quoted};
use super::log::PROJECT;

/// Tools, each with how often it is called.
pub(super) const TOOLS: &[(Tool, u64)] =
    &[(Tool::Read, 29), (Tool::Bash, 31), (Tool::Edit, 24), (Tool::Write, 5), (Tool::Grep, 9)];

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Read,
    Bash,
    Edit,
    Write,
    Grep,
}

/// A call and its answer; all but the ids and the name are JSON.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: &'static str,
    pub(super) input: String,
    /// The result's content, as the model is shown it.
    pub(super) content: String,
    /// `toolUseResult`, which repeats it.
    pub(super) report: String,
    pub(super) is_error: bool,
}

impl Call {
    /// The block that makes the call.
    pub(super) fn block(&self) -> String {
        format!(r#"{{"type":"tool_use","id":"{}","name":"{}","input":{}}}"#, self.id, self.name, self.input)
    }

    /// The fields of the user record with its result. Sub-agents' files have no report.
    pub(super) fn answer(&self, has_report: bool) -> String {
        let Self { id, content, report, is_error, .. } = self;
        let report = if has_report { format!(r#","toolUseResult":{report}"#) } else { String::new() };
        format!(
            r#""message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":{content},"is_error":{is_error}}}]}}{report}"#
        )
    }

    /// A call of that tool.
    pub(super) fn of(tool: Tool, chance: &mut Chance) -> Self {
        let path = quoted(&format!("{PROJECT}/src/row_{:02}.rs", chance.number(0..80)));
        let id = call_id(chance);
        match tool {
            Tool::Read => {
                let body = chance.body();
                let (lines, content) = (body.lines().count(), quoted(&body));
                let report = format!(
                    r#"{{"type":"text","file":{{"filePath":{path},"content":{content},"numLines":{lines},"startLine":1,"totalLines":{lines}}}}}"#
                );
                let input = format!(r#"{{"file_path":{path}}}"#);
                Self { id, name: "Read", input, content, report, is_error: false }
            }
            Tool::Bash => {
                let (command, why) = (quoted(&chance.words(10..160)), quoted(&chance.words(10..50)));
                let input = format!(r#"{{"command":{command},"description":{why}}}"#);
                let output = chance.body();
                if chance.percent(5) {
                    let failure = quoted(&format!("Exit code 1\n{output}"));
                    let report = quoted(&format!("Error: Exit code 1\n{output}"));
                    return Self { id, name: "Bash", input, content: failure, report, is_error: true };
                }
                let content = quoted(&output);
                let report = format!(r#"{{"stdout":{content},"stderr":"","interrupted":false,"isImage":false}}"#);
                Self { id, name: "Bash", input, content, report, is_error: false }
            }
            Tool::Edit => edit(chance, id, &path),
            Tool::Write => {
                let body = quoted(&chance.body());
                let input = format!(r#"{{"file_path":{path},"content":{body}}}"#);
                let content = format!(r#"[{{"type":"text","text":{path}}}]"#);
                let report = format!(
                    r#"{{"type":"create","filePath":{path},"content":{body},"structuredPatch":[],"originalFile":null}}"#
                );
                Self { id, name: "Write", input, content, report, is_error: false }
            }
            Tool::Grep => {
                let pattern = quoted(&chance.words(4..30));
                let input = format!(r#"{{"pattern":{pattern},"path":"{PROJECT}","output_mode":"content"}}"#);
                let found = chance.body();
                let (lines, content) = (found.lines().count(), quoted(&found));
                let report = format!(
                    r#"{{"mode":"content","numFiles":0,"filenames":[],"content":{content},"numLines":{lines}}}"#
                );
                Self { id, name: "Grep", input, content, report, is_error: false }
            }
        }
    }
}

pub(super) fn call_id(chance: &mut Chance) -> String {
    format!("toolu_01{}", chance.hex(22))
}

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// A few lines of a file, replaced by a few others.
fn edit(chance: &mut Chance, id: String, path: &str) -> Call {
    let original = chance.body();
    let lines: Vec<&str> = original.split('\n').collect();
    let first = chance.number(0..lines.len() as u64) as usize;
    let end = (first + 1 + chance.number(0..6) as usize).min(lines.len());
    let (before, after) = (first.saturating_sub(CONTEXT), (end + CONTEXT).min(lines.len()));
    let replacement: Vec<String> = (0..1 + chance.number(0..6)).map(|_| chance.words(20..90)).collect();

    let signed = |sign: char, lines: &mut dyn Iterator<Item = &str>| -> Vec<String> {
        lines.map(|line| quoted(&format!("{sign}{line}"))).collect()
    };
    let hunk = [
        signed(' ', &mut lines[before..first].iter().copied()),
        signed('-', &mut lines[first..end].iter().copied()),
        signed('+', &mut replacement.iter().map(String::as_str)),
        signed(' ', &mut lines[end..after].iter().copied()),
    ];
    let (old, new) = (quoted(&lines[first..end].join("\n")), quoted(&replacement.join("\n")));
    let input = format!(r#"{{"file_path":{path},"old_string":{old},"new_string":{new},"replace_all":false}}"#);
    let report = format!(
        r#"{{"filePath":{path},"oldString":{old},"newString":{new},"originalFile":{},"structuredPatch":[{{"oldStart":{start},"oldLines":{},"newStart":{start},"newLines":{},"lines":[{}]}}],"userModified":false,"replaceAll":false}}"#,
        quoted(&original),
        after - before,
        after - before - (end - first) + replacement.len(),
        hunk.concat().join(","),
        start = before + 1,
    );
    Call { id, name: "Edit", input, content: quoted("The file has been updated."), report, is_error: false }
}
