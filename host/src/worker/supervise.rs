//! The host's side of a worker: starts it, hears it, watches it, and ends it.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use toolpath_plugin_api::path_bytes;

use crate::error::Error;
use crate::frame::{Frame, LONGEST};
use crate::intake::{Ended, Flow};
use crate::plugin::feed::Session;
use crate::plugin::locate::Located;
use crate::report::one_line;
use crate::worker::grants::companions;
use crate::worker::{ARGUMENT, Isolation, OrderRef, Task};

/// How long the host waits for a worker that says nothing. What the host itself takes does not count.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of address space that a worker may have.
const MEMORY: u64 = 2 << 30;
/// Seconds of processor time that a worker may take, and more for each megabyte of the session.
const SECONDS: u64 = 10;
const BYTES_A_SECOND: u64 = 1_000_000;
/// The same for a listing, whatever the size of what is listed.
const LISTING_SECONDS: u64 = 60;

/// Something for a plugin to do in a process of its own.
#[derive(Debug)]
pub struct Job<'j> {
    plugin: &'j Located,
    /// How messages name what it is about.
    name: String,
    task: Task,
    readable: Vec<Vec<u8>>,
    isolation: Isolation,
    cpu_seconds: u64,
}

fn bytes(path: &Path) -> Vec<u8> {
    path_bytes(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned())).into_owned()
}

impl<'j> Job<'j> {
    /// A session to read. What else belongs to it may be read, too.
    pub fn read(plugin: &'j Located, session: Session<'_>, isolation: Isolation) -> Self {
        let companions = companions(session.path, &plugin.inspected.manifest.companions);
        let readable = companions.iter().map(PathBuf::as_path).chain([session.path]).map(bytes).collect();
        let task = Task::Read {
            session: bytes(session.path),
            name: session.name.to_owned(),
            session_id: session.id.map(str::to_owned),
            is_copy: session.is_copy,
        };
        let size = companions.iter().map(|path| size(path)).sum::<u64>() + size(session.path);
        let cpu_seconds = SECONDS + size / BYTES_A_SECOND;
        Self { plugin, name: session.name.to_owned(), task, readable, isolation, cpu_seconds }
    }

    /// Folders whose sessions are to be listed.
    pub fn list(plugin: &'j Located, roots: &[PathBuf], isolation: Isolation) -> Self {
        let roots: Vec<Vec<u8>> = roots.iter().map(|root| bytes(root)).collect();
        let name = format!("the sessions of `{}`", plugin.inspected.manifest.name);
        let task = Task::List { roots: roots.clone() };
        Self { plugin, name, task, readable: roots, isolation, cpu_seconds: LISTING_SECONDS }
    }

    /// Something to recognise by its first bytes. Nothing of it may be read but them.
    pub fn detect(plugin: &'j Located, session: Session<'_>, head: Vec<u8>, isolation: Isolation) -> Self {
        let name = session.name.to_owned();
        let task = Task::Detect { session: bytes(session.path), name: name.clone(), head };
        Self { plugin, name, task, readable: Vec::new(), isolation, cpu_seconds: SECONDS }
    }
}

/// Bytes of a file, or of all files in a folder; within it no link is followed, since links may lead in circles.
fn size(path: &Path) -> u64 {
    let Ok(about) = std::fs::metadata(path) else { return 0 };
    if !about.is_dir() {
        return about.len();
    }
    let (mut sum, mut folders) = (0, vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(about) if about.is_dir() => folders.push(entry.path()),
                Ok(about) if about.is_file() => sum += about.len(),
                _ => {}
            }
        }
    }
    sum
}

/// Lets the plugin do it, with each frame that it sends going to `take`, and answers how it ended. A worker that ends in
/// any way of its own is an error, whatever it told before.
pub fn run(job: Job<'_>, take: &mut dyn FnMut(Frame<'_>) -> Flow) -> Result<Ended, Error> {
    let mut worker = start(&job)?;
    let heard = hear(&mut worker.pipe, take);
    let status = end(&mut worker.child, matches!(heard, Err(Silence::Closed)));
    match heard {
        Ok(Heard::Ended(ended)) => Ok(ended),
        Ok(Heard::Enough) => Ok(Ended::Stopped),
        Ok(Heard::Refused((reason, details))) => {
            Err(Error::BadPlugin { file: job.plugin.file.clone(), reason: one_line(&reason), details })
        }
        Err(Silence::Closed) => {
            let (words, signal) = last_words(status.as_ref(), job.cpu_seconds);
            let mut error = offence(&job, &words);
            if let Error::Plugin { crash, .. } = &mut error {
                *crash = signal;
            }
            Err(error)
        }
        Err(Silence::TooLong) => {
            Err(offence(&job, &format!("did nothing for {} seconds and was stopped", PATIENCE.as_secs())))
        }
        Err(Silence::Garbled(what)) => Err(offence(&job, &format!("wrote {what} to the host"))),
        Err(Silence::Failed(err)) => Err(offence(&job, &format!("could not be heard: {err}"))),
    }
}

/// Ends a worker; one that has fallen silent gets a moment to end by itself, so that its end can be told.
fn end(child: &mut Child, is_ending: bool) -> Option<ExitStatus> {
    for _ in 0..if is_ending { 100 } else { 0 } {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // It is not asked: whatever it does now, nobody hears it.
    let _ = child.kill();
    let _ = child.wait();
    None
}

fn offence(job: &Job<'_>, offence: &str) -> Error {
    Error::offence(&job.name, &job.plugin.inspected.manifest.name, offence)
}

struct Worker {
    child: Child,
    pipe: Pipe,
}

fn start(job: &Job<'_>) -> Result<Worker, Error> {
    let order = OrderRef {
        plugin: bytes(&job.plugin.file),
        task: &job.task,
        readable: &job.readable,
        isolation: job.isolation,
        cpu_seconds: job.cpu_seconds,
        memory: MEMORY,
    };
    // That is no fault of the plugin's.
    let failed = |err: io::Error| {
        let reason = format!("the process to read it in could not be started: {err}");
        Error::Session { name: job.name.clone(), reason }
    };
    let host = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(host)
        .arg(ARGUMENT)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let sent = child.stdin.take().map(|mut stdin| stdin.write_all(&serde_json::to_vec(&order)?));
    match (sent, child.stdout.take()) {
        (Some(Ok(())), Some(out)) => Ok(Worker { child, pipe: Pipe::new(out) }),
        (sent, _) => {
            let _ = child.kill();
            let _ = child.wait();
            let err = sent.and_then(Result::err).unwrap_or_else(|| io::ErrorKind::BrokenPipe.into());
            Err(failed(err))
        }
    }
}

/// What a worker told in the end.
enum Heard {
    Ended(Ended),
    Refused((String, Option<String>)),
    /// The host wants no more.
    Enough,
}

/// Why there was nothing more to hear.
enum Silence {
    Closed,
    TooLong,
    Garbled(&'static str),
    Failed(io::Error),
}

fn hear(pipe: &mut Pipe, take: &mut dyn FnMut(Frame<'_>) -> Flow) -> Result<Heard, Silence> {
    loop {
        let (kind, body) = pipe.frame()?;
        let flow = match Frame::read(kind, body).map_err(|garbled| Silence::Garbled(garbled.0))? {
            Frame::Opened(Ok(())) => Flow::GoOn,
            Frame::Opened(Err(refusal)) => return Ok(Heard::Refused(refusal)),
            Frame::End(ended) => return Ok(Heard::Ended(ended)),
            told => take(told),
        };
        if flow == Flow::Stop {
            return Ok(Heard::Enough);
        }
    }
}

/// The pipe from a worker, frame by frame.
struct Pipe {
    out: ChildStdout,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

/// Bytes asked of the pipe at a time.
const CHUNK: usize = 256 * 1024;

impl Pipe {
    fn new(out: ChildStdout) -> Self {
        // A wider pipe lets both sides run on; the usual one will do where the system does not allow more.
        #[cfg(target_os = "linux")]
        let _ = rustix::pipe::fcntl_setpipe_size(&out, 1 << 20);
        Self { out, buffer: Vec::new(), start: 0, end: 0 }
    }

    /// The next frame's kind and body.
    fn frame(&mut self) -> Result<(u8, &[u8]), Silence> {
        self.fill(4)?;
        let length =
            u32::from_le_bytes(self.buffer[self.start..self.start + 4].try_into().unwrap_or_default()) as usize;
        if length == 0 || length > LONGEST {
            return Err(Silence::Garbled("a frame that is longer than any may be"));
        }
        self.fill(4 + length)?;
        let frame = self.start + 4..self.start + 4 + length;
        self.start = frame.end;
        Ok((self.buffer[frame.start], &self.buffer[frame.start + 1..frame.end]))
    }

    /// Waits until that many bytes are there.
    fn fill(&mut self, wanted: usize) -> Result<(), Silence> {
        while self.end - self.start < wanted {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            // Room for what is there to come, but not for what is only announced: a length may lie.
            if self.buffer.len() < self.end + CHUNK {
                self.buffer.resize((self.end + CHUNK).max(self.buffer.len() * 3 / 2).min(LONGEST + 2 * CHUNK), 0);
            }
            self.wait()?;
            match self.out.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(Silence::Closed),
                Ok(count) => self.end += count,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(Silence::Failed(err)),
            }
        }
        Ok(())
    }

    #[cfg(unix)]
    fn wait(&self) -> Result<(), Silence> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let patience = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
        match poll(&mut [PollFd::new(&self.out, PollFlags::IN)], Some(&patience)) {
            Ok(0) => Err(Silence::TooLong),
            // What is wrong with the pipe, reading from it says better.
            _ => Ok(()),
        }
    }

    #[cfg(not(unix))]
    fn wait(&self) -> Result<(), Silence> {
        Ok(())
    }
}

/// What the end of a process says about why it ended and, when it crashed, what ended it.
fn last_words(status: Option<&ExitStatus>, cpu_seconds: u64) -> (String, Option<String>) {
    let Some(status) = status else { return ("closed the pipe to the host and went on".to_owned(), None) };
    #[cfg(unix)]
    {
        use rustix::process::Signal;
        use std::os::unix::process::ExitStatusExt;
        if let Some(number) = status.signal() {
            let (words, name) = match Signal::from_named_raw(number) {
                Some(Signal::XCPU) => {
                    return (format!("was stopped after {cpu_seconds} seconds of processor time"), None);
                }
                Some(Signal::KILL) => {
                    let words =
                        "was killed, by somebody else or by the system for lack of memory or for taking too much time";
                    return (words.to_owned(), None);
                }
                Some(Signal::XFSZ) => return ("was stopped when it wrote to a file".to_owned(), None),
                Some(Signal::SEGV) => ("crashed by touching memory that is not its own", "SIGSEGV"),
                Some(Signal::BUS) => ("crashed by touching memory that is not its own", "SIGBUS"),
                Some(Signal::ILL) => ("crashed at an instruction that this machine does not have", "SIGILL"),
                Some(Signal::FPE) => ("crashed by dividing by zero", "SIGFPE"),
                Some(Signal::SYS) => ("crashed by a call that is forbidden to it", "SIGSYS"),
                Some(Signal::ABORT) => {
                    let words = format!("aborted, or asked for more than {} MiB of memory", MEMORY >> 20);
                    return (words, Some("SIGABRT".to_owned()));
                }
                _ => return (format!("was ended by the signal {number}"), Some(format!("signal {number}"))),
            };
            return (words.to_owned(), Some(name.to_owned()));
        }
    }
    let _ = cpu_seconds;
    match status.code() {
        Some(code) => {
            let ending = format!("exit code {code}");
            (format!("left its process with {ending} before it was done"), Some(ending))
        }
        None => ("ended before it was done".to_owned(), None),
    }
}
