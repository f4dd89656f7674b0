//! Which sessions there are, known by the head and the tail of each file.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use toolpath_plugin_api::kit::json::mend_surrogates;
use toolpath_plugin_api::kit::lines::{Lines, trim};
use toolpath_plugin_api::kit::time::Span;
use toolpath_plugin_api::{EntryRecord, ListSink, Severity, Stopped, path_bytes};
use xxhash_rust::xxh3::xxh3_128;

use crate::known::{is_known, session_of};
use crate::legacy;
use crate::lines::{Piece, pieces};
use crate::messages::text_of;
use crate::place::time;
use crate::session::{EVENTS, Session};
use crate::shape::{Context, Data, Record};
use crate::workspace::Workspace;

/// Bytes read of a file's beginning, and as many of its end.
const PIECE: u64 = 64 * 1024;
/// Characters of a title that is made of the first prompt.
const LONGEST_TITLE: usize = 80;
/// Folders of Copilot's own that hold sessions.
const STORES: [&str; 2] = ["session-state", "history-session-state"];

/// Lists the sessions under `roots`.
pub(crate) fn list(roots: &[PathBuf], sink: &mut ListSink<'_>) -> Result<(), Stopped> {
    let mut listing = Listing { sink, told: HashSet::new() };
    roots.iter().try_for_each(|root| listing.root(root))
}

struct Listing<'l, 's> {
    sink: &'l mut ListSink<'s>,
    /// Digests of the paths told already: roots may lie within each other.
    told: HashSet<u128>,
}

impl Listing<'_, '_> {
    /// A folder of sessions, Copilot's own with such folders in it, or one session.
    fn root(&mut self, root: &Path) -> Result<(), Stopped> {
        match fs::metadata(root) {
            Ok(about) if !about.is_dir() => self.file(root),
            Ok(_) if root.join(EVENTS).symlink_metadata().is_ok() => self.file(&root.join(EVENTS)),
            Ok(_) => self.folder(root, true),
            // A root that is not there is one that was never used.
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(err) => self.refuse(root, &format!("cannot be examined: {err}")),
        }
    }

    fn folder(&mut self, folder: &Path, is_root: bool) -> Result<(), Stopped> {
        let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(err) => return self.refuse(folder, &format!("cannot be listed: {err}")),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        let is_old = folder.file_name().is_some_and(|name| name == STORES[1]);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            // Links are not followed: they could lead in circles.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let log = path.join(EVENTS);
                if log.symlink_metadata().is_ok() {
                    self.file(&log)?;
                } else if is_root && STORES.contains(&&*name) {
                    self.folder(&path, false)?;
                }
            } else if name.ends_with(".jsonl") || (is_old && name.ends_with(".json")) {
                self.file(&path)?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<(), Stopped> {
        if !self.told.insert(xxh3_128(&path_bytes(path))) {
            return Ok(());
        }
        // What is no regular file must not even be opened: a pipe would wait for a writer.
        let bytes = match fs::metadata(path) {
            Ok(about) if about.is_file() => about.len(),
            Ok(_) => return self.refuse(path, "is no regular file and was not opened"),
            Err(err) => return self.refuse(path, &format!("cannot be examined: {err}")),
        };
        match Glance::at(path, bytes) {
            Ok(Some(glance)) => glance.tell(path, bytes, self.sink),
            Ok(None) => self.pass_over(path, "does not begin with a record of a Copilot session"),
            Err(err) => self.refuse(path, &format!("cannot be read: {err}")),
        }
    }

    fn refuse(&mut self, path: &Path, reason: &str) -> Result<(), Stopped> {
        self.sink.diagnostic(Severity::Warning, "unreadable-file", reason, path)
    }

    fn pass_over(&mut self, path: &Path, reason: &str) -> Result<(), Stopped> {
        self.sink.diagnostic(Severity::Info, "unreadable-file", reason, path)
    }
}

/// What a file's head and tail tell.
#[derive(Default)]
struct Glance {
    id: Option<String>,
    project: Option<String>,
    prompt: Option<String>,
    workspace: Workspace,
    span: Span,
    turns: u64,
    is_known: bool,
    is_whole: bool,
}

impl Glance {
    /// Looks at a file of `length`; `None` when it is no session's.
    fn at(path: &Path, length: u64) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        let mut piece = Vec::new();
        file.by_ref().take(PIECE).read_to_end(&mut piece)?;
        let session = Session::at(path.to_owned(), false);
        let mut glance = Self { is_whole: length <= PIECE, workspace: session.workspace(), ..Self::default() };
        if legacy::is_legacy(&piece) {
            let head = String::from_utf8_lossy(&piece);
            glance.span.see(&legacy::glimpse(&head, "startTime").unwrap_or_default());
            glance.id = legacy::glimpse(&head, "sessionId").or_else(|| Some(session.name()));
            // Turns are in lists that may go on.
            glance.is_whole = false;
            return Ok(Some(glance));
        }
        glance.lines(&piece)?;
        if !glance.is_known {
            return Ok(None);
        }
        if !glance.is_whole {
            let tail = length.saturating_sub(PIECE).max(PIECE);
            file.seek(SeekFrom::Start(tail))?;
            piece.clear();
            file.take(PIECE).read_to_end(&mut piece)?;
            // The first line is most likely the end of one.
            let whole = piece.iter().position(|&byte| byte == b'\n').map_or(piece.len(), |at| at + 1);
            glance.lines(&piece[whole..])?;
        }
        glance.id.get_or_insert_with(|| session.name());
        Ok(Some(glance))
    }

    fn lines(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut lines = Lines::new(piece);
        while let Some(line) = lines.next()? {
            let (text, _) = line.text();
            let mended = mend_surrogates(&text);
            for piece in pieces(trim(mended.as_deref().unwrap_or(&text))) {
                if let Piece::Record(record, _) = piece {
                    self.record(&record);
                }
            }
        }
        Ok(())
    }

    fn record(&mut self, record: &Record<'_>) {
        self.is_known = self.is_known || is_known(record);
        if self.id.is_none() {
            self.id = session_of(record);
        }
        self.span.see(&time(record.timestamp));
        let data: Data<'_> = record.data.object().unwrap_or_default();
        if self.project.is_none() {
            let context: Context<'_> = data.context.object().unwrap_or_default();
            let dir = context.cwd.filled().or_else(|| context.git_root.filled()).or_else(|| record.cwd.filled());
            self.project = dir.map(Into::into);
        }
        let kind = record.kind.text().unwrap_or_default();
        let is_turn = matches!(
            &*kind,
            "abort"
                | "assistant.message"
                | "system.message"
                | "system.notification"
                | "tool.user_requested"
                | "user.message"
                | "session.error"
                | "session.warning"
                | "session.info"
        );
        self.turns += u64::from(is_turn);
        if self.prompt.is_none() && kind == "user.message" {
            let text = text_of(data.content, record.prompt);
            let line = text.lines().map(str::trim).find(|line| !line.is_empty());
            self.prompt = line.map(|line| line.chars().take(LONGEST_TITLE).collect());
        }
    }

    fn tell(&self, path: &Path, bytes: u64, sink: &mut ListSink<'_>) -> Result<(), Stopped> {
        let (first, last) = (self.span.first(), self.span.last());
        let entry = EntryRecord {
            id: self.id.as_deref().unwrap_or_default(),
            project: self.project.as_deref().or(self.workspace.working_dir.as_deref()),
            title: self.workspace.name.as_deref().or(self.prompt.as_deref()),
            started_at: first.as_deref(),
            last_activity: last.as_deref(),
            turns: self.is_whole.then_some(self.turns),
            bytes,
        };
        sink.entry(path, &entry)
    }
}
