//! Sub-agents' branches by name, and which of them a record stands on where they share the session's file.
//!
//! Versions that gave sub-agents no ids told them apart by their chains of parents alone: each chain is a branch.

use std::collections::HashMap;
use std::rc::Rc;

use toolpath_plugin_api::kit::json::quoted;

use crate::calls::Calls;
use crate::content::Content;
use crate::digest;
use crate::shape::{Message, Record};

/// What a sub-agent without an id is called.
const UNNAMED: &str = "sidechain";

/// The branches within one file.
#[derive(Debug, Default)]
pub(crate) struct Branches {
    by_agent: HashMap<u128, Rc<str>>,
    by_record: HashMap<u128, Rc<str>>,
    unnamed: u32,
    last: Option<Rc<str>>,
}

/// The branch of the sub-agent `agent`, which `call` started, as JSON.
pub(crate) fn branch(call: Option<&str>, agent: &str) -> Rc<str> {
    let call = call.map_or_else(|| "null".to_owned(), quoted);
    format!(r#"{{"call":{call},"agent":{}}}"#, quoted(agent)).into()
}

impl Branches {
    /// The branch of a record that a sub-agent wrote.
    pub(crate) fn of(&mut self, record: &Record<'_>, calls: &mut Calls) -> Rc<str> {
        if let Some(agent) = record.agent_id.filled() {
            let known = self.by_agent.get(&digest::of_text(&agent)).cloned();
            return known.unwrap_or_else(|| self.named(&agent, caller(record, calls).as_deref()));
        }
        let parent = record.parent.filled().map(|parent| digest::of_text(&parent));
        let call = record.parent_tool_use.id().map(|call| digest::of(&["call", &call]));
        let known = parent.iter().chain(&call).find_map(|key| self.by_record.get(key)).cloned();
        let branch = match (known, parent) {
            (Some(branch), _) => branch,
            // Its own chain was lost: the latest is the likeliest.
            (None, Some(_)) if call.is_none() && self.last.is_some() && !is_prompt(record) => {
                self.last.clone().unwrap_or_default()
            }
            _ => {
                self.unnamed += 1;
                let nth = self.unnamed;
                let agent = if nth == 1 { UNNAMED.to_owned() } else { format!("{UNNAMED}-{nth}") };
                branch(caller(record, calls).as_deref(), &agent)
            }
        };
        let id = record.uuid.filled().map(|id| digest::of_text(&id));
        for key in id.into_iter().chain(call) {
            self.by_record.insert(key, branch.clone());
        }
        self.last = Some(branch.clone());
        branch
    }

    /// The branch of the sub-agent `agent`, which `call` started unless an earlier record said another.
    pub(crate) fn named(&mut self, agent: &str, call: Option<&str>) -> Rc<str> {
        self.by_agent.entry(digest::of_text(agent)).or_insert_with(|| branch(call, agent)).clone()
    }
}

fn is_prompt(record: &Record<'_>) -> bool {
    record.kind.text().as_deref() == Some("user") && prompt(record).is_some()
}

/// What the sub-agent was asked, if the record is that.
fn prompt(record: &Record<'_>) -> Option<String> {
    let content = Content::of(Message::of(record.message)?.content, "", false);
    let text = content.text.trim();
    (content.results.is_empty() && !text.is_empty()).then(|| text.to_owned())
}

/// The call that started the sub-agent of which this is the first record.
fn caller(record: &Record<'_>, calls: &mut Calls) -> Option<String> {
    // Within a sub-agent, `sourceToolUseID` names one of its own calls; only on its first record can it be the caller's.
    let source = || record.source_tool_use.id().filter(|_| record.parent.filled().is_none());
    if let Some(call) = record.parent_tool_use.id().or_else(source) {
        calls.claim(digest::of_text(&call));
        return Some(call.into_owned());
    }
    if record.kind.text().as_deref() != Some("user") {
        return None;
    }
    calls.claim_by_prompt(digest::of_text(&prompt(record)?)).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Call;

    fn record(json: &str) -> Record<'_> {
        serde_json::from_str(json).expect("a record")
    }

    fn calls(made: &[(&str, &str)]) -> Calls {
        let mut calls = Calls::default();
        for (id, input) in made {
            calls.make(&Call { id: (*id).into(), name: "Task".into(), input });
        }
        calls
    }

    #[track_caller]
    fn check(made: &[(&str, &str)], records: &[(&str, &str)]) {
        let (mut branches, mut calls) = (Branches::default(), calls(made));
        for (json, expected) in records {
            assert_eq!(&*branches.of(&record(json), &mut calls), *expected, "{json}");
        }
    }

    #[test]
    fn a_branch_names_its_agent_and_the_call_that_made_it() {
        check(&[], &[(r#"{"agentId":"a\"1","parentToolUseID":"t"}"#, r#"{"call":"t","agent":"a\"1"}"#)]);
        check(&[], &[(r#"{"sourceToolUseID":"t"}"#, r#"{"call":"t","agent":"sidechain"}"#)]);
        check(&[], &[(r#"{"sourceToolUseID":"t","parentUuid":"p"}"#, r#"{"call":null,"agent":"sidechain"}"#)]);
    }

    #[test]
    fn what_its_first_record_says_holds_for_the_whole_branch() {
        check(
            &[],
            &[
                (r#"{"agentId":"a","sourceToolUseID":"t"}"#, r#"{"call":"t","agent":"a"}"#),
                (r#"{"agentId":"a","parentToolUseID":"v","parentUuid":"p"}"#, r#"{"call":"t","agent":"a"}"#),
            ],
        );
    }

    #[test]
    fn chains_of_agents_without_an_id_are_told_apart_by_their_parents_and_linked_by_their_prompts() {
        check(
            &[("t1", r#"{"prompt":"look"}"#), ("t2", r#"{"prompt":"read"}"#)],
            &[
                (r#"{"type":"user","uuid":"b1","message":{"content":"read"}}"#, r#"{"call":"t2","agent":"sidechain"}"#),
                (
                    r#"{"type":"user","uuid":"c1","message":{"content":"look"}}"#,
                    r#"{"call":"t1","agent":"sidechain-2"}"#,
                ),
                (r#"{"type":"assistant","uuid":"b2","parentUuid":"b1"}"#, r#"{"call":"t2","agent":"sidechain"}"#),
                (r#"{"type":"assistant","uuid":"c2","parentUuid":"c1"}"#, r#"{"call":"t1","agent":"sidechain-2"}"#),
                (r#"{"type":"user","uuid":"b3","parentUuid":"b2"}"#, r#"{"call":"t2","agent":"sidechain"}"#),
                // A record between was lost.
                (r#"{"type":"assistant","uuid":"b5","parentUuid":"b4"}"#, r#"{"call":"t2","agent":"sidechain"}"#),
            ],
        );
    }

    #[test]
    fn where_only_the_call_is_named_it_tells_the_branches_apart() {
        check(
            &[],
            &[
                (r#"{"parent_tool_use_id":"t"}"#, r#"{"call":"t","agent":"sidechain"}"#),
                (r#"{"parent_tool_use_id":"v"}"#, r#"{"call":"v","agent":"sidechain-2"}"#),
                (r#"{"parent_tool_use_id":"t"}"#, r#"{"call":"t","agent":"sidechain"}"#),
            ],
        );
    }

    #[test]
    fn of_two_calls_that_ask_the_same_each_gets_a_chain() {
        let asked = r#"{"prompt":"look"}"#;
        check(
            &[("t1", asked), ("t2", asked)],
            &[
                (r#"{"type":"user","uuid":"b","message":{"content":"look"}}"#, r#"{"call":"t1","agent":"sidechain"}"#),
                (
                    r#"{"type":"user","uuid":"c","message":{"content":"look"}}"#,
                    r#"{"call":"t2","agent":"sidechain-2"}"#,
                ),
                (
                    r#"{"type":"user","uuid":"d","message":{"content":"look"}}"#,
                    r#"{"call":null,"agent":"sidechain-3"}"#,
                ),
            ],
        );
    }
}
