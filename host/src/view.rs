//! Writes the conversation in wire form: what other programs read and write.
//!
//! Turns carry the ids of their steps, and the turn they follow; an event names the turn on whose line it stands.

use std::io::{self, Write};

use serde::Serialize;

use crate::document::Producer;
use crate::intake::Conversation;
use crate::turn::TokenUsage;

/// What comes before the turns.
#[derive(Serialize)]
struct First<'a> {
    id: &'a str,
    started_at: Option<&'a str>,
    last_activity: Option<&'a str>,
}

#[derive(Serialize)]
struct Base<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    working_dir: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vcs_revision: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vcs_branch: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vcs_remote: Option<&'a str>,
}

/// What follows the turns.
#[derive(Serialize)]
struct Before<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    total_usage: Option<&'a TokenUsage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_id: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    files_changed: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    session_ids: &'a [String],
}

/// What follows the events.
#[derive(Serialize)]
struct After<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<Base<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    producer: Option<Producer<'a>>,
}

/// Writes `conversation`, without a line feed after it.
pub fn write(conversation: Conversation, out: &mut dyn Write) -> io::Result<()> {
    let source = conversation.source().map(str::to_owned);
    let Conversation { facts, steps, .. } = conversation;
    let mut pieces = steps.pieces;
    let first =
        First { id: &facts.id, started_at: facts.started_at.as_deref(), last_activity: facts.last_activity.as_deref() };
    out.write_all(b"{")?;
    out.write_all(fields(&first)?.as_bytes())?;
    out.write_all(b",\"turns\":[")?;
    pieces.write_list(out)?;
    out.write_all(b"]")?;
    let before = Before {
        total_usage: facts.total_usage.as_ref(),
        provider_id: source.as_deref(),
        files_changed: facts.files_changed.as_deref().unwrap_or(pieces.files()),
        session_ids: &facts.session_ids,
    };
    write_fields(&before, out)?;
    if pieces.has_events() {
        out.write_all(b",\"events\":[")?;
        pieces.write_events(out)?;
        out.write_all(b"]")?;
    }
    let base = Base {
        working_dir: facts.working_dir.as_deref(),
        vcs_revision: facts.vcs_revision.as_deref(),
        vcs_branch: facts.vcs_branch.as_deref(),
        vcs_remote: facts.vcs_remote.as_deref(),
    };
    let is_known = base.working_dir.or(base.vcs_revision).or(base.vcs_branch).or(base.vcs_remote).is_some();
    write_fields(&After { base: Some(base).filter(|_| is_known), producer: Producer::of(&facts) }, out)?;
    out.write_all(b"}")
}

/// Writes the fields of `part`, each behind a comma.
fn write_fields(part: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let fields = fields(part)?;
    if fields.is_empty() { Ok(()) } else { write!(out, ",{fields}") }
}

/// An object's text without its braces.
fn fields(part: &impl Serialize) -> io::Result<String> {
    let text = serde_json::to_string(part)?;
    Ok(text[1..text.len() - 1].to_owned())
}
