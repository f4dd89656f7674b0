//! A session's file as the records in it, whatever its layout: lines, one object of the TypeScript CLI, compressed or not.
//!
//! A file is gone through twice, so it is opened once and read to where it ended then: one that grows does not come out
//! differently the second time.

mod elements;
mod pieces;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Take};

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::lines::Lines;
use toolpath_plugin_api::kit::tree::Places;
use toolpath_plugin_api::{Origin, PluginError, Severity};

use crate::log::elements::Elements;
use crate::log::pieces::{Text, pieces};
use crate::zst::{Frames, MAGIC};

/// Bytes that tell the layouts apart.
const HEAD: u64 = 512;

/// A session's file.
#[derive(Debug)]
pub(crate) struct Log {
    file: File,
    length: u64,
    is_compressed: bool,
}

/// What was found in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'a> {
    /// A record.
    Record(Piece<'a>),
    /// What cannot be read, and why.
    Unreadable(Piece<'a>, &'a str),
    /// Something to be said about what follows.
    Note(Severity, &'static str, &'static str, Origin),
}

/// The text of a record, and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    /// Number within the file, from 1.
    pub(crate) number: u64,
    /// Number within its line, from 0.
    pub(crate) nth: u64,
    /// Its line; the file's index is not set.
    pub(crate) origin: Origin,
    /// What it is part of.
    pub(crate) part: Part<'a>,
    /// Its text: a JSON object where it can be read.
    pub(crate) text: &'a str,
    /// The value that its text is; absent where it cannot be read.
    pub(crate) value: Field<'a>,
}

impl<'a> Piece<'a> {
    /// A text that stands alone.
    pub(crate) fn alone(text: &'a str, part: Part<'a>) -> Self {
        Self { number: 1, nth: 0, origin: Origin::default(), part, text, value: Field::parse(text) }
    }
}

/// What a piece of a file is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    /// A line.
    Line,
    /// `session` of the TypeScript CLI's object.
    Header,
    /// An element of its `items`.
    Item,
    /// Another key of it.
    Other(&'a str),
}

/// Takes what is found, in order.
pub(crate) type Take1<'t> = dyn FnMut(Found<'_>) -> Result<(), PluginError> + 't;

impl Log {
    /// Opens a file as it is now.
    pub(crate) fn of(file: File) -> Result<Self, PluginError> {
        let about = file.metadata()?;
        if !about.is_file() {
            return Err(PluginError::new("is no file; name a Codex session file"));
        }
        let mut magic = Vec::new();
        (&file).take(MAGIC.len() as u64).read_to_end(&mut magic)?;
        Ok(Self { length: about.len(), is_compressed: magic == MAGIC, file })
    }

    /// Goes through the file from its beginning.
    pub(crate) fn each(&self, take: &mut Take1<'_>) -> Result<(), PluginError> {
        let mut input = self.content()?;
        let mut head = Vec::new();
        (&mut input).take(HEAD).read_to_end(&mut head)?;
        let content = head.as_slice().chain(&mut input);
        let mut counter = Counter { numbers: 0, last: Origin::default(), places: Places::default(), take };
        if is_object_of_items(&head) {
            elements(content, &mut counter)?;
        } else {
            lines(content, &mut counter)?;
        }
        if let Some(damage) = input.damage() {
            let reason = format!("the compressed file is damaged: {damage}");
            let Origin { line, offset, length, .. } = counter.last;
            let origin = Origin { line: line + 1, offset: offset + length, ..Origin::default() };
            let text = Text { json: "", value: Field::default(), fault: Some(&reason), nth: 0, origin };
            counter.piece(text, Part::Line)?;
        }
        Ok(())
    }

    /// The first bytes of the content, at most `most`.
    pub(crate) fn head(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        self.content()?.take(most).read_to_end(&mut head)?;
        Ok(head)
    }

    /// The last bytes of the content, at most `most`; `None` where only all of it would tell.
    pub(crate) fn tail(&self, most: u64) -> io::Result<Option<Vec<u8>>> {
        if self.is_compressed {
            return Ok(None);
        }
        let mut tail = Vec::new();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(self.length.saturating_sub(most)))?;
        file.take(most).read_to_end(&mut tail)?;
        Ok(Some(tail))
    }

    /// Bytes on disk.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    fn content(&self) -> io::Result<Content<'_>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0))?;
        let plain = file.take(self.length);
        Ok(if self.is_compressed {
            Content::Compressed(Box::new(Frames::new(BufReader::new(plain))))
        } else {
            Content::Plain(plain)
        })
    }
}

/// Whether a file begins like the TypeScript CLI's one object.
pub(crate) fn is_object_of_items(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let first = head.strip_prefix(b"{").unwrap_or_default().trim_ascii_start();
    first.starts_with(b"\"session\"") || first.starts_with(b"\"items\"")
}

enum Content<'f> {
    Plain(Take<&'f File>),
    Compressed(Box<Frames<BufReader<Take<&'f File>>>>),
}

impl Content<'_> {
    fn damage(&self) -> Option<&str> {
        match self {
            Self::Plain(_) => None,
            Self::Compressed(frames) => frames.damage(),
        }
    }
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::Compressed(frames) => frames.read(buffer),
        }
    }
}

/// Numbers what is found.
struct Counter<'c, 't> {
    numbers: u64,
    last: Origin,
    /// Where the values of a text stand.
    places: Places,
    take: &'c mut Take1<'t>,
}

impl Counter<'_, '_> {
    fn piece(&mut self, text: Text<'_>, part: Part<'_>) -> Result<(), PluginError> {
        self.numbers += 1;
        self.last = text.origin;
        let Text { json, value, fault, nth, origin } = text;
        let piece = Piece { number: self.numbers, nth, origin, part, text: json, value };
        (self.take)(match fault {
            None => Found::Record(piece),
            Some(reason) => Found::Unreadable(piece, reason),
        })
    }

    fn note(
        &mut self,
        severity: Severity,
        code: &'static str,
        text: &'static str,
        at: Origin,
    ) -> Result<(), PluginError> {
        (self.take)(Found::Note(severity, code, text, at))
    }
}

fn lines(content: impl Read, counter: &mut Counter<'_, '_>) -> Result<(), PluginError> {
    let mut lines = Lines::new(content);
    while let Some(line) = lines.next()? {
        if line.is_blank() {
            continue;
        }
        let place = Origin { file: 0, line: line.number, offset: line.offset, length: line.length };
        let cut = line.is_cut().then_some("the line is too long, and only its beginning is kept");
        pieces(line.bytes, place, cut, line.ended, Part::Line, counter)?;
    }
    Ok(())
}

fn elements(content: impl Read, counter: &mut Counter<'_, '_>) -> Result<(), PluginError> {
    let mut elements = Elements::new(content);
    while let Some(element) = elements.next()? {
        let place = Origin { file: 0, line: element.line, offset: element.offset, length: element.length };
        let part = match element.key {
            _ if element.fault.is_some() => Part::Line,
            "items" => Part::Item,
            "session" => Part::Header,
            other => Part::Other(other),
        };
        pieces(element.bytes, place, element.fault, true, part, counter)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// `line.nth@offset part: text`, or with `! reason` where it cannot be read.
    #[track_caller]
    pub(super) fn check(content: &[u8], expected: &[&str]) {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(content).expect("writing");
        file.seek(SeekFrom::Start(0)).expect("seeking");
        let log = Log::of(file).expect("a file");
        // Twice, since the file is gone through twice.
        for _ in 0..2 {
            let mut found = Vec::new();
            log.each(&mut |one| {
                let place = |piece: Piece<'_>| {
                    let Origin { line, offset, .. } = piece.origin;
                    format!("{}: {line}.{}@{offset} {:?} {}", piece.number, piece.nth, piece.part, piece.text)
                };
                found.push(match one {
                    Found::Record(piece) => place(piece),
                    Found::Unreadable(piece, reason) => format!("{} ! {reason}", place(piece)),
                    Found::Note(_, code, _, _) => code.to_owned(),
                });
                Ok(())
            })
            .expect("reading");
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(content));
        }
    }

    #[test]
    fn lines_are_records_and_blank_ones_are_none() {
        check(b"{\"a\":1}\n\n  \r\n{\"b\":2}", &["1: 1.0@0 Line {\"a\":1}", "2: 4.0@13 Line {\"b\":2}"]);
        check(b"", &[]);
    }

    #[test]
    fn a_compressed_file_is_its_lines() {
        let compressed =
            |content: &[u8]| ruzstd::encoding::compress_to_vec(content, ruzstd::encoding::CompressionLevel::Fastest);
        let mut whole = compressed(b"{\"a\":1}\n{\"b\":2}\n");
        check(&whole, &["1: 1.0@0 Line {\"a\":1}", "2: 2.0@8 Line {\"b\":2}"]);
        let last = whole.len() - 1;
        whole[last] ^= 1;
        let damage = "3: 3.0@15 Line  ! the compressed file is damaged: its checksum does not fit its content";
        check(&whole, &["1: 1.0@0 Line {\"a\":1}", "2: 2.0@8 Line {\"b\":2}", damage]);
    }

    #[test]
    fn the_object_of_the_typescript_cli_is_its_header_and_its_items() {
        check(
            b"{\n  \"session\": {\n    \"id\": \"s\"\n  },\n  \"items\": [\n    {\"a\": 1},\n    {\"b\": 2}\n  ],\n  \"more\": 7\n}\n",
            &[
                "1: 2.0@15 Header {\n    \"id\": \"s\"\n  }",
                "2: 6.0@53 Item {\"a\": 1}",
                "3: 7.0@67 Item {\"b\": 2}",
                "4: 9.0@91 Other(\"more\") 7",
            ],
        );
    }

    #[test]
    fn a_folder_is_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(Log::of(File::open(folder.path()).expect("opening")).is_err());
    }
}
