//! Directories with sessions that the configuration names: those of agents that use the format of a known one, and
//! homes of known agents.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::unread::{find_known_fork, list_known_forks};
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
    /// The meaning of the name.
    pub kind: RootKind,
}

/// The meaning of the name of a directory with sessions.
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
    /// Creates the list of these directories. Those that are symbolic links are added at their targets too, since files
    /// are found by resolved paths. `homes` are further homes of agents, without names.
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
                RootKind::Home => root.format.list_roots(&root.path),
            };
            let agent = Some(root.format);
            paths.into_iter().map(move |path| Root { agent, path })
        })
    }

    /// Returns the format of the files in a directory of an agent that uses it.
    pub fn find_format(&self, path: &Path) -> Option<&'static Format> {
        Some(self.find_root(path, RootKind::Fork)?.format.format())
    }

    /// Returns the agent in whose directory a file is, if its sessions have the format of another
    /// agent: one of these, or one that is known.
    pub fn find_fork_name(&self, path: &Path) -> Option<&str> {
        let named = self.find_root(path, RootKind::Fork);
        let named = named.map(|root| root.name.as_str());
        named.or_else(|| find_known_fork(path))
    }

    /// Returns the names that [`Self::find_fork_name`] can return.
    pub fn fork_names(&self) -> impl Iterator<Item = &str> {
        self.names(RootKind::Fork).chain(list_known_forks())
    }

    /// Returns the home that a file is in.
    pub fn find_home(&self, path: &Path) -> Option<Home> {
        if let Some(root) = self.find_root(path, RootKind::Home) {
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

    fn find_root(&self, path: &Path, kind: RootKind) -> Option<&NamedRoot> {
        let named = self.named.iter().filter(|root| root.kind == kind);
        let above = named.filter(|root| path.starts_with(&root.path));
        above.max_by_key(|root| root.path.as_os_str().len())
    }
}
