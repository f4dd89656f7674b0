//! Which sub-agents have a file of their own, so that what the session repeats of them may be passed over.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Deeper folders are not looked into; real ones are two levels deep.
const DEEPEST: usize = 8;

/// Looks sub-agents' files up, each once.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    /// The folder of the session's file, and the folder that has the session's name.
    folders: Option<(PathBuf, PathBuf)>,
    /// Names of the files below the latter, once it was looked at.
    below: Option<HashSet<String>>,
    known: HashMap<String, bool>,
}

impl Agents {
    /// The session came without a place, so nothing stands beside it.
    pub(crate) fn unknown() -> Self {
        Self::default()
    }

    /// The session `id` is the file at `path`.
    pub(crate) fn beside(path: &Path, id: &str) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let own = folder.join(id).join("subagents");
        Self { folders: Some((folder, own)), ..Self::default() }
    }

    /// Whether the sub-agent `id` has a file of its own.
    pub(crate) fn has_file(&mut self, id: &str) -> bool {
        // The id comes from the log and must not lead elsewhere.
        if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            return false;
        }
        let Some((folder, own)) = &self.folders else { return false };
        if let Some(&known) = self.known.get(id) {
            return known;
        }
        let name = format!("agent-{id}.jsonl");
        let below = self.below.get_or_insert_with(|| {
            let mut names = HashSet::new();
            gather(own, DEEPEST, &mut names);
            names
        });
        let found = below.contains(&name) || folder.join(&name).is_file();
        self.known.insert(id.to_owned(), found);
        found
    }
}

fn gather(folder: &Path, deeper: usize, names: &mut HashSet<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        // Links are not followed: they could lead in circles.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && deeper > 0 => gather(&entry.path(), deeper - 1, names),
            Ok(kind) if kind.is_file() => {
                names.insert(entry.file_name().to_string_lossy().into_owned());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_without_a_place_knows_of_no_files() {
        assert!(!Agents::unknown().has_file("a1"));
    }

    #[test]
    fn an_id_that_is_a_path_is_no_id() {
        let mut agents = Agents::beside(Path::new("/nowhere/s.jsonl"), "s");
        for id in ["../x", "a/b", "a\0b", "é"] {
            assert!(!agents.has_file(id), "{id}");
        }
        assert!(agents.known.is_empty());
    }

    #[test]
    fn a_sub_agents_file_stands_beside_the_session_or_below_it() {
        let folder = std::env::temp_dir().join(format!("toolpath-provider-claude-agents-{}", std::process::id()));
        let nested = folder.join("s/subagents/workflows/w1");
        fs::create_dir_all(&nested).expect("a folder");
        for file in [folder.join("agent-beside.jsonl"), nested.join("agent-below.jsonl")] {
            fs::write(file, "").expect("a file");
        }
        let mut agents = Agents::beside(&folder.join("s.jsonl"), "s");
        let found = ["beside", "below", "missing", "beside"].map(|id| agents.has_file(id));
        fs::remove_dir_all(&folder).expect("the folder");
        assert_eq!(found, [true, true, false, true]);
    }
}
