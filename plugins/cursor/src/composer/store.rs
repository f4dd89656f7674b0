//! The table `cursorDiskKV`: values by key, of which a session's are found by the keys that begin with its kind and id.
//!
//! A value may be TEXT or BLOB, null, or no JSON. The table grows to gigabytes, so it is never walked as a whole: keys of
//! one kind lie next to each other in its index. Of `ItemTable` one key is read, the index of all composers: others hold
//! tokens that are valid.

use std::cell::OnceCell;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::sqlite::{Database, Fault};
use toolpath_plugin_api::{Origin, PluginError};

use crate::row::Row;
use crate::shape::{Caller, Composer, Heads};

/// The editor's sessions.
pub(crate) struct Composers {
    database: Database,
    has_items: bool,
    /// The index of all composers, as JSON.
    heads: OnceCell<Option<String>>,
}

/// A composer, without its bubbles.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub(crate) id: String,
    pub(crate) title: Option<String>,
    pub(crate) directory: Option<String>,
    pub(crate) started: Option<String>,
    pub(crate) last: Option<String>,
    pub(crate) bubbles: u64,
    pub(crate) bytes: u64,
}

const COMPOSER: &str = "composerData:";

impl Composers {
    /// The composers of `database`; `None` when it has no table of them.
    pub(crate) fn new(database: Database) -> Result<Result<Self, Database>, PluginError> {
        if !database.columns("cursorDiskKV")?.iter().any(|column| column == "key") {
            return Ok(Err(database));
        }
        let has_items = !database.columns("ItemTable")?.is_empty();
        Ok(Ok(Self { database, has_items, heads: OnceCell::new() }))
    }

    /// The value of a key, as the record `id`.
    pub(crate) fn row(&self, key: &str, id: &str) -> Result<Option<Row>, PluginError> {
        let sql = "SELECT rowid, value FROM cursorDiskKV WHERE key = ?1";
        let read = self.database.row(sql, [key], |cells| {
            let line = cells.cell(0).integer().and_then(|line| line.try_into().ok()).unwrap_or(0);
            let origin = Origin { line, ..Origin::default() };
            match cells.cell(1).text() {
                Some((text, is_faithful)) => Row::new(id.to_owned(), &text, is_faithful, origin),
                None if cells.cell(1).is_null() => Row::without(id.to_owned(), "its value is null".to_owned(), origin),
                None => Row::without(id.to_owned(), "its value is no text".to_owned(), origin),
            }
        });
        match read {
            Err(fault) if fault.is_local() => {
                Ok(Some(Row::without(id.to_owned(), fault.to_string(), Origin::default())))
            }
            other => Ok(other?),
        }
    }

    /// A composer.
    pub(crate) fn composer(&self, id: &str) -> Result<Option<Row>, PluginError> {
        self.row(&format!("{COMPOSER}{id}"), id)
    }

    /// A bubble of a composer.
    pub(crate) fn bubble(&self, composer: &str, id: &str) -> Result<Option<Row>, PluginError> {
        self.row(&format!("bubbleId:{composer}:{id}"), id)
    }

    /// The text that a key stands for.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        let sql = "SELECT value FROM cursorDiskKV WHERE key = ?1";
        let text = self.database.row(sql, [key], |cells| cells.cell(0).text().map(|(text, _)| text.into_owned()));
        text.ok().flatten().flatten()
    }

    /// What follows `prefix` in the keys that begin with it, and the damage that hid more of them.
    pub(crate) fn keys(&self, prefix: &str) -> Result<(Vec<String>, Option<String>), PluginError> {
        // The prefixes end with a colon, and a semicolon is the next character.
        let end = format!("{};", prefix.strip_suffix(':').unwrap_or(prefix));
        let mut keys = Vec::new();
        let sql = "SELECT key FROM cursorDiskKV WHERE key >= ?1 AND key < ?2 ORDER BY key";
        let gathered = self.database.rows(sql, [prefix, &end], |row| {
            let key = row.cell(0).text();
            keys.extend(key.and_then(|(key, _)| key.strip_prefix(prefix).map(str::to_owned)));
            Ok::<(), Fault>(())
        });
        match gathered {
            Err(fault) if fault.is_local() => Ok((keys, Some(fault.to_string()))),
            other => Ok(other.map(|()| (keys, None))?),
        }
    }

    /// The composers that no other started and that have bubbles, in the order of their ids.
    pub(crate) fn tops(&self) -> Result<Vec<Listed>, PluginError> {
        let (ids, _) = self.keys(COMPOSER)?;
        let mut called: Vec<String> = Vec::new();
        let mut listed = Vec::new();
        for id in ids {
            let Some(row) = self.composer(&id)? else { continue };
            let composer: Composer<'_> = row.shape();
            called.extend(named(composer.children).chain(named(composer.agents)).filter(|child| *child != id));
            let head = self.head(&id);
            let head: Composer<'_> = head.object_or_default();
            let caller = [composer.caller, head.caller].map(|caller| caller.object_or_default::<Caller<'_>>().parent);
            if caller.iter().any(|parent| parent.filled().is_some_and(|parent| *parent != *id)) {
                called.push(id.clone());
            }
            let count = |field: Field<'_>| field.list().map_or(0, |list| list.len());
            let bubbles = count(composer.headers).max(count(composer.conversation)) as u64;
            // A draft has none; a row that cannot be read may have some.
            if bubbles == 0 && row.data.is_ok() {
                continue;
            }
            let either = |of: fn(&Composer<'_>) -> Option<String>| of(&composer).or_else(|| of(&head));
            listed.push(Listed {
                title: either(|composer| composer.name.filled().map(Into::into)),
                directory: either(|composer| crate::facts::folder_of(composer.workspace)),
                started: either(|composer| crate::facts::moment_of(composer.created)),
                last: either(|composer| crate::facts::moment_of(composer.updated)),
                bubbles,
                bytes: row.data.as_ref().map_or(0, |json| json.len() as u64),
                id,
            });
        }
        called.sort_unstable();
        listed.retain(|composer| called.binary_search(&composer.id).is_err());
        Ok(listed)
    }

    /// The composers that `id` started, and the calls that did.
    pub(crate) fn children(
        &self,
        id: &str,
        composer: &Composer<'_>,
    ) -> Result<Vec<(String, Option<String>)>, PluginError> {
        let mut ids: Vec<String> = named(composer.children).chain(named(composer.agents)).collect();
        for raw in self.heads() {
            let head: Composer<'_> = raw.object_or_default();
            let caller: Caller<'_> = head.caller.object_or_default();
            if caller.parent.is(id) {
                ids.extend(head.id.filled().map(Into::into));
            }
        }
        let mut children: Vec<(String, Option<String>)> = Vec::new();
        for child in ids {
            if child == id || children.iter().any(|(known, _)| *known == child) {
                continue;
            }
            let Some(row) = self.composer(&child)? else { continue };
            let own: Composer<'_> = row.shape();
            let head = self.head(&child);
            let head: Composer<'_> = head.object_or_default();
            let call = [own.caller, head.caller].into_iter().find_map(|caller| {
                let caller: Caller<'_> = caller.object_or_default();
                caller.call.filled().map(|call| call.into_owned())
            });
            children.push((child, call));
        }
        Ok(children)
    }

    /// What the index of all composers says of one.
    pub(crate) fn head(&self, id: &str) -> Field<'_> {
        let is_own = |head: &Field<'_>| head.object_or_default::<Composer<'_>>().id.is(id);
        self.heads().into_iter().find(is_own).unwrap_or_default()
    }

    fn heads(&self) -> Vec<Field<'_>> {
        let json = self.heads.get_or_init(|| {
            let sql = "SELECT value FROM ItemTable WHERE key = 'composer.composerHeaders'";
            let read = || self.database.row(sql, [], |cells| cells.cell(0).text().map(|(text, _)| text.into_owned()));
            self.has_items.then(read)?.ok().flatten().flatten()
        });
        let heads: Heads<'_> = json.as_deref().and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
        heads.all.list().unwrap_or_default()
    }

    /// Says at the end whether what was read can be believed.
    pub(crate) fn finish(self) -> Result<(), PluginError> {
        self.database.finish()
    }
}

/// The ids in a list of them.
fn named(field: Field<'_>) -> impl Iterator<Item = String> {
    field.list().unwrap_or_default().into_iter().filter_map(|raw| raw.filled().map(Into::into))
}
