//! Texts that may cross as the JSON string that a log has of them, so that a long one is neither unescaped nor escaped again.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use toolpath_plugin_api::kit::json::{is_canonical_string, mend_surrogates};

use crate::escape::{self, quoted, raw};

/// A text: as it was told, by itself or as the JSON string that a log has of it, then as that string in canonical form.
#[derive(Clone, Debug)]
pub struct Words<'a>(Spoken<'a>);

#[derive(Clone, Debug)]
enum Spoken<'a> {
    Text(Cow<'a, str>),
    Told(Cow<'a, str>),
    Canonical(Box<RawValue>),
}

impl<'a> Words<'a> {
    /// A text as it is.
    pub fn of(text: impl Into<Cow<'a, str>>) -> Self {
        Self(Spoken::Text(text.into()))
    }

    /// A text as its JSON string, at which nobody has looked; [`read`](Self::read) it.
    pub fn told(json: impl Into<Cow<'a, str>>) -> Self {
        Self(Spoken::Told(json.into()))
    }

    /// Takes on the canonical form. What is no JSON string is the text itself, and the answer says why.
    pub fn read(&mut self) -> Option<String> {
        let (json, reason) = match &self.0 {
            Spoken::Text(text) => (quoted(text), None),
            Spoken::Told(json) => match canonical_string(json) {
                Ok(json) => (json.into_owned(), None),
                Err(reason) => (quoted(json), Some(reason)),
            },
            Spoken::Canonical(_) => return None,
        };
        self.0 = Spoken::Canonical(raw(json));
        reason
    }

    /// The text or its JSON string, and which of them it is.
    pub(crate) fn parts(&self) -> (bool, &str) {
        match &self.0 {
            Spoken::Text(text) => (false, text),
            Spoken::Told(json) => (true, json),
            Spoken::Canonical(json) => (true, json.get()),
        }
    }

    /// Bytes that it takes.
    pub fn length(&self) -> usize {
        self.parts().1.len()
    }

    /// The same text, owning its bytes.
    pub fn into_owned(self) -> Words<'static> {
        Words(match self.0 {
            Spoken::Text(text) => Spoken::Text(text.into_owned().into()),
            Spoken::Told(json) => Spoken::Told(json.into_owned().into()),
            Spoken::Canonical(json) => Spoken::Canonical(json),
        })
    }

    fn canonical(&self) -> Cow<'_, str> {
        match &self.0 {
            Spoken::Canonical(json) => json.get().into(),
            _ => {
                let mut words = self.clone();
                words.read();
                words.parts().1.to_owned().into()
            }
        }
    }
}

impl Serialize for Words<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Spoken::Canonical(json) => json.serialize(to),
            Spoken::Text(text) => escape::text(text, to),
            Spoken::Told(_) => raw(self.canonical().into_owned()).serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Words<'_> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::of)
    }
}

impl PartialEq for Words<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.canonical() == other.canonical()
    }
}

impl Eq for Words<'_> {}

impl Hash for Words<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.canonical().hash(state);
    }
}

/// The canonical form of a JSON string.
fn canonical_string(json: &str) -> Result<Cow<'_, str>, String> {
    if is_canonical_string(json) {
        return Ok(json.into());
    }
    let text = |json: &str| serde_json::from_str::<String>(json).map_err(|err| err.to_string());
    let text = text(json).or_else(|reason| mend_surrogates(json).map_or(Err(reason), |mended| text(&mended)))?;
    Ok(quoted(&text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_words(json: &str, canonical: &str) {
        let mut words = Words::told(json);
        assert_eq!(serde_json::to_string(&words).expect("JSON"), canonical);
        assert_eq!((words.read(), words.parts()), (None, (true, canonical)));
        // What the text says decides, and not how it was told.
        let text: String = serde_json::from_str(canonical).expect("a text");
        let by_text = Words::of(text.as_str());
        assert_eq!((serde_json::to_string(&by_text).expect("JSON").as_str(), &by_text), (canonical, &words));
        assert_eq!(crate::digest::of(&by_text), crate::digest::of(&Words::told(json)));
        let mut by_text = by_text.into_owned();
        assert_eq!((by_text.read(), by_text.parts()), (None, (true, canonical)));
    }

    #[test]
    fn words_told_as_json_are_those_told_as_text() {
        check_words(r#""""#, r#""""#);
        check_words(r#""pl\\ain \"q\" \b\f\n\r\t é""#, r#""pl\\ain \"q\" \b\f\n\r\t é""#);
        check_words(r#""\/ \u00e9 \u000A \u001B""#, r#""/ é \n \u001b""#);
        check_words(r#""\u001b[31m\u0000\u000b""#, r#""\u001b[31m\u0000\u000b""#);
        check_words(r#""\ud83d\ude00 \ud83d""#, "\"😀 \u{fffd}\"");
        check_words(&format!("\"{}\\/\"", "x\\n".repeat(100)), &format!("\"{}/\"", "x\\n".repeat(100)));
    }

    #[test]
    fn words_that_are_no_json_string_are_the_text_that_was_told() {
        for told in ["", "7", "plain", r#""open"#, r#""a" "b""#, r#""a"b"#, "\"a\nb\"", r#""\x""#, r#"["a"]"#] {
            let mut words = Words::told(told);
            assert!(words.read().is_some(), "{told}");
            assert_eq!(words, Words::of(told));
        }
    }
}
