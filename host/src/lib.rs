//! Derives Toolpath provenance documents from AI coding sessions, through provider plugins.
//!
//! A session passes through these modules, in this order:
//!
//! 1. [`select`]: which sessions the user means ([`listing`], [`roots`]), and which plugin reads each; [`source`]: made ready to open.
//! 2. [`plugin`]: a provider's name to a file, to a checked module, to calls; the only place that knows the boundary.
//! 3. [`intake`]: records in, one disposition each. [`record`] is what a plugin tells, [`turn`] the conversation.
//! 4. [`mod@derive`]: turns and events in, steps out, into a [`spool`]. [`step`] is what a document says of one.
//! 5. [`document`]: head, steps, tail; or [`stream`], a line a step; or [`view`], the conversation in wire form. To
//!    [`output`], whole or not at all.
//!
//! A [`reader`] lets a plugin run in a [`worker`], which tells its host what it reads in [`frame`]s. [`extract`] reads a document back, [`validate`] checks one. [`run`] ties
//! them together for [`cli`]; [`inventory`] shows which plugins there are, [`audit`] who did how much; a [`set`] is several
//! sessions, with a bar of their [`progress`]; [`report`], [`show`] and [`error`] are what the user is told. Of the providers
//! themselves nothing here knows anything: what is specific to one is told by its plugin.

pub mod audit;
pub mod cli;
pub mod derive;
pub mod digest;
pub mod document;
pub mod error;
mod escape;
pub mod extract;
pub mod frame;
pub mod intake;
pub mod inventory;
pub mod json;
pub mod listing;
pub mod output;
pub mod plugin;
pub mod progress;
pub mod reader;
pub mod record;
pub mod report;
pub mod roots;
pub mod run;
pub mod select;
pub mod set;
pub mod show;
pub mod signals;
pub mod source;
pub mod spool;
pub mod step;
pub mod stream;
pub mod turn;
pub mod validate;
pub mod view;
pub mod words;
pub mod worker;
