//! Path resolution for a call: the file that a path names and its location.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::file_list::is_protected;
use super::pattern::{GAP, GLOB};
use super::request::{Action, Request};

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
        match self.request.action {
            Action::Command { is_ambiguous, .. } => *is_ambiguous,
            _ => false,
        }
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
        let (name, has_gap) = (normalise(path), has_gap(path));
        let real = if has_gap {
            self.real_start(&name)
        } else {
            self.follow(path)
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
    fn follow(&self, path: &Path) -> Option<Rc<Path>> {
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
        path.any_name(is_protected)
    }
}
