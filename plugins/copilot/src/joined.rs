//! Records with raw newlines in their texts, which lie on several lines.
//!
//! A line that ends inside a record is held until the lines after it complete it, or show that it was cut: a line that is
//! a whole record by itself belongs to no text.

use toolpath_plugin_api::Origin;

/// Lines and bytes that a record may lie on; what is longer is no record.
const MOST_LINES: u32 = 20_000;
const LONGEST: usize = 64 * 1024 * 1024;

/// The lines of a record so far.
#[derive(Debug)]
pub(crate) struct Held {
    /// As they stand in the file.
    pub(crate) raw: String,
    /// Where the first of them stands, and how long they are together.
    pub(crate) origin: Origin,
    /// What precedes it on its first line.
    pub(crate) nth: usize,
    lines: u32,
    scan: Scan,
    /// Newlines of `raw` that stand in a text.
    in_texts: Vec<usize>,
}

/// What the lines so far are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The record goes on.
    Open,
    /// Its brackets are closed.
    Closed,
    /// More than a record can be.
    TooLong,
}

impl Held {
    /// Holds `text`, the end of a line, which is cut inside a record.
    pub(crate) fn new(text: &str, nth: usize, origin: Origin) -> Self {
        let mut scan = Scan::default();
        scan.feed(text);
        Self { raw: text.to_owned(), origin, nth, lines: 1, scan, in_texts: Vec::new() }
    }

    /// Takes in the next line, which ends at offset `end` of the file.
    pub(crate) fn add(&mut self, line: &str, end: u64) -> State {
        if self.scan.in_text {
            self.in_texts.push(self.raw.len());
        }
        self.raw.push('\n');
        self.raw.push_str(line);
        self.origin.length = end.saturating_sub(self.origin.offset);
        self.lines += 1;
        self.scan.is_escaped = false;
        self.scan.feed(line);
        if self.scan.is_closed() {
            State::Closed
        } else if self.lines > MOST_LINES || self.raw.len() > LONGEST {
            State::TooLong
        } else {
            State::Open
        }
    }

    /// Whether there is more than the one line that was cut.
    pub(crate) fn has_several_lines(&self) -> bool {
        self.lines > 1
    }

    /// The record's JSON, with the newlines in its texts as escapes.
    pub(crate) fn json(&self) -> String {
        let mut json = String::with_capacity(self.raw.len() + self.in_texts.len());
        let mut from = 0;
        for &at in &self.in_texts {
            json.push_str(&self.raw[from..at]);
            json.push_str("\\n");
            from = at + 1;
        }
        json.push_str(&self.raw[from..]);
        json
    }
}

/// How far brackets and quotes are open.
#[derive(Clone, Copy, Debug, Default)]
struct Scan {
    depth: u32,
    in_text: bool,
    is_escaped: bool,
}

impl Scan {
    fn feed(&mut self, text: &str) {
        for byte in text.bytes() {
            match (self.in_text, byte) {
                (true, _) if self.is_escaped => self.is_escaped = false,
                (true, b'\\') => self.is_escaped = true,
                (_, b'"') => self.in_text = !self.in_text,
                (false, b'{' | b'[') => self.depth += 1,
                (false, b'}' | b']') => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_closed(self) -> bool {
        self.depth == 0 && !self.in_text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_text_make_a_record() {
        let mut held = Held::new(r#"{"a":"one"#, 0, Origin { line: 3, offset: 10, length: 9, ..Origin::default() });
        assert!(!held.has_several_lines());
        assert_eq!(held.add("", 20), State::Open);
        assert_eq!(held.add(r#"two \" {","#, 31), State::Open);
        assert_eq!(held.add(r#""b":[1]}"#, 40), State::Closed);
        assert_eq!(held.json(), "{\"a\":\"one\\n\\ntwo \\\" {\",\n\"b\":[1]}");
        assert!(serde_json::from_str::<serde_json::Value>(&held.json()).is_ok());
        assert_eq!((held.origin.line, held.origin.offset, held.origin.length), (3, 10, 30));
        assert!(held.has_several_lines());
    }

    #[test]
    fn a_record_that_never_ends_is_given_up() {
        let mut held = Held::new("{\"a\":\"", 0, Origin::default());
        let states: Vec<_> = (0..MOST_LINES).map(|_| held.add("x", 0)).collect();
        assert_eq!(states.last(), Some(&State::TooLong));
        assert!(states[..states.len() - 1].iter().all(|&state| state == State::Open));
    }
}
