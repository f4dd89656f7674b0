//! A place for bytes that are written once and read later: memory first, then an unnamed temporary file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Where an appended piece lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Offset of its first byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

impl Segment {
    fn end(self) -> u64 {
        self.offset + self.length
    }
}

/// Appends pieces and reads them back.
///
/// Up to `limit` bytes stay in memory. From then on everything lies in a file that has no name, so that nothing is
/// left behind however the process ends, and `tail` gathers what is not written yet.
#[derive(Debug)]
pub struct Spool {
    limit: usize,
    file: Option<File>,
    filed: u64,
    tail: Vec<u8>,
}

/// Bytes gathered before they are written to the file.
const GATHER: usize = 256 * 1024;

impl Spool {
    /// An empty spool that keeps up to `limit` bytes in memory.
    pub fn new(limit: usize) -> Self {
        Self { limit, file: None, filed: 0, tail: Vec::new() }
    }

    /// Bytes appended so far.
    pub fn length(&self) -> u64 {
        self.filed + self.tail.len() as u64
    }

    /// Appends a piece.
    pub fn append(&mut self, piece: &[u8]) -> io::Result<Segment> {
        self.append_with(|tail| {
            tail.extend_from_slice(piece);
            Ok(())
        })
    }

    /// Appends what `write` adds to the bytes it is given.
    pub fn append_with(&mut self, write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<Segment> {
        let (offset, before) = (self.length(), self.tail.len());
        write(&mut self.tail).inspect_err(|_| self.tail.truncate(before))?;
        let segment = Segment { offset, length: (self.tail.len() - before) as u64 };
        let most = if self.file.is_some() { GATHER.min(self.limit.max(1)) } else { self.limit };
        if self.tail.len() > most {
            self.file_tail()?;
        }
        Ok(segment)
    }

    fn file_tail(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(self.filed))?;
        file.write_all(&self.tail)?;
        self.filed += self.tail.len() as u64;
        self.tail.clear();
        self.tail.shrink_to(2 * GATHER);
        Ok(())
    }

    /// Reads a piece back into `into`, replacing what it holds.
    pub fn read(&mut self, segment: Segment, into: &mut Vec<u8>) -> io::Result<()> {
        into.clear();
        self.copy(segment, into)
    }

    /// Copies a piece, or several that lie side by side, to `out`.
    pub fn copy(&mut self, segment: Segment, out: &mut dyn Write) -> io::Result<()> {
        self.copy_through(segment, &mut Window::default(), out)
    }

    fn copy_through(&mut self, segment: Segment, window: &mut Window, out: &mut dyn Write) -> io::Result<()> {
        let filed_end = segment.end().min(self.filed);
        let mut offset = segment.offset;
        while offset < filed_end {
            let file = self.file.as_mut().ok_or(io::ErrorKind::UnexpectedEof)?;
            let wanted = (filed_end - offset).min(WINDOW as u64) as usize;
            let part = window.show(file, offset, wanted, self.filed)?;
            out.write_all(part)?;
            offset += part.len() as u64;
        }
        if segment.end() > self.filed {
            let from = segment.offset.max(self.filed) - self.filed;
            let to = segment.end() - self.filed;
            let piece = self.tail.get(from as usize..to as usize).ok_or(io::ErrorKind::UnexpectedEof)?;
            out.write_all(piece)?;
        }
        Ok(())
    }

    /// Copies pieces to `out` in the order given; neighbours that lie side by side go in one go.
    pub fn copy_all(&mut self, pieces: impl IntoIterator<Item = Segment>, out: &mut dyn Write) -> io::Result<()> {
        let (mut run, mut window) = (Segment::default(), Window { is_wide: true, ..Window::default() });
        for piece in pieces {
            if run.end() == piece.offset {
                run.length += piece.length;
            } else {
                self.copy_through(run, &mut window, out)?;
                run = piece;
            }
        }
        self.copy_through(run, &mut window, out)
    }
}

/// Bytes of the file that are read at a time.
const WINDOW: usize = 512 * 1024;
/// How much of that lies before what is asked for: pieces that waited stand behind those that did not.
const BEHIND: u64 = 128 * 1024;

/// A part of the file, in memory: pieces are asked for nearly in the order in which they lie there.
#[derive(Debug, Default)]
struct Window {
    /// Whether more is read than is asked for.
    is_wide: bool,
    offset: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// The bytes from `offset` on, as many as are wanted or at least one; the file has bytes up to `end`.
    fn show(&mut self, file: &mut File, offset: u64, wanted: usize, end: u64) -> io::Result<&[u8]> {
        let is_here = |at: u64| at.checked_sub(self.offset).is_some_and(|within| within < self.bytes.len() as u64);
        if !is_here(offset) || !is_here(offset + wanted as u64 - 1) {
            // What fills a window by itself needs nothing before it.
            let is_wide = self.is_wide && wanted < WINDOW / 2;
            let start = if is_wide { offset.saturating_sub(BEHIND) } else { offset };
            let length = if is_wide { (WINDOW as u64).min(end - start) as usize } else { wanted };
            self.bytes.resize(length, 0);
            self.offset = start;
            file.seek(SeekFrom::Start(start))?;
            file.read_exact(&mut self.bytes)?;
        }
        let from = (offset - self.offset) as usize;
        let shown = &self.bytes[from..];
        Ok(&shown[..shown.len().min(wanted)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_read_back_from_memory_from_the_file_and_across_both() {
        for limit in [0, 5, 1000] {
            let mut spool = Spool::new(limit);
            let pieces: Vec<String> = (0..20).map(|n| format!("piece {n};")).collect();
            let segments: Vec<_> =
                pieces.iter().map(|piece| spool.append(piece.as_bytes()).expect("appending")).collect();
            let mut piece = Vec::new();
            for (segment, text) in segments.iter().zip(&pieces) {
                spool.read(*segment, &mut piece).expect("reading");
                assert_eq!(piece, text.as_bytes(), "limit {limit}");
            }
            let mut all = Vec::new();
            spool.copy_all(segments.iter().copied(), &mut all).expect("copying");
            assert_eq!(all, pieces.concat().as_bytes(), "limit {limit}");
            let mut some = Vec::new();
            spool.copy_all([segments[3], segments[4], segments[1], segments[19]], &mut some).expect("copying");
            assert_eq!(some, b"piece 3;piece 4;piece 1;piece 19;", "limit {limit}");
        }
    }

    #[test]
    fn pieces_of_a_file_of_many_windows_read_back_in_any_order() {
        let mut spool = Spool::new(0);
        let piece = |n: usize| format!("{n};").repeat(1 + n % 700);
        let segments: Vec<_> = (0..3000).map(|n| spool.append(piece(n).as_bytes()).expect("appending")).collect();
        let long = "x".repeat(3 * WINDOW);
        let long_one = spool.append(long.as_bytes()).expect("appending");
        assert!(spool.filed > 4 * WINDOW as u64);
        // Neighbours swapped, jumps to and fro, and from the end to the start.
        let order = (0..3000).map(|n| n ^ 1).chain([2999, 0, 1500, 2, 2998]).chain((0..3000).rev());
        let (mut all, mut expected) = (Vec::new(), String::new());
        for n in order.clone() {
            expected.push_str(&piece(n));
        }
        expected.push_str(&long);
        let segments = order.map(|n| segments[n]).chain([long_one]);
        spool.copy_all(segments, &mut all).expect("copying");
        assert!(all == expected.as_bytes());
    }

    #[test]
    fn a_piece_that_was_never_appended_is_an_error() {
        let mut spool = Spool::new(10);
        spool.append(b"abc").expect("appending");
        assert!(spool.copy(Segment { offset: 1, length: 9 }, &mut Vec::new()).is_err());
    }
}
