//! Lists sessions with their facts, most recently active first: as values, or formatted.

use std::convert::Infallible;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use jiff::Timestamp;

use super::dirs::DirContext;
use super::discover::{Candidate, subagent_files};
use super::open::SessionError;
use super::parallel::{each_in_order, stream_in_order};
use super::prices::Prices;
use super::selection::{Selection, timestamp};
use super::session::Session;
use super::title::NameIndexes;
use crate::agent::{Agent, Facts};
use crate::jsonl::{Mapping, WriteError, append_record};
use crate::records::{SessionActivity, SessionCounts};

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
type Examined = Result<Option<Box<Listed>>, SessionError>;

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
    pub fn of_all(&self) -> Self {
        let mut all = self.clone();
        all.selection = Selection::default();
        all.selection
            .named_roots
            .clone_from(&self.selection.named_roots);
        all
    }
}

/// Receives events until it breaks.
pub(super) type Report<'a, Event> = dyn FnMut(Event) -> ControlFlow<()> + 'a;

/// A session in the list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its path.
    pub path: PathBuf,
    /// The agent that wrote it.
    pub agent: Agent,
    /// The size in bytes.
    pub size: u64,
    /// Its facts.
    pub facts: Facts,
    /// Its counts, with [`Depth::Whole`].
    pub counts: Option<SessionCounts>,
    /// The number of its subagent files.
    pub subagents: u64,
    /// Its state, once it was inferred.
    pub state: Option<Box<InferredState>>,
}

impl Listed {
    /// Returns its record as a line.
    ///
    /// # Errors
    /// The record cannot be serialized.
    pub fn serialized(self: Box<Self>) -> Result<Vec<u8>, WriteError> {
        let mut line = Vec::new();
        append_record(&mut line, &self.into_record())?;
        Ok(line)
    }
}

/// The inferred state of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InferredState {
    /// The state.
    pub state: SessionActivity,
    /// The reason: the end of the file.
    pub reason: String,
    /// The process of the agent.
    pub pid: Option<i32>,
}

/// The sessions of a list. They are boxed because sorting moves them, and each is half a kilobyte.
pub type Sessions = Vec<Box<Listed>>;

/// Lists the selected sessions among `candidates`, most recently active first, and the files that could
/// not be read. Skips files that are not sessions.
pub fn list(candidates: &[Candidate], listing: &Listing) -> (Sessions, Failures) {
    let (listed, failed) = list_files(candidates, listing);
    (listed, unreadable(failed))
}

/// Like [`list`], with the files that are not sessions among the failures.
pub(super) fn list_files(candidates: &[Candidate], listing: &Listing) -> (Sessions, Failures) {
    let names = NameIndexes::default();
    let mut listed = Sessions::new();
    let mut failed = Failures::new();
    let mut order: Vec<&Candidate> = candidates.iter().collect();
    if listing.selection.limit.is_some() {
        // The last changed files are usually the most recently active ones, and usually suffice.
        order.sort_by_key(|candidate| std::cmp::Reverse(candidate.changed));
    }
    let newest = order.iter().map(|candidate| candidate.changed).max();
    let mut rest = order.as_slice();
    while let Some(next) = rest.first() {
        if listing.is_enough(&mut listed, next, newest) {
            break;
        }
        let read = candidates.len() - rest.len();
        let limit = listing.selection.limit;
        let step = limit.map_or(rest.len(), |limit| step(read, limit));
        let (now, later) = rest.split_at(step.min(rest.len()));
        let look = |candidate: &Candidate| {
            if listing.selection.admits_file(candidate) {
                listing.look(&candidate.path, candidate.context, &names)
            } else {
                Ok(None)
            }
        };
        failed.extend(listing.each(now, look, |_, session| listed.push(session)));
        rest = later;
    }
    sort(&mut listed);
    if let Some(limit) = listing.selection.limit {
        listed.truncate(limit.get());
    }
    (listed, failed)
}

/// Returns the failures without files that are not sessions.
pub(super) fn unreadable(mut failed: Failures) -> Failures {
    failed.retain(|(_, error)| !matches!(error, SessionError::Unknown(_)));
    failed
}

/// Returns the number of files to read next, after this many. Steps double, so that checks take little time.
fn step(read: usize, limit: NonZeroUsize) -> usize {
    match read {
        0 => limit.get(),
        read => read.max(MIN_STEP),
    }
}

/// Compares sessions: most recently active first, then by path. Paths are compared as bytes, because comparing them by
/// component takes as long as reading the files.
fn in_order(one: (Timestamp, &Path), other: (Timestamp, &Path)) -> std::cmp::Ordering {
    let newest_first = other.0.cmp(&one.0);
    newest_first.then_with(|| one.1.as_os_str().cmp(other.1.as_os_str()))
}

fn sort(listed: &mut [Box<Listed>]) {
    listed.sort_by(|one, other| {
        in_order(
            (one.facts.activity(), &one.path),
            (other.facts.activity(), &other.path),
        )
    });
}

impl Listing {
    /// Calls `look` for each of `candidates`, on several threads, and `take` with the index and the outcome of each
    /// that is not filtered out, in order. Returns the failures.
    pub(super) fn each<Outcome: Send>(
        &self,
        candidates: &[&Candidate],
        look: impl Fn(&Candidate) -> Result<Option<Outcome>, SessionError> + Sync,
        mut take: impl FnMut(usize, Outcome),
    ) -> Failures {
        let look = |candidate: &&Candidate| {
            let looked = look(candidate);
            self.examined.fetch_add(1, Ordering::Relaxed);
            looked
        };
        let mut failed = Failures::new();
        let Ok(()) = each_in_order(candidates, self.jobs.get(), look, |at, looked| {
            match looked {
                Ok(Some(outcome)) => take(at, outcome),
                Ok(None) => {}
                Err(error) => failed.push((candidates[at].path.clone(), error)),
            }
            Ok::<(), Infallible>(())
        });
        failed
    }

    /// Calls `read` with each of `candidates`, on several threads, and `visit` with the events that it reports, in
    /// order, until it breaks. `failed` makes an event of a file that could not be read. Skips files that are not
    /// sessions.
    pub(super) fn stream<Event: Send>(
        &self,
        candidates: &[Candidate],
        read: impl Fn(&Candidate, &mut Report<'_, Event>) -> Result<ControlFlow<()>, SessionError>
        + Sync,
        failed: impl Fn(PathBuf, SessionError) -> Event + Sync,
        visit: &mut Report<'_, Event>,
    ) {
        let work = |candidate: &Candidate, report: &mut Report<'_, Event>| {
            let outcome = read(candidate, report);
            self.examined.fetch_add(1, Ordering::Relaxed);
            match outcome {
                Ok(flow) => flow,
                Err(SessionError::Unknown(_)) => ControlFlow::Continue(()),
                Err(error) => report(failed(candidate.path.clone(), error)),
            }
        };
        stream_in_order(candidates, self.jobs.get(), &work, visit);
    }

    /// Whether the list is complete before `next`, because no remaining session was active later than its
    /// file was changed. If a session was active after the newest change, this does not hold.
    fn is_enough(
        &self,
        listed: &mut Sessions,
        next: &Candidate,
        newest: Option<SystemTime>,
    ) -> bool {
        let Some(limit) = self.selection.limit else {
            return false;
        };
        sort(listed);
        listed.truncate(limit.get());
        let ends = listed.first().zip(listed.get(limit.get() - 1));
        ends.is_some_and(|(first, last)| {
            newest.is_some_and(|newest| first.facts.activity() <= timestamp(newest))
                && last.facts.activity() >= timestamp(next.changed)
        })
    }

    /// Reads the session in a file. Returns `None` if it is filtered out.
    fn look(&self, path: &Path, context: DirContext, names: &NameIndexes) -> Examined {
        let mut session = match self.depth {
            Depth::Ends if self.selection.changed.is_none() => {
                Session::open_for_list(path, &self.selection.named_roots)?
            }
            Depth::Ends | Depth::Whole => Session::open_with(path, &self.selection.named_roots)?,
        };
        session.may_have_side_file = context.side_file;
        self.examine(&session, context, names)
    }

    /// Opens a candidate, unless its time or its agent is filtered out.
    pub(super) fn open(&self, candidate: &Candidate) -> Result<Option<Session>, SessionError> {
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
    pub(super) fn examine(
        &self,
        session: &Session,
        context: DirContext,
        names: &NameIndexes,
    ) -> Examined {
        let agent = session.agent();
        if !self.selection.admits_agent(agent, &session.file.path) {
            return Ok(None);
        }
        let (mut facts, counts) = match self.depth {
            Depth::Ends => (session.summary_of_file(self.mapping)?, None),
            Depth::Whole => {
                let (facts, counts) = session.priced_facts(self.mapping, self.prices.as_ref())?;
                (facts, Some(counts))
            }
        };
        if facts.is_subagent && !context.is_named && !self.selection.with_subagents {
            return Ok(None);
        }
        names.apply(session.format(), &session.file.path, &mut facts);
        let path = &session.file.path;
        let subagents = if context.subagents {
            subagent_files(path, agent).len() as u64
        } else {
            0
        };
        let listed = Box::new(Listed {
            path: path.clone(),
            agent,
            size: context.stored_size.unwrap_or(session.file.size),
            subagents,
            facts,
            counts,
            state: None,
        });
        let is_admitted = self.selection.admits(&listed.facts)
            && match &self.selection.changed {
                Some(path) => session.changed(path, listed.facts.cwd.as_deref())?,
                None => true,
            };
        Ok(is_admitted.then_some(listed))
    }
}

/// Files that could not be read.
pub type Failures = Vec<(PathBuf, SessionError)>;

/// Lists the records of the selected sessions among `files`, one per line, and the files that could not be read.
/// Ignores the limit of the selection.
///
/// Each session is formatted by the thread that read it. Keeping thousands of them in memory to
/// format them later takes longer than formatting.
///
/// # Errors
/// A record cannot be serialized.
pub fn list_as_records(
    files: &[Candidate],
    listing: &Listing,
) -> Result<(Vec<Vec<u8>>, Failures), WriteError> {
    let names = NameIndexes::default();
    let files: Vec<&Candidate> = files.iter().collect();
    let look = |file: &Candidate| {
        let session = listing.look(&file.path, file.context, &names)?;
        Ok(session.map(|session| (session.facts.activity(), session.serialized())))
    };
    let mut listed = Vec::new();
    let failed = listing.each(&files, look, |at, (activity, text)| {
        listed.push((activity, files[at].path.as_path(), text));
    });
    let mut failed = unreadable(failed);
    failed.sort_by(|(one, _), (other, _)| one.cmp(other));
    listed.sort_unstable_by(|(one, one_path, _), (other, other_path, _)| {
        in_order((*one, one_path), (*other, other_path))
    });
    let texts: Result<Vec<_>, _> = listed.into_iter().map(|(_, _, text)| text).collect();
    Ok((texts?, failed))
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
