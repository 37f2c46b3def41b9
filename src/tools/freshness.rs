//! Whether what the session knows of a file is still what is on disk.

use std::path::PathBuf;

use super::CallContext;
use crate::state::{FileStamp, ReadEntry, ReadRange};

/// What the session knows of a file that a call is about to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// No call has read or written it.
    Unread,
    /// It is as a call last left or saw it.
    Current,
    /// It has changed since a call last read or wrote it.
    Changed,
}

/// Compares the log's entry for `path` (links resolved) with the file's present state.
pub(super) fn of(call: &CallContext<'_>, path: &std::path::Path, now: FileStamp) -> Freshness {
    match call.session.read_log.get(path) {
        None => Freshness::Unread,
        Some(entry) if entry.stamp == now => Freshness::Current,
        Some(_) => Freshness::Changed,
    }
}

/// Logs that the call has seen this part of `path` (links resolved) in this state.
pub(super) fn record(call: &CallContext<'_>, path: PathBuf, stamp: FileStamp, range: ReadRange) {
    let entry = ReadEntry {
        stamp,
        range,
        tool_use_id: call.id.to_string(),
    };
    call.session.read_log.record(path, entry);
}
