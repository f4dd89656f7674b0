//! Values as harnesses store them, whatever the column was declared to hold.

use std::borrow::Cow;

use rusqlite::types::ValueRef;

use crate::kit::json::quoted;

/// One row of a result.
#[derive(Clone, Copy)]
pub struct Row<'r>(pub(super) &'r rusqlite::Row<'r>);

impl<'r> Row<'r> {
    /// The value of a column, from 0; null where there is no such column.
    pub fn cell(self, column: usize) -> Cell<'r> {
        Cell(self.0.get_ref(column).unwrap_or(ValueRef::Null))
    }
}

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell<'r>(pub(super) ValueRef<'r>);

impl<'r> Cell<'r> {
    /// Whether there is none.
    pub fn is_null(self) -> bool {
        self.0 == ValueRef::Null
    }

    /// The bytes of a TEXT or a BLOB.
    pub fn bytes(self) -> Option<&'r [u8]> {
        match self.0 {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The text of a TEXT or a BLOB, and whether that is faithful: bytes that are no UTF-8 are replaced by U+FFFD.
    pub fn text(self) -> Option<(Cow<'r, str>, bool)> {
        let text = String::from_utf8_lossy(self.bytes()?);
        let is_faithful = matches!(text, Cow::Borrowed(_));
        Some((text, is_faithful))
    }

    /// The whole number: an INTEGER, a REAL without a fraction, or a text of digits.
    pub fn integer(self) -> Option<i64> {
        // Beyond 2^53 a float's neighbours are apart by more than one.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match self.0 {
            ValueRef::Integer(number) => Some(number),
            ValueRef::Real(number) if number.fract() == 0.0 && number.abs() <= EXACT => Some(number as i64),
            ValueRef::Text(digits) => std::str::from_utf8(digits).ok()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// The value as JSON: a number, a string, or null.
    pub fn json(self) -> String {
        match self.0 {
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => serde_json::Value::from(number).to_string(),
            _ => self.text().map_or_else(|| "null".to_owned(), |(text, _)| quoted(&text)),
        }
    }
}
