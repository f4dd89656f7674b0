//! Claude Code's sessions, told to a host record by record.
//!
//! A session is a file of JSON lines to which Claude Code only appends. One line goes through these modules:
//! `lines` (what it holds), `shape` (the log's own names), `known` (whether it is Claude Code's at all), `read` (what
//! becomes of the record), then `turns`, `results` or `events` (how it is told), helped by `content`, `signal` and
//! `words` (who wrote it), `edits`, `tools` and `usage`. `facts` gathers what the whole session is called. Nothing is kept
//! of a record once told but digests of ids.
//!
//! Sub-agents have files of their own (`agents`), which are told on `branches` of the `calls` that started them. `list`
//! glances at the sessions of a root, and `detect` at the beginning of a file.

mod agents;
mod branches;
mod calls;
mod content;
mod detect;
mod digest;
mod edits;
mod events;
mod facts;
mod known;
mod lines;
mod list;
mod notices;
mod novel;
mod place;
mod queue;
mod read;
mod results;
mod seen;
mod shape;
mod signal;
mod spill;
#[cfg(test)]
mod tests;
mod threads;
mod tools;
mod turns;
mod usage;
mod words;

use std::fs::File;
use std::io::{self, Read, Take};

use toolpath_plugin_api::{
    DetectRequest, ListRequest, ListSink, PluginError, Provider, ReadRequest, Sink, Summary, declare_provider,
};

use crate::agents::Agents;
use crate::read::Reader;
use crate::spill::Spills;

#[derive(Default)]
struct ClaudeCode;

impl Provider for ClaudeCode {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let path = request.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if request.is_copy() {
            // The spooled copy has a name that means nothing; the log itself names the session.
            let id = lines::first_session_id(as_it_is(request.open_file()?)?)?.unwrap_or_else(|| "stdin".to_owned());
            return Reader::new(&id, request.name(), Agents::unknown(), Spills::default())
                .read(as_it_is(request.open_file()?)?, sink);
        }
        let id = name.strip_suffix(".jsonl").unwrap_or(&name);
        let (agents, spills) = (Agents::beside(&path, id), Spills::beside(&path, id));
        Reader::new(id, request.name(), agents, spills).read(as_it_is(request.open_file()?)?, sink)
    }

    fn sessions(&self, request: &ListRequest<'_>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
        for root in request.roots() {
            list::root(&root, sink)?;
        }
        Ok(())
    }

    fn detect(&self, request: &DetectRequest<'_>) -> u8 {
        detect::sureness(request.head())
    }
}

/// A file up to its present end: one that grows as fast as it is read would never come to another.
fn as_it_is(file: File) -> io::Result<Take<File>> {
    let about = file.metadata()?;
    let length = if about.is_file() { about.len() } else { u64::MAX };
    Ok(file.take(length))
}

declare_provider! {
    provider: ClaudeCode,
    name: "claude",
    provider_id: "claude-code",
    display_name: "Claude Code",
    harness: "Claude Code", versions: ["1.0", "2.0", "2.1"],
    env: ["CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME"],
    roots: ["${CLAUDE_CONFIG_DIR:-~/.claude}/projects", "${XDG_CONFIG_HOME:-~/.config}/claude/projects"],
    companions: ["{stem}/**", "agent-*.jsonl"],
}
