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

use crate::content::Content;
use crate::facts::{INFO, name_of};
use crate::known::is_header;
use crate::lines::{End, Piece, Pieces};
use crate::messages::is_turn;
use crate::place::Place;
use crate::shape::{Message, Record};

/// Bytes read of a file's beginning, and as many of its end.
const PIECE: u64 = 64 * 1024;
/// Characters of a title that is made of the first prompt.
const LONGEST_TITLE: usize = 80;

/// Lists sessions.
pub(crate) struct Listing<'l, 's> {
    sink: &'l mut ListSink<'s>,
    /// Digests of the paths told already: roots may lie within each other.
    told: HashSet<u128>,
}

impl<'l, 's> Listing<'l, 's> {
    /// Lists into `sink`.
    pub(crate) fn new(sink: &'l mut ListSink<'s>) -> Self {
        Self { sink, told: HashSet::new() }
    }

    /// Lists the sessions in `root`: a folder of sessions, one of such folders, or Pi's own with `sessions` in it.
    pub(crate) fn root(&mut self, root: &Path) -> Result<(), Stopped> {
        match fs::metadata(root) {
            Ok(about) if about.is_dir() => self.folder(root, 2),
            Ok(_) => self.file(root),
            // A root that is not there is one that was never used.
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(err) => self.refuse(root, &format!("cannot be examined: {err}")),
        }
    }

    fn folder(&mut self, folder: &Path, deeper: usize) -> Result<(), Stopped> {
        let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let mut entries = match entries {
            Ok(entries) => entries,
            Err(err) => return self.refuse(folder, &format!("cannot be listed: {err}")),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            // Links are not followed: they could lead in circles.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && deeper > 0 && (name == "sessions" || (name.starts_with("--") && name.ends_with("--"))) {
                self.folder(&path, deeper - 1)?;
            } else if !is_folder && name.ends_with(".jsonl") {
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
            Ok(None) => self.pass_over(path, "does not begin with the header of a Pi session"),
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
    id: String,
    project: Option<String>,
    name: Option<String>,
    prompt: Option<String>,
    span: Span,
    turns: u64,
    is_whole: bool,
}

impl Glance {
    /// Looks at a file of `length`; `None` when it does not begin with a header.
    fn at(path: &Path, length: u64) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        let mut glance = Self { is_whole: length <= PIECE, ..Self::default() };
        let mut piece = Vec::new();
        file.by_ref().take(PIECE).read_to_end(&mut piece)?;
        glance.lines(&piece)?;
        if glance.id.is_empty() {
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
        Ok(Some(glance))
    }

    fn lines(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut lines = Lines::new(piece);
        while let Some(line) = lines.next()? {
            let (text, _) = line.text();
            let mended = mend_surrogates(&text);
            let text = trim(mended.as_deref().unwrap_or(&text));
            for piece in Pieces::of(text, End::Newline) {
                if let Piece::Record(record, _) = piece
                    && !self.record(&record)
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Takes a record into account; says whether to go on.
    fn record(&mut self, record: &Record<'_>) -> bool {
        if self.id.is_empty() {
            if !is_header(record) {
                return false;
            }
            self.id = record.id.filled().unwrap_or_default().into_owned();
            self.project = record.cwd.filled().map(Into::into);
        }
        let kind = record.kind.text();
        let message: Option<Message<'_>> = record.message.object();
        let place = Place::of(record, message.unwrap_or_default().timestamp, 0, Default::default());
        self.span.see(&place.time);
        if kind.as_deref() == Some(INFO) {
            self.name = name_of(record);
        }
        if is_turn(kind.as_deref(), message.as_ref()) {
            self.turns += 1;
        }
        if let (None, Some(message)) = (&self.prompt, message)
            && message.role.text().as_deref() == Some("user")
        {
            let text = Content::of(message.content, "").text;
            let line = text.lines().map(str::trim).find(|line| !line.is_empty());
            self.prompt = line.map(|line| line.chars().take(LONGEST_TITLE).collect());
        }
        true
    }

    fn tell(&self, path: &Path, bytes: u64, sink: &mut ListSink<'_>) -> Result<(), Stopped> {
        let (first, last) = (self.span.first(), self.span.last());
        let entry = EntryRecord {
            id: &self.id,
            project: self.project.as_deref(),
            title: self.name.as_deref().or(self.prompt.as_deref()),
            started_at: first.as_deref(),
            last_activity: last.as_deref(),
            turns: self.is_whole.then_some(self.turns),
            bytes,
        };
        sink.entry(path, &entry)
    }
}

/// Lists the sessions under `roots`.
pub(crate) fn list(roots: &[PathBuf], sink: &mut ListSink<'_>) -> Result<(), Stopped> {
    let mut listing = Listing::new(sink);
    roots.iter().try_for_each(|root| listing.root(root))
}
