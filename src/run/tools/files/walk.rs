//! Walks a directory tree for searches: honours ignore files, includes hidden files, skips directories of
//! version control and of processes (procfs), and can be stopped at any time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{DirEntry, WalkBuilder};

use crate::io::{CancelToken, is_procfs};
use crate::permission::Action;
use crate::run::tools::{ToolContext, real_path};

/// Directories (or files, in a linked work tree) with a repository's own data.
const VERSION_CONTROL: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// The limits of a search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget<'a> {
    cancel: &'a CancelToken,
    deadline: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchEnd {
    /// All entries were visited, or the visitor stopped.
    Complete,
    /// It was cancelled.
    Cancelled,
    /// The timeout expired.
    TimedOut,
}

impl<'a> Budget<'a> {
    /// Creates a budget that ends when `cancel` fires, or after `time`.
    pub(super) fn new(cancel: &'a CancelToken, time: Duration) -> Self {
        Self {
            cancel,
            deadline: Instant::now() + time,
        }
    }

    /// Returns the end of the search as an error if it must stop.
    pub(super) fn check(&self) -> Result<(), SearchEnd> {
        if self.cancel.is_cancelled() {
            Err(SearchEnd::Cancelled)
        } else if Instant::now() >= self.deadline {
            Err(SearchEnd::TimedOut)
        } else {
            Ok(())
        }
    }
}

/// Files and directories that could not be read.
#[derive(Debug, Default)]
pub(super) struct UnreadableFiles {
    count: u64,
    /// The name of the first one, with the reason.
    pub(super) first: Option<String>,
}

impl UnreadableFiles {
    pub(super) fn add(&mut self, name_and_reason: String) {
        self.count += 1;
        self.first.get_or_insert(name_and_reason);
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.count += other.count;
        self.first = self.first.take().or(other.first);
    }

    /// Returns a note for the model.
    pub(super) fn describe(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let files = match self.count {
            1 => "1 file or directory".to_owned(),
            many => format!("{many} files or directories"),
        };
        Some(format!(
            "({files} could not be searched, the first: {first})"
        ))
    }
}

/// Filters in addition to ignore files.
#[derive(Debug, Clone)]
pub(super) struct Filters {
    /// Globs that entries must match. They override ignore files.
    pub(super) globs: Override,
    /// Types that files must have.
    pub(super) types: Types,
}

impl Filters {
    /// Returns no filters.
    pub(super) fn none() -> Self {
        Self {
            globs: Override::empty(),
            types: Types::empty(),
        }
    }
}

/// Calls `visit` with all entries below `root` except directories, and with `root` if it is a file, in a fixed
/// order. Does not follow links to directories. Skips files that a rule of the session denies. Errors are added
/// to `unread`.
pub(super) fn walk(
    root: &Path,
    session: &ToolContext,
    filters: Filters,
    budget: Budget<'_>,
    unread: &mut UnreadableFiles,
    visit: &mut dyn FnMut(DirEntry) -> ControlFlow<SearchEnd>,
) -> SearchEnd {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        // The user's git configuration depends on the environment of this process, not of the session.
        .git_global(false)
        .current_dir(root)
        .overrides(filters.globs)
        .types(filters.types)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| {
            entry.depth() == 0 || !is_version_control(entry) && !is_of_processes(entry)
        })
        .build();
    let (input, action) = (serde_json::Map::new(), Action::Harmless);
    let request = session.request("Read", &input, &action);
    let is_denied = session.denied.unreadable(&request);
    let real_root = real_path(root).unwrap_or_else(|| root.to_owned());
    for entry in walk {
        if let Err(end) = budget.check() {
            return end;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                unread.add(error.to_string());
                continue;
            }
        };
        if entry.file_type().is_none_or(|kind| kind.is_dir()) {
            continue;
        }
        if let Some(is_denied) = &is_denied {
            let real_file = if entry.path_is_symlink() {
                real_path(entry.path())
            } else {
                let below = entry.path().strip_prefix(root);
                below.ok().map(|below| real_root.join(below))
            };
            let name = entry.path().to_owned();
            if is_denied(name.clone(), real_file.unwrap_or(name)) {
                continue;
            }
        }
        if let ControlFlow::Break(end) = visit(entry) {
            return end;
        }
    }
    SearchEnd::Complete
}

fn is_version_control(entry: &DirEntry) -> bool {
    VERSION_CONTROL
        .iter()
        .any(|name| entry.file_name() == *name)
}

/// Whether an entry is a directory of procfs: the directory where procfs is mounted.
fn is_of_processes(entry: &DirEntry) -> bool {
    let is_directory = entry.file_type().is_some_and(|kind| kind.is_dir());
    is_directory && is_procfs(rustix::fs::statfs(entry.path()))
}

/// Keeps the smallest items.
#[derive(Debug)]
pub(super) struct SmallestItems<Item> {
    limit: usize,
    /// The largest kept item is on top.
    kept: BinaryHeap<Item>,
    seen: usize,
}

impl<Item: Ord> SmallestItems<Item> {
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
    pub(super) fn count(&self) -> usize {
        self.seen
    }

    /// Returns the kept items in ascending order.
    pub(super) fn into_sorted(self) -> Vec<Item> {
        self.kept.into_sorted_vec()
    }
}

/// The newest of many files. Files of the same age are sorted by path.
pub(super) type NewestFiles = SmallestItems<(Reverse<SystemTime>, PathBuf)>;

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
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn only_procfs_has_the_files_of_processes() {
        let entries = WalkBuilder::new("/").max_depth(Some(1)).build();
        for entry in entries.flatten() {
            let is_proc = entry.path() == Path::new("/proc");
            assert_eq!(is_of_processes(&entry), is_proc, "{entry:?}");
        }
    }
}

#[cfg(test)]
mod first_few_tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_kept_items_are_the_head_of_the_sorted_list(
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
            prop_assert_eq!(newest.count(), files.len());
            prop_assert_eq!(newest.into_paths().collect::<Vec<_>>(), expected);
        }
    }
}
