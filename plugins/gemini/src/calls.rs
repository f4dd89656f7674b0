//! The tool calls of a message, each with what became of it.

use std::borrow::Cow;

use toolpath_plugin_api::{Category, DelegationRecord, Origin, ToolResultRecord, ToolUseRecord, TurnRecord};

use crate::content::{Answer, Content, answer};
use crate::edits::Edit;
use crate::shape::{Args, Display, Record, ToolCall};
use crate::tools;

/// One tool call.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) id: Cow<'a, str>,
    /// The log has no id for it, and it is counted.
    is_numbered: bool,
    pub(crate) name: Cow<'a, str>,
    input: &'a str,
    category: Category,
    pub(crate) answer: Option<Answer<'a>>,
    edit: Option<Edit>,
    /// The sub-agent that it was handed to: its id, where the log has one.
    pub(crate) agent_id: Option<Cow<'a, str>>,
    /// The sub-agent's name, and what it was asked.
    handed_over: Option<(Cow<'a, str>, Cow<'a, str>)>,
    time: Cow<'a, str>,
}

impl<'a> Call<'a> {
    /// The calls of the message `id`: those of its list, and those of its content that are not in it.
    pub(crate) fn all_of(record: &Record<'a>, content: &Content<'a>, id: &str) -> Vec<Self> {
        let mut calls: Vec<Self> = Vec::new();
        for raw in record.calls.list().unwrap_or_default() {
            let call: ToolCall<'a> = raw.object_or_default();
            calls.push(Self::of(&call, call.id.id(), id, calls.len()));
        }
        let listed: usize = calls.len();
        for function in &content.calls {
            let own = function.id.id();
            let name = function.name.text();
            // A content's calls seldom have an id; then the list's of that name are the same.
            let is_listed = calls[..listed].iter().any(|call| match &own {
                Some(own) => call.id == *own,
                None => Some(&call.name) == name.as_ref(),
            });
            if !is_listed {
                let call = ToolCall { name: function.name, args: function.args, ..ToolCall::default() };
                calls.push(Self::of(&call, own, id, calls.len()));
            }
        }
        calls
    }

    /// Adds what calls of another version of the message `id` have and these lack.
    pub(crate) fn complete(calls: &mut Vec<Self>, others: Vec<Self>, id: &str) {
        let count = calls.len();
        for mut other in others {
            let is_same = |call: &&mut Self| match call.is_numbered || other.is_numbered {
                true => call.name == other.name,
                false => call.id == other.id,
            };
            let Some(call) = calls[..count].iter_mut().find(is_same) else {
                if other.is_numbered {
                    other.id = format!("{id}/{}", calls.len()).into();
                }
                calls.push(other);
                continue;
            };
            if call.is_numbered && !other.is_numbered {
                (call.id, call.is_numbered) = (other.id, false);
            }
            if call.answer.is_none() {
                (call.answer, call.edit, call.time) = (other.answer, other.edit, other.time);
            }
            call.agent_id = call.agent_id.take().or(other.agent_id);
            call.handed_over = call.handed_over.take().or(other.handed_over);
        }
    }

    /// A call of the message `message`, the one at `at`, with its own id where it has one.
    fn of(call: &ToolCall<'a>, own: Option<Cow<'a, str>>, message: &str, at: usize) -> Self {
        let is_numbered = own.is_none();
        let id = own.unwrap_or_else(|| format!("{message}/{at}").into());
        let name = call.name.text().unwrap_or_default();
        let status = call.status.text().unwrap_or_default();
        let has_failed = matches!(&*status, "error" | "cancelled");
        let shown = call.display.text();
        let mut answer = answer(call.result, &id);
        if answer.is_none() && (has_failed || status == "success" || shown.is_some()) {
            answer = Some(Answer { text: shown.unwrap_or_default().into_owned(), ..Answer::default() });
        }
        if let Some(answer) = &mut answer {
            answer.is_error |= has_failed;
        }
        let has_succeeded = answer.as_ref().is_some_and(|answer| !answer.is_error) && status == "success";
        let edit = if has_succeeded { Edit::of(call.display, call.args) } else { None };
        let category = tools::category_of(&name);
        let agent_id = call.agent_id.filled();
        let display: Display<'a> = call.display.object().unwrap_or_default();
        let is_handed_over = agent_id.is_some() || category == Category::DELEGATION || display.is_agent.flag();
        let handed_over = is_handed_over.then(|| {
            let args: Args<'a> = call.args.object().unwrap_or_default();
            let named = [args.agent_name.filled(), display.agent_name.filled()].into_iter().flatten().next();
            (named.unwrap_or_else(|| name.clone()), args.prompt.text().unwrap_or_default())
        });
        let (input, time) = (call.args.json().unwrap_or("null"), call.timestamp.text().unwrap_or_default());
        Self { id, is_numbered, name, input, category, answer, edit, agent_id, handed_over, time }
    }

    /// Adds the call to its turn: with its result, or, when that is told `later`, without.
    pub(crate) fn tell<'c>(&'c self, turn: &mut TurnRecord<'c>, later: bool, origin: Origin) {
        let mut call = ToolUseRecord::new(&self.id, &self.name, self.input, origin).category(self.category);
        if self.category == Category::FILE_WRITE {
            call = call.write_needs_result();
        }
        let answer = self.answer.as_ref().filter(|_| !later);
        if let Some(answer) = answer {
            call = call.result(&answer.text, answer.is_error);
            if let Some(edit) = &self.edit {
                turn.mutation(edit.record(&self.id));
            }
        }
        turn.tool_use(call);
        if !later && let Some(delegation) = self.delegation() {
            turn.delegation(delegation);
        }
    }

    /// The result by itself, for a call that was told without.
    pub(crate) fn result(&self, origin: Origin) -> Option<ToolResultRecord<'_>> {
        let answer = self.answer.as_ref()?;
        let mut result = ToolResultRecord::new(&self.id, &answer.text, answer.is_error, origin);
        result.timestamp(&self.time).part_of_record(true);
        if let Some(edit) = &self.edit {
            result.mutation(edit.record(&self.id));
        }
        if let Some(delegation) = self.delegation() {
            result.delegation(delegation);
        }
        Some(result)
    }

    /// The name of the sub-agent that it was handed to.
    pub(crate) fn agent_name(&self) -> Option<&str> {
        self.handed_over.as_ref().map(|(agent, _)| &**agent)
    }

    fn delegation(&self) -> Option<DelegationRecord<'_>> {
        let (agent, prompt) = self.handed_over.as_ref()?;
        let agent = self.agent_id.as_ref().unwrap_or(agent);
        Some(DelegationRecord::new(agent, prompt).result(self.answer.as_ref().map(|answer| &*answer.text)))
    }
}
