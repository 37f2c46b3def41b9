//! The newest of many files, in memory that does not grow with their number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::PathBuf;
use std::time::SystemTime;

/// Keeps the newest files of those it is shown; equally new ones in the order of their paths.
#[derive(Debug)]
pub(super) struct Newest {
    keep: usize,
    /// The oldest kept file is on top.
    kept: BinaryHeap<Reverse<Dated>>,
    seen: usize,
}

/// Newer is greater; of two of the same age, the one whose path comes first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Dated {
    modified: SystemTime,
    path: Reverse<PathBuf>,
}

impl Newest {
    /// Will keep at most `keep` files.
    pub(super) fn new(keep: usize) -> Self {
        Self {
            keep,
            kept: BinaryHeap::new(),
            seen: 0,
        }
    }

    pub(super) fn add(&mut self, path: PathBuf, modified: SystemTime) {
        self.seen += 1;
        self.kept.push(Reverse(Dated {
            modified,
            path: Reverse(path),
        }));
        if self.kept.len() > self.keep {
            self.kept.pop();
        }
    }

    /// How many files it was shown.
    pub(super) fn seen(&self) -> usize {
        self.seen
    }

    /// The kept ones, newest first.
    pub(super) fn into_paths(self) -> Vec<PathBuf> {
        let sorted = self.kept.into_sorted_vec();
        sorted
            .into_iter()
            .map(|Reverse(dated)| dated.path.0)
            .collect()
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
            keep in 0_usize..8,
        ) {
            let mut newest = Newest::new(keep);
            for (name, age) in &files {
                newest.add(name.into(), SystemTime::UNIX_EPOCH + Duration::from_secs(*age));
            }
            let mut expected: Vec<_> = files.iter().map(|(name, age)| (Reverse(*age), name)).collect();
            expected.sort();
            let expected: Vec<_> = expected.iter().take(keep).map(|(_, name)| PathBuf::from(name)).collect();
            prop_assert_eq!(newest.seen(), files.len());
            prop_assert_eq!(newest.into_paths(), expected);
        }
    }
}
