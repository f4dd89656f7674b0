//! The host's side of a worker: starts it, hears it, watches it, and ends it.

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use toolpath_plugin_api::path_bytes;

use crate::error::Error;
use crate::frame::{Frame, LONGEST};
use crate::intake::{Ended, Flow, Intake};
use crate::plugin::feed::Session;
use crate::plugin::locate::Located;
use crate::report::one_line;
use crate::worker::grants::companions;
use crate::worker::{ARGUMENT, Isolation, Order};

/// How long the host waits for a worker that says nothing. What the host itself takes does not count.
const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of address space that a worker may have.
const MEMORY: u64 = 2 << 30;
/// Seconds of processor time that a worker may take, and more for each megabyte of the session.
const SECONDS: u64 = 10;
const BYTES_A_SECOND: u64 = 1_000_000;

/// A session to read through a plugin, in a process of its own.
#[derive(Clone, Copy, Debug)]
pub struct Job<'j> {
    /// The plugin.
    pub plugin: &'j Located,
    /// The session.
    pub session: Session<'j>,
    /// How far the worker is closed in.
    pub isolation: Isolation,
}

/// Reads the session into `intake`, and answers how the reading ended. A worker that ends in any way of its own is an
/// error, whatever it told before.
pub fn read(job: Job<'_>, intake: &mut dyn Intake) -> Result<Ended, Error> {
    let seconds = SECONDS + std::fs::metadata(job.session.path).map_or(0, |file| file.len() / BYTES_A_SECOND);
    let mut worker = start(&job, seconds)?;
    let heard = hear(&mut worker.pipe, intake);
    let status = end(&mut worker.child, matches!(heard, Err(Silence::Closed)));
    match heard {
        Ok(Heard::Ended(ended)) => Ok(ended),
        Ok(Heard::Enough) => Ok(Ended::Stopped),
        Ok(Heard::Refused((reason, details))) => {
            Err(Error::BadPlugin { file: job.plugin.file.clone(), reason: one_line(&reason), details })
        }
        Err(Silence::Closed) => {
            let (words, signal) = last_words(status.as_ref(), seconds);
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
    Error::offence(job.session.name, &job.plugin.inspected.manifest.name, offence)
}

struct Worker {
    child: Child,
    pipe: Pipe,
}

fn start(job: &Job<'_>, cpu_seconds: u64) -> Result<Worker, Error> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let bytes = |path: &Path| path_bytes(path).into_owned();
    let order = Order {
        plugin: bytes(&absolute(&job.plugin.file)),
        session: bytes(&absolute(job.session.path)),
        name: job.session.name.to_owned(),
        session_id: job.session.id.map(str::to_owned),
        is_copy: job.session.is_copy,
        companions: companions(job.session.path, &job.plugin.inspected.manifest.companions)
            .iter()
            .map(|path| bytes(path))
            .collect(),
        isolation: job.isolation,
        cpu_seconds,
        memory: MEMORY,
    };
    let failed = |err: io::Error| offence(job, &format!("could not be started in a process of its own: {err}"));
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

fn hear(pipe: &mut Pipe, intake: &mut dyn Intake) -> Result<Heard, Silence> {
    loop {
        let (kind, body) = pipe.frame()?;
        let flow = match Frame::read(kind, body).map_err(|garbled| Silence::Garbled(garbled.0))? {
            Frame::Session(facts) => intake.session(*facts),
            Frame::Turn(record) => intake.turn(*record),
            Frame::Result(record) => intake.tool_result(*record),
            Frame::Event(record) => intake.event(*record),
            Frame::Skip(record) => intake.skip(record),
            Frame::Diagnostic(diagnostic) => intake.diagnostic(diagnostic),
            Frame::Opened(Ok(())) => Flow::GoOn,
            Frame::Opened(Err(refusal)) => return Ok(Heard::Refused(refusal)),
            Frame::End(ended) => return Ok(Heard::Ended(ended)),
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
                Some(Signal::XCPU | Signal::KILL) => {
                    return (format!("was stopped after {cpu_seconds} seconds of processor time"), None);
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
