//! The context of a command in its line.

/// The context of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CommandContext {
    /// The shell that runs it.
    pub(super) shell: Shell,
    /// Whether it may run more than once.
    pub(super) repeated: bool,
    /// Whether its output goes to another command, which may end first.
    pub(super) is_piped: bool,
}

/// The shell that runs a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Shell {
    /// The main shell.
    #[default]
    Main,
    /// A subshell; its directory has no effect afterwards.
    Subshell,
    /// A subshell that may outlive the command line.
    Unattended,
}

impl CommandContext {
    pub(super) fn in_subshell(self) -> Self {
        match self.shell {
            Shell::Main => Self {
                shell: Shell::Subshell,
                ..self
            },
            Shell::Subshell | Shell::Unattended => self,
        }
    }

    pub(super) fn in_loop(self) -> Self {
        Self {
            repeated: true,
            ..self
        }
    }
}
