//! A conversation view in wire form, told to a host turn by turn.
//!
//! The view is one JSON document, which any program can write. Its events stand apart from its turns and often after
//! them, so it is read twice: `outline` takes in everything but the turns, `order` finds the turn that each event follows,
//! and `turns` then reads and tells one turn at a time. `shape` has the wire form's own names, `tell` makes records of
//! them, `mend` is what stands between the file and the parser, `detect` recognises a view. In memory are the
//! events, the turns' ids and one turn, never all turns.

mod detect;
mod mend;
mod order;
mod outline;
mod read;
mod shape;
mod tell;
mod turns;

use toolpath_plugin_api::{DetectRequest, PluginError, Provider, ReadRequest, Sink, Summary, declare_provider};

#[derive(Default)]
struct Wire;

impl Provider for Wire {
    fn read(&self, request: &ReadRequest<'_>, sink: &mut Sink<'_>) -> Result<Summary, PluginError> {
        read::read(&mut request.open_file()?, sink)
    }

    fn detect(&self, request: &DetectRequest<'_>) -> u8 {
        detect::certainty(request.head())
    }
}

declare_provider! {
    provider: Wire,
    name: "wire",
    provider_id: "unknown",
    display_name: "Conversation view (wire form)",
    harness: "wire form", versions: ["1"],
    env: [],
    roots: [],
    companions: [],
}
