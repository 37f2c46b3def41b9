//! Settings files in which users configure hooks that decide on calls.

use std::path::{Path, PathBuf};

use super::content::home_dir;
use turnpipe_core::io::Environment;

/// Syntax of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsSyntax {
    /// JSON with comments.
    Json,
    /// JSON of version 1, whose events list their hooks without groups.
    FlatJson,
    /// TOML.
    Toml,
    /// A program in the agent's own language, written only by turnpipe: this text, with another value in the line
    /// `const command`.
    Script(&'static str),
}

/// The shell that runs the commands of an agent's hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookShell {
    /// `sh -c`.
    Sh,
    /// `bash -c`.
    Bash,
}

/// The settings file of an agent, and its hooks that decide on calls.
#[derive(Debug, Clone, Copy)]
pub struct HookSettings {
    /// The syntax of the file.
    pub syntax: SettingsSyntax,
    /// The agent's event, and the subcommand of `turnpipe hook` that handles it.
    pub hooks: &'static [(&'static str, &'static str)],
    /// The value of `timeout`: ten seconds, in the unit of the agent.
    pub timeout: u32,
    /// The shell of commands.
    pub shell: HookShell,
    /// The variables that tell a hook the directory of the project.
    pub project_variables: &'static [&'static str],
    /// Whether a hook has a member `name`.
    pub has_names: bool,
    /// The variables that name the user's directory, and its default below `HOME`.
    pub(super) user: (&'static [&'static str], &'static str),
    /// The file in the user's directory.
    pub(super) file: &'static str,
    /// The file in a project.
    pub(super) project: &'static str,
    /// Whether the agent ignores a hook until the user trusts it.
    pub needs_trust: bool,
    /// Whether hooks can move commands into a sandbox: at one event or more, the agent runs the changed command.
    pub takes_sandbox: bool,
    /// Message about the step after which the agent runs the hook.
    pub activation: &'static str,
}

impl HookSettings {
    /// Hooks in JSON as of Claude Code, without their files.
    pub(super) const JSON: Self = Self {
        syntax: SettingsSyntax::Json,
        hooks: &[("PreToolUse", "pre-tool-use")],
        timeout: 10,
        shell: HookShell::Sh,
        project_variables: &["CLAUDE_PROJECT_DIR"],
        has_names: false,
        user: (&[], ""),
        file: "settings.json",
        project: "",
        needs_trust: false,
        takes_sandbox: false,
        activation: "new sessions use it",
    };

    /// Returns the user's settings file. `None` without a home directory.
    pub fn user_file(&self, environment: &Environment) -> Option<PathBuf> {
        let (variables, usual) = self.user;
        Some(home_dir(environment, variables, usual)?.join(self.file))
    }

    /// Returns the name of the settings file in the user's directory.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// Returns the settings file of a project.
    pub fn project_file(&self, project: &Path) -> PathBuf {
        project.join(self.project)
    }
}
