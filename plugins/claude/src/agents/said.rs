//! What a sub-agent's file holds, so that what the session repeats of it is known.
//!
//! The two copies of a record have the same uuid in most versions; where they have not, the ids of calls and results and
//! the text tell that they are one.

use std::collections::HashSet;
use std::io::Read;

use toolpath_plugin_api::kit::json::mend_surrogates;
use toolpath_plugin_api::kit::lines::{Lines, trim};

use crate::content::Content;
use crate::digest;
use crate::lines::{End, Piece, Pieces};
use crate::shape::{Message, Record};

/// Digests of everything that was said.
#[derive(Debug, Default)]
pub(super) struct Said(HashSet<u128>);

impl Said {
    /// What `log` holds, as far as it can be read.
    pub(super) fn of(log: impl Read) -> Self {
        let mut said = HashSet::new();
        let mut lines = Lines::new(log);
        while let Ok(Some(line)) = lines.next() {
            let (text, _) = line.text();
            let mended = mend_surrogates(&text);
            for piece in Pieces::of(trim(mended.as_deref().unwrap_or(&text)), End::Newline) {
                if let Piece::Record(record, _) = piece {
                    said.extend(keys(&record));
                }
            }
        }
        Self(said)
    }

    /// Whether it holds what `record` says.
    pub(super) fn holds(&self, record: &Record<'_>) -> bool {
        keys(record).iter().any(|key| self.0.contains(key))
    }
}

/// What a record can be known by.
fn keys(record: &Record<'_>) -> Vec<u128> {
    let mut keys: Vec<_> = record.uuid.filled().iter().map(|id| digest::of(&["uuid", id])).collect();
    let Some(message) = Message::of(record.message) else { return keys };
    let content = Content::of(message.content, "", false);
    // A call without an id of its own was given one that begins with the record's, which is empty here.
    let calls = content.calls.iter().filter(|call| !call.id.starts_with('/'));
    keys.extend(calls.map(|call| digest::of(&["call", &call.id])));
    keys.extend(content.results.iter().filter_map(|result| Some(digest::of(&["result", &*result.tool_use_id.id()?]))));
    if !content.text.trim().is_empty() {
        keys.push(digest::of(&["text", &record.kind.text().unwrap_or_default(), content.text.trim()]));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"{"type":"user","uuid":"u","message":{"content":"look"}}
{broken
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t"}]}}{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}
{"type":"system"}"#;

    #[test]
    fn a_record_is_known_by_its_id_or_by_what_it_says() {
        let said = Said::of(LOG.as_bytes());
        for (json, expected) in [
            (r#"{"type":"user","uuid":"u"}"#, true),
            (r#"{"type":"user","uuid":"other","message":{"content":[{"type":"text","text":" look "}]}}"#, true),
            (r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t"}]}}"#, true),
            (r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}"#, true),
            (r#"{"type":"assistant","message":{"content":"look"}}"#, false),
            (r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"v"}]}}"#, false),
            (r#"{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}"#, false),
            (r#"{"type":"user"}"#, false),
        ] {
            let record: Record<'_> = serde_json::from_str(json).expect("a record");
            assert_eq!(said.holds(&record), expected, "{json}");
        }
    }
}
