//! Finds session files in directories without opening them.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::files::compressed::strip_compression;
pub use crate::files::dirs::Candidate;
use crate::files::dirs::{DirContext, FileTimes, may_be_session, walk};
use crate::files::open::{
    is_database, list_stored_sessions, list_stored_subagents, split_stored_path,
};
use crate::files::origin::ArchiveOrigin;
use crate::state::SessionScope;
use turnpipe_formats::agent::{Agent, Root, SubagentFiles, is_subagent_file, session_stem};

/// The directory was not read.
const UNREAD: DirContext = DirContext {
    has_side_file: true,
    has_subagents: true,
    is_named: true,
    stored_size: None,
};

/// Returns possible session files in `roots`, most recently changed first. Missing and unreadable directories
/// count as empty, links are followed once, and files of subagents are omitted.
pub fn discover(roots: &[Root]) -> Vec<Candidate> {
    discover_with(NonZeroUsize::MIN, roots)
}

/// Like [`discover`], on up to this many threads once there are many files.
pub fn discover_with(threads: NonZeroUsize, roots: &[Root]) -> Vec<Candidate> {
    let mut found = find_files(roots, threads, FileTimes::Read);
    found.sort_unstable_by(|one, other| {
        let newest_first = other.modified.cmp(&one.modified);
        newest_first.then_with(|| one.path.as_os_str().cmp(other.path.as_os_str()))
    });
    drop_repeats(found, roots)
}

/// Returns possible session files at these paths, and in those that are directories.
pub fn discover_paths(paths: impl Iterator<Item = PathBuf>) -> Vec<Candidate> {
    let roots: Vec<Root> = paths.map(|path| Root { agent: None, path }).collect();
    discover(&roots)
}

/// Like [`discover_with`], unsorted and without sizes and times, for callers that open all files.
pub fn discover_names(threads: NonZeroUsize, roots: &[Root]) -> Vec<Candidate> {
    let mut found = find_files(roots, threads, FileTimes::Unread);
    if roots.len() > 1 {
        found.sort_unstable_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
    }
    drop_repeats(found, roots)
}

/// Returns the files in roots. The sessions in a database replace the database.
fn find_files(roots: &[Root], threads: NonZeroUsize, times: FileTimes) -> Vec<Candidate> {
    let mut found = Vec::new();
    let (mut dirs, mut links) = (Vec::new(), BTreeSet::new());
    for root in roots {
        let path = if root.path.is_symlink() {
            fs::canonicalize(&root.path)
        } else {
            Ok(root.path.clone())
        };
        match path {
            Ok(path) if path.is_file() || split_stored_path(&path).is_some() => {
                found.extend(read_candidate(path, times));
            }
            Ok(path) if path.is_dir() => {
                let found_files = walk(&path, threads, times);
                found.extend(found_files.files);
                links.extend(found_files.links);
                dirs.push(path);
            }
            _ => {}
        }
    }
    found.extend(follow_links(links, &dirs, threads, times));
    let files = found.into_iter().flat_map(|file| {
        let sessions = if is_database(&file.path) {
            list_stored_sessions(&file.path)
        } else {
            Vec::new()
        };
        if sessions.is_empty() {
            return vec![file];
        }
        let sessions = sessions.into_iter();
        sessions
            .map(|(path, session)| Candidate {
                path,
                size: session.size,
                modified: session.changed,
                changed: session.changed,
                context: DirContext {
                    is_named: false,
                    stored_size: Some(session.size),
                    ..UNREAD
                },
            })
            .collect()
    });
    files.collect()
}

/// Returns the files that are reached only by these links, not by `dirs`, each once. Follows the links among them too.
fn follow_links(
    mut links: BTreeSet<PathBuf>,
    dirs: &[PathBuf],
    threads: NonZeroUsize,
    times: FileTimes,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    if links.is_empty() {
        return found;
    }
    let canonicalize = |path: &PathBuf| fs::canonicalize(path).ok();
    let dirs: Vec<PathBuf> = dirs.iter().filter_map(canonicalize).collect();
    let mut known = HashSet::new();
    let mut resolve_new = |path: &PathBuf| {
        canonicalize(path).filter(|path| {
            let is_found = |dir: &PathBuf| path.starts_with(dir) || dir.starts_with(path);
            !dirs.iter().any(is_found) && known.insert(path.clone())
        })
    };
    let is_session_name = |link: &Path| {
        let name = link.file_name().and_then(OsStr::to_str);
        name.is_some_and(may_be_session) && !is_subagent_file(link)
    };
    while let Some(link) = links.pop_first() {
        let Some(target) = resolve_new(&link) else {
            continue;
        };
        if target.is_dir() {
            let found_files = walk(&link, threads, times);
            links.extend(found_files.links);
            let files = found_files.files.into_iter();
            found.extend(files.filter(|file| resolve_new(&file.path).is_some()));
        } else if target.is_file() && is_session_name(&link) {
            found.extend(read_candidate(target, times));
        }
    }
    found
}

/// Returns the candidate for a root that is a file.
fn read_candidate(path: PathBuf, times: FileTimes) -> Option<Candidate> {
    if times == FileTimes::Unread {
        return Some(Candidate::without_metadata(path, UNREAD));
    }
    let metadata = match split_stored_path(&path) {
        Some((database, _)) => fs::symlink_metadata(database),
        None => fs::symlink_metadata(&path),
    };
    Candidate::new(path, metadata, UNREAD)
}

/// Drops the same file in several roots, archived copies of other files, and all but the first archived copy of a
/// file that is gone.
fn drop_repeats(mut found: Vec<Candidate>, roots: &[Root]) -> Vec<Candidate> {
    if roots.len() > 1 {
        found.dedup_by(|one, other| one.path == other.path);
    }
    let read_origin = |file: &Candidate| {
        strip_compression(file.path.file_name()?.to_str()?)?;
        Some(ArchiveOrigin::read(&file.path)?.scope)
    };
    let origins: Vec<Option<String>> = found.iter().map(read_origin).collect();
    if origins.iter().all(Option::is_none) {
        return found;
    }
    let others = found
        .iter()
        .zip(&origins)
        .filter(|(_, origin)| origin.is_none());
    let to_scope = |file: &Candidate| SessionScope::from_path(&file.path).digest().to_owned();
    let mut known: HashSet<String> = others.map(|(file, _)| to_scope(file)).collect();
    let mut origins = origins.into_iter();
    found.retain(|_| {
        origins
            .next()
            .flatten()
            .is_none_or(|origin| known.insert(origin))
    });
    found
}

/// Returns the id of the subagent with this file.
pub fn subagent_id(agent: Agent, path: &Path) -> String {
    let files = agent.format().layout.subagent_files();
    let id = files.map_or_else(
        || session_stem(path).map(|stem| stem.to_string_lossy().into_owned()),
        |files| (files.id)(path),
    );
    id.unwrap_or_default()
}

/// Maximum depth of directories below the directory of a session's subagents. Each workflow has a directory.
const MAX_SUBAGENT_DEPTH: usize = 2;

/// Returns the subagent files of a session, sorted by name. Files in directories below come last.
pub fn subagent_files(path: &Path, agent: Agent) -> Vec<PathBuf> {
    let files = agent.format().layout.subagent_files();
    let folder = files.and_then(|files| Some((files, (files.directory)(path)?)));
    match folder {
        Some((files, folder)) => list_subagents_in(&folder, files, MAX_SUBAGENT_DEPTH),
        None => list_stored_subagents(path),
    }
}

/// Returns the files of the subagents of these candidates, in their own directories.
pub fn find_subagent_candidates(candidates: &[Candidate]) -> Vec<Candidate> {
    let sessions = candidates
        .iter()
        .filter(|found| found.context.has_subagents);
    let files = sessions.flat_map(|session| {
        let has_dir = |agent: &Agent| {
            let files = agent.format().layout.subagent_files();
            files.is_some_and(|files| (files.directory)(&session.path).is_some())
        };
        let agents = Agent::ALL.into_iter().filter(has_dir);
        agents.flat_map(|agent| subagent_files(&session.path, agent))
    });
    let mut files: BTreeSet<PathBuf> = files.collect();
    // Some files of subagents are also independent sessions.
    for session in candidates {
        files.remove(&session.path);
    }
    files.into_iter().filter_map(read_subagent).collect()
}

/// Returns the files of subagents without a session file, in the directories of these candidates: older
/// versions put them into the directory of the session, and others remain when the session is deleted.
pub fn find_subagents_beside(candidates: &[Candidate]) -> Vec<Candidate> {
    let parents = candidates.iter().filter_map(|found| found.path.parent());
    let folders: BTreeSet<&Path> = parents.collect();
    let files = folders.into_iter().flat_map(list_entries).flat_map(|path| {
        if is_subagent_file(&path) {
            return vec![path];
        }
        let session = path.with_extension("jsonl");
        let is_compressed = || path.with_extension("jsonl.zst").exists();
        if path.extension().is_some() || session.exists() || is_compressed() {
            return Vec::new();
        }
        let files = Agent::ALL
            .iter()
            .map(|agent| subagent_files(&session, *agent));
        files.collect::<Vec<_>>().concat()
    });
    files.filter_map(read_subagent).collect()
}

fn read_subagent(path: PathBuf) -> Option<Candidate> {
    let metadata = fs::symlink_metadata(&path);
    let context = DirContext {
        is_named: false,
        ..UNREAD
    };
    Candidate::new(path, metadata, context)
}

fn list_subagents_in(folder: &Path, files: &SubagentFiles, depth: usize) -> Vec<PathBuf> {
    let (mut found, others): (Vec<PathBuf>, Vec<PathBuf>) = list_entries(folder)
        .into_iter()
        .partition(|path| files.contains(path));
    if depth > 0 {
        let below = others.iter().filter(|path| path.extension().is_none());
        found.extend(below.flat_map(|folder| list_subagents_in(folder, files, depth - 1)));
    }
    found
}

/// Returns the content of a directory, sorted. Empty if it cannot be read.
fn list_entries(folder: &Path) -> Vec<PathBuf> {
    let dir_entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = dir_entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_once() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for file in [
            "shared/p/one.jsonl",
            "root/q/two.jsonl",
            "three.jsonl",
            "notes.md",
        ] {
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs::write(at(file), "{}").unwrap();
        }
        for (target, link) in [
            ("shared/p", "root/a"),
            ("shared/p", "root/b"),
            ("shared", "root/c"),
            ("root", "root/loop"),
            (".", "root/above"),
            ("root/q", "root/again"),
            ("root", "shared/back"),
            ("three.jsonl", "root/q/link.jsonl"),
            ("three.jsonl", "root/q/other.jsonl"),
            ("notes.md", "root/notes.md"),
            ("missing", "root/missing.jsonl"),
        ] {
            std::os::unix::fs::symlink(at(target), at(link)).unwrap();
        }
        let roots = [Root {
            agent: None,
            path: at("root"),
        }];
        for found in [discover(&roots), discover_names(NonZeroUsize::MIN, &roots)] {
            let mut paths: Vec<PathBuf> = found.into_iter().map(|found| found.path).collect();
            paths.sort();
            let real = fs::canonicalize(at("three.jsonl")).unwrap();
            let mut expected = [at("root/a/one.jsonl"), at("root/q/two.jsonl"), real];
            expected.sort();
            assert_eq!(paths, expected);
        }
    }

    #[test]
    fn other_files_of_sessions_are_not_sessions() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            "p/one.jsonl",
            "p/one/subagents/agent-x.jsonl",
            "p/one/subagents/workflows/w/agent-z.jsonl",
            "p/one/subagents/workflows/w/journal.jsonl",
            "p/agent-y.jsonl",
            "p/gone/subagents/agent-w.jsonl",
            "p/one.jsonl.turnpipe",
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
        let overlapping = ["", "p"].map(|name| Root {
            agent: None,
            path: root.path().join(name),
        });
        assert_eq!(discover(&overlapping), found);
        let linked = discover(&[Root {
            agent: None,
            path: root.path().join("link"),
        }]);
        assert_eq!(linked.len(), 2);
        let session = root.path().join("p/one.jsonl");
        assert_eq!(
            subagent_files(&session, Agent::Claude),
            [
                root.path().join("p/one/subagents/agent-x.jsonl"),
                root.path()
                    .join("p/one/subagents/workflows/w/agent-z.jsonl")
            ]
        );
        let beside = find_subagents_beside(&found);
        let beside: Vec<&Path> = beside.iter().map(|found| found.path.as_path()).collect();
        let expected = ["p/agent-y.jsonl", "p/gone/subagents/agent-w.jsonl"];
        assert_eq!(beside, expected.map(|path| root.path().join(path)));
    }
}
