//! Finding session files in folders, without opening them.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Agent, archive};

/// Agents nest their files no deeper than this below a root.
const DEEPEST: u32 = 8;

/// Folders that hold no sessions but what belongs to one.
const BELONGINGS: [&str; 4] = ["subagents", "tool-results", "memory", "node_modules"];

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
}

/// The files in `roots` that may be sessions, the last changed first. Folders that are missing or
/// unreadable have none; links are not followed; files of subagents are not sessions.
pub fn discover(roots: &[Root]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for root in roots {
        match fs::symlink_metadata(&root.path) {
            Ok(metadata) if metadata.is_file() => found.extend(candidate(root.path.clone())),
            Ok(metadata) if metadata.is_dir() => walk(&root.path, DEEPEST, &mut found),
            _ => {}
        }
    }
    found.sort_by(|one, other| {
        let newest_first = other.modified.cmp(&one.modified);
        newest_first.then_with(|| one.path.cmp(&other.path))
    });
    found.dedup_by(|one, other| one.path == other.path);
    found
}

fn walk(folder: &Path, depth: u32, found: &mut Vec<Candidate>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if kind.is_dir() {
            if depth > 0 && !BELONGINGS.contains(&name.as_ref()) {
                walk(&entry.path(), depth - 1, found);
            }
        } else if kind.is_file() && may_be_a_session(&name) {
            found.extend(of_entry(&entry));
        }
    }
}

/// By its name: side files and files of subagents are none.
fn may_be_a_session(name: &str) -> bool {
    let side_files = [".turnpipe.jsonl", ".ledger.jsonl", ".meta.json"];
    let is_side_file = side_files.iter().any(|end| name.ends_with(end));
    let is_subagent = name.starts_with("agent-");
    let extension = Path::new(name).extension();
    let is_lines =
        extension.is_some_and(|end| end == "jsonl") || name.ends_with(archive::EXTENSION);
    let is_document = extension.is_some_and(|end| end == "json") && name.starts_with("session-");
    !is_side_file && !is_subagent && (is_lines || is_document)
}

fn of_entry(entry: &DirEntry) -> Option<Candidate> {
    let metadata = entry.metadata().ok()?;
    Some(Candidate {
        path: entry.path(),
        size: metadata.len(),
        modified: metadata.modified().ok()?,
    })
}

fn candidate(path: PathBuf) -> Option<Candidate> {
    let metadata = fs::symlink_metadata(&path).ok()?;
    Some(Candidate {
        size: metadata.len(),
        modified: metadata.modified().ok()?,
        path,
    })
}

/// The folder with the files of the subagents of a session, whether it is there or not; some agents
/// have none.
pub fn subagent_folder(path: &Path, agent: Agent) -> Option<PathBuf> {
    let (folder, stem) = (path.parent()?, path.file_stem()?);
    match agent {
        Agent::Claude => Some(folder.join(stem).join("subagents")),
        Agent::Qwen => Some(folder.parent()?.join("subagents").join(stem)),
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
