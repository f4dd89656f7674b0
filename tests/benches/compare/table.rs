//! What was measured, as tables.

use std::fmt::Write;

use crate::measure::{Memory, Taken};
use crate::program::Program;

/// What a program took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) program: Program,
    /// Bytes that it wrote.
    pub(crate) output: u64,
    pub(crate) taken: Taken,
}

/// How much there was to do, before and now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) bytes: [u64; 2],
    pub(crate) ids: [u64; 2],
}

/// A line for each program. `peak` says which of the peaks of memory counts.
pub(crate) fn derived(rows: &[Row], bytes: u64, peak: impl Fn(Memory) -> u64) -> String {
    let wall_of = |program| rows.iter().find(|row| row.program == program).map(|row| row.taken.wall);
    let (jq, reference) = (wall_of(Program::Jq), wall_of(Program::Reference));
    let mut table = format!(
        "  {:12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>10}{:>14}\n",
        "", "wall", "CPU", "memory", "MB/s", "output", "to jq", "to reference"
    );
    for Row { program, output, taken } in rows {
        let to = |other: Option<f64>| times(other.map(|other| taken.wall / other));
        let _ = writeln!(
            table,
            "  {:12}{:>12}{:>12}{:>12}{:>12.1}{:>12}{:>10}{:>14}",
            program.name(),
            seconds(Some(taken.wall)),
            seconds(taken.cpu),
            taken.memory.map_or("-".to_owned(), |memory| format!("{} MB", megabytes(peak(memory)))),
            bytes as f64 / 1e6 / taken.wall,
            format!("{} MB", megabytes(*output)),
            to(jq),
            to(reference),
        );
    }
    table
}

/// How what each program takes grows with what there is to do.
pub(crate) fn growth(before: &[Row], now: &[Row], sizes: Sizes, peak: impl Fn(Memory) -> u64) -> String {
    let ratio = |pair: [u64; 2]| times(Some(pair[1] as f64 / pair[0] as f64));
    let mut table = format!(
        "  growth: bytes {}, ids {}\n  {:12}{:>12}{:>12}{:>12}\n",
        ratio(sizes.bytes),
        ratio(sizes.ids),
        "",
        "wall",
        "memory",
        "an id"
    );
    for row in now {
        let Some(earlier) = before.iter().find(|earlier| earlier.program == row.program) else { continue };
        let peaks = row.taken.memory.zip(earlier.taken.memory);
        let more = peaks.map(|(now, before)| peak(now) as f64 - peak(before) as f64);
        let ids = sizes.ids[1] as f64 - sizes.ids[0] as f64;
        let _ = writeln!(
            table,
            "  {:12}{:>12}{:>12}{:>12}",
            row.program.name(),
            times(Some(row.taken.wall / earlier.taken.wall)),
            more.map_or("-".to_owned(), |more| format!("{:+.1} MB", more / 1e6)),
            more.map_or("-".to_owned(), |more| format!("{:.0} B", more / ids)),
        );
    }
    table
}

pub(crate) fn seconds(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_owned(), |seconds| {
        if seconds < 0.1 { format!("{:.2} ms", seconds * 1e3) } else { format!("{seconds:.3} s") }
    })
}

/// Bytes in millions.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

fn times(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_owned(), |ratio| format!("x{ratio:.3}"))
}
