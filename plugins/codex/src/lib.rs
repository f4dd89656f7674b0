//! Codex's sessions, told to a host record by record.
//!
//! A session is a file to which Codex only appends. It is gone through twice: `survey` learns what is said of a response
//! only after it, and which words stand twice; then `read` tells each record. A record goes through these modules: `log`
//! (which records a file holds), `record` (what they are), `flow` (which of them make up one response), then `items` or
//! `events` (what becomes of them), helped by `turn`, `calls`, `results`, `writes`, `edits`, `content`, `signal` and
//! `words` (who wrote it) and `usage`. `facts` gathers what the whole session is called.

mod agents;
mod calls;
mod content;
mod detect;
mod edits;
mod events;
mod facts;
mod flow;
mod items;
mod log;
mod place;
mod read;
mod record;
mod repeats;
mod results;
mod sessions;
mod signal;
mod survey;
#[cfg(test)]
mod tests;
mod tools;
mod turn;
mod usage;
mod words;
mod writes;
mod zst;

use toolpath_plugin_api::record::SessionRecord;
use toolpath_plugin_api::{
    DetectRequest, ListRequest, ListSink, PluginError, Provider, ReadRequest, Sink, Summary, declare_provider,
};

use crate::agents::Agents;
use crate::log::Log;
use crate::read::Reader;
use crate::survey::Survey;

#[derive(Default)]
struct Codex;

impl Provider for Codex {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let log = Log::of(request.open_file()?)?;
        let survey = Survey::of(&log)?;
        if survey.records == 0 {
            return Err(PluginError::new("holds no records; name a Codex session file"));
        }
        if !survey.is_recognised {
            let message = "holds no record of Codex; name a session file of it, or another --provider";
            return Err(PluginError::new(message));
        }
        let named = || request.file_stem().map(|stem| sessions::id_of(&stem).to_owned());
        let id = survey.id.clone().or_else(named).unwrap_or_else(|| "stdin".to_owned());
        sink.session(&SessionRecord::new(&id))?;
        let agents = if request.is_copy() { Agents::unknown() } else { Agents::beside(&request.path()) };
        let mut reader = Reader::new(id.clone(), survey, agents);
        reader.read(&log, sink)?;
        reader.facts.whole(&id, &reader.agents.files, |session| sink.session(session))?;
        Ok(Summary { records: reader.records })
    }

    fn sessions(&self, request: &ListRequest<'_>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
        sessions::list(&request.roots(), sink)
    }

    fn detect(&self, request: &DetectRequest<'_>) -> u8 {
        detect::certainty(&request.path(), request.head())
    }
}

declare_provider! {
    provider: Codex,
    name: "codex",
    provider_id: "codex",
    display_name: "Codex",
    harness: "Codex", versions: ["0.47", "0.57", "0.58", "0.118", "0.146"],
    env: ["CODEX_HOME"],
    roots: ["${CODEX_HOME:-~/.codex}/sessions", "${CODEX_HOME:-~/.codex}/archived_sessions"],
    companions: ["rollout-*.jsonl", "rollout-*.jsonl.zst"],
}
