//! What the beginning and the end of a session's file tell of it. A small file is read whole.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use toolpath_plugin_api::kit::json::mend_surrogates;
use toolpath_plugin_api::kit::lines::trim;
use toolpath_plugin_api::kit::time::Span;

use crate::content::Content;
use crate::detect::begins_as_message;
use crate::known::is_known;
use crate::lines::{End, Piece, Pieces};
use crate::place::time_of;
use crate::shape::{Attachment, Message, Record};
use crate::words;

/// Bytes of the beginning and of the end that are looked at, unless all is found in fewer.
const MOST: u64 = 64 * 1024;
/// Bytes that are looked at first.
const FEW: u64 = 16 * 1024;
/// A title made of a prompt is no longer, in characters.
const TITLE: usize = 100;

/// How records begin that may hold a title; messages begin with their parents.
const TITLED: &str = r#"{"type":"#;

/// What is known of a session.
#[derive(Debug, Default)]
pub(super) struct Glance {
    /// Directory it worked in.
    pub(super) project: Option<String>,
    /// Times.
    pub(super) span: Span,
    /// Turns in its own file, when all of it was read.
    pub(super) turns: Option<u64>,
    custom_title: Option<String>,
    ai_title: Option<String>,
    last_prompt: Option<String>,
    summary: Option<String>,
    first_prompt: Option<String>,
    command: Option<String>,
    is_recognised: bool,
}

/// Why a file is no session.
#[derive(Debug)]
pub(super) enum NoSession {
    /// It cannot be read, for this reason.
    Unreadable(String),
    /// It is a sub-agent's.
    Agents,
}

impl From<io::Error> for NoSession {
    fn from(err: io::Error) -> Self {
        Self::Unreadable(err.to_string())
    }
}

impl Glance {
    /// Looks at the file at `path`, which has that many bytes.
    pub(super) fn at(path: &Path, bytes: u64) -> Result<Self, NoSession> {
        let mut file = File::open(path)?;
        let mut glance = Self::default();
        if bytes <= 2 * MOST {
            let text = part(&mut file, 0, bytes)?;
            glance.turns = Some(glance.read_whole(&text)?);
        } else {
            let (few, most) = (part(&mut file, 0, FEW)?, |file: &mut File| part(file, 0, MOST));
            if !glance.read_head(&few)? {
                glance = Self::default();
                glance.read_head(&most(&mut file)?)?;
            }
            if !glance.read_tail(&part(&mut file, bytes - FEW, FEW)?) {
                glance.read_tail(&part(&mut file, bytes - MOST, MOST)?);
            }
        }
        if bytes == 0 {
            return Err(NoSession::Unreadable("is empty".to_owned()));
        }
        if !glance.is_recognised {
            return Err(NoSession::Unreadable("holds no record of Claude Code".to_owned()));
        }
        Ok(glance)
    }

    /// The title: one that was given, else what was said last, or first.
    pub(super) fn title(&self) -> Option<&str> {
        let titles = [&self.custom_title, &self.ai_title, &self.last_prompt, &self.summary, &self.first_prompt];
        titles.into_iter().chain([&self.command]).find_map(|title| title.as_deref())
    }

    /// Learns from all lines, and counts the turns.
    fn read_whole(&mut self, text: &str) -> Result<u64, NoSession> {
        let mut turns = 0;
        for line in text.lines() {
            let mended = mend_surrogates(line);
            for piece in Pieces::of(trim(mended.as_deref().unwrap_or(line)), End::Newline) {
                let Piece::Record(record, json) = piece else { continue };
                self.refuse_agents(&record)?;
                self.is_recognised = self.is_recognised || is_known(json);
                self.learn_first(&record);
                self.learn_last(&record);
                self.see(&record);
                turns += u64::from(is_turn(&record));
            }
        }
        Ok(turns)
    }

    /// Learns from the file's first lines; says whether more of them would tell nothing more.
    fn read_head(&mut self, text: &str) -> Result<bool, NoSession> {
        // The first line may be longer than all that was read.
        self.is_recognised = !text.contains('\n') && begins_as_message(text);
        for line in text.split_inclusive('\n') {
            // The last one goes on beyond what was read.
            let Some(line) = line.strip_suffix('\n') else { break };
            if self.is_begun() && !line.starts_with(TITLED) {
                continue;
            }
            let mended = mend_surrogates(line);
            for piece in Pieces::of(trim(mended.as_deref().unwrap_or(line)), End::Newline) {
                let Piece::Record(record, json) = piece else { continue };
                self.refuse_agents(&record)?;
                self.is_recognised = self.is_recognised || is_known(json);
                self.learn_first(&record);
                self.learn_last(&record);
                if self.span.first().is_none() {
                    self.see(&record);
                }
            }
        }
        Ok(self.is_begun())
    }

    /// Learns from the file's last lines; says whether more of them would tell nothing more.
    fn read_tail(&mut self, text: &str) -> bool {
        let mut has_time = false;
        let (mut custom, mut last) = (None, Self::default());
        // The first one began before what was read.
        let lines = text.split_once('\n').map_or("", |(_, rest)| rest);
        for line in lines.lines().rev() {
            if has_time && !line.starts_with(TITLED) {
                continue;
            }
            let mended = mend_surrogates(line);
            for piece in Pieces::of(trim(mended.as_deref().unwrap_or(line)), End::Newline) {
                let Piece::Record(record, json) = piece else { continue };
                self.is_recognised = self.is_recognised || is_known(json);
                let mut one = Self::default();
                one.learn_last(&record);
                custom = custom.or(one.custom_title);
                last.ai_title = last.ai_title.or(one.ai_title);
                last.last_prompt = last.last_prompt.or(one.last_prompt);
                last.summary = last.summary.or(one.summary);
                has_time = has_time || self.see(&record);
                if self.project.is_none() {
                    self.project = record.cwd.filled().map(Into::into);
                }
            }
            if has_time && custom.is_some() {
                break;
            }
        }
        let is_all = has_time && custom.is_some();
        self.custom_title = custom.or(self.custom_title.take());
        self.ai_title = last.ai_title.or(self.ai_title.take());
        self.last_prompt = last.last_prompt.or(self.last_prompt.take());
        self.summary = last.summary.or(self.summary.take());
        is_all
    }

    /// A file that begins on a sub-agent's branch is a sub-agent's, whatever it is called.
    fn refuse_agents(&self, record: &Record<'_>) -> Result<(), NoSession> {
        if !self.is_recognised && record.is_sidechain.flag() { Err(NoSession::Agents) } else { Ok(()) }
    }

    /// Whether all is known that the beginning tells.
    fn is_begun(&self) -> bool {
        self.project.is_some() && self.first_prompt.is_some() && self.span.first().is_some()
    }

    /// Takes the record's time into account, and says whether it has one.
    fn see(&mut self, record: &Record<'_>) -> bool {
        let time = time_of(record);
        let mut alone = Span::default();
        alone.see(&time);
        self.span.see(&time);
        alone.first().is_some()
    }

    /// Learns of what the first record counts.
    fn learn_first(&mut self, record: &Record<'_>) {
        if self.project.is_none() {
            self.project = record.cwd.filled().map(Into::into);
        }
        let is_asked = self.first_prompt.is_some() || record.kind.text().as_deref() != Some("user");
        if is_asked || record.is_sidechain.flag() || record.is_compact_summary.flag() {
            return;
        }
        let Some(message) = Message::of(record.message) else { return };
        let content = Content::of(message.content, "", false);
        if !content.results.is_empty() || content.text.trim().is_empty() {
            return;
        }
        if words::of_user(record, &content.text).is_none() {
            self.first_prompt = Some(shortened(&content.text));
        } else if self.command.is_none() {
            self.command = words::command(&content.text).map(|command| shortened(&command));
        }
    }

    /// Learns of what the last record counts.
    fn learn_last(&mut self, record: &Record<'_>) {
        for (field, title) in [
            (record.custom_title, &mut self.custom_title),
            (record.ai_title, &mut self.ai_title),
            (record.last_prompt, &mut self.last_prompt),
            (record.summary, &mut self.summary),
        ] {
            if let Some(text) = field.filled().filter(|text| !text.trim().is_empty()) {
                *title = Some(shortened(&text));
            }
        }
    }
}

/// Whether a turn is made of the record.
fn is_turn(record: &Record<'_>) -> bool {
    let message = || Message::of(record.message);
    match record.kind.text().as_deref() {
        Some("assistant") => message().is_some(),
        Some("user") if !record.is_compact_summary.flag() => message().is_some_and(|message| {
            let content = Content::of(message.content, "", false);
            content.results.is_empty() || !content.text.is_empty() || !content.rest.is_empty()
        }),
        Some("attachment") => record
            .attachment
            .object::<Attachment<'_>>()
            .is_some_and(|attachment| attachment.kind.text().as_deref() == Some("queued_command")),
        _ => false,
    }
}

/// A text on one line, cut where it is too long for a title.
fn shortened(text: &str) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
        if words.len() > 4 * TITLE {
            break;
        }
    }
    match words.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// The text of at most `length` bytes from `start`.
fn part(file: &mut File, start: u64, length: u64) -> io::Result<String> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    let bytes = if start == 0 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes) } else { &bytes };
    Ok(String::from_utf8_lossy(bytes).into_owned())
}
