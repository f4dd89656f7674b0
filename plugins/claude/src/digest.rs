//! Digests that stand for ids and texts, so that what is remembered of a session does not grow with its texts.
//!
//! They never leave the process and decide nothing but equality.

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Digest of a text.
pub(crate) fn of_text(text: &str) -> u128 {
    xxh3_128(text.as_bytes())
}

/// Digest of several texts; where one ends and the next begins counts.
pub(crate) fn of(texts: &[&str]) -> u128 {
    state_of(texts).digest128()
}

/// Digest of several texts that are compared only with few others, or beside a digest of their own; where one ends and
/// the next begins counts.
pub(crate) fn short(texts: &[&str]) -> u64 {
    state_of(texts).digest()
}

fn state_of(texts: &[&str]) -> Xxh3 {
    let mut state = Xxh3::new();
    for text in texts {
        state.update(&text.len().to_le_bytes());
        state.update(text.as_bytes());
    }
    state
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
