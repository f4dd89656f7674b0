//! Sessions of the Pi coding agent, told to a host record by record.
//!
//! A session is a file of JSON lines: a header, then entries that form a tree by their parents. Entries are only ever
//! added, so a branch that was left stays in the file. One line goes through these modules: `lines` (what it holds),
//! `shape` (the log's own names), `known` (whether it is Pi's at all), `read` (what becomes of the record), `roots` (where
//! the tree begins anew), then `messages`, `results` or `events` (how it is told), helped by `content`, `signal`, `agents`,
//! `edits`, `tools` and `usage`. `session` and `facts` know what the whole is called; `list` and `detect` look at files
//! without reading them whole.

mod agents;
mod content;
mod detect;
mod edits;
mod events;
mod facts;
mod known;
mod lines;
mod list;
mod messages;
mod place;
mod read;
mod results;
mod roots;
mod session;
mod shape;
mod signal;
#[cfg(test)]
mod tests;
mod tools;
mod usage;

use std::fs::File;
use std::io::{self, Read, Take};

use toolpath_plugin_api::{
    DetectRequest, ListRequest, ListSink, PluginError, Provider, ReadRequest, Sink, Summary, declare_provider,
};

use crate::read::Reader;

#[derive(Default)]
struct Pi;

impl Provider for Pi {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let id = session::id(as_it_is(request.open_file()?)?, request.file_stem().as_deref())?;
        Reader::new(&id).read(as_it_is(request.open_file()?)?, sink)
    }

    fn sessions(&self, request: &ListRequest<'_>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
        Ok(list::list(&request.roots(), sink)?)
    }

    fn detect(&self, request: &DetectRequest<'_>) -> u8 {
        detect::detect(&request.path(), request.head())
    }
}

/// A file up to its present end: one that grows as fast as it is read would never come to another.
fn as_it_is(file: File) -> io::Result<Take<File>> {
    let about = file.metadata()?;
    let length = if about.is_file() { about.len() } else { u64::MAX };
    Ok(file.take(length))
}

declare_provider! {
    provider: Pi,
    name: "pi",
    provider_id: "pi",
    display_name: "Pi",
    harness: "Pi coding agent", versions: ["1", "2", "3"],
    env: ["PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"],
    roots: ["${PI_CODING_AGENT_DIR:-~/.pi/agent}/sessions", "${PI_CODING_AGENT_SESSION_DIR:-~/.pi/agent/sessions}"],
    companions: [],
}
