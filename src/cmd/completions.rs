//! `completions`: scripts that make shells complete the command line.

use clap::Args;
use clap_complete::Shell;

use super::{Outcome, cli, output};
use crate::io::Io;

/// Print a shell completion script
#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell
    pub(super) shell: Shell,
}

impl CompletionsArguments {
    /// Prints the script.
    ///
    /// # Errors
    /// Writing failed.
    pub(super) fn run(self, io: &mut Io) -> anyhow::Result<Outcome> {
        output::print(io, &completion_script(self.shell))?;
        Ok(Outcome::Done)
    }
}

/// The completion script for `shell`.
pub(super) fn completion_script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut cli::parser(), "turnpipe", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
