//! Finds a session by id, prefix of an id, title, or `latest`, and the sessions that it continues.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::discover::{Candidate, discover};
use super::listing::{Listed, Listing, list};
use super::selection::Selection;
use super::session::Session;
use crate::agent::{CopiedHistory, Facts, Root, session_stem};
use crate::state::SessionScope;

/// The name of the most recently active session.
pub const LATEST: &str = "latest";

/// Maximum number of matches in an error.
const MAX_SHOWN: usize = 4;

/// Maximum number of files that a session continues.
const MAX_ANCESTORS: usize = 64;

/// A name that does not identify a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// The name is the beginning of every id.
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
pub fn find(name: &str, candidates: &[Candidate], listing: &Listing) -> Result<PathBuf, FindError> {
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
            .map(|session| session.path)
            .ok_or(FindError::Nothing);
    }
    // Most file names contain the id, which saves opening all files.
    let named: Vec<Candidate> = candidates
        .iter()
        .filter(|candidate| ids_in(&candidate.path).any(|id| id.starts_with(name)))
        .cloned()
        .collect();
    if !named.is_empty() {
        return one_of(name, &named, listing);
    }
    one_of(name, candidates, listing)
}

/// Returns the one session with this id, prefix of an id, or title.
fn one_of(name: &str, candidates: &[Candidate], listing: &Listing) -> Result<PathBuf, FindError> {
    let (sessions, _) = list(candidates, listing);
    let tests: [&dyn Fn(&Facts) -> bool; 4] = [
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
    for test in tests {
        let found = sessions.iter().filter(|session| test(&session.facts));
        let found: Vec<&Listed> = found.map(Box::as_ref).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one.path.clone()),
            several => {
                if let Some(newest) = newest_part(several) {
                    return Ok(newest.path.clone());
                }
                let shown = several.iter().take(MAX_SHOWN);
                let shown = shown.map(|session| session.path.display().to_string());
                return Err(FindError::Several(shown.collect()));
            }
        }
    }
    Err(FindError::Nothing)
}

/// Returns the first of these sessions if they are one thread in several files, and all but one continue another one.
fn newest_part<'a>(sessions: &[&'a Listed]) -> Option<&'a Listed> {
    let id = |session: &Listed| session.facts.session_id.clone();
    let newest = sessions.first()?;
    let is_later = |session: &&&Listed| {
        let history = session.facts.history.as_ref();
        let bases = history.map(|history| bases(history, sessions.iter().copied()));
        let mut bases = bases.into_iter().flatten();
        bases.any(|base| base.path != session.path)
    };
    let is_thread = sessions.iter().all(|one| id(one) == id(newest))
        && sessions.iter().filter(is_later).count() + 1 == sessions.len();
    is_thread.then_some(*newest)
}

/// Returns the possible ids in a file name: the whole stem, and the part after each separator.
pub fn ids_in(path: &Path) -> impl Iterator<Item = String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parent = path.parent().and_then(Path::file_name);
    // Some agents name a directory by the session, or keep sessions in a database.
    let dir = parent
        .map(OsStr::to_string_lossy)
        .filter(|dir| Uuid::try_parse(dir).is_ok());
    let stored = name.split_once('#').map(|(_, id)| id.to_owned());
    let stem = session_stem(path).unwrap_or_default().to_string_lossy();
    let starts: Vec<String> = stem
        .char_indices()
        .filter(|(_, character)| matches!(character, '-' | '_'))
        .map(|(at, _)| stem[at + 1..].to_owned())
        .collect();
    let whole = [Some(stem.into_owned()), dir.map(Cow::into_owned), stored];
    whole.into_iter().flatten().chain(starts)
}

/// Returns the sessions whose files may contain the beginning of another one. A thread may have several files; each is
/// named after the id that others refer to. Without such a name, the first file of the thread is meant.
pub(super) fn bases<'a>(
    history: &CopiedHistory,
    listed: impl Iterator<Item = &'a Listed> + Clone,
) -> Vec<&'a Listed> {
    let id = &history.session_id;
    let is_first_of_thread = |facts: &Facts| {
        let base = facts.history.as_ref().map(|base| &base.session_id);
        facts.session_id.as_ref() == Some(id) && base != Some(id)
    };
    let named = listed.clone();
    let named: Vec<&Listed> = named
        .filter(|session| is_named_after(&session.path, id))
        .collect();
    if !named.is_empty() {
        return named;
    }
    listed
        .filter(|session| is_first_of_thread(&session.facts))
        .collect()
}

/// Whether the name of a file ends with this id.
fn is_named_after(path: &Path, id: &str) -> bool {
    let stem = session_stem(path).unwrap_or_default().as_encoded_bytes();
    let before = stem.strip_suffix(id.as_bytes()).map(<[u8]>::last);
    before.is_some_and(|before| matches!(before, None | Some(b'-' | b'_')))
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
        let mut listing = listing.of_all();
        listing.selection.with_subagents = true;
        let mut ancestors: Vec<Self> = Vec::new();
        let mut history = facts.history.clone();
        let mut ids = HashSet::new();
        while let Some(base) = history.take() {
            let newest = ancestors.last().unwrap_or(self);
            let is_repeated = !ids.insert(base.session_id.clone());
            let parent = if is_repeated || ancestors.len() == MAX_ANCESTORS {
                None
            } else {
                let beside = newest.file.path.parent().unwrap_or(Path::new("."));
                let beside = Root {
                    agent: None,
                    path: beside.to_owned(),
                };
                let beside = || discover(std::slice::from_ref(&beside));
                self.base(&base, &candidates(), &listing)
                    .or_else(|| self.base(&base, &beside(), &listing))
            };
            let Some(parent) = parent else {
                missing(&newest.file.path, &base);
                break;
            };
            let facts = parent.first_facts(listing.mapping);
            history = facts.ok().and_then(|facts| facts.history);
            ancestors.push(parent);
        }
        ancestors.reverse();
        ancestors
    }

    /// Returns the session in another file that contains this beginning, up to there.
    fn base(
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
        let (listed, _) = list(candidates, listing);
        let own = SessionScope::of(&self.file.path);
        let listed = listed.iter().map(Box::as_ref);
        bases(history, listed).into_iter().find_map(|found| {
            let session = Self::open_with(&found.path, &listing.selection.named_roots).ok()?;
            let is_other = || SessionScope::of(&found.path) != own;
            let contains = session.file.size >= history.end && is_other();
            contains.then(|| session.up_to(history.end))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_contain_ids() {
        let path = Path::new("/x/rollout-2026-11-21T21-11-07-01a1fff2-d65c-77e3.jsonl");
        assert!(ids_in(path).any(|id| id.starts_with("01a1fff2-d65c")));
        for name in ["2026_f2e8.jsonl", "2026_f2e8.jsonl.zst", "f2e8.jsonl.zst"] {
            assert!(ids_in(Path::new(name)).any(|id| id == "f2e8"), "{name}");
        }
    }
}
