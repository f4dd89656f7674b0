//! Results for people: text and tables on standard output.

use std::io::{self, Write};

use tabwriter::TabWriter;

use crate::error::Error;

/// Writes a result to standard output.
pub fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => Err(Error::ClosedPipe),
        Err(source) => Err(Error::Output { target: "standard output".to_owned(), source }),
    }
}

/// Lines of cells, which a tab separates, with the cells of a column below each other.
pub fn aligned(lines: &str) -> String {
    let mut writer = TabWriter::new(Vec::new()).padding(2);
    let written = writer.write_all(lines.as_bytes()).and_then(|()| writer.flush());
    let aligned = written.ok().and_then(|()| String::from_utf8(writer.into_inner().ok()?).ok());
    aligned.unwrap_or_else(|| lines.to_owned())
}

/// A text of at most that many characters.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most - 1).collect();
    short.push('…');
    short
}
