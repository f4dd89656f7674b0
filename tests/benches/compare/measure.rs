//! What one run of a program takes: time, processor time of all its processes, and their memory.
//!
//! Processor time is what the system adds up for children that ended, and their children. Memory is looked at while the
//! program runs: `VmHWM` of it and of every process below it, at least every 5 ms and more often in the beginning, so
//! growth in the last moment of a process can be missed. The system's own number for a whole run, `ru_maxrss`, will not
//! do: it is that of the largest process only, and a process that starts another passes its own on. Looking takes time of
//! its own, from which a program that keeps all processors busy suffers most: so a run is looked at or timed, not both.

#![expect(unsafe_code, reason = "asks the system for the time that children took")]

use std::collections::HashMap;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks at the memory: a twentieth of what the run has taken so far, within these bounds.
const SHORTEST: Duration = Duration::from_micros(500);
const LONGEST: Duration = Duration::from_millis(5);

/// What a run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) wall: f64,
    /// User and system; `None` where the system does not say.
    pub(crate) cpu: Option<f64>,
    /// Bytes; `None` where the system does not say.
    pub(crate) memory: Option<Memory>,
}

/// Peaks of memory, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// Each process's peak, added up: for a host and its one worker.
    pub(crate) each: u64,
    /// The most that the processes of one moment had as their peaks: for a host that has many workers in its time.
    pub(crate) at_once: u64,
}

/// Runs a program to its end and looks at its memory; says what is wrong when it does not succeed.
pub(crate) fn look_at(command: &mut Command, output: Stdio) -> Result<Option<Memory>, String> {
    run(command, output, |child| {
        let (id, has_ended) = (child.id(), AtomicBool::new(false));
        std::thread::scope(|threads| {
            let watch = threads.spawn(|| watch(id, &has_ended));
            let status = child.wait();
            has_ended.store(true, Ordering::Relaxed);
            (status, watch.join().unwrap_or_default())
        })
    })
}

/// Runs a program to its end, without a look at its memory; says what is wrong when it does not succeed.
pub(crate) fn time(command: &mut Command, output: Stdio) -> Result<Taken, String> {
    let before = cpu_of_children();
    let start = Instant::now();
    let wall = run(command, output, |child| (child.wait(), start.elapsed()))?;
    let cpu = cpu_of_children().zip(before).map(|(after, before)| (after - before).as_secs_f64());
    Ok(Taken { wall: wall.as_secs_f64(), cpu, memory: None })
}

fn run<T>(
    command: &mut Command,
    output: Stdio,
    wait: impl FnOnce(&mut Child) -> (io::Result<ExitStatus>, T),
) -> Result<T, String> {
    command.stdin(Stdio::null()).stdout(output).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|err| format!("does not start: {err}"))?;
    let (status, waited) = wait(&mut child);
    let status = status.map_err(|err| format!("does not end: {err}"))?;
    if status.success() { Ok(waited) } else { Err(format!("failed: {status}")) }
}

/// User and system time of all children that ended so far, and of theirs.
#[cfg(unix)]
fn cpu_of_children() -> Option<Duration> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the system fills the struct that it is given, all of whose bytes may be zero.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) != 0 {
            return None;
        }
        usage.assume_init()
    };
    let time = |time: libc::timeval| {
        Some(Duration::from_secs(time.tv_sec.try_into().ok()?) + Duration::from_micros(time.tv_usec.try_into().ok()?))
    };
    Some(time(usage.ru_utime)? + time(usage.ru_stime)?)
}

#[cfg(not(unix))]
fn cpu_of_children() -> Option<Duration> {
    None
}

fn watch(id: u32, has_ended: &AtomicBool) -> Option<Memory> {
    let mut peaks: HashMap<u32, u64> = HashMap::new();
    let (mut at_once, start) = (0, Instant::now());
    while !has_ended.load(Ordering::Relaxed) {
        let mut alive = Vec::new();
        look(id, None, &mut alive);
        at_once = at_once.max(alive.iter().map(|(_, peak)| peak).sum());
        peaks.extend(alive);
        std::thread::sleep((start.elapsed() / 20).clamp(SHORTEST, LONGEST));
    }
    let each = peaks.values().sum();
    (each > 0).then_some(Memory { each, at_once })
}

/// Adds a process and those below it, each with its peak.
fn look(id: u32, parent: Option<&[u8]>, alive: &mut Vec<(u32, u64)>) {
    let Ok(words) = std::fs::read(format!("/proc/{id}/cmdline")) else { return };
    // Until it becomes a program of its own, a new process has its parent's memory.
    if parent.is_some_and(|parent| parent == words) {
        return;
    }
    let Ok(status) = std::fs::read_to_string(format!("/proc/{id}/status")) else { return };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    if let Some(peak) = peak.map(|peak: u64| peak * 1024) {
        alive.push((id, peak));
    }
    for thread in std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten() {
        let children = std::fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace().filter_map(|child| child.parse().ok()) {
            look(child, Some(&words), alive);
        }
    }
}

/// The middle of several runs, each number by itself.
pub(crate) fn median(runs: &[Taken]) -> Taken {
    let middle = |number: &dyn Fn(&Taken) -> Option<f64>| {
        let mut numbers: Vec<f64> = runs.iter().filter_map(number).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.get(numbers.len() / 2).copied()
    };
    let bytes =
        |number: &dyn Fn(Memory) -> u64| middle(&|run| Some(number(run.memory?) as f64)).map(|bytes| bytes as u64);
    Taken {
        wall: middle(&|run| Some(run.wall)).unwrap_or(f64::NAN),
        cpu: middle(&|run| run.cpu),
        memory: bytes(&|memory| memory.each)
            .zip(bytes(&|memory| memory.at_once))
            .map(|(each, at_once)| Memory { each, at_once }),
    }
}
