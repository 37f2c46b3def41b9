//! Arguments of `turn` about `Stop` hooks, and its exit status.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::client::model::Retryability;
use crate::commands::error::ModelFailures;
use crate::commands::run::guards::HookSource;
use crate::commands::{Globals, Status, UsageError};
use crate::config::PermissionFlags;
use crate::io::{Io, Messages};
use crate::run::hooks::HookEvent;
use crate::run::turn::{StopHooks, WrittenReply};

/// Reports how a reply ended. Returns the exit status.
pub(crate) fn report_end(end: &WrittenReply, messages: &Messages) -> Status {
    if let Some(problems) = &end.misfit {
        let problems = problems.replace('\n', "; ");
        messages.error(&format!(
            "the last reply does not fit the schema: {problems}"
        ));
        return Status::OutputMismatch;
    }
    let mut failures = ModelFailures::new(messages);
    if let Err(failure) = &end.reply {
        if failure.retryability() != Retryability::Stopped {
            messages.log(&failure.to_string());
        }
        failures.report(failure);
    }
    failures.outcome(0, false, Status::Done)
}

#[derive(Debug, Args)]
pub(crate) struct StopArguments {
    /// Run the `Stop` hooks of a settings file of Claude Code or Qwen Code after a reply without calls;
    /// repeatable
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    settings: Vec<PathBuf>,
}

impl StopArguments {
    /// Returns the `Stop` hooks; `None` if none is configured.
    ///
    /// # Errors
    /// A file is unreadable or invalid.
    pub(crate) fn load_hooks(
        &self,
        directory: PathBuf,
        transcript: Option<&Path>,
        before: u64,
        globals: &Globals,
        io: &Io,
    ) -> Result<Option<StopHooks>, UsageError> {
        if self.settings.is_empty() {
            return Ok(None);
        }
        let flags = PermissionFlags {
            settings: self.settings.clone(),
            // No calls are decided here.
            ignore_unknown_settings: true,
            ..PermissionFlags::default()
        };
        let config = globals.config(io)?;
        let settings = config
            .permissions(&flags, &directory)
            .map_err(UsageError::reason)?;
        let all = HookSource {
            settings: &settings,
            project: &directory,
            transcript,
            kept_variables: &[],
        }
        .load(Arc::new(globals.children.spawners(1)), globals, io)?;
        let stop = all.filter(|session| session.hooks.has(HookEvent::Stop));
        Ok(stop.map(|hooks| StopHooks {
            hooks,
            cap: config.stop_hook_cap(),
            mode: settings.mode,
            directory,
            continuations: before,
        }))
    }
}
