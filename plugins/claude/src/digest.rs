//! Digests that stand for ids and texts, so that what is remembered of a session does not grow with its texts.
//!
//! They never leave the process and decide nothing but equality.

use std::hash::{DefaultHasher, Hash, Hasher};

/// Digest of a text.
pub(crate) fn of_text(text: &str) -> u128 {
    of(&[text])
}

/// Digest of several texts; where one ends and the next begins counts.
pub(crate) fn of(texts: &[&str]) -> u128 {
    u128::from(half(0, texts)) << 64 | u128::from(half(1, texts))
}

/// Digest of several texts that are compared only with few others, or beside a digest of their own.
pub(crate) fn short(texts: &[&str]) -> u64 {
    half(0, texts)
}

/// `DefaultHasher::new` has fixed keys; two of them that begin differently give 128 bits.
fn half(seed: u8, texts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, texts).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_differ_or_are_split_elsewhere_have_other_digests() {
        assert_eq!(of(&["a", "b"]), of(&["a", "b"]));
        assert_ne!(of(&["a", "b"]), of(&["ab", ""]));
        assert_ne!(of_text("a"), of_text("b"));
        assert_ne!(of_text("a") as u64, (of_text("a") >> 64) as u64);
    }
}
