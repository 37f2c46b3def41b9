//! The members of a session in records.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::files::listed::ListedSession;
use turnpipe_core::message::SessionId;
use turnpipe_formats::agent::{Agent, Facts};
use turnpipe_formats::records::{SessionDescription, SessionRecord};

/// Returns a session's members in records.
pub fn describe_session(path: PathBuf, agent: Agent, facts: Facts) -> SessionDescription {
    let id = facts.session_id.as_deref();
    let own_id = id.filter(|_| !facts.is_subagent && facts.written_by.is_none());
    let resume = own_id.and_then(|id| agent.resume_command(id, &path));
    let parent = facts.parent().cloned();
    let current = facts
        .cwd
        .filter(|cwd| Some(cwd) != facts.first_cwd.as_ref());
    let resume_cwd = current
        .as_ref()
        .filter(|cwd| is_folder_of(&path, cwd))
        .cloned();
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
        written_by: facts.written_by,
        fork_parent: facts.forked_from.map(SessionId),
        resume,
        resume_cwd,
    }
}

/// Maximum length of the name of a folder in UTF-16 units, without the hash at its end.
const MAX_FOLDER_NAME: usize = 200;

/// Whether the folder of a session is named after this directory: each unit other than a letter or a digit is a hyphen.
fn is_folder_of(path: &Path, cwd: &str) -> bool {
    let to_plain = |unit| match char::from_u32(u32::from(unit)) {
        Some(unit) if unit.is_ascii_alphanumeric() => unit,
        _ => '-',
    };
    let name: String = cwd.encode_utf16().map(to_plain).collect();
    let folders = path.ancestors().skip(1).take(2);
    let mut folders = folders.filter_map(|folder| folder.file_name()?.to_str());
    match name.get(..MAX_FOLDER_NAME) {
        Some(start) => folders.any(|folder| folder.starts_with(start)),
        None => folders.any(|folder| folder.trim_matches('-') == name.trim_matches('-')),
    }
}

impl ListedSession {
    /// Returns the command that resumes the session, even of a subagent. `None` if an unknown agent wrote it.
    pub fn format_resume_command(&self) -> Option<String> {
        let id = self.facts.session_id.as_deref();
        let known_id = id.filter(|_| self.facts.written_by.is_none());
        known_id.and_then(|id| self.agent.resume_command(id, &self.path))
    }

    /// Returns its record.
    pub fn into_record(self) -> SessionRecord {
        let format_time = |time: Option<Timestamp>| time.map(|time| time.to_string());
        let state = self.state.map(|state| *state);
        let mut homes = self.homes;
        if homes.len() == 1 {
            homes.retain(|home| home.is_named);
        }
        SessionRecord {
            state: state.as_ref().map(|state| state.state),
            state_inferred: state.is_some(),
            pid: state.as_ref().and_then(|state| state.pid),
            state_reason: state.map(|state| state.reason),
            started: format_time(self.facts.started),
            last_activity: format_time(self.facts.last_activity),
            is_time_of_file: self.facts.is_time_of_file,
            about: describe_session(self.path, self.agent, self.facts),
            homes: homes.into_iter().map(|home| home.name).collect(),
            size: self.size,
            subagents: self.subagents,
            counts: self.counts,
        }
    }
}
