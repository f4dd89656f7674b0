//! The older stores: folders of JSON files, one a session, a message, a part.
//!
//! Two layouts are known. Ids are those of the files' names: earlier migrations moved files without looking into them.
//! Files are read in the order of their names, which begin with the time.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use toolpath_plugin_api::{Origin, PluginError};

use crate::shape::{Message, Session};
use crate::store::{Row, Rows, Store};

/// A longer file is not read; what is kept of it.
const LONGEST: u64 = 256 * 1024 * 1024;
const KEPT: u64 = 64 * 1024;

/// Sessions in folders.
pub(crate) struct Tree {
    root: PathBuf,
    layout: Layout,
    /// Each session and the one that started it.
    links: OnceCell<Vec<(String, Option<String>)>>,
}

/// Where the files of a session stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// `session/<project>/<session>.json`, `message/<session>/`, `part/<message>/`.
    Flat,
    /// `session/info/<session>.json`, `session/message/<session>/`, `session/part/<session>/<message>/`: the oldest.
    Nested,
}

impl Tree {
    /// The sessions below the folder `storage`; `None` when there are none of a known layout.
    pub(crate) fn at(root: &Path) -> Option<Self> {
        let is_folder = |relative: &str| root.join(relative).is_dir();
        let layout = if is_folder("session/info") {
            Layout::Nested
        } else if is_folder("session") {
            Layout::Flat
        } else {
            return None;
        };
        Some(Self { root: root.to_owned(), layout, links: OnceCell::new() })
    }

    /// The folder it stands in.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The files of all sessions, in the order of their ids.
    pub(crate) fn session_files(&self) -> io::Result<Vec<PathBuf>> {
        let sessions = self.root.join("session");
        let folders = match self.layout {
            Layout::Nested => vec![sessions.join("info")],
            Layout::Flat => {
                let mut folders = Vec::new();
                for entry in fs::read_dir(&sessions)? {
                    folders.extend(Some(entry?.path()).filter(|path| path.is_dir()));
                }
                folders
            }
        };
        let mut files = Vec::new();
        for folder in folders {
            files.extend(names(&folder)?.into_iter().map(|name| folder.join(name)));
        }
        files.sort_by(|a, b| (a.file_name(), a).cmp(&(b.file_name(), b)));
        Ok(files)
    }

    /// The folder of a session's messages.
    pub(crate) fn messages_of(&self, session: &str) -> PathBuf {
        match self.layout {
            Layout::Flat => self.root.join("message").join(session),
            Layout::Nested => self.root.join("session/message").join(session),
        }
    }

    /// The folder of a message's parts.
    pub(crate) fn parts_of(&self, session: &str, message: &str) -> PathBuf {
        match self.layout {
            Layout::Flat => self.root.join("part").join(message),
            Layout::Nested => self.root.join("session/part").join(session).join(message),
        }
    }

    fn links(&self) -> Result<&[(String, Option<String>)], PluginError> {
        if let Some(links) = self.links.get() {
            return Ok(links);
        }
        let mut links = Vec::new();
        for file in self.session_files()? {
            let row = self.row(&file);
            let session: Session<'_> = row.shape();
            links.push((row.id.clone(), session.parent.filled().map(Into::into)));
        }
        Ok(self.links.get_or_init(|| links))
    }

    fn row(&self, file: &Path) -> Row {
        let row = Row::new(stem(file), Origin::default());
        let name = file.strip_prefix(&self.root).unwrap_or(file).display();
        match read(file) {
            Ok((bytes, true)) => {
                let text = String::from_utf8_lossy(&bytes);
                let is_faithful = matches!(text, std::borrow::Cow::Borrowed(_));
                row.with(&text, is_faithful, &format!("`{name}`"))
            }
            Ok((bytes, false)) => {
                let mut row = row.without(format!("`{name}` is too long, and only its beginning is kept"));
                if let Err(unread) = &mut row.data {
                    unread.raw = String::from_utf8_lossy(&bytes).into_owned();
                }
                row
            }
            Err(err) => row.without(format!("`{name}` cannot be read: {err}")),
        }
    }

    fn rows(&self, folder: PathBuf) -> Result<Rows<'_>, PluginError> {
        let found = names(&folder);
        let damage = match &found {
            Err(err) if err.kind() != io::ErrorKind::NotFound => {
                let name = folder.strip_prefix(&self.root).unwrap_or(&folder).display();
                Some(format!("`{name}` cannot be looked into: {err}"))
            }
            _ => None,
        };
        let rows = found.unwrap_or_default().into_iter().map(move |name| Ok(self.row(&folder.join(name))));
        Ok(Rows { rows: Box::new(rows), damage })
    }
}

impl Store for Tree {
    fn files(&self, _name: &str) -> Vec<String> {
        Vec::new()
    }

    fn tops(&self) -> Result<Vec<String>, PluginError> {
        let links = self.links()?;
        let is_there = |id: &str| links.iter().any(|(session, _)| session == id);
        let tops = links.iter().filter(|(_, parent)| !parent.as_deref().is_some_and(is_there));
        Ok(tops.map(|(id, _)| id.clone()).collect())
    }

    fn session(&self, id: &str) -> Result<Option<Row>, PluginError> {
        if !is_plain(id) {
            return Ok(None);
        }
        let files = self.session_files()?;
        Ok(files.iter().find(|file| stem(file) == id).map(|file| self.row(file)))
    }

    fn children(&self, id: &str) -> Result<Vec<String>, PluginError> {
        let children = self.links()?.iter().filter(|(_, parent)| parent.as_deref() == Some(id));
        Ok(children.map(|(child, _)| child.clone()).collect())
    }

    fn messages(&self, session: &str) -> Result<Rows<'_>, PluginError> {
        let folder = self.messages_of(session);
        if folder.is_dir() {
            return self.rows(folder);
        }
        // Where the file was renamed, its messages may still go by the id within it.
        let row = self.session(session)?;
        let within: Session<'_> = row.as_ref().map(Row::shape).unwrap_or_default();
        self.rows(self.messages_of(&within.id.filled().filter(|id| is_plain(id)).unwrap_or(session.into())))
    }

    fn parts(&self, session: &str, message: &Row) -> Result<Rows<'_>, PluginError> {
        let folder = self.parts_of(session, &message.id);
        if folder.is_dir() {
            return self.rows(folder);
        }
        // The same may have happened to the message.
        match message.shape::<Message<'_>>().id.filled().filter(|id| is_plain(id)) {
            Some(id) => self.rows(self.parts_of(session, &id)),
            None => Ok(Rows::none()),
        }
    }

    fn rest(&self, session: &str) -> Result<Rows<'_>, PluginError> {
        let mut rows = Vec::new();
        // What is shared has a secret in its file, and is left alone.
        for kind in ["todo", "session_diff"] {
            let file = self.root.join(kind).join(format!("{session}.json"));
            if !file.is_file() {
                continue;
            }
            let mut row = self.row(&file);
            // These hold lists.
            if let Err(unread) = &mut row.data
                && unread.raw.trim_start().starts_with('[')
                && serde_json::from_str::<serde::de::IgnoredAny>(&unread.raw).is_ok()
            {
                row.data = Ok(format!(r#"{{"list":{}}}"#, unread.raw.trim()));
            }
            row.id = format!("{kind}-{session}");
            row.kind = kind.replace('_', "-");
            rows.push(Ok(row));
        }
        Ok(Rows { rows: Box::new(rows.into_iter()), damage: None })
    }
}

/// Whether an id, which a record may name, is a file's name and no way to elsewhere.
pub(crate) fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// The names of the JSON files in a folder, sorted.
pub(crate) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        names.extend(name.to_str().filter(|name| name.ends_with(".json")).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

/// The name of a file without its ending.
pub(crate) fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The bytes of a file, and whether they are all of it.
pub(crate) fn read(file: &Path) -> io::Result<(Vec<u8>, bool)> {
    let about = fs::metadata(file)?;
    if !about.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let is_whole = about.len() <= LONGEST;
    let mut bytes = Vec::new();
    File::open(file)?.take(if is_whole { about.len() } else { KEPT }).read_to_end(&mut bytes)?;
    Ok((bytes, is_whole))
}
