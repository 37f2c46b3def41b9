//! The settings in which agents name hooks that decide about calls.

use std::path::{Path, PathBuf};

use super::agent::Agent;
use super::content::home_dir;
use crate::io::Environment;

/// The syntax of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsSyntax {
    /// JSON, with comments.
    Json,
    /// TOML.
    Toml,
}

/// The settings file of an agent, and the hooks that ask about calls.
#[derive(Debug, Clone, Copy)]
pub struct HookSettings {
    pub syntax: SettingsSyntax,
    /// The agent's event, and the subcommand of `turnpipe hook` that answers it.
    pub hooks: &'static [(&'static str, &'static str)],
    /// The value of `timeout`: ten seconds, in the unit of the agent.
    pub timeout: u32,
    /// Whether a hook has a member `name`.
    pub has_names: bool,
    /// The variables that name the user's directory, and the usual one below `HOME`.
    user: (&'static [&'static str], &'static str),
    /// The file in the user's directory.
    file: &'static str,
    /// The file in a project.
    project: &'static str,
    /// Whether the agent ignores a hook until the user trusts it.
    pub needs_trust: bool,
    /// What the user has to do before the agent runs the hook.
    pub activation: &'static str,
}

impl HookSettings {
    /// Returns the user's settings file. `None` without a home directory.
    pub fn user_file(&self, environment: &Environment) -> Option<PathBuf> {
        let (variables, usual) = self.user;
        Some(home_dir(environment, variables, usual)?.join(self.file))
    }

    /// Returns the settings file of a project.
    pub fn project_file(&self, project: &Path) -> PathBuf {
        project.join(self.project)
    }
}

const CLAUDE: HookSettings = HookSettings {
    syntax: SettingsSyntax::Json,
    hooks: &[("PreToolUse", "pre-tool-use")],
    timeout: 10,
    has_names: false,
    user: (&["CLAUDE_CONFIG_DIR"], ".claude"),
    file: "settings.json",
    project: ".claude/settings.json",
    needs_trust: false,
    activation: "new sessions use it; `/hooks` lists it",
};

const QWEN: HookSettings = HookSettings {
    // PermissionRequest avoids the question that precedes PreToolUse.
    hooks: &[
        ("PreToolUse", "pre-tool-use"),
        ("PermissionRequest", "permission-request"),
    ],
    user: (&["QWEN_HOME"], ".qwen"),
    project: ".qwen/settings.json",
    ..CLAUDE
};

const CODEX: HookSettings = HookSettings {
    syntax: SettingsSyntax::Toml,
    user: (&["CODEX_HOME"], ".codex"),
    file: "config.toml",
    project: ".codex/config.toml",
    needs_trust: true,
    activation: "start codex, enter `/hooks`, and trust the hook; until then it is skipped silently",
    ..QWEN
};

const GEMINI: HookSettings = HookSettings {
    hooks: &[("BeforeTool", "pre-tool-use")],
    timeout: 10_000,
    has_names: true,
    user: (&["GEMINI_CLI_HOME"], ""),
    file: ".gemini/settings.json",
    project: ".gemini/settings.json",
    activation: "new sessions use it; in a project, the directory must be trusted",
    ..CLAUDE
};

impl Agent {
    /// Returns the hook settings of the agent. `None` if it has no hooks that run commands.
    pub fn hook_settings(self) -> Option<&'static HookSettings> {
        match self {
            Self::Claude => Some(&CLAUDE),
            Self::Qwen => Some(&QWEN),
            Self::Codex => Some(&CODEX),
            Self::Gemini => Some(&GEMINI),
            Self::Pi | Self::Opencode | Self::Copilot | Self::Droid | Self::Cursor => None,
        }
    }
}
