//! A list of distinct values.

use std::collections::HashMap;

use super::tree::Key;

/// Values in the order of their first occurrence. A value with a known key is a copy of an earlier one; a
/// value without a key is distinct.
#[derive(Debug)]
pub(super) struct Distinct<Value> {
    places: HashMap<Key, usize>,
    values: Vec<(Option<Key>, Value)>,
}

impl<Value> Default for Distinct<Value> {
    fn default() -> Self {
        Self {
            places: HashMap::new(),
            values: Vec::new(),
        }
    }
}

impl<Value> Distinct<Value> {
    /// Adds a value, or joins it with the value that has the same key. Returns its index.
    pub(super) fn put(
        &mut self,
        key: Option<Key>,
        value: Value,
        join: impl FnOnce(&mut Value, Value),
    ) -> usize {
        let place = key.and_then(|key| self.places.get(&key).copied());
        if let Some(place) = place {
            join(&mut self.values[place].1, value);
            return place;
        }
        let place = self.values.len();
        self.places.extend(key.map(|key| (key, place)));
        self.values.push((key, value));
        place
    }

    /// Adds the values of another list.
    pub(super) fn append(&mut self, other: Self, join: impl Fn(&mut Value, Value)) {
        for (key, value) in other.values {
            self.put(key, value, &join);
        }
    }

    /// Removes the values that `keeps` refuses. Nothing may be added afterwards.
    pub(super) fn retain(&mut self, keeps: impl Fn(&Value) -> bool) {
        self.places.clear();
        self.values.retain(|(_, value)| keeps(value));
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the value at an index.
    pub(super) fn at(&mut self, place: usize) -> Option<&mut Value> {
        self.values.get_mut(place).map(|(_, value)| value)
    }

    /// Returns the values.
    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter().map(|(_, value)| value)
    }

    /// Returns mutable references to the values.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.values.iter_mut().map(|(_, value)| value)
    }
}
