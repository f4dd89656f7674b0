//! Digests that stand for ids and texts, so that what is remembered of a session does not grow with its texts.
//!
//! They never leave the process and decide nothing but equality.

use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Digest of an id, in halves, so that tables of them need no alignment to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id([u64; 2]);

/// Digest of an id.
pub(crate) fn of_id(id: &str) -> Id {
    let digest = xxh3_128(id.as_bytes());
    Id([digest as u64, (digest >> 64) as u64])
}

/// Digest of several texts; where one ends and the next begins counts.
pub(crate) fn of_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> u64 {
    let mut digests = Vec::new();
    for text in texts {
        digests.extend(xxh3_64(text.as_bytes()).to_le_bytes());
    }
    xxh3_64(&digests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_or_are_split_elsewhere_have_other_digests() {
        assert_eq!(of_texts(["a", "b"]), of_texts(["a", "b"]));
        assert_ne!(of_texts(["a", "b"]), of_texts(["ab", ""]));
        assert_ne!(of_id("a"), of_id("b"));
    }
}
