//! Where sessions are kept: a database, folders of files, or one exported file. All hand out rows of one form.

pub(crate) mod database;
pub(crate) mod export;
pub(crate) mod tree;

use toolpath_plugin_api::kit::json::{RawValue, mend_surrogates};
use toolpath_plugin_api::{Origin, PluginError};

/// One record: a row of a table, a file, or an element of an exported list.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its id, from the row's key or the file's name.
    pub(crate) id: String,
    /// What kind of record it is, where the store says that beside its data.
    pub(crate) kind: String,
    /// When it was made, in milliseconds since 1970, where the store says that beside its data.
    pub(crate) time: Option<i64>,
    /// Its data: the text of a JSON object.
    pub(crate) data: Result<String, Unread>,
    /// What had to be replaced in the data.
    pub(crate) replaced: Replaced,
    /// Where it stands.
    pub(crate) origin: Origin,
}

/// Data that cannot be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Unread {
    /// What there is of it.
    pub(crate) raw: String,
    /// Why it cannot be read, and of what.
    pub(crate) reason: String,
}

/// What had to be replaced in a text to read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replaced {
    /// Bytes that are no UTF-8.
    pub(crate) bytes: bool,
    /// Halves of surrogate pairs.
    pub(crate) surrogates: bool,
}

impl Row {
    /// A row without data.
    pub(crate) fn new(id: String, origin: Origin) -> Self {
        Self {
            id,
            kind: String::new(),
            time: None,
            data: Err(Unread::default()),
            replaced: Replaced::default(),
            origin,
        }
    }

    /// The same with the data `text`, which is called `name` where it cannot be read.
    pub(crate) fn with(mut self, text: &str, is_faithful: bool, name: &str) -> Self {
        let mended = if text.contains("\\ud") || text.contains("\\uD") { mend_surrogates(text) } else { None };
        self.replaced = Replaced { bytes: !is_faithful, surrogates: mended.is_some() };
        let text = mended.unwrap_or_else(|| text.to_owned());
        self.data = match serde_json::from_str::<&RawValue>(&text) {
            Ok(value) if value.get().starts_with('{') => Ok(value.get().to_owned()),
            Ok(_) => Err(Unread { raw: text, reason: format!("{name} is no JSON object") }),
            Err(err) => {
                let reason = if err.is_eof() { "it ends too early".to_owned() } else { err.to_string() };
                Err(Unread { raw: text, reason: format!("{name} is no JSON: {reason}") })
            }
        };
        self
    }

    /// The fields of its data; none when it cannot be read.
    pub(crate) fn shape<'r, T: Default + serde::Deserialize<'r>>(&'r self) -> T {
        self.data.as_deref().ok().and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// The same, unreadable for `reason`.
    pub(crate) fn without(mut self, reason: String) -> Self {
        self.data = Err(Unread { raw: String::new(), reason });
        self
    }
}

/// Rows, read one by one.
pub(crate) struct Rows<'s> {
    /// The rows in their order.
    pub(crate) rows: Box<dyn Iterator<Item = Result<Row, PluginError>> + 's>,
    /// Why there may have been more.
    pub(crate) damage: Option<String>,
}

impl Rows<'_> {
    /// No rows.
    pub(crate) fn none() -> Self {
        Self { rows: Box::new(std::iter::empty()), damage: None }
    }
}

/// A store of sessions.
pub(crate) trait Store {
    /// Names of what the rows' origins count; empty when there is only one.
    fn files(&self, name: &str) -> Vec<String>;
    /// Ids of the sessions that no other session started, in a fixed order.
    fn tops(&self) -> Result<Vec<String>, PluginError>;
    /// A session.
    fn session(&self, id: &str) -> Result<Option<Row>, PluginError>;
    /// Ids of the sessions that a session started.
    fn children(&self, id: &str) -> Result<Vec<String>, PluginError>;
    /// The messages of a session.
    fn messages(&self, session: &str) -> Result<Rows<'_>, PluginError>;
    /// The parts of a message.
    fn parts(&self, session: &str, message: &Row) -> Result<Rows<'_>, PluginError>;
    /// The messages of a session in the newest model, which has no parts.
    fn next(&self, _session: &str) -> Result<Rows<'_>, PluginError> {
        Ok(Rows::none())
    }
    /// What else belongs to a session; each row names its kind.
    fn rest(&self, session: &str) -> Result<Rows<'_>, PluginError>;
    /// Says at the end whether what was read can be believed.
    fn finish(self: Box<Self>) -> Result<(), PluginError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, data: Result<&str, (&str, &str)>) {
        let row = Row::new("r".to_owned(), Origin::default()).with(text, true, "the row");
        let found = row.data.as_deref().map_err(|unread| (unread.raw.as_str(), unread.reason.as_str()));
        assert_eq!(found, data);
    }

    #[test]
    fn data_is_an_object_or_says_why_not() {
        check(r#" {"a":1e999} "#, Ok(r#"{"a":1e999}"#));
        check("[1]", Err(("[1]", "the row is no JSON object")));
        check("", Err(("", "the row is no JSON: it ends too early")));
        check("{\"a\":", Err(("{\"a\":", "the row is no JSON: it ends too early")));
        check("{a}", Err(("{a}", "the row is no JSON: key must be a string at line 1 column 2")));
        check(r#"{"a":"\ud83d"}"#, Ok(r#"{"a":"\ufffd"}"#));
    }
}
