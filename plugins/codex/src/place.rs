//! A record's place: its id, its time and where it stands.

use toolpath_plugin_api::Origin;
use toolpath_plugin_api::kit::field::Field;

use crate::log::Piece;

/// Where a record stands.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The record's own id, or a name made of its line.
    pub(crate) id: String,
    /// Time as the log has it; empty when it has none.
    pub(crate) time: String,
    pub(crate) origin: Origin,
}

impl Place {
    /// The place of a piece of the file `file`; names made of lines begin with `prefix`.
    pub(crate) fn of(piece: &Piece<'_>, own: Field<'_>, time: &str, file: u32, prefix: &str) -> Self {
        let id = own.filled().map_or_else(|| line_id(piece, prefix), |own| own.into_owned());
        Self { id, time: time.to_owned(), origin: Origin { file, ..piece.origin } }
    }
}

/// The name of a record that has none of its own: `line-7`, or `line-7.2` for the second of a line.
///
/// Codex only appends, so a line stays where it is.
pub(crate) fn line_id(piece: &Piece<'_>, prefix: &str) -> String {
    let line = piece.origin.line;
    match piece.nth {
        0 => format!("{prefix}line-{line}"),
        nth => format!("{prefix}line-{line}.{}", nth + 1),
    }
}
