//! The sessions below the folders where Claude Code keeps them, by the beginnings and the ends of their files.
//!
//! The beginning tells the directory, the first time and the first prompt; the end the last time and the titles, which
//! Claude Code writes again at the end. A small file is read whole, and its turns are counted.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memchr::{memmem, memrchr};
use toolpath_plugin_api::kit::time::Span;
use toolpath_plugin_api::{EntryRecord, ListSink, PluginError, Severity};

use crate::content::Content;
use crate::shape::{Message, Record};
use crate::words;

/// Bytes that are read of a file's beginning, and of its end. A file that is not longer than both is read whole.
const PART: u64 = 32 * 1024;
/// Characters of a prompt that stands for a title.
const TITLE: usize = 200;

/// Lists the sessions below `roots`: the folders of projects in them, and files in the roots themselves.
pub(crate) fn list(roots: &[PathBuf], sink: &mut ListSink<'_>) -> Result<(), PluginError> {
    let mut sessions: BTreeMap<String, (SystemTime, PathBuf)> = BTreeMap::new();
    for root in roots {
        let mut folders = vec![root.clone()];
        for (path, kind) in entries(root, sink)? {
            if kind.is_dir() || (kind.is_symlink() && path.is_dir()) {
                folders.push(path);
            }
        }
        for folder in folders {
            for (path, _) in entries(&folder, sink)? {
                gather(path, &mut sessions, sink)?;
            }
        }
    }
    for (id, (_, path)) in sessions {
        match outline(&path) {
            Ok(Some(outline)) => sink.entry(&path, &outline.entry(&id))?,
            Ok(None) => {}
            Err(err) => {
                let reason = format!("cannot be read: {err}");
                sink.diagnostic(Severity::Warning, "unreadable-file", &reason, &path)?;
            }
        }
    }
    Ok(())
}

fn entries(folder: &Path, sink: &mut ListSink<'_>) -> Result<Vec<(PathBuf, fs::FileType)>, PluginError> {
    match fs::read_dir(folder) {
        Ok(entries) => {
            let kinds = entries.flatten().filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)));
            let mut entries: Vec<_> = kinds.collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            Ok(entries)
        }
        Err(err) => {
            let reason = format!("cannot be searched for sessions: {err}");
            sink.diagnostic(Severity::Warning, "unreadable-file", &reason, folder)?;
            Ok(Vec::new())
        }
    }
}

/// Takes a file that is named like a session, the newest of each name.
fn gather(
    path: PathBuf,
    sessions: &mut BTreeMap<String, (SystemTime, PathBuf)>,
    sink: &mut ListSink<'_>,
) -> Result<(), PluginError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Files that were set aside have a dot in their names.
    let Some(id) = name.strip_suffix(".jsonl").filter(|id| !id.contains('.') && !id.starts_with("agent-")) else {
        return Ok(());
    };
    let (about, problem) = match fs::metadata(&path) {
        Ok(about) if about.is_dir() => return Ok(()),
        // What waits for a writer is never opened.
        Ok(about) if !about.is_file() => (None, "is no regular file".to_owned()),
        Ok(about) if about.len() == 0 => (None, "is empty".to_owned()),
        Ok(about) => (Some(about), String::new()),
        Err(err) => (None, format!("cannot be examined: {err}")),
    };
    let Some(about) = about else {
        return Ok(sink.diagnostic(Severity::Info, "unreadable-file", &problem, &path)?);
    };
    let changed = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let older = match sessions.get(id) {
        Some((known, _)) if *known >= changed => Some(path.clone()),
        _ => sessions.insert(id.to_owned(), (changed, path.clone())).map(|(_, older)| older),
    };
    if let Some(older) = older {
        let message = "is passed over: another folder has a newer session of that id";
        sink.diagnostic(Severity::Info, "repeated-session", message, &older)?;
    }
    Ok(())
}

/// What is known of a session.
#[derive(Debug, Default)]
struct Known {
    bytes: u64,
    project: Option<String>,
    first: Option<String>,
    last: Option<String>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    first_prompt: Option<String>,
    /// Counted where all of the file was looked at.
    turns: Option<u64>,
}

impl Known {
    fn title(&self) -> Option<&str> {
        let titles = [&self.custom_title, &self.ai_title, &self.last_prompt, &self.summary, &self.first_prompt];
        titles.into_iter().find_map(Option::as_deref)
    }

    fn entry<'k>(&'k self, id: &'k str) -> EntryRecord<'k> {
        EntryRecord {
            id,
            project: self.project.as_deref(),
            title: self.title(),
            started_at: self.first.as_deref(),
            last_activity: self.last.as_deref(),
            turns: self.turns,
            bytes: self.bytes,
        }
    }

    fn learn_titles(&mut self, record: &Record<'_>) {
        let titles = [
            (&mut self.custom_title, record.custom_title),
            (&mut self.ai_title, record.ai_title),
            (&mut self.last_prompt, record.last_prompt),
            (&mut self.summary, record.summary),
        ];
        for (title, field) in titles {
            if let Some(told) = field.filled() {
                *title = Some(short(&told));
            }
        }
    }
}

/// A text as a title: its first line with words, not too long.
fn short(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    line.chars().take(TITLE).collect()
}

/// Reads a file's beginning and end; `None` when it is a sub-agent's, or holds nothing that anybody said.
fn outline(path: &Path) -> io::Result<Option<Known>> {
    let mut file = File::open(path)?;
    let mut known = Known { bytes: file.metadata()?.len(), ..Known::default() };
    let is_whole = known.bytes <= 2 * PART;
    let mut head = Vec::new();
    (&mut file).take(if is_whole { 2 * PART } else { PART }).read_to_end(&mut head)?;
    let mut turns = 0;
    let mut is_first = true;
    for line in lines(&head, is_whole) {
        let Some(record) = record_of(line) else { continue };
        if std::mem::take(&mut is_first) && record.is_sidechain.flag() {
            return Ok(None);
        }
        known.project = known.project.take().or_else(|| record.cwd.filled().map(Cow::into_owned));
        known.first = known.first.take().or_else(|| time(&record));
        known.last = time(&record).or(known.last.take());
        known.learn_titles(&record);
        let said = said(&record);
        turns += u64::from(said.is_some());
        if known.first_prompt.is_none() {
            known.first_prompt = said.flatten();
        }
        // Of a long file the rest of the beginning says nothing more.
        if !is_whole && known.project.is_some() && known.first.is_some() && known.first_prompt.is_some() {
            break;
        }
    }
    if is_whole {
        known.turns = Some(turns);
        return Ok(Some(known).filter(|known| turns > 0 || known.title().is_some()));
    }
    let mut tail = Vec::new();
    file.seek(SeekFrom::End(-(PART as i64)))?;
    file.take(PART).read_to_end(&mut tail)?;
    learn_end(&mut known, &tail);
    Ok(Some(known))
}

/// Learns the last time and the titles from the end of a file, in which the first line may be cut.
fn learn_end(known: &mut Known, tail: &[u8]) {
    let all: Vec<&[u8]> = lines(tail, true).skip(1).collect();
    known.last = all.iter().rev().find_map(|line| time(&record_of(line)?)).or(known.last.take());
    for line in all {
        let holds = |key: &str| memmem::find(line, key.as_bytes()).is_some();
        if (holds("Title\"") || holds("lastPrompt\"") || holds("\"summary\""))
            && let Some(record) = record_of(line)
        {
            known.learn_titles(&record);
        }
    }
}

/// The lines of a piece of a file; the last one counts only where the file is known to end there.
fn lines(piece: &[u8], is_end: bool) -> impl Iterator<Item = &[u8]> {
    let end = if is_end { piece.len() } else { memrchr(b'\n', piece).unwrap_or(0) };
    piece[..end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn record_of(line: &[u8]) -> Option<Record<'_>> {
    serde_json::from_str(std::str::from_utf8(line).ok()?.trim_start_matches('\u{feff}')).ok()
}

fn time(record: &Record<'_>) -> Option<String> {
    let mut span = Span::default();
    span.see(&record.timestamp.filled()?);
    span.first()
}

/// Whether a record is a turn, and the words of it when a human typed them.
fn said(record: &Record<'_>) -> Option<Option<String>> {
    let kind = record.kind.text()?;
    if !matches!(&*kind, "user" | "assistant") || record.is_compact_summary.flag() {
        return None;
    }
    let message: Message<'_> = record.message.object()?;
    let content = Content::of(message.content, "", false);
    if kind == "assistant" {
        return Some(None);
    }
    let is_human = !content.text.is_empty() && words::of_user(record, &content.text).is_none();
    let is_turn = content.results.is_empty() || !content.text.is_empty();
    is_turn.then(|| is_human.then(|| short(&content.text)).filter(|prompt| !prompt.is_empty()))
}

#[cfg(test)]
mod tests {
    use toolpath_plugin_api::kit::testing;

    use super::*;
    use crate::ClaudeCode;

    fn root(files: &[(&str, String)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        root
    }

    fn listed(root: &tempfile::TempDir) -> Vec<String> {
        let folder = format!("{}/", root.path().display());
        testing::sessions::<ClaudeCode>(&[root.path()]).iter().map(|line| line.replace(&folder, "")).collect()
    }

    fn line(kind: &str, minute: u32, text: &str) -> String {
        format!(
            r#"{{"type":"{kind}","uuid":"u{minute}","parentUuid":null,"cwd":"/srv/larder","timestamp":"2026-05-04T08:{minute:02}:00.000Z","message":{{"role":"{kind}","content":"{text}"}}}}"#
        ) + "\n"
    }

    #[test]
    fn a_session_is_listed_with_what_its_file_says() {
        let text = line("user", 1, "Bake bread.\\nAt once.") + &line("assistant", 2, "Baked.");
        let root = root(&[("-a-folder/one.jsonl", text.clone())]);
        assert_eq!(
            listed(&root),
            [format!(
                "one at -a-folder/one.jsonl project=/srv/larder title=Bake bread. from=2026-05-04T08:01:00Z to=2026-05-04T08:02:00Z turns=2 bytes={}",
                text.len()
            )]
        );
    }

    #[test]
    fn a_long_session_is_known_by_its_beginning_and_its_end() {
        let filler: String = (0..2000).map(|_| line("assistant", 3, "And on it goes, for a while.")).collect();
        let text = line("user", 1, "Bake bread.")
            + &line("system", 2, "x")
            + &filler
            + r#"{"type":"ai-title","aiTitle":"About bread"}"#
            + "\n"
            + &line("assistant", 59, "Done.");
        let root = root(&[("p/long.jsonl", text.clone())]);
        assert_eq!(
            listed(&root),
            [format!(
                "long at p/long.jsonl project=/srv/larder title=About bread from=2026-05-04T08:01:00Z to=2026-05-04T08:59:00Z bytes={}",
                text.len()
            )]
        );
    }

    #[test]
    fn what_is_no_session_is_left_out() {
        let text = line("user", 1, "Hi.");
        let sidechain = text.replacen('{', r#"{"isSidechain":true,"#, 1);
        let root = root(&[
            ("p/agent-1.jsonl", text.clone()),
            ("p/one.orphaned-2.jsonl", text.clone()),
            ("p/notes.txt", text.clone()),
            ("p/side.jsonl", sidechain),
            ("p/meta.jsonl", "{\"type\":\"mode\",\"mode\":\"default\"}\n".to_owned()),
            ("p/deeper/two.jsonl", text),
        ]);
        assert_eq!(listed(&root), Vec::<String>::new());
    }

    #[test]
    fn the_project_is_what_was_recorded_and_a_harness_word_is_no_title() {
        let notice =
            line("user", 1, "<local-command-stdout>ok</local-command-stdout>").replace(",\"cwd\":\"/srv/larder\"", "");
        let root = root(&[("-srv-guess/one.jsonl", notice.clone())]);
        assert_eq!(
            listed(&root),
            [format!(
                "one at -srv-guess/one.jsonl from=2026-05-04T08:01:00Z to=2026-05-04T08:01:00Z turns=1 bytes={}",
                notice.len()
            )]
        );
    }

    #[test]
    fn of_two_files_of_one_session_the_newer_is_listed() {
        let root = root(&[("a/one.jsonl", line("user", 1, "Old.")), ("b/one.jsonl", line("user", 2, "New."))]);
        let old = File::options().write(true).open(root.path().join("a/one.jsonl")).expect("the older file");
        old.set_modified(SystemTime::UNIX_EPOCH).expect("a time");
        let listed = listed(&root);
        assert_eq!(
            listed[0],
            "! repeated-session a/one.jsonl: is passed over: another folder has a newer session of that id"
        );
        assert!(listed[1].starts_with("one at b/one.jsonl "), "{listed:?}");
        assert_eq!(listed.len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_empty_files_are_reported_and_never_waited_for() {
        let root = root(&[("p/empty.jsonl", String::new())]);
        let pipe = root.path().join("p/pipe.jsonl");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        assert_eq!(
            listed(&root),
            ["! unreadable-file p/empty.jsonl: is empty", "! unreadable-file p/pipe.jsonl: is no regular file",]
        );
    }

    #[test]
    fn damage_is_passed_over() {
        let text = "\u{feff}not json\n".to_owned() + &line("user", 1, "Hi.") + "{\"type\":\"user\",\"mess";
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(b"\n\xff\xfe\n\0\0\n");
        let root = root(&[]);
        fs::write(root.path().join("one.jsonl"), &bytes).expect("a file");
        assert!(listed(&root)[0].starts_with("one at one.jsonl project=/srv/larder title=Hi. "));
    }
}
