//! Sessions in a list, and their files.

use std::collections::BTreeSet;
use std::path::PathBuf;

use turnpipe_core::jsonl::{WriteError, append_record};
use turnpipe_formats::agent::{Agent, Facts, Home};
use turnpipe_formats::records::{SessionActivity, SessionCounts};

/// The files of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFiles {
    /// The file with the end of the conversation.
    pub path: PathBuf,
    /// The other files of the session.
    pub others: Vec<OtherFile>,
    /// The files of subagents that are sessions of their own.
    pub started: Vec<PathBuf>,
}

/// Another file of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherFile {
    /// Its path.
    pub path: PathBuf,
    /// Whether the conversation goes on from there, rather than being repeated there.
    pub is_earlier: bool,
}

impl From<PathBuf> for SessionFiles {
    fn from(path: PathBuf) -> Self {
        Self {
            path,
            ..Self::default()
        }
    }
}

impl SessionFiles {
    /// Returns all paths, the earlier ones first.
    pub fn paths(&self) -> Vec<PathBuf> {
        let paths_of = |is_earlier: bool| {
            let others = self.others.iter();
            others.filter(move |other| other.is_earlier == is_earlier)
        };
        let earlier = paths_of(true).map(|other| &other.path);
        let rest = paths_of(false).map(|other| &other.path);
        let all = earlier.chain([&self.path]).chain(rest);
        all.cloned().collect()
    }
}

/// A session in the list.
#[derive(Debug, Clone)]
pub struct ListedSession {
    /// Its path.
    pub path: PathBuf,
    /// The agent that wrote it.
    pub agent: Agent,
    /// The size in bytes.
    pub size: u64,
    /// The homes of its agent that have files of it.
    pub homes: BTreeSet<Home>,
    /// Its facts.
    pub facts: Facts,
    /// Its counts, with `Depth::Whole`.
    pub counts: Option<SessionCounts>,
    /// The number of its subagents.
    pub subagents: u64,
    /// Whether the file is a saved stream.
    pub is_stream: bool,
    /// The other files of the session.
    pub others: Vec<OtherFile>,
    /// The files of subagents that are sessions of their own.
    pub started: Vec<PathBuf>,
    /// Its state, once it was inferred.
    pub state: Option<Box<InferredState>>,
}

impl ListedSession {
    /// Returns its files.
    pub fn files(&self) -> SessionFiles {
        SessionFiles {
            path: self.path.clone(),
            others: self.others.clone(),
            started: self.started.clone(),
        }
    }

    /// Returns its record as a line.
    ///
    /// # Errors
    /// The record cannot be serialized.
    pub fn serialize(self: Box<Self>) -> Result<Vec<u8>, WriteError> {
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
pub type Sessions = Vec<Box<ListedSession>>;
