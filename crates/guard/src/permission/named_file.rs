//! Files named by the words of a command.

use std::path::{Path, PathBuf};

use super::directories::Directories;
use super::path_context::{PathContext, ResolvedPath, normalised};
use super::wildcard::{GAP, GLOB, UNKNOWN};

/// A file named by a word.
#[derive(Debug, Clone)]
pub(super) enum NamedFile {
    /// A path. Parts of it that are known only at run time are names that no pattern has.
    Known(ResolvedPath),
    /// An absolute path with [`GLOB`] for parts that the shell expands, or [`GAP`] for parts that a tool does.
    Glob(String),
}

impl NamedFile {
    /// Returns the file that `name`, a word or part of one, names in each directory.
    pub(super) fn of(
        name: &str,
        directories: &Directories,
        context: &PathContext<'_>,
    ) -> Vec<Self> {
        // A program may expand it.
        let home = name
            .strip_prefix("~/")
            .and_then(|below| Some(context.home()?.join(below)));
        let path = home.unwrap_or_else(|| PathBuf::from(name));
        let known = directories.known.iter();
        let count = if path.is_absolute() { 1 } else { usize::MAX };
        let mut files = Vec::new();
        for directory in known.take(count) {
            let named = directory.join(&path);
            let path = normalised(&named);
            if !name.contains(GLOB) {
                files.push(Self::Known(context.resolve(&named)));
                continue;
            }
            // The directory before the first wildcard may be a link.
            let above = path
                .ancestors()
                .find(|above| !above.to_string_lossy().contains(GLOB));
            let real = above
                .and_then(|above| Some((context.real(above)?, path.strip_prefix(above).ok()?)));
            let real = real
                .map(|(real, below)| real.join(below))
                .filter(|real| *real != path);
            let globs = real.into_iter().chain([path]);
            files.extend(globs.map(|path| Self::Glob(path.to_string_lossy().into_owned())));
        }
        files
    }

    /// Returns a file that a tool reads: an absolute path, which may have gaps.
    pub(super) fn read(path: &Path, context: &PathContext<'_>) -> Self {
        let name = path.to_string_lossy();
        if name.contains(GAP) {
            Self::Glob(name.into_owned())
        } else {
            Self::Known(context.resolve(path))
        }
    }

    /// Whether a part of a name is known only at run time.
    pub(super) fn is_unknown(name: &str) -> bool {
        name.contains(UNKNOWN)
    }

    /// Returns the path without links, if it is known.
    pub(super) fn resolved(&self) -> ResolvedPath {
        match self {
            Self::Known(path) => path.clone(),
            Self::Glob(path) => ResolvedPath {
                name: Path::new(path).to_owned(),
                real: None,
            },
        }
    }
}
