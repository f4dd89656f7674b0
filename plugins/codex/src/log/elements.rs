//! The TypeScript CLI's one object, `{"session": {...}, "items": [...]}`, element by element.
//!
//! The file is rewritten whole after each answer and may be long, so it is never held: a machine over its bytes cuts it
//! into the values that stand one level deep, and the elements of `items`.

use std::io::{self, Read};

use toolpath_plugin_api::kit::lines::{KEPT, LONGEST};

const CHUNK: usize = 64 * 1024;

/// Cuts an object into its elements.
pub(super) struct Elements<R> {
    input: R,
    chunk: Vec<u8>,
    at: usize,
    line: u64,
    offset: u64,
    place: Place,
    /// The last key one level deep.
    key: Vec<u8>,
    key_text: String,
    element: Vec<u8>,
    is_over: bool,
}

/// One value of the object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) key: &'a str,
    pub(super) bytes: &'a [u8],
    /// Why it cannot be read.
    pub(super) fault: Option<&'static str>,
    pub(super) line: u64,
    pub(super) offset: u64,
    pub(super) length: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    /// Between keys.
    Object,
    Key {
        escaped: bool,
    },
    /// Between a key and its value.
    Value,
    /// Between the elements of `items`.
    Items,
    End,
}

/// How far a value has come.
#[derive(Default)]
struct Depth {
    open: u64,
    in_text: bool,
    escaped: bool,
}

enum Next {
    Inside,
    /// The value ends with this byte.
    EndsHere,
    /// The value ended before this byte.
    Ended,
}

impl Depth {
    fn take(&mut self, byte: u8) -> Next {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => {
                    self.in_text = false;
                    return if self.open == 0 { Next::EndsHere } else { Next::Inside };
                }
                _ => {}
            }
            return Next::Inside;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.open += 1,
            b'}' | b']' | b',' if self.open == 0 => return Next::Ended,
            b'}' | b']' => {
                self.open -= 1;
                return if self.open == 0 { Next::EndsHere } else { Next::Inside };
            }
            byte if self.open == 0 && byte.is_ascii_whitespace() => return Next::Ended,
            _ => {}
        }
        Next::Inside
    }
}

impl<R: Read> Elements<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            chunk: Vec::new(),
            at: 0,
            line: 1,
            offset: 0,
            place: Place::Start,
            key: Vec::new(),
            key_text: String::new(),
            element: Vec::new(),
            is_over: false,
        }
    }

    /// The next element, or `None` after the last.
    pub(super) fn next(&mut self) -> io::Result<Option<Element<'_>>> {
        while !self.is_over {
            let Some(byte) = self.peek()? else {
                self.is_over = true;
                if self.place == Place::End {
                    return Ok(None);
                }
                self.element.clear();
                return Ok(Some(self.element(Some("the file ends before its object does"), self.line, self.offset, 0)));
            };
            match (self.place, byte) {
                (Place::Key { escaped: true }, _) => self.key_byte(byte, Place::Key { escaped: false }),
                (Place::Key { .. }, b'\\') => self.key_byte(byte, Place::Key { escaped: true }),
                (Place::Key { .. }, b'"') => self.go_to(Place::Value),
                (Place::Key { .. }, _) => self.key_byte(byte, self.place),
                (_, byte) if byte.is_ascii_whitespace() || byte == 0 => self.go_to(self.place),
                // A byte order mark.
                (Place::Start, 0xef | 0xbb | 0xbf) => self.go_to(Place::Start),
                (Place::Start, b'{') => self.go_to(Place::Object),
                (Place::Object | Place::Items, b',') | (Place::Value, b':') => self.go_to(self.place),
                (Place::Object, b'"') => {
                    self.key.clear();
                    self.go_to(Place::Key { escaped: false });
                }
                (Place::Object, b'}') => self.go_to(Place::End),
                (Place::Items, b']') => self.go_to(Place::Object),
                (Place::Value, b'[') if self.key == b"items" => self.go_to(Place::Items),
                (Place::Value | Place::Items, byte) if !matches!(byte, b'}' | b']') => return self.value().map(Some),
                _ => return self.rest().map(Some),
            }
        }
        Ok(None)
    }

    /// The value that begins here.
    fn value(&mut self) -> io::Result<Element<'_>> {
        let (line, offset) = (self.line, self.offset);
        self.element.clear();
        let (mut depth, mut length) = (Depth::default(), 0);
        let mut fault = None;
        loop {
            let Some(byte) = self.peek()? else {
                self.is_over = true;
                fault = Some("the file ends inside a record");
                break;
            };
            let next = depth.take(byte);
            if matches!(next, Next::Ended) {
                break;
            }
            length += 1;
            if self.element.len() < LONGEST {
                self.element.push(byte);
            }
            self.go_to(self.place);
            if matches!(next, Next::EndsHere) {
                break;
            }
        }
        if length > self.element.len() as u64 {
            self.element.truncate(KEPT);
            fault = Some("the record is too long, and only its beginning is kept");
        }
        if self.place == Place::Value {
            self.place = Place::Object;
        }
        Ok(self.element(fault, line, offset, length))
    }

    /// What stands where nothing of the kind can stand, up to the file's end.
    fn rest(&mut self) -> io::Result<Element<'_>> {
        let (line, offset) = (self.line, self.offset);
        self.element.clear();
        while let Some(byte) = self.peek()? {
            if self.element.len() < KEPT {
                self.element.push(byte);
            }
            self.go_to(self.place);
        }
        self.is_over = true;
        let length = self.offset - offset;
        Ok(self.element(Some("stands where the session's object has no room for it"), line, offset, length))
    }

    fn element(&mut self, fault: Option<&'static str>, line: u64, offset: u64, length: u64) -> Element<'_> {
        self.key_text = String::from_utf8_lossy(&self.key).into_owned();
        Element { key: &self.key_text, bytes: &self.element, fault, line, offset, length }
    }

    fn key_byte(&mut self, byte: u8, place: Place) {
        if self.key.len() < KEPT {
            self.key.push(byte);
        }
        self.go_to(place);
    }

    /// Passes over the byte that was looked at.
    fn go_to(&mut self, place: Place) {
        self.line += u64::from(self.chunk[self.at] == b'\n');
        self.at += 1;
        self.offset += 1;
        self.place = place;
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.at == self.chunk.len() {
            self.chunk.resize(CHUNK, 0);
            let read = loop {
                match self.input.read(&mut self.chunk) {
                    Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                    other => break other?,
                }
            };
            self.chunk.truncate(read);
            self.at = 0;
        }
        Ok(self.chunk.get(self.at).copied())
    }
}

#[cfg(test)]
mod tests {
    use crate::log::tests::check;

    #[test]
    fn values_of_all_kinds_end_where_they_end() {
        check(
            br#"{"session":{"a":"}\"]"},"n":-1.5e3,"s":"x,\\","items":[{"t":[1,{"u":2}]},{}],"z":null}"#,
            &[
                r#"1: 1.0@11 Header {"a":"}\"]"}"#,
                r#"2: 1.0@28 Other("n") -1.5e3"#,
                r#"3: 1.0@39 Other("s") "x,\\""#,
                r#"4: 1.0@55 Item {"t":[1,{"u":2}]}"#,
                r#"5: 1.0@73 Item {}"#,
                r#"6: 1.0@81 Other("z") null"#,
            ],
        );
    }

    #[test]
    fn a_cut_object_tells_what_is_whole_and_where_it_was_cut() {
        let object = br#"{"session":{"id":"s"},"items":[{"a":1},{"b":2}]}"#;
        let header = r#"1: 1.0@11 Header {"id":"s"}"#;
        let first = r#"2: 1.0@31 Item {"a":1}"#;
        check(&object[..37], &[header, r#"2: 1.0@31 Line {"a":1 ! the file ends inside a record"#]);
        check(&object[..39], &[header, first, "3: 1.0@39 Line  ! the file ends before its object does"]);
        check(&object[..12], &["1: 1.0@11 Line { ! the file ends inside a record"]);
    }

    #[test]
    fn what_is_no_object_is_unreadable_from_there_on() {
        check(
            br#"{"session":{},"items":[}]} more"#,
            &["1: 1.0@11 Header {}", "2: 1.0@23 Line }]} more ! stands where the session's object has no room for it"],
        );
        check(
            b"{\"session\":{}}\ntail",
            &["1: 1.0@11 Header {}", "2: 2.0@15 Line tail ! stands where the session's object has no room for it"],
        );
        check(br#"{"session":{},"items":[7]}"#, &["1: 1.0@11 Header {}", "2: 1.0@23 Item 7 ! expected an object"]);
    }

    #[test]
    fn an_element_with_a_fault_of_its_own_leaves_the_others() {
        check(
            br#"{"items":[{a},{"b":1}]}"#,
            &["1: 1.0@10 Item {a} ! key must be a string at column 2", "2: 1.0@14 Item {\"b\":1}"],
        );
    }
}
