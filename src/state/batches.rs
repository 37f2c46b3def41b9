//! Batches of requests whose answers come later: a file each, until they are collected.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::directory::{OPEN_TO_OTHERS, WRITABLE_BY_OTHERS, create_trusted};
use super::{StateError, StateRoot};

/// A batch that a provider has, or may have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenBatch {
    /// The model, as `--model` takes it.
    pub model: String,
    /// The provider's name for it. Without one, it is not known whether the provider took it.
    pub id: Option<String>,
    /// How the answers are to be read.
    pub style: String,
    /// The file of the session that each request is about.
    pub sessions: BTreeMap<String, PathBuf>,
}

/// The files of batches.
#[derive(Debug, Clone)]
pub struct BatchFiles {
    directory: PathBuf,
}

impl StateRoot {
    /// The files of batches, in a private directory.
    ///
    /// # Errors
    /// It cannot be created, or is not ours alone.
    pub fn batches(&self) -> Result<BatchFiles, StateError> {
        create_trusted(&self.0, WRITABLE_BY_OTHERS)?;
        let directory = self.0.join("batches");
        create_trusted(&directory, OPEN_TO_OTHERS)?;
        Ok(BatchFiles { directory })
    }
}

impl BatchFiles {
    /// All open batches with their names, in the order of these.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn open(&self) -> Result<BTreeMap<String, OpenBatch>, StateError> {
        let mut batches = BTreeMap::new();
        for entry in fs::read_dir(&self.directory).map_err(StateError::io(&self.directory))? {
            let path = entry.map_err(StateError::io(&self.directory))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(name) = name.and_then(|name| name.strip_suffix(".json")) else {
                continue;
            };
            let text = match fs::read(&path) {
                // Somebody else has just collected it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                text => text.map_err(StateError::io(&path))?,
            };
            let batch = serde_json::from_slice(&text).map_err(std::io::Error::from);
            let batch = batch.map_err(StateError::io(&path))?;
            batches.insert(name.to_owned(), batch);
        }
        Ok(batches)
    }

    /// Saves a batch under a name, at once and for good.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, name: &str, batch: &OpenBatch) -> Result<(), StateError> {
        let path = self.path(name);
        let write = || {
            let mut file = NamedTempFile::new_in(&self.directory)?;
            serde_json::to_writer(&mut file, batch)?;
            file.flush()?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(StateError::io(&path))
    }

    /// Forgets a batch.
    ///
    /// # Errors
    /// Its file cannot be removed.
    pub fn forget(&self, name: &str) -> Result<(), StateError> {
        let path = self.path(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StateError::io(&path)(error)),
            _ => Ok(()),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}.json"))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn batches_are_kept_in_private_until_they_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let files = StateRoot(folder.path().join("state")).batches().unwrap();
        let mut batch = OpenBatch {
            model: "openai:small".to_owned(),
            id: None,
            style: "sentence".to_owned(),
            sessions: BTreeMap::from([("session-0".to_owned(), PathBuf::from("/a.jsonl"))]),
        };
        files.save("one", &batch).unwrap();
        batch.id = Some("batch_1".to_owned());
        files.save("one", &batch).unwrap();
        let found = files.open().unwrap();
        assert_eq!(found, BTreeMap::from([("one".to_owned(), batch)]));
        let mode = fs::metadata(files.path("one"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        files.forget("one").unwrap();
        files.forget("one").unwrap();
        assert!(files.open().unwrap().is_empty());
        fs::write(files.path("two"), "{").unwrap();
        assert!(matches!(files.open(), Err(StateError::Io { .. })));
    }
}
