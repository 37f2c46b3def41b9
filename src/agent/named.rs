//! Agents that the configuration names: their sessions have the format of a known agent.
//!
//! Set once at the start of a command, like the table of known agents, since every open file asks for its agent.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::Agent;

/// A directory with the sessions of an agent that uses the format of a known one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRoot {
    /// The name of the agent.
    pub name: String,
    /// The agent whose format it uses.
    pub format: Agent,
    /// The directory.
    pub path: PathBuf,
}

static ROOTS: OnceLock<Vec<NamedRoot>> = OnceLock::new();

/// Sets the agents of the configuration. Has no effect the second time.
pub fn set_named_roots(roots: Vec<NamedRoot>) {
    // Files are found by their resolved paths.
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
    let _ = ROOTS.set([roots, resolved].concat());
}

/// Returns the agent of the configuration in whose directory a file is.
pub(super) fn named_at(path: &Path) -> Option<&'static NamedRoot> {
    named_roots().find(|root| path.starts_with(&root.path))
}

pub(super) fn named_roots() -> impl Iterator<Item = &'static NamedRoot> {
    ROOTS.get().into_iter().flatten()
}
