//! Codex's sessions, told to a host record by record.
mod field;
mod log;
mod zst;
mod calls;
mod content;
mod edits;
mod record;
mod results;
mod signal;
mod tools;
mod words;
