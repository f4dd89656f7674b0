//! Lines of a file in memory bounded by the longest of them.
//!
//! Lines end at `\n`; a `\r` before it belongs to the end. A byte order mark at the start of the file is passed
//! over. The last line may lack its end: then the file was cut, or somebody still writes to it.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

use crate::record::Origin;

/// Bytes asked of the input at a time.
const CHUNK: usize = 256 * 1024;
/// A longer line is passed over, and only its first [`KEPT`] bytes are handed out.
pub const LONGEST: usize = 256 * 1024 * 1024;
/// What is kept of a line that is longer than [`LONGEST`].
pub const KEPT: usize = 64 * 1024;

/// Reads lines into one buffer, which each [`Line`] borrows.
pub struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// The bytes of `buffer` not handed out yet.
    start: usize,
    end: usize,
    at_end: bool,
    number: u64,
    offset: u64,
    longest: usize,
}

/// One line, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Number, from 1.
    pub number: u64,
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Its length in bytes, which is more than `bytes` holds when it was too long.
    pub length: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
    /// Whether it had an end: the last line of a file may have none.
    pub ended: bool,
}

/// Takes white space and NULs off both ends: a file system that lost power leaves NULs where a line was to be.
pub fn trim(text: &str) -> &str {
    &text[inner(text.as_bytes())]
}

/// As [`trim`].
pub fn trim_bytes(bytes: &[u8]) -> &[u8] {
    &bytes[inner(bytes)]
}

fn inner(bytes: &[u8]) -> Range<usize> {
    let is_outer = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let start = bytes.iter().position(|byte| !is_outer(byte)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|byte| !is_outer(byte)).map_or(start, |last| last + 1);
    start..end
}

/// The place of `part`, which lies in `whole`, the text at `origin`.
pub fn within(origin: Origin, whole: &str, part: &str) -> Origin {
    let before = (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize);
    Origin { offset: origin.offset + before as u64, length: part.len() as u64, ..origin }
}

impl<'a> Line<'a> {
    /// Whether the line was longer than [`LONGEST`] and `bytes` holds only its beginning.
    pub fn is_cut(&self) -> bool {
        self.length > self.bytes.len() as u64
    }

    /// Its text, and whether that is faithful: bytes that are no UTF-8 are replaced by U+FFFD.
    pub fn text(&self) -> (Cow<'a, str>, bool) {
        // Checked on its own first: looking for the replacements is several times as slow.
        match simdutf8::basic::from_utf8(self.bytes) {
            Ok(text) => (Cow::Borrowed(text), true),
            Err(_) => (String::from_utf8_lossy(self.bytes), false),
        }
    }

    /// Whether it holds nothing but white space.
    pub fn is_blank(&self) -> bool {
        self.bytes.iter().all(u8::is_ascii_whitespace)
    }
}

impl<R: Read> Lines<R> {
    /// Reads lines from `input`, from its first byte.
    pub fn new(input: R) -> Self {
        Self::with_longest(input, LONGEST)
    }

    fn with_longest(input: R, longest: usize) -> Self {
        Self { input, buffer: Vec::new(), start: 0, end: 0, at_end: false, number: 0, offset: 0, longest }
    }

    /// The next line, or `None` after the last.
    #[expect(clippy::should_implement_trait, reason = "a line borrows the reader, which an Iterator cannot say")]
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.number == 0 {
            self.pass_byte_order_mark()?;
        }
        let mut searched = self.start;
        let newline = loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                break Some(searched + at);
            }
            if self.at_end {
                break None;
            }
            if self.end - self.start > self.longest {
                return self.pass_long_line().map(Some);
            }
            let searched_length = self.end - self.start;
            self.fill()?;
            searched = self.start + searched_length;
        };
        if newline.is_none() && self.start == self.end {
            return Ok(None);
        }
        let (from, to) = (self.start, newline.unwrap_or(self.end));
        self.start = newline.map_or(self.end, |at| at + 1);
        let offset = self.offset;
        self.offset += (self.start - from) as u64;
        self.number += 1;
        let bytes = &self.buffer[from..to];
        let bytes = if newline.is_some() { bytes.strip_suffix(b"\r").unwrap_or(bytes) } else { bytes };
        Ok(Some(Line { number: self.number, offset, length: bytes.len() as u64, bytes, ended: newline.is_some() }))
    }

    fn pass_byte_order_mark(&mut self) -> io::Result<()> {
        const MARK: &[u8] = b"\xef\xbb\xbf";
        while self.end - self.start < MARK.len() && !self.at_end {
            self.fill()?;
        }
        if self.buffer[self.start..self.end].starts_with(MARK) {
            self.start += MARK.len();
            self.offset += MARK.len() as u64;
        }
        Ok(())
    }

    /// Hands out the beginning of a line that is too long, and passes over the rest of it.
    fn pass_long_line(&mut self) -> io::Result<Line<'_>> {
        let kept = self.buffer[self.start..self.start + KEPT.min(self.longest)].to_vec();
        let offset = self.offset;
        let mut length = 0;
        let ended = loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.start..self.end]) {
                length += at as u64;
                self.start += at + 1;
                break true;
            }
            length += (self.end - self.start) as u64;
            self.start = self.end;
            if self.at_end {
                break false;
            }
            self.fill()?;
        };
        self.offset += length + u64::from(ended);
        self.number += 1;
        // Everything up to `start` has been handed out, so the kept bytes may lie over it.
        self.buffer.splice(..0, kept.iter().copied());
        self.start += kept.len();
        self.end += kept.len();
        Ok(Line { number: self.number, offset, length, bytes: &self.buffer[..kept.len()], ended })
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < self.end + CHUNK {
            let wanted = (self.end + CHUNK).max(self.buffer.len() + self.buffer.len() / 2);
            self.buffer.resize(wanted, 0);
        }
        let read = loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.end += read;
        self.at_end = read == 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time, as a pipe does.
    struct Dribble<'a>(&'a [u8]);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(3).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[track_caller]
    fn check(input: &[u8], expected: &[(u64, u64, &str, bool)]) {
        let mut lines = Lines::new(Dribble(input));
        let mut seen = Vec::new();
        while let Some(line) = lines.next().expect("reading from memory") {
            seen.push((line.number, line.offset, line.text().0.into_owned(), line.ended));
        }
        let expected: Vec<_> =
            expected.iter().map(|&(number, offset, text, ended)| (number, offset, text.to_owned(), ended)).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn lines_know_their_number_offset_and_end() {
        check(b"", &[]);
        check(
            b"a\n\nlonger\nend",
            &[(1, 0, "a", true), (2, 2, "", true), (3, 3, "longer", true), (4, 10, "end", false)],
        );
        check(b"a\r\nb\n", &[(1, 0, "a", true), (2, 3, "b", true)]);
        check(b"a\r", &[(1, 0, "a\r", false)]);
    }

    #[test]
    fn a_part_of_a_line_has_a_place_of_its_own() {
        let origin = Origin { file: 2, line: 7, offset: 100, length: 9 };
        let (whole, part) = (" \0{}{\"a\"}", trim(" \0{}{\"a\"}"));
        assert_eq!((part, trim("\0 \0")), ("{}{\"a\"}", ""));
        assert_eq!((trim("\u{a0}x\r\n"), trim_bytes(b"\t\xff \n")), ("\u{a0}x", &b"\xff"[..]));
        assert_eq!(within(origin, whole, &whole[4..]), Origin { offset: 104, length: 5, ..origin });
        assert_eq!(within(origin, whole, whole), Origin { length: 9, ..origin });
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        check(b"\xef\xbb\xbf{}\n", &[(1, 3, "{}", true)]);
        check(b"\xef\xbb\xbf", &[]);
        check(b"\xef\xbb", &[(1, 0, "\u{fffd}", false)]);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_said() {
        let mut lines = Lines::new(&b"a\xffb\nok"[..]);
        let line = lines.next().expect("reading").expect("a line");
        assert_eq!(line.text(), (Cow::Owned("a\u{fffd}b".to_owned()), false));
        assert!(lines.next().expect("reading").expect("a line").text().1);
    }

    #[test]
    fn a_line_that_is_too_long_keeps_its_beginning_and_its_place() {
        let input = [b"xx\n".to_vec(), vec![b'y'; 1000], b"\nz\n".to_vec()].concat();
        let mut lines = Lines::with_longest(Dribble(&input), 10);
        assert_eq!(lines.next().expect("reading").expect("a line").bytes, b"xx");
        let long = lines.next().expect("reading").expect("a line");
        assert!(long.is_cut());
        assert_eq!((long.number, long.offset, long.length, long.bytes), (2, 3, 1000, &b"yyyyyyyyyy"[..]));
        let last = lines.next().expect("reading").expect("a line");
        assert_eq!((last.number, last.offset, last.bytes), (3, 1004, &b"z"[..]));
        assert_eq!(lines.next().expect("reading"), None);
    }
}
