//! The arguments of `run-tools` that concern the parallel lane.

use clap::Args;

use super::UsageError;
use crate::config::Settings;
use crate::exec::ShellVerdicts;
use crate::process::{Enforcement, LaneOptions, Spawners};

#[derive(Debug, Args)]
pub(super) struct LaneArguments {
    /// Whether the kernel must keep calls that run side by side from writing
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    enforce: Enforcement,
    /// Give calls that run side by side a private directory for temporary files
    #[arg(long)]
    lane_tmp: bool,
    /// Let all shell commands run side by side (for tests of --enforce)
    #[arg(long, hide = true)]
    assume_read_only: bool,
}

impl LaneArguments {
    /// What shell commands count as.
    pub(super) fn shell_verdicts(&self) -> ShellVerdicts {
        if self.assume_read_only {
            ShellVerdicts::AssumedReadOnly
        } else {
            ShellVerdicts::Analysed
        }
    }

    /// What starts the children of the lane, on so many threads.
    ///
    /// # Errors
    /// Enforcement is required, and the kernel does not do it.
    pub(super) fn spawners(
        &self,
        threads: usize,
        settings: &Settings,
    ) -> Result<Spawners, UsageError> {
        let scratch = &settings.temporary_directory;
        let options = LaneOptions {
            enforcement: self.enforce,
            temporary: self.lane_tmp.then(|| scratch.clone()),
        };
        Spawners::lane(threads, options)
            .map(|lane| lane.with_spill_directory(scratch.clone()))
            .map_err(|error| UsageError::new(error.to_string()))
    }
}
