//! `sandbox` on systems that have none.

use std::ffi::OsString;

use clap::Args;

use crate::commands::{Globals, Run, Status, UsageError};
use crate::io::Io;

/// Run a command that cannot open or change certain files (on Linux only)
#[derive(Debug, Args)]
pub(crate) struct SandboxArguments {
    /// Options, the command and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl Run for SandboxArguments {
    fn run(self, _: &Globals, _: &mut Io) -> anyhow::Result<Status> {
        let problem = "sandboxes need Linux on x86-64 or aarch64";
        Err(UsageError::new(problem).into())
    }
}
