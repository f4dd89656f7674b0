//! Writes made-up Claude Code sessions to disk, and says what is in them.
//!
//! ```text
//! cargo run --release -p toolpath-tests --example generate -- --bytes 100MB --seed 7 --out session.jsonl
//! cargo run --release -p toolpath-tests --example generate -- --bytes 200KB --sessions 1000 --dir sessions
//! ```

#![expect(clippy::print_stdout, reason = "a command that says what it did")]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Parser;
use toolpath_tests::generate::{Wanted, bytes_from, folder, session};

/// Writes made-up Claude Code sessions; the same seed gives the same bytes.
#[derive(Debug, Parser)]
struct Args {
    /// Bytes that a session has at least, with KB, MB or GB
    #[arg(long, value_name = "SIZE", value_parser = bytes_from, default_value = "1MB")]
    bytes: u64,
    /// Where chance begins
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write one session to FILE, with its sub-agents as sidechains
    #[arg(long, value_name = "FILE", required_unless_present = "dir", conflicts_with = "dir")]
    out: Option<PathBuf>,
    /// Write sessions into the folder DIR, with their sub-agents' files beside them
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// How many sessions to write into DIR
    #[arg(long, value_name = "N", default_value_t = 1, requires = "dir")]
    sessions: u64,
}

fn main() -> io::Result<()> {
    let args = Args::parse();
    let wanted = Wanted { bytes: args.bytes, seed: args.seed };
    let written = match (args.out, args.dir) {
        (Some(out), _) => {
            let mut to = BufWriter::new(File::create(out)?);
            let written = session(wanted, &mut to)?;
            to.flush()?;
            written
        }
        (None, Some(dir)) => folder(wanted, args.sessions, &dir)?.0,
        (None, None) => unreachable!("one of both is required"),
    };
    println!("{written:#?}");
    Ok(())
}
