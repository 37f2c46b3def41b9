//! The files that calls of a session have read, and their state at that time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

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
    /// The call.
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
    pub fn of(path: &Path) -> std::io::Result<Self> {
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
        self.lock().insert(path, entry);
    }

    /// Returns the entry of `path`.
    pub fn get(&self, path: &Path) -> Option<ReadEntry> {
        self.lock().get(path).cloned()
    }

    /// Returns all entries.
    pub fn entries(&self) -> BTreeMap<PathBuf, ReadEntry> {
        self.lock().clone()
    }

    /// Returns the files, sorted, that have changed since they were logged.
    pub fn stale_files(&self) -> Vec<PathBuf> {
        let entries = self.entries();
        entries
            .into_iter()
            .filter(|(path, entry)| FileStamp::of(path).ok() != Some(entry.stamp))
            .map(|(path, _)| path)
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, ReadEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
