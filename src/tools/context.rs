//! The state of a session that a call uses.

use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::child_environment::ChildVariables;
use super::{DecisionContext, Web};
use crate::io::{CancelToken, Clock};
use crate::message::ToolUseId;
use crate::permission::Rules;
use crate::process::{Spawners, Variables};
use crate::state::ReadLog;

/// The state of a session when a call starts. All calls of a concurrent batch see the same state; their changes
/// ([`ContextChange`](super::ContextChange)) are applied afterwards, in call order.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The part that decisions need. Available through `Deref`.
    pub decision: DecisionContext,
    /// The initial directory. A shell that leaves `allowed_directories` is moved back to it.
    pub home_directory: PathBuf,
    /// The environment of children, computed on first use.
    pub child_variables: ChildVariables,
    /// Rules that deny files. Searches do not show these files.
    pub denied: Arc<Rules>,
    /// Files that calls have read or written, shared by the calls of a session.
    pub read_log: Arc<ReadLog>,
    /// The to-do list of `TodoWrite`.
    pub todos: Arc<Value>,
    /// Default and maximum timeout of a shell call.
    pub shell_timeouts: ShellTimeouts,
    /// Starts child processes.
    pub spawners: Arc<Spawners>,
    /// Fetches web pages.
    pub web: Arc<Web>,
    /// Times in records, not deadlines.
    pub clock: Arc<dyn Clock>,
}

impl Deref for ToolContext {
    type Target = DecisionContext;

    fn deref(&self) -> &DecisionContext {
        &self.decision
    }
}

impl DerefMut for ToolContext {
    fn deref_mut(&mut self) -> &mut DecisionContext {
        &mut self.decision
    }
}

impl ToolContext {
    /// Returns the environment of children, sorted by name.
    pub(super) fn child_environment(&self) -> Variables {
        let decision = &self.decision;
        self.child_variables
            .get(&decision.environment, &decision.kept_variables)
    }

    /// Whether a directory exists and is below one of the allowed directories, with links resolved.
    pub(crate) fn allows_directory(&self, directory: &Path) -> bool {
        let Ok(directory) = directory.canonicalize() else {
            return false;
        };
        let mut allowed = self.allowed_directories.iter();
        let is_below = |allowed: PathBuf| directory.starts_with(allowed);
        directory.is_dir() && allowed.any(|allowed| allowed.canonicalize().is_ok_and(is_below))
    }
}

/// `BASH_DEFAULT_TIMEOUT_MS`, `BASH_MAX_TIMEOUT_MS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellTimeouts {
    /// Used if a call has no timeout.
    pub default: Duration,
    /// The maximum timeout of a call.
    pub maximum: Duration,
}

impl Default for ShellTimeouts {
    fn default() -> Self {
        Self {
            default: Duration::from_mins(2),
            maximum: Duration::from_mins(10),
        }
    }
}

/// The data of a running call.
pub struct CallContext<'a> {
    /// The call.
    pub id: &'a ToolUseId,
    /// The state of the session when the call started.
    pub session: &'a ToolContext,
    /// Fires when the call must end.
    pub cancel: &'a CancelToken,
}
