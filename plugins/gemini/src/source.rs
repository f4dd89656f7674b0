//! A session's file as a row of records: the lines of a log, or the messages of one document.

use std::io::{self, BufReader, Read};

use toolpath_plugin_api::Origin;
use toolpath_plugin_api::kit::lines::{Lines, trim};

use crate::scan::{Scanner, What};

/// How a file holds its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One a line, as versions since April 2026 write them.
    Lines,
    /// In one document, as older versions write them.
    Whole,
}

impl Layout {
    /// How `input` holds them, which its first two lines tell.
    pub(crate) fn of(input: impl Read) -> io::Result<Self> {
        let mut lines = Lines::new(input);
        let mut first: Option<(bool, bool, u8)> = None;
        while let Some(line) = lines.next()? {
            if line.is_blank() {
                continue;
            }
            let (text, _) = line.text();
            let text = trim(&text);
            let is_object = is_object(text);
            let Some((was_object, _, byte)) = first else {
                let byte = text.bytes().next().unwrap_or_default();
                first = Some((is_object, is_object && has_list(text), byte));
                continue;
            };
            // A document that is spread over lines has no line that is an object, but for a list's last element.
            let is_log = was_object || (byte == b'{' && is_object) || !matches!(byte, b'{' | b'[');
            return Ok(if is_log { Self::Lines } else { Self::Whole });
        }
        // A line by itself that is cut says more as a document: what stands before the cut can still be read.
        let is_whole = first.is_some_and(|(was_object, has_messages, byte)| {
            has_messages || (!was_object && matches!(byte, b'{' | b'['))
        });
        Ok(if is_whole { Self::Whole } else { Self::Lines })
    }
}

fn is_object(text: &str) -> bool {
    text.starts_with('{') && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn has_list(text: &str) -> bool {
    serde_json::from_str::<crate::shape::Record<'_>>(text).is_ok_and(|record| record.messages.is_list())
}

/// Hands out the records of a file.
pub(crate) enum Source<R: Read> {
    Lines(Lines<R>),
    Whole(Box<Scanner<BufReader<R>>>),
}

/// One of them, or what stands where one should.
pub(crate) struct Raw<'a> {
    pub(crate) what: What,
    pub(crate) bytes: &'a [u8],
    pub(crate) origin: Origin,
    /// Nothing ends it but the end of the file.
    pub(crate) is_last: bool,
}

impl Raw<'_> {
    /// Whether it is so long that only its beginning was kept.
    pub(crate) fn is_too_long(&self) -> bool {
        self.origin.length > self.bytes.len() as u64
    }
}

impl<R: Read> Source<R> {
    /// Reads `input`, which holds its records as `layout` says.
    pub(crate) fn new(input: R, layout: Layout) -> Self {
        match layout {
            Layout::Lines => Self::Lines(Lines::new(input)),
            Layout::Whole => Self::Whole(Box::new(Scanner::new(BufReader::with_capacity(64 * 1024, input)))),
        }
    }

    /// The next record, or `None` after the last.
    pub(crate) fn next(&mut self) -> io::Result<Option<Raw<'_>>> {
        match self {
            Self::Lines(lines) => Ok(lines.next()?.map(|line| Raw {
                what: What::Message,
                bytes: line.bytes,
                origin: Origin { file: 0, line: line.number, offset: line.offset, length: line.length },
                is_last: !line.ended,
            })),
            Self::Whole(scanner) => Ok(scanner.next()?.map(|item| Raw {
                what: item.what,
                bytes: &scanner.buffer,
                origin: item.origin,
                is_last: item.is_cut,
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_lines_tell_a_log_from_a_document() {
        for (text, layout) in [
            ("{\"sessionId\":\"s\",\"projectHash\":\"p\"}\n{\"id\":\"a\"}\n", Layout::Lines),
            ("{\"sessionId\":\"s\",\"proj\n{\"id\":\"a\"}\n", Layout::Lines),
            ("{\"sessionId\":\"s\"}", Layout::Lines),
            ("words\n", Layout::Lines),
            ("", Layout::Lines),
            ("{\n \"sessionId\": \"s\",\n", Layout::Whole),
            ("{\"sessionId\":\"s\",\"messages\":[]}\n", Layout::Whole),
            ("{\"sessionId\":\"s\",\"messages\":[]}\n{\"id\":\"a\"}\n", Layout::Lines),
            ("{\"sessionId\":\"s\",\"messages\":[{\"id\":\"", Layout::Whole),
            ("[\n{\"role\":\"user\"}\n]", Layout::Whole),
            ("\n{\n", Layout::Whole),
        ] {
            assert_eq!(Layout::of(text.as_bytes()).expect("reading from memory"), layout, "{text}");
        }
    }
}
