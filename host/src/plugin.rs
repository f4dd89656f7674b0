//! Plugins as the rest of the host sees them: found by name, checked from outside, opened, asked to read.
//!
//! Only the files of this module know the boundary; no type of it gets past [`feed`].

pub mod feed;
pub mod inspect;
pub mod locate;
pub mod open;
pub mod survey;
pub mod trust;
