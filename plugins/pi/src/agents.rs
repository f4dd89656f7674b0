//! Sub-agents, whose messages stand in the result of the call that started them.
//!
//! Pi has none of its own. Its example extension starts further processes and puts what they said into the result's
//! `details.results`. The usage there is the sum of their messages' and is not told as usage.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::{Sink, Stopped};

use crate::content::Content;
use crate::place::Place;
use crate::shape::{Agent as Shape, Details, Message};
use crate::{events, messages};

/// Those that one call started.
#[derive(Debug, Default)]
pub(crate) struct Agents<'a>(Vec<Agent<'a>>);

/// One of them.
#[derive(Debug)]
pub(crate) struct Agent<'a> {
    /// Its name, with a number when the call started several of that name.
    pub(crate) name: String,
    /// What it was asked.
    pub(crate) task: Cow<'a, str>,
    /// Its last words.
    pub(crate) answer: Option<String>,
    /// The branch that it is, as JSON.
    branch: String,
    messages: Vec<Field<'a>>,
    /// All of its report but the messages.
    report: Option<String>,
}

impl<'a> Agents<'a> {
    /// Those that the result `message` of `call` tells of; none for other tools' results.
    pub(crate) fn of(message: &Message<'a>, call: &str) -> Self {
        let details: Details<'_> = message.details.object().unwrap_or_default();
        let (mut agents, mut names) = (Vec::new(), Vec::new());
        for result in details.results.list().unwrap_or_default() {
            // Others' results hold lists as well: a sub-agent's names it and has messages.
            let Some(shape) = result.object::<Shape<'_>>() else { continue };
            let (Some(name), Some(messages)) = (shape.name.filled(), shape.messages.list()) else { continue };
            names.push(name.clone());
            let name = match names.iter().filter(|&other| *other == name).count() {
                1 => name.into_owned(),
                nth => format!("{name}#{nth}"),
            };
            agents.push(Agent {
                task: shape.task.text().unwrap_or_default(),
                answer: last_words(&messages),
                branch: format!(r#"{{"call":{},"agent":{}}}"#, quoted(call), quoted(&name)),
                report: result.json().and_then(|json| events::fields(json, &["agent", "task"], &["messages"])),
                messages,
                name,
            });
        }
        Self(agents)
    }

    /// All of them.
    pub(crate) fn list(&self) -> &[Agent<'a>] {
        &self.0
    }

    /// Tells what they did, as parts of the record at `place`.
    pub(crate) fn tell(&self, place: &Place<'_>, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        for (nth, agent) in self.0.iter().enumerate() {
            for (index, field) in agent.messages.iter().enumerate() {
                let message: Message<'_> = field.object_or_default();
                let id = format!("{}/{}.{}", place.id, nth + 1, index + 1);
                let place = place.inner(id, message.timestamp, &agent.branch);
                // It may have worked elsewhere than the session, so its paths stay as they are.
                messages::tell(&message, field.json().unwrap_or("null"), &place, None, sink)?;
            }
            if let Some(report) = &agent.report {
                let mut at_end = place.inner(String::new(), Field::default(), &agent.branch);
                at_end.time = place.time.clone();
                sink.event(at_end.part("sub-agent-report").data(report))?;
            }
        }
        Ok(())
    }
}

fn last_words(messages: &[Field<'_>]) -> Option<String> {
    messages.iter().rev().find_map(|field| {
        let message: Message<'_> = field.object()?;
        let is_answer = message.role.text().as_deref() == Some("assistant");
        let text = Content::of(message.content, "").text;
        (is_answer && !text.is_empty()).then(|| text.into_owned())
    })
}
