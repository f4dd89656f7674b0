//! What plugins need in common, written once.
//!
//! Nothing here crosses the boundary: it is compiled into each plugin that uses it.

pub mod category;
pub mod diff;
pub mod edits;
pub mod field;
pub mod folder;
pub mod json;
pub mod lines;
mod marks;
pub mod path;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod table;
pub mod testing;
pub mod time;
pub mod tree;
