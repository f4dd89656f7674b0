//! Which sessions there are, known by the head and the tail of each file.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use toolpath_plugin_api::{EntryRecord, ListSink, Severity, Stopped};

use crate::glance::Glance;

/// Bytes read of a file's beginning, and as many of its end.
const PIECE: u64 = 64 * 1024;
/// A root may be Gemini CLI's own folder, the projects in it, one of these, or its chats.
const DEEPEST: usize = 3;

/// Lists the sessions under `roots`.
pub(crate) fn list(roots: &[PathBuf], sink: &mut ListSink<'_>) -> Result<(), Stopped> {
    let mut listing = Listing { sink, told: HashSet::new(), sessions: HashMap::new() };
    for root in roots {
        match fs::metadata(root) {
            Ok(about) if about.is_dir() => listing.folder(root, None, DEEPEST)?,
            Ok(_) => listing.file(root, None)?,
            // A root that is not there is one that was never used.
            Err(err) if err.kind() == io::ErrorKind::NotFound => {}
            Err(err) => listing.refuse(root, Severity::Warning, &format!("cannot be examined: {err}"))?,
        }
    }
    Ok(())
}

struct Listing<'l, 's> {
    sink: &'l mut ListSink<'s>,
    /// Files told already: roots may lie within each other.
    told: HashSet<PathBuf>,
    /// The first file of each session.
    sessions: HashMap<String, PathBuf>,
}

impl Listing<'_, '_> {
    fn folder(&mut self, folder: &Path, project: Option<&str>, deeper: usize) -> Result<(), Stopped> {
        let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(err) => return self.refuse(folder, Severity::Warning, &format!("cannot be listed: {err}")),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        let is_chats = folder.file_name().is_some_and(|name| name == "chats");
        let own = if is_chats { folder.parent().and_then(project_of) } else { project_of(folder) };
        let project = own.as_deref().or(project);
        let names: HashSet<_> = entries.iter().map(fs::DirEntry::file_name).collect();
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // Links are not followed: they could lead in circles.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                // Below the chats are the sub-agents, which belong to their sessions.
                if deeper > 0 && !is_chats {
                    self.folder(&entry.path(), project, deeper - 1)?;
                }
            } else if name.starts_with("session-")
                && (name.ends_with(".jsonl") || name.ends_with(".json"))
                // The log is what became of the document of the same name.
                && !names.contains(std::ffi::OsStr::new(&format!("{name}l")))
            {
                self.file(&entry.path(), project)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, project: Option<&str>) -> Result<(), Stopped> {
        if !self.told.insert(path.to_owned()) {
            return Ok(());
        }
        // What is no regular file must not even be opened: a pipe would wait for a writer.
        let bytes = match fs::metadata(path) {
            Ok(about) if about.is_file() => about.len(),
            Ok(_) => return self.refuse(path, Severity::Warning, "is no regular file and was not opened"),
            Err(err) => return self.refuse(path, Severity::Warning, &format!("cannot be examined: {err}")),
        };
        let glance = match glance(path, bytes) {
            Ok(glance) => glance,
            Err(err) => return self.refuse(path, Severity::Warning, &format!("cannot be read: {err}")),
        };
        if !glance.is_recognised {
            return self.refuse(path, Severity::Info, "holds no record of Gemini CLI");
        }
        if glance.is_empty(bytes <= PIECE) {
            // A session that was taken up again leaves such a file, and goes on in the older one.
            return self.refuse(path, Severity::Info, "holds nothing that anybody said");
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let (first, last) = (glance.span.first(), glance.span.last());
        let entry = EntryRecord {
            id: glance.id.as_deref().unwrap_or(&stem),
            project: project.or(glance.directory.as_deref()),
            title: glance.summary.as_deref().or(glance.prompt.as_deref()),
            started_at: first.as_deref(),
            last_activity: last.as_deref(),
            turns: (bytes <= PIECE).then(|| glance.turns()),
            bytes,
        };
        self.sink.entry(path, &entry)?;
        match self.sessions.entry(entry.id.to_owned()) {
            Entry::Occupied(first) => {
                let message = format!("is of the session `{}`, as `{}` is", entry.id, first.get().display());
                self.sink.diagnostic(Severity::Info, "same-session", &message, path)
            }
            Entry::Vacant(place) => {
                place.insert(path.to_owned());
                Ok(())
            }
        }
    }

    fn refuse(&mut self, path: &Path, severity: Severity, reason: &str) -> Result<(), Stopped> {
        self.sink.diagnostic(severity, "unreadable-file", reason, path)
    }
}

/// Whether the file at `path` is one of the session `id`.
pub(crate) fn is_of(path: &Path, id: &str) -> bool {
    let about = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file);
    let glance = about.and_then(|about| glance(path, about.len()).ok());
    glance.is_some_and(|glance| glance.is_recognised && glance.id.as_deref() == Some(id))
}

fn glance(path: &Path, bytes: u64) -> io::Result<Glance> {
    let mut file = File::open(path)?;
    let mut piece = Vec::new();
    file.by_ref().take(PIECE).read_to_end(&mut piece)?;
    let mut glance = Glance::at(&piece)?;
    if bytes > PIECE {
        file.seek(SeekFrom::Start(bytes.saturating_sub(PIECE).max(PIECE)))?;
        piece.clear();
        file.take(PIECE).read_to_end(&mut piece)?;
        glance.tail(&piece)?;
    }
    Ok(glance)
}

/// The directory that a project's folder says it stands for.
fn project_of(folder: &Path) -> Option<String> {
    const LONGEST: u64 = 4096;
    let path = folder.join(".project_root");
    let about = fs::symlink_metadata(&path).ok()?;
    if !about.is_file() || about.len() > LONGEST {
        return None;
    }
    let text = fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}
