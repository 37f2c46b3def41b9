//! What a call knows about the session it runs in, and what it may change there.

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

/// The session as a call finds it when it starts. Calls of one concurrent batch all see the same;
/// what they change ([`ContextChange`]) is applied afterwards, in call order.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The part that decisions need; its fields are read as if they were the session's own.
    pub decision: DecisionContext,
    /// Where the session began; a shell that leaves `allowed_directories` is put back here.
    pub home_directory: PathBuf,
    /// What children get of these two.
    pub child_variables: ChildVariables,
    /// The rules that deny files, which searches do not show.
    pub denied: Arc<Rules>,
    /// Which files were read, and as what; shared by the calls of a session.
    pub read_log: Arc<ReadLog>,
    /// The to-do list as `TodoWrite` left it.
    pub todos: Arc<Value>,
    /// Default and largest timeout of a shell call.
    pub shell_timeouts: ShellTimeouts,
    /// Starts children.
    pub spawners: Arc<Spawners>,
    /// Fetches pages.
    pub web: Arc<Web>,
    /// Times for records; never for deadlines.
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
    /// Returns the environment of children, sorted by name: the session's without removed variables.
    pub(super) fn child_environment(&self) -> Variables {
        let decision = &self.decision;
        self.child_variables
            .get(&decision.environment, &decision.kept_variables)
    }

    /// Whether a directory exists and the shell may be in it, links resolved.
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
    /// When a call asks for none.
    pub default: Duration,
    /// The most a call can ask for.
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

/// What belongs to one running call.
pub struct CallContext<'a> {
    /// The call.
    pub id: &'a ToolUseId,
    /// The session as it was when the call started.
    pub session: &'a ToolContext,
    /// Fires when the call must end.
    pub cancel: &'a CancelToken,
}
