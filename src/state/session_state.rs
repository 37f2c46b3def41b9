//! The state of a session that its next process needs.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::directory::private_file;
use super::{ReadEntry, SessionDirectory, StateError};

const FILE: &str = "state.json";

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
    /// Loads the state of earlier processes. It is empty if there is none.
    ///
    /// # Errors
    /// The file cannot be read or parsed. An invalid file is renamed, so that the error occurs once.
    pub fn load(directory: &SessionDirectory) -> Result<Self, StateError> {
        let _lock = directory.lock()?;
        Self::read(&directory.path().join(FILE))
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
        let path = directory.path().join(FILE);
        let mut state = match Self::read(&path) {
            Err(StateError::Corrupt { .. }) => Self::default(),
            state => state?,
        };
        let before = state.clone();
        change(&mut state);
        if state == before {
            return Ok(());
        }
        let text = serde_json::to_vec(&state).map_err(|error| StateError::Corrupt {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        let new = directory.path().join("state.json.new");
        private_file(true)
            .open(&new)
            .and_then(|mut file| file.write_all(&text))
            .and_then(|()| fs::rename(&new, &path))
            .map_err(StateError::io(&path))
    }

    fn read(path: &Path) -> Result<Self, StateError> {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::StateRoot;

    #[test]
    fn a_state_survives_and_is_merged_into() {
        let guard = tempfile::tempdir().unwrap();
        let session = StateRoot(guard.path().join("state"))
            .session(&"s".into())
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

    #[test]
    fn a_damaged_file_is_an_error_once() {
        let guard = tempfile::tempdir().unwrap();
        let session = StateRoot(guard.path().join("state"))
            .session(&"s".into())
            .unwrap();
        let damage = || fs::write(session.path().join(FILE), "{").unwrap();
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
