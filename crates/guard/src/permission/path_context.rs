//! Path resolution for a call: the file that a path names and its location.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::LazyLock;

use super::pattern::{GAP, GLOB, Pattern};
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
    pattern: Pattern,
}

impl FileList {
    fn parse(tables: &[&'static str]) -> Self {
        let lines = tables.iter().flat_map(|table| programs::lines(table));
        Self(lines.map(Listed::parse).collect())
    }

    /// Whether it lists an absolute path or a directory that contains it. The innermost directory decides, and of
    /// several patterns the last one. File systems may be case-insensitive.
    fn contains(&self, path: &Path) -> bool {
        let mut above = path.ancestors();
        above.find_map(|path| self.lists(path)).unwrap_or_default()
    }

    /// Whether it lists an absolute path itself; `None` if it does not name it.
    fn lists(&self, path: &Path) -> Option<bool> {
        let path = path.to_string_lossy().to_ascii_lowercase();
        let path = path.get(1..)?;
        let name = path.rsplit('/').next().unwrap_or(path);
        let mut rows = self.0.iter().rev();
        let listed = rows.find(|row| row.pattern.covers(if row.is_name { name } else { path }))?;
        Some(!listed.is_excluded)
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
            pattern: Pattern::of_path(&glob).expect("the tables are valid patterns"),
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

/// Whether an absolute path is such a file or directory itself.
pub fn is_named_protected_from_commands(path: &Path) -> bool {
    PROTECTED_FROM_COMMANDS.lists(path).unwrap_or_default()
}

/// A path with and without links resolved. It may have [`GLOB`] for parts that the shell expands, or [`GAP`] for parts that
/// a tool does; other parts that are known only at run time are names that no pattern has.
#[derive(Debug, Clone)]
pub(super) struct ResolvedPath {
    pub(super) name: PathBuf,
    /// The path with all links followed, if it can be resolved.
    pub(super) real: Option<Rc<Path>>,
    /// Whether it may be several files.
    pub(super) has_gap: bool,
}

impl ResolvedPath {
    /// Whether the path before or after following links satisfies `is_wanted`.
    pub(super) fn any_name(&self, mut is_wanted: impl FnMut(&Path) -> bool) -> bool {
        is_wanted(&self.name)
            || (self.real.as_deref()).is_some_and(|real| *real != *self.name && is_wanted(real))
    }
}

/// Whether a path may be several ones.
pub(super) fn has_gap(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    [GAP, GLOB].iter().any(|gap| name.contains(&(*gap as u8)))
}

/// Paths of a request, with a cache of resolved links.
pub(super) struct PathContext<'a> {
    pub(super) request: &'a Request<'a>,
    real_paths: RefCell<HashMap<PathBuf, Option<Rc<Path>>>>,
    /// Whether the command line may set a variable, by name.
    set: RefCell<HashMap<&'static str, bool>>,
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
            real_paths: RefCell::default(),
            set: RefCell::default(),
        }
    }

    /// Returns the command line.
    pub(super) fn script(&self) -> &'a str {
        match self.request.action {
            Action::Command { script, .. } => script,
            _ => "",
        }
    }

    /// Whether a shell other than bash may read the command line in another way.
    pub(super) fn is_ambiguous(&self) -> bool {
        matches!(
            self.request.action,
            Action::Command {
                is_ambiguous: true,
                ..
            }
        )
    }

    /// Whether the command line may set a variable.
    pub(super) fn sets(&self, name: &'static str) -> bool {
        let may_set = || {
            let script = self.script().replace(['"', '\'', '\\'], "");
            let mut places = script.match_indices(name);
            places.any(|(at, _)| {
                let before = script[..at].chars().next_back();
                !before.is_some_and(|letter| "${_".contains(letter) || letter.is_alphanumeric())
            })
        };
        *self.set.borrow_mut().entry(name).or_insert_with(may_set)
    }

    /// Returns the home directory, unless the command line may change it.
    pub(super) fn home(&self) -> Option<&'a Path> {
        self.request.home.filter(|_| !self.sets("HOME"))
    }

    /// Resolves the links of a path without `..`.
    pub(super) fn real(&self, path: &Path) -> Option<Rc<Path>> {
        if let Some(known) = self.real_paths.borrow().get(path) {
            return known.clone();
        }
        let real = (self.request.real_path)(path).map(Rc::from);
        self.real_paths
            .borrow_mut()
            .insert(path.to_owned(), real.clone());
        real
    }

    /// Resolves an absolute path.
    pub(super) fn resolve(&self, path: &Path) -> ResolvedPath {
        let (name, has_gap) = (normalised(path), has_gap(path));
        let real = if has_gap {
            self.real_start(&name)
        } else {
            self.opened(path)
        };
        ResolvedPath {
            name,
            real,
            has_gap,
        }
    }

    /// Resolves the links of the directory before the first gap.
    fn real_start(&self, path: &Path) -> Option<Rc<Path>> {
        let above = path.ancestors().find(|above| !has_gap(above))?;
        let below = path.strip_prefix(above).ok()?;
        let real = self.real(above)?;
        let names = real.components().chain(below.components());
        Some(Rc::from(names.collect::<PathBuf>()))
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
        !path.has_gap && is_below(&path.name) && path.real.as_deref().is_some_and(is_below)
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
        path.any_name(is_kept)
    }

    /// Whether the file can make programs run code.
    pub(super) fn is_protected(path: &ResolvedPath) -> bool {
        path.any_name(|path| PROTECTED.contains(path))
    }
}
