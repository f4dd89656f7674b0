//! What is listed of folders, by the files' heads and tails.

use std::fs;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::kit::testing;

use crate::Copilot;

/// A folder that is gone when the test is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("toolpath-provider-copilot-{name}-{}", std::process::id()));
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
        testing::sessions::<Copilot>(&roots).iter().map(|line| line.replace(&folder, "")).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn start(id: &str) -> String {
    format!(
        r#"{{"type":"session.start","data":{{"sessionId":"{id}","context":{{"cwd":"/w"}}}},"id":"a","timestamp":"2026-03-03T09:00:00.000Z","parentId":null}}"#
    )
}

fn prompt(text: &str, second: u32) -> String {
    format!(
        r#"{{"type":"user.message","data":{{"content":"{text}"}},"id":"u{second}","timestamp":"2026-03-03T09:00:{second:02}.000Z","parentId":"a"}}"#
    )
}

#[test]
fn sessions_of_each_layout_are_listed_once() {
    let folder = Folder::new("layouts");
    let log = |id: &str| format!("{}\n{}\n", start(id), prompt("\\n  Hello\\nthere", 5));
    folder.write(".copilot/session-state/s-1/events.jsonl", &log("s-1"));
    folder.write(".copilot/session-state/s-1/workspace.yaml", "name: Beans\n");
    folder.write(".copilot/session-state/s-2.jsonl", &log("s-2"));
    folder.write(".copilot/session-state/empty/workspace.yaml", "name: Nothing yet\n");
    folder.write(".copilot/session-state/s-3/events.jsonl", &prompt("Hi", 7));
    folder.write(".copilot/config.json", "{}");
    let old = "{\n  \"sessionId\": \"s-0\",\n  \"startTime\": \"2025-10-08T21:10:16.398Z\",\n  \"chatMessages\": [";
    folder.write(".copilot/history-session-state/session_s-0_1.json", old);
    let told = |id: &str, path: &str, title: &str| {
        let bytes = log(id).len();
        format!(
            "{id} at .copilot/{path} project=/w title={title} from=2026-03-03T09:00:00Z to=2026-03-03T09:00:05Z turns=1 bytes={bytes}"
        )
    };
    let state = [
        told("s-1", "session-state/s-1/events.jsonl", "Beans"),
        told("s-2", "session-state/s-2.jsonl", "Hello"),
        format!(
            "s-3 at .copilot/session-state/s-3/events.jsonl title=Hi from=2026-03-03T09:00:07Z to=2026-03-03T09:00:07Z turns=1 bytes={}",
            prompt("Hi", 7).len()
        ),
    ];
    let history = format!(
        "s-0 at .copilot/history-session-state/session_s-0_1.json from=2025-10-08T21:10:16.398Z to=2025-10-08T21:10:16.398Z bytes={}",
        old.len()
    );
    assert_eq!(folder.listed(&[".copilot/session-state", ".copilot/session-state", "none"]), state);
    let all = [vec![history], state.to_vec()].concat();
    assert_eq!(folder.listed(&[".copilot"]), all);
    assert_eq!(folder.listed(&[".copilot/session-state/s-1", ".copilot/session-state/s-1/events.jsonl"]), state[..1]);
}

#[test]
fn of_a_long_session_the_middle_is_not_read() {
    let folder = Folder::new("long");
    let lines: Vec<String> = (0..4000).map(|n| prompt(&"x".repeat(100), n % 50)).collect();
    let log = format!("{}\n{}\n{}\n", start("s-1"), lines.join("\n"), prompt("last", 59));
    folder.write("s-1/events.jsonl", &log);
    let told = folder.listed(&["."]);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].ends_with(&format!("from=2026-03-03T09:00:00Z to=2026-03-03T09:00:59Z bytes={}", log.len())),
        "{told:#?}"
    );
}

#[test]
fn what_is_no_session_is_said_and_not_listed() {
    let folder = Folder::new("others");
    folder.write("a.jsonl", "");
    folder.write("b/events.jsonl", "{\"type\":\"session_meta\"}\n");
    folder.write("notes.txt", "x");
    let reason = "does not begin with a record of a Copilot session";
    assert_eq!(
        folder.listed(&["."]),
        [format!("! unreadable-file ./a.jsonl: {reason}"), format!("! unreadable-file ./b/events.jsonl: {reason}")]
    );
}

#[test]
fn a_sessions_folder_is_read_as_its_log_with_what_stands_beside_it() {
    let folder = Folder::new("folder");
    folder.write("s-1/events.jsonl", &prompt("Hi", 7));
    folder.write("s-1/workspace.yaml", "name: Beans\ncwd: /w\nbranch: main\n");
    for path in ["s-1", "s-1/events.jsonl"] {
        let told = testing::read::<Copilot>(&folder.0.join(path));
        let last = "session s-1 title=Beans dir=/w branch=main from=2026-03-03T09:00:07Z to=2026-03-03T09:00:07Z";
        assert_eq!(told.last().map(String::as_str), Some(last));
    }
}

#[cfg(unix)]
#[test]
fn a_socket_is_said_and_not_opened() {
    let folder = Folder::new("socket");
    fs::create_dir(folder.0.join("s")).expect("a folder");
    let socket = std::os::unix::net::UnixListener::bind(folder.0.join("s/events.jsonl")).expect("a socket");
    assert_eq!(folder.listed(&["."]), ["! unreadable-file ./s/events.jsonl: is no regular file and was not opened"]);
    drop(socket);
}
