//! `completions`: scripts that make shells complete the command line.

use clap::Args;
use clap_complete::Shell;

use super::{Outcome, output};
use crate::io::Io;

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe completions bash > turnpipe.bash")]
pub(super) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

impl CompletionsArguments {
    /// Prints the script for the command line that `parser` parses.
    ///
    /// # Errors
    /// Writing failed.
    pub(super) fn run(self, parser: &mut clap::Command, io: &mut Io) -> anyhow::Result<Outcome> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, parser, "turnpipe", &mut script);
        output::print(io, &String::from_utf8_lossy(&script))?;
        Ok(Outcome::Done)
    }
}
