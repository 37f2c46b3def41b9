//! Finds a session by id, prefix of an id, title, or `latest`, and the sessions that it continues.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::discover::{Candidate, discover};
use super::listing::{Listing, list};
use super::selection::Selection;
use super::session::Session;
use crate::agent::{Facts, Root};

/// The name of the most recently active session.
pub const LATEST: &str = "latest";

/// Maximum number of matches in an error.
const MAX_SHOWN: usize = 4;

/// Maximum number of forks of forks to follow.
const MAX_ANCESTORS: usize = 16;

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
        let found: Vec<_> = found.collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one.path.clone()),
            several => {
                let shown = several.iter().take(MAX_SHOWN);
                let shown = shown.map(|session| session.path.display().to_string());
                return Err(FindError::Several(shown.collect()));
            }
        }
    }
    Err(FindError::Nothing)
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
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let starts: Vec<String> = stem
        .char_indices()
        .filter(|(_, character)| matches!(character, '-' | '_'))
        .map(|(at, _)| stem[at + 1..].to_owned())
        .collect();
    let whole = [Some(stem.into_owned()), dir.map(Cow::into_owned), stored];
    whole.into_iter().flatten().chain(starts)
}

impl Session {
    /// Returns the sessions that this one continues, oldest first. They are among the `candidates`, or beside the
    /// session that continues them. `missing` receives the file that continues a session that is not found, and the
    /// id of that session.
    pub fn ancestors(
        &self,
        facts: &Facts,
        listing: &Listing,
        candidates: &dyn Fn() -> Vec<Candidate>,
        missing: &dyn Fn(&Path, &str),
    ) -> Vec<Self> {
        let listing = listing.of_all();
        let named_roots = &listing.selection.named_roots;
        let mut ancestors = Vec::new();
        let mut history = facts.history.clone();
        let mut beside = self.file.path.clone();
        while let Some(base) = history.take()
            && ancestors.len() < MAX_ANCESTORS
        {
            let mut candidates = candidates();
            candidates.extend(discover(&[Root {
                agent: None,
                path: beside.parent().unwrap_or(Path::new(".")).to_owned(),
            }]));
            candidates.dedup_by(|one, other| one.path == other.path);
            let found = candidates.iter().find_map(|candidate| {
                find(&base.session_id, std::slice::from_ref(candidate), &listing).ok()
            });
            let opened = found.and_then(|path| Self::open_with(&path, named_roots).ok());
            let Some(parent) = opened.map(|parent| parent.up_to(base.end)) else {
                missing(&self.file.path, &base.session_id);
                break;
            };
            beside.clone_from(&parent.file.path);
            history = parent
                .summary(listing.mapping)
                .ok()
                .and_then(|facts| facts.history);
            ancestors.push(parent);
        }
        ancestors.reverse();
        ancestors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_contain_ids() {
        let path = Path::new("/x/rollout-2026-11-21T21-11-07-01a1fff2-d65c-77e3.jsonl");
        assert!(ids_in(path).any(|id| id.starts_with("01a1fff2-d65c")));
        assert!(ids_in(Path::new("2026_f2e8.jsonl")).any(|id| id == "f2e8"));
    }
}
