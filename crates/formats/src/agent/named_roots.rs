//! Directories with sessions that the configuration names: those of agents that use the format of a known one, and
//! homes of known agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::unread::{fork_names, fork_of_place};
use super::{Agent, Format, Root};

/// A directory with sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRoot {
    /// Its name: of the agent, or of the home.
    pub name: String,
    /// The agent whose format the sessions have.
    pub format: Agent,
    /// The directory.
    pub path: PathBuf,
    /// What the name is.
    pub kind: RootKind,
}

/// What a directory with sessions is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootKind {
    /// The sessions of an agent that uses the format of a known one.
    Fork,
    /// A home of a known agent, as its variable names it: each account has one.
    Home,
}

/// A home of an agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Home {
    /// Its name in the configuration, or else its directory.
    pub name: String,
    /// Whether the configuration names it.
    pub is_named: bool,
}

/// The directories that the configuration names. By default there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedRoots {
    named: Arc<[NamedRoot]>,
    /// The homes without a name.
    homes: Arc<[PathBuf]>,
}

impl NamedRoots {
    /// Returns these directories, also at their resolved paths, by which files are found. `homes` are others that are
    /// searched.
    pub fn new(roots: Vec<NamedRoot>, mut homes: Vec<PathBuf>) -> Self {
        let linked = homes.iter().filter(|home| home.is_symlink());
        let linked: Vec<PathBuf> = linked
            .filter_map(|home| fs::canonicalize(home).ok())
            .collect();
        homes.extend(linked);
        let resolved: Vec<NamedRoot> = roots
            .iter()
            .filter_map(|root| {
                let path = fs::canonicalize(&root.path).ok()?;
                (path != root.path).then(|| NamedRoot {
                    path,
                    ..root.clone()
                })
            })
            .collect();
        Self {
            named: [roots, resolved].concat().into(),
            homes: homes.into(),
        }
    }

    /// Returns the directories to search.
    pub fn roots(&self) -> impl Iterator<Item = Root> {
        self.named.iter().flat_map(|root| {
            let paths = match root.kind {
                RootKind::Fork => vec![root.path.clone()],
                RootKind::Home => root.format.roots_in(&root.path),
            };
            let agent = Some(root.format);
            paths.into_iter().map(move |path| Root { agent, path })
        })
    }

    /// Returns the format of the files in a directory of an agent that uses it.
    pub fn format_at(&self, path: &Path) -> Option<&'static Format> {
        Some(self.at(path, RootKind::Fork)?.format.format())
    }

    /// Returns the agent in whose directory a file is, if its sessions have the format of another
    /// agent: one of these, or one that is known.
    pub fn fork_name_at(&self, path: &Path) -> Option<&str> {
        let named = self.at(path, RootKind::Fork);
        let named = named.map(|root| root.name.as_str());
        named.or_else(|| fork_of_place(path))
    }

    /// Returns the names of these agents and of those that [`Self::fork_name_at`] finds.
    pub fn fork_names(&self) -> impl Iterator<Item = &str> {
        self.names(RootKind::Fork).chain(fork_names())
    }

    /// Returns the home that a file is in.
    pub fn home_at(&self, path: &Path) -> Option<Home> {
        if let Some(root) = self.at(path, RootKind::Home) {
            return Some(Home {
                name: root.name.clone(),
                is_named: true,
            });
        }
        let homes = self.homes.iter().filter(|home| path.starts_with(home));
        let home = homes.max_by_key(|home| home.as_os_str().len())?;
        Some(Home {
            name: home.display().to_string(),
            is_named: false,
        })
    }

    /// Returns the names that the configuration gives.
    pub fn names(&self, kind: RootKind) -> impl Iterator<Item = &str> {
        let named = self.named.iter().filter(move |root| root.kind == kind);
        named.map(|root| root.name.as_str())
    }

    fn at(&self, path: &Path, kind: RootKind) -> Option<&NamedRoot> {
        let named = self.named.iter().filter(|root| root.kind == kind);
        let above = named.filter(|root| path.starts_with(&root.path));
        above.max_by_key(|root| root.path.as_os_str().len())
    }
}
