//! The arguments of commands that decide whether calls may run.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Globals, UsageError};
use crate::config::{PermissionFlags, PermissionSettings};
use crate::io::Io;
use crate::permission::Mode;

#[derive(Debug, Args)]
pub(super) struct PermissionArguments {
    /// Take permission rules and hooks from a settings file of Claude Code or Qwen Code; repeatable
    #[arg(long, value_name = "FILE")]
    settings: Vec<PathBuf>,
    /// Allow the calls that a rule matches, e.g. `Bash(npm test *)`; repeatable
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Ask about the calls that a rule matches; repeatable
    #[arg(long, value_name = "RULE")]
    ask: Vec<String>,
    /// Deny the calls that a rule matches, whatever else allows them; repeatable
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// What happens to calls that no rule decides [default: the mode of the settings, else `default`]
    #[arg(long, value_enum, value_name = "MODE")]
    permission_mode: Option<Mode>,
}

impl PermissionArguments {
    /// The mode that the arguments themselves name.
    pub(super) fn given_mode(&self) -> Option<Mode> {
        self.permission_mode
    }

    /// What the arguments, the settings files and the configuration say, for a session that starts
    /// in `directory`. Warnings are printed.
    ///
    /// # Errors
    /// A file cannot be used, or a rule is malformed.
    pub(super) fn load(
        &self,
        directory: &Path,
        globals: &Globals,
        io: &Io,
    ) -> Result<PermissionSettings, UsageError> {
        let flags = PermissionFlags {
            settings: self.settings.clone(),
            allow: self.allow.clone(),
            ask: self.ask.clone(),
            deny: self.deny.clone(),
            mode: self.permission_mode,
        };
        let config = globals.config(&io.environment)?;
        let settings = config
            .permissions(&flags, directory)
            .map_err(UsageError::reason)?;
        if !globals.quiet {
            for warning in &settings.warnings {
                io.messages.note(warning);
            }
        }
        Ok(settings)
    }
}
