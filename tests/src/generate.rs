//! Made-up sessions of any length, as Claude Code writes them, for tests and benchmarks.
//!
//! The same seed gives the same bytes, and a session goes to its writer record by record, so memory stays flat.
//! [`Written`] says what a reader has to find in it. In about the proportions of real sessions, one has:
//!
//! - responses with a line for each block (thinking, text, calls), which share the message's id and repeat its usage
//! - results of 1 to 50 KB, which the harness repeats in `toolUseResult`
//! - edits with the file as it was and the patch, written files, failed commands
//! - sub-agents: as sidechains in the session's file, or in files of their own
//! - what the harness says itself: API errors shown as replies, caveats and interruptions in the user's place
//! - rows of progress, snapshots, attachments, system records
//! - texts in several scripts, with what JSON has to escape

mod call;
mod chance;
mod exchange;
mod log;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::AddAssign;
use std::path::{Path, PathBuf};

use self::chance::Chance;
use self::exchange::exchange;
use self::log::Log;

/// The directory in which every session says that it ran.
pub const PROJECT: &str = log::PROJECT;

/// What to make.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Bytes that a session has at least, its sub-agents' files included; it ends soon after them.
    pub bytes: u64,
    /// Where chance begins.
    pub seed: u64,
}

/// Tokens, by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the classes of a document's usage")]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Sessions.
    pub sessions: u64,
    /// Bytes, sub-agents' files included.
    pub bytes: u64,
    /// Lines, each of which is a record.
    pub lines: u64,
    /// Different ids that a reader meets: of records, responses and calls.
    pub ids: u64,
    /// Responses of models.
    pub responses: u64,
    /// Turns that the harness wrote itself, in either position.
    pub harness_turns: u64,
    /// Sub-agents.
    pub agents: u64,
    /// Tokens of all responses.
    pub tokens: Tokens,
}

/// The id of the session that [`session`] writes.
pub fn session_id(wanted: Wanted) -> String {
    Chance::new(wanted.seed).uuid()
}

/// Writes one session, with its sub-agents as sidechains, as older versions did.
pub fn session(wanted: Wanted, to: &mut dyn Write) -> io::Result<Written> {
    let mut chance = Chance::new(wanted.seed);
    let id = chance.uuid();
    let mut written = Written::default();
    write(wanted.bytes, &mut chance, &id, None, to, &mut written)?;
    Ok(written)
}

/// Writes sessions into a folder, `<id>.jsonl` each, with their sub-agents' files in `<id>/subagents`; answers what was
/// written and the sessions' files.
pub fn folder(wanted: Wanted, sessions: u64, folder: &Path) -> io::Result<(Written, Vec<PathBuf>)> {
    fs::create_dir_all(folder)?;
    let mut chance = Chance::new(wanted.seed);
    let (mut written, mut files) = (Written::default(), Vec::new());
    for _ in 0..sessions {
        let id = chance.uuid();
        let file = folder.join(format!("{id}.jsonl"));
        let mut to = BufWriter::new(File::create(&file)?);
        write(wanted.bytes, &mut chance, &id, Some(&folder.join(&id).join("subagents")), &mut to, &mut written)?;
        to.flush()?;
        files.push(file);
    }
    Ok((written, files))
}

fn write(
    bytes: u64,
    chance: &mut Chance,
    id: &str,
    agents: Option<&Path>,
    to: &mut dyn Write,
    written: &mut Written,
) -> io::Result<()> {
    let end = written.bytes + bytes;
    let version = if agents.is_some() { "2.1.39" } else { "1.0.120" };
    let mut log = Log { to, session: id, version, agent: None, is_sidechain: false, tip: None, written };
    while log.written.bytes < end {
        exchange(&mut log, chance, agents, end)?;
    }
    log.written.sessions += 1;
    Ok(())
}

/// Bytes as people write them: `12345`, `200KB`, `10MB`, `1GB`, in powers of a thousand.
pub fn bytes_from(text: &str) -> Result<u64, String> {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1000), ("", 1)];
    let (number, unit) = units
        .iter()
        .find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size)))
        .expect("every text ends with nothing");
    let number: Option<u64> = number.trim().parse().ok();
    number.and_then(|number| number.checked_mul(unit)).ok_or(format!("`{text}` is no number of bytes, like 200KB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(seed: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let written = session(Wanted { bytes: 300_000, seed }, &mut bytes).expect("memory takes everything");
        assert_eq!(written.bytes, bytes.len() as u64);
        bytes
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
        assert_eq!(bytes(7), bytes(7));
        assert_ne!(bytes(7), bytes(8));
    }

    #[test]
    fn a_session_reaches_its_size_and_ends_soon_after() {
        let size = bytes(7).len();
        assert!((300_000..1_000_000).contains(&size), "{size}");
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(bytes_from("12345"), Ok(12345));
        assert_eq!(bytes_from("200KB"), Ok(200_000));
        assert_eq!(bytes_from("1GB"), Ok(1_000_000_000));
        assert_eq!(bytes_from("many"), Err("`many` is no number of bytes, like 200KB".to_owned()));
        assert_eq!(bytes_from("KB"), Err("`KB` is no number of bytes, like 200KB".to_owned()));
    }
}
