//! The state of a session that a call uses, and the part of it that determines the access and the permission of a
//! call.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::Web;
use super::access::{list_links, real_path};
use super::call_sandbox::CallSandbox;
use super::child_environment::ChildVariables;
use crate::io::{CancelToken, Clock, Environment};
use crate::message::ToolUseId;
pub(super) use crate::permission::normalise;
use crate::permission::{Action, Request, Rules};
use crate::process::{Enforcement, LaneOptions, NotEnforced, Spawners, Supervisor, Variables};
use crate::shell::CommandLine;
use crate::state::ReadLog;

/// The arguments of a call: an object.
pub type Input = serde_json::Map<String, Value>;

/// The context of a decision: everything that determines the access of a call and whether it may run.
/// `run-tools`, `hook` and `check` create it and call the same functions.
#[derive(Debug, Clone)]
pub struct DecisionContext {
    /// Absolute working directory of shell calls, and the base of relative paths.
    pub directory: PathBuf,
    /// Directories in which the shell's working directory may be. The first is the initial directory. Never
    /// empty.
    pub allowed_directories: Vec<PathBuf>,
    /// The directory of this process, whose programs are not trusted either; `None` if it is an allowed one.
    pub own_directory: Option<PathBuf>,
    /// The environment of the session, with configured variables.
    pub environment: Arc<Environment>,
    /// Variables that are passed to children although they can change the effects of commands.
    pub kept_variables: Arc<BTreeSet<OsString>>,
    /// Starts children of read-only calls.
    pub lane: Arc<Spawners>,
    /// The shell that would run a command.
    pub shell: ShellGuarantees,
    /// The sandbox in which commands run.
    pub sandbox: Option<Arc<CallSandbox>>,
}

/// What is known of the shell that would run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellGuarantees {
    /// Protection of files from a command whose arguments are a language, such as `awk`.
    pub protection: WriteProtection,
    /// Whether git neither refreshes its index nor fetches missing objects (`GIT_OPTIONAL_LOCKS=0`).
    pub keeps_git_from_writing: bool,
    /// Whether the configuration of git is checked. If not, as for past calls, whose repository may be gone, it is
    /// assumed to run no program.
    pub reads_git_settings: bool,
    /// Whether variables of commands are free of secrets.
    pub has_clean_environment: bool,
    /// The shells that may run the command line.
    pub dialect: ShellDialect,
    /// Whether commands that read outside the working directories need permission, because the
    /// agent would ask about them.
    pub confines_reads: bool,
    /// Whether a sandbox masks the files that deny rules name.
    pub masks_files: bool,
    /// Whether a sandbox keeps commands in their workspace, so that they need no approval.
    pub confines_commands: bool,
}

/// Protection of files from commands that are expected to read only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteProtection {
    /// The protection by the lane, if the kernel supports it.
    Lane,
    /// Protection is assumed, because the user relies on the analysis or the record names the requirement.
    Assumed,
    /// No protection.
    Absent,
}

/// The shells that may run a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellDialect {
    /// Only bash.
    Bash,
    /// Bash, zsh or dash.
    Any,
}

impl ShellGuarantees {
    /// The guarantees of the shell of the `Bash` tool.
    pub const OWN: Self = Self {
        protection: WriteProtection::Lane,
        keeps_git_from_writing: true,
        reads_git_settings: true,
        has_clean_environment: true,
        dialect: ShellDialect::Bash,
        confines_reads: false,
        masks_files: false,
        confines_commands: false,
    };

    /// Returns the guarantees of the shell of another agent.
    pub const fn foreign(protection: WriteProtection) -> Self {
        Self {
            protection,
            keeps_git_from_writing: false,
            reads_git_settings: true,
            has_clean_environment: false,
            dialect: ShellDialect::Any,
            confines_reads: true,
            masks_files: false,
            confines_commands: false,
        }
    }

    /// Whether a shell other than bash may run a command line and would parse it differently.
    pub(super) fn is_ambiguous(self, command: &str, line: &CommandLine) -> bool {
        self.dialect == ShellDialect::Any && !line.is_portable(command)
    }
}

impl DecisionContext {
    /// Returns the context of decisions about calls that are not run, in a session that may work in `directories`
    /// and starts in the first.
    ///
    /// # Errors
    /// The lane cannot be set up.
    pub fn for_decisions(
        directories: Vec<PathBuf>,
        environment: Environment,
        shell: ShellGuarantees,
    ) -> Result<Self, NotEnforced> {
        let options = LaneOptions {
            enforcement: Enforcement::Auto,
            temporary: None,
        };
        Ok(Self {
            directory: directories.first().cloned().unwrap_or_default(),
            allowed_directories: directories,
            own_directory: None,
            environment: Arc::new(environment),
            kept_variables: Arc::default(),
            lane: Arc::new(Supervisor::default().lane(1, options)?),
            shell,
            sandbox: None,
        })
    }

    /// Returns the context of a call in another directory.
    #[must_use]
    pub fn with_directory(&self, directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            ..self.clone()
        }
    }

    /// Returns the context of a call that may run in any shell, because it names one.
    pub(super) fn with_any_shell(&self) -> Self {
        let mut context = self.clone();
        context.shell.dialect = ShellDialect::Any;
        context
    }

    /// Whether commands that are expected to be read-only are prevented from writing.
    pub(super) fn is_protected(&self) -> bool {
        match self.shell.protection {
            WriteProtection::Lane => self.lane.is_enforced(),
            WriteProtection::Assumed => true,
            WriteProtection::Absent => false,
        }
    }

    /// Returns the request for permission rules.
    pub fn request<'a>(
        &'a self,
        tool: &'a str,
        input: &'a Input,
        action: &'a Action,
    ) -> Request<'a> {
        let request = Request {
            tool,
            input,
            action,
            directory: &self.directory,
            working_directories: &self.allowed_directories,
            confines_reads: self.shell.confines_reads,
            is_confined: false,
            masks_files: false,
            home: self.environment.text("HOME").map(Path::new),
            real_path: &real_path,
            links: &list_links,
        };
        let sandbox = self.sandbox.as_ref();
        let is_command = matches!(action, Action::Command { .. });
        let is_masked = |sandbox: &Arc<CallSandbox>| !sandbox.runs_outside(&request);
        let is_kept_inside = |sandbox: &Arc<CallSandbox>| sandbox.confines(&request);
        let is_confined = self.shell.confines_commands || sandbox.is_some_and(is_kept_inside);
        let masks_files = self.shell.masks_files || sandbox.is_some_and(is_masked);
        Request {
            is_confined: is_command && is_confined,
            masks_files: is_command && masks_files,
            ..request
        }
    }
}

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
    pub id: &'a ToolUseId,
    /// The state of the session when the call started.
    pub session: &'a ToolContext,
    /// Fires when the call must end.
    pub cancel: &'a CancelToken,
    /// Receives descriptions of the call's progress, each on one line.
    pub progress: &'a (dyn Fn(String) + Sync),
}
