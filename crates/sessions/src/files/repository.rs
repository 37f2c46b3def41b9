//! The git repository that a directory belongs to, by the files of git. Runs no process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::Builder;
use std::time::Duration;

use memchr::memmem;

use turnpipe_core::io::{GitDirectory, read_git_file};
use turnpipe_guard::permission::normalise;

/// Maximum time to inspect one directory. A file system whose server is gone may never answer.
const MAX_WAIT: Duration = Duration::from_secs(1);

/// Maximum number of directories that do not answer.
const MAX_SILENT: usize = 3;

/// A directory on this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownDirectory {
    /// Whether it exists.
    pub(crate) exists: bool,
    /// The repository that it is in, or would be in if it still existed.
    pub(crate) repository: Option<GitRepository>,
}

/// A repository on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitRepository {
    /// The git directory that its work trees share, without links.
    pub(crate) git: PathBuf,
    /// Whether only a work tree is left here: the git directory is missing.
    pub(crate) is_missing: bool,
    /// The main work tree, or the bare repository.
    pub(crate) root: PathBuf,
    /// The address of `origin`, or else of the only remote.
    pub(crate) remote: Option<String>,
    /// The linked work trees: the name that each got when it was added, and where it was moved last.
    pub(crate) linked: Vec<(String, PathBuf)>,
}

/// Inspects directories, each for a bounded time. `home` is the user's home directory.
pub(crate) fn inspect_directories(
    directories: impl IntoIterator<Item = PathBuf>,
    home: Option<&Path>,
) -> BTreeMap<PathBuf, KnownDirectory> {
    let mut remaining: Vec<PathBuf> = directories.into_iter().collect();
    let mut known = BTreeMap::new();
    for _ in 0..MAX_SILENT {
        let (sender, receiver) = channel();
        let (next, home) = (remaining.clone(), home.map(Path::to_owned));
        let inspect = move || {
            for directory in next.into_iter().rev() {
                let found = KnownDirectory::inspect(&directory, home.as_deref());
                // Nobody listens any more after a directory that did not answer in time.
                if sender.send(found).is_err() {
                    return;
                }
            }
        };
        // A thread that hangs ends with the process.
        if remaining.is_empty() || Builder::new().spawn(inspect).is_err() {
            break;
        }
        while !remaining.is_empty()
            && let Ok(found) = receiver.recv_timeout(MAX_WAIT)
        {
            known.extend(remaining.pop().map(|directory| (directory, found)));
        }
        let mount = remaining
            .pop()
            .map(|silent| find_mount(&silent))
            .unwrap_or_default();
        remaining.retain(|other| !other.starts_with(&mount));
    }
    known
}

/// Returns the mount point above a directory, or the directory if mount points are unknown.
fn find_mount(directory: &Path) -> PathBuf {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    let above = points
        .map(Path::new)
        .filter(|point| directory.starts_with(point));
    let nearest = above.max_by_key(|point| point.as_os_str().len());
    nearest.unwrap_or(directory).to_owned()
}

impl KnownDirectory {
    fn inspect(directory: &Path, home: Option<&Path>) -> Self {
        let is_owner = |top: &&Path| {
            // Many keep their settings in a repository at home, which does not contain their other work.
            let is_home = home.is_some_and(|home| home.starts_with(top));
            !is_home || directory == *top || is_tracked(top, directory)
        };
        let mut above = directory.ancestors();
        let found = above.find_map(|top| Some((top, GitRepository::open(top)?)));
        Self {
            exists: directory.exists(),
            repository: found
                .filter(|(top, _)| is_owner(top))
                .map(|(_, found)| found),
        }
    }
}

/// Whether the index of the repository at `top` has a file below a directory.
fn is_tracked(top: &Path, directory: &Path) -> bool {
    let below = directory.strip_prefix(top).unwrap_or(directory);
    let index = fs::read(top.join(".git/index")).unwrap_or_default();
    memmem::find(&index, below.join("").as_os_str().as_encoded_bytes()).is_some()
}

impl GitRepository {
    /// Returns the repository with a work tree or a git directory at this path.
    fn open(top: &Path) -> Option<Self> {
        let find_bare = || {
            let is_git = top.join("HEAD").is_file() && top.join("refs").is_dir();
            is_git.then(|| GitDirectory::find(top)).flatten()
        };
        let found = GitDirectory::find(&top.join(".git")).or_else(find_bare)?;
        let is_linked = found.common.is_some();
        let common = found.common.unwrap_or_else(|| {
            let admin = found.own.parent().filter(|dir| dir.ends_with("worktrees"));
            // The repository was moved or removed: only the path names it.
            let missing_admin = admin.filter(|_| !found.own.exists());
            let common = missing_admin.and_then(Path::parent);
            common.unwrap_or(&found.own).to_owned()
        });
        let git = fs::canonicalize(&common).unwrap_or_else(|_| normalise(&common));
        let is_missing = !git.exists();
        if !is_missing && !git.join("HEAD").is_file() {
            // Git ignores such a directory.
            return None;
        }
        let config = read_git_file(&git.join("config")).unwrap_or_default();
        let (tree, remote) = parse_config(&config);
        let name = git.file_name().unwrap_or_default().as_encoded_bytes();
        let root = match (tree, git.parent()) {
            (Some(tree), _) => normalise(&git.join(tree)),
            (None, Some(parent)) if name.starts_with(b".") => parent.to_owned(),
            _ if is_linked || git == top => git.clone(),
            _ => top.to_owned(),
        };
        Some(Self {
            root,
            remote,
            is_missing,
            linked: list_work_trees(&git),
            git,
        })
    }

    /// Whether it has this branch.
    pub(crate) fn has_branch(&self, branch: &str) -> bool {
        let name = format!("refs/heads/{branch}");
        let packed_refs = read_git_file(&self.git.join("packed-refs")).unwrap_or_default();
        let mut packed = packed_refs.lines().filter_map(|line| line.split_once(' '));
        let is_plain = !branch.contains("..");
        is_plain && self.git.join(&name).is_file() || packed.any(|(_, known)| known == name)
    }
}

fn find_value<'a>(section: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = section.lines().map(str::trim);
    lines.find_map(|line| line.strip_prefix(key))
}

/// Returns the work tree and the remote in a configuration, as git writes them.
fn parse_config(config: &str) -> (Option<&str>, Option<String>) {
    let remotes: Vec<&str> = config.split("[remote \"").skip(1).collect();
    let is_main = |remote: &&&str| remote.starts_with("origin\"]") || remotes.len() == 1;
    let remote = remotes.iter().find(is_main);
    let address = remote.and_then(|remote| find_value(remote.split("\n[").next()?, "url = "));
    (
        find_value(config, "worktree = "),
        address.map(str::to_owned),
    )
}

/// Returns the linked work trees of a git directory.
fn list_work_trees(git: &Path) -> Vec<(String, PathBuf)> {
    let admins = fs::read_dir(git.join("worktrees")).into_iter().flatten();
    let linked = admins.flatten().filter_map(|admin| {
        let link = read_git_file(&admin.path().join("gitdir"))?;
        let top = normalise(&admin.path().join(link.trim()));
        let name = admin.file_name().into_string().ok()?;
        Some((name, top.parent()?.to_owned()))
    });
    linked.collect()
}
