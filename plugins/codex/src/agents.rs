//! Sub-agents' own files, told as branches of the session that started them.

use toolpath_plugin_api::{PluginError, Sink};

use crate::read::Reader;

/// Finds sub-agents' files.
#[derive(Debug, Default)]
pub(crate) struct Agents;

impl Reader {
    /// Tells the file of the sub-agent `agent` as a branch that starts at `call`, if there is one.
    pub(crate) fn read_agent(&mut self, _agent: &str, _call: &str, _sink: &mut Sink<'_>) -> Result<(), PluginError> {
        Ok(())
    }
}
