//! Transcripts of plain text, which were written before those of JSON lines.
//!
//! A line `user:` or `assistant:` begins a message. Within a reply, `[Thinking]`, `[Tool call] Name` and
//! `[Tool result] Name` begin sections; a call's arguments are indented lines `name=value`.

use std::fs::File;

use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::kit::lines::Lines;
use toolpath_plugin_api::{Origin, PluginError, Role, Severity, Sink, Summary, ToolResultRecord};

use crate::composer::read::tool_use;
use crate::facts::Facts;
use crate::row::Line;
use crate::signal::Signal;
use crate::transcript::lines::as_it_is;
use crate::words::Prompt;

/// A message, as far as it was read.
#[derive(Debug, Default)]
struct Message {
    is_reply: bool,
    origin: Origin,
    text: String,
    thinking: String,
    calls: Vec<Call>,
    section: Section,
}

#[derive(Debug, Default)]
struct Call {
    name: String,
    args: Vec<(String, String)>,
    result: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Text,
    Thinking,
    Call,
    Result(usize),
}

/// Whether a file begins like such a transcript.
pub(crate) fn is_one(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.starts_with(b"user:\n") || head.starts_with(b"user:\r\n")
}

/// Tells the transcript in `file`, the session `id`.
pub(crate) fn read(file: File, id: &str, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
    let facts = Facts::new(id);
    facts.tell(|session| sink.session(session))?;
    let mut line = Line::default();
    let mut message: Option<Message> = None;
    let mut records = 0;
    let mut lines = Lines::new(as_it_is(file)?);
    while let Some(read) = lines.next()? {
        let origin = Origin { file: 0, line: read.number, offset: read.offset, length: read.length };
        let (text, is_faithful) = read.text();
        if !is_faithful {
            sink.diagnostic(Severity::Warning, "invalid-utf8", "bytes that are no UTF-8 were replaced", origin)?;
        }
        let is_reply = match text.trim_end() {
            "user:" => Some(false),
            "assistant:" => Some(true),
            _ => None,
        };
        match (is_reply, &mut message) {
            (Some(is_reply), message) => {
                if let Some(done) = message.replace(Message { is_reply, origin, ..Message::default() }) {
                    records += 1;
                    done.tell(id, &mut line, sink)?;
                }
            }
            (None, Some(message)) => message.line(&text),
            (None, None) => {}
        }
    }
    let Some(last) = message else { return Err(PluginError::new("holds no messages; name a transcript of Cursor")) };
    last.tell(id, &mut line, sink)?;
    Ok(Summary { records: records + 1 })
}

impl Message {
    fn line(&mut self, line: &str) {
        if self.is_reply && self.begins_section(line) {
            return;
        }
        match self.section {
            Section::Thinking => push(&mut self.thinking, line),
            Section::Call => {
                let arg = line.strip_prefix([' ', '\t']).map(str::trim_start).and_then(|line| line.split_once('='));
                match (arg, self.calls.last_mut()) {
                    (Some((name, value)), Some(call)) => call.args.push((name.to_owned(), value.to_owned())),
                    // A value may have several lines; what is not indented ends the call.
                    (None, Some(call)) if line.starts_with([' ', '\t']) && !call.args.is_empty() => {
                        if let Some((_, value)) = call.args.last_mut() {
                            push(value, line);
                        }
                    }
                    _ => {
                        self.section = Section::Text;
                        push(&mut self.text, line);
                    }
                }
            }
            Section::Result(call) => match self.calls.get_mut(call) {
                Some(call) => push(call.result.get_or_insert_default(), line),
                None => push(&mut self.text, line),
            },
            Section::Text => push(&mut self.text, line),
        }
    }

    fn begins_section(&mut self, line: &str) -> bool {
        if let Some(thought) = line.strip_prefix("[Thinking]") {
            self.section = Section::Thinking;
            push(&mut self.thinking, thought.trim_start());
        } else if let Some(name) = line.strip_prefix("[Tool call] ") {
            self.section = Section::Call;
            self.calls.push(Call { name: name.trim().to_owned(), ..Call::default() });
        } else if let Some(name) = line.strip_prefix("[Tool result]") {
            // Results follow their calls in order.
            let open = self.calls.iter().position(|call| call.result.is_none() && call.name == name.trim());
            self.section = open.map_or(Section::Text, Section::Result);
            match open {
                Some(open) => self.calls[open].result = Some(String::new()),
                None => push(&mut self.text, line),
            }
        } else {
            return false;
        }
        true
    }

    fn tell(self, session: &str, line: &mut Line, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        let id = format!("{session}:{}", self.origin.line);
        let text = self.text.trim();
        if self.is_reply {
            let ids: Vec<String> = (1..=self.calls.len()).map(|nth| format!("{id}/{nth}")).collect();
            let inputs: Vec<String> = self.calls.iter().map(Call::input).collect();
            let mut turn = line.turn(Role::Assistant, &id, "", self.origin);
            let thinking = self.thinking.trim();
            turn.text(text).thinking(Some(thinking).filter(|thinking| !thinking.is_empty()));
            for ((id, input), call) in ids.iter().zip(&inputs).zip(&self.calls) {
                turn.tool_use(tool_use(id, &call.name, input, self.origin));
            }
            sink.turn(&turn)?;
            for (id, call) in ids.iter().zip(&self.calls) {
                if let Some(result) = &call.result {
                    let mut result = ToolResultRecord::new(id, result.trim(), false, self.origin);
                    sink.tool_result(result.part_of_record(true))?;
                }
            }
        } else {
            let prompt = Prompt::of(text);
            let mut turn = line.turn(Role::User, &id, "", self.origin);
            turn.text(&prompt.text);
            if prompt.is_context {
                turn.harness_generated(Signal::ContextOnly.json());
            }
            sink.turn(&turn)?;
            for context in &prompt.context {
                let data = format!(r#"{{"context":{}}}"#, quoted(context));
                let mut event = line.event("context", "", "", Some(&id), self.origin);
                sink.event(event.data(&data).part_of_record())?;
            }
        }
        line.previous = Some(id);
        Ok(())
    }
}

impl Call {
    fn input(&self) -> String {
        let args: Vec<String> =
            self.args.iter().map(|(name, value)| format!("{}:{}", quoted(name), quoted(value))).collect();
        format!("{{{}}}", args.join(","))
    }
}

fn push(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}
