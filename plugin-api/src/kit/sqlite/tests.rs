//! Databases made here, in each state in which a harness leaves one.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use tempfile::TempDir;

use super::open::{Way, way_into};
use super::{Cell, Database, Fault};

/// A folder with a database, which a program has open or had open.
struct Found {
    folder: TempDir,
    writer: Option<Connection>,
}

impl Found {
    /// A database with the rows 1 to 3 in `t`, in the journal mode `mode`, still open.
    fn open(mode: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = Connection::open(folder.path().join("a b?%.db")).expect("a database");
        let told: String =
            writer.query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get(0)).expect("a mode");
        assert_eq!(told, mode);
        writer
            .execute_batch(
                "PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (x); INSERT INTO t VALUES (1), (2);
                 PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (3);",
            )
            .expect("rows");
        Self { folder, writer: Some(writer) }
    }

    /// The same after the program ended in good order.
    fn closed(mode: &str) -> Self {
        let mut found = Self::open(mode);
        drop(found.writer.take());
        found
    }

    /// A copy of the files with these endings, as they lie there while the program has them open.
    fn copied(mode: &str, endings: &[&str]) -> Self {
        let found = Self::open(mode);
        let folder = tempfile::tempdir().expect("a folder");
        for ending in endings {
            let name = format!("a b?%.db{ending}");
            fs::copy(found.folder.path().join(&name), folder.path().join(&name)).expect("a copy");
        }
        Self { folder, writer: None }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("a b?%.db")
    }

    /// Every file, a hash of its bytes and the time it was written.
    fn files(&self) -> BTreeMap<String, (u64, SystemTime)> {
        let entries = fs::read_dir(&self.folder).expect("the folder").map(|entry| entry.expect("an entry"));
        entries
            // Connections of one process share one `-shm`, with the rights of the writer.
            .filter(|entry| self.writer.is_none() || !entry.file_name().to_string_lossy().ends_with("-shm"))
            .map(|entry| {
                let written = entry.metadata().and_then(|about| about.modified()).expect("a time");
                let mut hasher = DefaultHasher::new();
                fs::read(entry.path()).expect("a file").hash(&mut hasher);
                (entry.file_name().to_string_lossy().into_owned(), (hasher.finish(), written))
            })
            .collect()
    }

    /// Reads it in the expected way, and sees that nothing changed.
    #[track_caller]
    fn check(&self, way: Way, rows: &[i64]) {
        assert_eq!(way_into(&self.path()).map_err(|err| err.to_string()), Ok(way));
        let before = self.files();
        let database = Database::open(&self.path()).expect("a database");
        let found = database.row_ids("SELECT x FROM t ORDER BY x", &[], &[]).expect("rows");
        assert_eq!((found.ids.as_slice(), found.damage), (rows, None));
        database.finish().expect("nothing changed");
        assert_eq!(self.files(), before);
    }
}

#[track_caller]
fn refusal(path: &Path) -> String {
    Database::open_within(path, Duration::ZERO).map(drop).expect_err("it cannot be opened").to_string()
}

#[test]
fn a_database_that_a_program_has_open_is_read_with_its_newest_rows() {
    Found::open("wal").check(Way::Shared, &[1, 2, 3]);
}

#[test]
fn a_database_of_a_program_that_crashed_is_read_with_its_newest_rows() {
    Found::copied("wal", &["", "-wal", "-shm"]).check(Way::Shared, &[1, 2, 3]);
}

#[test]
fn a_copy_with_its_wal_alone_is_read_with_its_newest_rows() {
    Found::copied("wal", &["", "-wal"]).check(Way::InMemory, &[1, 2, 3]);
}

#[test]
fn a_database_in_wal_mode_without_a_wal_is_read_and_none_appears() {
    Found::closed("wal").check(Way::Immutable, &[1, 2, 3]);
    Found::copied("wal", &[""]).check(Way::Immutable, &[1, 2]);
    Found::copied("wal", &["", "-shm"]).check(Way::Immutable, &[1, 2]);
    let found = Found::closed("wal");
    fs::write(found.folder.path().join("a b?%.db-wal"), "").expect("an empty file");
    found.check(Way::Immutable, &[1, 2, 3]);
}

#[test]
fn a_database_without_wal_mode_is_read_while_it_is_open_and_after() {
    Found::open("delete").check(Way::Plain, &[1, 2, 3]);
    Found::closed("delete").check(Way::Plain, &[1, 2, 3]);
}

#[test]
fn what_is_written_after_it_was_opened_is_not_seen() {
    let found = Found::open("wal");
    let database = Database::open(&found.path()).expect("a database");
    found.writer.as_ref().expect("it is open").execute_batch("INSERT INTO t VALUES (4)").expect("a row");
    assert_eq!(database.row_ids("SELECT x FROM t", &[], &[]).expect("rows").ids, [1, 2, 3]);
    database.finish().expect("a snapshot stays one");
}

#[test]
fn a_database_that_is_written_to_while_it_is_read_without_locks_is_not_believed() {
    for found in [Found::closed("wal"), Found::copied("wal", &["", "-wal"])] {
        let database = Database::open(&found.path()).expect("a database");
        let writer = Connection::open(found.path()).expect("a writer");
        writer.execute_batch("INSERT INTO t VALUES (4)").expect("a row");
        let message = database.finish().expect_err("it changed").to_string();
        assert_eq!(message, "was written to by another program while it was read; try again");
    }
}

#[test]
fn nothing_can_be_written() {
    for found in [Found::open("wal"), Found::closed("wal"), Found::open("delete")] {
        let database = Database::open(&found.path()).expect("a database");
        let fault = database.row("INSERT INTO t VALUES (9)", [], |_| ()).expect_err("it is read only");
        assert!(!fault.is_local(), "{fault}");
    }
}

#[test]
fn what_is_no_database_is_refused_in_a_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.db");
    fs::write(&path, "").expect("a file");
    fs::write(folder.path().join("x.db-wal"), "rows").expect("a file");
    assert_eq!(refusal(&path), "is empty; there is no database in it");
    assert!(folder.path().join("x.db-wal").exists());
    fs::write(&path, "{\"id\":1}").expect("a file");
    assert_eq!(refusal(&path), "is no SQLite database, or an encrypted one");
    assert_eq!(refusal(folder.path()), "is no file; name a database");
    assert!(refusal(&folder.path().join("y.db")).starts_with("cannot be read: "));
    let garbled = [super::MAGIC, &[7; 4000]].concat();
    fs::remove_file(folder.path().join("x.db-wal")).expect("the file");
    fs::write(&path, garbled).expect("a file");
    assert_eq!(refusal(&path), "is no SQLite database, or an encrypted one");
}

#[test]
fn a_database_that_somebody_writes_to_is_locked() {
    let found = Found::open("delete");
    found.writer.as_ref().expect("it is open").execute_batch("BEGIN EXCLUSIVE").expect("a lock");
    assert_eq!(refusal(&found.path()), "is locked by a program that writes to it; try again when that is done");
}

#[test]
fn a_database_left_in_the_middle_of_a_write_is_refused_and_left_so() {
    let found = Found::open("persist");
    let writer = found.writer.as_ref().expect("it is open");
    writer
        .execute_batch("PRAGMA cache_size = 1; BEGIN; INSERT INTO t SELECT randomblob(3000) FROM t a, t b, t c, t d;")
        .expect("rows");
    let copy = tempfile::tempdir().expect("a folder");
    for name in ["a b?%.db", "a b?%.db-journal"] {
        fs::copy(found.folder.path().join(name), copy.path().join(name)).expect("a copy");
    }
    let copy = Found { folder: copy, writer: None };
    let before = copy.files();
    let message = "was left in the middle of a write, which only its own program can take back; \
                   open it there once, then try again";
    assert_eq!(refusal(&copy.path()), message);
    assert_eq!(copy.files(), before);
}

/// A database of 300 rows of which one is wider than a page, with the index `by_y`, damaged by `damage`.
fn damaged(damage: impl FnOnce(&mut Vec<u8>)) -> Found {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a b?%.db");
    let writer = Connection::open(&path).expect("a database");
    writer
        .execute_batch(
            "PRAGMA page_size = 1024; CREATE TABLE t (y, x TEXT); CREATE INDEX by_y ON t (y);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
             INSERT INTO t SELECT 'y', i || ' row ' || hex(zeroblob(iif(i = 150, 5000, 40))) FROM n;",
        )
        .expect("rows");
    drop(writer);
    let mut bytes = fs::read(&path).expect("the database");
    damage(&mut bytes);
    fs::write(&path, bytes).expect("the database");
    Found { folder, writer: None }
}

fn page_that_holds(bytes: &[u8], needle: &str) -> usize {
    let at = bytes.windows(needle.len()).position(|window| window == needle.as_bytes()).expect("the needle");
    at / 1024 * 1024
}

const BY_INDEX: &str = "SELECT rowid FROM t WHERE y = 'y'";
const BY_TABLE: &str = "SELECT rowid FROM t NOT INDEXED WHERE y = 'y'";

#[test]
fn a_damaged_page_costs_its_own_rows_and_no_others() {
    let found = damaged(|bytes| {
        let page = page_that_holds(bytes, "100 row ");
        bytes[page..page + 1024].fill(0xee);
    });
    let database = Database::open(&found.path()).expect("a database");
    let ids = database.row_ids(BY_INDEX, &[BY_TABLE], &[]).expect("rows");
    assert_eq!((ids.ids.len(), ids.damage), (300, None));
    let read = |id: i64| database.row("SELECT x FROM t WHERE rowid = ?1", [id], |row| row.cell(0).text().is_some());
    let lost: Vec<i64> = ids.ids.into_iter().filter(|&id| !matches!(read(id), Ok(Some(true)))).collect();
    assert!(lost.contains(&100) && lost.len() < 20, "{lost:?}");
    let fault = read(100).expect_err("the page is damaged");
    assert!(fault.is_local(), "{fault}");
    assert_eq!(fault.to_string(), "a page of the database is damaged: database disk image is malformed");
}

#[test]
fn a_damaged_index_is_gone_around() {
    let found = damaged(|bytes| {
        // An index page that is a leaf and not the root: its rows are those of `y` alone.
        let leaf = (2..bytes.len() / 1024).find(|page| bytes[page * 1024] == 10).expect("a leaf of the index");
        bytes[leaf * 1024..leaf * 1024 + 1024].fill(0xee);
    });
    let database = Database::open(&found.path()).expect("a database");
    let ids = database.row_ids(BY_INDEX, &[BY_TABLE], &[]).expect("rows");
    assert_eq!(ids.ids, (1..=300).collect::<Vec<i64>>());
    assert!(ids.damage.is_some_and(|damage| damage.is_local()));
}

#[test]
fn a_text_may_be_a_blob_and_need_not_be_utf8() {
    let text =
        |value: ValueRef<'static>| Cell(value).text().map(|(text, is_faithful)| (text.into_owned(), is_faithful));
    assert_eq!(text(ValueRef::Text(b"a\xffb")), Some(("a\u{fffd}b".to_owned(), false)));
    assert_eq!(text(ValueRef::Blob("é".as_bytes())), Some(("é".to_owned(), true)));
    assert_eq!(text(ValueRef::Integer(7)), None);
    assert_eq!(text(ValueRef::Null), None);
}

#[test]
fn a_number_may_be_stored_in_any_way() {
    for (value, number) in [
        (ValueRef::Integer(-7), Some(-7)),
        (ValueRef::Real(12.0), Some(12)),
        (ValueRef::Real(12.5), None),
        (ValueRef::Real(f64::NAN), None),
        (ValueRef::Real(1e300), None),
        (ValueRef::Text(b" 12 "), Some(12)),
        (ValueRef::Text(b"twelve"), None),
        (ValueRef::Blob(b"12"), None),
        (ValueRef::Null, None),
    ] {
        assert_eq!(Cell(value).integer(), number, "{value:?}");
    }
}

#[test]
fn a_value_is_told_as_json() {
    for (value, json) in [
        (ValueRef::Integer(i64::MIN), "-9223372036854775808"),
        (ValueRef::Real(1.0), "1.0"),
        (ValueRef::Real(f64::INFINITY), "null"),
        (ValueRef::Text(b"a\"\xff"), "\"a\\\"\u{fffd}\""),
        (ValueRef::Null, "null"),
    ] {
        assert_eq!(Cell(value).json(), json);
    }
}

#[test]
fn columns_are_those_of_a_table_and_none_of_no_table() {
    let found = Found::open("delete");
    let database = Database::open(&found.path()).expect("a database");
    assert_eq!(database.columns("t"), Ok(vec!["x".to_owned()]));
    assert_eq!(database.columns("no such"), Ok(Vec::new()));
}

#[test]
fn a_view_is_not_run() {
    let found = Found::open("delete");
    found.writer.as_ref().expect("it is open").execute_batch("CREATE VIEW v AS SELECT x FROM t").expect("a view");
    let database = Database::open(&found.path()).expect("a database");
    let fault: Fault = database.row("SELECT * FROM v", [], |_| ()).expect_err("views are off");
    assert!(!fault.is_local(), "{fault}");
}

#[test]
fn a_value_that_is_too_long_costs_its_row_only() {
    let found = Found::open("delete");
    let writer = found.writer.as_ref().expect("it is open");
    writer.execute("INSERT INTO t VALUES (zeroblob(?1))", [super::LONGEST + 1]).expect("a row");
    let database = Database::open(&found.path()).expect("a database");
    let fault = database.row("SELECT x FROM t WHERE rowid = 4", [], |_| ()).expect_err("it is too long");
    assert_eq!((fault.to_string().as_str(), fault.is_local()), ("a value is longer than 256 MiB", true));
    assert_eq!(database.row("SELECT x FROM t WHERE rowid = 1", [], |row| row.cell(0).integer()), Ok(Some(Some(1))));
}
