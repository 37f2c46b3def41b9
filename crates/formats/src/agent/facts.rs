//! Facts about a session.

use std::path::Path;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::content::parse_time;
use super::title::Title;
use turnpipe_core::message::{Message, Origin, Thread};
use turnpipe_core::text::{redact, sha256};

/// Maximum length of the excerpt of the first prompt, in characters.
const MAX_PROMPT_CHARS: usize = 200;

/// The facts in one record, in some records or in all records of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// The session id.
    pub session_id: Option<String>,
    /// The agent that wrote it, if that uses the format of another one.
    pub written_by: Option<String>,
    /// Its title.
    pub title: Option<Title>,
    /// The beginning of the first prompt.
    pub first_prompt: Option<String>,
    /// The first working directory.
    pub first_cwd: Option<String>,
    /// The last working directory.
    pub cwd: Option<String>,
    /// A hash of the directory, for agents that record only that.
    pub cwd_hash: Option<String>,
    /// The last branch.
    pub branch: Option<String>,
    /// The address or the name of the repository.
    pub remote: Option<String>,
    /// A directory of the repository.
    pub repository: Option<String>,
    /// The last model.
    pub model: Option<String>,
    /// The session it was forked from.
    pub forked_from: Option<String>,
    /// The last record that was copied from there.
    pub fork_point: Option<String>,
    /// The session that started it, if that is another one.
    pub parent: Option<String>,
    /// The part of another file that is the start of this session.
    pub history: Option<CopiedHistory>,
    /// The earliest timestamp.
    pub started: Option<Timestamp>,
    /// The latest timestamp.
    pub last_activity: Option<Timestamp>,
    /// Whether `last_activity` is only the modification time of the file.
    pub is_time_of_file: bool,
    /// Facts about the subagent, if it is one.
    pub subagent: Option<Box<SubagentFacts>>,
    /// Whether the file belongs to a subagent.
    pub is_subagent: bool,
    /// Whether there is a message of the main conversation.
    pub is_main: bool,
    /// Whether the facts come from the first record of a session. A file may also contain the first
    /// records of other sessions; only the first one describes this session.
    pub is_head: bool,
}

/// The facts about a subagent in its records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SubagentFacts {
    /// Its type, as the agent names it.
    pub agent_type: Option<String>,
    /// The id of the workflow that started it.
    pub workflow: Option<String>,
    /// The id of the subagent that started it.
    pub parent: Option<String>,
}

impl SubagentFacts {
    /// Creates the facts of a subagent of this type; `None` without a type.
    pub(super) fn from_type(agent_type: Option<String>) -> Option<Box<Self>> {
        agent_type.map(|name| {
            Box::new(Self {
                agent_type: Some(name),
                ..Self::default()
            })
        })
    }
}

/// The beginning of another session's file, which is also the beginning of this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedHistory {
    /// The id of the other session, or of the file in which a part of it starts.
    pub session_id: String,
    /// The length of the part of the file that belongs to this session, in bytes.
    pub end: u64,
}

impl Facts {
    /// Masks secrets in the title and the first prompt.
    pub fn redact_names(&mut self) {
        let title = self.title.as_mut().map(|title| &mut title.text);
        for text in title.into_iter().chain(&mut self.first_prompt) {
            *text = redact(text).into_owned();
        }
    }

    /// Returns facts with only a timestamp.
    pub(crate) fn from_time(time: Option<&RawValue>) -> Self {
        let time = parse_time(time);
        Self {
            started: time,
            last_activity: time,
            ..Self::default()
        }
    }

    /// Returns the title, or else the first prompt.
    pub fn heading(&self) -> Option<&String> {
        let title = self.title.as_ref().map(|title| &title.text);
        title.or(self.first_prompt.as_ref())
    }

    /// Returns the session that started it, if it is a subagent.
    pub fn parent(&self) -> Option<&String> {
        let parent = self.parent.as_ref().or(self.session_id.as_ref());
        parent.filter(|_| self.is_subagent)
    }

    /// Returns the last activity. Sessions without one come last.
    pub fn last_activity_or_min(&self) -> Timestamp {
        self.last_activity.unwrap_or(Timestamp::MIN)
    }

    /// Sets the first and the last working directory.
    #[must_use]
    pub fn with_directory(mut self, directory: Option<String>) -> Self {
        self.first_cwd.clone_from(&directory);
        self.cwd = directory;
        self
    }

    /// Merges the facts of these records with the facts of later ones.
    #[must_use]
    pub fn merge_later(self, later: Self) -> Self {
        let last_activity = self.last_activity.max(later.last_activity);
        if later.is_head && self.session_id.is_some() {
            return Self {
                last_activity,
                ..self
            };
        }
        let mut this = self;
        // The first messages may be from a subagent. The main conversation takes precedence.
        if this.is_subagent && later.is_main {
            this.is_subagent = false;
            this.first_prompt = None;
            this.model = None;
        }
        let (session_id, is_subagent) = match this.session_id {
            Some(id) => (Some(id), this.is_subagent),
            None => (later.session_id, later.is_subagent),
        };
        // The model of a subagent only counts in its own file.
        let model = later.model.filter(|_| is_subagent || !later.is_subagent);
        let forked_from = this.forked_from.or(later.forked_from);
        Self {
            forked_from: forked_from.filter(|parent| Some(parent) != session_id.as_ref()),
            parent: this.parent.or(later.parent),
            fork_point: this.fork_point.or(later.fork_point),
            session_id,
            is_subagent,
            is_main: this.is_main || later.is_main,
            written_by: this.written_by.or(later.written_by),
            title: later.title.or(this.title),
            first_prompt: this.first_prompt.or(later.first_prompt),
            first_cwd: this.first_cwd.or(later.first_cwd),
            cwd: later.cwd.or(this.cwd),
            cwd_hash: later.cwd_hash.or(this.cwd_hash),
            branch: later.branch.or(this.branch),
            remote: this.remote.or(later.remote),
            subagent: this.subagent.or(later.subagent),
            repository: this.repository.or(later.repository),
            model: model.or(this.model),
            history: this.history.or(later.history),
            started: match (this.started, later.started) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            },
            last_activity,
            is_time_of_file: this.is_time_of_file || later.is_time_of_file,
            is_head: false,
        }
    }

    /// Adds the facts of another file of the same session.
    pub fn add_file(&mut self, other: Self) {
        let own = std::mem::take(self);
        let is_earlier = other.started < own.started && other.started.is_some();
        let (first, last) = if is_earlier {
            (other, own)
        } else {
            (own, other)
        };
        *self = first.merge_later(last);
    }

    /// Adds the facts of later records.
    pub fn add(&mut self, later: Self) {
        *self = std::mem::take(self).merge_later(later);
    }

    /// Adds the facts of a message. Messages of subagents count only in their own files.
    pub fn add_message(&mut self, message: &Message) {
        if message.thread == Thread::Subagent && !self.is_subagent {
            return;
        }
        if message.model.is_some() {
            self.model.clone_from(&message.model);
        }
        if self.first_prompt.is_none() && message.origin == Origin::Prompt {
            let text = message.text();
            let prompt = text.trim();
            self.first_prompt = (!prompt.is_empty()).then(|| truncate_prompt(prompt));
        }
    }
}

/// Truncates text to this many characters and adds an ellipsis.
fn truncate_prompt(text: &str) -> String {
    match text.char_indices().nth(MAX_PROMPT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the hash that names a working directory for some agents: SHA-256 of its path, in
/// hexadecimal.
pub fn hash_project(directory: &Path) -> String {
    sha256(directory.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpipe_core::message::{Block, Role};

    #[test]
    fn times_may_run_backwards() {
        let mut facts = Facts::default();
        for time in [
            "2026-01-01T00:00:02Z",
            "2026-01-01T00:00:01.5Z",
            "nonsense",
            "2026-01-01T00:00:03Z",
            "2026-01-01T00:00:01.7Z",
        ] {
            let time = RawValue::from_string(format!("\"{time}\"")).unwrap();
            facts.add(Facts::from_time(Some(&time)));
        }
        assert_eq!(facts.started.unwrap().to_string(), "2026-01-01T00:00:01.5Z");
        assert_eq!(
            facts.last_activity.unwrap().to_string(),
            "2026-01-01T00:00:03Z"
        );
    }

    #[test]
    fn long_prompts_are_cut_between_characters() {
        let mut facts = Facts::default();
        let prompt = Message {
            blocks: vec![Block::Text("😀".repeat(300))],
            ..Message::new(Role::User, Origin::Prompt)
        };
        facts.add_message(&prompt);
        let kept = facts.first_prompt.unwrap();
        assert_eq!(kept.chars().count(), MAX_PROMPT_CHARS + 1);
    }

    #[test]
    fn a_directory_is_named_by_its_sha256() {
        assert_eq!(
            hash_project(Path::new("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
