//! The editor's database made of a few lines: `c ID DATA` is a composer, which lists the bubbles behind it; `b ID DATA` a
//! bubble, `o ID DATA` one that is not listed; `k KEY VALUE` any other value, `h DATA` the index of all composers.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolpath_plugin_api::kit::sqlite::rusqlite::{Connection, params};

pub(super) const SCHEMA: &str = "
    CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
    CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
";

/// A folder with the editor's database.
pub(super) struct Made {
    folder: TempDir,
    log: String,
}

impl Made {
    /// The database of `log`; without a composer in it, that is `c1`.
    pub(super) fn of(log: &str) -> Self {
        let log = if log.trim_start().starts_with("c ") { log.to_owned() } else { format!("c c1 {{}}\n{log}") };
        Self { folder: tempfile::tempdir().expect("a folder"), log }
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The database.
    pub(super) fn database(&self) -> PathBuf {
        let path = self.folder().join("state.vscdb");
        let database = Connection::open(&path).expect("a database");
        database.execute_batch(SCHEMA).expect("the schema");
        let put = |table: &str, key: &str, value: &str| {
            let sql = format!("INSERT INTO {table} VALUES (?1, ?2)");
            database.execute(&sql, params![key, value]).expect("a row");
        };
        put("ItemTable", "cursorAuth/accessToken", "SECRET");
        let mut composer = String::new();
        let mut listed: Vec<(String, String, Vec<String>)> = Vec::new();
        for line in self.log.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (kind, rest) = line.split_once(' ').expect("a kind");
            if kind == "h" {
                put("ItemTable", "composer.composerHeaders", rest);
                continue;
            }
            let (id, data) = rest.split_once(' ').expect("an id");
            match kind {
                "c" => {
                    id.clone_into(&mut composer);
                    listed.push((id.to_owned(), data.to_owned(), Vec::new()));
                }
                "b" | "o" => {
                    put("cursorDiskKV", &format!("bubbleId:{composer}:{id}"), data);
                    if kind == "b" {
                        listed.last_mut().expect("a composer").2.push(format!(r#"{{"bubbleId":"{id}"}}"#));
                    }
                }
                _ => put("cursorDiskKV", id, data),
            }
        }
        for (id, data, headers) in listed {
            let headers = format!(r#""fullConversationHeadersOnly":[{}]"#, headers.join(","));
            let data = match data.strip_prefix('{') {
                Some(rest) if data != "{}" => format!("{{{headers},{rest}"),
                Some(_) => format!("{{{headers}}}"),
                None => data,
            };
            put("cursorDiskKV", &format!("composerData:{id}"), &data);
        }
        path
    }
}
