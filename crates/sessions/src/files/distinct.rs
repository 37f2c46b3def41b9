//! Lists without copies, by keys of fixed size. Files may contain millions of ids.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;

use uuid::Uuid;

/// An id of fixed size. `Option<Key>` has the same size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    first: NonZeroU32,
    rest: [u32; 3],
}

impl Key {
    /// Converts an id. UUIDs keep their bits. Other ids, and UUIDs that start with zeros, are hashed to 128
    /// bits.
    pub(crate) fn from_id(id: &str) -> Self {
        let uuid = Uuid::try_parse(id).ok().map(|uuid| uuid.as_u128());
        if let Some(key) = uuid.and_then(Self::from_bits) {
            return key;
        }
        let hash_half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            match uuid {
                Some(uuid) => (salt, uuid).hash(&mut hasher),
                None => (salt, id).hash(&mut hasher),
            }
            u128::from(hasher.finish())
        };
        let bits = hash_half(1) << 64 | hash_half(2);
        Self::from_bits(bits).unwrap_or(Self {
            first: NonZeroU32::MIN,
            rest: [0; 3],
        })
    }

    #[allow(clippy::cast_possible_truncation, reason = "takes 32 bits at a time")]
    fn from_bits(bits: u128) -> Option<Self> {
        Some(Self {
            first: NonZeroU32::new((bits >> 96) as u32)?,
            rest: [(bits >> 64) as u32, (bits >> 32) as u32, bits as u32],
        })
    }
}

/// Returns an index of a list that is in memory, and therefore has fewer than 2^32 items.
pub(crate) fn to_index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Values in the order of their first occurrence. A value with a known key is a copy of an earlier one; a
/// value without a key is distinct.
#[derive(Debug)]
pub(crate) struct Distinct<Value> {
    positions: HashMap<Key, u32>,
    values: Vec<(Option<Key>, Value)>,
}

impl<Value> Default for Distinct<Value> {
    fn default() -> Self {
        Self {
            positions: HashMap::new(),
            values: Vec::new(),
        }
    }
}

impl<Value> Distinct<Value> {
    /// Adds a value, or joins it with the value that has the same key. Returns its index.
    pub(crate) fn put(
        &mut self,
        key: Option<Key>,
        value: Value,
        join: impl FnOnce(&mut Value, Value),
    ) -> u32 {
        let next = to_index(self.values.len());
        let position = key.map_or(next, |key| *self.positions.entry(key).or_insert(next));
        if position == next {
            self.values.push((key, value));
        } else {
            join(&mut self.values[position as usize].1, value);
        }
        position
    }

    /// Adds the values of another list.
    pub(crate) fn append(&mut self, other: Self, join: impl Fn(&mut Value, Value)) {
        if self.values.is_empty() {
            *self = other;
            return;
        }
        for (key, value) in other.values {
            self.put(key, value, &join);
        }
    }

    /// Removes the values that `keeps` refuses. Nothing may be added afterwards.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&mut Value) -> bool) {
        self.values.retain_mut(|(_, value)| keeps(value));
        let keys = (0..).zip(&self.values);
        self.positions = keys
            .filter_map(|(position, (key, _))| Some(((*key)?, position)))
            .collect();
    }

    /// Returns the number of values.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the value with this key.
    pub(crate) fn get(&self, key: Key) -> Option<&Value> {
        let position = *self.positions.get(&key)?;
        Some(&self.values[position as usize].1)
    }

    /// Returns the value at an index.
    pub(crate) fn at(&mut self, position: u32) -> Option<&mut Value> {
        let value = self.values.get_mut(position as usize);
        value.map(|(_, value)| value)
    }

    /// Returns the values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().map(|(_, value)| value)
    }

    /// Returns mutable references to the values.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.values.iter_mut().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_ids_have_different_keys() {
        let ids = [
            "",
            "a",
            "b",
            "2858a029-7d10-4ede-b828-eca2d41ea466",
            "f2e861eb",
            "00000000-0000-0000-0000-000000000000",
            "00000000-0000-0000-0000-000000000001",
            "00000001-0000-0000-0000-000000000000",
        ];
        for (at, id) in ids.iter().enumerate() {
            assert!(
                ids[..at]
                    .iter()
                    .all(|other| Key::from_id(other) != Key::from_id(id))
            );
            assert_eq!(Key::from_id(id), Key::from_id(id), "{id}");
        }
        let upper = "00000000-0000-0000-0000-00000000ABCD";
        assert_eq!(Key::from_id(upper), Key::from_id(&upper.to_lowercase()));
    }

    #[test]
    fn copies_join_and_values_without_a_key_do_not() {
        let mut list = Distinct::default();
        for number in 0..2000 {
            let key = Key::from_id(&(number % 1000).to_string());
            assert_eq!(list.put(Some(key), number, |_, _| {}), number % 1000);
        }
        assert_eq!(list.put(None, 1, |_, _| {}), 1000);
        list.retain(|value| *value % 4 == 1);
        let mut other = Distinct::default();
        for key in [Some(Key::from_id("1")), Some(Key::from_id("2")), None] {
            other.put(key, 1000, |_, _| {});
        }
        list.append(other, |known, copy| *known += copy);
        let found = ["0", "1", "2"].map(|key| list.get(Key::from_id(key)).copied());
        assert_eq!((list.len(), found), (253, [None, Some(1001), Some(1000)]));
    }
}
