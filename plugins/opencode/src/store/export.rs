//! A session as `opencode export` writes it: one file with the session and its messages, each with its parts.
//!
//! The file is one JSON value, so it is in memory as a whole.

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::{Origin, PluginError};

use crate::shape::{Export, Message, Session};
use crate::store::{Row, Rows, Store};

/// One exported session.
#[derive(Debug)]
pub(crate) struct Exported {
    session: Row,
    messages: Vec<(Row, Vec<Row>)>,
}

impl Exported {
    /// The session in `text`.
    pub(crate) fn new(text: &str) -> Result<Self, PluginError> {
        let refuse = || PluginError::new("holds no session of opencode; name its database, its `storage` or an export");
        let whole = Row::new(String::new(), Origin::default()).with(text, true, "the file");
        let json = whole.data.map_err(|unread| match unread.raw.trim_start().starts_with('{') {
            true => PluginError::new(format!("cannot be read as an exported session: {}", unread.reason)),
            false => refuse(),
        })?;
        let export: Export<'_> = serde_json::from_str(&json).map_err(|_| refuse())?;
        let (Some(info), Some(messages)) = (export.info.object::<Session<'_>>(), export.messages.list()) else {
            return Err(refuse());
        };
        let id = info.id.filled().ok_or_else(refuse)?;
        let session = Row::new(id.into_owned(), Origin::default()).with(export.info.json().unwrap_or("{}"), true, "it");
        let messages = messages.into_iter().enumerate().map(|(nth, raw)| message(nth + 1, raw)).collect();
        Ok(Self { session, messages })
    }
}

fn message(nth: usize, raw: Field<'_>) -> (Row, Vec<Row>) {
    let origin = Origin { line: nth as u64, ..Origin::default() };
    let export: Export<'_> = raw.object_or_default();
    let info: Message<'_> = export.info.object_or_default();
    let id = info.id.filled().map_or_else(|| format!("message-{nth}"), Into::into);
    let parts = export.parts.list().unwrap_or_default();
    let parts = parts.iter().enumerate().map(|(index, raw)| {
        let within: Message<'_> = raw.object_or_default();
        let part = within.id.filled().map_or_else(|| format!("{id}/{}", index + 1), Into::into);
        Row::new(part, origin).with(raw.json().unwrap_or("null"), true, "the part")
    });
    let parts = parts.collect();
    let json = export.info.json().unwrap_or_else(|| raw.json().unwrap_or("null"));
    (Row::new(id, origin).with(json, true, "the message"), parts)
}

/// A copy: the rows of a store are read again where they are asked for again.
fn again(row: &Row) -> Row {
    let data = row
        .data
        .as_ref()
        .map_err(|unread| crate::store::Unread { raw: unread.raw.clone(), reason: unread.reason.clone() });
    Row { id: row.id.clone(), kind: row.kind.clone(), data: data.cloned(), ..*row }
}

impl Store for Exported {
    fn files(&self, _name: &str) -> Vec<String> {
        Vec::new()
    }

    fn tops(&self) -> Result<Vec<String>, PluginError> {
        Ok(vec![self.session.id.clone()])
    }

    fn session(&self, id: &str) -> Result<Option<Row>, PluginError> {
        Ok(Some(&self.session).filter(|session| session.id == id).map(again))
    }

    fn children(&self, _id: &str) -> Result<Vec<String>, PluginError> {
        Ok(Vec::new())
    }

    fn messages(&self, session: &str) -> Result<Rows<'_>, PluginError> {
        if session != self.session.id {
            return Ok(Rows::none());
        }
        Ok(Rows { rows: Box::new(self.messages.iter().map(|(message, _)| Ok(again(message)))), damage: None })
    }

    fn parts(&self, _session: &str, message: &Row) -> Result<Rows<'_>, PluginError> {
        let nth = usize::try_from(message.origin.line).unwrap_or(0);
        let parts = nth
            .checked_sub(1)
            .and_then(|index| self.messages.get(index))
            .map(|(_, parts)| parts.as_slice())
            .unwrap_or_default();
        Ok(Rows { rows: Box::new(parts.iter().map(|part| Ok(again(part)))), damage: None })
    }

    fn rest(&self, _session: &str) -> Result<Rows<'_>, PluginError> {
        Ok(Rows::none())
    }
}
