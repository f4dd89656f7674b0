//! Kinds of records that this plugin does not know: the log is of a later format.

use std::collections::BTreeMap;

use toolpath_plugin_api::{Origin, Severity, Sink, Stopped};

use crate::shape::Record;

/// The kinds that are known; what becomes of each is told elsewhere.
const KNOWN: &[&str] = &[
    "agent-name",
    "ai-title",
    "assistant",
    "atis-latch",
    "attachment",
    "bridge-session",
    "compact_boundary",
    "content-replacement",
    "continued-in",
    "cost-state",
    "custom-title",
    "failed",
    "file-history-delta",
    "file-history-snapshot",
    "fork-context-ref",
    "frame-link",
    "last-prompt",
    "launched",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "result",
    "saved_hook_context",
    "started",
    "stream_event",
    "rate_limit_event",
    "summary",
    "system",
    "tag",
    "user",
    "worktree-state",
];
/// How many kinds are told apart; a log of more is none.
const MOST: usize = 100;
/// Characters of a name that are remembered and told.
const LONGEST: usize = 60;

/// The kinds that are not known, each with the version that wrote it, and how many records there are of it.
#[derive(Debug, Default)]
pub(crate) struct Novel(BTreeMap<(String, String), (u64, Origin)>);

impl Novel {
    /// Takes note of a record, in a log of which that version wrote last.
    pub(crate) fn see(&mut self, record: &Record<'_>, version: Option<&str>, origin: Origin) {
        let kind = record.kind.text().unwrap_or_default();
        if KNOWN.contains(&&*kind) {
            return;
        }
        let own = record.version.filled();
        let key = (short(&kind), short(own.as_deref().or(version).unwrap_or_default()));
        if self.0.len() < MOST || self.0.contains_key(&key) {
            self.0.entry(key).or_insert((0, origin)).0 += 1;
        }
    }

    /// Says of each kind how many there were, where the first of them stands.
    pub(crate) fn tell(&self, sink: &mut Sink<'_>) -> Result<(), Stopped> {
        let mut novel: Vec<_> = self.0.iter().collect();
        novel.sort_by_key(|(_, (_, origin))| (origin.file, origin.line, origin.offset));
        for ((kind, version), (count, origin)) in novel {
            let kind = if kind.is_empty() { "without a kind".to_owned() } else { format!("of the kind `{kind}`") };
            let by = if version.is_empty() { String::new() } else { format!(", written by version {version},") };
            let message = match count {
                1 => format!("a record {kind}{by} is unknown to this plugin; it is kept as an event"),
                _ => format!("{count} records {kind}{by} are unknown to this plugin; they are kept as events"),
            };
            sink.diagnostic(Severity::Info, "unknown-record-type", &message, *origin)?;
        }
        Ok(())
    }
}

fn short(name: &str) -> String {
    name.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_has_a_limit_and_the_log_lends_its_version() {
        let mut novel = Novel::default();
        for nth in 0..1000 {
            let json = format!(r#"{{"type":"{nth}{}"}}"#, "x".repeat(10_000));
            let record: Record<'_> = serde_json::from_str(&json).expect("a record");
            novel.see(&record, Some("3.0.0"), Origin::default());
        }
        assert_eq!(novel.0.len(), MOST);
        assert!(novel.0.keys().all(|(kind, version)| kind.len() == LONGEST && version == "3.0.0"));
    }
}
