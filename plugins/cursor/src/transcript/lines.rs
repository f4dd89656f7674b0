//! Transcripts of JSON lines.
//!
//! A line is a message or says how a turn ended. The end says why the reply before it stopped, so a reply is held until
//! the next line is known. Sub-agents have files of their own beside the transcript, which no call names: where a call's
//! prompt is the first of a sub-agent's, it is taken for its caller.

use std::collections::HashMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::kit::lines::Lines;
use toolpath_plugin_api::{Category, Origin, PluginError, Role, Severity, Sink, Summary, ToolUseRecord};

use crate::facts::Facts;
use crate::row::{Line, Row};
use crate::shape::{self, Args, Piece};
use crate::signal::Signal;
use crate::words::Prompt;
use crate::{edits, tools};

/// What stands for reasoning that was taken out.
const REDACTED: &str = "[REDACTED]";

/// Reads one transcript and those of its sub-agents.
#[derive(Debug)]
pub(crate) struct Reader {
    facts: Facts,
    records: u64,
    is_recognised: bool,
    /// Calls that handed work over, by what they asked.
    calls: HashMap<u64, String>,
}

/// A message's content, taken apart.
#[derive(Debug, Default)]
struct Content {
    text: String,
    /// Name and input of each call.
    calls: Vec<(String, String)>,
    /// Blocks of other kinds, as JSON.
    rest: Vec<String>,
    is_redacted: bool,
}

/// A reply that waits for the line behind it.
struct Held {
    row: Row,
    content: Content,
}

impl Reader {
    /// Tells the transcript in `file` at `path`, the session `id`.
    pub(crate) fn read(
        file: File,
        path: Option<&Path>,
        id: &str,
        name: &str,
        sink: &mut Sink<'_>,
    ) -> Result<Summary, PluginError> {
        let agents = path.map(agents_beside).unwrap_or_default();
        let mut facts = Facts::new(id);
        if !agents.is_empty() {
            facts.files.push(name.to_owned());
            facts.files.extend(agents.iter().map(|(agent, _)| format!("subagents/{agent}.jsonl")));
        }
        facts.tell(|session| sink.session(session))?;
        let mut reader = Self { facts, records: 0, is_recognised: false, calls: HashMap::new() };
        let is_agents_own = path.and_then(Path::parent).is_some_and(|folder| folder.ends_with("subagents"));
        let mut line = Line { is_child: is_agents_own, ..Line::default() };
        reader.lines(as_it_is(file)?, 0, id, &mut line, sink)?;
        if reader.records == 0 {
            return Err(PluginError::new("holds no records; name a transcript of Cursor"));
        }
        if !reader.is_recognised {
            let message = "holds no record of Cursor; name a transcript or a database of it, or another --provider";
            return Err(PluginError::new(message));
        }
        for (nth, (agent, path)) in agents.iter().enumerate() {
            let number = u32::try_from(nth + 1).unwrap_or(u32::MAX);
            let origin = Origin { file: number, ..Origin::default() };
            let opened = fs::metadata(path).and_then(|about| {
                if about.is_file() { File::open(path) } else { Err(std::io::Error::other("it is no file")) }
            });
            match opened {
                Ok(file) => {
                    let call = first_prompt(path).and_then(|prompt| reader.calls.get(&digest(&prompt)).cloned());
                    let mut branch = line.of_agent(call.as_deref(), agent);
                    reader.lines(as_it_is(file)?, number, agent, &mut branch, sink)?;
                }
                Err(err) => {
                    let message = format!("the transcript of the sub-agent `{agent}` cannot be read: {err}");
                    sink.diagnostic(Severity::Warning, "unreadable-sub-agent", &message, origin)?;
                }
            }
        }
        reader.facts.tell(|session| sink.session(session))?;
        Ok(Summary { records: reader.records })
    }

    fn lines(
        &mut self,
        input: impl Read,
        file: u32,
        id: &str,
        line: &mut Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let mut lines = Lines::new(input);
        let mut held: Option<Held> = None;
        while let Some(read) = lines.next()? {
            if read.is_blank() {
                continue;
            }
            self.records += 1;
            let origin = Origin { file, line: read.number, offset: read.offset, length: read.length };
            let (text, is_faithful) = read.text();
            let own = format!("{id}:{}", read.number);
            let mut row = Row::new(own, &text, is_faithful, origin);
            if read.is_cut() {
                let raw = text.into_owned();
                row.data = Err(crate::row::Unread {
                    raw,
                    reason: "the line is too long, and only its beginning is kept".to_owned(),
                });
            }
            let shape: shape::Line<'_> = row.shape();
            let stop = if shape.kind.is("turn_ended") && !shape.status.is("success") { stop_of(&shape) } else { None };
            let was_held = held.is_some();
            if let Some(held) = held.take() {
                self.reply(held, stop.as_deref(), line, sink)?;
            }
            let is_message = message(&shape).is_some();
            self.is_recognised |= (is_message && shape.kind.json().is_none()) || shape.kind.is("turn_ended");
            row.note(sink)?;
            match &*shape.role.text().unwrap_or_default() {
                _ if row.data.is_err() => row.unreadable(line, sink)?,
                "user" if is_message => self.prompt(&row, &shape, line, sink)?,
                "assistant" if is_message => {
                    let content = Content::of(message(&shape));
                    held = Some(Held { row, content });
                    continue;
                }
                _ if shape.kind.is("turn_ended") => {
                    self.end(&row, &shape, stop.as_deref().filter(|_| !was_held), line, sink)?
                }
                role => {
                    let kind = shape.kind.filled().unwrap_or_else(|| role.to_owned().into());
                    let kind = if kind.is_empty() { "record" } else { &kind };
                    event(kind, &row, line, sink)?;
                }
            }
            line.previous = Some(row.id.clone());
        }
        match held {
            Some(held) => self.reply(held, None, line, sink),
            None => Ok(()),
        }
    }

    fn prompt(
        &mut self,
        row: &Row,
        shape: &shape::Line<'_>,
        line: &mut Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let content = Content::of(message(shape));
        let prompt = Prompt::of(&content.text);
        let signal = if prompt.is_context {
            Some(Signal::ContextOnly)
        } else if line.is_child && line.branch.is_none() && !line.has_prompt {
            Some(Signal::SubAgentPrompt)
        } else {
            None
        };
        line.has_prompt |= !prompt.is_context;
        // What stands there is a time for people: with a zone's name and without a fixed form.
        let time = prompt.time.filter(|time| is_stamp(time)).unwrap_or_default();
        self.facts.see(time);
        let mut turn = line.turn(Role::User, &row.id, time, row.origin);
        turn.text(&prompt.text);
        if let Some(signal) = signal {
            turn.harness_generated(signal.json());
        }
        sink.turn(&turn)?;
        for context in prompt.context {
            beside("context", &quoted(context), row, line, sink)?;
        }
        for block in &content.rest {
            beside("content-block", block, row, line, sink)?;
        }
        Ok(())
    }

    fn reply(
        &mut self,
        held: Held,
        stop: Option<&str>,
        line: &mut Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let Held { row, content } = held;
        let ids: Vec<String> = (1..=content.calls.len()).map(|nth| format!("{}/{nth}", row.id)).collect();
        let mut turn = line.turn(Role::Assistant, &row.id, "", row.origin);
        turn.text(&content.text).stop_reason(stop);
        let mut edits = Vec::new();
        for (id, (name, input)) in ids.iter().zip(&content.calls) {
            // No result is ever recorded, so a write is told by its call.
            turn.tool_use(ToolUseRecord::new(id, name, input, row.origin).category(tools::category_of(name)));
            edits.extend(
                edits::of(name, &[Field::parse(input)], Field::default(), &|_| None, None)
                    .into_iter()
                    .map(|edit| (id, edit)),
            );
            if is_handing_over(name) {
                let args: Args<'_> = serde_json::from_str(input).unwrap_or_default();
                if let Some(prompt) = args.prompt.text() {
                    self.calls.entry(digest(prompt.trim())).or_insert_with(|| id.clone());
                }
            }
        }
        for (id, edit) in &edits {
            turn.mutation(edit.record(id));
        }
        sink.turn(&turn)?;
        if content.is_redacted {
            beside("redacted-thinking", &quoted(REDACTED), &row, line, sink)?;
        }
        for block in &content.rest {
            beside("content-block", block, &row, line, sink)?;
        }
        line.previous = Some(row.id);
        Ok(())
    }

    /// Tells how a turn ended; `stop` is the reason when there was no reply.
    fn end(
        &mut self,
        row: &Row,
        shape: &shape::Line<'_>,
        stop: Option<&str>,
        line: &Line,
        sink: &mut Sink<'_>,
    ) -> Result<(), PluginError> {
        let Some(stop) = stop else { return event("turn_ended", row, line, sink) };
        let error = shape.error.filled().unwrap_or_default();
        let mut turn = line.turn(Role::Assistant, &row.id, "", row.origin);
        turn.text(&error).stop_reason(Some(stop)).harness_generated(Signal::TurnEndedWithoutReply.json());
        sink.turn(&turn)?;
        beside("turn_ended", row.data.as_deref().unwrap_or("null"), row, line, sink)
    }
}

impl Content {
    fn of(field: Option<Field<'_>>) -> Self {
        let mut content = Self::default();
        let Some(field) = field else { return content };
        let mut texts: Vec<String> = Vec::new();
        if let Some(text) = field.text() {
            texts.push(text.into_owned());
        }
        for raw in field.list().unwrap_or_default() {
            let piece: Piece<'_> = raw.object_or_default();
            match (piece.kind.text().as_deref(), piece.text.text()) {
                (Some("text"), Some(text)) => texts.push(text.into_owned()),
                (Some("tool_use"), _) => {
                    let input = piece.input.json().unwrap_or("null").to_owned();
                    content.calls.push((piece.name.text().unwrap_or_default().into_owned(), input));
                }
                _ => match raw.text() {
                    Some(text) => texts.push(text.into_owned()),
                    None => {
                        texts.push(format!("[{}]", piece.kind.filled().unwrap_or("block".into())));
                        content.rest.push(raw.json().unwrap_or("null").to_owned());
                    }
                },
            }
        }
        for text in &mut texts {
            if text.contains(REDACTED) {
                let kept: Vec<&str> = text.lines().filter(|line| line.trim() != REDACTED).collect();
                let kept = kept.join("\n");
                content.is_redacted |= kept.len() < text.trim_end_matches('\n').len();
                *text = kept.trim().to_owned();
            }
        }
        texts.retain(|text| !text.is_empty());
        content.text = texts.join("\n");
        content
    }
}

/// The content of a message.
fn message<'a>(shape: &shape::Line<'a>) -> Option<Field<'a>> {
    let message: shape::Line<'a> = shape.message.object()?;
    Some(message.content).filter(|content| content.json().is_some_and(|json| json.starts_with(['"', '['])))
}

fn stop_of(shape: &shape::Line<'_>) -> Option<String> {
    let error = shape.error.text().unwrap_or_default();
    let is_abort = shape.status.is("aborted") || shape.status.is("cancelled") || error == "User aborted request";
    Some(if is_abort { "aborted".to_owned() } else { shape.status.filled().unwrap_or("error".into()).into_owned() })
}

fn is_handing_over(name: &str) -> bool {
    // Transcripts of other builds name the same tool `Agent`.
    tools::category_of(name) == Category::DELEGATION || name == "Agent"
}

/// Whether a text is a time stamp as documents have them.
fn is_stamp(text: &str) -> bool {
    text.len() >= 20 && text.as_bytes()[4] == b'-' && text.contains('T')
}

fn event(kind: &str, row: &Row, line: &Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
    let data = format!(r#"{{{}:{}}}"#, quoted(kind), row.data.as_deref().unwrap_or("null"));
    let mut event = line.event(kind, &row.id, "", line.previous.as_deref(), row.origin);
    Ok(sink.event(event.data(&data))?)
}

fn beside(name: &str, json: &str, row: &Row, line: &Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
    let data = format!(r#"{{{}:{json}}}"#, quoted(name));
    let mut event = line.event(name, "", "", Some(&row.id), row.origin);
    Ok(sink.event(event.data(&data).part_of_record())?)
}

/// The transcripts of a session's sub-agents, by name.
fn agents_beside(path: &Path) -> Vec<(String, PathBuf)> {
    let Some(folder) = path.parent().map(|folder| folder.join("subagents")) else { return Vec::new() };
    let mut agents: Vec<(String, PathBuf)> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let agent = name.to_str()?.strip_suffix(".jsonl")?.to_owned();
            Some((agent, entry.path()))
        })
        .collect();
    agents.sort();
    agents
}

/// What the first line of a sub-agent's transcript asks.
fn first_prompt(path: &Path) -> Option<String> {
    let mut lines = Lines::new(File::open(path).ok()?);
    let line = lines.next().ok()??;
    let (text, _) = line.text();
    let shape: shape::Line<'_> = serde_json::from_str(&text).ok()?;
    let content = Content::of(message(&shape).filter(|_| shape.role.is("user")));
    Some(Prompt::of(&content.text).text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// A file up to its present end: one that grows as fast as it is read would never come to another.
pub(crate) fn as_it_is(file: File) -> std::io::Result<std::io::Take<File>> {
    let about = file.metadata()?;
    let length = if about.is_file() { about.len() } else { u64::MAX };
    Ok(file.take(length))
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
