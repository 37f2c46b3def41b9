//! The files of one session: those that continue each other, copies in other directories, and saved streams.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::files::listed::{ListedSession, OtherFile, Sessions};
use crate::read::session::Session;
use turnpipe_formats::agent::{
    Agent, CopiedHistory, Facts, IdScope, find_subagent_id, session_stem,
};

/// Joins the files of each session.
pub(crate) fn join(listed: Sessions) -> Sessions {
    let mut joined = Sessions::new();
    let mut groups: HashMap<(Agent, String), Sessions> = HashMap::new();
    for session in listed {
        match session_key(&session) {
            Some(name) => groups.entry(name).or_default().push(session),
            None => joined.push(session),
        }
    }
    for group in groups.into_values() {
        // Each stream is only a part of a session.
        if group.len() == 1 || group.iter().all(|session| session.is_stream) {
            joined.extend(group);
        } else {
            joined.extend(join_files(group));
        }
    }
    joined
}

/// Returns the agent and the id of a session. `None` if other sessions may have the same id.
pub(crate) fn session_key(session: &ListedSession) -> Option<(Agent, String)> {
    let facts = &session.facts;
    let id = facts.session_id.as_ref()?;
    let is_shared = facts.is_subagent && facts.parent() == Some(id)
        || session.agent.format().counting.ids == IdScope::File;
    (!is_shared).then(|| (session.agent, id.clone()))
}

/// Joins the files of one session: the file with the end of the conversation gets the facts of the others.
fn join_files(group: Sessions) -> Option<Box<ListedSession>> {
    let continued: Vec<&PathBuf> = group
        .iter()
        .filter_map(|session| session.facts.history.as_ref())
        .flat_map(|history| find_bases(history, group.iter().map(Box::as_ref)))
        .map(|base| &base.path)
        .collect();
    let to_rank = |session: &ListedSession| {
        let facts = &session.facts;
        (
            session.is_stream,
            continued.contains(&&session.path),
            facts.first_prompt.is_none() && facts.model.is_none(),
            Reverse(facts.last_activity_or_min()),
            Reverse(session.subagents),
            Reverse(session.size),
        )
    };
    let mut ranks: Vec<_> = group
        .iter()
        .map(|session| to_rank(session))
        .zip(0..)
        .collect();
    ranks.sort();
    let order: Vec<usize> = ranks.into_iter().map(|(_, at)| at).collect();
    let is_continued: Vec<bool> = group
        .iter()
        .map(|session| continued.contains(&&session.path))
        .collect();
    let mut files: Vec<Option<Box<ListedSession>>> = group.into_iter().map(Some).collect();
    let mut ordered = order
        .into_iter()
        .filter_map(|at| Some((files[at].take()?, is_continued[at])));
    let (mut newest, _) = ordered.next()?;
    let start = newest.facts.started;
    // A file of the session contains everything that its streams contain.
    for (other, is_continued) in ordered.filter(|(other, _)| !other.is_stream) {
        let other = *other;
        let has_ended = || start.is_some_and(|start| other.facts.last_activity_or_min() <= start);
        newest.others.push(OtherFile {
            is_earlier: is_continued || has_ended(),
            path: other.path,
        });
        newest.others.extend(other.others);
        newest.subagents = newest.subagents.max(other.subagents);
        newest.facts.add_file(other.facts);
        newest.homes.extend(other.homes);
    }
    Some(newest)
}

/// Returns the possible ids in a file name: the whole stem, and the part after each separator. A directory may name a
/// subagent.
pub fn split_ids(path: &Path) -> impl Iterator<Item = String> {
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
    let subagent = find_subagent_id(path);
    let whole = [
        Some(stem.into_owned()),
        dir.map(Cow::into_owned),
        stored,
        subagent,
    ];
    whole.into_iter().flatten().chain(starts)
}

/// Returns the sessions whose files may contain the beginning of another one. A thread may have several files; each is
/// named after the id that others refer to. Without a file of that name, returns the first file of the thread.
pub(crate) fn find_bases<'a>(
    history: &CopiedHistory,
    listed: impl Iterator<Item = &'a ListedSession> + Clone,
) -> Vec<&'a ListedSession> {
    let id = &history.session_id;
    let is_first_of_thread = |facts: &Facts| {
        let base = facts.history.as_ref().map(|base| &base.session_id);
        facts.session_id.as_ref() == Some(id) && base != Some(id)
    };
    let named: Vec<&ListedSession> = listed
        .clone()
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
pub(crate) fn is_named_after(path: &Path, id: &str) -> bool {
    let stem = session_stem(path).unwrap_or_default().as_encoded_bytes();
    let before = stem.strip_suffix(id.as_bytes()).map(<[u8]>::last);
    before.is_some_and(|before| matches!(before, None | Some(b'-' | b'_')))
}

/// The subagents that are sessions of their own, by the sessions that started them.
#[derive(Debug, Default)]
pub(crate) struct SpawnedSubagents(HashMap<(Agent, String), BTreeMap<String, PathBuf>>);

impl SpawnedSubagents {
    pub(crate) fn add(&mut self, session: &ListedSession) {
        let ids = session
            .facts
            .parent()
            .zip(session.facts.session_id.as_ref());
        if let Some((parent, id)) = ids.filter(|(parent, id)| parent != id) {
            let started = self.0.entry((session.agent, parent.clone())).or_default();
            started.insert(id.clone(), session.path.clone());
        }
    }

    /// Sets the subagents of a session, and those that they started, unless it has more files of subagents.
    pub(crate) fn apply_to(&self, session: &mut ListedSession) {
        let mut next: Vec<(Agent, String)> = session_key(session).into_iter().collect();
        let mut known = BTreeMap::new();
        while let Some(parent) = next.pop() {
            for (id, path) in self.0.get(&parent).into_iter().flatten() {
                if known.insert(id, path).is_none() {
                    next.push((session.agent, id.clone()));
                }
            }
        }
        session.subagents = session.subagents.max(known.len() as u64);
        if session.agent.format().layout.has_subagent_sessions() {
            session.started = known.into_values().cloned().collect();
        }
    }
}

impl Session {
    /// Returns its other files that can be opened: those that it continues, or all.
    pub fn other_files(&self, only_earlier: bool) -> impl Iterator<Item = Self> {
        let others = self.others.iter();
        let wanted = others.filter(move |other| other.is_earlier || !only_earlier);
        wanted.filter_map(|other| Self::open_with(&other.path, &self.named_roots).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_contain_ids() {
        let path = Path::new("/x/rollout-2026-11-21T21-11-07-01a1fff2-d65c-77e3.jsonl");
        assert!(split_ids(path).any(|id| id.starts_with("01a1fff2-d65c")));
        assert!(split_ids(Path::new("2026_f2e8.jsonl")).any(|id| id == "f2e8"));
    }
}
