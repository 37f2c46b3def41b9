//! Lists sessions with their facts, filtered, most recently active first: as values, or formatted.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use jiff::Timestamp;

use super::dirs::DirContext;
use super::discover::{Candidate, Found, subagent_files};
use super::each::each;
use super::name_index::NameIndexes;
use super::open::SessionError;
use super::prices::Prices;
use super::session::Session;
use crate::agent::{Agent, Facts, project_hash};
use crate::jsonl::Mapping;
use crate::records::SessionCounts;

/// How many files to read at least between checks whether there are enough.
const STEP: usize = 64;

/// How much to read of each session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The two ends of the file.
    Ends,
    /// The whole file, with counts.
    Whole,
}

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Active at or after this time.
    pub since: Option<Timestamp>,
    /// Last active before this time.
    pub before: Option<Timestamp>,
    /// Started in this directory or below it.
    pub cwd: Option<PathBuf>,
    /// Written by this agent.
    pub agent: Option<Agent>,
    /// Without a title.
    pub untitled: bool,
    /// With this text in the title, or in the first prompt if there is none, in any case.
    pub title: Option<String>,
    /// With this text in the last branch.
    pub branch: Option<String>,
    /// With this text in the last model.
    pub model: Option<String>,
    /// With this text in the first directory.
    pub project: Option<String>,
    /// At most this many.
    pub limit: Option<NonZeroUsize>,
}

/// The result for one file. `None` if it is filtered out.
type Examined = Result<Option<Box<Listed>>, SessionError>;

/// How to list sessions.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Which sessions to list.
    pub filter: Filter,
    /// How much to read of each.
    pub depth: Depth,
    /// What requests cost, for [`Depth::Whole`].
    pub prices: Option<Prices>,
    /// Whether files may be memory-mapped.
    pub mapping: Mapping,
    /// The number of threads. Each reads one file at a time.
    pub jobs: NonZeroUsize,
    /// How many files were examined. Grows meanwhile.
    pub examined: Arc<AtomicU64>,
}

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
}

/// The sessions of a list. They are boxed because sorting moves them, and each is half a kilobyte.
pub type Sessions = Vec<Box<Listed>>;

/// Lists the sessions among `candidates` (most recently changed first), most recently active first,
/// with the files that could not be read. Skips files that are not sessions.
pub fn list(
    candidates: &[Candidate],
    listing: &Listing,
) -> (Sessions, Vec<(PathBuf, SessionError)>) {
    let names = NameIndexes::default();
    let mut listed = Sessions::new();
    let mut failed = Vec::new();
    let mut rest = candidates;
    while let Some(next) = rest.first() {
        if listing.is_enough(&mut listed, next) {
            break;
        }
        let read = candidates.len() - rest.len();
        let step = listing
            .filter
            .limit
            .map_or(rest.len(), |limit| step(read, limit));
        let (now, later) = rest.split_at(step.min(rest.len()));
        let (mut looked, _) = each(
            now,
            listing.jobs,
            &listing.examined,
            &|candidate, (): &mut ()| {
                if candidate.size == 0 {
                    return Ok(None);
                }
                listing.look(&candidate.path, candidate.context, &names)
            },
        );
        looked.sort_by_key(|looked| looked.item);
        for looked in looked {
            match looked.output {
                Ok(Some(session)) => listed.push(session),
                Ok(None) | Err(SessionError::Unknown) => {}
                Err(error) => failed.push((now[looked.item].path.clone(), error)),
            }
        }
        rest = later;
    }
    sort(&mut listed);
    if let Some(limit) = listing.filter.limit {
        listed.truncate(limit.get());
    }
    (listed, failed)
}

/// How many files to read next, after this many. The most recently changed files are usually the
/// most recently active, and enough. If not, steps double, so that checks take little time.
fn step(read: usize, limit: NonZeroUsize) -> usize {
    match read {
        0 => limit.get(),
        read => read.max(STEP),
    }
}

/// Most recently active first, then by path. Paths are compared as bytes, because comparing them by
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
    /// Whether the list is complete before `next`. No session was active later than its file was
    /// changed.
    fn is_enough(&self, listed: &mut Sessions, next: &Candidate) -> bool {
        let changed = timestamp(next.modified);
        if self.filter.since.is_some_and(|since| changed < since) {
            return true;
        }
        let Some(limit) = self.filter.limit else {
            return false;
        };
        sort(listed);
        listed.truncate(limit.get());
        listed
            .get(limit.get() - 1)
            .is_some_and(|last| last.facts.activity() >= changed)
    }

    /// Reads the session in a file. Returns `None` if it is filtered out.
    fn look(&self, path: &Path, context: DirContext, names: &NameIndexes) -> Examined {
        let mut session = match self.depth {
            Depth::Ends => Session::open_for_list(path)?,
            Depth::Whole => Session::open(path)?,
        };
        session.may_have_side_file = context.side_file;
        self.examine(&session, context, names)
    }

    /// Opens a candidate, unless its time or its agent is filtered out.
    pub(super) fn open(&self, candidate: &Candidate) -> Result<Option<Session>, SessionError> {
        let changed = timestamp(candidate.modified);
        let is_too_old = self.filter.since.is_some_and(|since| changed < since);
        if candidate.size == 0 || is_too_old {
            return Ok(None);
        }
        let session = Session::open(&candidate.path)?;
        Ok(self.admits_agent(session.agent()).then_some(session))
    }

    fn admits_agent(&self, agent: Agent) -> bool {
        self.filter.agent.is_none_or(|wanted| wanted == agent)
    }

    /// Reads an open session. Returns `None` if it is filtered out.
    pub(super) fn examine(
        &self,
        session: &Session,
        context: DirContext,
        names: &NameIndexes,
    ) -> Examined {
        let agent = session.agent();
        if !self.admits_agent(agent) {
            return Ok(None);
        }
        let (mut facts, counts) = match self.depth {
            Depth::Ends => (session.summary_of_file(self.mapping)?, None),
            Depth::Whole => {
                let (facts, counts) = session.priced_facts(self.mapping, self.prices.as_ref())?;
                (facts, Some(counts))
            }
        };
        if facts.is_subagent && !context.is_named {
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
            size: session.file.size,
            subagents,
            facts,
            counts,
        });
        Ok(self.filter.admits(&listed.facts).then_some(listed))
    }
}

impl Filter {
    pub(super) fn admits(&self, facts: &Facts) -> bool {
        let active = facts.activity();
        let is_in_time = self.since.is_none_or(|since| active >= since)
            && self.before.is_none_or(|before| active < before);
        let is_there = self.cwd.as_ref().is_none_or(|wanted| {
            let named = facts.first_cwd.iter().chain(&facts.cwd);
            let is_below = |cwd: &String| Path::new(cwd).starts_with(wanted);
            // A hash matches the directory itself only, not its parents.
            let is_hashed = facts.first_cwd.is_none()
                && facts.cwd_hash.is_some()
                && facts.cwd_hash == Some(project_hash(wanted));
            named.into_iter().any(is_below) || is_hashed
        });
        let title = facts.title.as_ref().map(|title| &title.text);
        is_in_time
            && is_there
            && !(self.untitled && facts.title.is_some())
            && contains(title.or(facts.first_prompt.as_ref()), self.title.as_ref())
            && contains(facts.branch.as_ref(), self.branch.as_ref())
            && contains(facts.model.as_ref(), self.model.as_ref())
            && contains(facts.first_cwd.as_ref(), self.project.as_ref())
    }
}

/// Whether the text is in it, in any case, if one is wanted.
fn contains(text: Option<&String>, wanted: Option<&String>) -> bool {
    wanted.is_none_or(|wanted| {
        text.is_some_and(|text| text.to_lowercase().contains(&wanted.to_lowercase()))
    })
}

fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::try_from(time).unwrap_or(Timestamp::MAX)
}

/// Appends one session to a buffer.
pub type WriteListed<'a, Failure> = dyn Fn(Listed, &mut Vec<u8>) -> Result<(), Failure> + Sync + 'a;

/// Lists the sessions among `files`, formatted by `write`, with the files that could not be read.
/// Ignores the limit of the filter.
///
/// Each session is formatted by the thread that read it. Keeping thousands of them in memory to
/// format them later takes longer than formatting.
///
/// # Errors
/// The first error of `write`.
pub fn list_as_text<Failure: Send>(
    files: &[Found],
    listing: &Listing,
    write: &WriteListed<'_, Failure>,
) -> Result<(Texts, Vec<(PathBuf, SessionError)>), Failure> {
    let names = NameIndexes::default();
    let (looked, texts) = each(files, listing.jobs, &listing.examined, &|file,
                                                                         text: &mut Vec<
        u8,
    >| {
        let looked = listing.look(&file.path, file.context, &names);
        looked.map(|session| {
            session.map(|session| {
                let (activity, start) = (session.facts.activity(), text.len());
                write(*session, text).map(|()| (activity, start..text.len()))
            })
        })
    });
    let mut places = Vec::new();
    let mut failed = Vec::new();
    for looked in looked {
        let path = files[looked.item].path.as_path();
        match looked.output {
            Ok(Some(written)) => {
                let (activity, place) = written?;
                places.push((activity, path, (looked.worker, place)));
            }
            Ok(None) | Err(SessionError::Unknown) => {}
            Err(error) => failed.push((path.to_owned(), error)),
        }
    }
    failed.sort_by(|(one, _), (other, _)| one.cmp(other));
    places.sort_unstable_by(|(one, one_path, _), (other, other_path, _)| {
        in_order((*one, one_path), (*other, other_path))
    });
    let places = places.into_iter().map(|(_, _, place)| place).collect();
    Ok((Texts { texts, places }, failed))
}

/// Formatted sessions, most recently active first.
#[derive(Debug)]
pub struct Texts {
    /// The buffer of each thread.
    texts: Vec<Vec<u8>>,
    /// The thread and the range in its buffer.
    places: Vec<(usize, Range<usize>)>,
}

impl Texts {
    /// The texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let text = |(worker, place): &(usize, Range<usize>)| &self.texts[*worker][place.clone()];
        self.places.iter().map(text)
    }
}

#[cfg(test)]
#[path = "listing_tests.rs"]
mod tests;
