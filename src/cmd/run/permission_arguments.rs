//! The arguments of commands that decide whether calls may run.

use std::path::Path;

use crate::cmd::{Globals, UsageError};
use crate::config::{ConfigError, PermissionFlags, PermissionSettings};
use crate::io::Io;

/// What the arguments, the settings files and the configuration say, for a session that starts in
/// `directory`. Warnings are printed.
///
/// # Errors
/// A file cannot be used, or a rule is malformed.
pub(crate) fn permissions(
    flags: &PermissionFlags,
    directory: &Path,
    globals: &Globals,
    io: &Io,
) -> Result<PermissionSettings, UsageError> {
    let config = globals.config(&io.environment)?;
    let settings = config.permissions(flags, directory).map_err(|error| {
        let usage = UsageError::reason(&error);
        match error {
            ConfigError::UnknownRestriction { .. } => {
                usage.with_hint("`--ignore-unknown-settings` runs without it")
            }
            _ => usage,
        }
    })?;
    if !globals.quiet {
        for warning in &settings.warnings {
            io.messages.note(warning);
        }
    }
    Ok(settings)
}
