//! The database: tables `session`, `message` and `part`, `session_message` of the newest model, and `todo`.
//!
//! Columns were added over time, so each table is asked for those it has. A row is found by its row id: what damage
//! took of one table or index costs nothing of another.

use toolpath_plugin_api::kit::json::{RawValue, quoted};
use toolpath_plugin_api::kit::sqlite::rusqlite::params_from_iter;
use toolpath_plugin_api::kit::sqlite::{Cell, Database, Fault};
use toolpath_plugin_api::{Origin, PluginError};

use crate::store::{Row, Rows, Store};

/// The tables, in the order that origins count them; the database itself stands for the first.
const TABLES: [&str; 5] = ["session", "message", "part", "session_message", "todo"];
const SESSION: u32 = 0;
const MESSAGE: u32 = 1;
const PART: u32 = 2;
const NEXT: u32 = 3;
const TODO: u32 = 4;

/// Sessions in a database.
pub(crate) struct Sessions {
    database: Database,
    /// The columns of each of [`TABLES`].
    columns: [Vec<String>; 5],
}

impl Sessions {
    /// The sessions of `database`.
    pub(crate) fn new(database: Database) -> Result<Self, PluginError> {
        let mut columns: [Vec<String>; 5] = Default::default();
        for (table, columns) in TABLES.iter().zip(&mut columns) {
            *columns = database.columns(table)?;
        }
        let sessions = Self { database, columns };
        if !sessions.has(SESSION, "id") || !(sessions.has(MESSAGE, "data") || sessions.has(NEXT, "data")) {
            return Err(PluginError::new("holds no sessions of opencode; name its database, or another --provider"));
        }
        Ok(sessions)
    }

    /// The database, for those who list its sessions.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Whether a table has a column.
    pub(crate) fn has(&self, table: u32, column: &str) -> bool {
        self.columns[table as usize].iter().any(|name| name == column)
    }

    /// The condition that a session was not started by another one in the store.
    pub(crate) fn is_top(&self) -> &'static str {
        if self.has(SESSION, "parent_id") {
            "(parent_id IS NULL OR parent_id NOT IN (SELECT id FROM session WHERE id IS NOT NULL))"
        } else {
            "TRUE"
        }
    }

    /// `order` as far as the table has its columns.
    fn order(&self, table: u32, order: &[&str]) -> String {
        let known: Vec<&str> = order.iter().copied().filter(|column| self.has(table, column)).collect();
        if known.is_empty() { "rowid".to_owned() } else { known.join(", ") }
    }

    /// Rows of a table by the value of one of its columns.
    fn rows(&self, table: u32, by: &str, value: &str, order: &[&str]) -> Result<Rows<'_>, PluginError> {
        if !self.has(table, by) {
            return Ok(Rows::none());
        }
        let name = TABLES[table as usize];
        let sql = format!("SELECT rowid FROM {name} WHERE {by} = ?1 ORDER BY {}", self.order(table, order));
        let others = [
            format!("SELECT rowid FROM {name} WHERE {by} = ?1"),
            format!("SELECT rowid FROM {name} NOT INDEXED WHERE {by} = ?1"),
        ];
        let found = self.database.row_ids(&sql, &[&others[0], &others[1]], &[&value])?;
        let damage = found.damage.map(|fault| format!("{fault}; rows of `{name}` may be missing"));
        Ok(Rows { rows: Box::new(found.ids.into_iter().map(move |id| self.row(table, id))), damage })
    }

    fn row(&self, table: u32, id: i64) -> Result<Row, PluginError> {
        let name = TABLES[table as usize];
        let origin = Origin { file: table, line: id.try_into().unwrap_or(0), ..Origin::default() };
        let row = || Row::new(format!("{name}-row-{id}"), origin);
        let column = |column: &str| if self.has(table, column) { column.to_owned() } else { "NULL".to_owned() };
        let columns = ["id", "data", "time_created", "type"].map(column).join(", ");
        let mut whole = String::new();
        if table == TODO || table == SESSION {
            for column in &self.columns[table as usize] {
                whole.push_str(&format!(", \"{}\"", column.replace('"', "\"\"")));
            }
        }
        let sql = format!("SELECT {columns}{whole} FROM {name} WHERE rowid = ?1");
        let read = self.database.row(&sql, [id], |cells| {
            let mut row = row();
            if let Some((id, _)) = cells.cell(0).text().filter(|(id, _)| !id.is_empty()) {
                row.id = id.into_owned();
            }
            row.time = cells.cell(2).integer();
            row.kind = cells.cell(3).text().map(|(kind, _)| kind.into_owned()).unwrap_or_default();
            if whole.is_empty() {
                return match cells.cell(1).text() {
                    Some((data, is_faithful)) => row.with(&data, is_faithful, "the row's data"),
                    None if cells.cell(1).is_null() => row.without("the row's data is null".to_owned()),
                    None => row.without("the row's data is no text".to_owned()),
                };
            }
            let (data, is_faithful) = object(&self.columns[table as usize], |index| cells.cell(4 + index));
            row.kind = name.to_owned();
            row.with(&data, is_faithful, "the row")
        });
        match read {
            Ok(Some(row)) => Ok(row),
            Ok(None) => Ok(row().without("the row is gone".to_owned())),
            Err(fault) if fault.is_local() => Ok(row().without(fault.to_string())),
            Err(fault) => Err(fault.into()),
        }
    }

    fn ids(&self, sql: &str, value: &[&str]) -> Result<Vec<String>, PluginError> {
        let mut ids = Vec::new();
        let gathered = self.database.rows(sql, params_from_iter(value), |row| {
            ids.extend(row.cell(0).text().map(|(id, _)| id.into_owned()));
            Ok::<(), Fault>(())
        });
        match gathered {
            // What was found of the sessions is worth more than none; a damaged one says so when it is read.
            Err(fault) if fault.is_local() && !ids.is_empty() => Ok(ids),
            other => Ok(other.map(|()| ids)?),
        }
    }
}

impl Store for Sessions {
    fn files(&self, name: &str) -> Vec<String> {
        TABLES.iter().map(|table| format!("{name}[{table}]")).collect()
    }

    fn tops(&self) -> Result<Vec<String>, PluginError> {
        let order = self.order(SESSION, &["time_created", "id"]);
        self.ids(&format!("SELECT id FROM session WHERE {} ORDER BY {order}", self.is_top()), &[])
    }

    fn session(&self, id: &str) -> Result<Option<Row>, PluginError> {
        let mut rows = self.rows(SESSION, "id", id, &[])?;
        rows.rows.next().transpose()
    }

    fn children(&self, id: &str) -> Result<Vec<String>, PluginError> {
        if !self.has(SESSION, "parent_id") {
            return Ok(Vec::new());
        }
        let order = self.order(SESSION, &["time_created", "id"]);
        self.ids(&format!("SELECT id FROM session WHERE parent_id = ?1 ORDER BY {order}"), &[id])
    }

    fn messages(&self, session: &str) -> Result<Rows<'_>, PluginError> {
        self.rows(MESSAGE, "session_id", session, &["time_created", "id"])
    }

    fn parts(&self, _session: &str, message: &Row) -> Result<Rows<'_>, PluginError> {
        self.rows(PART, "message_id", &message.id, &["id"])
    }

    fn next(&self, session: &str) -> Result<Rows<'_>, PluginError> {
        self.rows(NEXT, "session_id", session, &["time_created", "id"])
    }

    fn rest(&self, session: &str) -> Result<Rows<'_>, PluginError> {
        let todos = self.rows(TODO, "session_id", session, &["position"])?;
        if !self.has(PART, "session_id") || !self.has(MESSAGE, "id") {
            return Ok(todos);
        }
        let sql = "SELECT rowid FROM part WHERE session_id = ?1
                   AND message_id NOT IN (SELECT id FROM message WHERE session_id = ?1 AND id IS NOT NULL) ORDER BY id";
        let found = self.database.row_ids(sql, &[], &[&session])?;
        let damage = found.damage.map(|fault| fault.to_string()).or(todos.damage);
        let orphans = found.ids.into_iter().map(|id| self.row(PART, id));
        let orphans = orphans.map(|row| row.map(|row| Row { kind: "orphan-part".to_owned(), ..row }));
        Ok(Rows { rows: Box::new(orphans.chain(todos.rows)), damage })
    }

    fn finish(self: Box<Self>) -> Result<(), PluginError> {
        self.database.finish()
    }
}

/// A row as a JSON object, and whether its texts are faithful; a column that holds JSON is told as that.
fn object<'r>(columns: &[String], cell: impl Fn(usize) -> Cell<'r>) -> (String, bool) {
    let mut object = String::from("{");
    let mut all_faithful = true;
    for (index, column) in columns.iter().enumerate() {
        let cell = cell(index);
        if cell.is_null() {
            continue;
        }
        if object.len() > 1 {
            object.push(',');
        }
        object.push_str(&quoted(column));
        object.push(':');
        let text = cell.text();
        all_faithful &= text.as_ref().is_none_or(|(_, is_faithful)| *is_faithful);
        let json = text.filter(|(text, _)| text.starts_with(['{', '[']));
        match json.filter(|(text, _)| serde_json::from_str::<&RawValue>(text).is_ok()) {
            Some((text, _)) => object.push_str(&text),
            None => object.push_str(&cell.json()),
        }
    }
    object.push('}');
    (object, all_faithful)
}
