//! SQLite databases that belong to somebody else: read, and left as they are.
//!
//! Only with the feature `sqlite`. A [`Database`] is one snapshot: what a harness writes meanwhile is not seen. Nothing
//! is written, nothing is check-pointed, and no `-wal` or `-shm` appears beside the file; `open` says how. A plugin that
//! uses it names `{file}-wal`, `{file}-shm` and `{file}-journal` among its manifest's companions: without the first
//! two the newest rows are missing or cannot be read at all.
//!
//! Values come as [`Cell`]s, which forgive: a text may be stored as TEXT or BLOB, and need not be UTF-8. Rows that
//! damage took cost themselves and no others when they are read one by one: [`Database::row_ids`] finds them,
//! [`Database::row`] reads each.

mod cell;
mod fault;
mod open;
#[cfg(test)]
mod tests;

use rusqlite::{Connection, Params, ToSql};

pub use rusqlite;

pub use cell::{Cell, Row};
pub use fault::Fault;

use open::Watch;

/// The first bytes of every database.
pub const MAGIC: &[u8] = b"SQLite format 3\0";
/// A longer value is not read: its row is a [`Fault`] of its own.
pub const LONGEST: i32 = 256 * 1024 * 1024;

/// A database, read only, as it was at one moment.
pub struct Database {
    connection: Connection,
    watch: Option<Watch>,
}

/// Rows that were found, and what stopped the search.
#[derive(Debug, Default)]
pub struct RowIds {
    /// Their ids.
    pub ids: Vec<i64>,
    /// The damage on the way: there may have been more rows than were found.
    pub damage: Option<Fault>,
}

impl Database {
    /// The names of a table's columns; none when there is no such table.
    pub fn columns(&self, table: &str) -> Result<Vec<String>, Fault> {
        let mut columns = Vec::new();
        self.rows("SELECT name FROM pragma_table_info(?1)", [table], |row| {
            columns.extend(row.cell(0).text().map(|(name, _)| name.into_owned()));
            Ok::<(), Fault>(())
        })?;
        Ok(columns)
    }

    /// Hands each row that `sql` selects to `each`, until that fails.
    pub fn rows<E: From<Fault>>(
        &self,
        sql: &str,
        params: impl Params,
        mut each: impl FnMut(Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut statement = self.connection.prepare_cached(sql).map_err(Fault::from)?;
        let mut rows = statement.query(params).map_err(Fault::from)?;
        while let Some(row) = rows.next().map_err(Fault::from)? {
            each(Row(row))?;
        }
        Ok(())
    }

    /// What `read` makes of the first row that `sql` selects; `None` when it selects none.
    pub fn row<T>(&self, sql: &str, params: impl Params, read: impl FnOnce(Row<'_>) -> T) -> Result<Option<T>, Fault> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        Ok(rows.next()?.map(|row| read(Row(row))))
    }

    /// The ids that the first column of `sql` holds, in its order.
    ///
    /// When damage stops that, the `others` (through another index, or through none) are tried up to where each is
    /// stopped, and what all of them found is given in the order of ids.
    pub fn row_ids(&self, sql: &str, others: &[&str], params: &[&dyn ToSql]) -> Result<RowIds, Fault> {
        let mut found = RowIds::default();
        found.damage = self.gather(sql, params, &mut found.ids)?;
        if found.damage.is_some() {
            for other in others {
                self.gather(other, params, &mut found.ids)?;
            }
            found.ids.sort_unstable();
            found.ids.dedup();
        }
        Ok(found)
    }

    fn gather(&self, sql: &str, params: &[&dyn ToSql], ids: &mut Vec<i64>) -> Result<Option<Fault>, Fault> {
        let gathered = self.rows(sql, params, |row| {
            ids.extend(row.cell(0).integer());
            Ok::<(), Fault>(())
        });
        match gathered {
            Err(fault) if fault.is_local() => Ok(Some(fault)),
            other => other.map(|()| None),
        }
    }
}
