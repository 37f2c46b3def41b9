//! The sessions that started subagents, and the records of hits.

use crate::agent::NamedRoots;
use crate::jsonl::Mapping;
use crate::message::{SessionId, Thread};
use crate::records::{SessionDescription, SessionHitRecord};
use crate::session::discover::Candidate;
use crate::session::find::ids_in;
use crate::session::listing::Listed;
use crate::session::search::run::SearchHit;
use crate::session::session::Session;

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
    pub fn of(session: &Listed, candidates: &[Candidate], named: &NamedRoots) -> Option<Self> {
        let facts = &session.facts;
        let id = facts.forked_from.as_ref().or(facts.session_id.as_ref());
        let id = id.filter(|_| facts.is_subagent)?;
        let mut others = candidates.iter().map(|candidate| candidate.path.as_path());
        let path =
            others.find(|path| *path != session.path && ids_in(path).any(|other| other == *id));
        let known = path.and_then(|path| {
            Session::open_with(path, named)
                .ok()?
                .summary(Mapping::Allowed)
                .ok()
        });
        let title = known.and_then(|facts| match facts.title {
            Some(title) => Some(title.text),
            None => facts.first_prompt,
        });
        Some(Self {
            id: id.clone(),
            title,
            resume: match path.unwrap_or(&session.path) {
                path if named.fork_at(path).is_some() => None,
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
