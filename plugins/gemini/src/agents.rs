//! The files of a session's sub-agents: `<session id>/<sub-agent's id>.jsonl` beside the session, or `.json` of older
//! versions.

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
        // Nothing but a plain file is opened: a pipe would never end. A log is what became of the document of its name.
        let mut paths = ["jsonl", "json"].map(|extension| folder.join(format!("{id}.{extension}"))).into_iter();
        let path = paths.find(|path| fs::symlink_metadata(path).is_ok_and(|about| about.is_file()))?;
        self.told.insert(id.to_owned());
        Some(path)
    }

    /// Ids of the sub-agents whose files were not handed out.
    pub(crate) fn rest(&self) -> Vec<String> {
        let entries = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
        let id = |name: &str| name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".json")).map(str::to_owned);
        let mut ids: Vec<String> = names.filter_map(|name| id(name.to_str()?)).collect();
        ids.retain(|id| !self.told.contains(id));
        ids.sort();
        ids.dedup();
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
        for name in ["s/a.jsonl", "s/a.json", "s/b.jsonl", "s/c.txt", "s/e.json", "d.jsonl"] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        let mut agents = Agents::beside(&folder.path().join("session-x.jsonl"), "s");
        assert_eq!(agents.rest(), ["a", "b", "e"]);
        assert_eq!(agents.take("a"), Some(folder.path().join("s/a.jsonl")));
        for id in ["a", "../d", "c", "", "missing"] {
            assert_eq!(agents.take(id), None, "{id}");
        }
        assert_eq!(agents.take("e"), Some(folder.path().join("s/e.json")));
        assert_eq!(agents.rest(), ["b"]);
        assert_eq!(Agents::beside(folder.path(), "../s").rest(), Vec::<String>::new());
    }
}
