//! One record of a store: its data, or why it cannot be read.

use toolpath_plugin_api::kit::json::{RawValue, mend_surrogates, quoted};
use toolpath_plugin_api::view::ext;
use toolpath_plugin_api::{EventRecord, Origin, PluginError, Role, Severity, Sink, TurnRecord};

/// A record.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its id.
    pub(crate) id: String,
    /// Its data: the text of a JSON object.
    pub(crate) data: Result<String, Unread>,
    /// Bytes that are no UTF-8 were replaced.
    has_lost_bytes: bool,
    /// Halves of surrogate pairs were replaced.
    has_lost_halves: bool,
    /// Where it stands.
    pub(crate) origin: Origin,
}

/// Data that cannot be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unread {
    /// What there is of it.
    pub(crate) raw: String,
    /// Why it cannot be read.
    pub(crate) reason: String,
}

impl Row {
    /// The record `id` with the data `text`.
    pub(crate) fn new(id: String, text: &str, is_faithful: bool, origin: Origin) -> Self {
        let mended = if text.contains("\\ud") || text.contains("\\uD") { mend_surrogates(text) } else { None };
        let has_lost_halves = mended.is_some();
        let text = mended.unwrap_or_else(|| text.to_owned());
        let data = match serde_json::from_str::<&RawValue>(&text) {
            Ok(value) if value.get().starts_with('{') => Ok(value.get().to_owned()),
            Ok(_) => Err(Unread { raw: text, reason: "expected an object".to_owned() }),
            Err(err) if err.is_eof() => Err(Unread { raw: text, reason: "it ends inside a value".to_owned() }),
            Err(err) => {
                let reason = err.to_string().replace(" at line 1 column ", " at column ");
                Err(Unread { raw: text, reason })
            }
        };
        Self { id, data, has_lost_bytes: !is_faithful, has_lost_halves, origin }
    }

    /// The record `id`, unreadable for `reason`.
    pub(crate) fn without(id: String, reason: String, origin: Origin) -> Self {
        let data = Err(Unread { raw: String::new(), reason });
        Self { id, data, has_lost_bytes: false, has_lost_halves: false, origin }
    }

    /// The fields of its data; none when it cannot be read.
    pub(crate) fn shape<'r, T: Default + serde::Deserialize<'r>>(&'r self) -> T {
        self.data.as_deref().ok().and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// Says what was replaced in it.
    pub(crate) fn note(&self, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        if self.has_lost_bytes {
            let message = format!("bytes of `{}` that are no UTF-8 were replaced", self.id);
            sink.diagnostic(Severity::Warning, "invalid-utf8", &message, self.origin)?;
        }
        if self.has_lost_halves {
            let message = format!("halves of surrogate pairs in `{}` were replaced", self.id);
            sink.diagnostic(Severity::Info, "lone-surrogate", &message, self.origin)?;
        }
        Ok(())
    }

    /// Tells it as unreadable.
    pub(crate) fn unreadable(&self, line: &Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let Err(unread) = &self.data else { return Ok(()) };
        let data = format!(r#"{{"raw":{}}}"#, quoted(&unread.raw));
        let mut event = line.event("unreadable", &self.id, "", line.previous.as_deref(), self.origin);
        sink.event(event.data(&data).unreadable())?;
        let message = format!("`{}` cannot be read: {}", self.id, unread.reason);
        Ok(sink.diagnostic(Severity::Error, "unreadable-record", &message, self.origin)?)
    }
}

/// A line of records, as far as it was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// The branch that it is, as JSON; none for the session that was asked for.
    pub(crate) branch: Option<String>,
    /// The record that the next one follows.
    pub(crate) previous: Option<String>,
    /// Another session started it.
    pub(crate) is_child: bool,
    /// A prompt was told.
    pub(crate) has_prompt: bool,
    /// How many sessions lie around it.
    pub(crate) depth: usize,
}

impl Line {
    /// A sub-agent's line, which the call `call` started.
    pub(crate) fn of_agent(&self, call: Option<&str>, agent: &str) -> Self {
        let call = call.map_or_else(|| "null".to_owned(), quoted);
        let branch = format!(r#"{{"call":{call},"agent":{}}}"#, quoted(agent));
        Self { branch: Some(branch), is_child: true, depth: self.depth + 1, ..Self::default() }
    }

    /// A turn of this line.
    pub(crate) fn turn<'l>(&'l self, role: Role<'l>, id: &'l str, time: &'l str, origin: Origin) -> TurnRecord<'l> {
        let mut turn = TurnRecord::new(role, id, time, origin);
        turn.parent(self.previous.as_deref());
        match &self.branch {
            Some(branch) => turn.ext(ext::BRANCH, branch),
            None => turn.parent_or_previous(),
        };
        turn
    }

    /// An event of this line, behind the record `parent`.
    pub(crate) fn event<'l>(
        &'l self,
        kind: &'l str,
        id: &'l str,
        time: &'l str,
        parent: Option<&'l str>,
        origin: Origin,
    ) -> EventRecord<'l> {
        let mut event = EventRecord::new(kind, id, time, origin);
        event.parent(parent);
        if let Some(branch) = &self.branch {
            event.ext(ext::BRANCH, branch);
        }
        event
    }
}
