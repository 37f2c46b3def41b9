//! Filters that select sessions, the same for all commands.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use jiff::Timestamp;

use crate::files::discover::Candidate;
use crate::list::projects::Projects;
use turnpipe_formats::agent::{Agent, Facts, NamedRoots, hash_project};

/// Minimum length of a short id, in characters.
pub(crate) const MIN_ID_CHARS: usize = 8;

/// Filters of sessions. The default selects all of them.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Active at or after this time.
    pub since: Option<Timestamp>,
    /// Started before this time.
    pub until: Option<Timestamp>,
    /// Last active before this time.
    pub before: Option<Timestamp>,
    /// Worked in this directory or below it.
    pub cwd: Option<PathBuf>,
    /// Written by this agent.
    pub agent: Option<Agent>,
    /// The agents of the configuration.
    pub named_roots: NamedRoots,
    /// In this home of its agent.
    pub home: Option<String>,
    /// Written by this agent, which uses the format of another one.
    pub written_by: Option<String>,
    /// Without a title.
    pub untitled: bool,
    /// Contains this text in the title, or else in the first prompt, ignoring case.
    pub title: Option<String>,
    /// Contains this text in the last branch.
    pub branch: Option<String>,
    /// Contains this text in the last model.
    pub model: Option<String>,
    /// Contains this text in the first directory, or in the directory or the name of its repository.
    pub project: Option<String>,
    /// The projects of all sessions, once they are known.
    pub projects: Arc<OnceLock<Projects>>,
    /// The home directory of the user.
    pub user_home: Option<PathBuf>,
    /// Changed a file at this absolute path or below it. This reads whole files.
    pub changed: Option<PathBuf>,
    /// Leaves out sessions without a prompt, a title or a reply.
    pub without_empty: bool,
    /// Includes the sessions of subagents.
    pub with_subagents: bool,
    /// Maximum number of sessions.
    pub limit: Option<NonZeroUsize>,
}

impl Selection {
    /// Whether a session in this file can be selected. Its activity cannot be later than the last change
    /// of the file.
    pub(crate) fn admits_file(&self, candidate: &Candidate) -> bool {
        let changed = timestamp(candidate.changed);
        candidate.size > 0 && self.since.is_none_or(|since| changed >= since)
    }

    /// Whether a session of this agent in this file can be selected.
    pub(crate) fn admits_agent(&self, agent: Agent, path: &Path) -> bool {
        let written_by = self.written_by.as_deref();
        let is_at = |wanted: &String| {
            let home = self.named_roots.find_home(path);
            home.is_some_and(|home| home.name == *wanted)
        };
        self.home.as_ref().is_none_or(is_at)
            && self.agent.is_none_or(|wanted| wanted == agent)
            && written_by.is_none_or(|wanted| self.named_roots.find_fork_name(path) == Some(wanted))
    }

    /// Whether the title decides.
    pub(crate) fn needs_title(&self) -> bool {
        self.untitled || self.title.is_some()
    }

    /// Whether other facts than those at the start decide.
    pub(crate) fn needs_end(&self) -> bool {
        let times = [self.since, self.until, self.before];
        let texts = [&self.title, &self.branch, &self.model];
        times.iter().any(Option::is_some)
            || texts.iter().any(|text| text.is_some())
            || self.cwd.is_some()
            || self.without_empty
    }

    /// Whether a session with these facts is selected, except by agent.
    pub(crate) fn admits(&self, facts: &Facts) -> bool {
        let active = facts.last_activity_or_min();
        let started = facts.started.unwrap_or(active);
        let is_in_time = self.since.is_none_or(|since| active >= since)
            && self.until.is_none_or(|until| started < until)
            && self.before.is_none_or(|before| active < before);
        is_in_time
            && self
                .cwd
                .as_ref()
                .is_none_or(|cwd| has_worked_in(facts, cwd))
            && !(self.untitled && facts.title.is_some())
            && !(self.without_empty && is_empty(facts))
            && contains_ignoring_case(facts.heading(), self.title.as_ref())
            && contains_ignoring_case(facts.branch.as_ref(), self.branch.as_ref())
            && contains_ignoring_case(facts.model.as_ref(), self.model.as_ref())
            && self.admits_project(facts)
    }

    fn admits_project(&self, facts: &Facts) -> bool {
        let wanted = self.project.as_ref();
        let is_named = |projects: &Projects| {
            let mut texts = projects.texts(facts).into_iter();
            texts.any(|text| contains_ignoring_case(Some(&text), wanted))
        };
        contains_ignoring_case(facts.first_cwd.as_ref(), wanted)
            || self.projects.get().is_some_and(is_named)
    }
}

/// Whether a session worked in a directory or below it.
fn has_worked_in(facts: &Facts, wanted: &Path) -> bool {
    let mut named = facts.first_cwd.iter().chain(&facts.cwd);
    // A hash only matches the directory itself, not its parents.
    let is_hashed = facts.first_cwd.is_none()
        && facts.cwd_hash.is_some()
        && facts.cwd_hash == Some(hash_project(wanted));
    named.any(|cwd| Path::new(cwd).starts_with(wanted)) || is_hashed
}

/// Whether a session is empty: it has no prompt, no title and no reply.
fn is_empty(facts: &Facts) -> bool {
    facts.first_prompt.is_none() && facts.title.is_none() && facts.model.is_none()
}

/// Whether `text` contains `wanted`, ignoring case, if it is given.
fn contains_ignoring_case(text: Option<&String>, wanted: Option<&String>) -> bool {
    wanted.is_none_or(|wanted| {
        text.is_some_and(|text| text.to_lowercase().contains(&wanted.to_lowercase()))
    })
}

/// Whether a request, a call or a message of this time counts in a period. One without a time counts if the period
/// has no start.
pub fn is_in_period(period: &Range<Timestamp>, time: Option<Timestamp>) -> bool {
    period.contains(&time.unwrap_or(Timestamp::MIN))
}

/// Converts the time of a file.
pub(crate) fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::MAX)
}

/// Returns the shortest unambiguous names of `ids` among these and `others`: the beginning of the
/// id or of its last part, because ids that start with a time share long prefixes. At least
/// eight characters.
pub fn shorten_ids<'a>(ids: &[&'a str], others: &'a [String]) -> Vec<&'a str> {
    let others = others.iter().map(String::as_str);
    let mut sorted: Vec<&str> = ids.iter().copied().chain(others).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut ends: HashMap<&str, Vec<&str>> = HashMap::new();
    for id in &sorted {
        let end = find_last_part(id).into_iter();
        end.for_each(|end| ends.entry(end).or_default().push(id));
    }
    sorted.extend(ends.keys());
    sorted.sort_unstable();
    sorted.dedup();
    let shared_length = |one: &str, other: &str| {
        let pairs = one.chars().zip(other.chars());
        pairs.take_while(|(one, other)| one == other).count()
    };
    let length = |id: &str| {
        let at = sorted.partition_point(|other| *other < id);
        let before = at.checked_sub(1).and_then(|before| sorted.get(before));
        let neighbours = before.into_iter().chain(sorted.get(at + 1));
        // The name of a file may have the beginning of the id.
        let others = neighbours.filter(|other| !id.starts_with(**other));
        let longest = others.map(|other| shared_length(id, other) + 1).max();
        let length = longest.unwrap_or(0).max(MIN_ID_CHARS);
        id.char_indices()
            .nth(length)
            .map_or(id.len(), |(end, _)| end)
    };
    let shorten = |id: &&'a str| {
        let start = &id[..length(id)];
        // The same last part of two ids names neither. A name of a file may end with the id.
        let is_unique = |end: &&str| {
            let mut named = ends.get(end).into_iter().flatten();
            named.all(|other| other.ends_with(id) || id.ends_with(other))
        };
        let end = find_last_part(id).filter(is_unique);
        let end = end.map(|end| &end[..length(end)]);
        let end = end.filter(|end| end.len() >= MIN_ID_CHARS && end.len() < start.len());
        end.unwrap_or(start)
    };
    ids.iter().map(shorten).collect()
}

/// Returns the part of an id after the last hyphen.
fn find_last_part(id: &str) -> Option<&str> {
    id.rsplit_once('-').map(|(_, end)| end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_are_unique() {
        let ids = ["01234567-89", "01234567-8a", "f0123456-89"];
        assert_eq!(shorten_ids(&ids, &[]), [ids[0], ids[1], "f0123456"]);
        for (other, expected) in [("01234567ff", "012345678"), ("0123456789", "01234567")] {
            assert_eq!(
                shorten_ids(&["0123456789"], &[other.to_owned()]),
                [expected]
            );
        }
    }

    #[test]
    fn ends_of_several_ids_name_no_session() {
        let ids = [
            "0123456789-0123-000000000001",
            "0123456789-0124-000000000001",
        ];
        let expected = ["0123456789-0123", "0123456789-0124"];
        assert_eq!(shorten_ids(&ids, &[]), expected);
        assert_eq!(shorten_ids(&ids[..1], &[ids[1].to_owned()]), expected[..1]);
    }
}
