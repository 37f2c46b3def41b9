//! Records about archived and removed sessions.

use schemars::JsonSchema;
use serde::Serialize;

use turnpipe_core::message::SessionId;

/// The outcome for one session of `session archive`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ArchiveOutcome {
    /// Files of it were written.
    Archived,
    /// Files of it would be written, but this is a dry run.
    WouldArchive,
    /// The archive already had it.
    Unchanged,
    /// A file could not be archived; others may be.
    #[default]
    Failed,
    /// The file is not a session that can be archived.
    Skipped,
}

/// A session in `session archive`.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_archived")]
pub struct SessionArchivedRecord {
    /// Session id; absent if the file does not contain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Agent that wrote the file, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Path of the session.
    pub path: String,
    /// Path of the session in the archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// The outcome.
    pub outcome: ArchiveOutcome,
    /// The file that was not archived, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of files: the session, subagents, saved results, and others.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Their size in the archive in bytes, without files that a dry run would write.
    pub stored_bytes: u64,
}

/// The totals of `session archive`.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_archive")]
pub struct SessionArchiveRecord {
    /// Directory of the archive.
    pub path: String,
    /// Whether nothing was written.
    pub dry_run: bool,
    /// Number of sessions that were archived.
    pub archived: u64,
    /// Number of sessions that would be archived without `--dry-run`.
    pub would_archive: u64,
    /// Number of sessions that were already there.
    pub unchanged: u64,
    /// Number of sessions that could not be archived.
    pub failed: u64,
    /// Number of files that are not sessions that can be archived.
    pub skipped: u64,
    /// Size of the sessions in bytes.
    pub bytes: u64,
    /// Their size in the archive, in bytes.
    pub stored_bytes: u64,
}

/// The outcome for one session of `session remove`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RemovalOutcome {
    /// It was removed.
    #[default]
    Removed,
    /// It would be removed, but this is a dry run.
    WouldRemove,
    /// It changed recently, is open in a process, or another session continues it, so nothing was removed.
    InUse,
    /// Something could not be removed, or is not in the archive.
    Failed,
    /// It is in a database, from which only its agent removes it.
    Skipped,
}

/// A session in `session remove`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_removed")]
pub struct SessionRemovedRecord {
    /// Session id; absent if the file does not contain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Agent that wrote the file.
    pub agent: String,
    /// Path of the session.
    pub path: String,
    /// Path of the session in the archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// The outcome.
    pub outcome: RemovalOutcome,
    /// The file that decided the outcome, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of files: the session, subagents, saved results, and others.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// The totals of `session remove`.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_removal")]
pub struct SessionRemovalRecord {
    /// Whether nothing was removed, because confirmation was not given.
    pub dry_run: bool,
    /// Number of sessions that were removed.
    pub removed: u64,
    /// Number of sessions that would be removed with `--yes`.
    pub would_remove: u64,
    /// Number of sessions in use.
    pub in_use: u64,
    /// Number of sessions that could not be removed.
    pub failed: u64,
    /// Number of sessions in databases.
    pub skipped: u64,
    /// Number of files that were removed, or would be.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

impl SessionArchiveRecord {
    /// Adds a session to the totals.
    pub fn add(&mut self, session: &SessionArchivedRecord) {
        *match session.outcome {
            ArchiveOutcome::Archived => &mut self.archived,
            ArchiveOutcome::WouldArchive => &mut self.would_archive,
            ArchiveOutcome::Unchanged => &mut self.unchanged,
            ArchiveOutcome::Failed => &mut self.failed,
            ArchiveOutcome::Skipped => &mut self.skipped,
        } += 1;
        self.bytes += session.bytes;
        self.stored_bytes += session.stored_bytes;
    }
}

impl SessionRemovalRecord {
    /// Adds a session to the totals.
    pub fn add(&mut self, session: &SessionRemovedRecord) {
        *match session.outcome {
            RemovalOutcome::Removed => &mut self.removed,
            RemovalOutcome::WouldRemove => &mut self.would_remove,
            RemovalOutcome::InUse => &mut self.in_use,
            RemovalOutcome::Failed => &mut self.failed,
            RemovalOutcome::Skipped => &mut self.skipped,
        } += 1;
        if session.reason.is_none() {
            self.files += session.files;
            self.bytes += session.bytes;
        }
    }
}
