//! Logs that stand in the test, read as the plugin reads files.

use std::cell::RefCell;

use toolpath_plugin_api::kit::testing;
use toolpath_plugin_api::{PluginError, Provider, ReadRequest, Sink, Summary};

use crate::known::session_of;
use crate::legacy;
use crate::lines::first;
use crate::read::Reader;
use crate::workspace::Workspace;

thread_local! {
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Reads the log that the test left, instead of a file.
#[derive(Default)]
struct FromMemory;

impl Provider for FromMemory {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let log = LOG.with_borrow(Clone::clone);
        if legacy::is_legacy(&log) {
            return legacy::read(&log, request.name(), sink);
        }
        let id = first(&*log, 100, session_of)?.unwrap_or_else(|| request.name().to_owned());
        Reader::new(&id, Workspace::default()).read(&*log, sink)
    }
}

/// What the host is told of `log`, whose file or folder is called `name`.
#[track_caller]
pub(super) fn read(name: &str, log: &[u8]) -> Vec<String> {
    LOG.set(log.to_vec());
    testing::read_as::<FromMemory>("".as_ref(), name, None, &[])
}
