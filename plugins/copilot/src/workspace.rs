//! `workspace.yaml` beside the log: what the session is called, and where it works.

use std::fs;
use std::io::Read;
use std::path::Path;

/// A file of a few lines; no more of it is read.
const LONGEST: u64 = 64 * 1024;

/// What it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// The name that a model or the user gave the session.
    pub(crate) name: Option<String>,
    /// The working directory, or the repository's.
    pub(crate) working_dir: Option<String>,
    /// The branch.
    pub(crate) branch: Option<String>,
}

impl Workspace {
    /// Reads it in the session's `folder`; where it is not or cannot be read, it says nothing.
    pub(crate) fn of(folder: &Path) -> Self {
        let path = folder.join("workspace.yaml");
        // What is no regular file must not even be opened: a pipe would wait for a writer.
        if !fs::metadata(&path).is_ok_and(|about| about.is_file()) {
            return Self::default();
        }
        let mut text = Vec::new();
        let read = fs::File::open(&path).and_then(|file| file.take(LONGEST).read_to_end(&mut text));
        if read.is_ok() { Self::from_text(&String::from_utf8_lossy(&text)) } else { Self::default() }
    }

    /// The flat `key: value` lines; lists, blocks and nested keys are passed over.
    fn from_text(text: &str) -> Self {
        let value = |wanted: &str| {
            let mut values = text.lines().filter_map(|line| line.split_once(':'));
            let (_, value) = values.find(|(key, value)| *key == wanted && value.is_empty() | value.starts_with(' '))?;
            plain(value.trim()).filter(|value| !value.is_empty())
        };
        Self {
            name: value("name"),
            working_dir: value("cwd").or_else(|| value("git_root")).or_else(|| value("gitRoot")),
            branch: value("branch"),
        }
    }
}

/// The text of a value; `None` for what is more than a line.
fn plain(value: &str) -> Option<String> {
    if let Some(inner) = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')) {
        return serde_json::from_str(value).ok().or_else(|| Some(inner.to_owned()));
    }
    if let Some(inner) = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\'')) {
        return Some(inner.replace("''", "'"));
    }
    let is_other = value.starts_with(['|', '>', '[', '{', '&', '*', '!']) || matches!(value, "null" | "~");
    (!is_other).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_lines_are_read() {
        let text = "id: s\nname: Fix: the shelf\ncwd: /w\nbranch: 'it''s'\nother:\n  name: no\n";
        let workspace = Workspace::from_text(text);
        assert_eq!(workspace.name.as_deref(), Some("Fix: the shelf"));
        assert_eq!(workspace.working_dir.as_deref(), Some("/w"));
        assert_eq!(workspace.branch.as_deref(), Some("it's"));
    }

    #[test]
    fn a_repository_stands_in_for_the_folder_and_quotes_are_no_text() {
        let workspace = Workspace::from_text("git_root: \"/r\\u00e9\"\r\nname: \"x\n");
        assert_eq!(workspace.working_dir.as_deref(), Some("/ré"));
        assert_eq!(workspace.name.as_deref(), Some("\"x"));
    }

    #[test]
    fn what_is_no_line_of_text_says_nothing() {
        for text in ["", "name:", "name: |\n  x\n", "name: null\n", "names: x", "  name: x\n", "name:x\n", "\0\u{fffd}"]
        {
            assert_eq!(Workspace::from_text(text), Workspace::default(), "{text}");
        }
        assert_eq!(Workspace::of(Path::new("/nowhere")), Workspace::default());
    }
}
