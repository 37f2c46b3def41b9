//! Searches many sessions in parallel and returns hits in the order of the sessions.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::query::Query;
use super::run::Found;
use crate::session::codex_index::ThreadNames;
use crate::session::listing::{Listed, Listing};
use crate::session::{Candidate, SessionError};

/// How many hits of a thread may be queued.
const WAITING: usize = 64;

/// What a search reports.
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
        /// How many.
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

/// An event, or the end of a session.
type Sent = Option<SearchEvent>;

/// Searches the sessions among `candidates` that `listing` admits, in order, until `visit` breaks.
/// Skips files that are not sessions.
pub fn search_all(
    candidates: &[Candidate],
    listing: &Listing,
    query: &Query,
    visit: &mut dyn FnMut(SearchEvent) -> ControlFlow<()>,
) {
    let names = ThreadNames::default();
    let jobs = listing.jobs.get().min(candidates.len());
    std::thread::scope(|scope| {
        let lanes: Vec<Receiver<Sent>> = (0..jobs)
            .map(|lane| {
                let (sender, receiver) = sync_channel(WAITING);
                let names = &names;
                scope.spawn(move || {
                    for candidate in candidates.iter().skip(lane).step_by(jobs) {
                        let look = Look {
                            listing,
                            query,
                            names,
                            sender: &sender,
                        };
                        if look.search(candidate).is_break() || sender.send(None).is_err() {
                            return;
                        }
                    }
                });
                receiver
            })
            .collect();
        // When this returns, the receivers are dropped, which ends the threads.
        for (_, lane) in candidates.iter().zip(lanes.iter().cycle()) {
            while let Ok(Some(event)) = lane.recv() {
                if visit(event).is_break() {
                    return;
                }
            }
        }
    });
}

/// The search of one session.
struct Look<'a> {
    listing: &'a Listing,
    query: &'a Query,
    names: &'a ThreadNames,
    sender: &'a SyncSender<Sent>,
}

impl Look<'_> {
    /// Breaks when the receiver is dropped.
    fn search(&self, candidate: &Candidate) -> ControlFlow<()> {
        match self.found_in(candidate) {
            Ok(0) | Err(SessionError::Unknown) => ControlFlow::Continue(()),
            Ok(lines) => self.send(SearchEvent::TooLong {
                path: candidate.path.clone(),
                lines,
            }),
            Err(error) => self.send(SearchEvent::Failed {
                path: candidate.path.clone(),
                error,
            }),
        }
    }

    /// The session's facts are only read once there is a hit in it.
    fn found_in(&self, candidate: &Candidate) -> Result<u64, SessionError> {
        let Some(session) = self.listing.open(candidate)? else {
            return Ok(0);
        };
        let mut is_reported = false;
        let mut failure = None;
        let too_long = session.search(self.query, &mut |found| {
            if !is_reported {
                let listing = self.listing;
                match listing.examine(&session, candidate.context, self.names) {
                    Ok(Some(listed)) => self.send(SearchEvent::Session(listed))?,
                    Ok(None) => return ControlFlow::Break(()),
                    Err(error) => {
                        failure = Some(error);
                        return ControlFlow::Break(());
                    }
                }
                is_reported = true;
            }
            self.send(SearchEvent::Found(Box::new(found)))
        })?;
        failure.map_or(Ok(too_long), Err)
    }

    fn send(&self, event: SearchEvent) -> ControlFlow<()> {
        match self.sender.send(Some(event)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}
