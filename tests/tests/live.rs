//! A database that a harness writes to while it is read: nothing of what was committed is missing, and nothing is left behind.

use std::path::Path;

use rusqlite::Connection;
use toolpath_tests::rules::assert_valid;
use toolpath_tests::{Scratch, message, steps};

const SCHEMA: &str = "
    CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, version text,
        time_created integer, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer,
        data text);
    INSERT INTO session VALUES ('ses_1', 'p', NULL, '/srv/larder', 'Bread', '1.2.0', 1772355600000, 1772355600000);";

/// A database with a write-ahead log, and a first message in it.
fn create(path: &Path) -> Connection {
    let database = Connection::open(path).expect("a database");
    let mode: String = database.query_row("PRAGMA journal_mode=WAL", [], |row| row.get(0)).expect("a mode");
    assert_eq!(mode, "wal");
    database.execute_batch("PRAGMA wal_autocheckpoint=0").expect("no checkpoints");
    database.execute_batch(SCHEMA).expect("tables");
    say(&database, 1);
    database
}

fn say(database: &Connection, number: i64) {
    let time = 1_772_355_600_000 + number;
    let message =
        r#"{"role":"user","time":{"created":1772355600000},"agent":"build","model":{"providerID":"p","modelID":"m"}}"#;
    let part = format!(r#"{{"type":"text","text":"prompt {number}"}}"#);
    let transaction = database.unchecked_transaction().expect("a transaction");
    let insert = "INSERT INTO message VALUES (?1, 'ses_1', ?2, ?2, ?3)";
    transaction.execute(insert, (format!("msg_{number:06}"), time, message)).expect("a message");
    let insert = "INSERT INTO part VALUES (?1, ?2, 'ses_1', ?3, ?3, ?4)";
    let row = (format!("prt_{number:06}"), format!("msg_{number:06}"), time, part);
    transaction.execute(insert, row).expect("a part");
    transaction.commit().expect("committing");
}

/// The prompts that a run of the host finds.
#[track_caller]
fn prompts(scratch: &Scratch, level: &[&str]) -> Vec<String> {
    let args = ["--provider", "opencode", "--plugins", "plugins", "opencode.db"];
    let run = scratch.host(args.into_iter().chain(level.iter().copied()));
    let document = run.document();
    assert_valid(&document);
    let turns = steps(&document).iter().map(message).filter(|message| message["role"] == "user");
    turns.map(|turn| turn["text"].as_str().expect("a text").to_owned()).collect()
}

#[track_caller]
fn files(scratch: &Scratch) -> Vec<String> {
    let entries = std::fs::read_dir(scratch.path(".")).expect("the folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn rows_in_the_log_of_an_open_database_are_read_and_the_writer_never_waits() {
    let scratch = Scratch::new();
    let database = create(&scratch.path("opencode.db"));
    for level in [&[][..], &["--isolation", "process"], &["--isolation", "none"]] {
        let before = prompts(&scratch, level).len();
        say(&database, before as i64 + 1);
        assert_eq!(prompts(&scratch, level).len(), before + 1, "{level:?}");
    }
    // A writer that never stops, and that is told at once when somebody is in its way.
    database.busy_timeout(std::time::Duration::ZERO).expect("a timeout");
    std::thread::scope(|threads| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let writer = threads.spawn(move || {
            let mut number = 10;
            while number < 5000 && stopped.try_recv().is_err() {
                say(&database, number);
                number += 1;
                std::thread::sleep(std::time::Duration::from_micros(300));
            }
            number
        });
        let mut last = 0;
        for _ in 0..10 {
            let found = prompts(&scratch, &[]).len();
            assert!(found >= last, "{found} after {last}");
            last = found;
        }
        let _ = stop.send(());
        assert!(writer.join().expect("the writer is never in anybody's way") > 10);
    });
}

#[test]
fn rows_in_a_log_that_nobody_has_open_are_read_and_nothing_is_left_behind() {
    let scratch = Scratch::new();
    // Copied as it is, as after a crash: a log, and no index.
    {
        let elsewhere = tempfile::tempdir().expect("a folder");
        let database = create(&elsewhere.path().join("opencode.db"));
        say(&database, 2);
        for name in ["opencode.db", "opencode.db-wal"] {
            std::fs::copy(elsewhere.path().join(name), scratch.path(name)).expect("copying");
        }
    }
    let bytes = |name: &str| std::fs::read(scratch.path(name)).expect("the file");
    let before = (bytes("opencode.db"), bytes("opencode.db-wal"));
    for level in [&[][..], &["--isolation", "process"], &["--isolation", "none"]] {
        assert_eq!(prompts(&scratch, level), ["prompt 1", "prompt 2"], "{level:?}");
    }
    assert_eq!(files(&scratch), ["opencode.db", "opencode.db-wal", "plugins"]);
    assert_eq!((bytes("opencode.db"), bytes("opencode.db-wal")), before);
}
