//! What a plugin says of itself without being run: plain bytes in a section of its file.
//!
//! The section holds one block: the magic, the block's size, the contract's version the plugin was built with, the
//! JSON's length (all little endian), and the JSON, padded with zeros. Bytes only: a reference in it would be a
//! relocation, which only the loader resolves.

use serde::{Deserialize, Serialize};

use crate::version::ABI_VERSION;

/// Name of the section in an ELF or PE file (PE allows eight characters).
pub const SECTION: &str = ".provman";
/// Segment and name of the section in a Mach-O file.
pub const SECTION_MACHO: (&str, &str) = ("__DATA", ".provman");
/// First bytes of the block.
pub const MAGIC: [u8; 8] = *b"TPPROVMN";
/// Most bytes the JSON may have.
pub const JSON_MAX: usize = 4096;

const HEADER: usize = 8 + 4 + 6 + 4;
/// Size of the block in bytes.
pub const BLOCK_SIZE: usize = HEADER + JSON_MAX;

/// What a plugin says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// What users call it by: `--provider NAME`.
    pub name: String,
    /// Id of the provider in documents: `tool:<provider id>`.
    pub provider_id: String,
    /// Version of the plugin, semver.
    pub version: String,
    /// Name for people.
    pub display_name: String,
    /// The harness it reads.
    pub harness: Harness,
    /// Names of the environment variables that `roots` needs.
    pub env: Vec<String>,
    /// Where sessions live, as templates: `${CLAUDE_CONFIG_DIR:-~/.claude}/projects`.
    pub roots: Vec<String>,
    /// What else belongs to a session, as patterns relative to its folder: `{stem}/**`, `{file}-wal`.
    pub companions: Vec<String>,
}

/// A harness, and the versions of its format that the plugin was observed to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Harness {
    /// Name for people.
    pub name: String,
    /// Versions, as the harness writes them; a leading part (`2.1`) stands for all that begin with it.
    pub versions: Vec<String>,
}

/// A block read back: the contract's version it was built with, and the manifest's JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// Version of the contract.
    pub abi: [u16; 3],
    /// The JSON text of a [`Manifest`].
    pub json: &'a str,
}

/// Why bytes are no manifest block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockError {
    /// Shorter than the block's size, or of another size than it says.
    Size,
    /// Another magic.
    Magic,
    /// The JSON's length is out of range, or it is not UTF-8.
    Json,
}

/// Lays out a block. Runs at compile time, in `declare_provider!`.
///
/// # Panics
///
/// When the JSON is longer than [`JSON_MAX`]; at compile time, that is an error.
pub const fn block(json: &str) -> [u8; BLOCK_SIZE] {
    let json = json.as_bytes();
    assert!(json.len() <= JSON_MAX, "the manifest is longer than 4096 bytes");
    let mut bytes = [0; BLOCK_SIZE];
    put(&mut bytes, 0, &MAGIC);
    put(&mut bytes, 8, &(BLOCK_SIZE as u32).to_le_bytes());
    let mut part = 0;
    while part < 3 {
        put(&mut bytes, 12 + 2 * part, &ABI_VERSION[part].to_le_bytes());
        part += 1;
    }
    put(&mut bytes, 18, &(json.len() as u32).to_le_bytes());
    put(&mut bytes, HEADER, json);
    bytes
}

const fn put(bytes: &mut [u8; BLOCK_SIZE], at: usize, part: &[u8]) {
    let mut index = 0;
    while index < part.len() {
        bytes[at + index] = part[index];
        index += 1;
    }
}

/// Reads a block back.
pub fn read_block(bytes: &[u8]) -> Result<Block<'_>, BlockError> {
    let header = bytes.get(..HEADER).ok_or(BlockError::Size)?;
    if header[..8] != MAGIC {
        return Err(BlockError::Magic);
    }
    let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let u32_at = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    // A linker may pad a section; a block that claims another size than ours is another layout.
    if u32_at(8) as usize != BLOCK_SIZE || bytes.len() < BLOCK_SIZE {
        return Err(BlockError::Size);
    }
    let length = u32_at(18) as usize;
    let json = bytes.get(HEADER..HEADER + length.min(JSON_MAX + 1)).filter(|_| length <= JSON_MAX);
    let json = std::str::from_utf8(json.ok_or(BlockError::Json)?).map_err(|_| BlockError::Json)?;
    Ok(Block { abi: [u16_at(12), u16_at(14), u16_at(16)], json })
}

/// Checks at compile time that `text` can stand in JSON between quotes as it is.
///
/// # Panics
///
/// When it cannot.
pub const fn plain(text: &str) -> &str {
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        assert!(
            bytes[index] >= 0x20 && bytes[index] != b'"' && bytes[index] != b'\\',
            "a manifest's texts must not hold quotes, backslashes or control characters"
        );
        index += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_reads_back_what_was_laid_out() {
        let bytes = block(r#"{"name":"demo"}"#);
        assert_eq!(read_block(&bytes), Ok(Block { abi: ABI_VERSION, json: r#"{"name":"demo"}"# }));
    }

    #[test]
    fn a_block_of_another_magic_size_or_length_is_refused() {
        let whole = block("{}");
        assert_eq!(read_block(&whole[..BLOCK_SIZE - 1]), Err(BlockError::Size));
        assert_eq!(read_block(&[]), Err(BlockError::Size));
        let change = |at: usize, value: u8| {
            let mut bytes = whole;
            bytes[at] = value;
            bytes
        };
        assert_eq!(read_block(&change(0, b'X')), Err(BlockError::Magic));
        assert_eq!(read_block(&change(8, 1)), Err(BlockError::Size));
        assert_eq!(read_block(&change(21, 0xff)), Err(BlockError::Json));
        assert_eq!(read_block(&change(HEADER, 0xff)), Err(BlockError::Json));
    }
}
