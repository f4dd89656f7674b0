//! What is listed of folders, by the files' heads and tails.

use std::fs;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::kit::testing;

use crate::Pi;

/// A folder that is gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toolpath-provider-pi-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    /// What is listed, without the name of the folder.
    fn listed(&self, roots: &[&str]) -> Vec<String> {
        let roots: Vec<_> = roots.iter().map(|root| self.0.join(root)).collect();
        let roots: Vec<&Path> = roots.iter().map(PathBuf::as_path).collect();
        let folder = format!("{}/", self.0.display());
        testing::sessions::<Pi>(&roots).iter().map(|line| line.replace(&folder, "")).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn header(id: &str) -> String {
    format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-03-02T10:00:00.000Z","cwd":"/w"}}"#)
}

fn prompt(text: &str, second: u32) -> String {
    format!(
        r#"{{"type":"message","id":"u{second}","parentId":null,"timestamp":"2026-03-02T10:00:{second:02}.000Z","message":{{"role":"user","content":"{text}"}}}}"#
    )
}

#[test]
fn sessions_of_each_layout_are_listed_once() {
    let folder = Folder::new("layouts");
    let log = format!("{}\n{}\n", header("s-1"), prompt("\\n  Hello\\nthere", 5));
    folder.write("agent/sessions/--w--/2026-03-02T10-00-00-000Z_s-1.jsonl", &log);
    folder.write("agent/left.jsonl", &log);
    folder.write("agent/auth.json", "{}");
    folder.write("agent/tools/other.jsonl", &log);
    let told = |path: &str| {
        format!(
            "s-1 at {path} project=/w title=Hello from=2026-03-02T10:00:00Z to=2026-03-02T10:00:05Z turns=1 bytes={}",
            log.len()
        )
    };
    let in_sessions = told("agent/sessions/--w--/2026-03-02T10-00-00-000Z_s-1.jsonl");
    assert_eq!(folder.listed(&["agent/sessions", "agent/sessions", "none"]), std::slice::from_ref(&in_sessions));
    assert_eq!(folder.listed(&["agent/sessions/--w--"]), std::slice::from_ref(&in_sessions));
    assert_eq!(folder.listed(&["agent", "agent/sessions"]), [told("agent/left.jsonl"), in_sessions]);
    assert_eq!(folder.listed(&["agent/left.jsonl"]), [told("agent/left.jsonl")]);
}

#[test]
fn a_name_is_the_title_also_of_a_long_session_whose_middle_is_not_read() {
    let folder = Folder::new("long");
    let lines: Vec<String> = (0..4000).map(|n| prompt(&"x".repeat(100), n % 50)).collect();
    let info = r#"{"type":"session_info","id":"i","timestamp":"2026-03-02T11:00:00.000Z","name":"Beans"}"#;
    let log = format!("{}\n{}\n{info}\n", header("s-1"), lines.join("\n"));
    folder.write("s.jsonl", &log);
    assert_eq!(
        folder.listed(&["."]),
        [format!(
            "s-1 at ./s.jsonl project=/w title=Beans from=2026-03-02T10:00:00Z to=2026-03-02T11:00:00Z bytes={}",
            log.len()
        )]
    );
}

#[test]
fn what_is_no_session_is_said_and_not_listed() {
    let folder = Folder::new("others");
    folder.write("a.jsonl", "");
    folder.write("b.jsonl", "{\"type\":\"session_meta\"}\n");
    folder.write("notes.txt", "x");
    let reason = "does not begin with the header of a Pi session";
    assert_eq!(
        folder.listed(&["."]),
        [format!("! unreadable-file ./a.jsonl: {reason}"), format!("! unreadable-file ./b.jsonl: {reason}")]
    );
}

#[cfg(unix)]
#[test]
fn a_socket_is_said_and_not_opened() {
    let folder = Folder::new("socket");
    let socket = std::os::unix::net::UnixListener::bind(folder.0.join("s.jsonl")).expect("a socket");
    assert_eq!(folder.listed(&["."]), ["! unreadable-file ./s.jsonl: is no regular file and was not opened"]);
    drop(socket);
}
