//! A place for bytes that are written once and read later: memory first, then unnamed temporary files.

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
/// Up to `limit` bytes stay in memory. From then on everything lies in files that have no names, so that nothing is
/// left behind however the process ends, and `tail` gathers what is not written yet. There are several, so that those whose
/// pieces have been read for the last time can go while others are still read: the end of a long file takes its time.
#[derive(Debug)]
pub struct Spool {
    limit: usize,
    stride: u64,
    files: Vec<Part>,
    filed: u64,
    tail: Vec<u8>,
}

/// A file, and where its first byte stands among all bytes.
#[derive(Debug)]
struct Part {
    /// `None` when it is gone.
    file: Option<File>,
    start: u64,
}

/// Bytes gathered before they are written to the file.
const GATHER: usize = 256 * 1024;
/// Bytes after which another file is begun. Of many bytes each file holds a larger part, since a process may not have
/// many files.
const STRIDE: u64 = 8 * 1024 * 1024;
const SHARE: u64 = 16;

impl Spool {
    /// An empty spool that keeps up to `limit` bytes in memory.
    pub fn new(limit: usize) -> Self {
        Self { limit, stride: STRIDE, files: Vec::new(), filed: 0, tail: Vec::new() }
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
        let most = if self.files.is_empty() { self.limit } else { GATHER.min(self.limit.max(1)) };
        if self.tail.len() > most {
            self.file_tail()?;
        }
        Ok(segment)
    }

    fn file_tail(&mut self) -> io::Result<()> {
        let most = self.stride.max(self.filed / SHARE);
        let is_full = |last: &Part| self.filed - last.start >= most;
        if self.files.last().is_none_or(is_full) {
            self.files.push(Part { file: Some(tempfile::tempfile()?), start: self.filed });
        }
        let last = self.files.last_mut().ok_or(io::ErrorKind::NotFound)?;
        let file = last.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(self.filed - last.start))?;
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
            let nth = self.file_at(offset);
            let end = self.files.get(nth + 1).map_or(self.filed, |next| next.start);
            let part = self.files.get_mut(nth).ok_or(io::ErrorKind::UnexpectedEof)?;
            let wanted = (filed_end.min(end) - offset).min(WINDOW as u64) as usize;
            let shown = window.show(part, offset, wanted, end)?;
            out.write_all(shown)?;
            offset += shown.len() as u64;
        }
        if segment.end() > self.filed {
            let from = segment.offset.max(self.filed) - self.filed;
            let to = segment.end() - self.filed;
            let piece = self.tail.get(from as usize..to as usize).ok_or(io::ErrorKind::UnexpectedEof)?;
            out.write_all(piece)?;
        }
        Ok(())
    }

    /// Index of the file that holds the byte at `offset`.
    fn file_at(&self, offset: u64) -> usize {
        self.files.partition_point(|part| part.start <= offset).saturating_sub(1)
    }

    /// Copies pieces to `out` in the order given; neighbours that lie side by side go in one go.
    pub fn copy_all(&mut self, pieces: impl IntoIterator<Item = Segment>, out: &mut dyn Write) -> io::Result<()> {
        self.copy_until(pieces, out, |_, _| {})
    }

    /// As [`copy_all`](Self::copy_all), of pieces that nobody asks for again, nor for others.
    pub fn copy_last(
        &mut self,
        pieces: impl IntoIterator<Item = Segment> + Clone,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        // How far the copying is when a file is needed no more.
        let mut last_use = vec![0; self.files.len()];
        let mut copied = 0;
        for piece in pieces.clone() {
            copied += piece.length;
            let to = self.file_at(piece.end().saturating_sub(1));
            for nth in self.file_at(piece.offset)..=to {
                if let Some(last_use) = last_use.get_mut(nth) {
                    *last_use = copied;
                }
            }
        }
        let mut leaving = Vec::new();
        let done = self.copy_until(pieces, out, |spool, copied| {
            for (part, _) in spool.files.iter_mut().zip(&last_use).filter(|(_, last_use)| **last_use <= copied) {
                if let Some(file) = part.file.take() {
                    // Where there is no other thread, it is closed here.
                    leaving.extend(std::thread::Builder::new().spawn(move || drop(file)));
                }
            }
        });
        for thread in leaving {
            // It has nothing to tell.
            let _ = thread.join();
        }
        done
    }

    /// Copies pieces, and says after each run of them how many bytes have been copied.
    fn copy_until(
        &mut self,
        pieces: impl IntoIterator<Item = Segment>,
        out: &mut dyn Write,
        mut copied: impl FnMut(&mut Self, u64),
    ) -> io::Result<()> {
        let (mut run, mut window) = (Segment::default(), Window { is_wide: true, ..Window::default() });
        let mut bytes = 0;
        for piece in pieces {
            if run.end() == piece.offset && run.length < STRIDE {
                run.length += piece.length;
            } else {
                self.copy_through(run, &mut window, out)?;
                bytes += run.length;
                copied(self, bytes);
                run = piece;
            }
        }
        self.copy_through(run, &mut window, out)?;
        copied(self, bytes + run.length);
        Ok(())
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
    fn show(&mut self, part: &mut Part, offset: u64, wanted: usize, end: u64) -> io::Result<&[u8]> {
        let is_here = |at: u64| at.checked_sub(self.offset).is_some_and(|within| within < self.bytes.len() as u64);
        if !is_here(offset) || !is_here(offset + wanted as u64 - 1) {
            // What fills a window by itself needs nothing before it.
            let is_wide = self.is_wide && wanted < WINDOW / 2;
            let start = if is_wide { offset.saturating_sub(BEHIND).max(part.start) } else { offset };
            let length = if is_wide { (WINDOW as u64).min(end - start) as usize } else { wanted };
            self.bytes.resize(length, 0);
            self.offset = start;
            let file = part.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
            file.seek(SeekFrom::Start(start - part.start))?;
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
        for stride in [1, 300_000, u64::MAX] {
            check_many_windows(Spool { stride, ..Spool::new(0) });
        }
    }

    #[track_caller]
    fn check_many_windows(mut spool: Spool) {
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
        spool.copy_all(segments.clone(), &mut all).expect("copying");
        assert!(all == expected.as_bytes());
        let files = spool.files.len();
        assert!(spool.files.iter().all(|part| part.file.is_some()) && (files == 1) == (spool.stride == u64::MAX));
        // The same for the last time.
        let mut last = Vec::new();
        spool.copy_last(segments.clone(), &mut last).expect("copying");
        assert!(last == expected.as_bytes());
        assert!(spool.files.len() == files && spool.files.iter().all(|part| part.file.is_none()));
        assert!(spool.copy_all(segments, &mut Vec::new()).is_err());
    }

    #[test]
    fn a_file_goes_when_its_last_piece_has_been_read_and_not_before() {
        let mut spool = Spool { stride: 1, ..Spool::new(0) };
        let segments: Vec<_> =
            (0..8).map(|n| spool.append(n.to_string().repeat(WINDOW).as_bytes()).expect("appending")).collect();
        assert_eq!(spool.files.len(), 8);
        let mut all = Vec::new();
        let order = [0, 1, 0, 2, 3, 4, 5, 6, 7, 1].map(|n: usize| segments[n]);
        spool.copy_last(order, &mut all).expect("copying");
        assert!(all.chunks(WINDOW).map(|part| part[0]).eq(*b"0102345671") && all.len() == 10 * WINDOW);
        // A second piece of a file that is gone is an error and nothing else.
        assert!(spool.copy(segments[0], &mut Vec::new()).is_err());
    }

    #[test]
    fn many_bytes_do_not_take_many_files() {
        let mut spool = Spool { stride: 1000, ..Spool::new(0) };
        for _ in 0..200_000 {
            spool.append(&[b'x'; 100]).expect("appending");
        }
        assert!((20..200).contains(&spool.files.len()), "{}", spool.files.len());
    }

    #[test]
    fn a_piece_that_was_never_appended_is_an_error() {
        let mut spool = Spool::new(10);
        spool.append(b"abc").expect("appending");
        assert!(spool.copy(Segment { offset: 1, length: 9 }, &mut Vec::new()).is_err());
    }
}
