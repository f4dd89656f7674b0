//! A plugin at work: it reads, lists or recognises, as far from the rest of the system as it is to be kept.

use std::io::{self, Read, Write};
use std::path::PathBuf;

use crate::error::Error;
use crate::frame::Frame;
use crate::intake::{Ended, Flow, Intake};
use crate::plugin::feed::{self, Listing, Session};
use crate::plugin::locate::Located;
use crate::plugin::open::open;
use crate::plugin::trust::{Trust, allow_command};
use crate::report::one_line;
use crate::worker::Isolation;
use crate::worker::supervise::{self, Job};

/// Bytes of a session's beginning that a plugin is shown to recognise it.
const HEAD: u64 = 64 * 1024;

/// A plugin, and how far it is kept from the rest of the system.
#[derive(Clone, Debug)]
pub struct Reader {
    /// The plugin.
    pub plugin: Located,
    /// How far it is closed in.
    pub isolation: Isolation,
}

impl Reader {
    /// What users call it by.
    pub fn name(&self) -> &str {
        &self.plugin.inspected.manifest.name
    }

    /// The id that documents give to its provider.
    pub fn provider_id(&self) -> &str {
        &self.plugin.inspected.manifest.provider_id
    }

    /// Reads a session into `intake`.
    pub fn read(&self, session: Session<'_>, intake: &mut dyn Intake) -> Result<Ended, Error> {
        if self.isolation == Isolation::None {
            return Ok(feed::read(open(&self.plugin)?, &session, intake));
        }
        self.run(Job::read(&self.plugin, session, self.isolation), &mut |frame| match frame {
            Frame::Session(facts) => intake.session(*facts),
            Frame::Turn(record) => intake.turn(*record),
            Frame::Result(record) => intake.tool_result(*record),
            Frame::Event(record) => intake.event(*record),
            Frame::Skip(record) => intake.skip(record),
            Frame::Diagnostic(diagnostic) => intake.diagnostic(diagnostic),
            _ => Flow::GoOn,
        })
    }

    /// Lists the sessions under `roots` into `listing`.
    pub fn list(&self, roots: &[PathBuf], listing: &mut dyn Listing) -> Result<Ended, Error> {
        if self.isolation == Isolation::None {
            let roots: Vec<_> = roots.iter().map(|root| toolpath_plugin_api::path_bytes(root)).collect();
            return Ok(feed::list(open(&self.plugin)?, &roots, listing));
        }
        self.run(Job::list(&self.plugin, roots, self.isolation), &mut |frame| match frame {
            Frame::Listed(entry) => listing.listed(*entry),
            Frame::Remark(diagnostic, path) => listing.remark(diagnostic, path),
            _ => Flow::GoOn,
        })
    }

    /// How sure the plugin is, from 0 to 100, that it reads the session.
    pub fn detect(&self, session: Session<'_>) -> Result<u32, Error> {
        let failed =
            |err: io::Error| Error::Session { name: session.name.to_owned(), reason: format!("cannot be read: {err}") };
        let mut head = Vec::new();
        if session.path.is_file() {
            let file = std::fs::File::open(session.path).map_err(failed)?;
            file.take(HEAD).read_to_end(&mut head).map_err(failed)?;
        }
        if self.isolation == Isolation::None {
            let path = toolpath_plugin_api::path_bytes(session.path);
            return Ok(feed::detect(open(&self.plugin)?, &path, session.name, &head));
        }
        let mut sure = 0;
        self.run(Job::detect(&self.plugin, session, head, self.isolation), &mut |frame| {
            if let Frame::Detected(answer) = frame {
                sure = answer.min(100);
            }
            Flow::GoOn
        })?;
        Ok(sure)
    }

    fn run(&self, job: Job<'_>, take: &mut dyn FnMut(Frame<'_>) -> Flow) -> Result<Ended, Error> {
        supervise::run(job, take).map_err(|error| self.quarantine(error))
    }

    /// Keeps a plugin that crashed from being used again, and says so.
    fn quarantine(&self, mut error: Error) -> Error {
        let file = &self.plugin.file;
        if let Error::Plugin { session, crash: Some(signal), remedy, .. } = &mut error {
            match Trust::quarantine(file, &self.plugin.inspected, session, signal) {
                Ok(()) => {
                    *remedy = format!(
                        "it is in quarantine now; report it to the plugin's author, or run \
                         `{}`",
                        allow_command(file)
                    );
                }
                Err(err) => {
                    let message = one_line(&format!("the plugin is not in quarantine: {err}"));
                    let _ = writeln!(io::stderr(), "{message}");
                }
            }
        }
        error
    }
}
