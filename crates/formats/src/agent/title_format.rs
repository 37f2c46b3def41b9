//! The titles of sessions: their place, and the records that turnpipe adds.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::title::{ManualTitle, Precedence, StoredTitle, Title};

/// The place where an agent looks for the title of a session.
#[derive(Debug, Clone, Copy)]
pub enum TitleStore {
    /// In the session file.
    SessionFile,
    /// In an index of all sessions.
    Index(&'static NameIndex),
    /// The agent has no titles that others can set.
    None,
}

/// A file that holds the names of many sessions. The last record of a session counts, unless the agent
/// shows another name.
#[derive(Debug)]
pub struct NameIndex {
    /// The path of the index for a session file.
    pub path: fn(&Path) -> Option<PathBuf>,
    /// The session id and the name in a record of the index.
    pub read: fn(&str) -> Option<(String, StoredTitle)>,
    /// Replaces names of the index by those that the agent shows for the same sessions.
    pub add_shown_names: fn(&Path, &mut HashMap<String, Title>),
    /// Makes the agent show a name for a session. Returns the reason if it cannot.
    pub show: fn(&Path, &str, &str) -> Result<(), &'static str>,
}

/// The session and position of a record that turnpipe adds.
#[derive(Debug, Clone, Copy)]
pub struct NewRecord<'a> {
    /// The session id.
    pub session_id: &'a str,
    /// The working directory.
    pub directory: &'a str,
    /// The branch.
    pub branch: Option<&'a str>,
    /// The id of the last record of the conversation.
    pub parent: Option<&'a str>,
    /// A new id.
    pub uuid: &'a str,
    /// The current time, RFC 3339.
    pub timestamp: &'a str,
}

/// Creates a title record.
pub(super) type NewTitle = fn(&NewRecord<'_>, &Title, ManualTitle) -> Value;

/// Creates a recap record.
pub(super) type NewRecap = fn(&NewRecord<'_>, &str) -> Value;

/// The titles of sessions.
#[derive(Debug, Clone, Copy)]
pub struct TitleFormat {
    /// Every title record and every summary contains one of these words.
    pub words: &'static [&'static str],
    /// The rule to choose among several titles.
    pub precedence: Precedence,
    /// The place where the agent looks for titles.
    pub store: TitleStore,
    /// Maximum number of bytes after a title. Beyond it the title is written again, because the agent reads
    /// only the end of a file.
    pub distance: Option<u64>,
    /// Creates a title record in the form of the agent.
    pub new_title: Option<NewTitle>,
    /// Creates a recap record in the form of the agent.
    pub new_recap: Option<NewRecap>,
}

impl TitleFormat {
    /// No titles. No line contains the only word.
    pub(super) const NONE: Self = Self {
        words: &["\0"],
        precedence: Precedence::Later,
        store: TitleStore::None,
        distance: None,
        new_title: None,
        new_recap: None,
    };
}
