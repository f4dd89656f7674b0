//! Finds sessions: of a database by its tables, of the older stores by the sessions' own files.
//!
//! No message is read. A session that stands in a database and in folders is listed once, in the database.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::kit::sqlite::{Database, Fault};
use toolpath_plugin_api::kit::time::from_millis;
use toolpath_plugin_api::{EntryRecord, ListSink, PluginError, Severity};

use crate::facts::moment_of;
use crate::locate::{databases, trees};
use crate::shape::{Session, Time};
use crate::store::database::Sessions;
use crate::store::tree::{Tree, names, stem};

/// A longer file of a session is listed by its name alone.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Lists the sessions below `roots`.
pub(crate) fn list(roots: &[PathBuf], sink: &mut ListSink<'_>) -> Result<(), PluginError> {
    let mut known = HashSet::new();
    for root in roots {
        if let Err(err) = fs::read_dir(root) {
            if err.kind() != io::ErrorKind::NotFound {
                let message = format!("cannot be looked into: {err}");
                sink.diagnostic(Severity::Warning, "unreadable-folder", &message, root)?;
            }
            continue;
        }
        for database in databases(root) {
            if let Err(err) = of_database(&database, &mut known, sink)? {
                sink.diagnostic(Severity::Warning, "unreadable-store", &err.to_string(), &database)?;
            }
        }
        for tree in trees(root) {
            of_tree(&tree, &mut known, sink)?;
        }
    }
    Ok(())
}

/// One row of a database's list.
#[derive(Debug, Default)]
struct Listed {
    id: String,
    project: Option<String>,
    title: Option<String>,
    started: Option<String>,
    last: Option<String>,
    turns: Option<u64>,
    bytes: u64,
}

/// The outer error is that of the host, which wants no more; the inner one is the database's.
fn of_database(
    path: &Path,
    known: &mut HashSet<String>,
    sink: &mut ListSink<'_>,
) -> Result<Result<(), PluginError>, PluginError> {
    let listed = match Database::open(path).and_then(Sessions::new).and_then(|sessions| listed(&sessions)) {
        Ok(listed) => listed,
        Err(err) => return Ok(Err(err)),
    };
    for session in listed.iter().filter(|session| known.insert(session.id.clone())) {
        let entry = EntryRecord {
            id: &session.id,
            project: session.project.as_deref(),
            title: session.title.as_deref(),
            started_at: session.started.as_deref(),
            last_activity: session.last.as_deref(),
            turns: session.turns,
            bytes: session.bytes,
        };
        sink.entry(path, &entry)?;
    }
    Ok(Ok(()))
}

fn listed(sessions: &Sessions) -> Result<Vec<Listed>, PluginError> {
    let column = |name: &str| if sessions.has(0, name) { format!("session.{name}") } else { "NULL".to_owned() };
    let columns = ["id", "directory", "title", "time_created", "time_updated"].map(column).join(", ");
    let turns = if sessions.has(1, "session_id") {
        "(SELECT count(*) FROM message WHERE session_id = session.id)"
    } else {
        "(SELECT count(*) FROM session_message WHERE session_id = session.id)"
    };
    // How long a value is stands before it, so this reads no text.
    let bytes: Vec<String> = [(1, "message"), (2, "part"), (3, "session_message")]
        .into_iter()
        .filter(|(table, _)| sessions.has(*table, "data") && sessions.has(*table, "session_id"))
        .map(|(_, name)| {
            format!("(SELECT ifnull(sum(octet_length(data)), 0) FROM {name} WHERE session_id = session.id)")
        })
        .collect();
    let bytes = if bytes.is_empty() { "0".to_owned() } else { bytes.join(" + ") };
    let sql = format!("SELECT {columns}, {turns}, {bytes} FROM session WHERE {} ORDER BY 1", sessions.is_top());
    let mut listed = Vec::new();
    sessions.database().rows(&sql, [], |row| {
        let text = |column| row.cell(column).text().map(|(text, _)| text.into_owned()).filter(|text| !text.is_empty());
        let count = |column| row.cell(column).integer().and_then(|count| u64::try_from(count).ok());
        listed.extend(text(0).map(|id| Listed {
            id,
            project: text(1),
            title: text(2),
            started: row.cell(3).integer().and_then(from_millis),
            last: row.cell(4).integer().and_then(from_millis),
            turns: count(5),
            bytes: count(6).unwrap_or(0),
        }));
        Ok::<(), Fault>(())
    })?;
    Ok(listed)
}

fn of_tree(tree: &Tree, known: &mut HashSet<String>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
    let files = match tree.session_files() {
        Ok(files) => files,
        Err(err) => {
            let message = format!("cannot be looked into: {err}");
            return Ok(sink.diagnostic(Severity::Warning, "unreadable-folder", &message, tree.root())?);
        }
    };
    let ids: HashSet<String> = files.iter().map(|file| stem(file)).collect();
    for file in files {
        let id = stem(&file);
        let json = match head(&file) {
            Ok(json) => json,
            Err(err) => {
                let message = format!("cannot be read: {err}");
                sink.diagnostic(Severity::Warning, "unreadable-file", &message, &file)?;
                continue;
            }
        };
        let session: Session<'_> = serde_json::from_str(&json).unwrap_or_default();
        if session.parent.filled().is_some_and(|parent| ids.contains(&*parent)) || !known.insert(id.clone()) {
            continue;
        }
        let time: Time<'_> = session.time.object_or_default();
        let (started, last) = (moment_of(time.created), moment_of(time.updated));
        let (project, title) = (session.directory.filled(), session.title.filled());
        let (turns, bytes) = size(tree, &id);
        let entry = EntryRecord {
            id: &id,
            project: project.as_deref(),
            title: title.as_deref(),
            started_at: started.as_deref(),
            last_activity: last.as_deref(),
            turns,
            bytes: bytes + json.len() as u64,
        };
        sink.entry(tree.root(), &entry)?;
    }
    Ok(())
}

/// The text of a session's own file; empty when it is too long to be looked at here.
fn head(file: &Path) -> io::Result<String> {
    let about = fs::metadata(file)?;
    if !about.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    if about.len() > LONGEST {
        return Ok(String::new());
    }
    Ok(String::from_utf8_lossy(&fs::read(file)?).into_owned())
}

/// How many messages a session has, and how long its messages and parts are.
fn size(tree: &Tree, session: &str) -> (Option<u64>, u64) {
    let folder = tree.messages_of(session);
    let Ok(messages) = names(&folder) else { return (None, 0) };
    let length = |file: PathBuf| fs::metadata(file).map_or(0, |about| about.len());
    let mut bytes = 0;
    for message in &messages {
        let parts = tree.parts_of(session, message.trim_end_matches(".json"));
        let own = names(&parts).unwrap_or_default();
        bytes += length(folder.join(message)) + own.iter().map(|part| length(parts.join(part))).sum::<u64>();
    }
    (Some(messages.len() as u64), bytes)
}
