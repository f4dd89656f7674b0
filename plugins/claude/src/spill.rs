//! Outputs of tools that were too long for the log, and that Claude Code wrote to a file instead.
//!
//! The log has the beginning and the file's name. What a reader may want to know of the rest is whether it is still
//! there, how long it is and which bytes it has.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use toolpath_plugin_api::kit::json::quoted;

/// The folder of a session's spilled outputs.
#[derive(Debug, Default)]
pub(crate) struct Spills {
    folder: Option<PathBuf>,
}

impl Spills {
    /// Those of the session `id`, which is the file at `path`.
    pub(crate) fn beside(path: &Path, id: &str) -> Self {
        let folder = path.parent().unwrap_or(Path::new(""));
        Self { folder: Some(folder.join(id).join("tool-results")) }
    }

    /// What there is to say about the output of `call` that was written to `path`: a JSON object.
    pub(crate) fn about(&self, call: &str, path: &str) -> String {
        let found = self.find(path).and_then(|file| measure(&file).ok());
        let (call, path) = (quoted(call), quoted(path));
        match found {
            Some((bytes, digest)) => {
                format!(r#"{{"bytes":{bytes},"path":{path},"sha256":"{digest}","tool_use_id":{call}}}"#)
            }
            None => format!(r#"{{"path":{path},"tool_use_id":{call}}}"#),
        }
    }

    /// The file, which lies where the session lies now and not where it was written.
    fn find(&self, written: &str) -> Option<PathBuf> {
        let name = written.rsplit(['/', '\\']).next()?;
        if name.is_empty() || name.starts_with('.') {
            return None;
        }
        let path = self.folder.as_ref()?.join(name);
        path.symlink_metadata().is_ok_and(|about| about.is_file()).then_some(path)
    }
}

/// The element that a result is which says so.
pub(crate) const WRAPPER: &str = "persisted-output";

/// The file that a result says its output was written to, when the whole of it says so.
pub(crate) fn path_in(answer: &str) -> Option<&str> {
    const SAID: [&str; 2] = ["output saved to: ", "Output has been saved to "];
    let inner = answer.trim().strip_prefix("<persisted-output>")?.strip_suffix("</persisted-output>")?;
    let line = inner.trim_start().lines().next()?;
    let path = SAID.iter().find_map(|said| line.split_once(said)).map(|(_, path)| path.trim());
    path.filter(|path| !path.is_empty())
}

fn measure(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let (mut digest, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 64 * 1024]);
    // Up to its present end, should somebody still write to it.
    while bytes < length {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        digest.update(&buffer[..read]);
        bytes += read as u64;
    }
    Ok((bytes, digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::folder::Folder;

    #[test]
    fn a_spilled_output_is_found_where_the_session_lies_now() {
        let folder = Folder::new();
        folder.write("s/tool-results/b1.txt", "hello");
        folder.write("s/secret", "hello");
        let spills = Spills::beside(&folder.path().join("s.jsonl"), "s");
        let found = r#""sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","tool_use_id":"t"}"#;
        for (path, named) in [
            ("/home/x/old/tool-results/b1.txt", "/home/x/old/tool-results/b1.txt"),
            ("C:\\x\\b1.txt", "C:\\\\x\\\\b1.txt"),
        ] {
            assert_eq!(spills.about("t", path), format!(r#"{{"bytes":5,"path":"{named}",{found}"#));
        }
        for path in ["/x/gone.txt", "..", "../secret", "", "/x/", "s/."] {
            assert_eq!(spills.about("t", path), format!(r#"{{"path":"{path}","tool_use_id":"t"}}"#));
        }
        assert_eq!(Spills::default().about("t", "b1.txt"), r#"{"path":"b1.txt","tool_use_id":"t"}"#);
    }

    #[test]
    fn a_result_names_its_file_only_when_it_is_all_that_it_says() {
        let said = "<persisted-output>\nOutput too large (36.8KB). Full output saved to: /x/b 1.txt\n\nPreview (first 2KB):\nabc\n</persisted-output>";
        assert_eq!(path_in(said), Some("/x/b 1.txt"));
        assert_eq!(path_in(&format!("{said} it says")), None);
        assert_eq!(path_in("Full output saved to: /x/b1.txt"), None);
        assert_eq!(path_in("<persisted-output>\nabc\nFull output saved to: /x\n</persisted-output>"), None);
    }
}
