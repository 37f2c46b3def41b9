//! Finding session files in folders, without opening them.

use std::fs::{self, DirEntry};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Agent;
use super::folders::{Keep, walk};

/// The folder with the files of subagents.
pub(super) const SUBAGENTS: &str = "subagents";

/// A folder with session files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Whose files are there; `None` if anybody's may be.
    pub agent: Option<Agent>,
    /// The folder, or a single file.
    pub path: PathBuf,
}

/// A file that may be a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The file.
    pub path: PathBuf,
    /// In bytes.
    pub size: u64,
    /// When it was changed last. It was not active later, unless somebody set its time.
    pub modified: SystemTime,
    /// What may stand around it.
    pub(super) around: Around,
}

/// A file that may be a session by its name; nothing was asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// What may stand around it.
    pub(super) around: Around,
}

/// What may stand around a file, as its folders were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Around {
    /// A file of ours beside it.
    pub(super) side_file: bool,
    /// A folder of subagents.
    pub(super) subagents: bool,
    /// Whether the file itself was asked for, and not a folder that holds it.
    pub(super) is_named: bool,
}

/// No folder was read.
const ANYTHING: Around = Around {
    side_file: true,
    subagents: true,
    is_named: true,
};

/// The files in `roots` that may be sessions, the last changed first. Folders that are missing or
/// unreadable have none; links are not followed; files of subagents are not sessions.
pub fn discover(roots: &[Root]) -> Vec<Candidate> {
    discover_with(NonZeroUsize::MIN, roots)
}

/// The same, on as many threads as that once there are many files.
pub fn discover_with(threads: NonZeroUsize, roots: &[Root]) -> Vec<Candidate> {
    let mut found = files_in(roots, threads, candidate, of_entry);
    found.sort_unstable_by(|one, other| {
        let newest_first = other.modified.cmp(&one.modified);
        newest_first.then_with(|| one.path.as_os_str().cmp(other.path.as_os_str()))
    });
    if roots.len() > 1 {
        found.dedup_by(|one, other| one.path == other.path);
    }
    found
}

/// The same files, in no order, without asking the system about each: for those who open all of them.
pub fn discover_names(threads: NonZeroUsize, roots: &[Root]) -> Vec<Found> {
    let named = |path| {
        let around = ANYTHING;
        Some(Found { path, around })
    };
    let mut found = files_in(roots, threads, named, |entry, around| {
        let path = entry.path();
        Some(Found { path, around })
    });
    if roots.len() > 1 {
        found.sort_unstable_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
        found.dedup_by(|one, other| one.path == other.path);
    }
    found
}

/// What `named` makes of roots that are files, and `keep` of the files below those that are folders.
fn files_in<File: Send>(
    roots: &[Root],
    threads: NonZeroUsize,
    named: fn(PathBuf) -> Option<File>,
    keep: Keep<File>,
) -> Vec<File> {
    let mut found = Vec::new();
    for root in roots {
        match fs::symlink_metadata(&root.path) {
            Ok(metadata) if metadata.is_file() => found.extend(named(root.path.clone())),
            Ok(metadata) if metadata.is_dir() => found.extend(walk(&root.path, threads, keep)),
            _ => {}
        }
    }
    found
}

fn of_entry(entry: &DirEntry, around: Around) -> Option<Candidate> {
    let metadata = entry.metadata().ok()?;
    Some(Candidate {
        path: entry.path(),
        size: metadata.len(),
        modified: metadata.modified().ok()?,
        around,
    })
}

fn candidate(path: PathBuf) -> Option<Candidate> {
    let metadata = fs::symlink_metadata(&path).ok()?;
    Some(Candidate {
        size: metadata.len(),
        modified: metadata.modified().ok()?,
        path,
        around: ANYTHING,
    })
}

/// The folder with the files of the subagents of a session, whether it is there or not; some agents
/// have none.
pub fn subagent_folder(path: &Path, agent: Agent) -> Option<PathBuf> {
    let (folder, stem) = (path.parent()?, path.file_stem()?);
    match agent {
        Agent::Claude => Some(folder.join(stem).join(SUBAGENTS)),
        Agent::Qwen => Some(folder.parent()?.join(SUBAGENTS).join(stem)),
        Agent::Codex | Agent::Gemini | Agent::Pi => None,
    }
}

/// The files of the subagents of a session, by name.
pub fn subagent_files(path: &Path, agent: Agent) -> Vec<PathBuf> {
    let entries = subagent_folder(path, agent).and_then(|folder| fs::read_dir(folder).ok());
    let Some(entries) = entries else {
        return Vec::new();
    };
    let is_subagent = |entry: &DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_lines = Path::new(&*name)
            .extension()
            .is_some_and(|end| end == "jsonl");
        name.starts_with("agent-") && is_lines
    };
    let files = entries.flatten().filter(is_subagent);
    let mut files: Vec<PathBuf> = files.map(|entry| entry.path()).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn belongings_of_sessions_are_no_sessions() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            "p/one.jsonl",
            "p/one/subagents/agent-x.jsonl",
            "p/agent-y.jsonl",
            "p/one.jsonl.turnpipe.jsonl",
            "p/chats/session-2.json",
            "p/chats/logs.json",
            "notes.md",
        ];
        for file in files {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        std::os::unix::fs::symlink(root.path().join("p"), root.path().join("link")).unwrap();
        let found = discover(&[Root {
            agent: None,
            path: root.path().to_owned(),
        }]);
        let mut names: Vec<_> = found
            .iter()
            .map(|found| found.path.strip_prefix(root.path()).unwrap().to_owned())
            .collect();
        names.sort();
        assert_eq!(
            names,
            [
                Path::new("p/chats/session-2.json"),
                Path::new("p/one.jsonl")
            ]
        );
        let session = root.path().join("p/one.jsonl");
        assert_eq!(
            subagent_files(&session, Agent::Claude),
            [root.path().join("p/one/subagents/agent-x.jsonl")]
        );
    }
}
