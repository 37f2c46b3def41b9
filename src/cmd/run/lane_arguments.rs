//! The arguments of `run-tools` that concern the parallel lane.

use clap::Args;
use tempfile::TempDir;

use crate::cmd::UsageError;
use crate::config::Settings;
use crate::exec::ShellVerdicts;
use crate::process::{Enforcement, LaneOptions, Spawners};

#[derive(Debug, Args)]
pub(crate) struct LaneArguments {
    /// Whether the kernel must keep parallel calls from writing
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    enforce: Enforcement,
    /// Run all shell commands in parallel (for tests of --enforce)
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

    /// What starts the children of the lane, with this many threads, and a place for their temporary
    /// files, which are removed with it at the latest.
    ///
    /// # Errors
    /// Enforcement is required, and the kernel does not do it.
    pub(crate) fn lane(
        &self,
        threads: usize,
        settings: &Settings,
    ) -> Result<(Spawners, Option<TempDir>), UsageError> {
        let scratch = &settings.temporary_directory;
        let is_confined = self.enforce != Enforcement::Off;
        // Most commands do without temporary files, so it is not a failure if there is no place.
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
        let spawners = Spawners::lane(threads, options)
            .map_err(UsageError::reason)?
            .with_spill_directory(scratch.clone());
        Ok((spawners, temporary))
    }
}
