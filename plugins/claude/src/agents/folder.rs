//! What lies in a folder, by kind: only files that can be read as such, and never through a link.

use std::fs;
use std::path::{Path, PathBuf};

/// Deeper folders are not looked into; real ones are two levels deep.
const DEEPEST: usize = 8;

/// A sub-agent's file.
#[derive(Debug)]
pub(super) struct Found {
    /// Its sub-agent's id, as its name says.
    pub(super) agent: String,
    pub(super) path: PathBuf,
    /// Its path within the folder, with slashes.
    pub(super) name: String,
    /// The file of facts beside it.
    pub(super) sidecar: Option<PathBuf>,
}

/// The sub-agents' files in `folder` and the folders within it, in the order of their names.
pub(super) fn below(folder: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    gather(folder, "", DEEPEST, &mut found);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// The sub-agents' files in `folder` itself; none where it may not be listed.
pub(super) fn beside(folder: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    gather(folder, "", 0, &mut found);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// Whether `path` is a file: links, pipes and sockets are none.
pub(super) fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_file())
}

fn gather(folder: &Path, within: &str, deeper: usize, found: &mut Vec<Found>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // A name that is no text names no agent.
        let Ok(name) = entry.file_name().into_string() else { continue };
        // Links are not followed: they could lead in circles.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && deeper > 0 => {
                gather(&entry.path(), &format!("{within}{name}/"), deeper - 1, found);
            }
            Ok(kind) if kind.is_file() => {
                let agent = name.strip_prefix("agent-").and_then(|rest| rest.strip_suffix(".jsonl"));
                let Some(agent) = agent.filter(|agent| !agent.is_empty()) else { continue };
                let path = entry.path();
                let sidecar = path.with_file_name(format!("agent-{agent}.meta.json"));
                let sidecar = Some(sidecar).filter(|path| is_file(path));
                found.push(Found { agent: agent.to_owned(), path, name: format!("{within}{name}"), sidecar });
            }
            _ => {}
        }
    }
}
