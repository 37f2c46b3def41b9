//! The sessions to archive or remove.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::bundle::Bundle;
use crate::files::discover::{discover_with, find_subagents_beside};
use crate::files::listed::ListedSession;
use crate::files::open::{SessionError, list_stored_sessions, split_stored_path};
use crate::list::listing::{Listing, list_files};
use crate::list::parts::find_bases;
use crate::state::SessionScope;
use turnpipe_formats::agent::{Root, StoredSession};
use turnpipe_formats::records::{ArchiveOutcome, SessionArchivedRecord};

/// Selected sessions.
#[derive(Debug, Default)]
pub struct Selected {
    /// The sessions and their subagents, most recently active first, but after the sessions that continue them.
    pub bundles: Vec<Bundle>,
    /// Other sessions that these continue.
    pub bases: Vec<Bundle>,
    /// Files that could not be read, and files that are not sessions of a known agent.
    pub failed: Vec<(PathBuf, SessionError)>,
    /// Named sessions that are not in one of the directories.
    pub outside: Vec<PathBuf>,
}

impl Selected {
    /// Returns the sessions and the sessions that they continue.
    pub fn with_bases(&self) -> impl Iterator<Item = &Bundle> {
        self.bundles.iter().chain(&self.bases)
    }

    /// Returns the records of the files that could not be read.
    pub fn to_failure_records(&self) -> impl Iterator<Item = SessionArchivedRecord> {
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
type Stored = HashMap<PathBuf, StoredSession>;

/// Selects the sessions in `roots` with these paths, or the sessions that `listing` selects if no path is
/// given, and their subagents. The limit of `listing` does not apply.
pub fn select(roots: &[Root], listing: &Listing, named: &[PathBuf]) -> Selected {
    let canonicalize = |root: &Root| {
        let path = fs::canonicalize(&root.path).ok()?;
        Some(Root { path, ..*root })
    };
    let roots: Vec<Root> = roots.iter().filter_map(canonicalize).collect();
    let mut candidates = discover_with(listing.jobs, &roots);
    candidates.extend(find_subagents_beside(&candidates));
    listing.prepare(&candidates);
    let mut unfiltered = listing.without_filters();
    unfiltered.selection.with_subagents = true;
    let (listed, failed) = list_files(&candidates, &unfiltered);
    let mut outside = named.to_vec();
    let admits = |session: &ListedSession| {
        let selection = &listing.selection;
        if named.is_empty() {
            return selection.admits_agent(session.agent, &session.path)
                && selection.admits(&session.facts);
        }
        let count_before = outside.len();
        outside.retain(|name| !is_same_session(name, &session.path));
        outside.len() < count_before
    };
    let mut is_selected: Vec<bool> = listed.iter().map(Box::as_ref).map(admits).collect();
    let stored = collect_stored(&listed);
    let continued = collect_continued(&listed);
    select_parts(&listed, &stored, &continued, &mut is_selected);
    let paths = listed.iter().zip(&is_selected);
    let paths = paths.filter_map(|(session, is_selected)| is_selected.then_some(&session.path));
    let required: HashSet<PathBuf> = paths
        .flat_map(|path| find_ancestors(path, &continued))
        .collect();
    let (mut bundles, mut bases) = (Vec::new(), Vec::new());
    for (session, is_selected) in listed.into_iter().zip(is_selected) {
        if !is_selected && !required.contains(&session.path) {
            continue;
        }
        let Some(root) = find_root(&session.path, &roots) else {
            continue;
        };
        let list = if is_selected {
            &mut bundles
        } else {
            &mut bases
        };
        list.push(create_bundle(*session, root, &stored, &continued));
    }
    bundles.sort_by_key(|bundle| Reverse(bundle.ancestors.len()));
    let owned = remove_owned(&mut bundles);
    let failed = failed
        .into_iter()
        .filter(|(path, _)| named.is_empty() && !owned.contains(path));
    Selected {
        bundles,
        bases,
        failed: failed.collect(),
        outside,
    }
}

/// Creates the bundle of a session, with its place among the sessions in databases and those that continue others.
fn create_bundle(
    session: ListedSession,
    root: &Path,
    stored: &Stored,
    continued: &Continued,
) -> Bundle {
    let stored = stored.get(&session.path);
    let mut bundle = Bundle::new(session, root);
    bundle.stored = stored.map(|session| (session.size, session.changed));
    bundle.parent = stored.and_then(|session| session.parent.clone());
    bundle.ancestors = find_ancestors(&bundle.path, continued);
    let continuations = continued
        .iter()
        .filter(|(_, bases)| bases.contains(&bundle.path));
    bundle.continued_by = continuations.map(|(path, _)| path.clone()).collect();
    bundle
}

/// Removes the sessions whose files belong to other sessions. Returns all files that belong to others.
fn remove_owned(bundles: &mut Vec<Bundle>) -> HashSet<PathBuf> {
    let belongings = bundles.iter().flat_map(|bundle| {
        let files = bundle.files.iter();
        files.filter(|file| **file != bundle.path).cloned()
    });
    let owned: HashSet<PathBuf> = belongings.collect();
    bundles.retain(|bundle| !owned.contains(&bundle.path));
    owned
}

/// Whether a name and a canonical path name the same session.
fn is_same_session(name: &Path, path: &Path) -> bool {
    name == path
        || name.file_name() == path.file_name()
            && SessionScope::from_path(name) == SessionScope::from_path(path)
}

/// Returns the sessions in the databases of these sessions.
fn collect_stored(listed: &[Box<ListedSession>]) -> Stored {
    let names = listed
        .iter()
        .filter_map(|session| split_stored_path(&session.path));
    let databases: HashSet<PathBuf> = names.map(|(database, _)| database).collect();
    let sessions = databases
        .iter()
        .flat_map(|database| list_stored_sessions(database));
    sessions.collect()
}

/// Sessions, and the sessions that they continue.
type Continued = BTreeMap<PathBuf, Vec<PathBuf>>;

/// Returns the sessions that continue others.
fn collect_continued(listed: &[Box<ListedSession>]) -> Continued {
    let continued = listed.iter().filter_map(|session| {
        let bases = find_bases(
            session.facts.history.as_ref()?,
            listed.iter().map(Box::as_ref),
        );
        let others = bases.iter().filter(|base| base.path != session.path);
        let others = others.map(|base| base.path.clone());
        Some((session.path.clone(), others.collect()))
    });
    continued.collect()
}

/// Returns the sessions that `path` continues, directly or through others.
fn find_ancestors(path: &Path, continued: &Continued) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut pending = vec![path];
    while let Some(path) = pending.pop() {
        let bases = continued.get(path).into_iter().flatten();
        pending.extend(
            bases
                .filter(|base| found.insert((*base).clone()))
                .map(PathBuf::as_path),
        );
    }
    found
}

/// Selects the subagents of selected sessions, recursively, and the earlier files of their threads.
fn select_parts(
    listed: &[Box<ListedSession>],
    stored: &Stored,
    continued: &Continued,
    is_selected: &mut [bool],
) {
    let id = |session: &ListedSession| session.facts.session_id.clone();
    let mut parents: HashSet<String> = HashSet::new();
    loop {
        let count_before = parents.len();
        let selected = listed
            .iter()
            .zip(&*is_selected)
            .filter(|(_, is_selected)| **is_selected);
        let selected: Vec<&ListedSession> = selected.map(|(session, _)| session.as_ref()).collect();
        parents.extend(selected.iter().filter_map(|session| id(session)));
        if parents.len() == count_before {
            return;
        }
        let paths = selected.iter().map(|session| &session.path);
        let bases: HashSet<PathBuf> = paths
            .flat_map(|path| find_ancestors(path, continued))
            .collect();
        for (session, is_selected) in listed.iter().zip(&mut *is_selected) {
            let is_known = |id: &String| parents.contains(id);
            *is_selected |= find_parent(session, stored).is_some_and(is_known)
                || bases.contains(&session.path) && id(session).as_ref().is_some_and(is_known);
        }
    }
}

/// Returns the session that started a subagent.
fn find_parent<'a>(session: &'a ListedSession, stored: &'a Stored) -> Option<&'a String> {
    match stored.get(&session.path) {
        Some(stored) => stored.parent.as_ref().filter(|_| session.facts.is_subagent),
        None => session.facts.parent(),
    }
}

/// Returns the innermost root that contains a session.
fn find_root<'a>(path: &Path, roots: &'a [Root]) -> Option<&'a Path> {
    let database = split_stored_path(path).map(|(database, _)| database);
    let path = database.as_deref().unwrap_or(path);
    let roots = roots.iter().map(|root| root.path.as_path());
    roots
        .filter(|root| path.starts_with(root))
        .max_by_key(|root| root.components().count())
}
