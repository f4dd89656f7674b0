//! Writes to files, told from what a log shows of them.

pub mod envelope;

use crate::kit::diff::unified;
use crate::record::MutationRecord;

/// One write to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub path: String,
    /// `add`, `update` or `delete`.
    pub operation: &'static str,
    /// Its new path, when it moved.
    pub to: Option<String>,
    /// Its text afterwards.
    pub after: Option<String>,
    /// What changed.
    pub diff: Diff,
}

/// What is known of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diff {
    /// Its line numbers are the file's.
    Placed(String),
    /// Its place in the file is not known.
    Partial(String),
    /// The record does not tell, or nothing changed.
    Unknown,
}

impl Edit {
    /// A write without more than this.
    pub fn new(path: String, operation: &'static str, diff: Diff) -> Self {
        Self { path, operation, to: None, after: None, diff }
    }

    /// As it is told, for the call `call`.
    pub fn record<'e>(&'e self, call: &'e str) -> MutationRecord<'e> {
        let mut record = MutationRecord::new(&self.path).tool_id(call).operation(self.operation);
        if let Some(to) = &self.to {
            record = record.rename_to(to);
        }
        if let Some(after) = &self.after {
            record = record.states(None, Some(after));
        }
        match &self.diff {
            Diff::Placed(diff) => record.diff(diff),
            Diff::Partial(diff) => record.partial_diff(diff),
            Diff::Unknown => record,
        }
    }
}

/// The change from one text to another.
pub fn placed(path: &str, before: &str, after: &str) -> Diff {
    if before == after { Diff::Unknown } else { Diff::Placed(unified(path, before, after)) }
}
