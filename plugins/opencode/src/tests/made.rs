//! Stores made of a few lines: `s ID FIELDS` a session, `m ID DATA` a message of it, `p ID DATA` a part of that, `t DATA`
//! a todo, `n ID TYPE DATA` a message of the newest model.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolpath_plugin_api::kit::sqlite::rusqlite::{Connection, params};

/// The schema, as far as it matters, as of version 1.2.
pub(super) const SCHEMA: &str = "
    CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text, `slug` text,
        `directory` text NOT NULL, `title` text NOT NULL, `version` text NOT NULL, `revert` text,
        `time_created` integer NOT NULL, `time_updated` integer NOT NULL);
    CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL,
        `time_updated` integer NOT NULL, `data` text NOT NULL);
    CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL,
        `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);
    CREATE TABLE `todo` (`session_id` text NOT NULL, `content` text NOT NULL, `status` text NOT NULL,
        `position` integer NOT NULL, PRIMARY KEY(`session_id`, `position`));
    CREATE TABLE `session_message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `type` text NOT NULL,
        `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);
    CREATE INDEX `message_session_idx` ON `message` (`session_id`);
    CREATE INDEX `part_message_idx` ON `part` (`message_id`);
    CREATE INDEX `part_session_idx` ON `part` (`session_id`);
";

/// When the first record was made, in milliseconds.
pub(super) const START: i64 = 1_770_000_000_000;

/// A folder with stores.
pub(super) struct Made {
    folder: TempDir,
    lines: Vec<(char, String, String)>,
}

impl Made {
    /// Stores of `log`; without a session in it, that is `ses_1`.
    pub(super) fn of(log: &str) -> Self {
        let mut lines = Vec::new();
        if !log.trim_start().starts_with("s ") {
            lines.push(('s', "ses_1".to_owned(), "{}".to_owned()));
        }
        for line in log.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let mut words = line.splitn(3, ' ');
            let kind = words.next().and_then(|word| word.chars().next()).expect("a kind");
            let id = words.next().expect("an id").to_owned();
            lines.push((kind, id, words.next().unwrap_or_default().to_owned()));
        }
        Self { folder: tempfile::tempdir().expect("a folder"), lines }
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The log as a database.
    pub(super) fn database(&self) -> PathBuf {
        let path = self.folder().join("opencode.db");
        let database = Connection::open(&path).expect("a database");
        database.execute_batch(SCHEMA).expect("the schema");
        let (mut session, mut message) = (String::new(), String::new());
        for (index, (kind, id, data)) in self.lines.iter().enumerate() {
            let time = START + 1000 * i64::try_from(index).expect("few lines");
            let done = match kind {
                's' => {
                    session.clone_from(id);
                    let fields: serde_json::Value = serde_json::from_str(data).expect("fields");
                    let text = |key: &str, otherwise: &str| fields[key].as_str().unwrap_or(otherwise).to_owned();
                    let parent = fields["parentID"].as_str().map(str::to_owned);
                    let revert = fields.get("revert").map(ToString::to_string);
                    let directory = text("directory", "/w");
                    database.execute(
                        "INSERT INTO session VALUES (?1, 'p', ?2, 'slug', ?3, ?4, '1.2.6', ?5, ?6, ?6)",
                        params![id, parent, directory, text("title", "A title"), revert, time],
                    )
                }
                'm' => {
                    message.clone_from(id);
                    database
                        .execute("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)", params![id, session, time, data])
                }
                'p' => database.execute(
                    "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                    params![id, message, session, time, data],
                ),
                't' => database
                    .execute("INSERT INTO todo VALUES (?1, ?2, 'pending', ?3)", params![session, data, index as i64]),
                _ => {
                    let (kind, data) = data.split_once(' ').expect("a type");
                    database.execute(
                        "INSERT INTO session_message VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                        params![id, session, kind, time, data],
                    )
                }
            };
            done.expect("a row");
        }
        path
    }

    /// The log as folders.
    pub(super) fn tree(&self) -> PathBuf {
        let root = self.folder().join("storage");
        self.write(&root, "session/p", "message", |_, message| format!("part/{message}"));
        root
    }

    /// The log as folders of the oldest layout.
    pub(super) fn oldest_tree(&self) -> PathBuf {
        let root = self.folder().join("project/w/storage");
        self.write(&root, "session/info", "session/message", |session, message| {
            format!("session/part/{session}/{message}")
        });
        root
    }

    fn write(&self, root: &Path, sessions: &str, messages: &str, parts: impl Fn(&str, &str) -> String) {
        let put = |folder: &str, id: &str, text: &str| {
            fs::create_dir_all(root.join(folder)).expect("a folder");
            fs::write(root.join(folder).join(format!("{id}.json")), text).expect("a file");
        };
        let (mut session, mut message) = (String::new(), String::new());
        for (index, (kind, id, data)) in self.lines.iter().enumerate() {
            let time = START + 1000 * i64::try_from(index).expect("few lines");
            match kind {
                's' => {
                    session.clone_from(id);
                    let mut fields: serde_json::Value = serde_json::from_str(data).expect("fields");
                    for (key, value) in [("directory", "/w"), ("title", "A title"), ("version", "1.0.1")] {
                        fields[key] = fields.get(key).cloned().unwrap_or_else(|| value.into());
                    }
                    fields["time"] = serde_json::json!({"created": time, "updated": time});
                    put(sessions, id, &fields.to_string());
                }
                'm' => {
                    message.clone_from(id);
                    put(&format!("{messages}/{session}"), id, data);
                }
                'p' => put(&parts(&session, &message), id, data),
                't' => put("todo", &session, &format!("[{{\"content\":\"{data}\"}}]")),
                _ => {}
            }
        }
    }
}
