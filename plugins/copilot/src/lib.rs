//! Sessions of the GitHub Copilot CLI, told to a host record by record.
//!
//! A session is a file of JSON lines, one an event; sub-agents' events stand among those of the main line. One line goes
//! through these modules: `lines` and `joined` (what it holds), `shape` (the log's own names), `known` (whether it is
//! Copilot's at all), `read` (what becomes of the event), `streams` (whose it is, and which model speaks), then `messages`,
//! `results`, `notices` or `events` (how it is told), helped by `signal`, `edits`, `tools` and `usage`. `session`, `workspace`
//! and `facts` know where the log is and what the whole is called; `legacy` reads the oldest layout, one document; `list`
//! and `detect` look at files without reading them whole.

mod detect;
mod edits;
mod events;
mod facts;
mod joined;
mod known;
mod legacy;
mod lines;
mod list;
mod messages;
mod notices;
mod place;
mod read;
mod results;
mod session;
mod shape;
mod signal;
mod streams;
#[cfg(test)]
mod tests;
mod tools;
mod usage;
mod workspace;

use std::io::Read;

use toolpath_plugin_api::{
    DetectRequest, ListRequest, ListSink, PluginError, Provider, ReadRequest, Sink, Summary, declare_provider,
};

use crate::read::Reader;
use crate::session::Session;

#[derive(Default)]
struct Copilot;

impl Provider for Copilot {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let session = Session::at(request.path(), request.is_copy());
        if session.is_legacy()? {
            let mut document = Vec::new();
            session.open()?.read_to_end(&mut document)?;
            let name = if request.is_copy() { "stdin".to_owned() } else { session.name() };
            return legacy::read(&document, &name, sink);
        }
        let id = session.id()?;
        Reader::new(&id, session.workspace()).read(session.open()?, sink)
    }

    fn sessions(&self, request: &ListRequest<'_>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
        Ok(list::list(&request.roots(), sink)?)
    }

    fn detect(&self, request: &DetectRequest<'_>) -> u8 {
        detect::detect(&request.path(), request.head())
    }
}

declare_provider! {
    provider: Copilot,
    name: "copilot",
    provider_id: "copilot",
    display_name: "GitHub Copilot CLI",
    harness: "GitHub Copilot CLI", versions: ["1.0"],
    env: ["COPILOT_HOME"],
    roots: ["${COPILOT_HOME:-~/.copilot}/session-state", "${COPILOT_HOME:-~/.copilot}/history-session-state"],
    companions: ["workspace.yaml"],
}
