//! The target of a call that writes a file.

use std::path::PathBuf;

use super::regular_file::{self, NotReadable, RegularFile};
use super::replace_file;
use crate::state::{FileStamp, ReadEntry, ReadRange};
use crate::tools::{CallContext, ToolFailure, access, paths};

/// The file that a call names.
pub(super) struct Target {
    /// The absolute path, with links.
    pub(super) path: PathBuf,
    /// The path with links resolved.
    resolved: PathBuf,
    /// Its current state, or `None` if it is missing.
    stamp: Option<FileStamp>,
    /// Whether the session has read it.
    seen: Option<ReadEntry>,
}

/// Whether the session knows the current content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// No call has read or written it.
    Unread,
    /// It has not changed since a call last read or wrote it, or it is missing.
    Current,
    /// It has changed since a call last read or wrote it.
    Changed,
}

impl Target {
    /// Opens the file if it exists.
    pub(super) fn open(
        name: &str,
        call: &CallContext<'_>,
    ) -> Result<(Self, Option<RegularFile>), ToolFailure> {
        let path = paths::absolute(name, call.session);
        let resolved = access::resolve_links(&path)
            .map_err(|error| ToolFailure(format!("The file cannot be written: {error}")))?;
        let found = match regular_file::open(&resolved) {
            Ok(found) => Some(found),
            Err(NotReadable::Missing) => None,
            Err(problem) => return Err(ToolFailure(problem.to_string())),
        };
        let target = Self {
            path,
            stamp: found
                .as_ref()
                .map(|found| FileStamp::from_metadata(&found.metadata)),
            seen: call.session.read_log.get(&resolved),
            resolved,
        };
        Ok((target, found))
    }

    pub(super) fn freshness(&self) -> Freshness {
        match (self.stamp, &self.seen) {
            (None, _) => Freshness::Current,
            (Some(_), None) => Freshness::Unread,
            (Some(now), Some(seen)) if seen.stamp == now => Freshness::Current,
            (Some(_), Some(_)) => Freshness::Changed,
        }
    }

    /// Returns the part of the file that the session has seen: all of a missing file.
    pub(super) fn seen(&self) -> ReadRange {
        self.seen
            .as_ref()
            .map_or(ReadRange::Whole, |seen| seen.range)
    }

    /// Replaces the content if the file has not changed. `seen` is the part that the session has seen
    /// afterwards.
    pub(super) fn replace(
        self,
        content: &[u8],
        seen: Option<ReadRange>,
        call: &CallContext<'_>,
    ) -> Result<(), ToolFailure> {
        let stamp = replace_file::replace(&self.resolved, content, self.stamp)
            .map_err(|error| ToolFailure(error.to_string()))?;
        if let Some(seen) = seen {
            regular_file::record(call, self.resolved, stamp, seen);
        }
        Ok(())
    }
}
