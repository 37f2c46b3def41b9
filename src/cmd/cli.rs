//! The command line: the table of commands and their parser.

use std::ffi::OsString;

use clap::{ArgMatches, Args, FromArgMatches};

use super::{Globals, Status};
use crate::cmd::admin::completions::CompletionsArguments;
use crate::cmd::admin::doctor::DoctorArguments;
use crate::cmd::admin::hook_explain::HookExplainArguments;
use crate::cmd::admin::hook_settings::{
    HookInstallArguments, HookStatusArguments, HookUninstallArguments,
};
use crate::cmd::admin::man::ManArguments;
use crate::cmd::admin::schema::SchemaArguments;
use crate::cmd::admin::state_clean::StateCleanArguments;
use crate::cmd::check::permission::CheckPermissionArguments;
use crate::cmd::check::shell::CheckShellArguments;
use crate::cmd::check::text::CheckTextArguments;
use crate::cmd::command::{Command, Definitions, Kind};
use crate::cmd::help::{self, HelpArguments};
use crate::cmd::run::hook::HookArguments;
use crate::cmd::run::run_tools::RunToolsArguments;
use crate::cmd::run::tools::ToolsArguments;
use crate::cmd::run::turn::TurnArguments;
use crate::cmd::session::append::SessionAppendArguments;
use crate::cmd::session::calls::SessionCallsArguments;
use crate::cmd::session::check::SessionCheckArguments;
use crate::cmd::session::diff::SessionDiffArguments;
use crate::cmd::session::export::SessionExportArguments;
use crate::cmd::session::list::SessionListArguments;
use crate::cmd::session::path::SessionPathArguments;
use crate::cmd::session::rename::SessionRenameArguments;
use crate::cmd::session::report::SessionReportArguments;
use crate::cmd::session::search::SessionSearchArguments;
use crate::cmd::session::show::SessionShowArguments;
use crate::cmd::session::stats::SessionStatsArguments;
use crate::cmd::session::tail::SessionTailArguments;
use crate::cmd::side::recap::RecapArguments;
use crate::cmd::side::summarize_batch::SummarizeBatchArguments;
use crate::cmd::side::title::TitleArguments;
use crate::io::Io;

/// All commands.
const COMMANDS: &[Command] = &[
    Command::new::<RunToolsArguments>("run-tools"),
    Command::new::<SummarizeBatchArguments>("summarize-batch"),
    Command::new::<TitleArguments>("title"),
    Command::new::<RecapArguments>("recap"),
    Command::new::<TurnArguments>("turn"),
    Command {
        name: "check",
        kind: Kind::Group {
            about: "Check commands, calls or texts, one per line",
            details: "Nothing is run or changed, and no network is used. Records come in the order of the \
                 input.",
            commands: &[
                Command::new::<CheckShellArguments>("shell"),
                Command::new::<CheckPermissionArguments>("permission"),
                Command::new::<CheckTextArguments>("text"),
            ],
        },
    },
    Command {
        name: "hook",
        kind: Kind::Group {
            about: "Decide as a hook of another agent whether its calls may run",
            details: "`install` adds the hook to the settings of an agent. `pre-tool-use` and \
                 `permission-request` respond to the agent; both do the same, since the input says which hook it is.",
            commands: &[
                Command::new::<HookInstallArguments>("install"),
                Command::new::<HookUninstallArguments>("uninstall"),
                Command::new::<HookStatusArguments>("status"),
                Command::new::<HookExplainArguments>("explain"),
                Command::new::<HookArguments>("pre-tool-use"),
                Command::new::<HookArguments>("permission-request"),
            ],
        },
    },
    Command {
        name: "session",
        kind: Kind::Group {
            about: "Read the session files of coding agents",
            details: "Claude Code, Qwen Code, Codex, Gemini CLI, pi, opencode, GitHub Copilot CLI, Droid and Cursor; a file's content says which \
                 agent wrote it. A session is named by its path, its id or a prefix of it, \
                 its title, or `latest`; `-` is standard input.",
            commands: &[
                Command::new::<SessionListArguments>("list"),
                Command::new::<SessionShowArguments>("show"),
                Command::new::<SessionExportArguments>("export"),
                Command::new::<SessionTailArguments>("tail"),
                Command::new::<SessionSearchArguments>("search"),
                Command::new::<SessionCallsArguments>("calls"),
                Command::new::<SessionDiffArguments>("diff"),
                Command::new::<SessionReportArguments>("report"),
                Command::new::<SessionCheckArguments>("check"),
                Command::new::<SessionStatsArguments>("stats"),
                Command::new::<SessionPathArguments>("path"),
                Command::new::<SessionAppendArguments>("append"),
                Command::new::<SessionRenameArguments>("rename"),
            ],
        },
    },
    Command::new::<ToolsArguments>("tools"),
    Command::new::<SchemaArguments>("schema"),
    Command {
        name: "state",
        kind: Kind::Group {
            about: "Manage the saved state of sessions",
            details: "State is kept for a session's next process: saved results and title attempts.",
            commands: &[Command::new::<StateCleanArguments>("clean")],
        },
    },
    Command::new::<DoctorArguments>("doctor"),
    Command::new::<CompletionsArguments>("completions"),
    Command {
        name: "man",
        kind: Kind::Single {
            augment: ManArguments::augment_args,
            run: |matches, _, _| {
                let arguments = ManArguments::from_arg_matches(matches)?;
                arguments.run(parser(Definitions::Eager))
            },
        },
    },
    Command {
        name: "help",
        kind: Kind::Single {
            augment: HelpArguments::augment_args,
            run: |matches, globals, io| {
                let arguments = HelpArguments::from_arg_matches(matches)?;
                arguments.run(parser(Definitions::Eager), globals, io)
            },
        },
    },
];

/// Returns the command named in `arguments`, e.g. `turnpipe check text`, also after `help`.
pub(super) fn named(arguments: &[OsString]) -> String {
    let mut commands = COMMANDS;
    let mut words = vec!["turnpipe"];
    for argument in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        if argument == "help" {
            continue;
        }
        if let Some(command) = Command::named(commands, argument) {
            words.push(command.name);
            commands = command.members();
        }
    }
    words.join(" ")
}

/// Returns the full names of the commands called `name` inside groups.
pub(super) fn grouped(name: &str) -> impl Iterator<Item = String> {
    let groups = COMMANDS.iter();
    let found = groups.filter(move |group| Command::named(group.members(), name).is_some());
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
        Definitions::Eager => help::described(parser),
    }
}

/// Runs the parsed command.
///
/// # Errors
/// The command failed.
pub(super) fn run(mut matches: &ArgMatches, io: &mut Io) -> anyhow::Result<Status> {
    let globals = Globals::from_arg_matches(matches)?;
    io.messages.set_level(globals.level());
    let mut commands = COMMANDS;
    while let Some((name, arguments)) = matches.subcommand()
        && let Some(command) = Command::named(commands, name)
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
            let mut words = help::OVERVIEW.split([' ', ',', '\n']);
            assert!(words.any(|word| word == command.name), "{}", command.name);
        }
    }
}
