//! Permission decisions without execution, and the arguments of permissions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::cmd::{Globals, UsageError};
use crate::config::{ConfigError, PermissionFlags, PermissionSettings};
use crate::io::{Environment, Io};
use crate::permission::{Decided, Mode};
use crate::process::{Enforcement, LaneOptions, NotEnforced, Supervisor};
use crate::tools::{AskedCall, DecisionContext, Input, Registry, ShellGuarantees};

/// Returns the context of decisions in a session that may work in `directories` and starts in the
/// first.
///
/// # Errors
/// The lane cannot be set up.
pub(crate) fn decision_context(
    directories: Vec<PathBuf>,
    environment: Environment,
    shell: ShellGuarantees,
) -> Result<DecisionContext, NotEnforced> {
    let lane = LaneOptions {
        enforcement: Enforcement::Auto,
        temporary: None,
    };
    Ok(DecisionContext {
        directory: directories.first().cloned().unwrap_or_default(),
        allowed_directories: directories,
        environment: Arc::new(environment),
        kept_variables: Arc::default(),
        lane: Arc::new(Supervisor::default().lane(1, lane)?),
        shell,
    })
}

/// Decides about calls by the permission settings.
pub(crate) struct CallDecisions {
    registry: Registry,
    settings: PermissionSettings,
    context: DecisionContext,
}

impl CallDecisions {
    /// Decides for a session that starts in `start`.
    ///
    /// # Errors
    /// The lane cannot be set up.
    pub(crate) fn new(
        registry: Registry,
        settings: PermissionSettings,
        start: PathBuf,
        shell: ShellGuarantees,
        io: &Io,
    ) -> Result<Self, NotEnforced> {
        let directories = [vec![start], settings.directories.clone()].concat();
        let environment = io.environment.with(&settings.environment);
        Ok(Self {
            context: decision_context(directories, environment, shell)?,
            registry,
            settings,
        })
    }

    /// Returns the permission mode.
    pub(crate) fn mode(&self) -> Mode {
        self.settings.mode
    }

    /// Returns the decision about a call in `directory`.
    pub(crate) fn decide(
        &self,
        name: &str,
        input: &Input,
        directory: &Path,
        mode: Mode,
    ) -> (AskedCall, Decided) {
        let context = DecisionContext {
            directory: directory.to_owned(),
            ..self.context.clone()
        };
        let call = self.registry.asked(name, input, &context);
        let request = context.request(&call.tool, &call.input, &call.action);
        let decided = self.settings.rules.decide(mode, &request);
        (call, decided)
    }
}

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
