//! The editor's store: composers and their bubbles in one table of keys and values.

pub(crate) mod bubble;
pub(crate) mod read;
pub(crate) mod store;
