//! The names in a folder, sorted, and listed once for all sessions that lie in it.
//!
//! Harnesses keep thousands of sessions side by side, and what belongs to one is looked for among all of them. A folder
//! that was not changed since it was listed is not listed again.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

/// What a name stands for, as the folder itself says; a link is followed by nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: Box<str>,
    /// What it stands for.
    pub kind: Kind,
}

/// The names in a folder that are text, in their order.
#[derive(Clone, Debug, Default)]
pub struct Listing(Arc<[Entry]>);

/// Folders whose listings are kept.
const MOST: usize = 64;
/// How long a folder must have been left alone before its listing is kept: its time of change is only so exact.
const SETTLED: Duration = Duration::from_secs(2);

type Kept = HashMap<PathBuf, (SystemTime, Listing)>;

impl Listing {
    /// Lists a folder.
    pub fn of(folder: &Path) -> io::Result<Self> {
        static KEPT: OnceLock<Mutex<Kept>> = OnceLock::new();
        let kept = KEPT.get_or_init(Mutex::default);
        let lock = || kept.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = fs::metadata(folder)?.modified().ok();
        if let Some(changed) = changed
            && let Some((before, listing)) = lock().get(folder)
            && *before == changed
        {
            return Ok(listing.clone());
        }
        let listing = Self::read(folder)?;
        if let Some(changed) = changed.filter(|changed| changed.elapsed().is_ok_and(|age| age > SETTLED)) {
            let mut kept = lock();
            if kept.len() >= MOST {
                kept.clear();
            }
            kept.insert(folder.to_owned(), (changed, listing.clone()));
        }
        Ok(listing)
    }

    fn read(folder: &Path) -> io::Result<Self> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)?.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let kind = match kind {
                kind if kind.is_file() => Kind::File,
                kind if kind.is_dir() => Kind::Folder,
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            entries.push(Entry { name: name.into(), kind });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(Self(entries.into()))
    }

    /// All names.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// The names that begin with `start`.
    pub fn starting_with(&self, start: &str) -> &[Entry] {
        let from = self.0.partition_point(|entry| &*entry.name < start);
        let count = self.0[from..].partition_point(|entry| entry.name.starts_with(start));
        &self.0[from..from + count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(entries: &[Entry]) -> Vec<&str> {
        entries.iter().map(|entry| &*entry.name).collect()
    }

    #[test]
    fn names_stand_in_order_and_those_that_begin_alike_together() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["b", "a-2", "a-1", "a", "a.", "c"] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        fs::create_dir(folder.path().join("a-3")).expect("a folder");
        let listing = Listing::of(folder.path()).expect("a listing");
        assert_eq!(names(listing.entries()), ["a", "a-1", "a-2", "a-3", "a.", "b", "c"]);
        assert_eq!(names(listing.starting_with("a-")), ["a-1", "a-2", "a-3"]);
        assert_eq!(listing.starting_with("a-")[2].kind, Kind::Folder);
        assert_eq!(names(listing.starting_with("d")), Vec::<&str>::new());
        assert_eq!(listing.starting_with("").len(), 7);
    }

    #[test]
    fn a_folder_that_changed_is_listed_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = SystemTime::now() - Duration::from_secs(100);
        let set_time = |time| fs::File::open(folder.path()).and_then(|file| file.set_modified(time)).expect("a time");
        set_time(old);
        assert!(Listing::of(folder.path()).expect("a listing").entries().is_empty());
        fs::write(folder.path().join("new"), "").expect("a file");
        assert_eq!(Listing::of(folder.path()).expect("a listing").entries().len(), 1);
        // The second name is not seen where the folder claims not to have changed, so the listing was kept.
        set_time(old);
        assert_eq!(Listing::of(folder.path()).expect("a listing").entries().len(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_cannot_be_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Listing::of(&folder.path().join("x")).is_err());
    }
}
