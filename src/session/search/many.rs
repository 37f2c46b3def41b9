//! Searches many sessions in parallel and returns hits in the order of the sessions.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Builder;

use super::needles::Query;
use super::run::Found;
use crate::session::discover::Candidate;
use crate::session::listing::{Listed, Listing};
use crate::session::name_indexes::NameIndexes;
use crate::session::open::SessionError;
use crate::session::session::Session;

/// Maximum number of queued hits per thread.
const MAX_QUEUED: usize = 64;

/// An event of a search.
#[derive(Debug)]
pub enum SearchEvent {
    /// The next hits are in this session.
    Session(Box<Listed>),
    /// A hit.
    Found(Box<Found>),
    /// Some lines of the last session were too long to parse.
    TooLong {
        /// The file.
        path: PathBuf,
        /// Their number.
        lines: u64,
    },
    /// A file could not be read.
    Failed {
        /// The file.
        path: PathBuf,
        /// The error.
        error: SessionError,
    },
}

/// Maximum number of hits of a session that wait until all of it was searched.
const MAX_HELD: usize = 1024;

/// Gets the events, until it breaks.
type Report<'a> = dyn FnMut(SearchEvent) -> ControlFlow<()> + 'a;

/// An event, or the end of a session.
type Sent = Option<SearchEvent>;

/// Searches the sessions among `candidates` that `listing` admits, in order, until `visit` breaks.
/// Skips files that are not sessions.
pub fn search_all(
    candidates: &[Candidate],
    listing: &Listing,
    query: &Query,
    visit: &mut Report<'_>,
) {
    let names = NameIndexes::default();
    let jobs = listing.jobs.get().min(candidates.len());
    std::thread::scope(|scope| {
        // Where no thread can be started, there is none for a lane.
        let lanes: Vec<Option<Receiver<Sent>>> = (0..jobs)
            .map(|lane| {
                let (sender, receiver) = sync_channel(MAX_QUEUED);
                let names = &names;
                let work = move || {
                    let send = |event| match sender.send(event) {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    };
                    for candidate in candidates.iter().skip(lane).step_by(jobs) {
                        let mut report = |event| send(Some(event));
                        if search(candidate, listing, query, names, &mut report).is_break()
                            || send(None).is_break()
                        {
                            return;
                        }
                    }
                };
                let started = Builder::new().spawn_scoped(scope, work);
                started.ok().map(|_| receiver)
            })
            .collect();
        // When this returns, the receivers are dropped, which ends the threads.
        for (candidate, lane) in candidates.iter().zip(lanes.iter().cycle()) {
            let Some(lane) = lane else {
                if search(candidate, listing, query, &names, visit).is_break() {
                    return;
                }
                continue;
            };
            while let Ok(Some(event)) = lane.recv() {
                if visit(event).is_break() {
                    return;
                }
            }
        }
    });
}

/// Searches one session until `report` breaks.
fn search(
    candidate: &Candidate,
    listing: &Listing,
    query: &Query,
    names: &NameIndexes,
    report: &mut Report<'_>,
) -> ControlFlow<()> {
    let path = candidate.path.clone();
    let found = found_in(candidate, listing, query, names, report);
    listing.examined.fetch_add(1, Ordering::Relaxed);
    match found {
        Ok(0) | Err(SessionError::Unknown) => ControlFlow::Continue(()),
        Ok(lines) => report(SearchEvent::TooLong { path, lines }),
        Err(error) => report(SearchEvent::Failed { path, error }),
    }
}

/// Reports what is found in one session. Returns the number of lines that were too long to parse.
///
/// The session's facts are only read once there is a hit, and if possible once all of the file was
/// searched: then it is known whether a title is in it.
fn found_in(
    candidate: &Candidate,
    listing: &Listing,
    query: &Query,
    names: &NameIndexes,
    report: &mut Report<'_>,
) -> Result<u64, SessionError> {
    let Some(mut session) = listing.open(candidate)? else {
        return Ok(0);
    };
    let mut failure = None;
    let mut begin = |session: &Session, hits: Vec<Found>, report: &mut Report<'_>| {
        match listing.examine(session, candidate.context, names) {
            Ok(Some(listed)) => report(SearchEvent::Session(listed))?,
            Ok(None) => return ControlFlow::Break(()),
            Err(error) => {
                failure = Some(error);
                return ControlFlow::Break(());
            }
        }
        let mut hits = hits.into_iter();
        hits.try_for_each(|hit| report(SearchEvent::Found(Box::new(hit))))
    };
    let mut held = Some(Vec::new());
    let searched = session.search(query, &mut |found| {
        if let Some(hits) = &mut held {
            hits.push(found);
            if hits.len() < MAX_HELD {
                return ControlFlow::Continue(());
            }
            return begin(&session, held.take().unwrap_or_default(), report);
        }
        report(SearchEvent::Found(Box::new(found)))
    });
    session.holds_no_title = searched
        .as_ref()
        .is_ok_and(|searched| searched.holds_no_title);
    if let Some(hits) = held.filter(|hits| !hits.is_empty()) {
        // A caller that wants no more hits ends the search at the next event.
        let _ = begin(&session, hits, report);
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(searched?.too_long),
    }
}
