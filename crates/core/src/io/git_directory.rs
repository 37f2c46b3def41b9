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
    /// The one with the work tree's `HEAD`.
    pub own: PathBuf,
    /// The one that linked work trees share, if it is another one.
    pub common: Option<PathBuf>,
}

impl GitDirectory {
    /// Returns what `.git` at this path is, or names if it is a file. Links are followed.
    pub fn of(git: &Path) -> Option<Self> {
        let own = if git.is_dir() {
            git.to_owned()
        } else {
            let text = read_git_file(git)?;
            git.parent()?.join(text.strip_prefix("gitdir:")?.trim())
        };
        let common = read_git_file(&own.join("commondir"));
        let common = common.map(|common| own.join(common.trim()));
        Some(Self { own, common })
    }
}

/// Reads a file of git. `None` if it is missing, large or no regular file.
pub fn read_git_file(path: &Path) -> Option<String> {
    let file = open_regular(path, OpenOptions::new().read(true), OFlags::empty()).ok()?;
    let mut bytes = Vec::new();
    let size = file.take(MAX_SIZE + 1).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    (size as u64 <= MAX_SIZE).then_some(text)
}
