//! The files of a workspace that commands can change, and those that it protects and hides from them.

use std::fs;
use std::path::{Path, PathBuf};

use super::walk::{Directory, EntryType, Walker};
use crate::permission::{is_named_protected_from_commands, is_protected_from_commands};
use crate::process::{Mask, MaskKind};
use turnpipe_core::io::GitDirectory;

/// Files with keys, below the home directory.
const KEY_FILES: [&str; 6] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".config/gh",
    ".docker/config.json",
];

/// Files in a git directory by which git runs programs.
const GIT_SETTINGS: [&str; 3] = ["hooks", "config", "config.worktree"];

/// The files that commands in a workspace can change or use, and those that it hides.
#[derive(Debug, Clone, Default)]
pub struct WorkspaceFiles {
    /// The directories that commands can change: absolute, without links.
    pub writable: Vec<PathBuf>,
    /// Files and directories that commands cannot read.
    pub hidden: Vec<PathBuf>,
    /// Sockets that commands can use.
    pub sockets: Vec<PathBuf>,
    /// Whether commands can use all sockets.
    pub has_all_sockets: bool,
}

impl WorkspaceFiles {
    /// Returns masks for the files in a writable directory that determine what programs run: hooks and settings of git,
    /// settings of agents and editors, start-up files.
    pub(super) fn find_protected(&self, path: &Path, directory: &Directory) -> Vec<Mask> {
        let mut writable = self.writable.iter();
        if !writable.any(|directory| path.starts_with(directory)) {
            return Vec::new();
        }
        let entries = || directory.entries.iter();
        let has = |name: &str| entries().any(|entry| entry.name == name);
        let is_git_directory = has("HEAD") && (has("objects") || has("commondir"));
        let is_in_protected = is_protected_from_commands(path);
        let protected = entries().filter_map(|entry| {
            let is_setting =
                is_git_directory && GIT_SETTINGS.iter().any(|name| entry.name == *name);
            let below = path.join(&entry.name);
            let kind = match entry.kind {
                EntryType::Directory if entry.name == ".git" => MaskKind::Pinned,
                EntryType::Other if entry.name == ".git" => MaskKind::Unchangeable,
                _ if is_setting => MaskKind::Unchangeable,
                _ if !is_in_protected && is_named_protected_from_commands(&below) => {
                    MaskKind::Unchangeable
                }
                _ => return None,
            };
            Some(Mask {
                kind,
                path: below,
                file: None,
            })
        });
        protected.collect()
    }
}

/// Returns the files below directories that determine what programs run, with links resolved.
pub fn protected_files(writable: &[PathBuf]) -> Vec<PathBuf> {
    let files = WorkspaceFiles {
        writable: writable.to_vec(),
        ..WorkspaceFiles::default()
    };
    let walked = Walker::default().walk(writable);
    let directories = walked.directories.iter();
    let masks = directories.flat_map(|(path, directory)| files.find_protected(path, directory));
    let files = masks.filter_map(|mask| fs::canonicalize(mask.path).ok());
    files.collect()
}

/// Returns the directories that commands in a workspace can change, with links resolved: `directories`, and the git
/// directories of the repositories that contain them. Missing ones are left out.
pub fn writable_directories(directories: &[PathBuf]) -> Vec<PathBuf> {
    let paths = directories.iter();
    let real = paths.filter_map(|path| fs::canonicalize(path).ok());
    let mut writable: Vec<PathBuf> = real.filter(|path| path.is_dir()).collect();
    for path in writable.clone() {
        writable.extend(git_directories(&path));
    }
    writable.sort_unstable();
    // A directory that contains others precedes them.
    writable.dedup_by(|next, above| next.starts_with(above));
    writable
}

/// Returns the git directories of the repository that contains a directory; for a worktree also the common one.
fn git_directories(directory: &Path) -> Vec<PathBuf> {
    let mut above = directory.ancestors().map(|path| path.join(".git"));
    let Some(git) = above.find(|path| path.symlink_metadata().is_ok()) else {
        return Vec::new();
    };
    if git.is_dir() {
        return fs::canonicalize(git).into_iter().collect();
    }
    let linked = || -> Option<Vec<PathBuf>> {
        let named = GitDirectory::find(&git)?;
        let own = fs::canonicalize(named.own).ok()?;
        // A `.git` file in a cloned repository could name any directory, so that directory must point back.
        let read_file = |name: &str| fs::read_to_string(own.join(name)).ok();
        let points_back = match read_file("gitdir") {
            Some(back) => {
                fs::canonicalize(own.join(back.trim())).ok()? == fs::canonicalize(&git).ok()?
            }
            None => read_file("config").is_some_and(|config| {
                let mut trees = config.lines().filter_map(|line| {
                    let value = line.trim().strip_prefix("worktree")?.trim_start();
                    fs::canonicalize(own.join(value.strip_prefix('=')?.trim())).ok()
                });
                trees.any(|tree| Some(&*tree) == git.parent())
            }),
        };
        let common = named.common.and_then(|path| fs::canonicalize(path).ok());
        points_back.then(|| common.into_iter().chain([own]).collect())
    };
    linked().unwrap_or_default()
}

/// Returns the files with keys that commands in a workspace cannot read by default.
pub fn key_files(home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let names = KEY_FILES.iter();
    names.filter_map(move |name| Some(home?.join(name)))
}

/// Returns the files and directories to hide, except for those that are `readable`.
pub fn hidden_files(
    files: impl IntoIterator<Item = PathBuf>,
    readable: &[PathBuf],
) -> Vec<PathBuf> {
    let mut hidden = Vec::new();
    for path in files {
        hide(path, readable, &mut hidden);
    }
    hidden
}

/// Hides a path. In a directory that contains a readable file, everything else is hidden.
fn hide(path: PathBuf, readable: &[PathBuf], hidden: &mut Vec<PathBuf>) {
    if readable.iter().any(|readable| path.starts_with(readable)) {
        return;
    }
    if !readable.iter().any(|readable| readable.starts_with(&path)) {
        hidden.push(path);
        return;
    }
    // A directory that cannot be listed cannot be read either.
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        hide(entry.path(), readable, hidden);
    }
}
