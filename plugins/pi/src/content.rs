//! A message's content: what was said, thought and called, and what is none of it.
//!
//! Content is a text or a list of parts. A part that has no place in a turn leaves a placeholder in the text, where the
//! reader would have met it, and is handed out whole.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;

use crate::shape::Part;

/// The content of one message.
#[derive(Debug, Default)]
pub(crate) struct Content<'a> {
    /// The texts, joined by newlines.
    pub(crate) text: Cow<'a, str>,
    /// The reasoning, joined by newlines.
    pub(crate) thinking: Option<Cow<'a, str>>,
    /// Tool calls.
    pub(crate) calls: Vec<Call<'a>>,
    /// Parts of all other kinds, as they stand.
    pub(crate) rest: Vec<&'a str>,
    /// Whether it holds nothing, or nothing but texts without a word.
    pub(crate) is_empty: bool,
}

/// One tool call.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// Id that results refer to.
    pub(crate) id: Cow<'a, str>,
    /// The tool's name.
    pub(crate) name: Cow<'a, str>,
    /// Its arguments.
    pub(crate) arguments: Field<'a>,
}

impl<'a> Content<'a> {
    /// Reads the content of the message `id`.
    pub(crate) fn of(field: Field<'a>, id: &str) -> Self {
        let mut content = Self { is_empty: true, ..Self::default() };
        let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
        for (part, raw) in parts(field) {
            let (kind, text, thinking) = (part.kind.text(), part.text.text(), part.thinking.text());
            content.is_empty &= kind.as_deref() == Some("text") && text.as_ref().is_some_and(|text| text.is_empty());
            match (kind.as_deref(), text, thinking) {
                (Some("text"), Some(text), _) => texts.push(text),
                // Redacted reasoning has no words, only what the API takes back.
                (Some("thinking"), _, thought) => match thought.filter(|_| !part.redacted.flag()) {
                    Some(thought) => thoughts.push(thought),
                    None => content.rest.push(raw),
                },
                (Some("toolCall"), ..) => content.calls.push(Call {
                    // Without an id of its own it must not be taken for another call without one.
                    id: part.id.id().unwrap_or_else(|| format!("{id}/{}", content.calls.len()).into()),
                    name: part.name.text().unwrap_or_default(),
                    arguments: part.arguments,
                }),
                _ => {
                    texts.push(placeholder(&part).into());
                    content.rest.push(raw);
                }
            }
        }
        content.text = joined(texts);
        content.thinking = Some(joined(thoughts)).filter(|thinking| !thinking.is_empty());
        content
    }
}

/// The parts of a content; a text stands for one part of its own, which is no part as it stands.
fn parts<'a>(field: Field<'a>) -> impl Iterator<Item = (Part<'a>, &'a str)> {
    let list = field.items();
    list.into_iter().map(|field| {
        let text = || Part { kind: text_kind(), text: field, ..Part::default() };
        let part = if field.text().is_some() { text() } else { field.object().unwrap_or_default() };
        (part, field.json().unwrap_or("null"))
    })
}

fn text_kind() -> Field<'static> {
    Field::parse(r#""text""#)
}

fn joined<'a>(mut texts: Vec<Cow<'a, str>>) -> Cow<'a, str> {
    texts.retain(|text| !text.is_empty());
    if texts.len() > 1 { texts.join("\n").into() } else { texts.pop().unwrap_or_default() }
}

/// What stands in the text for a part: `[image: image/png, 12345 bytes]`.
fn placeholder(part: &Part<'_>) -> String {
    let kind = part.kind.filled().unwrap_or("part".into());
    let mut notes: Vec<Cow<'_, str>> = part.media_type.filled().into_iter().collect();
    if let Some(data) = part.data.text() {
        notes.push(format!("{} bytes", decoded_size(&data)).into());
    }
    if notes.is_empty() { format!("[{kind}]") } else { format!("[{kind}: {}]", notes.join(", ")) }
}

/// Bytes that a base64 text stands for.
fn decoded_size(base64: &str) -> usize {
    let digits = base64.trim_end().trim_end_matches('=').len();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn of(json: &str) -> Content<'_> {
        Content::of(Field::parse(json), "r")
    }

    #[test]
    fn content_is_a_text_or_parts() {
        assert_eq!(of(r#""hello""#).text, "hello");
        assert_eq!(of(r#"[{"type":"text","text":"a"},{"type":"text","text":""},"b"]"#).text, "a\nb");
        assert_eq!(Content::of(Field::default(), "r").text, "");
    }

    #[test]
    fn only_texts_without_a_word_are_nothing() {
        for empty in ["[]", r#""""#, r#"[{"type":"text","text":""}]"#, "null"] {
            assert!(of(empty).is_empty, "{empty}");
        }
        for full in [
            r#""x""#,
            r#"[{"type":"text","text":" "}]"#,
            r#"[{"type":"thinking","thinking":""}]"#,
            r#"[{"type":"text","text":""},{"type":"toolCall","id":"t","name":"bash","arguments":{}}]"#,
            r#"[{"type":"image","data":"AAAA","mimeType":"image/png"}]"#,
            r#"[{"type":"text"}]"#,
            "[7]",
        ] {
            assert!(!of(full).is_empty, "{full}");
        }
    }

    #[test]
    fn redacted_reasoning_is_kept_without_a_word() {
        let content = of(r#"[{"type":"thinking","thinking":"[redacted]","redacted":true,"thinkingSignature":"s"}]"#);
        assert_eq!((content.thinking, &*content.text, content.rest.len()), (None, "", 1));
        let content = of(r#"[{"type":"thinking","thinking":"a","redacted":false},{"type":"thinking","thinking":"b"}]"#);
        assert_eq!((content.thinking.as_deref(), content.rest.len()), (Some("a\nb"), 0));
    }

    #[test]
    fn calls_keep_their_arguments_as_they_stand() {
        let content = of(
            r#"[{"type":"toolCall","id":"t","name":"bash","arguments":{"b": 1,"a":1.0},"partialJson":"{\"b\""},{"type":"toolCall"}]"#,
        );
        let calls: Vec<_> = content.calls.iter().map(|call| (&*call.id, &*call.name, call.arguments.json())).collect();
        assert_eq!(calls, [("t", "bash", Some(r#"{"b": 1,"a":1.0}"#)), ("r/1", "", None)]);
    }

    #[test]
    fn other_parts_leave_a_placeholder_where_they_stood() {
        let content = of(
            r#"[{"type":"text","text":"see"},{"type":"image","data":"aGVsbG8=","mimeType":"image/png"},{"type":"audio"},{"no":1},7]"#,
        );
        assert_eq!(content.text, "see\n[image: image/png, 5 bytes]\n[audio]\n[part]\n[part]");
        assert_eq!(content.rest.len(), 4);
    }

    #[test]
    fn a_base64_text_is_measured_without_being_decoded() {
        for (base64, size) in [("", 0), ("AA==", 1), ("AAA=", 2), ("AAAA", 3), ("AAAAA", 3)] {
            assert_eq!(decoded_size(base64), size, "{base64}");
        }
    }
}
