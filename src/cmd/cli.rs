//! The whole command line.

use clap::{ArgAction, Args, Parser};

use super::Outcome;
use super::check::CheckArguments;
use super::color::ColorWhen;
use super::completions::CompletionsArguments;
use super::man::ManArguments;
use super::run_tools::RunToolsArguments;
use super::state::StateArguments;
use crate::config::ConfigSource;
use crate::io::Io;

/// The inner machinery of a coding agent as composable Unix filters
///
/// Every subcommand reads records, one JSON object a line, and writes records. Standard output holds
/// nothing else; what is meant for people goes to standard error.
#[derive(Debug, Parser)]
#[command(
    name = "turnpipe",
    version,
    max_term_width = 100,
    args_override_self = true,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_long_help = EXIT_STATUS
)]
pub(super) struct Cli {
    /// Options of every subcommand.
    #[command(flatten)]
    pub(super) globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub(super) subcommand: Subcommand,
}

/// Options that every subcommand takes, before or after its name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Globals {
    /// Print no warnings and hints, only errors
    #[arg(short, long, global = true, action = ArgAction::SetTrue)]
    pub(super) quiet: bool,
    /// Say on standard error what was done
    #[arg(short, long, global = true, action = ArgAction::SetTrue, overrides_with = "quiet")]
    pub(super) verbose: bool,
    /// Read this configuration file instead of the usual one
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<std::path::PathBuf>,
    /// Read no configuration file
    #[arg(long, global = true)]
    no_config: bool,
    /// When to colour help and usage errors
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = false
    )]
    pub(super) color: ColorWhen,
}

/// The subcommands. Their help stands at their arguments.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Subcommand {
    Check(CheckArguments),
    Completions(CompletionsArguments),
    RunTools(Box<RunToolsArguments>),
    State(StateArguments),
    Man(ManArguments),
}

impl Globals {
    /// Which configuration file to read.
    pub(super) fn config_source(&self) -> ConfigSource {
        match (&self.config, self.no_config) {
            (Some(path), _) => ConfigSource::Named(path.clone()),
            (None, true) => ConfigSource::Nothing,
            (None, false) => ConfigSource::Usual,
        }
    }
}

impl Cli {
    /// Runs the subcommand.
    ///
    /// # Errors
    /// What the subcommand failed at.
    pub(super) fn run(self, io: &mut Io) -> anyhow::Result<Outcome> {
        match self.subcommand {
            Subcommand::Check(arguments) => arguments.run(&self.globals, io),
            Subcommand::Completions(arguments) => arguments.run(io),
            Subcommand::Man(arguments) => arguments.run(),
            Subcommand::RunTools(arguments) => arguments.run(&self.globals, io),
            Subcommand::State(arguments) => arguments.run(&self.globals, io),
        }
    }
}

const EXIT_STATUS: &str = "\
Exit status:
  0         done; a failed tool is data, not a failure
  1         done, and the answer is no (only where an option asks for it)
  2         usage or configuration error, nothing was run
  3         the input had unusable records and --strict was given
  74        reading or writing failed
  130, 143  interrupted, terminated
  141       the reader of results went away while tools were running";
