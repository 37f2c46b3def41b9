//! The command line: the table of commands and their parser.

use std::ffi::OsString;

use clap::{ArgMatches, Args, FromArgMatches};

use super::{Globals, Status};
use crate::commands::admin::{completions, doctor, generated, hook_settings, state_clean};
use crate::commands::check::{permission, shell_and_text};
use crate::commands::command::{Command, Definitions, HelpArguments, Kind, add_overview};
use crate::commands::run::{hook, run_tools, sandbox, tools, turn};
use crate::commands::session::{
    append, archive, calls, check, export, list, rename, report, search, show, stats, tail,
};
use crate::commands::summaries::{recap, summarize_batch, title};
use crate::io::Io;

/// All commands.
const COMMANDS: &[Command] = &[
    Command::new::<run_tools::RunToolsArguments>("run-tools"),
    Command::new::<summarize_batch::SummarizeBatchArguments>("summarize-batch"),
    Command::new::<title::TitleArguments>("title"),
    Command::new::<recap::RecapArguments>("recap"),
    Command::new::<turn::TurnArguments>("turn"),
    Command::group(
        "check",
        "Check commands, calls or texts, one per line",
        "Nothing is run or changed, and no network is used. Records come in the order of the \
                 input.",
        &[
            Command::new::<shell_and_text::CheckShellArguments>("shell"),
            Command::new::<permission::CheckPermissionArguments>("permission"),
            Command::new::<shell_and_text::CheckTextArguments>("text"),
        ],
    ),
    Command::group(
        "hook",
        "Decide as a hook of another agent whether its calls may run",
        "`install` adds the hook to the settings of an agent. `pre-tool-use` and \
                 `permission-request` respond to the agent; both do the same, since the input says which hook it is.",
        &[
            Command::new::<hook_settings::HookInstallArguments>("install"),
            Command::new::<hook_settings::HookUninstallArguments>("uninstall"),
            Command::new::<hook_settings::HookStatusArguments>("status"),
            Command::new::<hook_settings::HookTestArguments>("test"),
            Command::new::<hook_settings::HookExplainArguments>("explain"),
            Command::new::<hook::HookArguments>("pre-tool-use"),
            Command::new::<hook::HookArguments>("permission-request"),
        ],
    ),
    Command::group(
        "session",
        "Read the session files of coding agents",
        "`turnpipe help files` lists the agents and their directories; a file's content says which \
                 agent wrote it. A session is named by its path, its id or a prefix of it, \
                 its title, or `latest`; `-` is standard input.",
        &[
            Command::new::<list::SessionListArguments>("list"),
            Command::new::<show::SessionShowArguments>("show"),
            Command::new::<export::SessionExportArguments>("export"),
            Command::new::<tail::SessionTailArguments>("tail"),
            Command::new::<search::SessionSearchArguments>("search"),
            Command::new::<calls::SessionCallsArguments>("calls"),
            Command::new::<show::SessionDiffArguments>("diff"),
            Command::new::<report::SessionReportArguments>("report"),
            Command::new::<check::SessionCheckArguments>("check"),
            Command::new::<stats::SessionStatsArguments>("stats"),
            Command::new::<list::SessionPathArguments>("path"),
            Command::new::<append::SessionAppendArguments>("append"),
            Command::new::<rename::SessionRenameArguments>("rename"),
            Command::new::<archive::SessionArchiveArguments>("archive"),
            Command::new::<archive::SessionRemoveArguments>("remove"),
        ],
    ),
    // What people type daily, without `session`.
    Command::new::<list::SessionListArguments>("list"),
    Command::new::<show::SessionShowArguments>("show"),
    Command::new::<search::SessionSearchArguments>("search"),
    Command::new::<stats::SessionStatsArguments>("stats"),
    Command::new::<sandbox::SandboxArguments>("sandbox"),
    Command::new::<tools::ToolsArguments>("tools"),
    Command::new::<generated::SchemaArguments>("schema"),
    Command::group(
        "state",
        "Manage the saved state of sessions",
        "State is kept for a session's next process: saved results and title attempts.",
        &[Command::new::<state_clean::StateCleanArguments>("clean")],
    ),
    Command::new::<doctor::DoctorArguments>("doctor"),
    Command::new::<completions::CompletionsArguments>("completions"),
    Command::new::<generated::ManArguments>("man"),
    Command::new::<HelpArguments>("help"),
];

/// Returns the command named in `arguments`, e.g. `turnpipe check text`, also after `help`.
pub(super) fn command_name(arguments: &[OsString]) -> String {
    let mut commands = COMMANDS;
    let mut words = vec!["turnpipe"];
    for argument in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        if argument == "help" {
            continue;
        }
        if let Some(command) = Command::find(commands, argument) {
            words.push(command.name);
            commands = command.members();
        }
    }
    words.join(" ")
}

/// Returns the full names of the commands called `name` inside groups.
pub(super) fn names_in_groups(name: &str) -> impl Iterator<Item = String> {
    let groups = COMMANDS.iter();
    let found = groups.filter(move |group| Command::find(group.members(), name).is_some());
    found.map(move |group| format!("turnpipe {} {name}", group.name))
}

/// Returns the parser of the whole command line.
pub(super) fn parser(definitions: Definitions<'_>) -> clap::Command {
    let parser = Globals::augment_args(clap::Command::new("turnpipe"))
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(100)
        .args_override_self(true)
        .arg_required_else_help(true)
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommands(definitions.parsers(COMMANDS));
    match definitions {
        Definitions::Named(_) => parser,
        Definitions::Eager => add_overview(parser),
    }
}

/// Runs the parsed command.
///
/// # Errors
/// The command failed.
pub(super) fn run(mut matches: &ArgMatches, io: &mut Io) -> anyhow::Result<Status> {
    let mut globals = Globals::from_arg_matches(matches)?;
    globals.parser = || parser(Definitions::Eager);
    io.messages.set_level(globals.level());
    let mut commands = COMMANDS;
    while let Some((name, arguments)) = matches.subcommand()
        && let Some(command) = Command::find(commands, name)
    {
        if let Kind::Single { run, .. } = command.kind {
            return run(arguments, &globals, io);
        }
        (matches, commands) = (arguments, command.members());
    }
    // Unreachable: the parser requires a command.
    Ok(Status::UsageError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        parser(Definitions::Eager).debug_assert();
    }

    #[test]
    fn the_overview_lists_every_command() {
        for command in COMMANDS.iter().filter(|command| command.name != "help") {
            let mut words = crate::commands::command::OVERVIEW.split([' ', ',', '\n']);
            assert!(words.any(|word| word == command.name), "{}", command.name);
        }
    }
}
