//! Reads folders recursively, on several threads if there is much to read.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::Builder;

use super::archive;
use super::record::{SIDE_FILE_SUFFIX, side_file_path};

/// The folder that holds the files of subagents.
pub(super) const SUBAGENTS: &str = "subagents";

/// How many levels of folders below a root may hold session files.
const DEEPEST: u32 = 8;

/// Folders that hold no sessions, only files that belong to one.
const BELONGINGS: [&str; 4] = [SUBAGENTS, "tool-results", "memory", "node_modules"];

/// After this many files, threads are worth starting for the remaining folders.
const MANY: usize = 512;

/// What else the folder of a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderContext {
    /// A side file of turnpipe.
    pub(super) side_file: bool,
    /// A folder of subagents.
    pub(super) subagents: bool,
    /// Whether the user named the file itself and not a folder that holds it.
    pub(super) is_named: bool,
}

/// A folder to read.
struct Folder {
    path: PathBuf,
    /// How many levels below it to read.
    depth: u32,
    /// Whether subagent folders may be beside its files.
    subagents_beside: bool,
}

/// Converts an entry, unless the file is gone.
pub(super) type Keep<File> = fn(&DirEntry, FolderContext) -> Option<File>;

/// Applies `keep` to the possible session files below `root`, in no order.
pub(super) fn walk<File: Send>(root: &Path, threads: NonZeroUsize, keep: Keep<File>) -> Vec<File> {
    let mut found = Vec::new();
    let mut folders = vec![Folder {
        path: root.to_owned(),
        depth: DEEPEST,
        subagents_beside: true,
    }];
    while let Some(folder) = folders.pop() {
        folders.extend(read(&folder, keep, &mut found));
        if found.len() >= MANY && folders.len() > 1 && threads > NonZeroUsize::MIN {
            found.extend(side_by_side(folders, threads, keep));
            break;
        }
    }
    found
}

/// The state that the threads share.
struct Waiting {
    folders: Vec<Folder>,
    /// How many folders are being read. Each may add more.
    read: usize,
}

/// The files in these folders and below.
fn side_by_side<File: Send>(
    folders: Vec<Folder>,
    threads: NonZeroUsize,
    keep: Keep<File>,
) -> Vec<File> {
    let waiting = Mutex::new(Waiting { folders, read: 0 });
    let changed = Condvar::new();
    let work = || {
        let mut found = Vec::new();
        let mut shared = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(folder) = shared.folders.pop() {
                shared.read += 1;
                drop(shared);
                let inner = read(&folder, keep, &mut found);
                shared = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                shared.read -= 1;
                shared.folders.extend(inner);
                changed.notify_all();
            } else if shared.read == 0 {
                return found;
            } else {
                let woken = changed.wait(shared);
                shared = woken.unwrap_or_else(PoisonError::into_inner);
            }
        }
    };
    std::thread::scope(|scope| {
        // The system may not have as many threads.
        let others: Vec<_> = (1..threads.get())
            .map_while(|_| Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut found = work();
        for other in others {
            found.extend(other.join().unwrap_or_default());
        }
        found
    })
}

/// Reads one folder. Returns the folders in it.
fn read<File>(folder: &Folder, keep: Keep<File>, found: &mut Vec<File>) -> Vec<Folder> {
    let mut inner = Vec::new();
    let Ok(entries) = fs::read_dir(&folder.path) else {
        return inner;
    };
    let mut files = Vec::new();
    let (mut side_files, mut folders) = (HashSet::new(), HashSet::new());
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = entry.file_name();
        let text = name.to_string_lossy();
        if kind.is_dir() && folder.depth > 0 && !BELONGINGS.contains(&text.as_ref()) {
            inner.push(Folder {
                path: entry.path(),
                depth: folder.depth - 1,
                subagents_beside: false,
            });
        }
        if kind.is_file() && may_be_a_session(&text) {
            files.push((entry, name));
        } else if kind.is_file() && text.ends_with(SIDE_FILE_SUFFIX) {
            side_files.insert(name);
        } else if !kind.is_file() {
            folders.insert(name);
        }
    }
    let subagents_beside = folders.contains(OsStr::new(SUBAGENTS));
    for folder in &mut inner {
        folder.subagents_beside = subagents_beside;
    }
    let kept = files.into_iter().filter_map(|(entry, name)| {
        let own_folder = Path::new(&name).file_stem().unwrap_or_default();
        let context = FolderContext {
            subagents: folder.subagents_beside || folders.contains(own_folder),
            is_named: false,
            side_file: !side_files.is_empty()
                && side_files.contains(side_file_path(Path::new(&name)).as_os_str()),
        };
        keep(&entry, context)
    });
    found.extend(kept);
    inner
}

/// Decides by name alone. Side files and subagent files do not count.
fn may_be_a_session(name: &str) -> bool {
    let side_files = [SIDE_FILE_SUFFIX, ".ledger.jsonl", ".meta.json"];
    let is_side_file = side_files.iter().any(|end| name.ends_with(end));
    let is_subagent = name.starts_with("agent-");
    let extension = Path::new(name).extension();
    let is_lines =
        extension.is_some_and(|end| end == "jsonl") || name.ends_with(archive::EXTENSION);
    let is_document = extension.is_some_and(|end| end == "json") && name.starts_with("session-");
    !is_side_file && !is_subagent && (is_lines || is_document)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More folders than one thread reads, partly nested.
    #[test]
    fn threads_find_what_one_finds() {
        let root = tempfile::tempdir().unwrap();
        for project in 0..8 {
            let folder = root.path().join(format!("{project}/chats"));
            fs::create_dir_all(&folder).unwrap();
            for session in 0..MANY / 4 {
                fs::write(folder.join(format!("{session}.jsonl")), "").unwrap();
            }
        }
        let paths = |threads: usize| {
            let threads = NonZeroUsize::new(threads).unwrap();
            let mut paths = walk(root.path(), threads, |entry, _| Some(entry.path()));
            paths.sort();
            paths
        };
        assert_eq!(paths(1).len(), 2 * MANY);
        assert_eq!(paths(1), paths(3));
    }

    #[test]
    fn what_stands_around_a_file_is_told() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["p/chats", "p/subagents", "q/one"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for file in [
            "p/chats/a.jsonl",
            "q/one.jsonl",
            "q/two.jsonl",
            "q/two.jsonl.turnpipe.jsonl",
        ] {
            fs::write(root.path().join(file), "").unwrap();
        }
        let mut found = walk(root.path(), NonZeroUsize::MIN, |entry, context| {
            let name = entry.file_name().to_string_lossy().into_owned();
            Some((name, context.subagents, context.side_file))
        });
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
}
