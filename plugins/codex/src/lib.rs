//! Codex's sessions, told to a host record by record.
mod field;
mod log;
mod zst;
