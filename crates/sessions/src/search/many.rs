//! Searches many sessions in parallel and returns hits in the order of the sessions, with the sessions that started
//! subagents.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::needles::Query;
use super::run::SearchHit;
use crate::files::discover::Candidate;
use crate::files::distinct::Key;
use crate::files::listed::ListedSession;
use crate::files::open::SessionError;
use crate::list::listing::{Listing, Report};
use crate::list::parts::split_ids;
use crate::read::session::Session;
use crate::read::title::NameIndexes;
use turnpipe_core::jsonl::Mapping;
use turnpipe_core::message::{SessionId, Thread};
use turnpipe_formats::agent::NamedRoots;
use turnpipe_formats::records::{HitBlock, SessionDescription, SessionHitRecord};

/// An event of a search.
#[derive(Debug)]
pub enum SearchEvent {
    /// The session of the hits that follow.
    Session(Box<ListedSession>),
    /// A hit.
    Found(Box<SearchHit>),
    /// Some lines of the last session were too long to parse.
    TooLong {
        /// The file.
        path: PathBuf,
        /// The number of these lines.
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

/// Maximum number of hits of a session that are held until the whole session was searched.
const MAX_HELD: usize = 1024;

/// Passes on the events session by session, without copies of hits in earlier sessions.
struct CopyFilter<'a, 'b> {
    visit: &'a mut Report<'b, SearchEvent>,
    /// The session of each record with a hit.
    seen: HashMap<Key, usize>,
    sessions: usize,
    /// The current session, until it has a hit.
    session: Option<SearchEvent>,
}

impl CopyFilter<'_, '_> {
    fn pass(&mut self, event: SearchEvent) -> ControlFlow<()> {
        match &event {
            SearchEvent::Session(_) => {
                self.sessions += 1;
                self.session = Some(event);
                return ControlFlow::Continue(());
            }
            SearchEvent::Found(found) => {
                let session = self.sessions;
                let record = found.to_record_key().map(|record| Key::from_id(&record));
                let first = record.map(|record| *self.seen.entry(record).or_insert(session));
                if first.is_some_and(|first| first != session) {
                    return ControlFlow::Continue(());
                }
            }
            SearchEvent::TooLong { .. } | SearchEvent::Failed { .. } => {}
        }
        if let Some(session) = self
            .session
            .take_if(|_| matches!(event, SearchEvent::Found(_)))
        {
            (self.visit)(session)?;
        }
        (self.visit)(event)
    }
}

/// Searches the sessions among `candidates` that `listing` admits, in order, until `visit` breaks.
/// Skips files that are not sessions.
pub fn search_all(
    candidates: &[Candidate],
    listing: &Listing,
    query: &Query,
    visit: &mut Report<'_, SearchEvent>,
) {
    if query.without_copies {
        let mut filter = CopyFilter {
            visit,
            seen: HashMap::new(),
            sessions: 0,
            session: None,
        };
        search_files(candidates, listing, query, &mut |event| filter.pass(event));
    } else {
        search_files(candidates, listing, query, visit);
    }
}

fn search_files(
    candidates: &[Candidate],
    listing: &Listing,
    query: &Query,
    visit: &mut Report<'_, SearchEvent>,
) {
    let names = NameIndexes::default();
    let read = |candidate: &Candidate, report: &mut Report<'_, SearchEvent>| {
        let path = candidate.path.clone();
        Ok(
            match search_candidate(candidate, listing, query, &names, report)? {
                0 => ControlFlow::Continue(()),
                lines => report(SearchEvent::TooLong { path, lines }),
            },
        )
    };
    let to_failure = |path, error| SearchEvent::Failed { path, error };
    listing.stream(candidates, read, to_failure, visit);
}

/// Reports the hits in one session. Returns the number of lines that were too long to parse.
///
/// The session's facts are read only after a hit, and if possible after the whole file was
/// searched: then it is known whether it contains a title.
fn search_candidate(
    candidate: &Candidate,
    listing: &Listing,
    query: &Query,
    names: &NameIndexes,
    report: &mut Report<'_, SearchEvent>,
) -> Result<u64, SessionError> {
    let Some(mut session) = listing.open(candidate)? else {
        return Ok(0);
    };
    let mut failure = None;
    let mut report_session =
        |session: &Session, hits: Vec<SearchHit>, report: &mut Report<'_, SearchEvent>| {
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
    let mut hits = Vec::new();
    if query.places.contains(&HitBlock::Title)
        && query.roles.is_empty()
        && let Some(listed) = listing.examine(&session, candidate.context, names)?
        && let Some(title) = &listed.facts.title
    {
        hits.extend(SearchHit::from_title(query, &title.text));
    }
    let mut remaining = query.max_hits.map_or(usize::MAX, NonZeroUsize::get) - hits.len();
    let mut held = Some(hits);
    let searched = session.search(query, &mut |found| {
        if remaining == 0 {
            return ControlFlow::Break(());
        }
        remaining -= 1;
        if let Some(hits) = &mut held {
            hits.push(found);
            if hits.len() < MAX_HELD {
                return ControlFlow::Continue(());
            }
            return report_session(&session, held.take().unwrap_or_default(), report);
        }
        report(SearchEvent::Found(Box::new(found)))
    });
    session.known_untitled = searched
        .as_ref()
        .is_ok_and(|searched| searched.known_untitled);
    if let Some(hits) = held.filter(|hits| !hits.is_empty()) {
        // A caller that wants no more hits ends the search at the next event.
        let _ = report_session(&session, hits, report);
    }
    match failure {
        Some(error) => Err(error),
        None => Ok(searched?.too_long),
    }
}

/// The session that started a subagent.
#[derive(Debug, Clone)]
pub struct ParentSession {
    /// Its id.
    pub id: String,
    /// The title, or else the first prompt.
    pub title: Option<String>,
    /// The command that resumes it.
    pub resume: Option<String>,
}

impl ParentSession {
    /// Returns the session among `candidates` that started this subagent.
    pub fn find(
        session: &ListedSession,
        candidates: &[Candidate],
        named: &NamedRoots,
    ) -> Option<Self> {
        let facts = &session.facts;
        let id = facts.parent()?;
        let mut others = candidates.iter().map(|candidate| candidate.path.as_path());
        let path =
            others.find(|path| *path != session.path && split_ids(path).any(|other| other == *id));
        let known = path.and_then(|path| {
            Session::open_with(path, named)
                .ok()?
                .summary(Mapping::Allowed)
                .ok()
        });
        let title = known.and_then(|facts| facts.heading().cloned());
        Some(Self {
            id: id.clone(),
            title,
            resume: match path.unwrap_or(&session.path) {
                path if named.find_fork_name(path).is_some() => None,
                path => session.agent.resume_command(id, path),
            },
        })
    }
}

impl SearchHit {
    /// Returns the record about the hit in a session, and in a subagent if it has a `parent`.
    pub fn into_record(
        self,
        about: SessionDescription,
        parent: Option<ParentSession>,
    ) -> SessionHitRecord {
        let is_subagent = parent.is_some() || self.thread == Thread::Subagent;
        let (parent_id, parent_title) = parent.map(|parent| (parent.id, parent.title)).unzip();
        SessionHitRecord {
            cwd: about.cwd,
            parent_session_id: parent_id.map(SessionId),
            parent_title: parent_title.flatten(),
            session_id: about.session_id,
            agent: about.agent,
            path: about.path,
            title: about.title,
            resume: about.resume,
            line: self.line,
            role: self.role,
            origin: self.origin,
            subagent: is_subagent,
            block: self.place,
            snippet: self.excerpt.text(),
            matched: self.excerpt.matched,
            matches: self.matches,
            uuid: self.uuid,
            timestamp: self.time,
            tool: self.tool,
        }
    }
}
