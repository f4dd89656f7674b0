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
        let segment = Segment { offset: self.length(), length: piece.len() as u64 };
        self.tail.extend_from_slice(piece);
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
        let filed_end = segment.end().min(self.filed);
        if segment.offset < filed_end {
            let file = self.file.as_mut().ok_or(io::ErrorKind::UnexpectedEof)?;
            file.seek(SeekFrom::Start(segment.offset))?;
            let mut wanted = (filed_end - segment.offset) as usize;
            // Into memory of our own: what is at hand where anything may be written to is small.
            let mut buffer = vec![0; wanted.min(GATHER)];
            while wanted > 0 {
                let part = &mut buffer[..wanted.min(GATHER)];
                file.read_exact(part)?;
                out.write_all(part)?;
                wanted -= part.len();
            }
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
        let mut run = Segment::default();
        for piece in pieces {
            if run.end() == piece.offset {
                run.length += piece.length;
            } else {
                self.copy(run, out)?;
                run = piece;
            }
        }
        self.copy(run, out)
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
    fn a_piece_that_was_never_appended_is_an_error() {
        let mut spool = Spool::new(10);
        spool.append(b"abc").expect("appending");
        assert!(spool.copy(Segment { offset: 1, length: 9 }, &mut Vec::new()).is_err());
    }
}
