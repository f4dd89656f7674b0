//! Logs that stand in the test, read as the plugin reads files.

use std::cell::RefCell;

use toolpath_plugin_api::kit::testing;
use toolpath_plugin_api::{PluginError, Provider, ReadRequest, Sink, Summary};

use crate::read::Reader;
use crate::session;

thread_local! {
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Reads the log that the test left, instead of a file.
#[derive(Default)]
struct FromMemory;

impl Provider for FromMemory {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        let log = LOG.with_borrow(Clone::clone);
        let id = session::id(&*log, Some(request.name()))?;
        Reader::new(&id).read(&*log, sink)
    }
}

/// What the host is told of `log`, whose file is called `stem`.
#[track_caller]
pub(super) fn read(stem: &str, log: &[u8]) -> Vec<String> {
    LOG.set(log.to_vec());
    testing::read_as::<FromMemory>("".as_ref(), stem, None, &[])
}
