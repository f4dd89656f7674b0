//! One JSON document taken apart while it is read: the messages of its list, and the fields beside them.
//!
//! Old sessions are one document of any size, which may be cut. What stands before the cut is handed out all the same,
//! and memory holds one message at a time.

use std::io::{self, BufRead};

use toolpath_plugin_api::Origin;
use toolpath_plugin_api::kit::lines::{KEPT, LONGEST};

/// Keys whose list holds messages.
const LISTS: [&[u8]; 2] = [br#""messages""#, br#""history""#];

/// What a piece of the document is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An element of the list of messages.
    Message,
    /// The value of a field beside the list, whose key stands here as JSON.
    Field(Vec<u8>),
    /// What stands where nothing should: before, between or after.
    Stray,
}

/// One piece of the document; its bytes are in the scanner's buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) what: What,
    pub(crate) origin: Origin,
    /// The file ends inside it.
    pub(crate) is_cut: bool,
}

/// Takes a document apart.
pub(crate) struct Scanner<R> {
    input: R,
    offset: u64,
    line: u64,
    state: State,
    /// The document is a bare list.
    is_bare: bool,
    /// The bytes of the last item.
    pub(crate) buffer: Vec<u8>,
    length: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Before,
    Fields,
    /// A key was read; a value is to come.
    Value(Vec<u8>),
    List,
    After,
}

impl<R: BufRead> Scanner<R> {
    /// Takes the document in `input` apart.
    pub(crate) fn new(input: R) -> Self {
        Self { input, offset: 0, line: 1, state: State::Before, is_bare: false, buffer: Vec::new(), length: 0 }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.first().copied()),
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
    }

    fn pass(&mut self, byte: u8) {
        self.input.consume(1);
        self.offset += 1;
        self.line += u64::from(byte == b'\n');
    }

    fn keep(&mut self, byte: u8) {
        self.pass(byte);
        self.length += 1;
        if self.buffer.len() < LONGEST {
            self.buffer.push(byte);
        }
    }

    /// The next piece, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Item>> {
        while let Some(byte) = self.peek()? {
            let is_mark = self.offset < 3 && matches!(byte, 0xef | 0xbb | 0xbf);
            if byte.is_ascii_whitespace() || byte == 0 || is_mark {
                self.pass(byte);
                continue;
            }
            match (self.state.clone(), byte) {
                (State::Before, b'{') => self.go(byte, State::Fields),
                (State::Before, b'[') => {
                    self.is_bare = true;
                    self.go(byte, State::List);
                }
                (State::Fields, b',' | b':') | (State::List, b',') | (State::Value(_), b':') => self.pass(byte),
                (State::Fields | State::Value(_), b'}') => self.go(byte, State::After),
                (State::List, b']') => self.go(byte, if self.is_bare { State::After } else { State::Fields }),
                (State::Fields, b'"') => {
                    let item = self.value(What::Stray)?;
                    if item.is_cut {
                        return Ok(Some(item));
                    }
                    self.state = State::Value(self.buffer.clone());
                }
                (State::Value(key), b'[') if LISTS.contains(&&*key) => self.go(byte, State::List),
                (State::Value(key), _) => {
                    self.state = State::Fields;
                    return self.value(What::Field(key)).map(Some);
                }
                (State::List, _) => return self.value(What::Message).map(Some),
                (State::Before | State::After, _) => return self.rest().map(Some),
                (State::Fields, _) => return self.value(What::Stray).map(Some),
            }
        }
        if matches!(self.state, State::Fields | State::Value(_) | State::List) {
            // The end of the document is missing, with nothing half-read before it.
            self.state = State::After;
            (self.length, self.buffer) = (0, Vec::new());
            let origin = Origin { file: 0, line: self.line, offset: self.offset, length: 0 };
            return Ok(Some(Item { what: What::Stray, origin, is_cut: true }));
        }
        Ok(None)
    }

    fn go(&mut self, byte: u8, state: State) {
        self.pass(byte);
        self.state = state;
    }

    fn start(&mut self) -> Origin {
        self.buffer.clear();
        self.length = 0;
        Origin { file: 0, line: self.line, offset: self.offset, length: 0 }
    }

    /// Reads one value: to its closing bracket or quote, or for a bare word to what must follow it.
    fn value(&mut self, what: What) -> io::Result<Item> {
        let origin = self.start();
        let (mut depth, mut in_string, mut is_escaped) = (0u64, false, false);
        let mut is_cut = true;
        while let Some(byte) = self.peek()? {
            if depth == 0 && !in_string && self.length > 0 && matches!(byte, b',' | b':' | b']' | b'}') {
                is_cut = false;
                break;
            }
            self.keep(byte);
            if in_string {
                match byte {
                    _ if is_escaped => is_escaped = false,
                    b'\\' => is_escaped = true,
                    b'"' => in_string = false,
                    _ => {}
                }
            } else {
                match byte {
                    b'"' => in_string = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => continue,
                }
            }
            if depth == 0 && !in_string && matches!(byte, b'"' | b'}' | b']') {
                is_cut = false;
                break;
            }
        }
        if is_cut {
            self.state = State::After;
        }
        Ok(self.item(what, origin, is_cut))
    }

    /// Everything to the end of the file.
    fn rest(&mut self) -> io::Result<Item> {
        let origin = self.start();
        while let Some(byte) = self.peek()? {
            self.keep(byte);
        }
        Ok(self.item(What::Stray, origin, false))
    }

    fn item(&mut self, what: What, origin: Origin, is_cut: bool) -> Item {
        if self.length > self.buffer.len() as u64 {
            self.buffer.truncate(KEPT);
        }
        Item { what, origin: Origin { length: self.length, ..origin }, is_cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &[&str]) {
        let mut scanner = Scanner::new(json.as_bytes());
        let mut seen = Vec::new();
        while let Some(item) = scanner.next().expect("reading from memory") {
            let what = match &item.what {
                What::Message => "message".to_owned(),
                What::Field(key) => String::from_utf8_lossy(key).into_owned(),
                What::Stray => "stray".to_owned(),
            };
            let cut = if item.is_cut { " cut" } else { "" };
            seen.push(format!("{what}@{}{cut} {}", item.origin.line, String::from_utf8_lossy(&scanner.buffer)));
        }
        assert_eq!(seen, expected, "{json}");
    }

    #[test]
    fn messages_and_the_fields_beside_them_are_handed_out_in_order() {
        check(
            "{\"a\": \"x\",\n\"messages\": [\n{\"id\":\"1]\"},\n {\"id\":[2]}\n],\n\"n\":{\"messages\":[7]},\"t\":12}\n",
            &[
                "\"a\"@1 \"x\"",
                "message@3 {\"id\":\"1]\"}",
                "message@4 {\"id\":[2]}",
                "\"n\"@6 {\"messages\":[7]}",
                "\"t\"@6 12",
            ],
        );
        check("[{\"a\":1},{}]", &["message@1 {\"a\":1}", "message@1 {}"]);
    }

    #[test]
    fn what_stands_before_a_cut_is_handed_out() {
        check(r#"{"messages":[{"a":1},{"b":"}"#, &[r#"message@1 {"a":1}"#, r#"message@1 cut {"b":"}"#]);
        check(r#"{"messages":[{"a":1},"#, &[r#"message@1 {"a":1}"#, "stray@1 cut "]);
        check(r#"{"mess"#, &[r#"stray@1 cut "mess"#]);
        check("{", &["stray@1 cut "]);
        check("", &[]);
    }

    #[test]
    fn what_stands_outside_is_stray() {
        check("{} x", &["stray@1 x"]);
        check("{7,\"a\":1}", &["stray@1 7", "\"a\"@1 1"]);
        check("nothing", &["stray@1 nothing"]);
    }
}
