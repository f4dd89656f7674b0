//! The host as a plugin sees it while it reads or lists.

#![expect(unsafe_code, reason = "calls the host's functions across the boundary")]

use std::path::Path;

use abi_stable::std_types::{RSlice, RStr};

use crate::error::Stopped;
use crate::provider::ReadRequest;
use crate::record::{EntryRecord, EventRecord, Origin, SessionRecord, SkipRecord, ToolResultRecord, TurnRecord};
use crate::table::{Answer, ListView, SinkView};
use crate::view::{DiagnosticView, SeverityCode, ToolResultView, option};

/// Weight of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// The document is less than the session was.
    Warning,
    /// Something could not be read.
    Error,
}

impl Severity {
    fn code(self) -> SeverityCode {
        match self {
            Self::Info => SeverityCode::INFO,
            Self::Warning => SeverityCode::WARNING,
            Self::Error => SeverityCode::ERROR,
        }
    }
}

/// Receives one session, in the order in which the session recorded it.
///
/// Call [`session`](Self::session) before anything else, and again whenever more is known. Each method answers
/// `Err(Stopped)` when the host wants no more: pass it on with `?` and nothing else; every later call answers the
/// same without reaching the host.
pub struct Sink<'a> {
    raw: &'a SinkView<'a>,
    takes_json_content: bool,
    stopped: bool,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(raw: &'a SinkView<'a>, request: &ReadRequest<'_>) -> Self {
        let takes_json_content = request.option(option::JSON_CONTENT) == Some("true");
        Self { raw, takes_json_content, stopped: false }
    }

    /// Facts of the session. The id is fixed by the first call.
    pub fn session(&mut self, session: &SessionRecord<'_>) -> Result<(), Stopped> {
        let raw = self.raw;
        // SAFETY: the context and the table come from one host and live as long as `raw`.
        self.call(|| session.with_view(|view| unsafe { (raw.table.session)(raw.context, view) }))
    }

    /// One message.
    pub fn turn(&mut self, turn: &TurnRecord<'_>) -> Result<(), Stopped> {
        let raw = self.raw;
        // SAFETY: as in `session`.
        self.call(|| unsafe { (raw.table.turn)(raw.context, &turn.view()) })
    }

    /// The result of a call of an earlier turn; the host pairs them by the call's id.
    pub fn tool_result(&mut self, result: &ToolResultRecord<'_>) -> Result<(), Stopped> {
        let raw = self.raw;
        // SAFETY: as in `session`.
        let tell = |view: &ToolResultView<'_>| unsafe { (raw.table.tool_result)(raw.context, view) };
        let takes_json = self.takes_json_content;
        self.call(|| result.with_view(takes_json, tell))
    }

    /// A record that is no message.
    pub fn event(&mut self, event: &EventRecord<'_>) -> Result<(), Stopped> {
        let raw = self.raw;
        // SAFETY: as in `session`.
        self.call(|| unsafe { (raw.table.event)(raw.context, &event.view()) })
    }

    /// A record of which no step is made.
    pub fn skip(&mut self, skip: &SkipRecord<'_>) -> Result<(), Stopped> {
        let raw = self.raw;
        // SAFETY: as in `session`.
        self.call(|| unsafe { (raw.table.skip)(raw.context, &skip.view) })
    }

    /// A sentence for the user about the record at `origin`: lowercase, no full stop, under a stable code.
    pub fn diagnostic(&mut self, severity: Severity, code: &str, message: &str, origin: Origin) -> Result<(), Stopped> {
        let raw = self.raw;
        let view = DiagnosticView { severity: severity.code(), code: code.into(), message: message.into(), origin };
        // SAFETY: as in `session`.
        self.call(|| unsafe { (raw.table.diagnostic)(raw.context, &view) })
    }

    fn call(&mut self, tell: impl FnOnce() -> Answer) -> Result<(), Stopped> {
        if self.stopped || tell() != Answer::GO_ON {
            self.stopped = true;
            return Err(Stopped);
        }
        Ok(())
    }
}

/// Receives the sessions that a plugin finds, in any order.
pub struct ListSink<'a> {
    raw: &'a ListView<'a>,
    stopped: bool,
}

impl<'a> ListSink<'a> {
    pub(crate) fn new(raw: &'a ListView<'a>) -> Self {
        Self { raw, stopped: false }
    }

    /// One session, which `read` takes by `path`.
    pub fn entry(&mut self, path: &Path, entry: &EntryRecord<'_>) -> Result<(), Stopped> {
        let bytes = crate::provider::path_bytes(path);
        let raw = self.raw;
        // SAFETY: the context and the table come from one host and live as long as `raw`.
        self.call(|| unsafe { (raw.table.entry)(raw.context, &entry.view(&bytes)) })
    }

    /// A sentence for the user about `path`.
    pub fn diagnostic(&mut self, severity: Severity, code: &str, message: &str, path: &Path) -> Result<(), Stopped> {
        let bytes = crate::provider::path_bytes(path);
        let view = DiagnosticView {
            severity: severity.code(),
            code: code.into(),
            message: message.into(),
            origin: Origin::default(),
        };
        let raw = self.raw;
        // SAFETY: as in `entry`.
        self.call(|| unsafe { (raw.table.diagnostic)(raw.context, &view, RSlice::from_slice(&bytes)) })
    }

    fn call(&mut self, tell: impl FnOnce() -> Answer) -> Result<(), Stopped> {
        if self.stopped || tell() != Answer::GO_ON {
            self.stopped = true;
            return Err(Stopped);
        }
        Ok(())
    }
}

pub(crate) fn fail(raw: &SinkView<'_>, message: &str) {
    // SAFETY: the context and the table come from one host and live as long as `raw`.
    unsafe { (raw.table.fail)(raw.context, RStr::from(message)) };
}

pub(crate) fn fail_list(raw: &ListView<'_>, message: &str) {
    // SAFETY: as in `fail`.
    unsafe { (raw.table.fail)(raw.context, RStr::from(message)) };
}
