//! `check`: verdicts on input lines.

use clap::{Args, Subcommand};

use super::check_shell::CheckShellArguments;
use super::check_text::CheckTextArguments;
use super::{Globals, Outcome};
use crate::io::Io;

/// Ask for a verdict on each input line
///
/// Nothing of it is run, nothing is changed, no network is used. Every input line is answered by one
/// record, in input order.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(super) struct CheckArguments {
    /// What to check.
    #[command(subcommand)]
    pub(super) command: CheckCommand,
}

/// The checks.
#[derive(Debug, Subcommand)]
pub(super) enum CheckCommand {
    Shell(CheckShellArguments),
    Text(CheckTextArguments),
}

impl CheckArguments {
    /// Runs the check.
    ///
    /// # Errors
    /// Reading or writing failed, or the arguments make no sense.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        match self.command {
            CheckCommand::Shell(arguments) => arguments.run(globals, io),
            CheckCommand::Text(arguments) => arguments.run(globals, io),
        }
    }
}
