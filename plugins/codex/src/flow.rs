//! How records follow each other: which make up one response of the model, and which a fork copied from its parent.
//!
//! A file is gone through twice, and both times in the same way: the survey learns what each response cost, which the
//! log says before, within or behind it; then it is told.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_128;

use crate::calls::{is_call, is_result};
use crate::record::{Kind, Meta, Record, UsageNote};
use crate::repeats::Stretch;
use crate::usage::{Count, Counter, Tokens};

/// Copied lines bear the time of the copy, which takes less than this, or their own older time.
const COPYING: i64 = 1000;

/// Follows the records of a file.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    counter: Counter,
    responses: u64,
    is_open: bool,
    has_call: bool,
    copies: Copies,
    thread: Option<String>,
    stretch: Stretch,
    /// Responses whose usage has been noted, by thread and id.
    noted: HashSet<u128>,
}

impl Flow {
    /// Follows a file of which is known that its own lines begin with the record `own_from`.
    pub(crate) fn of_own_from(own_from: Option<u64>) -> Self {
        Self { copies: Copies { own_record: own_from, ..Copies::default() }, ..Self::default() }
    }

    /// The record with which a sub-agent's own lines begin, when all were taken.
    ///
    /// A sub-agent is started within the second of the copy, so the time does not part them; its task does.
    pub(crate) fn own_from(&self) -> Option<u64> {
        self.copies.last_task.filter(|_| self.copies.is_sub_agents)
    }
}

/// What a record is within the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// The response that it is part of, from 1.
    pub(crate) response: Option<u64>,
    /// What it says about tokens.
    pub(crate) count: Option<Count>,
    /// What a note of its own says that a response cost.
    pub(crate) noted: Option<Tokens>,
    /// Whether it notes again what a response cost.
    pub(crate) is_noted_again: bool,
    /// Whether it was copied from a parent.
    pub(crate) is_inherited: bool,
    /// Whether somebody has spoken to the model, so that no response before it is still to be counted.
    pub(crate) is_input: bool,
    /// Where in the session it stands, for what is said twice.
    pub(crate) stretch: Stretch,
}

impl Flow {
    /// Takes the next record.
    pub(crate) fn take(&mut self, record: &Record<'_>) -> Step {
        let is_inherited = self.copies.take(record);
        let mut step = Step { is_inherited, ..Step::default() };
        match &record.kind {
            Kind::Meta(meta) if self.thread.is_none() => {
                self.thread = meta.id.filled().map(|id| id.into_owned());
            }
            Kind::Item(item) => {
                let kind = item.kind();
                let is_answer = kind == "message" && item.role.is("assistant");
                if is_answer || kind == "reasoning" || is_call(&kind) {
                    if !self.is_open {
                        self.responses += 1;
                        (self.is_open, self.has_call) = (true, false);
                    }
                    self.has_call |= is_call(&kind);
                    step.response = Some(self.responses);
                } else if is_result(&kind) {
                    // Before a call of its own it answers an earlier response, and says nothing of this one.
                    self.is_open &= !self.has_call;
                } else if matches!(&*kind, "message" | "agent_message") {
                    self.is_open = false;
                    step.is_input = item.role.is("user");
                    self.stretch.inputs += u64::from(step.is_input);
                }
            }
            Kind::Event(event) => match &*record.name {
                "token_count" => {
                    let count = self.counter.take(event.info, is_inherited);
                    step.count = Some(count);
                    self.is_open &= !matches!(count, Count::Call(_));
                }
                "task_started" | "turn_started" | "task_complete" | "turn_complete" | "turn_aborted"
                | "thread_rolled_back" | "context_compacted" => self.is_open = false,
                _ => {}
            },
            Kind::Usage(note) => {
                let is_own = note.thread.filled().is_none_or(|thread| self.thread.as_deref() == Some(&*thread));
                step.is_noted_again = !self.is_news(note);
                step.noted = Tokens::of(note.usage).filter(|_| is_own && !is_inherited && !step.is_noted_again);
                self.is_open &= step.is_noted_again;
            }
            Kind::Compacted => self.is_open = false,
            _ => {}
        }
        self.stretch.responses = self.responses;
        step.stretch = self.stretch;
        step
    }

    /// Whether a note is the first of its response; one that names none always is.
    fn is_news(&mut self, note: &UsageNote<'_>) -> bool {
        let Some(response) = note.response.filled() else { return true };
        let thread = note.thread.filled().unwrap_or_default();
        self.noted.insert(xxh3_128(format!("{thread}\n{response}").as_bytes()))
    }
}

/// Finds the lines that a fork or a sub-agent's file begins with and that are its parent's.
#[derive(Debug, Default)]
struct Copies {
    /// Whether a header came that names a parent.
    has_parent: bool,
    has_header: bool,
    is_sub_agents: bool,
    /// Records so far.
    records: u64,
    /// The copied record with which a task began last.
    last_task: Option<u64>,
    /// The record with which the file's own lines are known to begin.
    own_record: Option<u64>,
    /// The file's own lines begin with this ordinal.
    own_from: Option<u64>,
    /// Time of the file's own header.
    started: Option<i64>,
    /// Whether the copy has begun, or ended: there is one at most.
    has_copy: bool,
    /// While in the copy: the last time that a copied line can bear, or whatever it is where there are no times.
    until: Option<Option<i64>>,
}

impl Copies {
    fn take(&mut self, record: &Record<'_>) -> bool {
        self.records += 1;
        let time = millis(&record.time);
        let is_older = self.has_parent && time.zip(self.started).is_some_and(|(time, started)| time < started);
        let is_copied = self.is_copied(record, time, is_older);
        // A task that keeps its old time is the parent's own.
        if is_copied && !is_older && matches!(&*record.name, "task_started" | "turn_started") {
            self.last_task = Some(self.records);
        }
        is_copied
    }

    fn is_copied(&mut self, record: &Record<'_>, time: Option<i64>, is_older: bool) -> bool {
        if self.own_record.is_some_and(|own| own <= self.records) {
            return false;
        }
        if let Kind::Meta(meta) = &record.kind {
            return self.header(meta, time, record.ordinal);
        }
        if let (Some(own), Some(ordinal)) = (self.own_from, record.ordinal) {
            return ordinal < own;
        }
        let Some(until) = self.until else { return is_older };
        let is_copied = match (time, until) {
            (Some(time), Some(until)) => time <= until,
            // A record without a time stands between two that have one.
            _ => true,
        };
        if !is_copied {
            self.until = None;
        }
        is_copied
    }

    fn header(&mut self, meta: &Meta<'_>, time: Option<i64>, ordinal: Option<u64>) -> bool {
        if !self.has_header {
            self.has_header = true;
            self.is_sub_agents = meta.is_sub_agents();
            self.has_parent = meta.forked_from.is_filled() || meta.parent.is_filled() || self.is_sub_agents;
            self.own_from = meta.history_start.count();
            self.started = time;
            return false;
        }
        if let (Some(own), Some(ordinal)) = (self.own_from, ordinal) {
            return ordinal < own;
        }
        if self.has_parent && self.until.is_none() && !self.has_copy {
            self.has_copy = true;
            self.until = Some(self.started.map(|started| started.saturating_add(COPYING)));
        }
        self.until.is_some()
    }
}

fn millis(time: &str) -> Option<i64> {
    time.parse::<jiff::Timestamp>().ok().map(|time| time.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::line;

    /// Of each line the response it is part of; `*` where it was copied.
    #[track_caller]
    fn check(lines: &[&str], expected: &[&str]) {
        let mut flow = Flow::default();
        let found: Vec<_> = lines
            .iter()
            .map(|json| {
                let step = flow.take(&line(json));
                let number = step.response.map_or("-".to_owned(), |number| number.to_string());
                if step.is_inherited { format!("{number}*") } else { number }
            })
            .collect();
        assert_eq!(found, expected);
    }

    const THOUGHT: &str = r#"{"type":"response_item","payload":{"type":"reasoning"}}"#;
    const ANSWER: &str = r#"{"type":"response_item","payload":{"type":"message","role":"assistant"}}"#;
    const PROMPT: &str = r#"{"type":"response_item","payload":{"type":"message","role":"user"}}"#;
    const CALL: &str = r#"{"type":"response_item","payload":{"type":"function_call","call_id":"c"}}"#;
    const OUTPUT: &str = r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c"}}"#;

    #[test]
    fn a_response_ends_where_something_is_answered_to_it() {
        check(
            &[PROMPT, THOUGHT, ANSWER, CALL, CALL, OUTPUT, OUTPUT, THOUGHT, ANSWER, PROMPT, ANSWER],
            &["-", "1", "1", "1", "1", "-", "-", "2", "2", "-", "3"],
        );
    }

    #[test]
    fn a_late_result_of_an_earlier_call_does_not_cut_a_response() {
        check(&[THOUGHT, OUTPUT, CALL, OUTPUT, THOUGHT], &["1", "-", "1", "-", "2"]);
    }

    #[test]
    fn a_response_ends_where_its_tokens_are_told_but_not_where_they_are_told_again() {
        let count = |tokens: u64| {
            format!(
                r#"{{"type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":{tokens}}}}}}}}}"#
            )
        };
        check(&[ANSWER, &count(5), ANSWER, &count(5), ANSWER], &["1", "-", "2", "-", "2"]);
    }

    fn at(second: u64, rest: &str) -> String {
        format!(r#"{{"timestamp":"2026-05-01T10:00:{second:02}.000Z",{}"#, &rest[1..])
    }

    #[test]
    fn a_forks_copied_lines_are_those_with_the_time_of_the_fork_or_an_older_one() {
        let own = at(30, r#"{"type":"session_meta","payload":{"id":"b","forked_from_id":"a"}}"#);
        let parents = at(30, r#"{"type":"session_meta","payload":{"id":"a"}}"#);
        check(
            &[&own, &parents, &at(30, ANSWER), &at(12, ANSWER), ANSWER, &at(45, ANSWER), &at(30, ANSWER)],
            &["-", "-*", "1*", "1*", "1*", "1", "1"],
        );
    }

    #[test]
    fn lines_that_a_sub_agents_file_has_from_before_it_began_are_its_parents() {
        let own = at(30, r#"{"type":"session_meta","payload":{"id":"b","source":{"subagent":{"thread_spawn":{}}}}}"#);
        let task = r#"{"type":"event_msg","payload":{"type":"task_started"}}"#;
        let lines = [&*own, &at(10, task), &at(12, ANSWER), &at(30, task), &at(31, ANSWER)];
        check(&lines, &["-", "-*", "1*", "-", "2"]);
        let mut flow = Flow::default();
        for line_of in lines {
            flow.take(&line(line_of));
        }
        assert_eq!(flow.own_from(), None);
        let plain = at(30, r#"{"type":"session_meta","payload":{"id":"b"}}"#);
        check(&[&plain, &at(12, ANSWER)], &["-", "1"]);
    }

    #[test]
    fn a_fork_without_a_copy_and_a_resumed_session_have_only_lines_of_their_own() {
        let fork = at(30, r#"{"type":"session_meta","payload":{"id":"b","forked_from_id":"a"}}"#);
        check(&[&fork, &at(30, PROMPT), &at(31, ANSWER)], &["-", "-", "1"]);
        let plain = at(30, r#"{"type":"session_meta","payload":{"id":"b"}}"#);
        check(&[&plain, &plain, &at(30, ANSWER)], &["-", "-", "1"]);
    }

    #[test]
    fn an_ordinal_says_where_a_sub_agents_own_lines_begin() {
        let own = r#"{"type":"session_meta","ordinal":0,"payload":{"id":"b","parent_thread_id":"a","subagent_history_start_ordinal":"3"}}"#;
        let with = |ordinal: u64| format!(r#"{{"ordinal":{ordinal},{}"#, &ANSWER[1..]);
        check(&[own, &with(1), &with(2), &with(3), ANSWER], &["-", "1*", "1*", "1", "1"]);
    }
}
