//! Gemini CLI's sessions, told to a host record by record.
//!
//! A session is a log of JSON lines, or in older versions one JSON document. A file is read twice. `survey` looks where
//! the last version of each message stands; then each record goes through `source` (`scan` for documents), `lines`
//! (what it holds), `shape` (the log's own names), `read` (what becomes of it, with `active`, the thread that is left
//! after rewinds, and `copies`, what is written twice), and `turns` (how a message is told), helped by `content`, `calls`, `edits`, `signal`, `tools` and
//! `usage`. `agents` finds the sub-agents' files, which are told as branches.
//! `list` and `detect` make do with a `glance` at pieces of files.

mod active;
mod agents;
mod calls;
mod content;
mod copies;
mod detect;
mod digest;
mod edits;
mod glance;
mod lines;
mod list;
mod place;
mod read;
mod scan;
mod shape;
mod signal;
mod source;
mod survey;
#[cfg(test)]
mod tests;
mod tools;
mod turns;
mod usage;

use std::path::Path;

use toolpath_plugin_api::{
    DetectRequest, ListRequest, ListSink, Origin, PluginError, Provider, ReadRequest, Severity, Sink, Summary,
    declare_provider,
};

use crate::agents::Agents;
use crate::read::{Reader, Session};

#[derive(Default)]
struct GeminiCli;

impl Provider for GeminiCli {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let path = request.path();
        if path.is_dir() {
            return Err(PluginError::new("is a folder; name one session's file in it"));
        }
        let mut reader = Reader::new(path.clone(), 0)?;
        if let Some(refusal) = reader.survey.refusal() {
            return Err(PluginError::new(refusal));
        }
        let named = reader.survey.session_id.clone().or_else(|| request.file_stem());
        let id = named.unwrap_or_else(|| "stdin".to_owned());
        let agents = if request.is_copy() { Agents::default() } else { Agents::beside(&path, &id) };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut session = Session { id, agents, files: vec![name], ..Session::default() };
        reader.survey.session(&session.id, |facts| sink.session(facts))?;
        if !request.is_copy() {
            say_log_of(&path, &session.id, sink)?;
        }
        reader.tell(&mut session, sink)?;
        if session.records == 0 {
            return Err(PluginError::new("holds no records; name a Gemini CLI session file"));
        }
        if !reader.survey.is_recognised {
            let message = "holds no record of Gemini CLI; name a session file of it, or another --provider";
            return Err(PluginError::new(message));
        }
        tell_rest(&reader, &path, &mut session, sink)?;
        if session.files.len() > 1 {
            reader.survey.session(&session.id, |facts| {
                let mut facts = facts.clone();
                facts.files = session.files.iter().map(String::as_str).collect();
                sink.session(&facts)
            })?;
        }
        Ok(Summary { records: session.records })
    }

    fn sessions(&self, request: &ListRequest<'_>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
        Ok(list::list(&request.roots(), sink)?)
    }

    fn detect(&self, request: &DetectRequest<'_>) -> u8 {
        detect::score(&request.path(), request.head())
    }
}

/// Says that a document has a log of its name beside it, which goes on with the session `id`.
fn say_log_of(path: &Path, id: &str, sink: &mut Sink<'_>) -> Result<(), PluginError> {
    let log = path.with_extension("jsonl");
    if path.extension().is_none_or(|extension| extension != "json") || !list::is_of(&log, id) {
        return Ok(());
    }
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    let message = format!("the session goes on in `{name}` beside this file; read that");
    Ok(sink.diagnostic(Severity::Warning, "continued-elsewhere", &message, Origin::default())?)
}

/// Tells the sub-agents that no call names.
fn tell_rest(reader: &Reader, path: &Path, session: &mut Session, sink: &mut Sink<'_>) -> Result<(), PluginError> {
    for id in session.agents.rest() {
        if let Some(file) = session.agents.take(&id).filter(|file| file != path) {
            let origin = Origin { file: session.files.len() as u32, ..Origin::default() };
            if reader.agent(None, "agent", file, session, sink)? {
                sink.diagnostic(Severity::Warning, "orphan-sub-agent", "no call names this sub-agent", origin)?;
            }
        }
    }
    Ok(())
}

declare_provider! {
    provider: GeminiCli,
    name: "gemini",
    provider_id: "gemini-cli",
    display_name: "Gemini CLI",
    harness: "Gemini CLI", versions: [],
    env: ["GEMINI_CLI_HOME"],
    roots: ["${GEMINI_CLI_HOME:-~}/.gemini/tmp"],
    companions: ["*/**", "{stem}.jsonl"],
}
