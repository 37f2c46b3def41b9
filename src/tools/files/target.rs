//! The file that a call is about to write: as it is before, and what is put in its place.

use std::path::PathBuf;

use super::regular_file::{self, NotReadable, RegularFile};
use super::replace_file;
use crate::state::{FileStamp, ReadEntry, ReadRange};
use crate::tools::{CallContext, ToolFailure, access, paths};

/// The file that a call names.
pub(super) struct Target {
    /// As the call names it, but absolute.
    pub(super) path: PathBuf,
    /// With links resolved.
    resolved: PathBuf,
    /// Its state; `None` if there is no file.
    stamp: Option<FileStamp>,
    /// What the session has seen of it.
    seen: Option<ReadEntry>,
}

/// What the session knows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// No call has read or written it.
    Unread,
    /// It is as a call last left or saw it, or it is not there.
    Current,
    /// It has changed since a call last read or wrote it.
    Changed,
}

impl Target {
    /// Opens the file, if there is one.
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

    /// How much of it the session has seen; of a file that is not there, all.
    pub(super) fn seen(&self) -> ReadRange {
        self.seen
            .as_ref()
            .map_or(ReadRange::Whole, |seen| seen.range)
    }

    /// Gives the file this content, if it is as it was. `seen` is how much of it the session then
    /// has seen, if that has changed.
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
