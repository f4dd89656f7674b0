//! From what the user named to the store that it is, and where stores are.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::PluginError;
use toolpath_plugin_api::kit::sqlite::{Database, MAGIC};

use crate::chat::Chats;
use crate::composer::store::{Composers, Listed};
use crate::transcript::text;

/// What stands at a path.
pub(crate) enum Found {
    /// The editor's database.
    Composers(Composers),
    /// The command line's database.
    Chat(Chats),
    /// A transcript of JSON lines.
    Lines(PathBuf),
    /// A transcript of plain text.
    Text(PathBuf),
}

/// What stands at `path`.
pub(crate) fn found(path: &Path) -> Result<Found, PluginError> {
    if path.is_dir() {
        return in_folder(path);
    }
    let mut head = Vec::new();
    File::open(path)?.take(64).read_to_end(&mut head)?;
    if text::is_one(&head) {
        return Ok(Found::Text(path.to_owned()));
    }
    if !head.starts_with(MAGIC) {
        return Ok(Found::Lines(path.to_owned()));
    }
    let database = match Composers::new(Database::open(path)?)? {
        Ok(composers) => return Ok(Found::Composers(composers)),
        Err(database) => database,
    };
    match Chats::new(database, path)? {
        Ok(chat) => Ok(Found::Chat(chat)),
        Err(_) => {
            let message =
                "holds no sessions of Cursor; name its `globalStorage/state.vscdb`, a `store.db` or a transcript";
            Err(PluginError::new(message))
        }
    }
}

/// A session's own folder holds its transcript or its chat; a folder of the editor's, its database.
fn in_folder(path: &Path) -> Result<Found, PluginError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for file in [format!("{name}.jsonl"), "store.db".to_owned(), "state.vscdb".to_owned()] {
        let file = path.join(file);
        if file.is_file() {
            return found(&file);
        }
    }
    Err(PluginError::new("holds no session of Cursor; name its `state.vscdb`, a `store.db` or a transcript"))
}

/// The only one of the composers.
pub(crate) fn only(composers: &[Listed]) -> Result<&str, PluginError> {
    const SHOWN: usize = 20;
    match composers {
        [composer] => Ok(&composer.id),
        [] => Err(PluginError::new("holds no session with messages; name another store")),
        _ => {
            let shown: Vec<&str> = composers.iter().take(SHOWN).map(|composer| &*composer.id).collect();
            let more = if composers.len() > SHOWN { ", ..." } else { "" };
            let (count, shown) = (composers.len(), shown.join(", "));
            Err(PluginError::new(format!("holds {count} sessions; name one as PATH#ID: {shown}{more}")))
        }
    }
}

/// The stores below a root, in the order in which they win.
#[derive(Debug, Default)]
pub(crate) struct Below {
    pub(crate) editors: Vec<PathBuf>,
    pub(crate) chats: Vec<PathBuf>,
    pub(crate) transcripts: Vec<PathBuf>,
}

impl Below {
    /// What stands below `root`: one of the editor's storage folders, `chats`, `projects`, or a folder that holds these.
    pub(crate) fn of(root: &Path) -> Self {
        let mut below = Self::default();
        below.editors.extend(
            ["state.vscdb", "globalStorage/state.vscdb", "User/globalStorage/state.vscdb"]
                .iter()
                .map(|file| root.join(file))
                .filter(|file| exists(file)),
        );
        for chats in [root.join("chats"), root.to_owned()] {
            for project in folders(&chats) {
                below.chats.extend(
                    folders(&project).into_iter().map(|chat| chat.join("store.db")).filter(|file| exists(file)),
                );
            }
        }
        for projects in [root.join("projects"), root.to_owned()] {
            for project in folders(&projects) {
                below.transcripts.extend(transcripts(&project.join("agent-transcripts")));
            }
        }
        below.chats.sort();
        below.chats.dedup();
        below.transcripts.sort();
        below.transcripts.dedup();
        below
    }
}

/// Whether something is there, be it a file or not: what is none has to be said.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_dir()).collect()
}

/// The transcripts in a folder of them: in folders of their own, or by themselves.
fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            let name = entry.file_name();
            let own = path.join(format!("{}.jsonl", name.to_string_lossy()));
            found.extend(Some(own).filter(|own| exists(own)));
        } else if path.extension().is_some_and(|ending| ending == "jsonl" || ending == "txt") {
            found.push(path);
        }
    }
    found
}
