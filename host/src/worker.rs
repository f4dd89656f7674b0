//! A session read by a process of its own, so that a plugin can be wrong about its own session and nothing more.
//!
//! The host runs itself again with nothing in its environment. The worker sets its limits, closes itself in
//! ([`sandbox`]), and only then opens the plugin. It tells what it reads in [frames](crate::frame) over a pipe; the host
//! checks them, derives and writes ([`supervise`]). Without the frame that ends them there is no document.

pub mod grants;
#[cfg(target_os = "linux")]
pub mod sandbox;
pub mod supervise;

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use toolpath_plugin_api::path_from;

use crate::error::Error;
use crate::frame::Frame;
use crate::intake::{Ended, Flow, Intake};
use crate::output;
use crate::plugin::feed;
use crate::plugin::inspect::inspect;
use crate::plugin::locate::Located;
use crate::plugin::open::open;
use crate::record::{Diagnostic, EventRecord, Listed, ResultRecord, SessionFacts, SkipRecord, TurnRecord};
use crate::signals;

/// The argument that makes this program a worker. Nobody types it.
pub const ARGUMENT: &str = "__worker";

/// How far a plugin is kept from the rest of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// In the host's own process, with all its rights
    None,
    /// In a process of its own, with limits, and watched
    Process,
    /// As process, and closed in: it reads the session and nothing else, and has no network
    Sandbox,
}

impl Isolation {
    /// The strongest that this system has; for a lower one, why it is not higher.
    pub fn strongest() -> (Self, Option<String>) {
        #[cfg(target_os = "linux")]
        match sandbox::check() {
            Ok(()) => (Self::Sandbox, None),
            Err(reason) => (Self::Process, Some(reason)),
        }
        #[cfg(not(target_os = "linux"))]
        (Self::Process, Some("the sandbox exists on Linux only".to_owned()))
    }
}

impl std::fmt::Display for Isolation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Process => "process",
            Self::Sandbox => "sandbox",
        })
    }
}

/// What a worker is asked to do, paths as bytes.
#[derive(Debug, Deserialize)]
struct Order {
    plugin: Vec<u8>,
    task: Task,
    readable: Vec<Vec<u8>>,
    isolation: Isolation,
    cpu_seconds: u64,
    memory: u64,
}

/// An order as the host writes it.
#[derive(Debug, Serialize)]
pub(crate) struct OrderRef<'o> {
    /// The plugin's file.
    plugin: Vec<u8>,
    task: &'o Task,
    /// Files and folders that may be read.
    readable: &'o [Vec<u8>],
    isolation: Isolation,
    /// Seconds of processor time.
    cpu_seconds: u64,
    /// Bytes of address space.
    memory: u64,
}

/// What the plugin is to do; paths as bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Read a session.
    Read {
        /// The session.
        session: Vec<u8>,
        /// How messages name it.
        name: String,
        /// Which session, where the store holds several.
        session_id: Option<String>,
        /// The session's file is a copy.
        is_copy: bool,
    },
    /// List the sessions under these folders.
    List {
        /// The folders.
        roots: Vec<Vec<u8>>,
    },
    /// Say how sure it is that it reads this.
    Detect {
        /// The session.
        session: Vec<u8>,
        /// How messages name it.
        name: String,
        /// Its first bytes.
        head: Vec<u8>,
    },
}

/// Runs as a worker: an order on standard input, frames on standard output.
pub fn run() -> ExitCode {
    signals::write_beyond_limit_ends();
    #[cfg(target_os = "linux")]
    sandbox::close_descriptors();
    let mut order = Vec::new();
    let read = io::stdin().lock().read_to_end(&mut order);
    let Some(order) = read.ok().and_then(|_| serde_json::from_slice::<Order>(&order).ok()) else {
        return ExitCode::from(2);
    };
    let Ok(out) = output::stdout() else { return ExitCode::from(2) };
    let mut teller = Teller { out, buffer: Vec::with_capacity(BUFFER * 2), is_closed: false };
    match close_in(&order).and_then(|()| carry_out(&order, &mut teller)) {
        Ok(ended) => teller.tell(&Frame::End(ended)),
        Err(refusal) => teller.tell(&Frame::Opened(Err(refusal))),
    };
    teller.flush();
    // The plugin's destructors and exit handlers have nothing left to do.
    leave()
}

#[cfg(unix)]
fn leave() -> ExitCode {
    #[cfg(target_os = "linux")]
    sandbox::leave();
    #[cfg(not(target_os = "linux"))]
    ExitCode::SUCCESS
}

#[cfg(not(unix))]
fn leave() -> ExitCode {
    ExitCode::SUCCESS
}

/// One sentence, and the rest of what there is to say.
type Refusal = (String, Option<String>);

fn close_in(order: &Order) -> Result<(), Refusal> {
    let lower = if order.isolation == Isolation::Sandbox { Isolation::Process } else { Isolation::None };
    let failed =
        |reason: String| (format!("cannot be isolated: {reason}; pass --isolation {lower} to do without"), None);
    #[cfg(unix)]
    limit(order).map_err(|err| failed(err.to_string()))?;
    #[cfg(target_os = "linux")]
    if order.isolation == Isolation::Sandbox {
        let readable = order.readable.iter().map(|path| path_from(path).into_owned());
        sandbox::enter(&path_from(&order.plugin), &readable.collect::<Vec<_>>()).map_err(failed)?;
    }
    #[cfg(not(target_os = "linux"))]
    if order.isolation == Isolation::Sandbox {
        return Err(failed("the sandbox exists on Linux only".to_owned()));
    }
    Ok(())
}

#[cfg(unix)]
fn limit(order: &Order) -> rustix::io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // A limit that is tighter already, in a container or a batch job, stays: it could not be widened anyhow.
    let at_most = |resource: Resource, soft: u64, hard: u64| {
        let maximum = getrlimit(resource).maximum.map_or(hard, |present| present.min(hard));
        setrlimit(resource, Rlimit { current: Some(soft.min(maximum)), maximum: Some(maximum) })
    };
    at_most(Resource::As, order.memory, order.memory)?;
    // The signal at the first limit says what it is about; the second is for who does not listen.
    at_most(Resource::Cpu, order.cpu_seconds, order.cpu_seconds + 1)?;
    at_most(Resource::Core, 0, 0)?;
    // No file grows by what a plugin writes; pipes are no files.
    at_most(Resource::Fsize, 0, 0)
}

fn carry_out(order: &Order, teller: &mut Teller) -> Result<Ended, Refusal> {
    let file: PathBuf = path_from(&order.plugin).into_owned();
    let inspected = inspect(&file).map_err(|reason| (reason, None))?;
    let plugin = open(&Located { file, inspected }).map_err(|error| match error {
        Error::BadPlugin { reason, details, .. } => (reason, details),
        other => (other.to_string(), None),
    })?;
    teller.tell(&Frame::Opened(Ok(())));
    Ok(match &order.task {
        Task::Read { session, name, session_id, is_copy } => {
            let path = path_from(session);
            let session = feed::Session { path: &path, name, id: session_id.as_deref(), is_copy: *is_copy };
            feed::read(plugin, &session, teller)
        }
        Task::List { roots } => feed::list(plugin, roots, teller),
        Task::Detect { session, name, head } => {
            teller.tell(&Frame::Detected(feed::detect(plugin, session, name, head)));
            Ended::Done(1)
        }
    })
}

/// Bytes gathered before they go through the pipe.
const BUFFER: usize = 64 * 1024;

/// Tells each call through the pipe.
struct Teller {
    out: output::Stdout,
    buffer: Vec<u8>,
    /// The host has heard enough, or is gone.
    is_closed: bool,
}

impl Teller {
    fn tell(&mut self, frame: &Frame<'_>) -> Flow {
        if !self.is_closed {
            frame.write(&mut self.buffer);
            if self.buffer.len() >= BUFFER {
                self.flush();
            }
        }
        if self.is_closed { Flow::Stop } else { Flow::GoOn }
    }

    fn flush(&mut self) {
        self.is_closed |= self.out.write_all(&self.buffer).and_then(|()| self.out.flush()).is_err();
        self.buffer.clear();
        self.buffer.shrink_to(4 * BUFFER);
    }
}

impl Intake for Teller {
    fn session(&mut self, facts: SessionFacts) -> Flow {
        self.tell(&Frame::Session(Box::new(facts)))
    }

    fn turn(&mut self, record: TurnRecord<'_>) -> Flow {
        self.tell(&Frame::Turn(Box::new(record)))
    }

    fn tool_result(&mut self, record: ResultRecord<'_>) -> Flow {
        self.tell(&Frame::Result(Box::new(record)))
    }

    fn event(&mut self, record: EventRecord<'_>) -> Flow {
        self.tell(&Frame::Event(Box::new(record)))
    }

    fn skip(&mut self, record: SkipRecord<'_>) -> Flow {
        self.tell(&Frame::Skip(record))
    }

    fn diagnostic(&mut self, diagnostic: Diagnostic) -> Flow {
        self.tell(&Frame::Diagnostic(diagnostic))
    }
}

impl feed::Listing for Teller {
    fn listed(&mut self, entry: Listed) -> Flow {
        self.tell(&Frame::Listed(Box::new(entry)))
    }

    fn remark(&mut self, diagnostic: Diagnostic, path: Vec<u8>) -> Flow {
        self.tell(&Frame::Remark(diagnostic, path))
    }
}
