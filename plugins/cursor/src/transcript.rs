//! Transcripts: JSON lines without ids, times, models and results, and the texts that were written before them.

pub(crate) mod lines;
pub(crate) mod text;
