//! Path resolution for a call: the file that a path names and its location.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::file_list::is_protected;
use super::pattern::{GAP, GLOB};
use super::request::{Action, Request};

/// A path with and without links resolved. It may have [`GLOB`] for parts that the shell expands, and [`GAP`] for parts
/// that a tool expands. Other parts that are known only at run time are names that no pattern matches.
#[derive(Debug, Clone)]
pub(super) struct ResolvedPath {
    pub(super) name: PathBuf,
    /// The path with all links followed, if it can be resolved.
    pub(super) real: Option<Rc<Path>>,
    /// Whether the name has a gap, so that it may stand for several files.
    pub(super) has_gap: bool,
}

impl ResolvedPath {
    /// Whether the path before or after following links satisfies `is_wanted`.
    pub(super) fn has_name(&self, mut is_wanted: impl FnMut(&Path) -> bool) -> bool {
        is_wanted(&self.name)
            || (self.real.as_deref()).is_some_and(|real| *real != *self.name && is_wanted(real))
    }
}

/// Whether a path has a gap, so that it may stand for several paths.
pub(super) fn has_gap(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    [GAP, GLOB].iter().any(|gap| name.contains(&(*gap as u8)))
}

/// Paths of a request, with a cache of resolved links.
pub(super) struct PathContext<'a> {
    pub(super) request: &'a Request<'a>,
    real_paths: RefCell<HashMap<PathBuf, Option<Rc<Path>>>>,
    /// The variables that were looked for, and whether the command line may set them.
    settable: RefCell<HashMap<&'static str, bool>>,
}

/// Removes `.` and `..` from a path lexically, without following links.
pub fn normalise(path: &Path) -> PathBuf {
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
            settable: RefCell::default(),
        }
    }

    /// Returns the command line.
    pub(super) fn script(&self) -> &'a str {
        match self.request.action {
            Action::Command { script, .. } => script,
            _ => "",
        }
    }

    /// Whether a shell other than bash may parse the command line differently.
    pub(super) fn is_ambiguous(&self) -> bool {
        match self.request.action {
            Action::Command { is_ambiguous, .. } => *is_ambiguous,
            _ => false,
        }
    }

    /// Whether the command line may set a variable.
    pub(super) fn may_set(&self, name: &'static str) -> bool {
        let search = || {
            let script = self.script().replace(['"', '\'', '\\'], "");
            let mut occurrences = script.match_indices(name);
            occurrences.any(|(at, _)| {
                let before = script[..at].chars().next_back();
                !before.is_some_and(|letter| "${_".contains(letter) || letter.is_alphanumeric())
            })
        };
        let mut known = self.settable.borrow_mut();
        *known.entry(name).or_insert_with(search)
    }

    /// Returns the home directory, unless the command line may change it.
    pub(super) fn home(&self) -> Option<&'a Path> {
        self.request.home.filter(|_| !self.may_set("HOME"))
    }

    /// Resolves the links of a path without `..`; `None` if it cannot be resolved.
    pub(super) fn real_path(&self, path: &Path) -> Option<Rc<Path>> {
        if let Some(known) = self.real_paths.borrow().get(path) {
            return known.clone();
        }
        let real = (self.request.real_path)(path).map(Rc::from);
        let mut known = self.real_paths.borrow_mut();
        known.insert(path.to_owned(), real.clone());
        real
    }

    /// Resolves an absolute path, which may have `.` and `..`.
    pub(super) fn resolve(&self, path: &Path) -> ResolvedPath {
        let (name, has_gap) = (normalise(path), has_gap(path));
        let real = if has_gap {
            self.resolve_before_gap(&name)
        } else {
            self.follow_links(path)
        };
        ResolvedPath {
            name,
            real,
            has_gap,
        }
    }

    /// Resolves the links of the directory above the first gap, and adds the names below it.
    fn resolve_before_gap(&self, path: &Path) -> Option<Rc<Path>> {
        let above = path.ancestors().find(|above| !has_gap(above))?;
        let below = path.strip_prefix(above).ok()?;
        let real = self.real_path(above)?;
        let names = real.components().chain(below.components());
        Some(Rc::from(names.collect::<PathBuf>()))
    }

    /// Resolves a path as the kernel does: links are followed before `..` applies.
    fn follow_links(&self, path: &Path) -> Option<Rc<Path>> {
        let mut reached = PathBuf::new();
        for component in path.components() {
            if component == Component::ParentDir {
                reached = self.real_path(&reached)?.to_path_buf();
                reached.pop();
            } else if component != Component::CurDir {
                reached.push(component);
            }
        }
        self.real_path(&reached)
    }

    /// Whether a file is in a working directory, both by name and after following links. Files below `/proc` are never,
    /// even if the working directory is `/`.
    pub(super) fn is_inside(&self, path: &ResolvedPath) -> bool {
        let directories = self.request.working_directories;
        let is_below = |path: &Path| {
            !path.starts_with("/proc")
                && directories.iter().any(|directory| {
                    path.starts_with(directory)
                        || self
                            .real_path(directory)
                            .is_some_and(|real| path.starts_with(real))
                })
        };
        !path.has_gap && is_below(&path.name) && path.real.as_deref().is_some_and(is_below)
    }

    /// Whether a path is never removed without approval: the root and its direct children, the home
    /// directory, the working directories, and all their parents.
    pub(super) fn is_critical(&self, path: &ResolvedPath) -> bool {
        let request = self.request;
        let critical: Vec<(&Path, Option<Rc<Path>>)> = request
            .working_directories
            .iter()
            .map(PathBuf::as_path)
            .chain([request.directory])
            .chain(request.home)
            .map(|path| (path, self.real_path(path)))
            .collect();
        path.has_name(|path| {
            path.components().count() <= 2
                || critical.iter().any(|(name, real)| {
                    name.starts_with(path)
                        || real.as_ref().is_some_and(|real| real.starts_with(path))
                })
        })
    }

    /// Whether the file is never changed without approval.
    pub(super) fn is_protected(path: &ResolvedPath) -> bool {
        path.has_name(is_protected)
    }
}
