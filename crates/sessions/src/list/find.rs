//! Finds a session by id, prefix of an id, title, or `latest`, and the sessions that it continues.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::Path;

use jiff::Timestamp;

use crate::files::discover::{
    Candidate, discover, find_subagent_candidates, find_subagents_beside,
};
use crate::files::listed::{ListedSession, SessionFiles};
use crate::list::listing::{Listing, list, list_files};
use crate::list::parts::{SpawnedSubagents, find_bases, is_named_after, split_ids};
use crate::list::selection::{Selection, timestamp};
use crate::read::session::Session;
use crate::state::SessionScope;
use turnpipe_formats::agent::{CopiedHistory, Facts, Root};

/// The name of the most recently active session.
pub(crate) const LATEST: &str = "latest";

/// Maximum number of matches in an error.
const MAX_SHOWN: usize = 4;

/// Maximum number of files that a session continues.
const MAX_ANCESTORS: usize = 64;

/// A name that does not identify a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// The name is empty, so every id starts with it.
    #[error("the name is empty")]
    Empty,
    /// No session has that name.
    #[error("there is no such session")]
    Nothing,
    /// Several sessions have that name.
    #[error("several sessions have that name: {}", .0.join(", "))]
    Several(Vec<String>),
}

/// Finds the file that `name` identifies among `candidates` (most recently changed first).
///
/// # Errors
/// No file matches, or more than one; the name is empty.
pub fn find(
    name: &str,
    candidates: &[Candidate],
    listing: &Listing,
) -> Result<SessionFiles, FindError> {
    if name.is_empty() {
        return Err(FindError::Empty);
    }
    if name == LATEST {
        let newest = Listing {
            selection: Selection {
                limit: NonZeroUsize::new(1),
                without_empty: true,
                ..listing.selection.clone()
            },
            ..listing.clone()
        };
        let (listed, _) = list(candidates, &newest);
        return listed
            .into_iter()
            .next()
            .map(|session| session.files())
            .ok_or(FindError::Nothing);
    }
    let listing = &Listing {
        selection: Selection {
            with_subagents: true,
            ..listing.selection.clone()
        },
        ..listing.clone()
    };
    // Most file names contain the id, which saves opening all files.
    let named: Vec<Candidate> = candidates
        .iter()
        .filter(|candidate| split_ids(&candidate.path).any(|id| id.starts_with(name)))
        .cloned()
        .collect();
    match find_one(name, &named, candidates, listing) {
        Err(FindError::Nothing) => {}
        found => return found,
    }
    match find_one(name, candidates, candidates, listing) {
        Err(FindError::Nothing) => find_subagent(name, candidates),
        found => found,
    }
}

/// Returns the one subagent without a session of its own whose file is named after this id.
fn find_subagent(name: &str, candidates: &[Candidate]) -> Result<SessionFiles, FindError> {
    let mut files = find_subagent_candidates(candidates);
    files.extend(find_subagents_beside(candidates));
    files.retain(|file| split_ids(&file.path).any(|id| id.starts_with(name)));
    match files.as_slice() {
        [] => Err(FindError::Nothing),
        [one] => Ok(one.path.clone().into()),
        several => {
            let paths = several.iter().map(|file| file.path.display().to_string());
            Err(FindError::Several(paths.take(MAX_SHOWN).collect()))
        }
    }
}

/// Returns the files of a session, and the files of its subagents that have their own sessions, which start later.
fn collect_files(
    found: &ListedSession,
    candidates: &[Candidate],
    listing: &Listing,
) -> SessionFiles {
    let mut found = found.clone();
    if found.agent.format().layout.has_subagent_sessions() {
        let start = found.facts.started.unwrap_or(Timestamp::MIN);
        let mut later = candidates.to_vec();
        later.retain(|file| timestamp(file.changed) >= start);
        let mut spawned = SpawnedSubagents::default();
        let (sessions, _) = list_files(&later, &listing.without_filters());
        for session in &sessions {
            spawned.add(session);
        }
        spawned.apply_to(&mut found);
    }
    found.files()
}

/// Returns the one session with this id, prefix of an id, or title.
fn find_one(
    name: &str,
    named: &[Candidate],
    candidates: &[Candidate],
    listing: &Listing,
) -> Result<SessionFiles, FindError> {
    let (sessions, _) = list(named, listing);
    let predicates: [&dyn Fn(&Facts) -> bool; 4] = [
        &|facts| facts.session_id.as_deref() == Some(name),
        &|facts| {
            facts
                .session_id
                .as_ref()
                .is_some_and(|id| id.starts_with(name))
        },
        &|facts| {
            let end = facts.session_id.as_ref().and_then(|id| id.rsplit_once('-'));
            end.is_some_and(|(_, end)| end.starts_with(name))
        },
        &|facts| facts.heading().is_some_and(|heading| heading == name),
    ];
    for is_match in predicates {
        let found = sessions.iter().filter(|session| is_match(&session.facts));
        let found: Vec<&ListedSession> = found.map(Box::as_ref).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(collect_files(one, candidates, listing)),
            several => {
                let paths = several
                    .iter()
                    .map(|session| session.path.display().to_string());
                return Err(FindError::Several(paths.take(MAX_SHOWN).collect()));
            }
        }
    }
    Err(FindError::Nothing)
}

impl Session {
    /// Returns the sessions that this one continues, oldest first. They are among the `candidates`, or beside the
    /// session that continues them. `missing` receives the file that continues a session, and the beginning of that
    /// session, if no other file contains it.
    pub fn ancestors(
        &self,
        facts: &Facts,
        listing: &Listing,
        candidates: &dyn Fn() -> Vec<Candidate>,
        missing: &dyn Fn(&Path, &CopiedHistory),
    ) -> Vec<Self> {
        let mut listing = listing.without_filters();
        listing.selection.with_subagents = true;
        let mut ancestors: Vec<Self> = Vec::new();
        let mut history = facts.history.clone();
        if history.is_none() {
            return self.other_files(true).collect();
        }
        let mut ids = HashSet::new();
        while let Some(base) = history.take() {
            let newest = ancestors.last().unwrap_or(self);
            let is_repeated = !ids.insert(base.session_id.clone());
            let parent = if is_repeated || ancestors.len() == MAX_ANCESTORS {
                None
            } else {
                let directory = newest.file.path.parent().unwrap_or(Path::new("."));
                let root = Root {
                    agent: None,
                    path: directory.to_owned(),
                };
                let beside = || discover(std::slice::from_ref(&root));
                self.find_base(&base, &candidates(), &listing)
                    .or_else(|| self.find_base(&base, &beside(), &listing))
            };
            let Some(parent) = parent else {
                missing(&newest.file.path, &base);
                break;
            };
            let facts = parent.read_first_facts(listing.mapping);
            history = facts.ok().and_then(|facts| facts.history);
            ancestors.push(parent);
        }
        ancestors.reverse();
        ancestors
    }

    /// Returns the session in another file that contains the beginning `history`, up to the end of this beginning.
    fn find_base(
        &self,
        history: &CopiedHistory,
        candidates: &[Candidate],
        listing: &Listing,
    ) -> Option<Self> {
        let named = candidates
            .iter()
            .filter(|candidate| is_named_after(&candidate.path, &history.session_id));
        let named: Vec<Candidate> = named.cloned().collect();
        let candidates = if named.is_empty() { candidates } else { &named };
        let (listed, _) = list_files(candidates, listing);
        let own = SessionScope::from_path(&self.file.path);
        let listed = listed.iter().map(Box::as_ref);
        let bases = find_bases(history, listed).into_iter();
        let others = bases.filter(|found| SessionScope::from_path(&found.path) != own);
        let open =
            |found: &ListedSession| Self::open_with(&found.path, &listing.selection.named_roots);
        let beginnings = others.filter_map(|found| Some(open(found).ok()?.with_end(history.end)));
        // A copy may be cut.
        beginnings.max_by_key(|session| session.file.size)
    }
}
