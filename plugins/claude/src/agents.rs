//! Sub-agents' files: which there are, what finds each of them, and how far each was told.
//!
//! Newer versions keep them in the folder that has the session's name; older ones put them beside the session, where
//! those of other sessions stand as well. A file is looked at when it is first asked for.

mod file;
mod folder;
mod said;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::digest;

pub(crate) use file::{AgentFile, Told};

/// The sub-agents of one session.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    /// The session's folder and its id; absent for one that came without a place.
    home: Option<(PathBuf, String)>,
    files: Vec<AgentFile>,
    by_id: HashMap<u128, Option<usize>>,
    by_call: HashMap<u128, usize>,
    by_prompt: HashMap<u128, Vec<usize>>,
    /// How many files `by_prompt` knows.
    with_prompt: usize,
    is_folder_searched: bool,
}

impl Agents {
    /// The session came without a place, so nothing stands beside it.
    pub(crate) fn unknown() -> Self {
        Self::default()
    }

    /// The session `id` is the file at `path`.
    pub(crate) fn beside(path: &Path, id: &str) -> Self {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let mut agents = Self::default();
        for found in folder::below(&folder.join(id).join("subagents")) {
            let name = format!("{id}/subagents/{}", found.name);
            let call = found.sidecar.as_deref().and_then(file::call_of);
            let index = agents.add(found.agent, found.path, name, call);
            if let Some(call) = call {
                agents.by_call.entry(call).or_insert(index);
            }
        }
        agents.home = Some((folder, id.to_owned()));
        agents
    }

    /// Names of the files, relative to the session's folder, in the order of their indexes.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.name.as_str())
    }

    /// How many files are known.
    pub(crate) fn count(&self) -> usize {
        self.files.len()
    }

    /// The file with that index.
    pub(crate) fn file(&mut self, index: usize) -> &mut AgentFile {
        &mut self.files[index]
    }

    /// The file of the sub-agent `id`, of which the session `session` speaks.
    pub(crate) fn named(&mut self, id: &str, session: Option<&str>) -> Option<usize> {
        // The id comes from the log and must not lead elsewhere.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
            return None;
        }
        let key = digest::of_text(id);
        if let Some(&known) = self.by_id.get(&key) {
            return known;
        }
        let found = self.home.as_ref().and_then(|(folder, own)| {
            let path = folder.join(format!("agent-{id}.jsonl"));
            let is_itself = own.strip_prefix("agent-") == Some(id);
            let is_ours = |named: &str| named == own || Some(named) == session;
            let is_file = !is_itself && folder::is_file(&path);
            (is_file && file::session_of(&path).is_none_or(|named| is_ours(&named))).then_some(path)
        });
        match found {
            Some(path) => Some(self.add(id.to_owned(), path, format!("agent-{id}.jsonl"), None)),
            None => *self.by_id.entry(key).or_insert(None),
        }
    }

    /// The file of the sub-agent that the call with that digest started, as the file beside it says.
    pub(crate) fn called(&self, call: u128) -> Option<usize> {
        self.by_call.get(&call).copied()
    }

    /// The first file of which nothing was told and whose prompt has that digest.
    pub(crate) fn prompted(&mut self, prompt: u128) -> Option<usize> {
        self.search_folder();
        for index in self.with_prompt..self.files.len() {
            if let Some(prompt) = self.files[index].prompt() {
                self.by_prompt.entry(prompt).or_default().push(index);
            }
        }
        self.with_prompt = self.files.len();
        let files = self.by_prompt.get(&prompt)?;
        files.iter().copied().find(|&index| !self.files[index].is_begun() && self.files[index].call.is_none())
    }

    /// Looks for files of this session among those beside it, where the folder may be listed.
    pub(crate) fn search_folder(&mut self) {
        if std::mem::replace(&mut self.is_folder_searched, true) {
            return;
        }
        let Some((folder, own)) = &self.home else { return };
        let own = own.clone();
        for found in folder::beside(folder) {
            let is_known = matches!(self.by_id.get(&digest::of_text(&found.agent)), Some(Some(_)));
            let is_itself = found.name.strip_suffix(".jsonl") == Some(&own);
            if !is_known && !is_itself && file::session_of(&found.path).as_deref() == Some(&own) {
                self.add(found.agent, found.path, found.name, None);
            }
        }
    }

    fn add(&mut self, agent: String, path: PathBuf, name: String, call: Option<u128>) -> usize {
        let index = self.files.len();
        let known = self.by_id.entry(digest::of_text(&agent)).or_insert(None);
        // Runs of a workflow may name their agents alike.
        let label = if known.is_some() { name.strip_suffix(".jsonl").unwrap_or(&name).to_owned() } else { agent };
        known.get_or_insert(index);
        self.files.push(AgentFile::new(label, path, name, call));
        index
    }
}

#[cfg(test)]
mod tests;
