//! Hooks in the settings of agents, and what is wrong with settings.

/// A hook of turnpipe in the settings of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledHook {
    /// The agent's event.
    pub event: &'static str,
    /// The command that the agent runs.
    pub command: String,
    /// Whether the agent's user trusts the hook. `None` if the agent needs no trust.
    pub is_trusted: Option<bool>,
}

/// Settings that cannot be edited.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not valid.
    #[error("{0}")]
    Invalid(String),
    /// A member has an unexpected type.
    #[error("`{0}` has an unexpected type")]
    Unexpected(String),
    /// The file would be turnpipe's alone, and is not.
    #[error("was not written by turnpipe")]
    Foreign,
}

pub(super) fn unexpected(name: &str) -> SettingsError {
    SettingsError::Unexpected(name.to_owned())
}

/// Whether a command runs `turnpipe hook`.
pub(super) fn is_ours(command: &str) -> bool {
    let words = shlex::split(command).unwrap_or_default();
    let program = words.first().map(|word| word.rsplit('/').next());
    program == Some(Some("turnpipe")) && words.get(1).is_some_and(|word| word == "hook")
}

/// The command for a subcommand of `turnpipe hook`. `None` removes the hooks.
pub(super) type NewCommand<'a> = Option<&'a dyn Fn(&str) -> String>;
