//! What lies in a folder, by kind: only files that can be read as such, and never through a link.

use std::fs;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::kit::folder::{Kind, Listing};

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
    let listing = Listing::of(folder).unwrap_or_default();
    let files = listing.starting_with(START).iter().filter(|entry| entry.kind == Kind::File);
    files.filter_map(|entry| found(&entry.name, folder.join(&*entry.name), &entry.name)).collect()
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
                found.extend(self::found(&name, entry.path(), &format!("{within}{name}")));
            }
            _ => {}
        }
    }
}

const START: &str = "agent-";

/// The sub-agent's file called `name`, if that is a name of one.
fn found(name: &str, path: PathBuf, within: &str) -> Option<Found> {
    let agent = name.strip_prefix(START)?.strip_suffix(".jsonl").filter(|agent| !agent.is_empty())?;
    let sidecar = Some(path.with_file_name(format!("{START}{agent}.meta.json"))).filter(|path| is_file(path));
    Some(Found { agent: agent.to_owned(), path, name: within.to_owned(), sidecar })
}
