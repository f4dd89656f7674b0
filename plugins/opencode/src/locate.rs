//! From what the user named to the store that holds the session.

use std::fs;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::PluginError;
use toolpath_plugin_api::kit::sqlite::{Database, MAGIC};

use crate::store::Store;
use crate::store::database::Sessions;
use crate::store::export::Exported;
use crate::store::tree::{Tree, read, stem};

/// A session, in the store that holds it.
pub(crate) struct Located {
    pub(crate) store: Box<dyn Store>,
    pub(crate) id: String,
}

impl std::fmt::Debug for Located {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.id)
    }
}

/// The session `id` at `path`; without an id the only one there.
pub(crate) fn locate(path: &Path, id: Option<&str>) -> Result<Located, PluginError> {
    let Found { stores, session } = stores(path)?;
    let Some(id) = id.or(session.as_deref()) else { return only(stores) };
    let mut count = 0;
    for store in stores {
        if store.session(id)?.is_some() {
            return Ok(Located { store, id: id.to_owned() });
        }
        count += store.tops()?.len();
    }
    let sessions = if count == 1 { "session" } else { "sessions" };
    Err(PluginError::new(format!("holds no session `{id}` among its {count} {sessions}")))
}

/// The only session of the stores.
fn only(stores: Vec<Box<dyn Store>>) -> Result<Located, PluginError> {
    const SHOWN: usize = 20;
    let mut ids: Vec<String> = Vec::new();
    let mut first = None;
    for store in stores {
        // What stands in the database and in the folders is one session.
        let new: Vec<String> = store.tops()?.into_iter().filter(|id| !ids.contains(id)).collect();
        if first.is_none() && !new.is_empty() {
            first = Some(store);
        }
        ids.extend(new);
    }
    match (first, ids.as_slice()) {
        (Some(store), [id]) => Ok(Located { store, id: id.clone() }),
        (_, []) => Err(PluginError::new("holds no session; run opencode once, or name another store")),
        (_, ids) => {
            let shown = ids.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if ids.len() > SHOWN { ", ..." } else { "" };
            Err(PluginError::new(format!("holds {} sessions; name one as PATH#ID: {shown}{more}", ids.len())))
        }
    }
}

/// What stands at a path.
struct Found {
    /// Stores, those that win first.
    stores: Vec<Box<dyn Store>>,
    /// The session that the path itself names.
    session: Option<String>,
}

fn stores(path: &Path) -> Result<Found, PluginError> {
    let one = |store: Box<dyn Store>, session| Ok(Found { stores: vec![store], session });
    if path.is_dir() {
        let mut stores: Vec<Box<dyn Store>> = Vec::new();
        for database in databases(path) {
            stores.push(Box::new(Sessions::new(Database::open(&database)?)?));
        }
        for tree in trees(path) {
            stores.push(Box::new(tree));
        }
        if stores.is_empty() {
            let message = "holds no sessions of opencode; name its data folder, its `storage` or its database";
            return Err(PluginError::new(message));
        }
        return Ok(Found { stores, session: None });
    }
    let (bytes, is_whole) = head_or_whole(path)?;
    if bytes.starts_with(MAGIC) {
        return one(Box::new(Sessions::new(Database::open(path)?)?), None);
    }
    if let Some(tree) = tree_of(path) {
        let id = stem(path);
        if !tree.messages_of(&id).is_dir() {
            let root = tree.root().display();
            let message = format!("is the head of a session whose messages lie elsewhere; name it as `{root}#{id}`");
            return Err(PluginError::new(message));
        }
        return one(Box::new(tree), Some(id));
    }
    if !is_whole {
        return Err(PluginError::new("is too long for an exported session"));
    }
    one(Box::new(Exported::new(&String::from_utf8_lossy(&bytes))?), None)
}

fn head_or_whole(path: &Path) -> Result<(Vec<u8>, bool), PluginError> {
    use std::io::Read;
    let mut head = Vec::new();
    fs::File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut head)?;
    if head.starts_with(MAGIC) { Ok((head, true)) } else { Ok(read(path)?) }
}

/// The databases in a data folder: that of the usual channel first.
pub(crate) fn databases(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| is_database(&name.to_string_lossy())) && path.is_file())
        .collect();
    found.sort_by_key(|path| (path.file_name().is_some_and(|name| name != "opencode.db"), path.clone()));
    found
}

/// The folders of older stores in a data folder, or the one that `folder` is itself.
pub(crate) fn trees(folder: &Path) -> Vec<Tree> {
    if let Some(tree) = Tree::at(folder) {
        return vec![tree];
    }
    let mut roots = vec![folder.join("storage")];
    let mut projects: Vec<PathBuf> =
        fs::read_dir(folder.join("project")).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    projects.sort();
    roots.extend(projects.into_iter().map(|project| project.join("storage")));
    roots.iter().filter_map(|root| Tree::at(root)).collect()
}

/// The older store that the file `path` is a session of.
fn tree_of(path: &Path) -> Option<Tree> {
    let sessions = path.parent()?.parent()?;
    if sessions.file_name()? != "session" || path.extension()? != "json" {
        return None;
    }
    Tree::at(sessions.parent()?)
}

/// Whether a file's name is that of a database: `opencode.db`, or `opencode-<channel>.db`.
pub(crate) fn is_database(name: &str) -> bool {
    let channel = name.strip_prefix("opencode").and_then(|rest| rest.strip_suffix(".db"));
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    channel.is_some_and(|channel| {
        channel.is_empty()
            || channel.strip_prefix('-').is_some_and(|channel| !channel.is_empty() && channel.chars().all(is_part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_known_by_its_name() {
        for name in ["opencode.db", "opencode-dev.db", "opencode-feature.x_1-2.db"] {
            assert!(is_database(name), "{name}");
        }
        for name in ["opencode.db-wal", "opencode-.db", "opencode-a b.db", "opencodex.db", "xopencode.db", "auth.json"]
        {
            assert!(!is_database(name), "{name}");
        }
    }
}
