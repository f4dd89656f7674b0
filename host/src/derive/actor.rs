//! Who is credited with a step.
//!
//! A message that the harness wrote itself is `tool:<provider>`, whatever position it is shown in; `agent:unknown`
//! is a model that did answer and that nobody recorded. The first use of an actor decides its entry.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::turn::{Role, Turn};

/// An actor, by its place in [`Actors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ActorId(u32);

/// What a document says about an actor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ActorEntry {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
}

/// The actors of one path.
#[derive(Debug)]
pub(crate) struct Actors {
    provider: String,
    names: Vec<String>,
    ids: HashMap<String, ActorId>,
    models: HashMap<String, ActorId>,
    /// For each actor that two models would have become, the number that the next one tries.
    numbers: HashMap<String, u32>,
    entries: BTreeMap<String, ActorEntry>,
    /// How many actors were asked for by [`Self::take_new`]; they come in the order of their ids.
    taken: u32,
}

const UNKNOWN: &str = "unknown";

impl Actors {
    pub(crate) fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            names: Vec::new(),
            ids: HashMap::new(),
            models: HashMap::new(),
            numbers: HashMap::new(),
            entries: BTreeMap::new(),
            taken: 0,
        }
    }

    /// The actor of a turn on the main line.
    pub(crate) fn of(&mut self, turn: &Turn<'_>) -> ActorId {
        match turn.role {
            Role::User | Role::Assistant if turn.harness_generated => self.harness(),
            Role::User => self.intern("human:user".to_owned(), |_| ActorEntry {
                name: "user".to_owned(),
                provider: None,
                model: None,
            }),
            Role::Assistant => self.model(turn.model.as_deref().filter(|model| !model.is_empty())),
            Role::System | Role::Other(_) => self.harness(),
        }
    }

    /// The harness itself.
    pub(crate) fn harness(&mut self) -> ActorId {
        let actor = format!("tool:{}", carried(&self.provider));
        self.intern(actor, |provider| ActorEntry {
            name: provider.to_owned(),
            provider: Some(provider.to_owned()),
            model: None,
        })
    }

    /// A model, or one that nobody recorded.
    pub(crate) fn model(&mut self, model: Option<&str>) -> ActorId {
        let Some(name) = model else {
            return self.intern(format!("agent:{UNKNOWN}"), |provider| ActorEntry {
                name: UNKNOWN.to_owned(),
                provider: Some(provider.to_owned()),
                model: None,
            });
        };
        if let Some(&id) = self.models.get(name) {
            return id;
        }
        let stem = format!("agent:{}", carried(name));
        let mut actor = stem.clone();
        // A model whose recorded name is "unknown" is as unknown as one without a name, and shares its actor.
        if name != UNKNOWN && self.ids.contains_key(&actor) {
            let number = self.numbers.entry(stem.clone()).or_insert(2);
            loop {
                actor = format!("{stem}_{number}");
                *number += 1;
                if !self.ids.contains_key(&actor) {
                    break;
                }
            }
        }
        let id = self.intern(actor, |provider| ActorEntry {
            name: name.to_owned(),
            provider: Some(provider.to_owned()),
            model: Some(name.to_owned()),
        });
        self.models.insert(name.to_owned(), id);
        id
    }

    /// The actor as steps name it.
    pub(crate) fn name(&self, id: ActorId) -> &str {
        &self.names[id.0 as usize]
    }

    /// The entry of an actor that was not asked for before.
    pub(crate) fn take_new(&mut self, id: ActorId) -> Option<ActorEntry> {
        if id.0 < self.taken {
            return None;
        }
        self.taken = id.0 + 1;
        self.entries.get(self.name(id)).cloned()
    }

    /// The entries, by actor.
    pub(crate) fn into_entries(self) -> BTreeMap<String, ActorEntry> {
        self.entries
    }

    fn intern(&mut self, actor: String, entry: impl FnOnce(&str) -> ActorEntry) -> ActorId {
        if let Some(&id) = self.ids.get(&actor) {
            return id;
        }
        let id = ActorId(u32::try_from(self.names.len()).expect("fewer actors than steps"));
        self.entries.insert(actor.clone(), entry(&self.provider));
        self.names.push(actor.clone());
        self.ids.insert(actor, id);
        id
    }
}

/// A name as the actor grammar can carry it: what it has no room for becomes `_`, and one `/` stays when something
/// stands on both sides of it.
fn carried(name: &str) -> String {
    let slash = name.find('/').filter(|&at| at > 0 && at + 1 < name.len());
    name.char_indices()
        .map(|(at, c)| match c {
            '/' if Some(at) == slash => '/',
            'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '.' | '-' => c,
            _ => '_',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_grammar_cannot_carry_are_replaced_and_kept_verbatim() {
        for (name, actor) in [
            ("demo-model-2", "agent:demo-model-2"),
            ("vendor/name", "agent:vendor/name"),
            ("a/b/c", "agent:a/b_c"),
            ("/a/b", "agent:_a_b"),
            ("a/", "agent:a_"),
            ("x:0", "agent:x_0"),
            ("<odd>", "agent:_odd_"),
            ("größe", "agent:gr__e"),
        ] {
            let mut actors = Actors::new("p");
            let id = actors.model(Some(name));
            assert_eq!(actors.name(id), actor);
            let entry = &actors.into_entries()[actor];
            assert_eq!((entry.name.as_str(), entry.model.as_deref()), (name, Some(name)));
        }
    }

    #[test]
    fn two_models_that_become_one_actor_are_told_apart() {
        let mut actors = Actors::new("p");
        let names: Vec<String> = ["a b", "a:b", "a b", "a_b_2", "a\tb"]
            .iter()
            .map(|model| {
                let id = actors.model(Some(model));
                actors.name(id).to_owned()
            })
            .collect();
        assert_eq!(names, ["agent:a_b", "agent:a_b_2", "agent:a_b", "agent:a_b_2_2", "agent:a_b_3"]);
    }

    #[test]
    fn a_provider_the_grammar_cannot_carry_is_replaced_in_the_actor_only() {
        let mut actors = Actors::new("my harness");
        let id = actors.harness();
        assert_eq!(actors.name(id), "tool:my_harness");
        let entry = &actors.into_entries()["tool:my_harness"];
        assert_eq!((entry.name.as_str(), entry.provider.as_deref()), ("my harness", Some("my harness")));
    }
}
