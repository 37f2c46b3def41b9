//! Reads directories recursively, on several threads if there are many files.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::files::compressed::strip_compression;
use crate::files::open::is_database;
use crate::files::side_file::{SIDE_FILE_SUFFIX, side_file_path};
use turnpipe_core::io::Lock;
use turnpipe_formats::agent::{
    is_among_subagents, is_subagent_dir, is_subagent_file, session_stem,
};

/// The directory with the files of subagents.
pub(crate) const SUBAGENTS: &str = "subagents";

/// Maximum depth of session files below a root, in directories.
const MAX_DEPTH: u32 = 8;

/// Directories whose files belong to a session but are not sessions.
const EXCLUDED: [&str; 4] = [SUBAGENTS, "tool-results", "memory", "node_modules"];

/// Number of files after which threads read the remaining directories.
const THREAD_THRESHOLD: usize = 512;

/// Other content of the directory of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DirContext {
    /// Whether the file may have a side file of turnpipe.
    pub(crate) has_side_file: bool,
    /// Whether there may be a directory of its subagents.
    pub(crate) has_subagents: bool,
    /// Whether the user named the file itself rather than a directory that contains it.
    pub(crate) is_named: bool,
    /// The size of the session in bytes, if it is in a database.
    pub(crate) stored_size: Option<u64>,
}

/// A possible session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The file.
    pub path: PathBuf,
    /// The size in bytes; 0 if it was not read.
    pub size: u64,
    /// The modification time, which programs may set.
    pub modified: SystemTime,
    /// The time of the last change of the file or its metadata. The session was not active later.
    pub changed: SystemTime,
    /// Other content of the directory.
    pub(crate) context: DirContext,
}

impl Candidate {
    /// Returns a file with this metadata, unless it is gone.
    pub(crate) fn new(
        path: PathBuf,
        metadata: io::Result<Metadata>,
        context: DirContext,
    ) -> Option<Self> {
        let metadata = metadata.ok()?;
        let modified = metadata.modified().ok()?;
        let changed = UNIX_EPOCH.checked_add(Duration::new(
            metadata.ctime().try_into().unwrap_or_default(),
            metadata.ctime_nsec().try_into().unwrap_or_default(),
        ));
        Some(Self {
            path,
            size: metadata.len(),
            modified,
            changed: changed.map_or(modified, |changed| changed.max(modified)),
            context,
        })
    }

    /// Returns a file whose metadata was not read.
    pub(crate) fn without_metadata(path: PathBuf, context: DirContext) -> Self {
        Self {
            path,
            size: 0,
            modified: UNIX_EPOCH,
            changed: UNIX_EPOCH,
            context,
        }
    }
}

/// Whether the sizes and times of files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileTimes {
    Read,
    /// For callers that open all files.
    Unread,
}

/// A directory to read.
struct Dir {
    path: PathBuf,
    /// Number of levels below it to read.
    depth: u32,
    /// Whether it may contain directories of subagents.
    has_subagents_beside: bool,
}

/// The content of a directory and the directories below it, in no order.
#[derive(Debug, Default)]
pub(crate) struct FoundFiles {
    /// The possible session files.
    pub(crate) files: Vec<Candidate>,
    /// Symbolic links that may lead to more of them. They were not followed.
    pub(crate) links: Vec<PathBuf>,
}

/// Reads the directories from `root` on.
pub(crate) fn walk(root: &Path, threads: NonZeroUsize, times: FileTimes) -> FoundFiles {
    let mut found = FoundFiles::default();
    let mut dirs = vec![Dir {
        path: root.to_owned(),
        depth: MAX_DEPTH,
        has_subagents_beside: true,
    }];
    while let Some(dir) = dirs.pop() {
        dirs.extend(read_dir(&dir, times, &mut found));
        if found.files.len() >= THREAD_THRESHOLD && dirs.len() > 1 && threads > NonZeroUsize::MIN {
            read_in_threads(dirs, threads, times, &mut found);
            break;
        }
    }
    found
}

/// The directories that the threads share.
struct DirQueue {
    dirs: Vec<Dir>,
    /// Number of directories that are being read. Each of them may add directories.
    active: usize,
}

/// Adds the files in these directories and the directories below them.
fn read_in_threads(dirs: Vec<Dir>, threads: NonZeroUsize, times: FileTimes, all: &mut FoundFiles) {
    let queue = Mutex::new(DirQueue { dirs, active: 0 });
    let changed = Condvar::new();
    let read_dirs = || {
        let mut found = FoundFiles::default();
        let mut shared = queue.lock_anyway();
        loop {
            if let Some(dir) = shared.dirs.pop() {
                shared.active += 1;
                drop(shared);
                let inner = read_dir(&dir, times, &mut found);
                shared = queue.lock_anyway();
                shared.active -= 1;
                shared.dirs.extend(inner);
                changed.notify_all();
            } else if shared.active == 0 {
                return found;
            } else {
                let woken = changed.wait(shared);
                shared = woken.unwrap_or_else(PoisonError::into_inner);
            }
        }
    };
    std::thread::scope(|scope| {
        // The system may not provide as many threads.
        let others: Vec<_> = (1..threads.get())
            .map_while(|_| Builder::new().spawn_scoped(scope, read_dirs).ok())
            .collect();
        let own = std::iter::once(read_dirs());
        let others = others.into_iter().filter_map(|other| other.join().ok());
        for found in own.chain(others) {
            all.files.extend(found.files);
            all.links.extend(found.links);
        }
    });
}

/// Reads one directory. Returns the directories in it.
fn read_dir(dir: &Dir, times: FileTimes, found: &mut FoundFiles) -> Vec<Dir> {
    let mut inner = Vec::new();
    let Ok(entries) = fs::read_dir(&dir.path) else {
        return inner;
    };
    let mut files = Vec::new();
    let (mut side_files, mut dirs) = (HashSet::new(), HashSet::new());
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = entry.file_name();
        let text = name.to_string_lossy();
        let is_followed = dir.depth > 0 && !EXCLUDED.contains(&text.as_ref());
        if kind.is_dir() && is_followed {
            inner.push(Dir {
                path: entry.path(),
                depth: dir.depth - 1,
                has_subagents_beside: false,
            });
        }
        if kind.is_symlink() && is_followed {
            found.links.push(entry.path());
        }
        if kind.is_file() && may_be_session(&text) && !is_subagent_file(&entry.path()) {
            files.push((entry, name));
        } else if kind.is_file() && text.ends_with(SIDE_FILE_SUFFIX) {
            side_files.insert(name);
        } else if !kind.is_file() {
            dirs.insert(name);
        }
    }
    // If both exist, agents read the plain file.
    let names: HashSet<_> = files.iter().map(|(_, name)| name.clone()).collect();
    files.retain(|(_, name)| {
        let plain = name.to_str().and_then(strip_compression);
        plain.is_none_or(|plain| !names.contains(OsStr::new(plain)))
    });
    let has_subagents_beside = dirs.contains(OsStr::new(SUBAGENTS));
    for dir in &mut inner {
        dir.has_subagents_beside = has_subagents_beside;
    }
    let candidates = files.into_iter().filter_map(|(entry, name)| {
        let own_dir = session_stem(Path::new(&name)).unwrap_or_default();
        let context = DirContext {
            has_subagents: dir.has_subagents_beside
                || is_among_subagents(&entry.path())
                || dirs.contains(own_dir)
                || dirs.iter().any(|dir| is_subagent_dir(own_dir, dir)),
            is_named: false,
            stored_size: None,
            has_side_file: !side_files.is_empty()
                && side_files.contains(side_file_path(Path::new(&name)).as_os_str()),
        };
        match times {
            FileTimes::Read => Candidate::new(entry.path(), entry.metadata(), context),
            FileTimes::Unread => Some(Candidate::without_metadata(entry.path(), context)),
        }
    });
    found.files.extend(candidates);
    inner
}

/// The ending of the names of exported trajectories.
pub const TRAJECTORY_ENDING: &str = ".atif.json";

/// Whether a file with this name may be a session. Side files do not count.
pub(crate) fn may_be_session(name: &str) -> bool {
    let side_files = [".ledger.jsonl", ".meta.json", "-index.json"];
    let is_database = is_database(Path::new(name));
    let name = strip_compression(name).unwrap_or(name);
    let is_side_file = side_files.iter().any(|end| name.ends_with(end));
    let extension = Path::new(name).extension();
    let is_lines = extension.is_some_and(|end| end == "jsonl");
    let is_json = extension.is_some_and(|end| end == "json");
    let has_document_name = name.starts_with("session-") || name.starts_with("trajectory");
    let is_document = is_json && has_document_name || name.ends_with(TRAJECTORY_ENDING);
    !is_side_file && (is_lines || is_document || is_database)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More dirs than one thread reads, partly nested.
    #[test]
    fn several_threads_find_the_same_files() {
        let root = tempfile::tempdir().unwrap();
        for project in 0..8 {
            let dir = root.path().join(format!("{project}/chats"));
            fs::create_dir_all(&dir).unwrap();
            for session in 0..THREAD_THRESHOLD / 4 {
                fs::write(dir.join(format!("{session}.jsonl")), "").unwrap();
            }
        }
        let paths = |threads: usize| {
            let threads = NonZeroUsize::new(threads).unwrap();
            let found = walk(root.path(), threads, FileTimes::Unread)
                .files
                .into_iter();
            let mut paths: Vec<PathBuf> = found.map(|file| file.path).collect();
            paths.sort();
            paths
        };
        assert_eq!(paths(1).len(), 2 * THREAD_THRESHOLD);
        assert_eq!(paths(1), paths(3));
    }

    #[test]
    fn the_context_of_a_file_is_recorded() {
        let root = tempfile::tempdir().unwrap();
        for dir in ["p/chats", "p/subagents", "q/one"] {
            fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        for file in [
            "p/chats/a.jsonl",
            "q/one.jsonl",
            "q/two.jsonl",
            "q/two.jsonl.turnpipe",
            "q/two.jsonl.zst",
        ] {
            fs::write(root.path().join(file), "").unwrap();
        }
        let found = walk(root.path(), NonZeroUsize::MIN, FileTimes::Unread);
        let found = found.files.into_iter();
        let mut found: Vec<(String, bool, bool)> = found
            .map(|file| {
                let name = file.path.file_name().unwrap().to_string_lossy();
                let context = file.context;
                (
                    name.into_owned(),
                    context.has_subagents,
                    context.has_side_file,
                )
            })
            .collect();
        found.sort();
        let expected = [
            ("a.jsonl", true, false),
            ("one.jsonl", true, false),
            ("two.jsonl", false, true),
        ];
        assert_eq!(
            found,
            expected.map(|(name, subagents, side)| (name.to_owned(), subagents, side))
        );
    }

    #[test]
    fn files_are_found_down_to_the_greatest_depth() {
        let root = tempfile::tempdir().unwrap();
        let mut dir = root.path().to_owned();
        for depth in 0..=MAX_DEPTH + 2 {
            fs::write(dir.join(format!("{depth}.jsonl")), "").unwrap();
            dir.push("d");
            fs::create_dir(&dir).unwrap();
        }
        let found = walk(root.path(), NonZeroUsize::MIN, FileTimes::Unread);
        assert_eq!(u32::try_from(found.files.len()), Ok(MAX_DEPTH + 1));
    }
}
