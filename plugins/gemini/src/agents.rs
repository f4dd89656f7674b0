//! The files of a session's sub-agents: `<session id>/<sub-agent's id>.jsonl` beside the session.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Hands each file out once.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    folder: Option<PathBuf>,
    told: HashSet<String>,
}

impl Agents {
    /// Those of the session `id`, whose file is at `path`.
    pub(crate) fn beside(path: &Path, id: &str) -> Self {
        let folder = path.parent().filter(|_| is_name(id)).map(|folder| folder.join(id));
        Self { folder, told: HashSet::new() }
    }

    /// The file of the sub-agent `id`, when there is one that was not handed out.
    pub(crate) fn take(&mut self, id: &str) -> Option<PathBuf> {
        // The id comes from the log and must not lead elsewhere.
        let folder = self.folder.as_ref().filter(|_| is_name(id) && !self.told.contains(id))?;
        let path = folder.join(format!("{id}.jsonl"));
        // Nothing but a plain file is opened: a pipe would never end.
        if !fs::symlink_metadata(&path).is_ok_and(|about| about.is_file()) {
            return None;
        }
        self.told.insert(id.to_owned());
        Some(path)
    }

    /// Ids of the sub-agents whose files were not handed out.
    pub(crate) fn rest(&self) -> Vec<String> {
        let entries = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        let mut ids: Vec<String> =
            names.filter_map(|name| Some(name.to_str()?.strip_suffix(".jsonl")?.to_owned())).collect();
        ids.retain(|id| !self.told.contains(id));
        ids.sort();
        ids
    }
}

fn is_name(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_handed_out_once_and_an_id_is_no_path() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("s")).expect("a folder");
        for name in ["s/a.jsonl", "s/b.jsonl", "s/c.txt", "d.jsonl"] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        let mut agents = Agents::beside(&folder.path().join("session-x.jsonl"), "s");
        assert_eq!(agents.rest(), ["a", "b"]);
        assert_eq!(agents.take("a"), Some(folder.path().join("s/a.jsonl")));
        for id in ["a", "../d", "c", "", "missing"] {
            assert_eq!(agents.take(id), None, "{id}");
        }
        assert_eq!(agents.rest(), ["b"]);
        assert_eq!(Agents::beside(folder.path(), "../s").rest(), Vec::<String>::new());
    }
}
