//! Permission settings of commands that decide whether calls may run.

use std::path::Path;

use crate::cmd::{Globals, UsageError};
use crate::config::{ConfigError, PermissionFlags, PermissionSettings};
use crate::io::Io;

/// Returns the permissions set by arguments, settings files and the configuration for a session that
/// starts in `directory`. Prints warnings.
///
/// # Errors
/// A file is unreadable or invalid, or a rule is malformed.
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
                usage.with_hint("`--ignore-unknown-settings` ignores it")
            }
            _ => usage,
        }
    })?;
    for warning in &settings.warnings {
        io.messages.warn(warning);
    }
    Ok(settings)
}
