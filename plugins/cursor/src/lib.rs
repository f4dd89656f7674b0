//! Cursor's sessions, told to a host record by record.
//!
//! What the user named is one of Cursor's stores (`locate`): the editor's database (`composer`), the command line's
//! (`chat`), or a transcript (`transcript`). Each is read in its own order and told alike, helped by `signal` and `words`
//! (who wrote it), `edits` and `tools`. `facts` gathers what the whole session is called, `row` is a record of any store.

mod chat;
mod composer;
mod detect;
mod edits;
mod facts;
mod list;
mod locate;
mod row;
mod shape;
mod signal;
#[cfg(test)]
mod tests;
mod tools;
mod transcript;
mod words;

use toolpath_plugin_api::{
    DetectRequest, ListRequest, ListSink, PluginError, Provider, ReadRequest, Sink, Summary, declare_provider,
};

use crate::locate::{Found, found, only};

#[derive(Default)]
struct Cursor;

impl Provider for Cursor {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let path = request.path();
        match found(&path)? {
            Found::Composers(store) => {
                let composers = if request.session_id().is_none() { store.tops()? } else { Vec::new() };
                let id = match request.session_id() {
                    Some(id) => id,
                    None => only(&composers)?,
                };
                let summary = composer::read::Reader::read(&store, id, sink)?;
                store.finish()?;
                Ok(summary)
            }
            Found::Chat(chat) => {
                let own = chat.id().unwrap_or_else(|| list::folder_name(&path));
                check(request, &own)?;
                let summary = chat.read(&own, sink)?;
                chat.finish()?;
                Ok(summary)
            }
            Found::Lines(file) => {
                let id = own_name(request, &file);
                check(request, &id)?;
                let beside = Some(&*file).filter(|_| !request.is_copy());
                transcript::lines::Reader::read(std::fs::File::open(&file)?, beside, &id, request.name(), sink)
            }
            Found::Text(file) => {
                let id = own_name(request, &file);
                check(request, &id)?;
                transcript::text::read(std::fs::File::open(&file)?, &id, sink)
            }
        }
    }

    fn sessions(&self, request: &ListRequest<'_>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
        list::list(&request.roots(), sink)
    }

    fn detect(&self, request: &DetectRequest<'_>) -> u8 {
        detect::detect(&request.path(), request.head())
    }
}

/// The session's id: the name of its file, which a copy does not have.
fn own_name(request: &ReadRequest<'_>, file: &std::path::Path) -> String {
    let stem = file.file_stem().filter(|_| !request.is_copy());
    stem.map_or_else(|| "stdin".to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// A store of one session holds no other.
fn check(request: &ReadRequest<'_>, own: &str) -> Result<(), PluginError> {
    match request.session_id() {
        Some(id) if id != own => Err(PluginError::new(format!("holds no session `{id}`, only `{own}`"))),
        _ => Ok(()),
    }
}

declare_provider! {
    provider: Cursor,
    name: "cursor",
    provider_id: "cursor",
    display_name: "Cursor",
    harness: "Cursor", versions: ["1", "2", "3"],
    env: ["APPDATA", "XDG_CONFIG_HOME"],
    roots: [
        "${XDG_CONFIG_HOME:-~/.config}/Cursor/User/globalStorage",
        "~/Library/Application Support/Cursor/User/globalStorage",
        "${APPDATA:-~/AppData/Roaming}/Cursor/User/globalStorage",
        "~/.cursor/chats",
        "~/.cursor/projects"
    ],
    companions: ["{file}-wal", "{file}-shm", "{file}-journal", "meta.json", "subagents/**"],
}
