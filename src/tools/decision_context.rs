//! The part of a session that decides what a call touches and whether it may run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::access::real_path;
use crate::io::Environment;
use crate::permission::{Action, Request};
use crate::process::Spawners;
use crate::shell::{CommandPart, differs_between_shells};

/// The arguments of a call: an object.
pub type Input = Map<String, Value>;

/// Everything that decides what a call touches and whether it may run. `run-tools`, `hook` and `check`
/// each fill it in, and call the same functions.
#[derive(Debug, Clone)]
pub struct DecisionContext {
    /// Absolute working directory of shell calls, and the base of relative paths.
    pub directory: PathBuf,
    /// Directories the shell's working directory may stay in; the first is the session's start. Never
    /// empty.
    pub allowed_directories: Vec<PathBuf>,
    /// The environment that tools pass on to children (already the configured one).
    pub environment: Arc<Environment>,
    /// Variables of it that are passed on although they can change what commands do.
    pub kept_variables: Arc<BTreeSet<OsString>>,
    /// Starts the children of calls that only read, and git for questions about a repository.
    pub lane: Arc<Spawners>,
    /// The shell that would run a command.
    pub shell: ShellGuarantees,
}

/// Guarantees of the shell that would run a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellGuarantees {
    /// Protection of files from a command whose arguments are a language, such as `awk`.
    pub protection: WriteProtection,
    /// Whether git neither refreshes its index nor fetches missing objects (`GIT_OPTIONAL_LOCKS=0`).
    pub keeps_git_from_writing: bool,
    /// The shells that may read the command line.
    pub dialect: ShellDialect,
    /// Whether commands that read outside of the working directories need permission, because the
    /// agent would ask about them.
    pub confines_reads: bool,
}

/// Protection of files from commands that are expected to read only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteProtection {
    /// The lane's, if the kernel supports it.
    Lane,
    /// Taken for granted: the user relies on the analysis, or the record names the requirement.
    Assumed,
    /// None.
    Absent,
}

/// The shells that may read a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellDialect {
    /// Bash.
    Bash,
    /// Bash, zsh or dash.
    Any,
}

impl ShellGuarantees {
    /// The shell of the `Bash` tool.
    pub const OWN: Self = Self {
        protection: WriteProtection::Lane,
        keeps_git_from_writing: true,
        dialect: ShellDialect::Bash,
        confines_reads: false,
    };

    /// The shell of another agent.
    pub const fn foreign(protection: WriteProtection) -> Self {
        Self {
            protection,
            keeps_git_from_writing: false,
            dialect: ShellDialect::Any,
            confines_reads: true,
        }
    }

    /// Whether a shell other than bash may read a command line, which consists of `parts` if bash
    /// reads it, and would read it differently.
    pub(super) fn is_ambiguous(self, script: &str, parts: Option<&[CommandPart]>) -> bool {
        self.dialect == ShellDialect::Any
            && parts.is_none_or(|parts| differs_between_shells(script, parts).is_some())
    }
}

impl DecisionContext {
    /// Whether something keeps the commands that are expected to read only from writing.
    pub(super) fn is_protected(&self) -> bool {
        match self.shell.protection {
            WriteProtection::Lane => self.lane.is_enforced(),
            WriteProtection::Assumed => true,
            WriteProtection::Absent => false,
        }
    }

    /// A call as permission rules see it.
    pub fn request<'a>(
        &'a self,
        tool: &'a str,
        input: &'a Input,
        action: &'a Action,
    ) -> Request<'a> {
        Request {
            tool,
            input,
            action,
            directory: &self.directory,
            working_directories: &self.allowed_directories,
            confines_reads: self.shell.confines_reads,
            home: self.environment.text("HOME").map(Path::new),
            real_path: &real_path,
        }
    }
}
