//! What stands between the file and the parser, which refuses two things that writers of JSON do.
//!
//! A byte order mark is passed over. Each escape of half a surrogate pair (`\ud83d` alone, where a text was cut by UTF-16
//! units) becomes `\ufffd`, which is as long: lines and columns stay what they are. Escapes stand in strings
//! only, so strings need not be followed.

use std::cell::Cell;
use std::io::{self, Read};

const CHUNK: usize = 64 * 1024;
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Length of an escape of one UTF-16 unit.
const ESCAPE: usize = 6;

/// What was found on the way, for whoever gave the reader away.
#[derive(Default)]
pub(crate) struct Found {
    /// Halves of pairs that were replaced.
    pub(crate) halves: Cell<u64>,
    /// Why the file could not be read on.
    pub(crate) failed: Cell<Option<io::Error>>,
}

/// Reads what `input` holds, mended.
pub(crate) struct Mended<'f, R> {
    input: R,
    buffer: Vec<u8>,
    /// The bytes from `start` to `mended` are ready; those after it wait for what follows them.
    start: usize,
    mended: usize,
    at_end: bool,
    is_begun: bool,
    found: &'f Found,
}

impl<'f, R: Read> Mended<'f, R> {
    pub(crate) fn new(input: R, found: &'f Found) -> Self {
        Self { input, buffer: Vec::new(), start: 0, mended: 0, at_end: false, is_begun: false, found }
    }

    /// Reads on until something is ready or the input ends.
    fn fill(&mut self) -> io::Result<()> {
        while self.start == self.mended && !self.at_end {
            self.buffer.drain(..self.start);
            (self.start, self.mended) = (0, 0);
            let read = self.input.by_ref().take(CHUNK as u64).read_to_end(&mut self.buffer)?;
            self.at_end = read == 0;
            if !self.is_begun && (self.buffer.len() >= MARK.len() || self.at_end) {
                self.is_begun = true;
                if self.buffer.starts_with(MARK) {
                    self.buffer.drain(..MARK.len());
                }
            }
            if self.is_begun {
                self.mend();
            }
        }
        Ok(())
    }

    /// Mends what has arrived, up to an escape that may go on beyond it.
    fn mend(&mut self) {
        let Self { buffer, mended, .. } = self;
        while let Some(found) = memchr::memchr(b'\\', &buffer[*mended..]) {
            *mended += found;
            let rest = &buffer[*mended..];
            let needed = match unit(rest) {
                Some(0xd800..0xdc00) => 2 * ESCAPE,
                None if rest.get(1).is_some_and(|&sign| sign != b'u') => 2,
                _ => ESCAPE,
            };
            if rest.len() < needed && !self.at_end {
                return;
            }
            let (length, is_half) = match unit(rest) {
                Some(0xd800..0xdc00) if matches!(unit(&rest[ESCAPE..]), Some(0xdc00..0xe000)) => (2 * ESCAPE, false),
                Some(0xd800..0xe000) => (ESCAPE, true),
                Some(_) => (ESCAPE, false),
                None => (2, false),
            };
            if is_half {
                buffer[*mended..*mended + ESCAPE].copy_from_slice(b"\\ufffd");
                self.found.halves.set(self.found.halves.get() + 1);
            }
            *mended = buffer.len().min(*mended + length);
        }
        *mended = buffer.len();
    }
}

/// The UTF-16 unit that `bytes` begin with, when they begin with an escape of one.
fn unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.get(..ESCAPE)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}

impl<R: Read> Read for Mended<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if let Err(err) = self.fill() {
            self.found.failed.set(Some(io::Error::new(err.kind(), err.to_string())));
            return Err(err);
        }
        let ready = &self.buffer[self.start..self.mended];
        let count = ready.len().min(out.len());
        out[..count].copy_from_slice(&ready[..count]);
        self.start += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use toolpath_plugin_api::kit::json::mend_surrogates;

    use super::*;

    /// Hands out one byte at a time.
    struct Dribble<'a>(&'a [u8]);

    impl Read for Dribble<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(1).min(out.len());
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[track_caller]
    fn mended(input: impl Read) -> (String, u64) {
        let found = Found::default();
        let mut text = String::new();
        Mended::new(input, &found).read_to_string(&mut text).expect("reading from memory");
        (text, found.halves.get())
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_wherever_the_input_is_cut() {
        for json in [
            r#""plain""#,
            r#""\ud83d\ude00""#,
            r#""\\ud83d""#,
            r#""\ud83d""#,
            r#""a\ude00b\n""#,
            r#""\ud83d\ud83d\ude00\ud83d""#,
            r#""\\\ud83d x""#,
            r#"{"cut":"\ud8"#,
            r#"{"cut":"\ud83d"#,
            r#"{"cut":"\ud83d\ude"#,
            "\\",
            "",
        ] {
            let kits = mend_surrogates(json);
            let expected = kits.as_deref().unwrap_or(json);
            assert_eq!(mended(json.as_bytes()).0, expected, "{json}");
            assert_eq!(mended(Dribble(json.as_bytes())).0, expected, "{json}");
            // Enough before it that the chunk ends within the escape.
            for before in CHUNK - 15..=CHUNK {
                let pad = " ".repeat(before);
                assert_eq!(mended(format!("{pad}{json}").as_bytes()).0, format!("{pad}{expected}"), "{json}");
            }
        }
    }

    #[test]
    fn halves_are_counted_and_keep_their_length() {
        assert_eq!(
            mended(&br#"["\ud83d\ud83d\ude00","\udbff"]"#[..]),
            (r#"["\ufffd\ud83d\ude00","\ufffd"]"#.to_owned(), 2)
        );
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_at_the_start_only() {
        assert_eq!(mended(&b"\xef\xbb\xbf{}\xef\xbb\xbf"[..]).0, "{}\u{feff}");
        assert_eq!(mended(Dribble(b"\xef\xbb\xbf{}")).0, "{}");
        assert_eq!(mended(&b"\xef\xbb\xbf"[..]).0, "");
    }
}
