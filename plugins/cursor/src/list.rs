//! Finds sessions: of the editor by its composers, of the command line by its databases, and transcripts by their files.
//!
//! No bubble is read, and no transcript. One session may stand in several stores: it is listed in the one that tells
//! most of it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::{EntryRecord, ListSink, PluginError, Severity};

use crate::facts::moment_of;
use crate::locate::{Below, Found, found};

/// Lists the sessions below `roots`.
pub(crate) fn list(roots: &[PathBuf], sink: &mut ListSink<'_>) -> Result<(), PluginError> {
    let below: Vec<Below> = roots.iter().map(|root| Below::of(root)).collect();
    let mut known = HashSet::new();
    for path in below.iter().flat_map(|below| &below.editors) {
        database(path, &mut known, sink)?;
    }
    for path in below.iter().flat_map(|below| &below.chats) {
        database(path, &mut known, sink)?;
    }
    for path in below.iter().flat_map(|below| &below.transcripts) {
        transcript(path, &mut known, sink)?;
    }
    Ok(())
}

fn database(path: &Path, known: &mut HashSet<String>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
    if !is_file(path, sink)? {
        return Ok(());
    }
    let composers = match found(path) {
        Ok(Found::Composers(store)) => store.tops(),
        Ok(Found::Chat(chat)) => return one_chat(path, &chat, known, sink),
        Ok(_) => Err(PluginError::new("is no database")),
        Err(err) => Err(err),
    };
    let composers = match composers {
        Ok(composers) => composers,
        Err(err) => return Ok(sink.diagnostic(Severity::Warning, "unreadable-store", &err.to_string(), path)?),
    };
    for composer in composers.iter().filter(|composer| known.insert(composer.id.clone())) {
        let entry = EntryRecord {
            id: &composer.id,
            project: composer.directory.as_deref(),
            title: composer.title.as_deref(),
            started_at: composer.started.as_deref(),
            last_activity: composer.last.as_deref(),
            turns: Some(composer.bubbles),
            bytes: composer.bytes,
        };
        sink.entry(path, &entry)?;
    }
    Ok(())
}

fn one_chat(
    path: &Path,
    chat: &crate::chat::Chats,
    known: &mut HashSet<String>,
    sink: &mut ListSink<'_>,
) -> Result<(), PluginError> {
    let (own, beside) = (chat.facts(), chat.beside());
    let id = chat.id().unwrap_or_else(|| folder_name(path));
    if !known.insert(id.clone()) {
        return Ok(());
    }
    let (project, title) = (beside.cwd.filled(), own.name.filled().or_else(|| beside.name.filled()));
    let started = moment_of(own.created).or_else(|| moment_of(beside.created));
    let last = moment_of(beside.updated);
    let entry = EntryRecord {
        id: &id,
        project: project.as_deref(),
        title: title.as_deref(),
        started_at: started.as_deref(),
        last_activity: last.as_deref(),
        turns: None,
        bytes: length(path),
    };
    Ok(sink.entry(path, &entry)?)
}

fn transcript(path: &Path, known: &mut HashSet<String>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
    if !is_file(path, sink)? {
        return Ok(());
    }
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if !known.insert(id.clone()) {
        return Ok(());
    }
    Ok(sink.entry(path, &EntryRecord { id: &id, bytes: length(path), ..EntryRecord::default() })?)
}

fn is_file(path: &Path, sink: &mut ListSink<'_>) -> Result<bool, PluginError> {
    let reason = match fs::metadata(path) {
        Ok(about) if about.is_file() => return Ok(true),
        Ok(_) => "it is no file".to_owned(),
        Err(err) => err.to_string(),
    };
    sink.diagnostic(Severity::Warning, "unreadable-file", &format!("cannot be read: {reason}"), path)?;
    Ok(false)
}

/// The name of the folder that a file lies in.
pub(crate) fn folder_name(path: &Path) -> String {
    path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |about| about.len())
}
