//! The arguments of the parallel lane.

use clap::Args;
use tempfile::TempDir;

use crate::cmd::UsageError;
use crate::config::Settings;
use crate::exec::ShellVerdicts;
use crate::process::{Enforcement, LaneOptions, Spawners, Supervisor};

#[derive(Debug, Args)]
pub(crate) struct LaneArguments {
    /// Whether the kernel must prevent parallel calls from writing
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_short_help = true
    )]
    enforce: Enforcement,
    /// Run all shell commands in parallel (to test `--enforce`)
    #[arg(long, hide = true)]
    assume_read_only: bool,
}

impl LaneArguments {
    /// Whether shell commands are analysed.
    pub(crate) fn shell_verdicts(&self) -> ShellVerdicts {
        if self.assume_read_only {
            ShellVerdicts::AssumedReadOnly
        } else {
            ShellVerdicts::Analysed
        }
    }

    /// Starts the lane with this many threads. Its temporary files are removed with the returned
    /// directory.
    ///
    /// # Errors
    /// Enforcement is required, and the kernel does not support it.
    pub(crate) fn lane(
        &self,
        children: &Supervisor,
        threads: usize,
        settings: &Settings,
    ) -> Result<(Spawners, Option<TempDir>), UsageError> {
        let scratch = &settings.temporary_directory;
        let is_confined = self.enforce != Enforcement::Off;
        // Most commands need no temporary files, so a failure is ignored.
        let temporary = is_confined
            .then(|| {
                tempfile::Builder::new()
                    .prefix("turnpipe-")
                    .tempdir_in(scratch)
            })
            .and_then(Result::ok);
        let options = LaneOptions {
            enforcement: self.enforce,
            temporary: temporary.as_ref().map(|directory| directory.path().into()),
        };
        let spawners = children
            .lane(threads, options)
            .map_err(UsageError::reason)?
            .with_spill_directory(scratch.clone());
        Ok((spawners, temporary))
    }
}
