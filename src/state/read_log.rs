//! Which files the session's calls have read, and in which state they found them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// Remembers reads and writes of files by the session's own calls. Shared between threads.
#[derive(Debug, Default)]
pub struct ReadLog {
    entries: Mutex<BTreeMap<PathBuf, ReadEntry>>,
}

/// One file as it was last read or written by a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadEntry {
    /// The file's state at that time.
    pub stamp: FileStamp,
    /// Which part the model has seen.
    pub range: ReadRange,
    /// The call that did it.
    pub tool_use_id: String,
}

/// Enough of a file's metadata to see that it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// Modification time in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Size in bytes.
    pub size: u64,
}

/// Which part of a file the model has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadRange {
    /// All of it (a write counts as such).
    Whole,
    /// Lines from `offset` (counted from 1), at most `limit` of them.
    Lines {
        /// First line.
        offset: u64,
        /// Number of lines asked for.
        limit: u64,
    },
}

impl FileStamp {
    /// The stamp of a file as it is now.
    ///
    /// # Errors
    /// The file cannot be examined.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        Ok(Self::from_metadata(&std::fs::metadata(path)?))
    }

    /// The stamp that belongs to this metadata.
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
    /// A log with what an earlier process of the session left.
    pub fn with_entries(entries: BTreeMap<PathBuf, ReadEntry>) -> Self {
        Self {
            entries: Mutex::new(entries),
        }
    }

    /// Remembers that `path` (absolute) was read or written.
    pub fn record(&self, path: PathBuf, entry: ReadEntry) {
        self.lock().insert(path, entry);
    }

    /// What is known of `path`.
    pub fn get(&self, path: &Path) -> Option<ReadEntry> {
        self.lock().get(path).cloned()
    }

    /// Everything known.
    pub fn entries(&self) -> BTreeMap<PathBuf, ReadEntry> {
        self.lock().clone()
    }

    /// The files, sorted, whose state on disk differs from the logged one.
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
