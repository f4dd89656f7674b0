//! One bubble: who spoke, and what the bubble tells of it.
//!
//! A bubble holds one tool call at most, so a reply that calls several tools is several bubbles.

use std::borrow::Cow;

use toolpath_plugin_api::UsageRecord;
use toolpath_plugin_api::kit::field::Field;
use toolpath_plugin_api::kit::json::{RawValue, quoted};

use crate::facts::moment_of;
use crate::shape::{self, Details, Model, Timing, Tokens};
use crate::tools;

/// Who spoke in a bubble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The user.
    User,
    /// The model, or what speaks in its place.
    Assistant,
    /// Nobody that is known.
    Other,
}

/// A bubble's fields, read.
#[derive(Debug)]
pub(crate) struct Bubble<'a> {
    /// As they stand.
    pub(crate) shape: shape::Bubble<'a>,
    /// Who spoke.
    pub(crate) speaker: Speaker,
    /// When, if the bubble says so.
    pub(crate) time: Option<String>,
    /// What was said.
    pub(crate) text: Cow<'a, str>,
    /// What was thought.
    pub(crate) thinking: Option<String>,
    /// The tool that was called.
    pub(crate) tool: Option<Tool>,
    /// The error.
    pub(crate) error: Option<Notice>,
    /// A notice of the service's state.
    pub(crate) status: Option<Notice>,
}

/// A notice beside a bubble's text: its words, and all of it as JSON.
#[derive(Debug)]
pub(crate) struct Notice {
    pub(crate) words: String,
    pub(crate) json: String,
}

/// A tool call. Its arguments and its result are JSON within strings, which may be empty or broken.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// Its input as JSON.
    pub(crate) input: String,
    /// What the editor made of the input, where that is JSON.
    pub(crate) params: Option<String>,
    /// The text of its result, and whether the call failed.
    pub(crate) result: Option<(String, bool)>,
}

impl<'a> Bubble<'a> {
    /// Reads a bubble; `tool` is its tool call where older versions keep it elsewhere.
    pub(crate) fn of(shape: shape::Bubble<'a>, tool: Field<'_>) -> Self {
        let texts = [shape.text, shape.raw_text, shape.content];
        Self {
            shape,
            speaker: speaker(shape.kind),
            time: time(&shape),
            text: texts.into_iter().find_map(Field::filled).unwrap_or_default(),
            thinking: thinking(&shape),
            tool: Tool::of(if shape.tool.json().is_some() { shape.tool } else { tool }),
            error: Notice::of(shape.error),
            status: Notice::of(shape.status),
        }
    }

    /// Whether it has anything of a reply.
    pub(crate) fn has_reply(&self) -> bool {
        !self.text.trim().is_empty() || self.thinking.is_some() || self.tool.is_some()
    }

    /// Whether it is one for reasoning, which need not be shown.
    pub(crate) fn is_thought(&self) -> bool {
        self.shape.capability.count() == Some(30) || self.shape.thought_for.is_nonzero()
    }

    /// The model that the bubble names; `default` names none.
    pub(crate) fn model(&self) -> Option<Cow<'a, str>> {
        model_of(self.shape.model)
    }

    /// Its tokens; both zero is what is written where nobody counted.
    pub(crate) fn usage(&self) -> Option<UsageRecord<'static>> {
        let tokens: Tokens<'_> = self.shape.tokens.object()?;
        let mut usage = UsageRecord::default();
        (usage.input_tokens, usage.output_tokens) = (tokens.input.count(), tokens.output.count());
        let is_counted = [usage.input_tokens, usage.output_tokens].into_iter().flatten().any(|count| count > 0);
        is_counted.then_some(usage)
    }
}

/// The model that a `modelInfo` or a `modelConfig` names.
pub(crate) fn model_of(field: Field<'_>) -> Option<Cow<'_, str>> {
    let model: Model<'_> = field.object()?;
    model.name.filled().filter(|name| name != "default")
}

fn speaker(kind: Field<'_>) -> Speaker {
    match (kind.count(), kind.text().as_deref()) {
        (Some(1), _) | (_, Some("user")) => Speaker::User,
        (Some(2), _) | (_, Some("ai" | "assistant")) => Speaker::Assistant,
        _ => Speaker::Other,
    }
}

fn time(shape: &shape::Bubble<'_>) -> Option<String> {
    let timing: Timing<'_> = shape.timing.object_or_default();
    [shape.created, timing.sent, timing.started, timing.ended].into_iter().find_map(moment_of)
}

/// The reasoning stands in one of two places, and sometimes in both.
fn thinking(shape: &shape::Bubble<'_>) -> Option<String> {
    let text = |raw: Field<'_>| {
        let block: shape::Bubble<'_> = raw.object_or_default();
        block.text.filled().or_else(|| raw.filled().filter(|text| !text.is_empty())).map(|text| text.into_owned())
    };
    let one = text(shape.thinking).filter(|text| !text.trim().is_empty());
    one.or_else(|| {
        let blocks = shape.thoughts.list().unwrap_or_default();
        let blocks: Vec<String> = blocks.into_iter().filter_map(text).collect();
        Some(blocks.join("\n")).filter(|text| !text.trim().is_empty())
    })
}

impl Notice {
    /// The notice in a field: an object, or one written as a string; `None` when it says nothing.
    fn of(field: Field<'_>) -> Option<Self> {
        let text = field.filled();
        let nested = text.as_deref().map(Field::parse).filter(|nested| nested.is_object());
        let field = nested.unwrap_or(field);
        let json = field.json().filter(|json| is_filled(json))?.to_owned();
        Some(Self { words: words(field, 0).or(text.map(Cow::into_owned)).unwrap_or_default(), json })
    }
}

fn is_filled(json: &str) -> bool {
    match json.as_bytes() {
        [b'{', rest @ ..] => rest.contains(&b'"'),
        [b'"', ..] => json.len() > 2,
        _ => false,
    }
}

/// The message of a notice, or of what it nests.
fn words(field: Field<'_>, depth: u8) -> Option<String> {
    let details: Details<'_> = field.object()?;
    let own = details.message.filled().or_else(|| details.title.filled()).or_else(|| details.detail.filled());
    let nested = || [details.error, details.details].into_iter().find_map(|field| words(field, depth + 1));
    own.map(Cow::into_owned).or_else(|| if depth < 4 { nested() } else { None })
}

impl Tool {
    fn of(field: Field<'_>) -> Option<Self> {
        let tool: shape::Tool<'_> = field.object()?;
        let name = tools::name_of(tool.number.count(), tool.name.filled());
        if name.is_empty() && tool.call.filled().is_none() {
            return None;
        }
        let (raw, params) = (written(tool.raw_args), written(tool.params));
        let input = raw.filter(|raw| raw.starts_with('{')).or_else(|| params.clone());
        let texts = [tool.raw_args, tool.params].into_iter().find_map(Field::filled);
        // What is no JSON, because it broke off, is kept as a text.
        let input = input.or_else(|| texts.map(|text| quoted(&text))).unwrap_or_else(|| "null".to_owned());
        Some(Self { id: tool.call.filled().map(Into::into), name, input, params, result: outcome(&tool) })
    }
}

/// The JSON in a field: written into a string, or as it is.
fn written(field: Field<'_>) -> Option<String> {
    let json = match field.text() {
        Some(text) => serde_json::from_str::<&RawValue>(&text).ok()?.get().to_owned(),
        None => field.json()?.to_owned(),
    };
    Some(json)
}

fn outcome(tool: &shape::Tool<'_>) -> Option<(String, bool)> {
    let text = |field: Field<'_>| {
        field.text().or_else(|| field.json().map(Into::into)).filter(|text| !text.is_empty()).map(Cow::into_owned)
    };
    let (result, error) = (text(tool.result), text(tool.error));
    let is_refused = tool.decision.is("rejected");
    match tool.status.text().as_deref() {
        Some("completed") if is_refused => Some((error.or(result).unwrap_or_else(|| "rejected".to_owned()), true)),
        Some("completed") => Some((result.unwrap_or_default(), false)),
        Some("error") => Some((error.or(result).unwrap_or_default(), true)),
        Some(status @ ("rejected" | "cancelled")) => {
            Some((error.or(result).unwrap_or_else(|| status.to_owned()), true))
        }
        // It still runs, or the editor ended before it.
        Some(_) => None,
        // Older versions have no status.
        None => result.map(|result| (result, is_refused)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn bubble(json: &str) -> Bubble<'_> {
        Bubble::of(serde_json::from_str(json).expect("a bubble"), Field::default())
    }

    #[test]
    fn a_speaker_is_a_number_or_a_word() {
        for (json, speaker) in [
            ("1", Speaker::User),
            ("2", Speaker::Assistant),
            ("\"user\"", Speaker::User),
            ("\"ai\"", Speaker::Assistant),
            ("99", Speaker::Other),
            ("null", Speaker::Other),
            ("{}", Speaker::Other),
        ] {
            assert_eq!(bubble(&format!(r#"{{"type":{json}}}"#)).speaker, speaker, "{json}");
        }
    }

    #[test]
    fn thinking_stands_in_one_of_two_places() {
        let thinking = |json: &str| bubble(json).thinking;
        let both = r#"{"thinking":{"text":"a"},"allThinkingBlocks":[{"text":"b"}]}"#;
        assert_eq!(thinking(both).as_deref(), Some("a"));
        let blocks = r#"{"thinking":{"text":""},"allThinkingBlocks":[{"text":"b"},"c",7]}"#;
        assert_eq!(thinking(blocks).as_deref(), Some("b\nc"));
        assert_eq!(thinking(r#"{"thinking":7,"allThinkingBlocks":{}}"#), None);
    }

    #[test]
    fn a_time_is_taken_from_where_it_is_told() {
        let time = |json: &str| bubble(json).time;
        assert_eq!(time(r#"{"createdAt":"t","timingInfo":{"clientEndTime":1}}"#).as_deref(), Some("t"));
        let timing = r#"{"createdAt":null,"timingInfo":{"clientRpcSendTime":1780325474978.5,"clientEndTime":1}}"#;
        assert_eq!(time(timing).as_deref(), Some("2026-06-01T14:51:14.978Z"));
        assert_eq!(time("{}"), None);
    }

    #[test]
    fn zero_tokens_are_no_usage_and_default_is_no_model() {
        assert!(bubble(r#"{"tokenCount":{"inputTokens":0,"outputTokens":0}}"#).usage().is_none());
        assert!(bubble(r#"{"tokenCount":7}"#).usage().is_none());
        let usage = bubble(r#"{"tokenCount":{"inputTokens":0,"outputTokens":5}}"#).usage().expect("usage");
        assert_eq!((usage.input_tokens, usage.output_tokens), (Some(0), Some(5)));
        assert_eq!(bubble(r#"{"modelInfo":{"modelName":"default"}}"#).model(), None);
        assert_eq!(bubble(r#"{"modelInfo":{"modelName":"m-1"}}"#).model().as_deref(), Some("m-1"));
    }

    #[test]
    fn a_notice_is_an_object_or_one_in_a_string() {
        let words = |json: &str| bubble(&format!(r#"{{"errorDetails":{json}}}"#)).error.map(|notice| notice.words);
        assert_eq!(words(r#"{"message":"No"}"#).as_deref(), Some("No"));
        assert_eq!(words(r#""{\"message\":\"No\"}""#).as_deref(), Some("No"));
        assert_eq!(words(r#"{"error":{"details":{"title":"No"}}}"#).as_deref(), Some("No"));
        assert_eq!(words(r#""No""#).as_deref(), Some("No"));
        assert_eq!(words(r#"{"generationUUID":"g"}"#).as_deref(), Some(""));
        for none in ["null", "{}", "\"\"", "7", "true", "[]"] {
            assert_eq!(words(none), None, "{none}");
        }
    }

    #[test]
    fn a_tools_arguments_are_json_within_strings() {
        let tool = |json: &str| bubble(&format!(r#"{{"toolFormerData":{json}}}"#)).tool.map(|tool| tool.input);
        assert_eq!(tool(r#"{"tool":5,"rawArgs":"{\"a\": 1}","params":"{}"}"#).as_deref(), Some(r#"{"a": 1}"#));
        assert_eq!(tool(r#"{"tool":5,"rawArgs":"{\"a\"","params":"{\"b\":2}"}"#).as_deref(), Some(r#"{"b":2}"#));
        assert_eq!(tool(r#"{"tool":5,"rawArgs":"{\"a\"","params":""}"#).as_deref(), Some(r#""{\"a\"""#));
        assert_eq!(tool(r#"{"tool":5,"params":{"c":3}}"#).as_deref(), Some(r#"{"c":3}"#));
        assert_eq!(tool(r#"{"tool":5}"#).as_deref(), Some("null"));
        assert_eq!(tool("{}"), None);
        assert_eq!(tool("7"), None);
    }

    #[test]
    fn an_outcome_is_what_the_status_says() {
        let outcome = |fields: &str| {
            let json = format!(r#"{{"toolFormerData":{{"tool":5,{fields}}}}}"#);
            bubble(&json).tool.and_then(|tool| tool.result)
        };
        let text = |text: &str, is_error| Some((text.to_owned(), is_error));
        assert_eq!(outcome(r#""status":"completed","result":"{\"x\":1}""#), text(r#"{"x":1}"#, false));
        assert_eq!(outcome(r#""status":"completed""#), text("", false));
        assert_eq!(outcome(r#""status":"completed","result":"r","userDecision":"rejected""#), text("r", true));
        assert_eq!(outcome(r#""status":"error","error":"{\"e\":1}""#), text(r#"{"e":1}"#, true));
        assert_eq!(outcome(r#""status":"rejected""#), text("rejected", true));
        assert_eq!(outcome(r#""status":"cancelled""#), text("cancelled", true));
        assert_eq!(outcome(r#""status":"running","result":"r""#), None);
        assert_eq!(outcome(r#""result":"r""#), text("r", false));
        assert_eq!(outcome(r#""x":1"#), None);
    }
}
