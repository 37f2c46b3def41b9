//! The sessions to archive or remove.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::bundle::Bundle;
use crate::agent::Root;
use crate::records::{ArchiveOutcome, SessionArchivedRecord};
use crate::session::discover::{discover_with, subagents_beside};
use crate::session::listing::{Listed, Listing, list_files};
use crate::session::open::{SessionError, session_at, sessions_in};
use crate::state::SessionScope;

/// Selected sessions.
#[derive(Debug, Default)]
pub struct Selected {
    /// The sessions and their subagents, most recently active first.
    pub bundles: Vec<Bundle>,
    /// Files that could not be read, and files that are not sessions of a known agent.
    pub failed: Vec<(PathBuf, SessionError)>,
    /// Named sessions that are not in one of the directories.
    pub outside: Vec<PathBuf>,
}

impl Selected {
    /// Returns the records of the files that could not be read.
    pub fn failures(&self) -> impl Iterator<Item = SessionArchivedRecord> {
        self.failed
            .iter()
            .map(|(path, error)| SessionArchivedRecord {
                reason: Some(format!("{}: {error}", path.display())),
                path: path.display().to_string(),
                outcome: match error {
                    SessionError::Unknown(_) => ArchiveOutcome::Skipped,
                    _ => ArchiveOutcome::Failed,
                },
                ..SessionArchivedRecord::default()
            })
    }
}

/// The sessions in databases, by name.
type Stored = HashMap<PathBuf, (Option<String>, u64, SystemTime)>;

/// Selects the sessions in `roots` with these paths, or the sessions that `listing` selects if no path is
/// given, and their subagents. The limit of `listing` does not apply.
pub fn select(roots: &[Root], listing: &Listing, named: &[PathBuf]) -> Selected {
    let canonical = |root: &Root| {
        let path = fs::canonicalize(&root.path).ok()?;
        Some(Root { path, ..*root })
    };
    let roots: Vec<Root> = roots.iter().filter_map(canonical).collect();
    let mut candidates = discover_with(listing.jobs, &roots);
    candidates.extend(subagents_beside(&candidates));
    let mut everything = listing.of_all();
    everything.selection.with_subagents = true;
    let (listed, failed) = list_files(&candidates, &everything);
    let mut is_selected: Vec<bool> = Vec::with_capacity(listed.len());
    let mut outside = named.to_vec();
    for session in &listed {
        is_selected.push(if named.is_empty() {
            let selection = &listing.selection;
            selection.admits_agent(session.agent, &session.path) && selection.admits(&session.facts)
        } else {
            let is_named = |name: &PathBuf| is_same(name, &session.path);
            let known = outside.len();
            outside.retain(|name| !is_named(name));
            outside.len() < known
        });
    }
    let stored = stored_in(&listed);
    add_subagents(&listed, &stored, &mut is_selected);
    let sessions = listed.into_iter().zip(is_selected);
    let bundles = sessions
        .filter(|(_, is_selected)| *is_selected)
        .filter_map(|(session, _)| {
            let root = root_of(&session.path, &roots)?;
            let stored = stored.get(&session.path);
            let mut bundle = Bundle::new(*session, root);
            bundle.stored = stored.map(|(_, size, changed)| (*size, *changed));
            bundle.parent = stored.and_then(|(parent, ..)| parent.clone());
            Some(bundle)
        });
    let mut bundles: Vec<Bundle> = bundles.collect();
    let owned = bundles.iter().flat_map(|bundle| {
        let others = bundle.files.iter().filter(|file| **file != bundle.path);
        others.cloned().collect::<Vec<_>>()
    });
    let owned: HashSet<PathBuf> = owned.collect();
    bundles.retain(|bundle| !owned.contains(&bundle.path));
    let failed = failed
        .into_iter()
        .filter(|(path, _)| named.is_empty() && !owned.contains(path));
    Selected {
        bundles,
        failed: failed.collect(),
        outside,
    }
}

/// Whether a name and a canonical path name the same session.
fn is_same(name: &Path, path: &Path) -> bool {
    name == path
        || name.file_name() == path.file_name() && SessionScope::of(name) == SessionScope::of(path)
}

/// Returns the sessions in the databases of these sessions.
fn stored_in(listed: &[Box<Listed>]) -> Stored {
    let databases = listed
        .iter()
        .filter_map(|session| session_at(&session.path));
    let databases: HashSet<PathBuf> = databases.map(|(database, _)| database).collect();
    let sessions = databases.iter().flat_map(|database| sessions_in(database));
    let sessions =
        sessions.map(|(path, session)| (path, (session.parent, session.size, session.changed)));
    sessions.collect()
}

/// Selects the subagents of selected sessions, recursively.
fn add_subagents(listed: &[Box<Listed>], stored: &Stored, is_selected: &mut [bool]) {
    let id = |session: &Listed| session.facts.session_id.clone();
    let mut parents: HashSet<String> = HashSet::new();
    loop {
        let known = parents.len();
        let selected = listed
            .iter()
            .zip(&*is_selected)
            .filter(|(_, is_selected)| **is_selected);
        parents.extend(selected.filter_map(|(session, _)| id(session)));
        if parents.len() == known {
            return;
        }
        for (session, is_selected) in listed.iter().zip(&mut *is_selected) {
            *is_selected |=
                parent_of(session, stored).is_some_and(|parent| parents.contains(parent));
        }
    }
}

/// Returns the session that started a subagent.
fn parent_of<'a>(session: &'a Listed, stored: &'a Stored) -> Option<&'a String> {
    match stored.get(&session.path) {
        Some((parent, ..)) => parent.as_ref().filter(|_| session.facts.is_subagent),
        None => session.facts.parent(),
    }
}

/// Returns the innermost root that contains a session.
fn root_of<'a>(path: &Path, roots: &'a [Root]) -> Option<&'a Path> {
    let database = session_at(path).map(|(database, _)| database);
    let path = database.as_deref().unwrap_or(path);
    let roots = roots.iter().map(|root| root.path.as_path());
    roots
        .filter(|root| path.starts_with(root))
        .max_by_key(|root| root.components().count())
}
