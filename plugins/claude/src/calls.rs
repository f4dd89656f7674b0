//! Calls that may hand work to a sub-agent and that nobody has answered yet.
//!
//! Their prompts, as digests, tell which sub-agent is whose where nothing better does.

use std::collections::HashMap;

use toolpath_plugin_api::Category;

use crate::content::Call;
use crate::digest;
use crate::shape::Task;
use crate::tools;

/// Calls that wait for their answer.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    waiting: HashMap<u128, Waiting>,
    made: u64,
    /// The notebooks that calls without an answer edit: the answer may not name them, and the host looks for another key.
    notebooks: HashMap<u128, Box<str>>,
}

#[derive(Debug)]
struct Waiting {
    id: Box<str>,
    prompt: Option<u128>,
    nth: u64,
    /// Whether a sub-agent was found for it.
    is_claimed: bool,
}

impl Calls {
    /// Takes note of a call.
    pub(crate) fn make(&mut self, call: &Call<'_>) {
        if call.name == "NotebookEdit" {
            let task: Task<'_> = serde_json::from_str(call.input).unwrap_or_default();
            if let Some(path) = task.notebook.filled() {
                self.notebooks.insert(digest::of_text(&call.id), (*path).into());
            }
        }
        if tools::category_of(&call.name) != Category::DELEGATION && call.name != "Skill" {
            return;
        }
        let task: Task<'_> = serde_json::from_str(call.input).unwrap_or_default();
        let prompt = task.prompt.filled().map(|prompt| digest::of_text(prompt.trim()));
        self.made += 1;
        let waiting = Waiting { id: (*call.id).into(), prompt, nth: self.made, is_claimed: false };
        self.waiting.insert(digest::of_text(&call.id), waiting);
    }

    /// Whether there ever was one.
    pub(crate) fn were_made(&self) -> bool {
        self.made > 0
    }

    /// Whether the call `id` waits for its answer and for a sub-agent; what it asked, as a digest.
    pub(crate) fn prompt_of(&self, id: &str) -> Option<u128> {
        self.waiting.get(&digest::of_text(id)).filter(|waiting| !waiting.is_claimed)?.prompt
    }

    /// The id of the waiting call with that digest, for which a sub-agent was found by it.
    pub(crate) fn claim(&mut self, call: u128) -> Option<Box<str>> {
        let waiting = self.waiting.get_mut(&call)?;
        waiting.is_claimed = true;
        Some(waiting.id.clone())
    }

    /// The first waiting call that asked just this and has no sub-agent yet.
    pub(crate) fn claim_by_prompt(&mut self, prompt: u128) -> Option<Box<str>> {
        let free = self.waiting.values_mut().filter(|call| !call.is_claimed && call.prompt == Some(prompt));
        let first = free.min_by_key(|call| call.nth)?;
        first.is_claimed = true;
        Some(first.id.clone())
    }

    /// The notebook that the call `id` edits; told once.
    pub(crate) fn take_notebook(&mut self, id: &str) -> Option<Box<str>> {
        self.notebooks.remove(&digest::of_text(id))
    }

    /// The call `id` was answered.
    pub(crate) fn answer(&mut self, id: &str) {
        self.waiting.remove(&digest::of_text(id));
    }
}
