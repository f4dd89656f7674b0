//! Sub-agents' own files, told as branches of the session that started them.
//!
//! A sub-agent's file stands beside its session's when both began on one day. Its name holds its id, which the session
//! tells, and the local time of its start: the id tells that in UTC, and the session's own name by how much local time
//! differs. So the folder, which holds others' sessions, need not be listed.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use toolpath_plugin_api::kit::json::quoted;
use toolpath_plugin_api::{Origin, PluginError, Severity, Sink};

use crate::log::Log;
use crate::read::Reader;
use crate::sessions::{id_of, is_uuid};
use crate::survey::Survey;

/// Agents of agents are told down to this depth.
const DEEPEST: u32 = 8;
/// Local times differ from UTC by multiples of this many seconds.
const QUARTER: i64 = 900;

/// Finds sub-agents' files.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    /// The session's folder, and by how many seconds local time was ahead of UTC.
    place: Option<(PathBuf, i64)>,
    /// Sub-agents whose files were told.
    pub(crate) seen: HashSet<String>,
    /// Names of the files read, the session's own first.
    pub(crate) files: Vec<String>,
    depth: u32,
}

impl Agents {
    /// The session came without a place, so nothing stands beside it.
    pub(crate) fn unknown() -> Self {
        Self::default()
    }

    /// The session is the file at `path`.
    pub(crate) fn beside(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = ahead(&name).map(|ahead| (path.parent().unwrap_or(Path::new("")).to_owned(), ahead));
        Self { place, files: vec![name], ..Self::default() }
    }

    /// The file of the sub-agent `id`.
    fn file(&self, id: &str) -> Option<(PathBuf, String)> {
        // The id comes from the log and must not lead elsewhere.
        let (folder, ahead) = self.place.as_ref().filter(|_| id.len() == 36 && is_uuid(id))?;
        let started = started(id)?;
        // The name is made a moment before or after the id.
        [0, 1, -1, 2].iter().find_map(|late| {
            let time = started.checked_add(SignedDuration::from_secs(ahead + late)).ok()?;
            let time = TimeZone::UTC.to_datetime(time).strftime("%Y-%m-%dT%H-%M-%S");
            ["", ".zst"].iter().find_map(|end| {
                let name = format!("rollout-{time}-{id}.jsonl{end}");
                let path = folder.join(&name);
                path.is_file().then_some((path, name))
            })
        })
    }
}

/// By how many seconds local time was ahead of UTC when a file got its name.
fn ahead(name: &str) -> Option<i64> {
    let id = id_of(name);
    let local = name.strip_prefix("rollout-")?.get(..19)?;
    let local = DateTime::strptime("%Y-%m-%dT%H-%M-%S", local).ok()?;
    let seconds = TimeZone::UTC.to_timestamp(local).ok()?.as_second() - started(id)?.as_second();
    let ahead = (seconds + QUARTER / 2).div_euclid(QUARTER) * QUARTER;
    (ahead.abs() <= 15 * 3600).then_some(ahead)
}

/// The time in an id: its first 48 bits, when it is of the version that has one.
fn started(id: &str) -> Option<Timestamp> {
    if id.as_bytes().get(14) != Some(&b'7') {
        return None;
    }
    let digits = format!("{}{}", id.get(..8)?, id.get(9..13)?);
    Timestamp::from_millisecond(i64::from_str_radix(&digits, 16).ok()?).ok()
}

impl Reader {
    /// Tells the file of the sub-agent `agent` as a branch that starts at `call`, if there is one.
    pub(crate) fn read_agent(&mut self, agent: &str, call: &str, sink: &mut Sink<'_>) -> Result<(), PluginError> {
        if self.agents.depth >= DEEPEST || self.agents.seen.contains(agent) {
            return Ok(());
        }
        let Some((path, name)) = self.agents.file(agent) else { return Ok(()) };
        self.agents.seen.insert(agent.to_owned());
        let read = File::open(path).map_err(PluginError::from).and_then(Log::of);
        let read = read.and_then(|log| Ok((Survey::of(&log)?, log)));
        let (survey, log) = match read {
            Ok(read) if read.0.is_recognised => read,
            other => {
                let reason = other.err().map_or_else(|| "holds no record of Codex".to_owned(), |err| err.to_string());
                let message = format!("the sub-agent's file `{name}` is left out: {reason}");
                let at = Origin { file: self.file, ..Origin::default() };
                return Ok(sink.diagnostic(Severity::Warning, "unreadable-sub-agent", &message, at)?);
            }
        };
        let mut agents = std::mem::take(&mut self.agents);
        agents.files.push(name);
        agents.depth += 1;
        let mut child = Self::new(agent.to_owned(), survey, agents);
        child.file = u32::try_from(child.agents.files.len() - 1).unwrap_or(u32::MAX);
        child.prefix = format!("{agent}/");
        child.branch = Some(format!(r#"{{"call":{},"agent":{}}}"#, quoted(call), quoted(agent)));
        let mut session = self.facts.base(self.session());
        session.files = child.agents.files.iter().map(String::as_str).collect();
        sink.session(&session)?;
        child.session.clone_from(&self.session);
        child.read(&log, sink)?;
        self.records += child.records;
        self.agents = child.agents;
        self.agents.depth -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: &str = "rollout-2026-05-04T10-15-01-019df1f0-0a88-7000-8000-0000000000a1.jsonl";

    #[test]
    fn a_sub_agents_file_is_named_by_its_id_and_its_local_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let (id, name) = ("019df1f0-f4e8-7000-8000-0000000000b1", "019df1f0-f4e8-7000-8000-0000000000b1.jsonl");
        let started = started(id).expect("a time");
        let ahead = ahead(SESSION).expect("a difference");
        let local = started.checked_add(SignedDuration::from_secs(ahead)).expect("a time");
        let local = TimeZone::UTC.to_datetime(local);
        let name = format!("rollout-{}-{name}", local.strftime("%Y-%m-%dT%H-%M-%S"));
        let agents = Agents::beside(&folder.path().join(SESSION));
        assert_eq!(agents.file(id), None);
        std::fs::write(folder.path().join(&name), "").expect("a file");
        assert_eq!(agents.file(id), Some((folder.path().join(&name), name)));
    }

    #[test]
    fn what_is_no_id_with_a_time_has_no_file() {
        let agents = Agents::beside(Path::new(SESSION));
        for id in
            ["../../etc/passwd", "", "019df1f0-f4e8-4000-8000-0000000000b1", "019df1f0-f4e8-7000-8000-0000000000bé"]
        {
            assert_eq!(agents.file(id), None, "{id}");
        }
        assert_eq!(ahead("session.jsonl"), None);
        assert_eq!(Agents::unknown().file("019df1f0-f4e8-7000-8000-0000000000b1"), None);
    }
}
