//! Who did how much: the sums over the steps of a path.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::turn::TokenUsage;

/// Token counts. Sums beyond 64 bits stay at the largest number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Input, cache not included.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
}

impl Tokens {
    /// Adds what a step carries.
    pub fn add_usage(&mut self, usage: &TokenUsage) {
        let count = |count: Option<u64>| count.unwrap_or(0);
        self.add(Self {
            input: count(usage.input_tokens),
            output: count(usage.output_tokens),
            cache_read: count(usage.cache_read_tokens),
            cache_write: count(usage.cache_write_tokens),
        });
    }

    /// Adds another sum.
    pub fn add(&mut self, other: Self) {
        for (sum, more) in [
            (&mut self.input, other.input),
            (&mut self.output, other.output),
            (&mut self.cache_read, other.cache_read),
            (&mut self.cache_write, other.cache_write),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// What one model did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModelTally {
    /// Turns.
    pub turns: u64,
    /// Tokens.
    pub tokens: Tokens,
}

/// The sums over the steps of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Steps by actor.
    pub actors: BTreeMap<String, u64>,
    /// Tokens of all steps.
    pub tokens: Tokens,
    /// Models by the name that was recorded; the one that nobody recorded is `unknown`.
    pub models: BTreeMap<String, ModelTally>,
}

impl Tally {
    pub(crate) fn step(&mut self, actor: &str) {
        match self.actors.get_mut(actor) {
            Some(steps) => *steps += 1,
            None => drop(self.actors.insert(actor.to_owned(), 1)),
        }
    }

    /// A turn; where a model made it, `is_answer` says whether by answering. (It also speaks in the user's position, to a
    /// sub-agent.)
    pub(crate) fn turn(&mut self, actor: &str, is_answer: bool, model: Option<&str>, usage: Option<&TokenUsage>) {
        self.step(actor);
        let is_models = actor.starts_with("agent:") && (is_answer || usage.is_some());
        let mut model = is_models.then(|| self.model(model.unwrap_or("unknown")));
        if let Some(model) = &mut model {
            model.turns += 1;
        }
        if let Some(usage) = usage {
            if let Some(model) = model {
                model.tokens.add_usage(usage);
            }
            self.tokens.add_usage(usage);
        }
    }

    fn model(&mut self, name: &str) -> &mut ModelTally {
        if !self.models.contains_key(name) {
            self.models.insert(name.to_owned(), ModelTally::default());
        }
        self.models.get_mut(name).expect("just inserted")
    }

    /// Adds another path's sums.
    pub fn add(&mut self, other: &Self) {
        for (actor, steps) in &other.actors {
            *self.actors.entry(actor.clone()).or_default() += steps;
        }
        self.tokens.add(other.tokens);
        for (name, model) in &other.models {
            let sum = self.models.entry(name.clone()).or_default();
            sum.turns += model.turns;
            sum.tokens.add(model.tokens);
        }
    }
}
