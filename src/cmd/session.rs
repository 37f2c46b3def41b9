//! `session`: the session files of agents.

use clap::{Args, Subcommand};

use super::session_append::SessionAppendArguments;
use super::session_check::SessionCheckArguments;
use super::session_list::SessionListArguments;
use super::session_path::SessionPathArguments;
use super::session_rename::SessionRenameArguments;
use super::session_search::SessionSearchArguments;
use super::session_show::SessionShowArguments;
use super::session_stats::SessionStatsArguments;
use super::session_tail::SessionTailArguments;
use super::{Globals, Outcome};
use crate::io::Io;

/// Read the session files of coding agents
///
/// Claude Code, Qwen Code, Codex, Gemini CLI and pi; whose file it is is told by its content. A
/// session is named by its path, its id or the beginning of it, its title, or `latest`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(super) struct SessionArguments {
    /// What to do.
    #[command(subcommand)]
    command: SessionCommand,
}

#[derive(Debug, Subcommand)]
enum SessionCommand {
    List(SessionListArguments),
    Show(SessionShowArguments),
    Tail(SessionTailArguments),
    Search(SessionSearchArguments),
    Check(SessionCheckArguments),
    Stats(SessionStatsArguments),
    Path(SessionPathArguments),
    Append(SessionAppendArguments),
    Rename(SessionRenameArguments),
}

impl SessionArguments {
    /// Does it.
    ///
    /// # Errors
    /// Reading or writing failed, or the arguments make no sense.
    pub(super) fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        match self.command {
            SessionCommand::List(arguments) => arguments.run(globals, io),
            SessionCommand::Show(arguments) => arguments.run(globals, io),
            SessionCommand::Tail(arguments) => arguments.run(io),
            SessionCommand::Search(arguments) => arguments.run(globals, io),
            SessionCommand::Check(arguments) => arguments.run(io),
            SessionCommand::Stats(arguments) => arguments.run(io),
            SessionCommand::Path(arguments) => arguments.run(io),
            SessionCommand::Append(arguments) => arguments.run(io),
            SessionCommand::Rename(arguments) => arguments.run(io),
        }
    }
}
