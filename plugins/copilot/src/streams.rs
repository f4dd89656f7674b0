//! The main line and the sub-agents' branches, whose events come mixed.
//!
//! Of each is kept what its next event needs: which model speaks, reasoning that its message is still to come for, and the
//! calls of its last message whose results will need their arguments. So memory follows the agents, not the session.

use std::collections::{HashMap, HashSet};

use toolpath_plugin_api::Origin;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::quoted;
use xxhash_rust::xxh3::xxh3_128;

use crate::shape::{Arguments, Data, Record};

/// Stands for a model that is chosen anew for each request.
const AUTO: &str = "auto";

/// One line of turns.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The branch that it is, as JSON; `None` for the main line.
    pub(crate) branch: Option<String>,
    /// The model that was named last.
    pub(crate) model: Option<String>,
    /// Reasoning whose message has not come yet.
    pub(crate) reasoning: Vec<Reasoning>,
    /// Digest of the reasoning that stood in the last message.
    pub(crate) last_thought: u128,
    /// Calls of the last message that write files or start agents, and have no result yet.
    pub(crate) open: Vec<OpenCall>,
    /// Digest of the API's call that the last message came from.
    api_call: u128,
}

/// Reasoning that stands in an event of its own.
#[derive(Debug)]
pub(crate) struct Reasoning {
    pub(crate) id: String,
    pub(crate) time: String,
    pub(crate) origin: Origin,
    pub(crate) text: String,
}

/// A call whose result is still to come.
#[derive(Debug)]
pub(crate) struct OpenCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// Whether it writes files; otherwise it starts an agent.
    pub(crate) writes: bool,
}

impl OpenCall {
    /// What the sub-agent that it starts was asked.
    pub(crate) fn prompt(&self) -> Option<String> {
        if self.writes {
            return None;
        }
        let arguments: Arguments<'_> = Field::parse(&self.arguments).object()?;
        arguments.prompt.filled().map(Into::into)
    }
}

impl Stream {
    /// A message of the API's call `api_call` begins; a model that goes on has had the results of its calls.
    pub(crate) fn begin(&mut self, api_call: Option<&str>) {
        let call = api_call.map_or(0, digest);
        if call == 0 || call != self.api_call {
            self.open.clear();
        }
        self.api_call = call;
    }

    fn name_model(&mut self, field: Field<'_>) {
        if let Some(model) = field.filled() {
            self.model = Some(model.into_owned()).filter(|model| model != AUTO);
        }
    }
}

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At(usize);

/// The main line.
pub(crate) const MAIN: At = At(0);

/// All of them.
#[derive(Debug)]
pub(crate) struct Streams {
    /// The main line, then the agents' in the order in which they appeared.
    all: Vec<Stream>,
    /// By the agent's id and by the call that started it.
    index: HashMap<u128, At>,
    /// The call and the name of agents that were said to start, by the agent's id and by the call.
    started: HashMap<u128, (String, String)>,
    /// Calls that were told.
    called: HashSet<u128>,
    /// Calls of which only a result was told.
    orphans: HashSet<u128>,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            all: vec![Stream::default()],
            index: HashMap::new(),
            started: HashMap::new(),
            called: HashSet::new(),
            orphans: HashSet::new(),
        }
    }
}

impl Streams {
    /// The one at `at`.
    pub(crate) fn at(&mut self, At(index): At) -> &mut Stream {
        &mut self.all[index]
    }

    /// All, the main line first.
    pub(crate) fn places(&self) -> impl Iterator<Item = At> + use<> {
        (0..self.all.len()).map(At)
    }

    /// Takes note of a call that is told.
    pub(crate) fn call(&mut self, id: &str) {
        self.called.insert(digest(id));
    }

    /// Whether the call was told.
    pub(crate) fn is_called(&self, id: &str) -> bool {
        self.called.contains(&digest(id))
    }

    /// Takes the open call out whose result has come.
    pub(crate) fn close(&mut self, call: &str) -> Option<OpenCall> {
        if !self.is_called(call) {
            self.orphans.insert(digest(call));
        }
        self.all.iter_mut().find_map(|stream| {
            let at = stream.open.iter().position(|open| open.id == call)?;
            Some(stream.open.remove(at))
        })
    }

    /// The name of the agent that a call started.
    pub(crate) fn agent_of(&self, call: &str) -> Option<&str> {
        self.started.get(&digest(call)).map(|(_, name)| name.as_str())
    }

    /// Where `record` belongs, and which model it names.
    pub(crate) fn learn(&mut self, kind: &str, record: &Record<'_>, data: &Data<'_>) -> At {
        let (agent, call) = (record.agent.id(), data.call.id());
        match (kind, &call) {
            ("subagent.started", Some(call)) => return self.start(call, agent.as_deref(), data),
            ("subagent.completed" | "subagent.failed", Some(call)) => {
                let known = |id: &str| self.index.get(&digest(id)).copied();
                return agent.as_deref().and_then(known).or_else(|| known(call)).unwrap_or(MAIN);
            }
            _ => {}
        }
        let at = match (agent.as_deref(), data.parent_call.id().as_deref()) {
            (None, None) if kind == "user.message" => self.prompted(data),
            (None, None) => MAIN,
            (agent, parent) => self.agent(agent, parent),
        };
        match kind {
            "session.start" | "session.resume" => self.at(MAIN).name_model(data.selected_model),
            "session.model_change" => self.at(MAIN).name_model(data.new_model),
            "session.auto_mode_resolved" => self.at(MAIN).name_model(data.chosen_model),
            "assistant.turn_start" | "assistant.message" | "tool.execution_start" | "tool.execution_complete" => {
                self.at(at).name_model(data.model);
            }
            _ => {}
        }
        at
    }

    /// An agent is said to start; the event itself stands where the call was made.
    fn start(&mut self, call: &str, agent: Option<&str>, data: &Data<'_>) -> At {
        // An event of an agent that is known is that agent's, which starts another.
        let outer = agent.filter(|agent| *agent != call).and_then(|agent| self.index.get(&digest(agent)).copied());
        let own = agent.filter(|_| outer.is_none());
        let name = data.agent_name.filled().map_or_else(|| call.to_owned(), Into::into);
        for id in own.into_iter().chain([call]) {
            self.started.insert(digest(id), (call.to_owned(), name.clone()));
        }
        let at = self.agent(own, Some(call));
        self.at(at).name_model(data.model);
        outer.unwrap_or(MAIN)
    }

    /// The branch of an agent, by its id, or by the call that started it.
    fn agent(&mut self, agent: Option<&str>, parent: Option<&str>) -> At {
        let known = |id: Option<&str>| id.and_then(|id| self.index.get(&digest(id)).copied());
        if let Some(at) = known(agent) {
            return at;
        }
        let started = agent.or(parent).and_then(|id| self.started.get(&digest(id)));
        let called = |id: &&str| self.called.contains(&digest(id));
        let call = started.map(|(call, _)| call.as_str()).or(parent).or(agent.filter(called)).map(str::to_owned);
        let at = known(call.as_deref()).unwrap_or(At(self.all.len()));
        for id in agent.into_iter().chain(call.as_deref()) {
            self.index.insert(digest(id), at);
        }
        if at.0 == self.all.len() {
            let named = call.as_deref().and_then(|call| self.started.get(&digest(call)));
            let name = named.map(|(_, name)| name.as_str()).or(agent).or(call.as_deref()).unwrap_or_default();
            // A call that is known by its result alone starts nothing.
            let is_made = |call: &&str| self.is_called(call) || !self.orphans.contains(&digest(call));
            let call = call.as_deref().filter(is_made).map_or_else(|| "null".to_owned(), quoted);
            let branch = format!(r#"{{"call":{call},"agent":{}}}"#, quoted(name));
            self.all.push(Stream { branch: Some(branch), ..Stream::default() });
        }
        at
    }

    /// Where a user's message belongs that names no agent: some versions do not say whom a call's prompt was for.
    fn prompted(&mut self, data: &Data<'_>) -> At {
        let Some(text) = data.content.filled() else { return MAIN };
        let open = self.all.iter().flat_map(|stream| &stream.open);
        let mut waiting = open.filter(|call| call.prompt().is_some_and(|prompt| prompt == text));
        let Some(call) = waiting.next().map(|call| call.id.clone()) else { return MAIN };
        self.agent(None, Some(&call))
    }
}

/// Texts are known by their digests.
pub(crate) fn digest(text: &str) -> u128 {
    xxh3_128(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the events belong: `-` is the main line.
    #[track_caller]
    fn check(calls: &[&str], events: &[&str], expected: &[&str]) -> Streams {
        let mut streams = Streams::default();
        calls.iter().for_each(|call| streams.call(call));
        let found: Vec<_> = events
            .iter()
            .map(|json| {
                let record: Record<'_> = serde_json::from_str(json).expect("a record");
                let data: Data<'_> = record.data.object().unwrap_or_default();
                let at = streams.learn(&record.kind.text().unwrap_or_default(), &record, &data);
                streams.at(at).branch.clone().unwrap_or_else(|| "-".to_owned())
            })
            .collect();
        assert_eq!(found, expected, "{events:#?}");
        streams
    }

    const SCOUT: &str = r#"{"call":"c","agent":"scout"}"#;

    #[test]
    fn an_agents_events_are_known_by_its_id_or_by_its_call() {
        check(
            &[],
            &[
                r#"{"type":"subagent.started","data":{"toolCallId":"c","agentName":"scout"},"agentId":"a"}"#,
                r#"{"type":"assistant.message","data":{},"agentId":"a"}"#,
                r#"{"type":"assistant.message","data":{"parentToolCallId":"c"}}"#,
                r#"{"type":"assistant.message","data":{}}"#,
                r#"{"type":"subagent.completed","data":{"toolCallId":"c"}}"#,
            ],
            &["-", SCOUT, SCOUT, "-", SCOUT],
        );
    }

    #[test]
    fn an_agent_that_was_not_said_to_start_is_called_by_its_id() {
        check(
            &["c"],
            &[
                r#"{"type":"assistant.message","data":{},"agentId":"c"}"#,
                r#"{"type":"assistant.message","data":{},"agentId":"x"}"#,
                r#"{"type":"assistant.message","data":{"parentToolCallId":"d"},"agentId":"y"}"#,
                r#"{"type":"subagent.failed","data":{"toolCallId":"z"}}"#,
            ],
            &[r#"{"call":"c","agent":"c"}"#, r#"{"call":null,"agent":"x"}"#, r#"{"call":"d","agent":"y"}"#, "-"],
        );
    }

    #[test]
    fn a_call_that_is_known_by_its_result_alone_starts_nothing() {
        let mut streams = Streams::default();
        assert!(streams.close("c").is_none());
        let record: Record<'_> = serde_json::from_str(r#"{"agentId":"a"}"#).expect("a record");
        let data: Data<'_> = serde_json::from_str(r#"{"parentToolCallId":"c"}"#).expect("data");
        let at = streams.learn("assistant.message", &record, &data);
        assert_eq!(streams.at(at).branch.as_deref(), Some(r#"{"call":null,"agent":"a"}"#));
    }

    #[test]
    fn an_agent_that_starts_another_tells_so_on_its_own_branch() {
        check(
            &[],
            &[
                r#"{"type":"subagent.started","data":{"toolCallId":"c","agentName":"scout"},"agentId":"c"}"#,
                r#"{"type":"assistant.message","data":{},"agentId":"c"}"#,
                r#"{"type":"subagent.started","data":{"toolCallId":"d","agentName":"inner"},"agentId":"c"}"#,
                r#"{"type":"assistant.message","data":{},"agentId":"d"}"#,
            ],
            &["-", SCOUT, SCOUT, r#"{"call":"d","agent":"inner"}"#],
        );
    }

    #[test]
    fn the_last_model_that_was_named_is_kept_for_each() {
        let mut streams = check(
            &[],
            &[
                r#"{"type":"session.start","data":{"selectedModel":"m-1"}}"#,
                r#"{"type":"subagent.started","data":{"toolCallId":"c","agentName":"scout","model":"m-2"},"agentId":"c"}"#,
                r#"{"type":"session.model_change","data":{"newModel":"m-3"}}"#,
                r#"{"type":"user.message","data":{"model":"m-9"}}"#,
            ],
            &["-", "-", "-", "-"],
        );
        let models: Vec<_> = streams.places().map(|at| streams.at(at).model.clone()).collect();
        assert_eq!(models, [Some("m-3".to_owned()), Some("m-2".to_owned())]);
    }

    #[test]
    fn auto_is_no_model() {
        for (kind, key) in [("session.model_change", "newModel"), ("assistant.turn_start", "model")] {
            let mut streams = check(
                &[],
                &[
                    r#"{"type":"session.start","data":{"selectedModel":"m-1"}}"#,
                    &format!(r#"{{"type":"{kind}","data":{{"{key}":"auto"}}}}"#),
                ],
                &["-", "-"],
            );
            assert_eq!(streams.at(MAIN).model, None, "{kind}");
        }
    }
}
