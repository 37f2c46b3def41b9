//! Lists sessions with their facts, most recently active first: as values, or formatted.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use jiff::Timestamp;

use crate::files::dirs::DirContext;
use crate::files::discover::{Candidate, subagent_files};
use crate::files::listed::{ListedSession, Sessions};
use crate::files::open::SessionError;
use crate::files::parallel::{process_in_order, stream_in_order};
use crate::list::parts::{SpawnedSubagents, join, session_key, split_ids};
use crate::list::projects::Projects;
use crate::list::selection::{MIN_ID_CHARS, Selection, timestamp};
use crate::prices::Prices;
use crate::read::session::Session;
use crate::read::title::NameIndexes;
use turnpipe_core::jsonl::Mapping;

/// Minimum number of files to read between two checks of the limit.
const MIN_STEP: usize = 64;

/// The part of each session to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The two ends of the file.
    Ends,
    /// The whole file, with counts.
    Whole,
}

/// The result for one file. `None` if it is filtered out.
type Examined = Result<Option<Box<ListedSession>>, SessionError>;

/// Settings to list sessions.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The sessions to list.
    pub selection: Selection,
    /// The part of each session to read.
    pub depth: Depth,
    /// The prices of requests, for [`Depth::Whole`].
    pub prices: Option<Prices>,
    /// Whether files may be memory-mapped.
    pub mapping: Mapping,
    /// The number of threads. Each reads one file at a time.
    pub jobs: NonZeroUsize,
    /// Number of files examined so far.
    pub examined: Arc<AtomicU64>,
}

impl Listing {
    /// Returns the settings for all sessions, without filters.
    #[must_use]
    pub fn without_filters(&self) -> Self {
        let mut all = self.clone();
        all.examined = Arc::default();
        all.selection = Selection::default();
        all.selection
            .named_roots
            .clone_from(&self.selection.named_roots);
        all
    }

    /// Finds the projects of the sessions among `candidates` by their beginnings, unless they are known.
    pub fn learn_projects(&self, candidates: &[Candidate]) {
        self.selection.projects.get_or_init(|| {
            let all = self.without_filters();
            let candidates: Vec<&Candidate> = candidates.iter().collect();
            let examine_one = |candidate: &Candidate| {
                let named = &all.selection.named_roots;
                let session = Session::open_for_list(&candidate.path, named)?;
                Ok(Some(session.with_directory(session.read_identity_facts()?)))
            };
            let mut facts = Vec::new();
            // The command itself reports files that cannot be read.
            let _ = all.examine_each(&candidates, examine_one, |_, found| facts.push(found));
            Projects::from_facts(&facts, self.selection.user_home.as_deref())
        });
    }

    /// Finds the projects of all sessions, if a filter needs them.
    pub(crate) fn prepare(&self, candidates: &[Candidate]) {
        if self.selection.project.is_some() {
            self.learn_projects(candidates);
        }
    }
}

/// Receives events until it breaks.
pub(crate) type Report<'a, Event> = dyn FnMut(Event) -> ControlFlow<()> + 'a;

/// Lists the selected sessions among `candidates`, most recently active first, and the files that could
/// not be read. Skips files that are not sessions.
pub fn list(candidates: &[Candidate], listing: &Listing) -> (Sessions, Failures) {
    listing.prepare(candidates);
    let names = NameIndexes::default();
    let mut listed = Sessions::new();
    let mut spawned = SpawnedSubagents::default();
    let mut failed = Failures::new();
    let mut order: Vec<&Candidate> = candidates.iter().collect();
    if listing.selection.limit.is_some() {
        // The last changed files are usually the most recently active ones, and usually suffice.
        order.sort_by_key(|candidate| std::cmp::Reverse(candidate.changed));
    }
    let newest = order.iter().map(|candidate| candidate.changed).max();
    let mut rest = order.as_slice();
    while let Some(next) = rest.first() {
        if listing.truncate_if_complete(&mut listed, next, newest) {
            break;
        }
        let read = candidates.len() - rest.len();
        let limit = listing.selection.limit;
        let step = limit.map_or(rest.len(), |limit| next_step_size(read, limit));
        let (current, later) = rest.split_at(step.min(rest.len()));
        let examine_one = |candidate: &Candidate| listing.read_candidate(candidate, &names);
        failed.extend(listing.examine_each(current, examine_one, |at, session| {
            spawned.add(&session);
            if listing.admits_subagent(&session, current[at].context) {
                listed.push(session);
            }
        }));
        listed = join(listed);
        rest = later;
    }
    if listing.selection.limit.is_some() {
        // Older files of the same sessions.
        let ids: Vec<String> = listed
            .iter()
            .filter_map(|session| Some(session_key(session)?.1))
            .collect();
        let is_part = |file: &&Candidate| {
            let mut names = split_ids(&file.path).filter(|id| id.len() >= MIN_ID_CHARS);
            names.any(|name| ids.iter().any(|id| id.starts_with(&name)))
        };
        let parts: Vec<&Candidate> = rest.iter().copied().filter(is_part).collect();
        let examine_one = |candidate: &Candidate| listing.read_candidate(candidate, &names);
        failed.extend(listing.examine_each(&parts, examine_one, |_, session| {
            if session
                .facts
                .session_id
                .as_ref()
                .is_some_and(|id| ids.contains(id))
            {
                listed.push(session);
            }
        }));
        listed = join(listed);
    }
    for session in &mut listed {
        spawned.apply_to(session);
        listing.count_files(session);
    }
    sort_by_activity(&mut listed);
    if let Some(limit) = listing.selection.limit {
        listed.truncate(limit.get());
    }
    (listed, keep_unreadable(failed))
}

/// Lists every session file, and the files that are not sessions among the failures. Files of one session are separate.
pub(crate) fn list_files(candidates: &[Candidate], listing: &Listing) -> (Sessions, Failures) {
    let names = NameIndexes::default();
    let mut listed = Sessions::new();
    let order: Vec<&Candidate> = candidates.iter().collect();
    let examine_one = |candidate: &Candidate| listing.read_candidate(candidate, &names);
    let failed = listing.examine_each(&order, examine_one, |_, session| listed.push(session));
    sort_by_activity(&mut listed);
    (listed, failed)
}

/// Returns the failures without files that are not sessions.
pub(crate) fn keep_unreadable(mut failed: Failures) -> Failures {
    failed.retain(|(_, error)| !matches!(error, SessionError::Unknown(_)));
    failed
}

/// Returns the number of files to read next, after this many. Steps double, so that checks take little time.
fn next_step_size(read: usize, limit: NonZeroUsize) -> usize {
    match read {
        0 => limit.get(),
        read => read.max(MIN_STEP),
    }
}

/// Compares sessions: most recently active first, then by path. Paths are compared as bytes, because comparing them by
/// component takes as long as reading the files.
fn compare_activity(one: (Timestamp, &Path), other: (Timestamp, &Path)) -> std::cmp::Ordering {
    let newest_first = other.0.cmp(&one.0);
    newest_first.then_with(|| one.1.as_os_str().cmp(other.1.as_os_str()))
}

fn sort_by_activity(listed: &mut [Box<ListedSession>]) {
    listed.sort_by(|one, other| {
        compare_activity(
            (one.facts.last_activity_or_min(), &one.path),
            (other.facts.last_activity_or_min(), &other.path),
        )
    });
}

impl Listing {
    /// Calls `examine_one` for each of `candidates`, on several threads, and `take` with the index and the outcome of each
    /// that is not filtered out, in order. Returns the failures.
    pub(crate) fn examine_each<Outcome: Send>(
        &self,
        candidates: &[&Candidate],
        examine_one: impl Fn(&Candidate) -> Result<Option<Outcome>, SessionError> + Sync,
        mut take: impl FnMut(usize, Outcome),
    ) -> Failures {
        let examine_one = |candidate: &&Candidate| {
            let outcome = examine_one(candidate);
            self.examined.fetch_add(1, Ordering::Relaxed);
            outcome
        };
        let mut failed = Failures::new();
        let Ok(()) = process_in_order(candidates, self.jobs.get(), examine_one, |at, outcome| {
            match outcome {
                Ok(Some(outcome)) => take(at, outcome),
                Ok(None) => {}
                Err(error) => failed.push((candidates[at].path.clone(), error)),
            }
            Ok::<(), Infallible>(())
        });
        failed
    }

    /// Calls `read` with each of `candidates`, on several threads, and `visit` with the events that it reports, in
    /// order, until it breaks. `to_failure` makes an event of a file that could not be read. Skips files that are not
    /// sessions.
    pub(crate) fn stream<Event: Send>(
        &self,
        candidates: &[Candidate],
        read: impl Fn(&Candidate, &mut Report<'_, Event>) -> Result<ControlFlow<()>, SessionError>
        + Sync,
        to_failure: impl Fn(PathBuf, SessionError) -> Event + Sync,
        visit: &mut Report<'_, Event>,
    ) {
        self.prepare(candidates);
        let work = |candidate: &Candidate, report: &mut Report<'_, Event>| {
            let outcome = read(candidate, report);
            self.examined.fetch_add(1, Ordering::Relaxed);
            match outcome {
                Ok(flow) => flow,
                Err(SessionError::Unknown(_)) => ControlFlow::Continue(()),
                Err(error) => report(to_failure(candidate.path.clone(), error)),
            }
        };
        stream_in_order(candidates, self.jobs.get(), &work, visit);
    }

    /// Whether the list is complete before `next`, because no remaining session was active later than its
    /// file was changed. If a session was active after the newest change, this does not hold.
    fn truncate_if_complete(
        &self,
        listed: &mut Sessions,
        next: &Candidate,
        newest: Option<SystemTime>,
    ) -> bool {
        let Some(limit) = self.selection.limit else {
            return false;
        };
        // Subagents that are sessions of their own start after the session that they are counted for.
        let may_have_started = |session: &ListedSession| {
            session.agent.format().layout.has_subagent_sessions()
                && session
                    .facts
                    .started
                    .is_none_or(|started| started <= timestamp(next.changed))
        };
        if listed
            .iter()
            .take(limit.get())
            .any(|session| may_have_started(session))
        {
            return false;
        }
        sort_by_activity(listed);
        listed.truncate(limit.get());
        let ends = listed.first().zip(listed.get(limit.get() - 1));
        ends.is_some_and(|(first, last)| {
            newest.is_some_and(|newest| first.facts.last_activity_or_min() <= timestamp(newest))
                && last.facts.last_activity_or_min() >= timestamp(next.changed)
        })
    }

    /// Reads the session in a file, also of a subagent. Returns `None` if it is filtered out.
    fn read_candidate(&self, candidate: &Candidate, names: &NameIndexes) -> Examined {
        if !self.selection.admits_file(candidate) {
            return Ok(None);
        }
        let (path, context) = (&candidate.path, candidate.context);
        let mut session = match self.depth {
            Depth::Ends if self.selection.changed.is_none() => {
                Session::open_for_list(path, &self.selection.named_roots)?
            }
            Depth::Ends | Depth::Whole => Session::open_with(path, &self.selection.named_roots)?,
        };
        session.may_have_side_file = context.has_side_file;
        self.describe(&session, context, names)
    }

    /// Whether a session is selected if it is a subagent's.
    fn admits_subagent(&self, session: &ListedSession, context: DirContext) -> bool {
        !session.facts.is_subagent || context.is_named || self.selection.with_subagents
    }

    /// Replaces the counts of a session with several files by those of all of them.
    fn count_files(&self, listed: &mut ListedSession) {
        if listed.counts.is_none() || listed.others.is_empty() && listed.started.is_empty() {
            return;
        }
        if let Ok(mut session) = Session::open_with(&listed.path, &self.selection.named_roots) {
            session.others.clone_from(&listed.others);
            session.started.clone_from(&listed.started);
            // If the file is gone, the counts are as of the first reading.
            if let Ok((_, counts)) = session.read_priced_facts(self.mapping, self.prices.as_ref()) {
                listed.counts = Some(counts);
            }
        }
    }

    /// Opens a candidate, unless its time or its agent is filtered out.
    pub(crate) fn open(&self, candidate: &Candidate) -> Result<Option<Session>, SessionError> {
        if !self.selection.admits_file(candidate) {
            return Ok(None);
        }
        let session = Session::open_with(&candidate.path, &self.selection.named_roots)?;
        let is_admitted = self
            .selection
            .admits_agent(session.agent(), &candidate.path);
        Ok(is_admitted.then_some(session))
    }

    /// Reads an open session. Returns `None` if it is filtered out.
    pub(crate) fn examine(
        &self,
        session: &Session,
        context: DirContext,
        names: &NameIndexes,
    ) -> Examined {
        let described = self.describe(session, context, names)?;
        Ok(described.filter(|listed| self.admits_subagent(listed, context)))
    }

    fn describe(&self, session: &Session, context: DirContext, names: &NameIndexes) -> Examined {
        let agent = session.agent();
        if !self.selection.admits_agent(agent, &session.file.path) {
            return Ok(None);
        }
        let (mut facts, counts) = match self.depth {
            Depth::Ends => (session.read_file_summary(self.mapping)?, None),
            Depth::Whole => {
                let (facts, counts) =
                    session.read_priced_facts(self.mapping, self.prices.as_ref())?;
                (facts, Some(counts))
            }
        };
        names.apply(session.format(), &session.file.path, &mut facts);
        let path = &session.file.path;
        let files = if context.has_subagents {
            subagent_files(path, agent).len() as u64
        } else {
            0
        };
        let subagents = files + session.count_lines(agent.format().layout.subagent_words())?;
        let listed = Box::new(ListedSession {
            path: path.clone(),
            agent,
            homes: self
                .selection
                .named_roots
                .find_home(path)
                .into_iter()
                .collect(),
            size: context.stored_size.unwrap_or(session.file.size),
            subagents,
            facts,
            counts,
            is_stream: session.format().is_stream(),
            others: Vec::new(),
            started: Vec::new(),
            state: None,
        });
        let is_admitted = self.selection.admits(&listed.facts)
            && match &self.selection.changed {
                Some(path) => session.has_changed(path, listed.facts.cwd.as_deref())?,
                None => true,
            };
        Ok(is_admitted.then_some(listed))
    }
}

/// Files that could not be read.
pub type Failures = Vec<(PathBuf, SessionError)>;

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
