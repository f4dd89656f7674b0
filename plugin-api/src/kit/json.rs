//! JSON as logs hold it: borrowed where it can be, forgiving where it must be.
//!
//! The field types here read a value of an unexpected kind as absent, so that one odd field does not cost the
//! record. They borrow from the input; an `Option<Cow<str>>` would silently copy.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

pub use serde_json::value::RawValue;

use crate::kit::marks::Marks;

/// A text field: a string, or absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text, when the field is a string.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The text, when the field is a string that is not empty.
    pub fn filled(&self) -> Option<&str> {
        self.get().filter(|text| !text.is_empty())
    }
}

/// A count field: a whole number that is not negative, also one written as a string or with a zero fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count(pub Option<u64>);

/// A flag field: set only by a literal `true`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flag(pub bool);

/// Numbers that u64 can't hold are no counts; beyond 2^53 a float's neighbours are apart by more than one.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// What stood in a forgiving field.
enum Found<'a> {
    Text(Cow<'a, str>),
    Count(u64),
    Flag(bool),
    Nothing,
}

struct Any;

impl<'de> Visitor<'de> for Any {
    type Value = Found<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }
    fn visit_unit<E>(self) -> Result<Found<'de>, E> {
        Ok(Found::Nothing)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Found<'de>, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Found::Nothing)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found<'de>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Found::Nothing)
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Found<'de>, E> {
        Ok(Found::Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Found<'de>, E> {
        Ok(Found::Text(Cow::Owned(text.to_owned())))
    }
    fn visit_string<E>(self, text: String) -> Result<Found<'de>, E> {
        Ok(Found::Text(Cow::Owned(text)))
    }
    fn visit_u64<E>(self, number: u64) -> Result<Found<'de>, E> {
        Ok(Found::Count(number))
    }
    fn visit_i64<E>(self, _: i64) -> Result<Found<'de>, E> {
        Ok(Found::Nothing)
    }
    fn visit_f64<E>(self, number: f64) -> Result<Found<'de>, E> {
        let whole = number.fract() == 0.0 && (0.0..=EXACT).contains(&number);
        Ok(if whole { Found::Count(number as u64) } else { Found::Nothing })
    }
    fn visit_bool<E>(self, flag: bool) -> Result<Found<'de>, E> {
        Ok(Found::Flag(flag))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match from.deserialize_any(Any)? {
            Found::Text(text) => Self(Some(text)),
            _ => Self(None),
        })
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(match from.deserialize_any(Any)? {
            Found::Count(count) => Self(Some(count)),
            Found::Text(text) => Self(text.trim().parse().ok()),
            _ => Self(None),
        })
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(matches!(from.deserialize_any(Any)?, Found::Flag(true))))
    }
}

/// Replaces each escape of half a surrogate pair (`\ud83d` alone) by `\ufffd`; `None` when there is none.
///
/// Harnesses that cut texts by UTF-16 units write such halves, and a strict parser refuses the whole line for it.
pub fn mend_surrogates(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    // Looking at every escape is slow, and nearly no line has one that could be half a pair.
    if !["\\ud", "\\uD"].iter().any(|start| memchr::memmem::find(bytes, start.as_bytes()).is_some()) {
        return None;
    }
    let mut mended: Option<String> = None;
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &bytes[at..]) {
        at += found;
        let Some(unit) = unit_at(bytes, at) else {
            at += 2;
            if at >= bytes.len() {
                break;
            }
            continue;
        };
        let paired = (0xd800..0xdc00).contains(&unit)
            && unit_at(bytes, at + 6).is_some_and(|next| (0xdc00..0xe000).contains(&next));
        if paired {
            at += 12;
        } else {
            if (0xd800..0xe000).contains(&unit) {
                let out = mended.get_or_insert_default();
                out.push_str(&json[copied..at]);
                out.push_str("\\ufffd");
                copied = at + 6;
            }
            at += 6;
        }
        if at >= bytes.len() {
            break;
        }
    }
    mended.map(|mut out| {
        out.push_str(&json[copied..]);
        out
    })
}

/// The text of a string in JSON that a parser took; `None` when it is no string, or holds half a surrogate pair.
pub(crate) fn unescaped(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    let bytes = inner.as_bytes();
    let Some(mut escape) = find(bytes, 0, b'\\') else { return Some(Cow::Borrowed(inner)) };
    // A parser's own way through a text copies it twice.
    let mut text = String::with_capacity(inner.len());
    let mut at = 0;
    loop {
        text.push_str(&inner[at..escape]);
        let (character, length) = match *bytes.get(escape + 1)? {
            b'"' => ('"', 2),
            b'\\' => ('\\', 2),
            b'/' => ('/', 2),
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            b'n' => ('\n', 2),
            b'r' => ('\r', 2),
            b't' => ('\t', 2),
            _ => character_at(bytes, escape)?,
        };
        text.push(character);
        at = escape + length;
        match find(bytes, at, b'\\') {
            Some(next) => escape = next,
            None => break,
        }
    }
    text.push_str(&inner[at..]);
    Some(Cow::Owned(text))
}

/// Whether `json` is one string, spelled with the escapes that it needs and no others: `\"`, `\\`, `\b`, `\f`, `\n`, `\r`,
/// `\t`, and `\u001b` in small letters for other control characters.
pub fn is_canonical_string(json: &str) -> bool {
    let mut marks = Marks::of(json.as_bytes());
    json.starts_with('"')
        && marks.string_end(1).is_some_and(|(end, _)| end + 1 == json.len())
        && !marks.has_odd_escape()
}

/// Where the wanted byte stands first from `from` on.
///
/// In the texts of logs escapes stand close together, and a search that is made for long ways takes longer to begin than
/// to end. So it begins with some blocks.
fn find(bytes: &[u8], from: usize, wanted: u8) -> Option<usize> {
    /// Blocks before the search for long ways takes over.
    const BLOCKS: usize = 8;
    let mut at = from;
    for _ in 0..BLOCKS {
        let Some(block) = bytes.get(at..at + BLOCK).and_then(|block| block.try_into().ok()) else { break };
        let hits = hits(block, wanted);
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize);
        }
        at += BLOCK;
    }
    memchr::memchr(wanted, bytes.get(at..)?).map(|found| at + found)
}

/// Bytes that are compared at once.
const BLOCK: usize = 16;

/// A bit for each byte of the block that is the wanted one, the first byte's the lowest.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "compares sixteen bytes in one instruction")]
#[inline]
fn hits(block: [u8; BLOCK], wanted: u8) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: every processor of this kind has these instructions, and the block is as long as what is loaded.
    unsafe {
        let block = _mm_loadu_si128(block.as_ptr().cast());
        let hits = _mm_cmpeq_epi8(block, _mm_set1_epi8(wanted.cast_signed()));
        _mm_movemask_epi8(hits).cast_unsigned()
    }
}

/// A bit for each byte of the block that is the wanted one, the first byte's the lowest.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn hits(block: [u8; BLOCK], wanted: u8) -> u32 {
    block.iter().enumerate().fold(0, |hits, (at, byte)| hits | u32::from(*byte == wanted) << at)
}

/// The character that the `\uXXXX` at `at` stands for, with the half behind it, and the length of both.
fn character_at(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let unit = unit_at(bytes, at)?;
    match char::from_u32(unit) {
        Some(character) => Some((character, 6)),
        None => {
            let pair = [unit, unit_at(bytes, at + 6)?].map(|unit| unit as u16);
            let character = char::decode_utf16(pair).next()?.ok()?;
            Some((character, 12))
        }
    }
}

/// The UTF-16 unit that the escape at `at` stands for, when it is a `\uXXXX`.
fn unit_at(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}

/// The object `json` without the fields, each a key and a JSON text, that are left out; sorted by key, and of equal keys the
/// last. `None` when it is no object.
pub fn object_without(json: &str, is_left_out: impl Fn(&str, &str) -> bool) -> Option<String> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
    let mut object = String::with_capacity(json.len());
    object.push('{');
    for (key, value) in fields.iter().filter(|(key, value)| !is_left_out(key, value.get())) {
        if object.len() > 1 {
            object.push(',');
        }
        object.push_str(&quoted(key));
        object.push(':');
        object.push_str(value.get());
    }
    object.push('}');
    Some(object)
}

/// The JSON string of a text, quotes included.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Fields<'a> {
        #[serde(borrow, default)]
        text: Text<'a>,
        #[serde(default)]
        count: Count,
        #[serde(default)]
        flag: Flag,
    }

    #[track_caller]
    fn read(json: &str) -> Fields<'_> {
        serde_json::from_str(json).expect("valid JSON")
    }

    #[test]
    fn a_plain_text_is_borrowed() {
        assert!(matches!(read(r#"{"text":"plain"}"#).text.0, Some(Cow::Borrowed("plain"))));
        assert_eq!(read(r#"{"text":"a\nb"}"#).text.get(), Some("a\nb"));
    }

    #[test]
    fn a_value_of_another_kind_is_absent_and_the_record_goes_on() {
        for odd in ["null", "7", "-7", "1.5", "true", "[1,[2]]", r#"{"a":{"b":1}}"#] {
            let json = format!(r#"{{"text":{odd},"count":3,"flag":true}}"#);
            let fields = read(&json);
            assert_eq!((fields.text.get(), fields.count.0, fields.flag.0), (None, Some(3), true), "{odd}");
        }
    }

    #[test]
    fn a_count_is_whole_and_not_negative() {
        for (json, count) in [
            ("12", Some(12)),
            ("18446744073709551615", Some(u64::MAX)),
            ("\"12\"", Some(12)),
            ("12.0", Some(12)),
            ("12.5", None),
            ("-1", None),
            ("1e300", None),
            ("\"many\"", None),
            ("null", None),
        ] {
            assert_eq!(read(&format!(r#"{{"count":{json}}}"#)).count.0, count, "{json}");
        }
    }

    #[test]
    fn only_a_literal_true_sets_a_flag() {
        for (json, flag) in [("true", true), ("false", false), ("null", false), ("1", false), ("\"true\"", false)] {
            assert_eq!(read(&format!(r#"{{"flag":{json}}}"#)).flag.0, flag, "{json}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_becomes_a_replacement_character() {
        for (json, mended) in [
            (r#""plain""#, None),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""a\ude00b\n""#, Some(r#""a\ufffdb\n""#)),
            (r#""\ud83d\ud83d\ude00\ud83d""#, Some(r#""\ufffd\ud83d\ude00\ufffd""#)),
            (r#""\\\ud83d x""#, Some(r#""\\\ufffd x""#)),
            (r#"{"cut":"\ud8"#, None),
            ("\\", None),
        ] {
            assert_eq!(mend_surrogates(json).as_deref(), mended, "{json}");
        }
    }

    #[test]
    fn the_wanted_byte_is_found_wherever_it_stands() {
        let mut bytes = vec![0_u8; 150];
        // Bytes that differ from it in a bit, or are one more or less.
        for (nth, byte) in bytes.iter_mut().enumerate() {
            *byte = [b'\\' ^ 0x80, b'\\' + 1, 0, 255, b'\\' - 1, b'\\' ^ 1][nth % 6];
        }
        for from in 0..150 {
            assert_eq!(find(&bytes, from, b'\\'), None);
            for at in from..150 {
                let before = std::mem::replace(&mut bytes[at], b'\\');
                assert_eq!(find(&bytes, from, b'\\'), Some(at));
                bytes[at] = before;
            }
        }
        assert_eq!((find(b"", 0, b'x'), find(b"x", 1, b'x'), find(b"xx", 1, b'x')), (None, None, Some(1)));
    }

    #[test]
    fn a_string_is_canonical_when_a_writer_of_json_spells_it_so() {
        let mut texts: Vec<String> = (0..300).filter_map(char::from_u32).map(|one| format!("a{one}b")).collect();
        texts.extend(["", "größe", "\\/", "\\u00e9", "😀", &"line\n".repeat(500)].map(str::to_owned));
        for text in texts {
            let json = quoted(&text);
            assert!(is_canonical_string(&json), "{json}");
            for (canonical, other) in [("b", "\\u0062"), ("\\n", "\\u000a"), ("\\u001b", "\\u001B"), ("/", "\\/")] {
                let respelt = json.replace(canonical, other);
                assert_eq!(is_canonical_string(&respelt), respelt == json, "{respelt}");
            }
        }
        for json in [
            r#""\ud83d\ude00""#,
            r#""\u0008""#,
            r#""\u000A""#,
            r#""\u007f""#,
            r#""a" "#,
            r#" "a""#,
            r#""a""b""#,
            r#""a"#,
            r#""a\""#,
            r#""\x""#,
            "\"\t\"",
            "\"",
            "",
            "7",
            "[\"a\"]",
        ] {
            assert!(!is_canonical_string(json), "{json}");
        }
    }

    #[test]
    fn a_text_is_unescaped_as_a_parser_does_it() {
        for json in [
            r#""""#,
            r#""plain""#,
            r#""\"\\\/\b\f\n\r\t""#,
            r#""a\u00e9b\u0000\ud83d\ude00c""#,
            r#""\\u00e9""#,
            r#""größe \n 日本""#,
            r#""\ud83d""#,
            r#""\ude00""#,
            r#""\ud83d\u0041""#,
            r#""\ud83dx""#,
            "7",
            "null",
        ] {
            let by_parser = serde_json::from_str::<String>(json).ok();
            assert_eq!(unescaped(json).map(Cow::into_owned), by_parser, "{json}");
        }
    }

    #[test]
    fn an_object_keeps_what_is_not_left_out_as_it_stands() {
        let json = r#"{"b":"x","a\"":[1, 2.50],"c":null,"b":{},"d":"y"}"#;
        let without = |left_out: &str| object_without(json, |key, _| left_out.contains(key));
        assert_eq!(without("").as_deref(), Some(r#"{"a\"":[1, 2.50],"b":{},"c":null,"d":"y"}"#));
        assert_eq!(without("bd").as_deref(), Some(r#"{"a\"":[1, 2.50],"c":null}"#));
        assert_eq!(object_without(json, |_, value| !value.starts_with('"')).as_deref(), Some(r#"{"d":"y"}"#));
        assert_eq!(
            (object_without("[]", |_, _| false), object_without("{}", |_, _| true)),
            (None, Some("{}".to_owned()))
        );
    }

    #[test]
    fn a_quoted_text_reads_back() {
        let text = "a \"b\" \\ \n \u{1} é";
        assert_eq!(serde_json::from_str::<String>(&quoted(text)).expect("a JSON string"), text);
    }
}
