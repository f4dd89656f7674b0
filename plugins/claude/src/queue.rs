//! Prompts that were typed while Claude worked, and that stand nowhere but in the queue.
//!
//! Most come up again: as a user record, or as an attachment. One that was taken back was never said. What is left when the log
//! ends was typed by the human and reached no model. To know that, the rest of the log is looked through, once, when
//! the first prompt is put into the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use memchr::memmem;
use toolpath_plugin_api::kit::lines::Lines;

use crate::content::{Content, texts};
use crate::digest;
use crate::shape::{Attachment, Field, Message, Record};
use crate::words;

/// The queue of one session.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    /// The log, where it can be looked through; none when it is not in a file.
    log: Option<PathBuf>,
    /// Offsets of the lines whose prompts stand nowhere else, once that was looked up.
    unsaid: Option<BTreeSet<u64>>,
}

impl Queue {
    /// The queue of the session in the file `log`.
    pub(crate) fn of(log: PathBuf) -> Self {
        Self { log: Some(log), unsaid: None }
    }

    /// The prompt that the record puts into the queue in the line at `offset`, when it is said nowhere else.
    pub(crate) fn unsaid<'a>(&mut self, record: &Record<'a>, offset: u64) -> Option<Content<'a>> {
        let content = prompt(record)?;
        let log = self.log.as_ref()?;
        // What cannot be read again is told by the one who reads it.
        let unsaid = self.unsaid.get_or_insert_with(|| look_through(log, offset).unwrap_or_default());
        unsaid.contains(&offset).then_some(content)
    }
}

/// The prompt that a record puts into the queue. Commands of the harness are none, and neither is what it wrote itself.
fn prompt<'a>(record: &Record<'a>) -> Option<Content<'a>> {
    if operation(record).as_deref() != Some("enqueue") {
        return None;
    }
    let content = Content::of(record.content, "", false);
    let text = content.text.trim();
    let is_command = text.strip_prefix('/').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()));
    let is_prompt = !text.is_empty() && !is_command && words::of_user(record, text).is_none();
    is_prompt.then_some(content)
}

fn operation<'a>(record: &Record<'a>) -> Option<std::borrow::Cow<'a, str>> {
    (record.kind.text().as_deref() == Some("queue-operation")).then(|| record.operation.text()).flatten()
}

fn digest_of(text: &str) -> u128 {
    digest::of_text(text.trim())
}

/// The offsets of the lines, from the one at `offset` on, whose prompts are said nowhere else.
fn look_through(log: &PathBuf, offset: u64) -> io::Result<BTreeSet<u64>> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(offset))?;
    let mut lines = Lines::new(file.take(length.saturating_sub(offset)));
    let mut waiting = Waiting::default();
    while let Some(line) = lines.next()? {
        let holds = |word: &str| memmem::find(line.bytes, word.as_bytes()).is_some();
        let may_say = !waiting.texts.is_empty() && (holds("\"user\"") || holds("queued_command"));
        if !may_say && !holds("queue-operation") {
            continue;
        }
        let (text, _) = line.text();
        let Ok(record) = serde_json::from_str::<Record<'_>>(&text) else { continue };
        match operation(&record).as_deref() {
            Some("enqueue") => {
                if let Some(content) = prompt(&record) {
                    waiting.put(offset + line.offset, digest_of(&content.text));
                }
            }
            Some("popAll") => waiting = Waiting::default(),
            Some("remove") => {
                let removed = Content::of(record.content, "", false);
                let removed = Some(digest_of(&removed.text)).filter(|_| record.content.json().is_some());
                match removed {
                    Some(text) => waiting.take(text),
                    None => waiting.take_first(),
                }
            }
            Some(_) => {}
            None => {
                let attachment: Option<Attachment<'_>> = record.attachment.object();
                let message: Option<Message<'_>> = record.message.object();
                let said = [attachment.map(|attachment| attachment.prompt), message.map(|message| message.content)];
                for said in said.into_iter().flatten() {
                    say(said, &mut waiting);
                }
            }
        }
    }
    Ok(waiting.texts.into_keys().collect())
}

/// What waits in the queue.
#[derive(Default)]
struct Waiting {
    /// Digests of the prompts by the offsets of their lines.
    texts: BTreeMap<u64, u128>,
    /// The other way round.
    offsets: BTreeMap<u128, BTreeSet<u64>>,
}

impl Waiting {
    fn put(&mut self, offset: u64, text: u128) {
        self.texts.insert(offset, text);
        self.offsets.entry(text).or_default().insert(offset);
    }

    /// Takes out the first prompt of that text.
    fn take(&mut self, text: u128) {
        let Some(offsets) = self.offsets.get_mut(&text) else { return };
        if let Some(first) = offsets.pop_first() {
            self.texts.remove(&first);
        }
        if offsets.is_empty() {
            self.offsets.remove(&text);
        }
    }

    fn take_first(&mut self) {
        if let Some(&text) = self.texts.values().next() {
            self.take(text);
        }
    }
}

/// Takes what is said out of what waits: the content as a whole, and each text of it.
fn say(content: Field<'_>, waiting: &mut Waiting) {
    let mut said = vec![digest_of(&Content::of(content, "", false).text)];
    said.extend(texts(content).iter().map(|text| digest_of(text)));
    said.sort_unstable();
    said.dedup();
    said.into_iter().for_each(|text| waiting.take(text));
}
