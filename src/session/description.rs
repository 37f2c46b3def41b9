//! Descriptions of sessions in records.

use std::path::PathBuf;

use jiff::Timestamp;

use super::listing::Listed;
use crate::agent::{Agent, Facts};
use crate::message::SessionId;
use crate::records::{SessionDescription, SessionRecord};

/// Returns a session's members in records.
pub fn session_description(path: PathBuf, agent: Agent, facts: Facts) -> SessionDescription {
    let current = facts
        .cwd
        .filter(|cwd| Some(cwd) != facts.first_cwd.as_ref());
    let written_by = facts.written_by;
    let id = facts.session_id.as_deref();
    let id = id.filter(|_| !facts.is_subagent && written_by.is_none());
    let resume = id.and_then(|id| agent.resume_command(id, &path));
    let parent = facts.forked_from.as_ref().or(facts.session_id.as_ref());
    let parent = parent.filter(|_| facts.is_subagent).cloned();
    let (title, source) = facts.title.map(|title| (title.text, title.source)).unzip();
    let path = path.into_os_string().into_string();
    SessionDescription {
        session_id: facts.session_id.map(SessionId),
        agent: agent.name().to_owned(),
        path: path.unwrap_or_else(|path| path.to_string_lossy().into_owned()),
        title,
        title_source: source.map(|source| source.name().to_owned()),
        first_prompt: facts.first_prompt,
        cwd: facts.first_cwd,
        current_cwd: current,
        git_branch: facts.branch,
        model: facts.model,
        parent_session_id: parent.map(SessionId),
        written_by,
        fork_parent: facts.forked_from.map(SessionId),
        resume,
    }
}

impl Listed {
    /// Returns the command that resumes the session, even of a subagent. `None` if an unknown agent wrote it.
    pub fn resume_command(&self) -> Option<String> {
        let id = self.facts.session_id.as_deref();
        let id = id.filter(|_| self.facts.written_by.is_none());
        id.and_then(|id| self.agent.resume_command(id, &self.path))
    }

    /// Returns its record.
    pub fn into_record(self) -> SessionRecord {
        let time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let state = self.state.map(|state| *state);
        SessionRecord {
            state: state.as_ref().map(|state| state.state),
            state_inferred: state.is_some(),
            pid: state.as_ref().and_then(|state| state.pid),
            state_reason: state.map(|state| state.reason),
            started: time(self.facts.started),
            last_activity: time(self.facts.last_activity),
            is_time_of_file: self.facts.is_time_of_file,
            about: session_description(self.path, self.agent, self.facts),
            size: self.size,
            subagents: self.subagents,
            counts: self.counts,
        }
    }
}
