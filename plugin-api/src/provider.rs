//! What a plugin's author implements.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::PluginError;
use crate::sink::{ListSink, Sink};
use crate::view::{DetectRequestView, ExtView, ListRequestView, ReadRequestView};

/// One harness: where its sessions are and how they read.
///
/// The value is made anew for each call, on the thread that calls; nothing is kept between calls.
pub trait Provider: Default {
    /// Reads one session into the sink, record by record, and answers how many records it read.
    ///
    /// Each record read is told to the sink exactly once (as a turn, a tool result, an event or a skipped one;
    /// what a record holds beyond that is told with the mark *part of record*), so the host's count and the
    /// summary's agree. A disagreement fails the session.
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError>;

    /// Lists the sessions under the request's roots.
    fn sessions(&self, request: &ListRequest<'_>, sink: &mut ListSink<'_>) -> Result<(), PluginError> {
        let _ = (request, sink);
        Err(PluginError::new("this provider cannot list sessions yet; name a session's file"))
    }

    /// How sure the plugin is that it reads this, from 0 (not mine) to 100 (mine beyond doubt).
    fn detect(&self, request: &DetectRequest<'_>) -> u8 {
        let _ = request;
        0
    }
}

/// What a reader read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records: lines, rows, messages; whatever the format counts by. Blank lines are none.
    pub records: u64,
}

/// What to read.
pub struct ReadRequest<'a> {
    raw: &'a ReadRequestView<'a>,
}

impl<'a> ReadRequest<'a> {
    pub(crate) fn new(raw: &'a ReadRequestView<'a>) -> Self {
        Self { raw }
    }

    /// File or folder to open.
    pub fn path(&self) -> PathBuf {
        path_from(self.raw.path.as_slice()).into_owned()
    }

    /// Opens it, for formats whose session is one file.
    pub fn open_file(&self) -> Result<File, PluginError> {
        let path = self.path();
        if path.is_dir() {
            return Err(PluginError::new("is a folder; name one session's file in it"));
        }
        Ok(File::open(path)?)
    }

    /// Name of its file without the extension, which many formats use as the session's id; `None` where the file is
    /// a copy.
    pub fn file_stem(&self) -> Option<String> {
        if self.is_copy() {
            return None;
        }
        self.path().file_stem().map(|stem| stem.to_string_lossy().into_owned())
    }

    /// How messages name it; `-` for standard input.
    pub fn name(&self) -> &'a str {
        self.raw.name.as_str()
    }

    /// Whether the session came from standard input or a pipe, so that its path is that of a copy and says nothing
    /// about it.
    pub fn is_copy(&self) -> bool {
        self.name() == "-" || self.option(crate::view::option::COPY) == Some("true")
    }

    /// Which session, where the store holds several.
    pub fn session_id(&self) -> Option<&'a str> {
        self.raw.session_id.into_option().map(|id| id.as_str())
    }

    /// The JSON text of an option, when it was given. Ignore keys you do not know.
    pub fn option(&self, key: &str) -> Option<&'a str> {
        option(self.raw.options.as_slice(), key)
    }
}

/// Where to look for sessions.
pub struct ListRequest<'a> {
    raw: &'a ListRequestView<'a>,
}

impl<'a> ListRequest<'a> {
    pub(crate) fn new(raw: &'a ListRequestView<'a>) -> Self {
        Self { raw }
    }

    /// The manifest's roots as the host expanded them, or the folders that the user named.
    pub fn roots(&self) -> Vec<PathBuf> {
        self.raw.roots.iter().map(|root| path_from(root.as_slice()).into_owned()).collect()
    }

    /// The JSON text of an option, when it was given. Ignore keys you do not know.
    pub fn option(&self, key: &str) -> Option<&'a str> {
        option(self.raw.options.as_slice(), key)
    }
}

/// What to recognise.
pub struct DetectRequest<'a> {
    raw: &'a DetectRequestView<'a>,
}

impl<'a> DetectRequest<'a> {
    pub(crate) fn new(raw: &'a DetectRequestView<'a>) -> Self {
        Self { raw }
    }

    /// File or folder.
    pub fn path(&self) -> PathBuf {
        path_from(self.raw.path.as_slice()).into_owned()
    }

    /// Its first bytes, at most 64 KiB; empty for a folder.
    pub fn head(&self) -> &'a [u8] {
        self.raw.head.as_slice()
    }
}

fn option<'a>(options: &'a [ExtView<'a>], key: &str) -> Option<&'a str> {
    options.iter().find(|entry| entry.key.as_str() == key).map(|entry| entry.json.as_str())
}

/// A path as bytes that cross the boundary: the platform's own on Unix, UTF-8 elsewhere.
pub fn path_bytes(path: &Path) -> Cow<'_, [u8]> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Cow::Borrowed(path.as_os_str().as_bytes())
    }
    #[cfg(not(unix))]
    {
        match path.to_string_lossy() {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }
}

/// The path that [`path_bytes`] made bytes of.
pub fn path_from(bytes: &[u8]) -> Cow<'_, Path> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Cow::Borrowed(Path::new(std::ffi::OsStr::from_bytes(bytes)))
    }
    #[cfg(not(unix))]
    {
        Cow::Owned(PathBuf::from(String::from_utf8_lossy(bytes).into_owned()))
    }
}
