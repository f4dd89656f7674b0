//! The parts of a message: what was said, thought, called, and what is none of these.

use std::borrow::Cow;

use toolpath_plugin_api::kit::field::Field;

use crate::shape::{self, State};
use crate::store::Row;
use crate::tools;

/// One part.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    /// Its record.
    pub(crate) row: &'a Row,
    /// Its fields; none when it cannot be read.
    pub(crate) shape: shape::Part<'a>,
    /// What it is.
    pub(crate) kind: Kind<'a>,
}

/// What a part is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    /// Words.
    Text,
    /// Words that the harness added.
    Synthetic,
    /// Words that are shown and that no model sees.
    Ignored,
    /// Reasoning.
    Reasoning,
    /// A tool call.
    Tool,
    /// A file that was attached.
    File,
    /// Work that a slash command hands to a sub-agent.
    Subtask,
    /// The mark of a compaction.
    Compaction,
    /// The beginning of a model call.
    StepStart,
    /// Its end.
    StepFinish,
    /// Any other, by its type.
    Other(Cow<'a, str>),
    /// It cannot be read.
    Unreadable,
}

impl<'a> Part<'a> {
    /// The part in a row.
    pub(crate) fn of(row: &'a Row) -> Self {
        let shape = row.data.as_deref().ok().and_then(|json| serde_json::from_str::<shape::Part<'a>>(json).ok());
        let Some(shape) = shape else { return Self { row, shape: shape::Part::default(), kind: Kind::Unreadable } };
        let kind = match &*shape.kind.text().unwrap_or_default() {
            "text" if shape.text.text().is_none() => Kind::Other("text".into()),
            "text" if shape.synthetic.flag() => Kind::Synthetic,
            "text" if shape.ignored.flag() => Kind::Ignored,
            "text" => Kind::Text,
            "reasoning" if shape.text.text().is_some() => Kind::Reasoning,
            "tool" => Kind::Tool,
            "file" => Kind::File,
            "subtask" => Kind::Subtask,
            "compaction" => Kind::Compaction,
            "step-start" => Kind::StepStart,
            "step-finish" => Kind::StepFinish,
            _ => Kind::Other(shape.kind.filled().unwrap_or("part".into())),
        };
        Self { row, shape, kind }
    }

    /// The name of its kind, for the event it may become.
    pub(crate) fn name(&self) -> &str {
        match &self.kind {
            Kind::Text => "text",
            Kind::Synthetic => "synthetic-text",
            Kind::Ignored => "ignored-text",
            Kind::Reasoning => "reasoning",
            Kind::Tool => "tool",
            Kind::File => "file",
            Kind::Subtask => "subtask",
            Kind::Compaction => "compaction",
            Kind::StepStart => "step-start",
            Kind::StepFinish => "step-finish",
            Kind::Other(name) => name,
            Kind::Unreadable => "unreadable",
        }
    }

    /// Its text, when there is more than white space.
    pub(crate) fn words(&self) -> Option<Cow<'a, str>> {
        self.shape.text.text().filter(|text| !text.trim().is_empty())
    }

    /// What stands in the message's text for what is no text: `[file: a.png, image/png]`.
    pub(crate) fn placeholder(&self) -> String {
        let notes = match self.kind {
            Kind::File => {
                // A `data:` address is the file itself.
                let url = self.shape.url.filled().filter(|url| !url.starts_with("data:"));
                [self.shape.file_name.filled().or(url), self.shape.mime.filled()]
            }
            _ => [self.shape.command.filled().or_else(|| self.shape.agent.filled()), self.shape.description.filled()],
        };
        let notes: Vec<_> = notes.into_iter().flatten().collect();
        let name = self.name();
        if notes.is_empty() { format!("[{name}]") } else { format!("[{name}: {}]", notes.join(", ")) }
    }
}

/// One tool call and what came of it.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// Id that its result refers to.
    pub(crate) id: String,
    /// The tool's name.
    pub(crate) name: Cow<'a, str>,
    /// Its input as JSON.
    pub(crate) input: Field<'a>,
    /// Its result's text, and whether it failed.
    pub(crate) result: Option<(Cow<'a, str>, bool)>,
    /// What the tool reports beside its result.
    pub(crate) metadata: Field<'a>,
    /// Files that came with the result.
    pub(crate) attachments: Field<'a>,
}

impl<'a> Call<'a> {
    /// The call that `state` tells of.
    pub(crate) fn of(id: String, name: Cow<'a, str>, state: Field<'a>) -> Self {
        let state: State<'a> = state.object_or_default();
        let result = match &*state.status.text().unwrap_or_default() {
            "completed" => Some((answer(&state), name == tools::INVALID)),
            "error" => Some((failure(&state), true)),
            // It is still running, or opencode ended before it.
            _ => None,
        };
        let input = if state.input.json().is_some() { state.input } else { state.raw };
        Self { id, name, input, result, metadata: state.metadata, attachments: state.attachments }
    }

    /// Its input as JSON.
    pub(crate) fn input_json(&self) -> &'a str {
        self.input.json().unwrap_or("null")
    }
}

/// What a tool answered: a text, or in the newest model a list of texts and files.
fn answer<'a>(state: &State<'a>) -> Cow<'a, str> {
    if let Some(text) = state.output.text() {
        return text;
    }
    let Some(pieces) = state.content.list() else { return state.output.json().unwrap_or_default().into() };
    let pieces: Vec<Cow<'_, str>> = pieces
        .iter()
        .map(|raw| {
            let piece: shape::Part<'_> = raw.object_or_default();
            piece.text.text().unwrap_or_else(|| {
                let mime = piece.mime.filled().unwrap_or_default();
                if mime.is_empty() { "[file]".into() } else { format!("[file: {mime}]").into() }
            })
        })
        .collect();
    pieces.join("\n").into()
}

fn failure<'a>(state: &State<'a>) -> Cow<'a, str> {
    let message = || state.error.object::<shape::Error<'a>>()?.message.text();
    state.error.text().or_else(message).unwrap_or_else(|| state.error.json().unwrap_or_default().into())
}

/// The texts that are not empty, joined by newlines.
pub(crate) fn joined<'a>(texts: impl IntoIterator<Item = Cow<'a, str>>) -> String {
    let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}
