//! The files that a call reads and writes: the only input of the scheduler.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::permission::normalise;

/// Maximum number of symbolic links that are followed, as in the kernel.
const MAX_LINKS: usize = 40;

/// A set of files and directories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathSet {
    Nothing,
    /// No file, but the working directory of the shell, on which later calls depend.
    Session,
    /// These files, or everything below these directories. Absolute, and normalised lexically.
    Paths(Vec<PathBuf>),
    Everything,
}

/// The files that a call reads and writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The files it reads.
    pub reads: PathSet,
    /// The files it writes.
    pub writes: PathSet,
}

impl Access {
    /// Returns an access that reads and writes nothing.
    pub fn nothing() -> Self {
        Self {
            reads: PathSet::Nothing,
            writes: PathSet::Nothing,
        }
    }

    /// Returns an access that reads one file or tree.
    pub fn reads(path: impl Into<PathBuf>) -> Self {
        Self {
            reads: PathSet::Paths(vec![path.into()]),
            writes: PathSet::Nothing,
        }
    }

    /// Returns an access that may read everything but writes nothing.
    pub fn reads_everything() -> Self {
        Self {
            reads: PathSet::Everything,
            writes: PathSet::Nothing,
        }
    }

    /// Returns an access that reads and writes one file or tree.
    pub fn writes(path: impl Into<PathBuf>) -> Self {
        let paths = PathSet::Paths(vec![path.into()]);
        Self {
            reads: paths.clone(),
            writes: paths,
        }
    }

    /// Returns an access that may read and write everything, like a call that cannot be analysed.
    pub fn everything() -> Self {
        Self {
            reads: PathSet::Everything,
            writes: PathSet::Everything,
        }
    }

    /// Returns an access that may read everything and changes the working directory of later calls.
    pub fn changes_directory() -> Self {
        Self {
            reads: PathSet::Everything,
            writes: PathSet::Session,
        }
    }

    /// Whether it writes no file. Used by permission rules.
    pub fn is_read_only(&self) -> bool {
        self.writes == PathSet::Session || self.writes.is_nothing()
    }

    /// Whether it changes nothing that other calls depend on. Used by the scheduler.
    pub fn is_side_effect_free(&self) -> bool {
        self.writes.is_nothing()
    }

    /// Whether two calls must not run at the same time because one writes what the other reads or writes.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.writes.overlaps(&other.writes)
            || self.writes.overlaps(&other.reads)
            || self.reads.overlaps(&other.writes)
    }
}

impl PathSet {
    /// Whether the set is empty.
    fn is_nothing(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Paths(paths) => paths.is_empty(),
            Self::Session | Self::Everything => false,
        }
    }

    /// Whether two sets intersect. A directory contains everything below it.
    pub fn overlaps(&self, other: &Self) -> bool {
        match (self, other) {
            (one, other) if one.is_nothing() || other.is_nothing() => false,
            (Self::Paths(paths), Self::Paths(others)) => paths
                .iter()
                .any(|path| others.iter().any(|other| are_related(path, other))),
            // Paths may be relative to the session's working directory.
            _ => true,
        }
    }
}

/// Whether one of two paths is the other one or contains it.
fn are_related(path: &Path, other: &Path) -> bool {
    path.starts_with(other) || other.starts_with(path)
}

/// Resolves all links of an absolute path, including dangling ones. The components that do not exist are kept below the
/// deepest directory that exists.
///
/// # Errors
/// A cycle of links, a file used as a directory, or missing permission.
pub(super) fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = normalise(path);
    let mut missing: Vec<OsString> = Vec::new();
    let mut links = 0;
    loop {
        match path.canonicalize() {
            Ok(found) => {
                return Ok(missing
                    .into_iter()
                    .rev()
                    .fold(found, |path, name| path.join(name)));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(error) => {
                if let Ok(target) = path.read_link() {
                    links += 1;
                    if links > MAX_LINKS {
                        return Err(error);
                    }
                    let parent = path.parent().unwrap_or(Path::new("/"));
                    path = normalise(&parent.canonicalize()?.join(target));
                } else {
                    // Removes all missing names at once, since `canonicalize` looks up each directory from the root.
                    loop {
                        let Some(name) = path.file_name() else {
                            return Err(error);
                        };
                        missing.push(name.to_owned());
                        path.pop();
                        if path.symlink_metadata().is_ok() {
                            break;
                        }
                    }
                }
            }
        }
    }
}

/// Like [`resolve_links`], without the error.
pub(super) fn real_path(path: &Path) -> Option<PathBuf> {
    resolve_links(path).ok()
}

/// Lists the names of the links in a directory; `None` if it cannot be read or has too many entries.
pub(super) fn list_links(directory: &Path) -> Option<Vec<String>> {
    const MAX_ENTRIES: usize = 10_000;
    if !directory.exists() {
        return Some(Vec::new());
    }
    let mut links = Vec::new();
    for (index, entry) in std::fs::read_dir(directory).ok()?.enumerate() {
        let entry = entry.ok().filter(|_| index < MAX_ENTRIES)?;
        if entry.file_type().ok()?.is_symlink() {
            links.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Some(links)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::test_context::Session;
    use super::*;

    #[test]
    fn two_names_of_one_file_resolve_to_the_same() {
        let session = Session::new();
        session.write("real/file", "x");
        symlink(session.path("real"), session.path("alias")).unwrap();
        symlink("real/file", session.path("direct")).unwrap();
        let real = session.path("real/file");
        for name in ["real/file", "alias/file", "direct"] {
            assert_eq!(resolve_links(&session.path(name)).unwrap(), real, "{name}");
        }
    }

    #[test]
    fn missing_components_are_kept() {
        let session = Session::new();
        session.write("real/file", "x");
        symlink("real", session.path("alias")).unwrap();
        symlink("real/future", session.path("dangling")).unwrap();
        symlink("circle", session.path("circle")).unwrap();
        let resolved = |name: &str| resolve_links(&session.path(name)).ok();
        assert_eq!(resolved("alias/new/a"), Some(session.path("real/new/a")));
        assert_eq!(resolved("dangling"), Some(session.path("real/future")));
        assert_eq!(resolved("circle"), None);
        assert_eq!(resolved("real/file/below"), None);
    }
}
