//! What is known of a session as a whole, and times as Cursor writes them.

use toolpath_plugin_api::SessionRecord;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::time::{Span, from_millis};

use crate::shape::Workspace;

/// What is known so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The session's id.
    pub(crate) id: String,
    /// Its title.
    pub(crate) title: Option<String>,
    /// The directory it worked in.
    pub(crate) directory: Option<String>,
    /// The files that were read, where there are several.
    pub(crate) files: Vec<String>,
    span: Span,
}

impl Facts {
    /// The session `id`, of which nothing else is known.
    pub(crate) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// Takes a time into account.
    pub(crate) fn see(&mut self, time: &str) {
        self.span.see(time);
    }

    /// Tells `tell` everything that is known.
    pub(crate) fn tell<T>(&self, tell: impl FnOnce(&SessionRecord<'_>) -> T) -> T {
        let (first, last) = (self.span.first(), self.span.last());
        let mut session = SessionRecord::new(&self.id);
        session.title = self.title.as_deref();
        session.started_at = first.as_deref();
        session.last_activity = last.as_deref();
        session.producer = Some(("cursor", None));
        session.working_dir = self.directory.as_deref();
        session.files = self.files.iter().map(String::as_str).collect();
        tell(&session)
    }
}

/// A time: a text as it stands, or a number of milliseconds, which may have a fraction.
pub(crate) fn moment_of(field: Field<'_>) -> Option<String> {
    if let Some(text) = field.filled() {
        return Some(text.into_owned());
    }
    let milliseconds = field.json()?.parse::<f64>().ok().filter(|number| number.abs() < 1e17)?;
    from_millis(milliseconds as i64)
}

/// The folder that a `workspaceIdentifier` names.
pub(crate) fn folder_of(field: Field<'_>) -> Option<String> {
    let workspace: Workspace<'_> = field.object()?;
    let uri: Workspace<'_> = workspace.uri.object_or_default();
    let path = uri.fs_path.filled().or_else(|| uri.path.filled()).map(Into::into);
    path.or_else(|| uri.external.filled().or_else(|| workspace.uri.filled()).and_then(|uri| path_of(&uri)))
}

/// The path of a `file:` address.
pub(crate) fn path_of(uri: &str) -> Option<String> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let bytes = path.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = bytes.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
        match hex.filter(|_| byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    let path = String::from_utf8_lossy(&decoded).into_owned();
    // `/c:/x` is a path of Windows.
    let is_drive = path.len() > 2 && path.as_bytes()[0] == b'/' && path.as_bytes()[2] == b':';
    Some(if is_drive { path[1..].to_owned() } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(json: &str) -> Field<'_> {
        Field::of(serde_json::from_str(json).expect("JSON"))
    }

    #[test]
    fn a_time_is_a_text_or_milliseconds() {
        for (json, time) in [
            ("\"2026-06-01T14:52:08.647Z\"", Some("2026-06-01T14:52:08.647Z")),
            ("1780325474978", Some("2026-06-01T14:51:14.978Z")),
            ("1.780325474978e12", Some("2026-06-01T14:51:14.978Z")),
            ("1e999", None),
            ("\"\"", None),
            ("null", None),
            ("{}", None),
        ] {
            assert_eq!(moment_of(field(json)).as_deref(), time, "{json}");
        }
    }

    #[test]
    fn a_folder_is_a_path_or_an_address() {
        for (json, folder) in [
            (r#"{"id":"x","uri":{"fsPath":"/p q","path":"/p","scheme":"file"}}"#, Some("/p q")),
            (r#"{"uri":{"external":"file:///p%20q/%C3%A9%zz"}}"#, Some("/p q/é%zz")),
            (r#"{"uri":"file:///c%3A/x"}"#, Some("c:/x")),
            (r#"{"uri":"vscode-remote://ssh/p"}"#, None),
            (r#"{"uri":{}}"#, None),
            ("7", None),
        ] {
            assert_eq!(folder_of(field(json)).as_deref(), folder, "{json}");
        }
    }
}
