//! The sessions under a root: which files are some, and what a glance at each tells.
//!
//! A root holds one folder a project, or is such a folder itself. Folders' names are not looked at: where a session
//! worked, its records say.

mod glance;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::{EntryRecord, ListSink, Severity, Stopped};

use glance::{Glance, NoSession};

/// Tells the sessions under `root`, in the order of their paths; what is not there holds none.
pub(crate) fn root(root: &Path, sink: &mut ListSink<'_>) -> Result<(), Stopped> {
    let entries = match entries(root) {
        Ok(entries) => entries,
        Err(err) if matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        Err(err) => return say(&err.to_string(), root, sink),
    };
    for path in entries {
        // Through links as well: whoever makes them moves a project elsewhere.
        if !path.is_dir() {
            file(&path, sink)?;
            continue;
        }
        match self::entries(&path) {
            Ok(entries) => entries.iter().try_for_each(|path| file(path, sink))?,
            Err(err) => say(&err.to_string(), &path, sink)?,
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<_> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Tells the session in the file at `path`, if that is one.
fn file(path: &Path, sink: &mut ListSink<'_>) -> Result<(), Stopped> {
    let id = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
    if path.extension() != Some(OsStr::new("jsonl")) || id.starts_with("agent-") {
        return Ok(());
    }
    // What it is comes first: opening a pipe would wait for somebody to write to it.
    let bytes = match fs::metadata(path) {
        Ok(about) if about.is_file() => about.len(),
        Ok(about) if about.is_dir() => return Ok(()),
        Ok(_) => return say("is no regular file", path, sink),
        Err(err) => return say(&err.to_string(), path, sink),
    };
    match Glance::at(path, bytes) {
        Ok(glance) => sink.entry(
            path,
            &EntryRecord {
                id: &id,
                project: glance.project.as_deref(),
                title: glance.title(),
                started_at: glance.span.first().as_deref(),
                last_activity: glance.span.last().as_deref(),
                turns: glance.turns,
                bytes,
            },
        ),
        Err(NoSession::Unreadable(reason)) => say(&reason, path, sink),
        Err(NoSession::Agents) => Ok(()),
    }
}

fn say(reason: &str, path: &Path, sink: &mut ListSink<'_>) -> Result<(), Stopped> {
    sink.diagnostic(Severity::Warning, "unreadable-file", reason, path)
}
