//! A map from digests that takes little more memory than what it holds.
//!
//! A usual map keeps room for twice its entries and touches all of it. Here the entries stand side by side in the order
//! in which they came, and only their numbers are spread: some seven bytes an entry beside key and value.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;

/// A map from 128-bit digests, of which it keeps 96 bits. Nothing is ever taken out.
#[derive(Clone, Debug)]
pub struct Table<V> {
    entries: Vec<Entry<V>>,
    numbers: HashTable<u32>,
}

/// A digest without its last 32 bits, in a form that asks for no room before it.
type Key = [u32; 3];

#[derive(Clone, Debug)]
struct Entry<V> {
    key: Key,
    value: V,
}

impl<V> Default for Table<V> {
    fn default() -> Self {
        Self { entries: Vec::new(), numbers: HashTable::new() }
    }
}

impl<V> Table<V> {
    /// What is kept under a digest.
    pub fn get(&self, digest: u128) -> Option<&V> {
        let key = key_of(digest);
        let number = self.numbers.find(hash(&key), |&number| self.entries[number as usize].key == key)?;
        Some(&self.entries[*number as usize].value)
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, digest: u128) -> Option<&mut V> {
        let key = key_of(digest);
        let number = self.numbers.find(hash(&key), |&number| self.entries[number as usize].key == key)?;
        Some(&mut self.entries[*number as usize].value)
    }

    /// Whether something is kept under a digest.
    pub fn contains(&self, digest: u128) -> bool {
        self.get(digest).is_some()
    }

    /// Keeps a value, and hands out the one before.
    pub fn insert(&mut self, digest: u128, value: V) -> Option<V> {
        let mut value = Some(value);
        let kept = self.get_or_insert_with(digest, || value.take().expect("taken once"));
        value.map(|value| std::mem::replace(kept, value))
    }

    /// What is kept under a digest, after keeping a new value where there is none.
    pub fn get_or_insert_with(&mut self, digest: u128, make: impl FnOnce() -> V) -> &mut V {
        let key = key_of(digest);
        let entries = &mut self.entries;
        let is_it = |&number: &u32| entries[number as usize].key == key;
        let number = match self.numbers.entry(hash(&key), is_it, |&number| hash(&entries[number as usize].key)) {
            Slot::Occupied(slot) => *slot.get(),
            Slot::Vacant(slot) => {
                let number = u32::try_from(entries.len()).expect("a session has fewer than four billion ids");
                slot.insert(number);
                entries.push(Entry { key, value: make() });
                number
            }
        };
        &mut self.entries[number as usize].value
    }
}

fn key_of(digest: u128) -> Key {
    [(digest >> 96) as u32, (digest >> 64) as u32, (digest >> 32) as u32]
}

fn hash(key: &Key) -> u64 {
    u64::from(key[0]) << 32 | u64::from(key[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_what_a_map_keeps() {
        let (mut table, mut map) = (Table::default(), std::collections::HashMap::new());
        let digest = |n: u64| u128::from(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(n % 7) << 32;
        for n in 0..5000_u64 {
            let digest = digest(n % 3000);
            assert_eq!(table.get(digest), map.get(&digest));
            assert_eq!(table.contains(digest), map.contains_key(&digest));
            assert_eq!(table.insert(digest, n), map.insert(digest, n));
        }
        for n in 0..4000 {
            let digest = digest(n);
            *table.get_or_insert_with(digest, || 7) += 1;
            *map.entry(digest).or_insert(7) += 1;
            assert_eq!(table.get_mut(digest), map.get_mut(&digest));
        }
    }

    #[test]
    fn digests_that_fall_into_one_place_are_told_apart() {
        let mut table = Table::default();
        let digests = [1_u128 << 64 | 5 << 32, 1_u128 << 64 | 6 << 32, 1_u128 << 64];
        for (n, digest) in digests.into_iter().enumerate() {
            assert_eq!(table.insert(digest, n), None);
        }
        assert_eq!(digests.map(|digest| table.get(digest).copied()), [Some(0), Some(1), Some(2)]);
    }
}
