//! Calls that wait for their results, and what is known of them until then: writes, failures, prompts.
//!
//! Codex reports what a patch wrote in a record of its own before the tool's answer. Without a report, the patch itself
//! tells, when the answer does not say that it failed.

use std::collections::HashMap;

use toolpath_plugin_api::Origin;

use crate::calls::Call;
use crate::edits::Edit;

/// What is known of the calls whose results are still to come.
#[derive(Debug, Default)]
pub(crate) struct Writes {
    open: HashMap<String, Open>,
    /// Whether calls failed, of which an event said so.
    failed: HashMap<String, bool>,
    reports: Vec<Report>,
}

#[derive(Debug)]
struct Open {
    edits: Vec<Edit>,
    prompt: Option<String>,
    /// The sub-agent that an event says it started.
    agent: Option<String>,
    /// Code mode: a script that calls other tools, under ids of their own.
    runs_others: bool,
}

/// A report of what was written, not taken up by a result yet.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) call: String,
    pub(crate) edits: Vec<Edit>,
    /// The record that it stands in.
    pub(crate) origin: Origin,
    pub(crate) name: String,
    pub(crate) time: String,
    pub(crate) data: String,
}

/// What a result has to tell beside its text.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Whether Codex says that it failed.
    pub(crate) is_failed: Option<bool>,
    /// What Codex reports to have been written.
    pub(crate) reported: Vec<Edit>,
    /// What the call asked to write.
    pub(crate) asked: Vec<Edit>,
    pub(crate) prompt: Option<String>,
    pub(crate) agent: Option<String>,
}

impl Writes {
    /// Notes a call.
    pub(crate) fn open(&mut self, call: &Call) {
        if call.result.is_none() && !call.id.is_empty() {
            let runs_others = call.name == "exec" || call.name == "wait";
            let open = Open { edits: call.edits.clone(), prompt: call.prompt.clone(), agent: None, runs_others };
            self.open.insert(call.id.clone(), open);
        }
    }

    /// Notes whether a call failed, as an event before its result says.
    pub(crate) fn ended(&mut self, call: &str, is_failed: bool) {
        if self.open.contains_key(call) {
            self.failed.insert(call.to_owned(), is_failed);
        }
    }

    /// Notes that a call started a sub-agent.
    pub(crate) fn spawned(&mut self, call: &str, agent: &str) {
        if let Some(open) = self.open.get_mut(call) {
            open.agent = Some(agent.to_owned());
        }
    }

    /// Whether a call is open that a report of `call` could be of.
    pub(crate) fn has_room_for(&self, call: &str) -> bool {
        self.open.contains_key(call) || self.open.values().any(|open| open.runs_others)
    }

    /// Keeps a report until its call's result.
    pub(crate) fn report(&mut self, report: Report) {
        self.reports.push(report);
    }

    /// Closes a call, and hands out what is known of it.
    pub(crate) fn close(&mut self, call: &str) -> Outcome {
        let Some(open) = self.open.remove(call) else { return Outcome::default() };
        let mut outcome = Outcome {
            is_failed: self.failed.remove(call),
            reported: Vec::new(),
            asked: open.edits,
            prompt: open.prompt,
            agent: open.agent,
        };
        let others = &self.open;
        let reports = std::mem::take(&mut self.reports);
        for report in reports {
            if report.call == call || (open.runs_others && !others.contains_key(&report.call)) {
                outcome.reported.extend(report.edits);
            } else {
                self.reports.push(report);
            }
        }
        outcome
    }

    /// Reports that no result took up.
    pub(crate) fn left(&mut self) -> Vec<Report> {
        std::mem::take(&mut self.reports)
    }
}
