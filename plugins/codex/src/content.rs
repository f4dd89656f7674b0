//! A message's content: its texts, and placeholders for what is no text.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::shape;

shape! {
    /// One block of a content.
    Block {
        kind: "type",
        text: "text",
        refusal: "refusal",
        image: "image_url",
        audio: "audio_url",
    }
}

/// The content of one message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content<'a> {
    /// The texts, one a block.
    pub(crate) texts: Vec<Cow<'a, str>>,
    /// Texts and placeholders, joined by newlines.
    pub(crate) text: Cow<'a, str>,
    /// Blocks that left a placeholder, as they stand.
    pub(crate) rest: Vec<&'a str>,
}

impl<'a> Content<'a> {
    /// Reads a text, a block or a list of them.
    pub(crate) fn of(field: Field<'a>) -> Self {
        let mut content = Self::default();
        let mut parts: Vec<Cow<'a, str>> = Vec::new();
        let blocks = field.items();
        for field in blocks {
            let block: Block<'a> = field.object().unwrap_or_default();
            // `text`, `input_text`, `output_text`, and `Text` in finished items; a refusal is the model's words, too.
            let is_text = block.kind.text().is_none_or(|kind| kind.ends_with("text") || kind == "Text");
            let text = if is_text { field.text().or_else(|| block.text.text()) } else { block.refusal.text() };
            match text {
                Some(text) => {
                    content.texts.push(text.clone());
                    parts.push(text);
                }
                None => {
                    parts.push(placeholder(&block).into());
                    content.rest.push(field.json().unwrap_or("null"));
                }
            }
        }
        parts.retain(|part| !part.is_empty());
        content.text = if parts.len() > 1 { parts.join("\n").into() } else { parts.pop().unwrap_or_default() };
        content
    }
}

/// The texts of a list of blocks or texts that are not empty.
pub(crate) fn texts(field: Field<'_>) -> Vec<Cow<'_, str>> {
    let mut texts = Content::of(field).texts;
    texts.retain(|text| !text.is_empty());
    texts
}

/// What stands in the text for a block: `[image: image/png, 12345 bytes]`.
fn placeholder(block: &Block<'_>) -> String {
    let kind = block.kind.filled().unwrap_or("block".into());
    let kind = kind.strip_prefix("input_").unwrap_or(&kind);
    match block.image.filled().or_else(|| block.audio.filled()).map(|url| about(&url)) {
        Some(about) => format!("[{kind}: {about}]"),
        None => format!("[{kind}]"),
    }
}

fn about(url: &str) -> String {
    let Some((head, data)) = url.strip_prefix("data:").and_then(|rest| rest.split_once(',')) else {
        return url.to_owned();
    };
    let media = head.split(';').next().filter(|media| !media.is_empty()).unwrap_or("data");
    let size = if head.ends_with(";base64") { decoded_size(data) } else { data.len() };
    format!("{media}, {size} bytes")
}

/// Bytes that a base64 text stands for.
pub(crate) fn decoded_size(base64: &str) -> usize {
    let digits = base64.trim_end().trim_end_matches('=').len();
    digits / 4 * 3 + digits % 4 * 3 / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, text: &str, rest: usize) {
        let content = Content::of(Field::parse(json));
        assert_eq!((&*content.text, content.rest.len()), (text, rest), "{json}");
    }

    #[test]
    fn content_is_a_text_or_blocks_or_nothing() {
        check(r#""hello""#, "hello", 0);
        check(r#"[{"type":"input_text","text":"a"},{"type":"output_text","text":""},"b"]"#, "a\nb", 0);
        check(r#"[{"text":"no type"},{"type":"Text","text":"of an item"}]"#, "no type\nof an item", 0);
        check(r#"{"type":"input_text","text":"alone"}"#, "alone", 0);
        check(r#"[{"type":"refusal","refusal":"I cannot"}]"#, "I cannot", 0);
        check("[]", "", 0);
        check("null", "", 0);
        check("[null,\"a\"]", "[block]\na", 1);
    }

    #[test]
    fn what_is_no_text_leaves_a_placeholder_and_is_kept() {
        check(
            r#"[{"type":"input_image","image_url":"data:image/png;base64,aGVsbG8="},{"type":"input_text","text":"see"}]"#,
            "[image: image/png, 5 bytes]\nsee",
            1,
        );
        check(
            r#"[{"type":"input_image","image_url":"https://example.org/a.png"}]"#,
            "[image: https://example.org/a.png]",
            1,
        );
        check(
            r#"[{"type":"input_image","image_url":null},{"type":"encrypted_content"},7]"#,
            "[image]\n[encrypted_content]\n[block]",
            3,
        );
        check(r#"[{"type":"input_audio","audio_url":"data:audio/wav,abc"}]"#, "[audio: audio/wav, 3 bytes]", 1);
    }

    #[test]
    fn the_texts_alone_can_be_had() {
        assert_eq!(texts(Field::parse(r#"[{"type":"summary_text","text":"a"},{"text":""},"b"]"#)), ["a", "b"]);
    }
}
