//! A message's content: what was said, thought, called and answered, and what is neither.
//!
//! Content is a text, one part, or a list of either. A part that has no place in a turn leaves a placeholder in the
//! text, where the reader would have met it, and is handed out whole.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;

use crate::shape::{Function, Media, Part, Response, Thought};

/// The content of one message.
#[derive(Debug, Default)]
pub(crate) struct Content<'a> {
    pub(crate) text: String,
    pub(crate) thoughts: Vec<String>,
    /// `functionCall` parts.
    pub(crate) calls: Vec<Function<'a>>,
    /// `functionResponse` parts.
    pub(crate) responses: Vec<Function<'a>>,
    /// Parts of all other kinds, as they stand.
    pub(crate) rest: Vec<Field<'a>>,
}

impl<'a> Content<'a> {
    /// Reads content whose texts are joined by `between`.
    pub(crate) fn of(field: Field<'a>, between: &str) -> Self {
        let mut content = Self::default();
        let mut texts: Vec<Cow<'a, str>> = Vec::new();
        for raw in parts(field) {
            if let Some(text) = raw.text() {
                texts.push(text);
                continue;
            }
            let part: Part<'a> = raw.object().unwrap_or_default();
            let text = part.text.text();
            let is_bare = text.is_none();
            if let Some(call) = part.call.object() {
                content.calls.push(call);
            } else if let Some(response) = part.response.object() {
                content.responses.push(response);
            } else if is_bare {
                texts.push(placeholder(&part).into());
                content.rest.push(raw);
            }
            match text {
                Some(text) if part.thought.flag() => content.thoughts.push(text.into_owned()),
                Some(text) => texts.push(text),
                None => {}
            }
        }
        texts.retain(|text| !text.is_empty());
        content.thoughts.retain(|thought| !thought.is_empty());
        content.text = texts.join(between);
        content
    }

    /// Whether it holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.responses.is_empty()
            && self.text.is_empty()
            && self.calls.is_empty()
            && self.thoughts.is_empty()
            && self.rest.is_empty()
    }

    /// Whether it is nothing but answers of tools.
    pub(crate) fn is_answers_only(&self) -> bool {
        !self.responses.is_empty()
            && self.text.is_empty()
            && self.calls.is_empty()
            && self.thoughts.is_empty()
            && self.rest.is_empty()
    }
}

/// The elements of a list, or the one value that stands without a list around it.
pub(crate) fn parts<'a>(field: Field<'a>) -> Vec<Field<'a>> {
    field.items()
}

/// The model's thoughts: each its subject and its description.
pub(crate) fn thoughts(field: Field<'_>) -> Vec<String> {
    let list = field.list().unwrap_or_default().into_iter();
    let thoughts = list.map(|raw| {
        let thought: Thought<'_> = raw.object().unwrap_or_default();
        let texts = [thought.subject.filled(), thought.description.filled()];
        let text = texts.into_iter().flatten().collect::<Vec<_>>().join("\n");
        if text.is_empty() { raw.text().unwrap_or_default().into_owned() } else { text }
    });
    thoughts.filter(|text| !text.is_empty()).collect()
}

/// What a tool answered.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer<'a> {
    pub(crate) text: String,
    pub(crate) is_error: bool,
    /// The answer's blocks that are no text.
    pub(crate) rest: Vec<String>,
    /// The call that a response names, if one does.
    pub(crate) call: Option<Cow<'a, str>>,
}

/// What `result` says of the call `id`; `None` when it is absent.
pub(crate) fn answer<'a>(result: Field<'a>, id: &str) -> Option<Answer<'a>> {
    result.json()?;
    let content = Content::of(result, "\n");
    // After tool outputs were masked, a result can hold those of the calls beside it.
    let own = content.responses.iter().filter(|response| response.id.id().as_deref() == Some(id));
    let responses: Vec<_> = if own.clone().count() > 0 { own.collect() } else { content.responses.iter().collect() };
    let mut answer = Answer::default();
    let mut texts: Vec<String> = Vec::new();
    for response in responses {
        let (text, is_error) = said(response);
        texts.push(text);
        answer.is_error |= is_error;
        answer.call = answer.call.or_else(|| response.id.id());
    }
    texts.push(content.text);
    texts.retain(|text| !text.is_empty());
    answer.text = texts.join("\n");
    answer.rest = content.rest.iter().map(|raw| raw.json().unwrap_or("null").to_owned()).collect();
    Some(answer)
}

/// The text of a response, and whether it tells of a failure.
pub(crate) fn said(function: &Function<'_>) -> (String, bool) {
    let response: Response<'_> = function.response.object().unwrap_or_default();
    let field = [response.error, response.output].into_iter().find(|field| field.json().is_some());
    let is_error = response.error.json().is_some_and(|json| json != "false" && json != "\"\"");
    let json = || function.response.json().filter(|json| *json != "{}").unwrap_or_default().to_owned();
    let text = match field {
        Some(field) => field.text().map_or_else(|| field.json().unwrap_or_default().to_owned(), Cow::into_owned),
        None => function.response.text().map_or_else(json, Cow::into_owned),
    };
    (text, is_error)
}

/// What stands in the text for a part: `[image/png, 12345 bytes]`.
fn placeholder(part: &Part<'_>) -> String {
    let (field, kind) = if part.inline.is_object() { (part.inline, "inlineData") } else { (part.file, "fileData") };
    let Some(media) = field.object::<Media<'_>>() else { return "[part]".to_owned() };
    let mut notes: Vec<String> = Vec::new();
    notes.extend([media.kind.filled(), media.uri.filled()].into_iter().flatten().map(Cow::into_owned));
    if let Some(data) = media.data.text() {
        let digits = data.trim_end().trim_end_matches('=').len();
        notes.push(format!("{} bytes", digits / 4 * 3 + digits % 4 * 3 / 4));
    }
    if notes.is_empty() { format!("[{kind}]") } else { format!("[{kind}: {}]", notes.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(json: &str) -> Field<'_> {
        Field::of(serde_json::from_str(json).expect("JSON"))
    }

    #[test]
    fn content_is_a_text_a_part_or_a_list_of_either() {
        for (json, text) in [
            (r#""hello""#, "hello"),
            (r#"{"text":"hello"}"#, "hello"),
            (r#"["a",{"text":"b"},{"text":""},{"text":"c"}]"#, "a\nb\nc"),
            ("[]", ""),
            ("7", "[part]"),
            (r#"[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]"#, "[inlineData: image/png, 3 bytes]"),
            (r#"[{"fileData":{"fileUri":"f"}},{"later":1}]"#, "[fileData: f]\n[part]"),
        ] {
            assert_eq!(Content::of(field(json), "\n").text, text, "{json}");
        }
        assert_eq!(Content::of(Field::default(), "\n").text, "");
    }

    #[test]
    fn thoughts_calls_and_answers_are_set_apart() {
        let content = Content::of(
            field(
                r#"[{"text":"hm","thought":true},{"text":"so"},{"functionCall":{"id":"c","name":"glob","args":{}}},
                    {"functionResponse":{"id":"c","response":{"output":"x"}}}]"#,
            ),
            "",
        );
        assert_eq!((&*content.text, content.thoughts.len(), content.calls.len()), ("so", 1, 1));
        assert_eq!((content.responses.len(), content.rest.len(), content.is_answers_only()), (1, 0, false));
    }

    #[test]
    fn a_thought_is_its_subject_and_its_description() {
        let json = r#"[{"subject":"Plan","description":"Do it."},{"description":"More."},{},"bare",7]"#;
        assert_eq!(thoughts(field(json)), ["Plan\nDo it.", "More.", "bare"]);
    }

    #[test]
    fn an_answer_is_the_output_the_error_or_what_else_there_is() {
        let check = |json: &str, text: &str, is_error: bool| {
            let answer = answer(field(json), "c").expect("an answer");
            assert_eq!((&*answer.text, answer.is_error), (text, is_error), "{json}");
        };
        let response = |body: &str| format!(r#"[{{"functionResponse":{{"id":"c","response":{body}}}}}]"#);
        check(&response(r#"{"output":"done"}"#), "done", false);
        check(&response(r#"{"error":"no such file"}"#), "no such file", true);
        check(&response(r#"{"content":[1]}"#), r#"{"content":[1]}"#, false);
        check(&response("{}"), "", false);
        check(r#""plain""#, "plain", false);
        check(
            r#"[{"functionResponse":{"id":"b","response":{"output":"theirs"}}},
                {"functionResponse":{"id":"c","response":{"output":"mine"}}}]"#,
            "mine",
            false,
        );
        assert_eq!(answer(Field::default(), "c"), None);
    }
}
