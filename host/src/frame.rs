//! What crosses the pipe between the worker and the host: one frame a call, in binary.
//!
//! A frame is its length (4 bytes, little endian, what follows it not included), its kind (1 byte) and its body. Texts
//! are a length and UTF-8; a list is its length and its items. Whoever writes frames is not trusted: lengths are
//! checked before anything is allocated, and texts are checked to be UTF-8. JSON is a text here: the
//! [`Intake`](crate::intake::Intake) reads it, whoever told it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::intake::Ended;
use crate::json::Json;
use crate::record::{
    Branch, Diagnostic, Disposition, EventRecord, Listed, Origin, ResultRecord, SessionFacts, Severity, SkipRecord,
    TurnRecord,
};
use crate::turn::{
    DelegatedWork, Environment, FileMutation, Role, TokenUsage, ToolCategory, ToolInvocation, ToolResult, Turn,
};
use crate::words::Words;

/// Most bytes that a frame may have.
pub const LONGEST: usize = 256 * 1024 * 1024;

/// A frame that is none: what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbled(pub &'static str);

/// One call, or the end of the calls.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    /// Facts of the session.
    Session(Box<SessionFacts>),
    /// A message.
    Turn(Box<TurnRecord<'a>>),
    /// The result of an earlier call.
    Result(Box<ResultRecord<'a>>),
    /// A record that is no message.
    Event(Box<EventRecord<'a>>),
    /// A record of which no step is made.
    Skip(SkipRecord<'a>),
    /// A sentence for the user.
    Diagnostic(Diagnostic),
    /// The plugin opened, or why it did not: one sentence, and the rest of what there is to say.
    Opened(Result<(), (String, Option<String>)>),
    /// One session of a listing.
    Listed(Box<Listed>),
    /// A sentence about a path, as bytes, that a listing came by; empty when it is about none.
    Remark(Diagnostic, Vec<u8>),
    /// How sure the plugin is that it reads what it was shown.
    Detected(u32),
    /// How the reading ended; nothing follows.
    End(Ended),
}

impl<'a> Frame<'a> {
    /// Reads a frame of this kind and body.
    pub fn read(kind: u8, body: &'a [u8]) -> Result<Self, Garbled> {
        let mut from = Body(body);
        let frame = match kind {
            1 => Self::Session(Box::new(Part::take(&mut from)?)),
            2 => Self::Turn(Box::new(Part::take(&mut from)?)),
            3 => Self::Result(Box::new(Part::take(&mut from)?)),
            4 => Self::Event(Box::new(Part::take(&mut from)?)),
            5 => Self::Skip(Part::take(&mut from)?),
            6 => Self::Diagnostic(Part::take(&mut from)?),
            7 => Self::End(Part::take(&mut from)?),
            8 => Self::Opened(match Part::take(&mut from)? {
                None => Ok(()),
                Some(refusal) => Err(refusal),
            }),
            9 => Self::Listed(Box::new(Part::take(&mut from)?)),
            10 => Self::Remark(Part::take(&mut from)?, Part::take(&mut from)?),
            11 => Self::Detected(Part::take(&mut from)?),
            _ => return Err(Garbled("a frame of an unknown kind")),
        };
        if from.0.is_empty() { Ok(frame) } else { Err(Garbled("a frame that is longer than what it holds")) }
    }

    /// Appends the frame, its length and kind included.
    pub fn write(&self, to: &mut Vec<u8>) {
        let start = to.len();
        to.extend_from_slice(&[0; 5]);
        let kind = match self {
            Self::Session(part) => part.put_as(1, to),
            Self::Turn(part) => part.put_as(2, to),
            Self::Result(part) => part.put_as(3, to),
            Self::Event(part) => part.put_as(4, to),
            Self::Skip(part) => part.put_as(5, to),
            Self::Diagnostic(part) => part.put_as(6, to),
            Self::End(part) => part.put_as(7, to),
            Self::Opened(done) => done.clone().err().put_as(8, to),
            Self::Listed(part) => part.put_as(9, to),
            Self::Remark(part, path) => {
                part.put(to);
                path.put_as(10, to)
            }
            Self::Detected(part) => part.put_as(11, to),
        };
        // A longer frame is refused by its reader whatever its length says.
        let length = u32::try_from(to.len() - start - 4).unwrap_or(u32::MAX);
        to[start..start + 4].copy_from_slice(&length.to_le_bytes());
        to[start + 4] = kind;
    }
}

/// The bytes of a body that are not read yet.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Garbled> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(Garbled("a frame that ends inside a value"))?;
        self.0 = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Garbled> {
        Ok(self.bytes(N)?.try_into().expect("as many bytes as were asked for"))
    }
}

/// What a frame is made of.
trait Part<'a>: Sized {
    fn put(&self, to: &mut Vec<u8>);
    fn take(from: &mut Body<'a>) -> Result<Self, Garbled>;

    fn put_as(&self, kind: u8, to: &mut Vec<u8>) -> u8 {
        self.put(to);
        kind
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Part<'_> for $number {
            fn put(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            fn take(from: &mut Body<'_>) -> Result<Self, Garbled> {
                Ok(Self::from_le_bytes(from.array()?))
            }
        }
    )*};
}

numbers!(u8, u32, u64);

impl Part<'_> for bool {
    fn put(&self, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn take(from: &mut Body<'_>) -> Result<Self, Garbled> {
        match u8::take(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Garbled("a flag that is neither set nor unset")),
        }
    }
}

fn put_length(length: usize, to: &mut Vec<u8>) {
    // More than a frame can hold makes its reader refuse it.
    u32::try_from(length).unwrap_or(u32::MAX).put(to);
}

fn put_text(text: &str, to: &mut Vec<u8>) {
    put_length(text.len(), to);
    to.extend_from_slice(text.as_bytes());
}

fn take_length(from: &mut Body<'_>) -> Result<usize, Garbled> {
    Ok(u32::take(from)? as usize)
}

impl<'a> Part<'a> for Cow<'a, str> {
    fn put(&self, to: &mut Vec<u8>) {
        put_text(self, to);
    }

    fn take(from: &mut Body<'a>) -> Result<Self, Garbled> {
        let length = take_length(from)?;
        let text = simdutf8::basic::from_utf8(from.bytes(length)?).map_err(|_| Garbled("a text that is no UTF-8"))?;
        Ok(Cow::Borrowed(text))
    }
}

impl Part<'_> for String {
    fn put(&self, to: &mut Vec<u8>) {
        put_text(self, to);
    }

    fn take(from: &mut Body<'_>) -> Result<Self, Garbled> {
        <Cow<'_, str>>::take(from).map(Cow::into_owned)
    }
}

impl<'a> Part<'a> for Json<'a> {
    fn put(&self, to: &mut Vec<u8>) {
        put_text(self.text(), to);
    }

    fn take(from: &mut Body<'a>) -> Result<Self, Garbled> {
        <Cow<'_, str>>::take(from).map(Self::told)
    }
}

impl<'a> Part<'a> for Words<'a> {
    fn put(&self, to: &mut Vec<u8>) {
        let (is_json, text) = self.parts();
        is_json.put(to);
        put_text(text, to);
    }

    fn take(from: &mut Body<'a>) -> Result<Self, Garbled> {
        let is_json = bool::take(from)?;
        <Cow<'_, str>>::take(from).map(if is_json { Self::told } else { Self::of })
    }
}

impl<'a, T: Part<'a>> Part<'a> for Option<T> {
    fn put(&self, to: &mut Vec<u8>) {
        self.is_some().put(to);
        if let Some(value) = self {
            value.put(to);
        }
    }

    fn take(from: &mut Body<'a>) -> Result<Self, Garbled> {
        if bool::take(from)? { T::take(from).map(Some) } else { Ok(None) }
    }
}

impl<'a, T: Part<'a>> Part<'a> for Vec<T> {
    fn put(&self, to: &mut Vec<u8>) {
        put_length(self.len(), to);
        for item in self {
            item.put(to);
        }
    }

    fn take(from: &mut Body<'a>) -> Result<Self, Garbled> {
        let length = take_length(from)?;
        // Each item takes a byte at least, so a length that lies costs no memory.
        if length > from.0.len() {
            return Err(Garbled("a list that is longer than its frame"));
        }
        (0..length).map(|_| T::take(from)).collect()
    }
}

impl<'a, A: Part<'a>, B: Part<'a>> Part<'a> for (A, B) {
    fn put(&self, to: &mut Vec<u8>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn take(from: &mut Body<'a>) -> Result<Self, Garbled> {
        Ok((A::take(from)?, B::take(from)?))
    }
}

impl<'a, V: Part<'a>> Part<'a> for BTreeMap<String, V> {
    fn put(&self, to: &mut Vec<u8>) {
        put_length(self.len(), to);
        for (key, value) in self {
            key.put(to);
            value.put(to);
        }
    }

    fn take(from: &mut Body<'a>) -> Result<Self, Garbled> {
        Ok(<Vec<(String, V)>>::take(from)?.into_iter().collect())
    }
}

macro_rules! records {
    ($($name:ident $(<$life:lifetime>)? { $($field:ident),* $(,)? })*) => {$(
        impl<'a> Part<'a> for $name $(<$life>)? {
            fn put(&self, to: &mut Vec<u8>) {
                $(self.$field.put(to);)*
            }
            fn take(from: &mut Body<'a>) -> Result<Self, Garbled> {
                Ok(Self { $($field: Part::take(from)?),* })
            }
        }
    )*};
}

records! {
    Origin { file, line, offset, length }
    SessionFacts {
        id, provider_id, title, started_at, last_activity, producer, working_dir, vcs_revision, vcs_branch, vcs_remote,
        files_changed, session_ids, total_usage, files,
    }
    Branch { call, agent }
    TurnRecord<'a> {
        turn, usage_is_snapshot, parent_or_previous, branch, signal, needs_result, partial, part_of_record, origin,
    }
    Turn<'a> {
        id, parent_id, group_id, role, timestamp, text, thinking, tool_uses, model, stop_reason, token_usage,
        attributed_token_usage, environment, delegations, file_mutations, harness_generated,
    }
    ToolInvocation<'a> { id, name, input, result, category }
    ToolResult<'a> { content, is_error }
    TokenUsage { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, breakdowns }
    Environment<'a> { working_dir, vcs_branch, vcs_revision }
    DelegatedWork<'a> { agent_id, prompt, turns, result }
    FileMutation<'a> { path, tool_id, operation, raw_diff, before, after, rename_to }
    ResultRecord<'a> {
        call_id, result, file_mutations, partial, delegations, timestamp, part_of_record, origin,
    }
    EventRecord<'a> {
        id, timestamp, event_type, parent_id, data, unreadable, branch, part_of_record, origin,
    }
    SkipRecord<'a> { disposition, id, parent_id, origin }
    Diagnostic { severity, code, message, origin }
    Listed { id, path, project, title, started_at, last_activity, turns, bytes }
}

macro_rules! codes {
    ($($name:ident { $($code:literal: $variant:ident),* $(,)? })*) => {$(
        impl Part<'_> for $name {
            fn put(&self, to: &mut Vec<u8>) {
                to.push(match self { $(Self::$variant => $code),* });
            }
            fn take(from: &mut Body<'_>) -> Result<Self, Garbled> {
                match u8::take(from)? {
                    $($code => Ok(Self::$variant),)*
                    _ => Err(Garbled("a code that stands for nothing")),
                }
            }
        }
    )*};
}

codes! {
    ToolCategory { 1: FileRead, 2: FileWrite, 3: FileSearch, 4: Shell, 5: Network, 6: Delegation }
    Disposition { 1: Folded, 2: Duplicate }
    Severity { 1: Info, 2: Warning, 3: Error }
}

impl<'a> Part<'a> for Role<'a> {
    fn put(&self, to: &mut Vec<u8>) {
        match self {
            Self::User => to.push(1),
            Self::Assistant => to.push(2),
            Self::System => to.push(3),
            Self::Other(name) => {
                to.push(4);
                name.put(to);
            }
        }
    }

    fn take(from: &mut Body<'a>) -> Result<Self, Garbled> {
        match u8::take(from)? {
            1 => Ok(Self::User),
            2 => Ok(Self::Assistant),
            3 => Ok(Self::System),
            4 => Part::take(from).map(Self::Other),
            _ => Err(Garbled("a role that is none")),
        }
    }
}

impl Part<'_> for Ended {
    fn put(&self, to: &mut Vec<u8>) {
        let (code, records, message) = match self {
            Self::Done(records) => (1, *records, ""),
            Self::Failed(message) => (2, 0, message.as_str()),
            Self::Stopped => (3, 0, ""),
            Self::Panicked(message) => (4, 0, message.as_str()),
        };
        to.push(code);
        records.put(to);
        message.to_owned().put(to);
    }

    fn take(from: &mut Body<'_>) -> Result<Self, Garbled> {
        let (code, records, message) = (u8::take(from)?, u64::take(from)?, String::take(from)?);
        match code {
            1 => Ok(Self::Done(records)),
            2 => Ok(Self::Failed(message)),
            3 => Ok(Self::Stopped),
            4 => Ok(Self::Panicked(message)),
            _ => Err(Garbled("an end that is none")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn() -> Frame<'static> {
        let turn = r#"{"id":"t","parent_id":"p","group_id":"g","role":{"Other":"x"},"timestamp":"","text":"é",
            "thinking":"","tool_uses":[{"id":"c","name":"Edit","input":{"a":[1.0]},"category":"file_write",
            "result":{"content":"ok","is_error":true}}],"model":null,"token_usage":{"input_tokens":1,
            "breakdowns":{"output":{"thinking":7}}},"environment":{},"delegations":[{"agent_id":"a","prompt":"p",
            "turns":[]}],"file_mutations":[{"path":"/a","after":""}],"harness_generated":true}"#;
        let turn: Turn<'_> = serde_json::from_str(turn).expect("a turn");
        Frame::Turn(Box::new(TurnRecord {
            turn: turn.into_owned(),
            usage_is_snapshot: true,
            parent_or_previous: false,
            branch: Some(Branch { call: None, agent: "helper".to_owned() }),
            signal: Some("flag".to_owned()),
            needs_result: vec![0],
            partial: vec![],
            part_of_record: true,
            origin: Origin { file: 1, line: 2, offset: 3, length: 4 },
        }))
    }

    fn bytes(frame: &Frame<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.write(&mut bytes);
        bytes
    }

    #[test]
    fn a_frame_reads_back_what_was_written() {
        let facts = SessionFacts {
            id: "s".to_owned(),
            producer: Some(("p".to_owned(), None)),
            files_changed: Some(vec![]),
            ..SessionFacts::default()
        };
        let diagnostic = Diagnostic {
            severity: Severity::Warning,
            code: "odd".to_owned(),
            message: "m".to_owned(),
            origin: Origin::default(),
        };
        let skip = SkipRecord {
            disposition: Disposition::Folded,
            id: Some("i".into()),
            parent_id: None,
            origin: Origin::default(),
        };
        let frames = [
            turn(),
            Frame::Session(Box::new(facts)),
            Frame::Diagnostic(diagnostic.clone()),
            Frame::Remark(diagnostic, b"/x".to_vec()),
            Frame::Listed(Box::new(Listed { id: "s".to_owned(), turns: Some(3), ..Listed::default() })),
            Frame::Detected(70),
            Frame::Skip(skip),
            Frame::Opened(Ok(())),
            Frame::Opened(Err(("no".to_owned(), Some("more".to_owned())))),
            Frame::End(Ended::Done(7)),
            Frame::End(Ended::Panicked("at once".to_owned())),
        ];
        for frame in frames {
            let bytes = bytes(&frame);
            assert_eq!(u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")) as usize, bytes.len() - 4);
            assert_eq!(Frame::read(bytes[4], &bytes[5..]).as_ref(), Ok(&frame));
        }
    }

    #[test]
    fn a_frame_that_is_cut_anywhere_is_refused() {
        let bytes = bytes(&turn());
        for end in 5..bytes.len() {
            assert!(Frame::read(bytes[4], &bytes[5..end]).is_err(), "{end}");
        }
        let longer = [&bytes[5..], &[0]].concat();
        assert_eq!(Frame::read(bytes[4], &longer), Err(Garbled("a frame that is longer than what it holds")));
    }

    #[test]
    fn changed_bytes_never_panic_and_lying_lengths_allocate_nothing() {
        let bytes = bytes(&turn());
        for at in 5..bytes.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = Frame::read(changed[4], &changed[5..]);
            }
        }
        assert_eq!(Frame::read(1, &[0xff; 64]), Err(Garbled("a frame that ends inside a value")));
        assert_eq!(Frame::read(99, &[]), Err(Garbled("a frame of an unknown kind")));
    }
}
