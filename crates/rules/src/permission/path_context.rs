//! Path resolution for a call: the file that a path names and its location.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::LazyLock;

use super::glob::Glob;
use super::programs;
use super::request::{Action, Request};

/// Files that are never changed without approval.
static PROTECTED: LazyLock<FileList> = LazyLock::new(|| {
    let edits = include_str!("tables/protected_from_edits.txt");
    FileList::parse(&[PROTECTED_TABLE, edits, SYSTEM_TABLE])
});

/// Files that commands in a sandbox cannot change either.
static PROTECTED_FROM_COMMANDS: LazyLock<FileList> =
    LazyLock::new(|| FileList::parse(&[PROTECTED_TABLE]));

const PROTECTED_TABLE: &str = include_str!("tables/protected.txt");

/// Directories of system programs.
static SYSTEM: LazyLock<FileList> = LazyLock::new(|| FileList::parse(&[SYSTEM_TABLE]));

const SYSTEM_TABLE: &str = include_str!("tables/system.txt");

/// Files and directories in the syntax of `.gitignore`.
struct FileList(Vec<Listed>);

struct Listed {
    is_excluded: bool,
    /// Whether it matches names in any directory.
    is_name: bool,
    glob: Glob,
}

impl FileList {
    fn parse(tables: &[&'static str]) -> Self {
        let lines = tables.iter().flat_map(|table| programs::lines(table));
        Self(lines.map(Listed::parse).collect())
    }

    /// Whether it lists an absolute path or a directory that contains it. The innermost directory decides, and of
    /// several patterns the last one. File systems may be case-insensitive.
    fn contains(&self, path: &Path) -> bool {
        let path = path.as_os_str().as_encoded_bytes().to_ascii_lowercase();
        let ends = (1..=path.len()).rev();
        let mut ends = ends.filter(|end| path.get(*end).is_none_or(|next| *next == b'/'));
        let listed = ends.find_map(|end| {
            let path = &path[1..end];
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
            let mut rows = self.0.iter().rev();
            rows.find(|row| row.glob.is_match(if row.is_name { name } else { path }))
        });
        listed.is_some_and(|row| !row.is_excluded)
    }
}

impl Listed {
    #[expect(clippy::expect_used, reason = "the tables are part of the program")]
    fn parse(line: &str) -> Self {
        let pattern = line.trim_start_matches('!').trim_end_matches('/');
        let glob = pattern.trim_start_matches('/').to_ascii_lowercase();
        Self {
            is_excluded: line.starts_with('!'),
            is_name: !pattern.contains('/'),
            glob: Glob::parse(&glob).expect("the tables are valid patterns"),
        }
    }
}

/// Whether an absolute path is in a directory of system programs, where every change needs
/// approval.
pub fn is_of_system(path: &Path) -> bool {
    SYSTEM.contains(path)
}

/// Whether an absolute path, or a directory above it, is one by which programs are told what to run, and that ordinary
/// commands do not change: settings of agents and editors, and start-up files of shells.
pub fn is_protected_from_commands(path: &Path) -> bool {
    PROTECTED_FROM_COMMANDS.contains(path)
}

/// A path with and without links resolved.
#[derive(Debug, Clone)]
pub(super) struct ResolvedPath {
    pub(super) name: PathBuf,
    /// The path with all links followed, if it can be resolved.
    pub(super) real: Option<Rc<Path>>,
}

impl ResolvedPath {
    /// Whether the path before or after following links satisfies `is_wanted`.
    pub(super) fn any_name(&self, mut is_wanted: impl FnMut(&Path) -> bool) -> bool {
        is_wanted(&self.name)
            || (self.real.as_deref()).is_some_and(|real| *real != *self.name && is_wanted(real))
    }
}

/// Paths of a request, with a cache of resolved links.
pub(super) struct PathContext<'a> {
    pub(super) request: &'a Request<'a>,
    /// The command line without quotes and escapes.
    pub(super) unquoted: String,
    real_paths: RefCell<HashMap<PathBuf, Option<Rc<Path>>>>,
    branches: RefCell<HashMap<PathBuf, Rc<[PathBuf]>>>,
    /// The work that is left for the command line, in bytes of text that is looked at.
    left: Cell<usize>,
    pub(super) line: LineFacts,
}

/// What the text of the command line says about all of its commands, found when the first one asks.
#[derive(Default)]
pub(super) struct LineFacts {
    pub(super) is_unclear: OnceCell<bool>,
    pub(super) passes_unseen: OnceCell<bool>,
    pub(super) gives_arguments: OnceCell<bool>,
    pub(super) writes_through_descriptors: OnceCell<bool>,
    /// Whether it may set a variable, by name.
    pub(super) set: RefCell<HashMap<&'static str, bool>>,
    /// Its words, as code in any language would have them.
    pub(super) words: OnceCell<Vec<String>>,
}

/// Maximum work for one command line. The time of some steps grows with the square of its length, and an agent does
/// not wait for a hook without end; a line that takes more needs approval.
const MAX_WORK: usize = 4_000_000;

/// The work of looking up a file, compared with looking at a byte of text.
pub(super) const FILE_WORK: usize = 64;

/// The work of reading an entry of a directory, and of keeping one that is a link or a directory.
const ENTRY_WORK: usize = 2;
const BRANCH_WORK: usize = 16;

/// Returns the work of keeping a path.
pub(super) fn path_work(path: &Path) -> usize {
    path.as_os_str().len() / 8
}

/// Removes `.` and `..` from a path lexically, without following links.
pub fn normalised(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                result.pop();
            }
            name => result.push(name),
        }
    }
    result
}

impl<'a> PathContext<'a> {
    pub(super) fn new(request: &'a Request<'a>) -> Self {
        Self {
            request,
            unquoted: match request.action {
                Action::Command { script, .. } => script.replace(['"', '\'', '\\'], ""),
                _ => String::new(),
            },
            real_paths: RefCell::default(),
            branches: RefCell::default(),
            left: Cell::new(match request.action {
                Action::Command { .. } => MAX_WORK,
                _ => usize::MAX,
            }),
            line: LineFacts::default(),
        }
    }

    /// Counts work; returns whether there was enough left.
    pub(super) fn spend(&self, bytes: usize) -> bool {
        let left = self.left.get().checked_sub(bytes);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    /// Whether the command line took too much work, so that what it does is not known.
    pub(super) fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// Returns the home directory, unless the command line may change it.
    pub(super) fn home(&self) -> Option<&'a Path> {
        self.request.home.filter(|_| !self.sets("HOME"))
    }

    /// Resolves the links of a path without `..`. A path that takes too much work is unknown.
    pub(super) fn real(&self, path: &Path) -> Option<Rc<Path>> {
        if let Some(known) = self.real_paths.borrow().get(path) {
            return known.clone();
        }
        // The system looks up each directory from the root.
        let depth = path.components().count();
        if !self.spend(FILE_WORK + path_work(path) + depth * depth / 8) {
            return None;
        }
        let real = (self.request.real_path)(path).map(Rc::from);
        self.real_paths
            .borrow_mut()
            .insert(path.to_owned(), real.clone());
        real
    }

    /// Returns the links and directories in a directory, as far as there is work left.
    pub(super) fn branches(&self, directory: &Path) -> Rc<[PathBuf]> {
        if let Some(known) = self.branches.borrow().get(directory) {
            return known.clone();
        }
        if !self.spend(FILE_WORK + path_work(directory)) {
            return Rc::default();
        }
        let entries = (self.request.entries)(directory);
        let entries = entries.take_while(|entry| {
            let kept = entry.as_deref();
            self.spend(ENTRY_WORK + kept.map_or(0, |path| BRANCH_WORK + path_work(path)))
        });
        let branches: Rc<[PathBuf]> = entries.flatten().collect();
        self.branches
            .borrow_mut()
            .insert(directory.to_owned(), branches.clone());
        branches
    }

    /// Whether a path without `..` names a directory, or a link.
    pub(super) fn is_directory(&self, path: &Path) -> bool {
        let Some(above) = path.parent() else {
            return true;
        };
        // Most words name nothing, so that the directory is not listed.
        self.real(path).is_some() && {
            let branches = self.branches(above);
            self.spend(branches.len()) && branches.iter().any(|branch| branch == path)
        }
    }

    /// Resolves an absolute path.
    pub(super) fn resolve(&self, path: &Path) -> ResolvedPath {
        ResolvedPath {
            name: normalised(path),
            real: self.opened(path),
        }
    }

    /// Resolves a path as the kernel does: links are followed before `..` applies.
    fn opened(&self, path: &Path) -> Option<Rc<Path>> {
        let mut reached = PathBuf::new();
        for component in path.components() {
            if component == Component::ParentDir {
                reached = self.real(&reached)?.to_path_buf();
                reached.pop();
            } else if component != Component::CurDir {
                reached.push(component);
            }
        }
        self.real(&reached)
    }

    /// Whether a file is in a working directory, both by name and after following links. Files of processes are in
    /// none, also where the working directory is `/`.
    pub(super) fn is_inside(&self, path: &ResolvedPath) -> bool {
        let directories = self.request.working_directories;
        let is_below = |path: &Path| {
            !path.starts_with("/proc")
                && directories.iter().any(|directory| {
                    path.starts_with(directory)
                        || self
                            .real(directory)
                            .is_some_and(|directory| path.starts_with(directory))
                })
        };
        is_below(&path.name) && path.real.as_deref().is_some_and(is_below)
    }

    /// Whether a path is never removed without approval: the root and its direct children, the home
    /// directory, the working directories, and all their parents.
    pub(super) fn is_critical(&self, path: &ResolvedPath) -> bool {
        let request = self.request;
        let kept = request
            .working_directories
            .iter()
            .map(PathBuf::as_path)
            .chain([request.directory])
            .chain(request.home);
        let kept: Vec<(&Path, Option<Rc<Path>>)> =
            kept.map(|path| (path, self.real(path))).collect();
        let is_kept = |path: &Path| {
            path.components().count() <= 2
                || kept.iter().any(|(name, real)| {
                    name.starts_with(path)
                        || real.as_ref().is_some_and(|real| real.starts_with(path))
                })
        };
        // Where its links lead was not looked up.
        path.real.is_none() && self.is_exhausted() || path.any_name(is_kept)
    }

    /// Whether the file can make programs run code.
    pub(super) fn is_protected(path: &ResolvedPath) -> bool {
        path.any_name(|path| PROTECTED.contains(path))
    }
}
