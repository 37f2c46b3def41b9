//! The git directory of a work tree, by the files of git. Runs no process.

use std::fs::OpenOptions;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::files::open_regular;

/// Maximum size of a file of git that is read, in bytes.
const MAX_SIZE: u64 = 1024 * 1024;

/// The git directory of a work tree. Its paths are as git wrote them, and may lead nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitDirectory {
    /// The directory with the work tree's `HEAD`.
    pub own: PathBuf,
    /// The directory that linked work trees share, if it is not `own`.
    pub common: Option<PathBuf>,
}

impl GitDirectory {
    /// Finds the git directory of the `.git` at this path: the directory itself, or the one that a file names.
    /// Follows links. `None` if the file cannot be read or names no directory.
    pub fn find(git: &Path) -> Option<Self> {
        let own = if git.is_dir() {
            git.to_owned()
        } else {
            let text = read_git_file(git)?;
            git.parent()?.join(text.strip_prefix("gitdir:")?.trim())
        };
        let common = read_git_file(&own.join("commondir")).map(|path| own.join(path.trim()));
        Some(Self { own, common })
    }
}

/// Reads a file of git. `None` if it is missing, longer than 1 MiB, or not a regular UTF-8 file.
pub fn read_git_file(path: &Path) -> Option<String> {
    let file = open_regular(path, OpenOptions::new().read(true), OFlags::empty()).ok()?;
    let mut bytes = Vec::new();
    let size = file.take(MAX_SIZE + 1).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    (size as u64 <= MAX_SIZE).then_some(text)
}
