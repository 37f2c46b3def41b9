//! Walking a directory tree as a search does: ignore files honoured, hidden files included, the
//! insides of version control left out, stoppable at any time.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{DirEntry, WalkBuilder};

use crate::io::CancelToken;
use crate::permission::Action;
use crate::tools::{ToolContext, real_path};

/// Directories (or, in a linked work tree, files) that hold a repository's own data.
const VERSION_CONTROL: [&str; 6] = [".git", ".svn", ".hg", ".bzr", ".jj", ".sl"];

/// When a search stops early.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget<'a> {
    cancel: &'a CancelToken,
    deadline: Instant,
}

/// Why a search stopped early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stopped {
    /// Its token fired.
    Cancelled,
    /// Its time was up.
    TimedOut,
}

/// How a search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchEnd {
    /// It has seen everything, or all that it wanted.
    Complete,
    /// It was stopped.
    Stopped(Stopped),
}

impl<'a> Budget<'a> {
    /// Lasts until `cancel` fires, at most for `time` from now.
    pub(super) fn new(cancel: &'a CancelToken, time: Duration) -> Self {
        Self {
            cancel,
            deadline: Instant::now() + time,
        }
    }

    /// Whether to stop now.
    pub(super) fn check(&self) -> Result<(), Stopped> {
        if self.cancel.is_cancelled() {
            Err(Stopped::Cancelled)
        } else if Instant::now() >= self.deadline {
            Err(Stopped::TimedOut)
        } else {
            Ok(())
        }
    }
}

/// Files and directories that could not be read.
#[derive(Debug, Default)]
pub(super) struct Unread {
    count: u64,
    /// Name and reason of the first one.
    pub(super) first: Option<String>,
}

impl Unread {
    pub(super) fn add(&mut self, name_and_reason: String) {
        self.count += 1;
        self.first.get_or_insert(name_and_reason);
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.count += other.count;
        self.first = self.first.take().or(other.first);
    }

    /// A note for the model.
    pub(super) fn note(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let places = match self.count {
            1 => "1 file or directory".to_owned(),
            many => format!("{many} files or directories"),
        };
        Some(format!(
            "({places} could not be searched, the first: {first})"
        ))
    }
}

/// Which entries a walk leaves out in addition to ignored ones.
#[derive(Debug, Clone)]
pub(super) struct Filters {
    /// Globs that entries must match; these win over ignore files.
    pub(super) globs: Override,
    /// Types that files must have.
    pub(super) types: Types,
}

impl Filters {
    /// Leaves nothing out.
    pub(super) fn none() -> Self {
        Self {
            globs: Override::empty(),
            types: Types::empty(),
        }
    }
}

/// Calls `visit` with everything below `root` that is not a directory, and with `root` itself if it
/// is a file; in a fixed order. Links to directories are not followed. Files that a rule of the session
/// denies are left out. What cannot be read is added to `unread`.
pub(super) fn walk(
    root: &Path,
    session: &ToolContext,
    filters: Filters,
    budget: Budget<'_>,
    unread: &mut Unread,
    visit: &mut dyn FnMut(DirEntry) -> ControlFlow<SearchEnd>,
) -> SearchEnd {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        // The user's own git configuration is found through the environment, which a session
        // does not share with this process.
        .git_global(false)
        .current_dir(root)
        .overrides(filters.globs)
        .types(filters.types)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.depth() == 0 || !is_version_control(entry))
        .build();
    let (input, action) = (serde_json::Map::new(), Action::Harmless);
    let request = session.request("Read", &input, &action);
    let is_denied = session.denied.unreadable(&request);
    let real_root = real_path(root).unwrap_or_else(|| root.to_owned());
    for entry in walk {
        if let Err(stopped) = budget.check() {
            return SearchEnd::Stopped(stopped);
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
            let real = if entry.path_is_symlink() {
                real_path(entry.path())
            } else {
                let below = entry.path().strip_prefix(root);
                below.ok().map(|below| real_root.join(below))
            };
            let name = entry.path().to_owned();
            if is_denied(name.clone(), real.unwrap_or(name)) {
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
