//! Measures whole runs of the host, side by side with jq and with the format's reference implementation.
//!
//! `cargo bench -p toolpath-tests --bench compare` derives sessions of several sizes, made for the purpose in a temporary
//! folder, and prints what each program took and how it grows. The programs take turns (A B C D A B C D ...), so that
//! what else the machine does falls on all of them, and the middle of their runs is shown. All write to the null device;
//! a first run of each, which is not counted, writes to a file and shows how much. `--help` tells what else there is.

#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

mod measure;
mod program;
mod table;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::process::{Command, Stdio};

use clap::Parser;
use toolpath_tests::generate::{Wanted, Written, bytes_from, folder, session, session_id};

use crate::measure::{Taken, look_at, median, time};
use crate::program::{Home, Program};
use crate::table::{Row, Sizes, derived, growth, megabytes, seconds};

/// Compares whole runs of the host, jq and the reference.
///
/// Without --listing, --startup and --audit it derives sessions. The reference is `path` of the crate path-cli:
/// `cargo install path-cli --version 0.26.0`. What is not on PATH is left out.
#[derive(Debug, Parser)]
#[command(name = "compare")]
struct Args {
    /// Derive sessions of these sizes
    #[arg(long, value_name = "SIZE,...", value_delimiter = ',', value_parser = bytes_from)]
    sizes: Vec<u64>,
    /// List that many sessions of 200 KB
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "1000")]
    listing: Option<u64>,
    /// Start and end at once, 50 times
    #[arg(long)]
    startup: bool,
    /// Audit that many sessions of 100 KB as one set, and twice as many
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "5000")]
    audit: Option<u64>,
    /// Run only these programs
    #[arg(long, value_name = "PROGRAM,...", value_enum, value_delimiter = ',', default_values_t = Program::ALL)]
    only: Vec<Program>,
    /// How often each program runs
    #[arg(long, value_name = "N", default_value_t = 5)]
    runs: usize,
    /// Where chance begins
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Cargo passes this.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let mut args = Args::parse();
    if args.sizes.is_empty() && args.listing.is_none() && args.audit.is_none() && !args.startup {
        args.sizes = [1, 10, 100, 500].map(|megabytes| megabytes * 1_000_000).to_vec();
    }
    let mut programs = Vec::new();
    for &program in &args.only {
        match program.is_here() {
            Ok(()) => programs.push(program),
            Err(reason) => println!("left out: {reason}"),
        }
    }
    let home = Home::new();
    derive(&args, &home, &programs);
    if let Some(count) = args.listing {
        list(&args, &home, &programs, count);
    }
    if args.startup {
        start(&home, &programs);
    }
    if let Some(count) = args.audit {
        audit(&args, &home, &programs, count);
    }
}

/// How often a program's memory is looked at, at most.
const LOOKS: usize = 3;

/// Runs each of them once, to a file, and then all in turn: timed, and then with their memory looked at. What fails is said
/// and left out.
fn in_turn(runs: usize, home: &Home, programs: &[Program], command: &dyn Fn(Program) -> Option<Command>) -> Vec<Row> {
    let mut measured: Vec<(Program, u64, Vec<Taken>)> = Vec::new();
    for &program in programs {
        let Some(mut command) = command(program) else { continue };
        let file = home.path("output");
        let output = File::create(&file).expect("a file in the temporary folder");
        match time(&mut command, output.into()) {
            Ok(_) => measured.push((program, fs::metadata(&file).map_or(0, |about| about.len()), Vec::new())),
            Err(reason) => println!("{} {reason}", program.name()),
        }
        fs::remove_file(&file).expect("the file that was just made");
    }
    for _ in 0..runs.max(1) {
        for (program, _, taken) in &mut measured {
            let mut command = command(*program).expect("there was one before");
            taken.push(time(&mut command, Stdio::null()).expect("what succeeded before does again"));
        }
    }
    for nth in 0..runs.clamp(1, LOOKS) {
        for (program, _, taken) in &mut measured {
            let mut command = command(*program).expect("there was one before");
            taken[nth].memory = look_at(&mut command, Stdio::null()).expect("what succeeded before does again");
        }
    }
    let row = |(program, output, taken): (Program, u64, Vec<Taken>)| Row { program, output, taken: median(&taken) };
    measured.into_iter().map(row).collect()
}

fn derive(args: &Args, home: &Home, programs: &[Program]) {
    let mut earlier: Option<(Written, Vec<Row>)> = None;
    for (seed, &bytes) in (args.seed..).zip(&args.sizes) {
        let wanted = Wanted { bytes, seed };
        let file = home.sessions().join(format!("{}.jsonl", session_id(wanted)));
        let mut to = BufWriter::new(File::create(&file).expect("a file in the temporary folder"));
        let written = session(wanted, &mut to).and_then(|written| {
            to.flush()?;
            // Else the system writes it to the disk while the programs run.
            to.get_ref().sync_all()?;
            Ok(written)
        });
        let written = written.expect("room in the temporary folder");
        println!("\nderive {} MB, {} lines, {} ids", megabytes(written.bytes), written.lines, written.ids);
        let rows = in_turn(args.runs, home, programs, &|program| Some(program.derives(home, &file)));
        print!("{}", derived(&rows, written.bytes, |memory| memory.each));
        if let Some((before, earlier)) = &earlier {
            let sizes = Sizes { bytes: [before.bytes, written.bytes], ids: [before.ids, written.ids] };
            print!("{}", growth(earlier, &rows, sizes, |memory| memory.each));
        }
        earlier = Some((written, rows));
        home.clear();
    }
}

fn list(args: &Args, home: &Home, programs: &[Program], count: u64) {
    let wanted = Wanted { bytes: 200_000, seed: args.seed };
    let (written, _) = folder(wanted, count, &home.sessions()).expect("room in the temporary folder");
    println!("\nlist {count} sessions, {} MB", megabytes(written.bytes));
    let rows = in_turn(args.runs, home, programs, &|program| program.lists(home));
    print!("{}", derived(&rows, written.bytes, |memory| memory.each));
    home.clear();
}

fn start(home: &Home, programs: &[Program]) {
    const RUNS: usize = 50;
    let plugins = toolpath_tests::released().plugins.len();
    println!("\nstart and end, median of {RUNS}, {plugins} plugins");
    let mut starts: Vec<_> = programs
        .iter()
        .flat_map(|program| program.starts(home))
        .map(|(name, command)| (name, command, Vec::new()))
        .collect();
    for _ in 0..RUNS {
        for (name, command, taken) in &mut starts {
            match time(command, Stdio::null()) {
                Ok(run) => taken.push(run),
                Err(reason) => println!("{name} {reason}"),
            }
        }
    }
    for (name, _, taken) in &starts {
        println!("  {name:24} {:>10}", seconds(Some(median(taken).wall)));
    }
}

fn audit(args: &Args, home: &Home, programs: &[Program], count: u64) {
    let mut earlier: Option<(Written, Vec<Row>)> = None;
    for (seed, count) in (args.seed..).zip([count, 2 * count]) {
        let wanted = Wanted { bytes: 100_000, seed };
        let (written, _) = folder(wanted, count, &home.sessions()).expect("room in the temporary folder");
        println!("\naudit {count} sessions, {} MB, {} ids", megabytes(written.bytes), written.ids);
        let rows = in_turn(args.runs, home, programs, &|program| program.audits(home));
        print!("{}", derived(&rows, written.bytes, |memory| memory.at_once));
        if let Some((before, earlier)) = &earlier {
            let sizes = Sizes { bytes: [before.bytes, written.bytes], ids: [before.ids, written.ids] };
            print!("{}", growth(earlier, &rows, sizes, |memory| memory.at_once));
        }
        earlier = Some((written, rows));
        home.clear();
    }
}
