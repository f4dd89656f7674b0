//! The contract between a session host and its provider plugins, and the kit to write one.
//!
//! A provider is a dynamic library that reads the sessions of one harness. The host turns what it is told into a
//! Toolpath document. This page is the whole contract; `examples/minimal.rs` is a whole plugin.
//!
//! # Who calls whom
//!
//! The host opens the library, finds its root module and calls one of three functions: [`Provider::read`],
//! [`Provider::sessions`] or [`Provider::detect`]. While `read` runs, the plugin calls the host's [`Sink`]; while
//! `sessions` runs, its [`ListSink`]. Nothing else crosses: a plugin does not see turns become steps, does not
//! print, and asks the host for nothing.
//!
//! # In what order
//!
//! 1. [`Sink::session`] once before anything else. Its `id` and `provider_id` are fixed from then on. Again, at
//!    any time, when more is known (title, times, producer, base): each field that is given replaces what was said, but for the
//!    base (directory, revision, branch), which the first call that gives a directory fixes.
//! 2. For each record of the source, in its order, one call that gives its *disposition*: [`Sink::turn`] (a
//!    message), [`Sink::tool_result`] (folded into its call), [`Sink::event`] (kept as it is), or [`Sink::skip`]
//!    (folded into another record, or a duplicate). What a record holds beyond that is told by further calls
//!    marked *part of record*. A record that cannot be read is an event marked unreadable, with its raw text, and
//!    a [`Sink::diagnostic`].
//! 3. Return `Ok(`[`Summary`]`)` with the number of records read, or `Err(`[`PluginError`]`)`.
//!
//! The host adds the dispositions up. A sum that is not the summary's count fails the session, so that no
//! record is lost in silence. [`Sink::diagnostic`] may be called anywhere, and counts for nothing.
//!
//! Parents name any record told earlier: a turn, an event, or a skipped record that gave its id. The host follows
//! them to the step they lead to. Results name their call's id, and the host pairs them: at once, or much later.
//!
//! # After stop, and after an error
//!
//! Each call answers `Ok(())` or `Err(`[`Stopped`]`)`. After `Stopped` the plugin returns at once: `?` does it.
//! It is no failure of the plugin's. Further calls never reach the host. After an `Err(PluginError)` the host
//! discards what it was told; no document appears. A panic counts as an error with the panic's message: the shims
//! of [`declare_provider!`] catch it. A library must therefore be built with unwinding panics, the default.
//!
//! # Who owns what
//!
//! Every text and list that crosses is borrowed for the length of the call, in both directions; what the host
//! needs longer, it copies. Nothing allocated on one side is freed on the other.
//!
//! # Threads and state
//!
//! One thread: the one that calls. The provider is made anew by `Default` for each call. Two calls may run in two
//! threads at once, so a plugin keeps no global state. A plugin must not start threads, open network connections,
//! run programs or write files; a host may well make sure that it cannot. It opens what its request names, and the
//! companions that its manifest declares, and nothing else. Libraries are never unloaded.
//!
//! # What a plugin must not do
//!
//! Never name a model that the log does not name: leave [`TurnRecord::model`] out, and the turn is credited to an
//! unknown model. Mark a turn as [harness-generated](TurnRecord::harness_generated) by a signal that the format
//! gives on purpose, never because its text sounds like a notice. Zero usage is no signal.
//!
//! # Growth
//!
//! The types in [`view`] and [`table`] are frozen within a major version. A minor version adds flag bits, `ext`
//! keys and option keys, and whoever does not know them ignores them: a plugin built before a bit existed still
//! loads, and one that sets it still works in an older host. See [`version`].

pub mod export;
pub mod kit;
pub mod manifest;
pub mod record;
pub mod table;
pub mod version;
pub mod view;

mod error;
mod guard;
mod provider;
mod sink;

pub use abi_stable;

pub use error::{PluginError, Stopped};
pub use provider::{DetectRequest, ListRequest, Provider, ReadRequest, Summary, path_bytes, path_from};
pub use record::{
    Category, DelegationRecord, Disposition, EntryRecord, EventRecord, MutationRecord, Origin, Role, SessionRecord,
    SkipRecord, ToolResultRecord, ToolUseRecord, TurnRecord, UsageRecord,
};
pub use sink::{ListSink, Severity, Sink};
