//! A message's content: what was said, thought, called and answered, and what is neither.
//!
//! Content is a text or a list of blocks. A block that has no place in a turn leaves a placeholder in the text, where
//! the reader would have met it, and is handed out whole.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as STANDARD;
use memchr::memmem;
use sha2::{Digest, Sha256};

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::{Origin, ToolResultRecord};

use crate::shape::{Block, Media};

/// Digits of a digest that a placeholder shows.
const DIGITS: usize = 16;
/// What Claude Code writes for an empty block of a model's.
const NO_CONTENT: &str = "(no content)";

/// The content of one message.
#[derive(Debug, Default)]
pub(crate) struct Content<'a> {
    /// The texts, joined by newlines.
    pub(crate) text: Cow<'a, str>,
    /// The reasoning, joined by newlines.
    pub(crate) thinking: Option<Cow<'a, str>>,
    /// Tool calls.
    pub(crate) calls: Vec<Call<'a>>,
    /// Results of tool calls.
    pub(crate) results: Vec<Block<'a>>,
    /// Blocks of all other kinds, as they stand.
    pub(crate) rest: Vec<Field<'a>>,
}

/// One tool call.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// Id that results refer to.
    pub(crate) id: Cow<'a, str>,
    /// The tool's name.
    pub(crate) name: Cow<'a, str>,
    /// Its input as JSON.
    pub(crate) input: &'a str,
}

impl<'a> Content<'a> {
    /// Reads the content of the record `id`'s message; `by_model` when a named model wrote it.
    pub(crate) fn of(field: Field<'a>, id: &str, by_model: bool) -> Self {
        Self::but(field, id, by_model, |_| false)
    }

    /// The same, with blocks whose text `is_apart` from what was said among those of other kinds.
    pub(crate) fn without(field: Field<'a>, id: &str, is_apart: impl Fn(&str) -> bool) -> Self {
        Self::but(field, id, false, is_apart)
    }

    fn but(field: Field<'a>, id: &str, by_model: bool, is_apart: impl Fn(&str) -> bool) -> Self {
        let mut content = Self::default();
        let (mut texts, mut thoughts) = (Vec::new(), Vec::new());
        for part in parts(field) {
            let (block, raw) = match part {
                Part::Text(text) => {
                    texts.push(text);
                    continue;
                }
                Part::Block(raw) => (raw.object_or_default::<Block<'_>>(), raw),
            };
            let kind = block.kind.text().unwrap_or_default();
            match (&*kind, block.text.text(), block.thinking.text()) {
                ("text", Some(text), _) if is_apart(&text) => content.rest.push(raw),
                ("text", Some(text), _) => texts.push(text),
                ("thinking", _, Some(thought)) => thoughts.push(thought),
                ("thinking" | "redacted_thinking", ..) => content.rest.push(raw),
                // The API's own tools and those of its connectors have kinds like `server_tool_use`.
                (kind, ..) if kind.ends_with("tool_use") => content.calls.push(Call {
                    // Without an id of its own it must not be taken for another call without one.
                    id: block.id.id().unwrap_or_else(|| format!("{id}/{}", content.calls.len()).into()),
                    name: block.name.text().unwrap_or_default(),
                    input: block.input.json().unwrap_or("null"),
                }),
                (kind, ..) if kind.ends_with("tool_result") => content.results.push(block),
                _ => {
                    texts.push(placeholder(&block).into());
                    content.rest.push(raw);
                }
            }
        }
        if by_model {
            texts.retain(|text| text != NO_CONTENT);
        }
        content.text = joined(texts);
        content.thinking = Some(joined(thoughts)).filter(|thinking| !thinking.is_empty());
        content
    }
}

/// What a tool answered: its text, with placeholders, and the blocks these stand for.
pub(crate) fn answer<'a>(field: Field<'a>) -> (Cow<'a, str>, Vec<Field<'a>>) {
    let (mut texts, mut rest) = (Vec::new(), Vec::new());
    for part in parts(field) {
        match part {
            Part::Text(text) => texts.push(text),
            Part::Block(raw) => {
                let block: Block<'_> = raw.object_or_default();
                match (block.kind.text().as_deref(), block.text.text()) {
                    (Some("text"), Some(text)) => texts.push(text),
                    (Some("tool_reference"), _) => {
                        let name = block.tool_name.text().or_else(|| block.name.text()).unwrap_or_default();
                        texts.push(format!("[tool_reference: {name}]").into());
                    }
                    _ => {
                        texts.push(placeholder(&block).into());
                        rest.push(raw);
                    }
                }
            }
        }
    }
    (joined(texts), rest)
}

/// What a tool answered, with its text unread where that stands alone.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    said: Said<'a>,
    /// The blocks for which there are placeholders.
    pub(crate) blocks: Vec<Field<'a>>,
}

#[derive(Debug)]
enum Said<'a> {
    /// The only text, which is a string of the log.
    Alone(Field<'a>, &'a str),
    Text(Cow<'a, str>),
}

impl<'a> Answer<'a> {
    /// Reads the content of a result.
    pub(crate) fn of(field: Field<'a>) -> Self {
        let alone = only_text(field);
        if let (Some(text), Some(json)) = (alone, alone.and_then(Field::string)) {
            return Self { said: Said::Alone(text, json), blocks: Vec::new() };
        }
        let (text, blocks) = answer(field);
        Self { said: Said::Text(text), blocks }
    }

    /// As it is told of the call `id`.
    pub(crate) fn record<'r>(&'r self, id: &'r str, is_error: bool, origin: Origin) -> ToolResultRecord<'r> {
        match &self.said {
            Said::Alone(_, json) => {
                let mut record = ToolResultRecord::new(id, "", is_error, origin);
                record.json_content(json);
                record
            }
            Said::Text(text) => ToolResultRecord::new(id, text, is_error, origin),
        }
    }

    /// Its text, if `word` stands in it.
    pub(crate) fn with(&self, word: &str) -> Option<Cow<'_, str>> {
        let holds = |text: &str| memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        match &self.said {
            Said::Alone(text, json) => holds(json).then(|| text.text()).flatten(),
            Said::Text(text) => holds(text).then(|| Cow::Borrowed(&**text)),
        }
    }
}

/// The text that is all of a content.
fn only_text<'a>(field: Field<'a>) -> Option<Field<'a>> {
    let part = match field.list() {
        Some(list) => <[_; 1]>::try_from(list).ok()?[0],
        None => field,
    };
    if part.is_text() {
        return Some(part);
    }
    let block: Block<'_> = part.object()?;
    (block.kind.is("text") && block.text.is_text()).then_some(block.text)
}

enum Part<'a> {
    Text(Cow<'a, str>),
    Block(Field<'a>),
}

/// A text is one part; a block that stands alone, without a list around it, is another.
fn parts<'a>(field: Field<'a>) -> impl Iterator<Item = Part<'a>> {
    let parts = field.items();
    parts.into_iter().map(|part| match part.text() {
        Some(text) => Part::Text(text),
        None => Part::Block(part),
    })
}

fn joined<'a>(mut texts: Vec<Cow<'a, str>>) -> Cow<'a, str> {
    texts.retain(|text| !text.is_empty());
    if texts.len() > 1 { texts.join("\n").into() } else { texts.pop().unwrap_or_default() }
}

/// What stands in the text for a block: `[image: image/png, 12345 bytes, sha256 0123456789abcdef]`.
fn placeholder(block: &Block<'_>) -> String {
    let kind = block.kind.filled().unwrap_or("block".into());
    let media: Media<'_> = block.source.object().unwrap_or_default();
    let mut notes = Vec::new();
    notes.extend(media.media_type.filled());
    notes.extend(media.url.filled());
    if let Some(data) = media.data.text() {
        let is_base64 = media.kind.text().as_deref() == Some("base64");
        match if is_base64 { decoded(&data) } else { Some(data.as_bytes().to_vec()) } {
            Some(bytes) => {
                notes.push(format!("{} bytes", bytes.len()).into());
                notes.push(format!("sha256 {}", short_digest(&bytes)).into());
            }
            None => notes.push(format!("{} characters that are no base64", data.chars().count()).into()),
        }
    }
    if notes.is_empty() { format!("[{kind}]") } else { format!("[{kind}: {}]", notes.join(", ")) }
}

/// The bytes that a base64 text stands for; `None` when it is none.
fn decoded(base64: &str) -> Option<Vec<u8>> {
    STANDARD.decode(base64.trim_end()).ok()
}

/// The first digits of a SHA-256: enough to tell whether two are the same.
fn short_digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn field(json: &str) -> Field<'_> {
        Field::of(serde_json::from_str(json).expect("JSON"))
    }

    fn of(field: Field<'_>, by_model: bool) -> Content<'_> {
        Content::of(field, "r", by_model)
    }

    #[test]
    fn content_is_a_text_or_blocks() {
        assert_eq!(of(field(r#""hello""#), false).text, "hello");
        let blocks = r#"[{"type":"text","text":"a"},{"type":"text","text":""},"b",{"type":"text","text":"c"}]"#;
        assert_eq!(of(field(blocks), false).text, "a\nb\nc");
        assert_eq!(of(field("[]"), false).text, "");
        assert_eq!(of(Field::default(), false).text, "");
    }

    #[test]
    fn a_block_that_somebody_else_wrote_is_set_apart() {
        let blocks = field(r#"[{"type":"text","text":"a"},{"type":"text","text":"<b>"},"<c>"]"#);
        let content = Content::without(blocks, "r", |text| text.starts_with('<'));
        assert_eq!((&*content.text, content.rest.len()), ("a\n<c>", 1));
        assert_eq!(Content::without(field(r#""<b>""#), "r", |_| true).text, "<b>");
    }

    #[test]
    fn thinking_without_a_text_is_no_thinking() {
        let content = of(field(r#"[{"type":"thinking","thinking":"","signature":"s"}]"#), true);
        assert_eq!((content.thinking, content.rest.len()), (None, 0));
        let content = of(field(r#"[{"type":"thinking","thinking":"a"},{"type":"thinking","thinking":"b"}]"#), true);
        assert_eq!(content.thinking.as_deref(), Some("a\nb"));
    }

    #[test]
    fn redacted_thinking_is_kept_without_a_word_in_the_text() {
        let content = of(field(r#"[{"type":"redacted_thinking","data":"x"}]"#), true);
        assert_eq!((&*content.text, content.thinking, content.rest.len()), ("", None, 1));
    }

    #[test]
    fn calls_of_every_kind_keep_their_input_as_it_stands() {
        let content = of(
            field(
                r#"[{"type":"tool_use","id":"t","name":"Bash","input":{"b": 1,"a":1.0}},
                    {"type":"server_tool_use","id":"s","name":"web_search","input":"x"},{"type":"mcp_tool_use"}]"#,
            ),
            true,
        );
        let calls: Vec<_> = content.calls.iter().map(|call| (&*call.id, &*call.name, call.input)).collect();
        assert_eq!(calls, [("t", "Bash", r#"{"b": 1,"a":1.0}"#), ("s", "web_search", "\"x\""), ("r/2", "", "null")]);
    }

    #[test]
    fn calls_without_an_id_get_one_each_and_a_number_is_its_text() {
        let content = of(
            field(
                r#"[{"type":"tool_use"},{"type":"tool_use","id":5},{"type":"tool_use","id":""},{"type":"tool_use","id":[]}]"#,
            ),
            true,
        );
        let ids: Vec<_> = content.calls.iter().map(|call| &*call.id).collect();
        assert_eq!(ids, ["r/0", "5", "r/2", "r/3"]);
    }

    #[test]
    fn results_of_every_kind_are_set_apart() {
        let content =
            of(field(r#"[{"type":"tool_result"},{"type":"web_search_tool_result","tool_use_id":"s"}]"#), true);
        assert_eq!((&*content.text, content.results.len(), content.rest.len()), ("", 2, 0));
    }

    #[test]
    fn other_blocks_leave_a_placeholder_where_they_stood() {
        let content = of(
            field(
                r#"[{"type":"text","text":"see"},
                    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}},
                    {"type":"image","source":{"type":"url","url":"https://example.org/a.png"}},
                    {"type":"document","source":{"type":"text","media_type":"text/plain","data":"hello!"}},
                    {"type":"image","source":{"type":"base64","data":"?=é"}},
                    {"type":"fallback"},{"no":"type"},{"type":"text","text":7},7]"#,
            ),
            true,
        );
        assert_eq!(
            content.text,
            "see\n[image: image/png, 5 bytes, sha256 2cf24dba5fb0a30e]\n[image: https://example.org/a.png]\n\
             [document: text/plain, 6 bytes, sha256 ce06092fb948d9ff]\n[image: 3 characters that are no base64]\n\
             [fallback]\n[block]\n[text]\n[block]"
        );
        assert_eq!(content.rest.len(), 8);
    }

    #[test]
    fn an_empty_block_of_a_models_is_dropped_and_a_commands_is_kept() {
        let blocks = r#"[{"type":"text","text":"(no content)"}]"#;
        assert_eq!(of(field(blocks), true).text, "");
        assert_eq!(of(field(blocks), false).text, NO_CONTENT);
    }

    #[test]
    fn an_answer_is_a_text_or_blocks_or_nothing() {
        let check = |json: &str, text: &str, rest: usize| {
            let (answer, blocks) = answer(field(json));
            assert_eq!((&*answer, blocks.len()), (text, rest), "{json}");
        };
        check(r#""done""#, "done", 0);
        check(
            r#"[{"type":"text","text":"a"},{"type":"tool_reference","tool_name":"Read"}]"#,
            "a\n[tool_reference: Read]",
            0,
        );
        check(
            r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]"#,
            "[image: image/png, 3 bytes, sha256 709e80c88487a241]",
            1,
        );
        check(r#"{"type":"web_search_tool_result_error","error_code":"x"}"#, "[web_search_tool_result_error]", 1);
        assert_eq!(answer(Field::default()).0, "");
    }
}
