//! 128-bit digests, which stand for ids and contents so that memory does not grow with their texts.
//!
//! They never leave the process, so their kind may change; they decide nothing but equality.

use std::hash::{Hash, Hasher};

use xxhash_rust::xxh3::Xxh3;

/// Digest of a text.
pub fn of_text(text: &str) -> u128 {
    xxhash_rust::xxh3::xxh3_128(text.as_bytes())
}

/// Digest of everything a value hashes.
pub fn of<T: Hash + ?Sized>(value: &T) -> u128 {
    let mut state = State(Xxh3::new());
    value.hash(&mut state);
    state.0.digest128()
}

/// Half a digest, for what is compared with one other only; in a form that asks for no room before it.
pub type Half = [u32; 2];

/// Half of a digest.
pub fn half(digest: u128) -> Half {
    [(digest >> 32) as u32, digest as u32]
}

struct State(Xxh3);

impl Hasher for State {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.digest()
    }
}

/// Hashes digests for maps: they are spread already.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0 ^= u64::from_le_bytes(word);
        }
    }

    fn write_u128(&mut self, digest: u128) {
        self.0 = (digest as u64) ^ ((digest >> 64) as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A map from digests.
pub type Map<V> = std::collections::HashMap<u128, V, std::hash::BuildHasherDefault<Spread>>;
/// A set of digests.
pub type Set = std::collections::HashSet<u128, std::hash::BuildHasherDefault<Spread>>;
