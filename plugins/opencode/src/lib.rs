//! opencode's sessions, told to a host record by record.
//!
//! What the user named leads to a store (`locate`, `store`): the database, the older folders of JSON files, or an
//! exported file. Each hands out rows of one form, and `read` tells them in order: `message` those with parts (`parts`),
//! `next` those of the newest model, helped by `signal` (who wrote it), `edits`, `tools` and `usage`. `facts` gathers
//! what the whole session is called. Nothing is kept of a message once told.

mod detect;
mod edits;
mod facts;
mod list;
mod locate;
mod message;
mod next;
mod parts;
mod read;
mod shape;
mod signal;
mod store;
#[cfg(test)]
mod tests;
mod tools;
mod usage;

use toolpath_plugin_api::{
    DetectRequest, ListRequest, ListSink, PluginError, Provider, ReadRequest, Sink, Summary, declare_provider,
};

use crate::locate::locate;
use crate::read::Reader;

#[derive(Default)]
struct Opencode;

impl Provider for Opencode {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let located = locate(&request.path(), request.session_id())?;
        let summary = Reader::read(&*located.store, &located.id, request.name(), sink)?;
        located.store.finish()?;
        Ok(summary)
    }

    fn sessions(&self, request: &ListRequest<'_>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
        list::list(&request.roots(), sink)
    }

    fn detect(&self, request: &DetectRequest<'_>) -> u8 {
        detect::detect(&request.path(), request.head())
    }
}

declare_provider! {
    provider: Opencode,
    name: "opencode",
    provider_id: "opencode",
    display_name: "opencode",
    harness: "opencode", versions: ["1"],
    env: ["XDG_DATA_HOME"],
    roots: ["${XDG_DATA_HOME:-~/.local/share}/opencode"],
    companions: ["{file}-wal", "{file}-shm", "{file}-journal"],
}
