//! The first of many items in some order, in bounded memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::time::SystemTime;

/// Keeps the smallest items.
#[derive(Debug)]
pub(super) struct FirstFew<Item> {
    limit: usize,
    /// The largest kept item is on top.
    kept: BinaryHeap<Item>,
    seen: usize,
}

impl<Item: Ord> FirstFew<Item> {
    /// Keeps at most `limit` items.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            kept: BinaryHeap::new(),
            seen: 0,
        }
    }

    pub(super) fn add(&mut self, item: Item) {
        self.seen += 1;
        self.kept.push(item);
        if self.kept.len() > self.limit {
            self.kept.pop();
        }
    }

    /// Returns the number of all items.
    pub(super) fn seen(&self) -> usize {
        self.seen
    }

    /// Returns the kept items in ascending order.
    pub(super) fn into_sorted(self) -> Vec<Item> {
        self.kept.into_sorted_vec()
    }
}

/// The newest of many files. Files of the same age are sorted by path.
pub(super) type NewestFiles = FirstFew<(Reverse<SystemTime>, PathBuf)>;

impl NewestFiles {
    pub(super) fn add_file(&mut self, path: PathBuf, modified: SystemTime) {
        self.add((Reverse(modified), path));
    }

    /// Returns the kept files, newest first.
    pub(super) fn into_paths(self) -> impl Iterator<Item = PathBuf> {
        self.into_sorted().into_iter().map(|(_, path)| path)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_head_of_the_sorted_list(
            files in proptest::collection::btree_map("[a-d]{1,3}", 0_u64..4, 0..20),
            limit in 0_usize..8,
        ) {
            let mut newest = NewestFiles::new(limit);
            for (name, age) in &files {
                newest.add_file(name.into(), SystemTime::UNIX_EPOCH + Duration::from_secs(*age));
            }
            let mut expected: Vec<_> = files.iter().map(|(name, age)| (Reverse(*age), name)).collect();
            expected.sort();
            let expected: Vec<_> = expected.iter().take(limit).map(|(_, name)| PathBuf::from(name)).collect();
            prop_assert_eq!(newest.seen(), files.len());
            prop_assert_eq!(newest.into_paths().collect::<Vec<_>>(), expected);
        }
    }
}
