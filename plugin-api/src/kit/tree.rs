//! One JSON text, looked at once: where each of its values stands.
//!
//! A shape within a shape within a record would be searched for again at each level, and what it holds passed over each
//! time. A tree is made in one pass, and from then on a value is found without a look at those beside it. It is for the
//! plain case: what it takes, a strict parser takes as well. What is unusual (control characters, escapes in keys or
//! of surrogates, too many values) or no JSON at all is left to that parser.

use crate::kit::field::Field;
use crate::kit::marks::Marks;

/// Values that a tree may hold, keys included: 4 MiB of places.
const MOST: usize = 1 << 18;

/// Where the values of texts stand, in memory that is used again from text to text.
#[derive(Debug, Default)]
pub struct Places {
    places: Vec<Place>,
    /// Objects and lists that are open.
    open: Vec<u32>,
}

/// One JSON object, and where its values stand.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    text: &'a str,
    places: &'a [Place],
}

/// Where one value, or a key, stands.
#[derive(Clone, Copy, Debug)]
struct Place {
    kind: Kind,
    start: u32,
    end: u32,
    /// The place behind it and what it holds.
    next: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Object,
    List,
    /// A string without escapes.
    Plain,
    /// A string with escapes.
    Escaped,
    Number,
    Literal,
    Null,
}

impl Places {
    /// Finds the values of `text`; `None` when it is not plainly one JSON object.
    pub fn of<'a>(&'a mut self, text: &'a str) -> Option<Tree<'a>> {
        self.places.clear();
        self.open.clear();
        let bytes = text.as_bytes();
        let marks = Marks::of(bytes);
        let search = Search { bytes, marks, at: 0, places: &mut self.places, open: &mut self.open };
        if u32::try_from(text.len()).is_err() || !text.starts_with('{') || search.run().is_none() {
            return None;
        }
        Some(Tree { text, places: &self.places })
    }

    /// The same of bytes, which are none either when they are no UTF-8.
    pub fn of_bytes<'a>(&'a mut self, bytes: &'a [u8]) -> Option<Tree<'a>> {
        self.of(simdutf8::basic::from_utf8(bytes).ok()?)
    }
}

impl<'a> Tree<'a> {
    /// The text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The whole object.
    pub fn root(&'a self) -> Field<'a> {
        Field::at(self, 0)
    }

    pub(crate) fn json(&self, at: u32) -> &'a str {
        let place = self.place(at);
        &self.text[place.start as usize..place.end as usize]
    }

    /// The text of a string that stands there as it is.
    pub(crate) fn plain(&self, at: u32) -> Option<&'a str> {
        let place = self.place(at);
        (place.kind == Kind::Plain).then(|| &self.text[place.start as usize + 1..place.end as usize - 1])
    }

    /// The values of the list there.
    pub(crate) fn values(&self, at: u32) -> impl Iterator<Item = u32> {
        let (mut value, end) = (at + 1, self.place(at).next);
        std::iter::from_fn(move || {
            let found = (value < end).then_some(value)?;
            value = self.place(found).next;
            Some(found)
        })
    }

    /// The keys and values of the object there.
    pub(crate) fn entries(&self, at: u32) -> impl Iterator<Item = (&'a str, u32)> {
        let (mut key, end) = (at + 1, self.place(at).next);
        std::iter::from_fn(move || {
            let found = (key < end).then_some(key)?;
            key = self.place(found + 1).next;
            Some((self.plain(found)?, found + 1))
        })
    }

    pub(crate) fn is_null(&self, at: u32) -> bool {
        self.place(at).kind == Kind::Null
    }

    fn place(&self, at: u32) -> Place {
        self.places[at as usize]
    }
}

/// What a search is about to find.
enum Next {
    Value,
    /// A value, or the end of a list that holds none.
    ValueOrEnd,
    Key,
    /// A key, or the end of an object that holds none.
    KeyOrEnd,
    /// What follows a value.
    Follow,
}

struct Search<'s> {
    bytes: &'s [u8],
    marks: Marks<'s>,
    at: usize,
    places: &'s mut Vec<Place>,
    open: &'s mut Vec<u32>,
}

impl Search<'_> {
    fn run(mut self) -> Option<()> {
        let mut next = Next::Value;
        loop {
            self.pass_space();
            next = match (next, self.peek()) {
                (Next::ValueOrEnd, Some(b']')) | (Next::KeyOrEnd, Some(b'}')) => self.close()?,
                (Next::Value | Next::ValueOrEnd, Some(byte)) => self.value(byte)?,
                (Next::Key | Next::KeyOrEnd, Some(b'"')) => {
                    if self.string()? != Kind::Plain {
                        return None;
                    }
                    self.pass_space();
                    self.pass(b':')?;
                    Next::Value
                }
                (Next::Follow, Some(byte)) => self.follow(byte)?,
                (Next::Follow, None) if self.open.is_empty() => return Some(()),
                _ => return None,
            };
        }
    }

    fn value(&mut self, byte: u8) -> Option<Next> {
        match byte {
            b'{' => {
                self.open(Kind::Object)?;
                return Some(Next::KeyOrEnd);
            }
            b'[' => {
                self.open(Kind::List)?;
                return Some(Next::ValueOrEnd);
            }
            b'"' => {
                self.string()?;
            }
            b't' => self.literal(b"true", Kind::Literal)?,
            b'f' => self.literal(b"false", Kind::Literal)?,
            b'n' => self.literal(b"null", Kind::Null)?,
            _ => self.number()?,
        }
        Some(Next::Follow)
    }

    fn follow(&mut self, byte: u8) -> Option<Next> {
        let container = self.places[*self.open.last()? as usize].kind;
        match (container, byte) {
            (Kind::Object, b',') => {
                self.at += 1;
                Some(Next::Key)
            }
            (Kind::List, b',') => {
                self.at += 1;
                Some(Next::Value)
            }
            (Kind::Object, b'}') | (Kind::List, b']') => self.close(),
            _ => None,
        }
    }

    fn open(&mut self, kind: Kind) -> Option<()> {
        self.open.push(self.places.len() as u32);
        self.keep(kind, self.at)?;
        self.at += 1;
        Some(())
    }

    fn close(&mut self) -> Option<Next> {
        self.at += 1;
        let next = self.places.len() as u32;
        let place = &mut self.places[self.open.pop()? as usize];
        (place.end, place.next) = (self.at as u32, next);
        Some(Next::Follow)
    }

    /// Keeps the place of a value from `start` to here.
    fn keep(&mut self, kind: Kind, start: usize) -> Option<()> {
        let next = self.places.len() as u32 + 1;
        self.places.push(Place { kind, start: start as u32, end: self.at as u32, next });
        (self.places.len() <= MOST).then_some(())
    }

    fn string(&mut self) -> Option<Kind> {
        let start = self.at;
        let (end, has_escapes) = self.marks.string_end(start + 1)?;
        let kind = if has_escapes { Kind::Escaped } else { Kind::Plain };
        self.at = end + 1;
        self.keep(kind, start)?;
        Some(kind)
    }

    fn literal(&mut self, word: &[u8], kind: Kind) -> Option<()> {
        let start = self.at;
        self.bytes[self.at..].starts_with(word).then_some(())?;
        self.at += word.len();
        self.keep(kind, start)
    }

    fn number(&mut self) -> Option<()> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek()? {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits()?,
            _ => return None,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        self.keep(Kind::Number, start)
    }

    /// Passes over at least one digit.
    fn digits(&mut self) -> Option<()> {
        let count = self.bytes[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        (count > 0).then_some(())
    }

    fn pass(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then_some(())?;
        self.at += 1;
        Some(())
    }

    fn pass_space(&mut self) {
        // Other white space is left to the parser.
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value below `field`, written out in a way that shows how it was taken apart.
    fn shown(field: Field<'_>) -> String {
        if let Some(list) = field.list() {
            let values: Vec<_> = list.into_iter().map(shown).collect();
            return format!("[{}]", values.join(","));
        }
        if let Some(entries) = field.entries() {
            let entries: Vec<_> = entries.into_iter().map(|(key, value)| format!("{key:?}:{}", shown(value))).collect();
            return format!("{{{}}}", entries.join(","));
        }
        match field.text() {
            Some(text) => format!("{text:?}"),
            None => field.json().unwrap_or("-").to_owned(),
        }
    }

    fn by_tree(json: &str) -> Option<String> {
        let mut places = Places::default();
        let tree = places.of_bytes(json.as_bytes())?;
        assert_eq!(tree.text(), json);
        Some(shown(tree.root()))
    }

    #[test]
    fn bytes_that_are_no_text_are_left_to_the_parser() {
        let mut places = Places::default();
        for bytes in [&b"{\"a\":\"\xff\"}"[..], b"{\"a\":\"\xc3\"}", b"{\"a\":1}\xa0"] {
            assert!(places.of_bytes(bytes).is_none());
        }
    }

    fn by_parser(json: &str) -> Option<String> {
        Some(shown(Field::of(serde_json::from_str(json).ok()?)))
    }

    const PLAIN: &[&str] = &[
        "{}",
        r#"{"a":[],"b":{},"c":[[],{}]}"#,
        r#"{"a":1,"b":-0.5e+7,"c":0,"d":1E9,"e":true,"f":false,"g":null,"h":"text"}"#,
        r#"{ "a" : [ 1 , "two\n\"three\"\\" , { "b" : null } ] , "é" : "größe \u00e9\/" } "#,
        r#"{"a":1,"a":2}"#,
    ];

    #[test]
    fn a_tree_holds_what_a_parser_finds() {
        for json in PLAIN {
            assert!(by_parser(json).is_some(), "{json}");
            assert_eq!(by_tree(json), by_parser(json), "{json}");
        }
    }

    #[test]
    fn what_is_not_plainly_an_object_is_left_to_the_parser() {
        for json in [
            "",
            "7",
            "[1]",
            "{} x",
            "{}{}",
            r#"{"a":1,}"#,
            r#"{"a":[1,]}"#,
            r#"{"a" 1}"#,
            r#"{"a":01}"#,
            r#"{"a":1.}"#,
            r#"{"a":.5}"#,
            r#"{"a":-}"#,
            r#"{"a":1e}"#,
            r#"{"a":+1}"#,
            r#"{"a":tru}"#,
            r#"{"a":nul"#,
            r#"{"a":"x"#,
            r#"{"a":"\x"}"#,
            r#"{"a":"\u00g0"}"#,
            r#"{"a":"\ud83d"}"#,
            r#"{"a":"\uD83D\uDE00"}"#,
            r#"{"a\n":1}"#,
            r#"{a:1}"#,
            "{\"a\":\"\t\"}",
            "{\n}",
            r#"{"a":[}"#,
            r#"{"a":{]}"#,
            r#"{"a":"#,
            r#"{"#,
            r#"{"a":1]"#,
        ] {
            assert_eq!(by_tree(json), None, "{json}");
        }
    }

    #[test]
    fn a_tree_takes_no_text_that_a_parser_refuses() {
        // Every cut, and every byte put in the place of every other.
        for json in PLAIN {
            for at in (0..=json.len()).filter(|&at| json.is_char_boundary(at)) {
                let cut = &json[..at];
                assert!(by_tree(cut).is_none() || by_tree(cut) == by_parser(cut), "{cut}");
            }
            for at in 0..json.len() {
                for byte in (0..128).map(char::from) {
                    let mut bytes = json.as_bytes().to_vec();
                    bytes[at] = byte as u8;
                    let Ok(changed) = String::from_utf8(bytes) else { continue };
                    assert!(by_tree(&changed).is_none() || by_tree(&changed) == by_parser(&changed), "{changed}");
                }
            }
        }
    }

    #[test]
    fn a_text_of_too_many_values_is_left_to_the_parser() {
        let json = |values: usize| format!(r#"{{"a":[{}]}}"#, vec!["0"; values].join(","));
        let mut places = Places::default();
        assert!(places.of(&json(MOST - 3)).is_some());
        assert!(places.of(&json(MOST - 2)).is_none());
        assert!(places.of(&json(1)).is_some());
    }

    #[test]
    fn nesting_is_no_hindrance() {
        let json = format!(r#"{{"a":{}7{},"b":"u"}}"#, "[".repeat(50_000), "]".repeat(50_000));
        let mut places = Places::default();
        let tree = places.of(&json).expect("a tree");
        let entries = tree.root().entries().expect("entries");
        assert_eq!(entries[1].1.text().as_deref(), Some("u"));
    }
}
