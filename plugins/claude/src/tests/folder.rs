//! A folder of its own for one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use toolpath_plugin_api::kit::testing;

use crate::ClaudeCode;

/// A temporary folder, which is removed in the end.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// An empty one.
    pub(crate) fn new() -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let nth = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("toolpath-provider-claude-{}-{nth}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, with the folders above it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, content).expect("a file");
        path
    }

    /// What the host is told of the session in the file `name`, which messages call so as well; the folder stands as
    /// `DIR` where it is named.
    #[track_caller]
    pub(crate) fn read(&self, name: &str) -> Vec<String> {
        let told = testing::read_as::<ClaudeCode>(&self.0.join(name), name, None, &[]);
        told.into_iter().map(|line| line.replace(&*self.0.to_string_lossy(), "DIR")).collect()
    }

    /// The same, without what is told of the session as a whole.
    #[track_caller]
    pub(crate) fn records(&self, name: &str) -> Vec<String> {
        self.read(name).into_iter().filter(|line| !line.starts_with("session ")).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
