//! Session state for the next process, such as the files that its calls have read.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::directory::open_private;
use super::{SessionDirectory, StateError};
use turnpipe_core::io::Lock;

const STATE_FILE: &str = "state.json";

/// The contents of the state file, which is always replaced as a whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The shell's working directory.
    pub directory: Option<PathBuf>,
    /// The to-do list.
    pub todos: Option<Value>,
    /// Files that calls have read or written.
    pub reads: BTreeMap<PathBuf, ReadEntry>,
    /// Decisions of the per-turn budget by call id: the replacement of a result, or `None` if it was sent
    /// unchanged. The same id always gets the same bytes.
    pub replacements: BTreeMap<String, Option<String>>,
    /// Digests of earlier results, with their call ids.
    pub results: BTreeMap<String, String>,
    /// Number of automatic attempts to set a title.
    pub title_attempts: u32,
}

impl SessionState {
    /// Loads the state of earlier processes. It is empty if there was none.
    ///
    /// # Errors
    /// The file cannot be read or parsed. An invalid file is renamed, so that the error occurs once.
    pub fn load(directory: &SessionDirectory) -> Result<Self, StateError> {
        let _lock = directory.lock()?;
        Self::read(&directory.path().join(STATE_FILE))
    }

    /// Applies `change` to the state on disk under the session's lock, and replaces the file atomically.
    ///
    /// # Errors
    /// The state cannot be read, locked or written.
    pub fn update(
        directory: &SessionDirectory,
        change: impl FnOnce(&mut Self),
    ) -> Result<(), StateError> {
        let _lock = directory.lock()?;
        let path = directory.path().join(STATE_FILE);
        let mut state = match Self::read(&path) {
            Err(StateError::Corrupt { .. }) => Self::default(),
            state => state?,
        };
        let before = state.clone();
        change(&mut state);
        if state == before {
            return Ok(());
        }
        let json = serde_json::to_vec(&state).map_err(|error| StateError::Corrupt {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        let new = directory.path().join("state.json.new");
        open_private(&new)
            .and_then(|mut file| file.set_len(0).and_then(|()| file.write_all(&json)))
            .and_then(|()| fs::rename(&new, &path))
            .map_err(StateError::io(&path))
    }

    fn read(path: &Path) -> Result<Self, StateError> {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
                // The error about the content says more than an error of the renaming.
                let _ = fs::rename(path, path.with_extension("json.damaged"));
                StateError::Corrupt {
                    path: path.to_owned(),
                    reason: error.to_string(),
                }
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(StateError::io(path)(error)),
        }
    }
}

/// The files that calls of a session have read or written. Shared between threads.
#[derive(Debug, Default)]
pub struct ReadLog {
    entries: Mutex<BTreeMap<PathBuf, ReadEntry>>,
}

/// A file that a call has read or written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadEntry {
    /// The file's metadata at that time.
    pub stamp: FileStamp,
    /// The part that the model has seen.
    pub range: ReadRange,
    /// The id of the call.
    pub tool_use_id: String,
}

/// The metadata that shows whether a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// Modification time in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Size in bytes.
    pub size: u64,
}

/// The part of a file that the model has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadRange {
    /// The whole file, also after a write.
    Whole,
    /// Up to `limit` lines from `offset` (from 1).
    Lines {
        /// First line.
        offset: u64,
        /// The requested number of lines.
        limit: u64,
    },
}

impl FileStamp {
    /// Returns the current metadata of a file.
    ///
    /// # Errors
    /// The metadata cannot be read.
    pub fn read(path: &Path) -> std::io::Result<Self> {
        Ok(Self::from_metadata(&std::fs::metadata(path)?))
    }

    /// Returns the stamp of this metadata.
    pub fn from_metadata(metadata: &std::fs::Metadata) -> Self {
        let modified_ns = metadata
            .modified()
            .ok()
            .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
            .map_or(0, |since| {
                i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
            });
        Self {
            modified_ns,
            size: metadata.len(),
        }
    }
}

impl ReadLog {
    /// Creates a log with the entries of an earlier process of the session.
    pub fn with_entries(entries: BTreeMap<PathBuf, ReadEntry>) -> Self {
        Self {
            entries: Mutex::new(entries),
        }
    }

    /// Records that a call has read or written `path` (absolute).
    pub fn record(&self, path: PathBuf, entry: ReadEntry) {
        self.entries.lock_anyway().insert(path, entry);
    }

    /// Returns the entry of `path`.
    pub fn get(&self, path: &Path) -> Option<ReadEntry> {
        self.entries.lock_anyway().get(path).cloned()
    }

    /// Returns all entries.
    pub fn entries(&self) -> BTreeMap<PathBuf, ReadEntry> {
        self.entries.lock_anyway().clone()
    }

    /// Returns the files, sorted, that have changed since they were logged.
    pub fn list_stale_files(&self) -> Vec<PathBuf> {
        let entries = self.entries();
        entries
            .into_iter()
            .filter(|(path, entry)| FileStamp::read(path).ok() != Some(entry.stamp))
            .map(|(path, _)| path)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::StateRoot;

    #[test]
    fn state_is_saved_and_merged() {
        let guard = tempfile::tempdir().unwrap();
        let session = StateRoot(guard.path().join("state"))
            .open_session(&"s".into())
            .unwrap();
        assert_eq!(
            SessionState::load(&session).unwrap(),
            SessionState::default()
        );
        SessionState::update(&session, |state| state.directory = Some("/w".into())).unwrap();
        SessionState::update(&session, |state| {
            state.replacements.insert("toolu_1".into(), None);
        })
        .unwrap();
        let state = SessionState::load(&session).unwrap();
        assert_eq!(state.directory, Some("/w".into()));
        assert_eq!(state.replacements.len(), 1);
    }

    /// The name and content of a directory as version 0.1.0 wrote them, for the session `s1` of a stream in `/`.
    #[test]
    fn the_state_of_the_first_version_is_read() {
        const DIRECTORY: &str = "s1-f5ce5262377a2db05c967d53e272b0a9";
        const STATE: &str = r#"{"directory":"/w/sub","todos":[{"content":"x","status":"pending","activeForm":"X"}],
            "reads":{"/w/a":{"stamp":{"modified_ns":1796025013850427219,"size":4},"range":"whole","tool_use_id":"a"},
            "/w/b":{"stamp":{"modified_ns":0,"size":9},"range":{"lines":{"offset":2,"limit":3}},"tool_use_id":"b"}},
            "replacements":{"a":null,"b":"kept"},"results":{"Bash-ca63":"d"},"title_attempts":2}"#;
        let guard = tempfile::tempdir().unwrap();
        let root = StateRoot(guard.path().join("state"));
        let session = root.open_session(&"s1".into()).unwrap();
        assert_eq!(session.path().file_name().unwrap(), DIRECTORY);
        fs::write(session.path().join(STATE_FILE), STATE).unwrap();
        let state = SessionState::load(&session).unwrap();
        let entry = |range, size, modified_ns, id: &str| ReadEntry {
            stamp: FileStamp { modified_ns, size },
            range,
            tool_use_id: id.to_owned(),
        };
        let lines = ReadRange::Lines {
            offset: 2,
            limit: 3,
        };
        let expected = SessionState {
            directory: Some("/w/sub".into()),
            todos: Some(
                serde_json::json!([{"content": "x", "status": "pending", "activeForm": "X"}]),
            ),
            reads: [
                (
                    "/w/a".into(),
                    entry(ReadRange::Whole, 4, 1_796_025_013_850_427_219, "a"),
                ),
                ("/w/b".into(), entry(lines, 9, 0, "b")),
            ]
            .into(),
            replacements: [
                ("a".to_owned(), None),
                ("b".to_owned(), Some("kept".to_owned())),
            ]
            .into(),
            results: [("Bash-ca63".to_owned(), "d".to_owned())].into(),
            title_attempts: 2,
        };
        assert_eq!(state, expected);
    }

    #[test]
    fn a_damaged_file_is_an_error_once() {
        let guard = tempfile::tempdir().unwrap();
        let session = StateRoot(guard.path().join("state"))
            .open_session(&"s".into())
            .unwrap();
        let damage = || fs::write(session.path().join(STATE_FILE), "{").unwrap();
        damage();
        assert!(matches!(
            SessionState::load(&session),
            Err(StateError::Corrupt { .. })
        ));
        assert_eq!(
            SessionState::load(&session).unwrap(),
            SessionState::default()
        );
        assert!(session.path().join("state.json.damaged").exists());
        damage();
        SessionState::update(&session, |state| state.title_attempts += 1).unwrap();
        assert_eq!(SessionState::load(&session).unwrap().title_attempts, 1);
    }
}
