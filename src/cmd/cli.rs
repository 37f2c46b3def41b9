//! The whole command line.

use std::ffi::OsString;
use std::mem::ManuallyDrop;

use clap::{ArgMatches, Args, FromArgMatches};

use super::{Globals, Outcome};
use crate::cmd::admin::completions::CompletionsArguments;
use crate::cmd::admin::doctor::DoctorArguments;
use crate::cmd::admin::man::ManArguments;
use crate::cmd::admin::schema::SchemaArguments;
use crate::cmd::admin::state_clean::StateCleanArguments;
use crate::cmd::check::permission::CheckPermissionArguments;
use crate::cmd::check::shell::CheckShellArguments;
use crate::cmd::check::text::CheckTextArguments;
use crate::cmd::command::{Command, Kind, Runs};
use crate::cmd::run::hook::HookArguments;
use crate::cmd::run::run_tools::RunToolsArguments;
use crate::cmd::run::tools::ToolsArguments;
use crate::cmd::run::turn::TurnArguments;
use crate::cmd::session::append::SessionAppendArguments;
use crate::cmd::session::check::SessionCheckArguments;
use crate::cmd::session::export::SessionExportArguments;
use crate::cmd::session::list::SessionListArguments;
use crate::cmd::session::path::SessionPathArguments;
use crate::cmd::session::rename::SessionRenameArguments;
use crate::cmd::session::search::SessionSearchArguments;
use crate::cmd::session::show::SessionShowArguments;
use crate::cmd::session::stats::SessionStatsArguments;
use crate::cmd::session::tail::SessionTailArguments;
use crate::cmd::side::recap::RecapArguments;
use crate::cmd::side::summarize_batch::SummarizeBatchArguments;
use crate::cmd::side::title::TitleArguments;
use crate::config::VARIABLES;
use crate::io::Io;

/// The commands, in the order of the help.
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
            details: Some(
                "Nothing is run or changed, and no network is used. Answers come in the order of the \
                 input.",
            ),
            commands: &[
                Command::new::<CheckShellArguments>("shell"),
                Command::new::<CheckPermissionArguments>("permission"),
                Command::new::<CheckTextArguments>("text"),
            ],
        },
    },
    Command {
        name: HOOK,
        kind: Kind::Group {
            about: "Decide as a hook of another agent whether its calls may run",
            details: Some(
                "`examples/hooks` shows what to add to the settings of each agent. Both commands do \
                 the same: the input says which hook it is.",
            ),
            commands: &[
                Command::new::<HookArguments>("pre-tool-use"),
                Command::new::<HookArguments>("permission-request"),
            ],
        },
    },
    Command {
        name: "session",
        kind: Kind::Group {
            about: "Read the session files of coding agents",
            details: Some(
                "Claude Code, Qwen Code, Codex, Gemini CLI and pi; a file's content says which \
                 agent wrote it. A session is named by its path, its id or the beginning of it, \
                 its title, or `latest`; `-` is standard input.",
            ),
            commands: &[
                Command::new::<SessionListArguments>("list"),
                Command::new::<SessionShowArguments>("show"),
                Command::new::<SessionExportArguments>("export"),
                Command::new::<SessionTailArguments>("tail"),
                Command::new::<SessionSearchArguments>("search"),
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
            about: "Manage the state that sessions leave behind",
            details: None,
            commands: &[Command::new::<StateCleanArguments>("clean")],
        },
    },
    Command::new::<DoctorArguments>("doctor"),
    Command {
        name: "completions",
        kind: Kind::Runs(Runs {
            augment: CompletionsArguments::augment_args,
            run: |matches, _, io| CompletionsArguments::from_arg_matches(matches)?.run(io),
        }),
    },
    Command {
        name: "man",
        kind: Kind::Runs(Runs {
            augment: ManArguments::augment_args,
            run: |matches, _, _| ManArguments::from_arg_matches(matches)?.run(parser()),
        }),
    },
];

/// The command that `arguments` name, in words.
pub(super) fn named(arguments: &[OsString]) -> String {
    let mut commands = COMMANDS;
    let mut words = vec!["turnpipe"];
    for argument in arguments.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(command) = Command::named(commands, argument) {
            words.push(command.name);
            commands = command.members();
        }
    }
    words.join(" ")
}

/// The whole names of the commands that have this name in one of the groups.
pub(super) fn grouped(name: &str) -> impl Iterator<Item = String> {
    let groups = COMMANDS.iter();
    let found = groups.filter(move |group| Command::named(group.members(), name).is_some());
    found.map(move |group| format!("turnpipe {} {name}", group.name))
}

/// The group of the commands that other agents run.
const HOOK: &str = "hook";

/// Options of all commands that take no value and may stand before a command's name.
const FLAGS: [&str; 5] = ["--no-config", "-q", "--quiet", "-v", "--verbose"];

/// A command line whose command was found without parsing it. Building the parser of all commands
/// takes longer than many a run, so only that of the named one is built.
pub(super) struct Invocation<'a> {
    runs: &'static Runs,
    flags: &'a [OsString],
    rest: &'a [OsString],
}

impl<'a> Invocation<'a> {
    /// The command that `arguments` (the program's name first) begin with.
    pub(super) fn of(arguments: &'a [OsString]) -> Option<Self> {
        let arguments = arguments.get(1..)?;
        let is_flag = |argument: &&OsString| FLAGS.iter().any(|flag| *argument == flag);
        let flags = arguments.iter().take_while(is_flag).count();
        let (flags, mut rest) = arguments.split_at(flags);
        let mut commands = COMMANDS;
        loop {
            let (name, others) = rest.split_first()?;
            let command = Command::named(commands, name.to_str()?)?;
            rest = others;
            match command.runs() {
                Some(runs) => return Some(Self { runs, flags, rest }),
                None => commands = command.members(),
            }
        }
    }

    /// Parses the arguments; nothing if they make no sense or ask for help, which the parser of
    /// the whole command line answers better.
    pub(super) fn parse(&self) -> Option<ManuallyDrop<ArgMatches>> {
        // The process ends right after the command, and freeing these thousands of small pieces
        // takes as long as making them.
        let parser = Globals::augment_args(clap::Command::new("turnpipe"));
        let mut parser = ManuallyDrop::new(
            (self.runs.augment)(parser)
                .args_override_self(true)
                .no_binary_name(true),
        );
        let arguments = self.flags.iter().chain(self.rest);
        parser
            .try_get_matches_from_mut(arguments)
            .ok()
            .map(ManuallyDrop::new)
    }

    /// Runs what was parsed.
    ///
    /// # Errors
    /// The command failed.
    pub(super) fn run(&self, matches: &ArgMatches, io: &mut Io) -> anyhow::Result<Outcome> {
        (self.runs.run)(matches, &Globals::from_arg_matches(matches)?, io)
    }
}

/// Whether `arguments` are those of a hook of another agent, even if they make no sense.
pub(super) fn is_hook(arguments: &[OsString]) -> bool {
    let mut names = arguments
        .iter()
        .skip(1)
        .filter_map(|argument| argument.to_str());
    names.find(|name| Command::named(COMMANDS, name).is_some()) == Some(HOOK)
}

/// The parser of the whole command line.
pub(super) fn parser() -> clap::Command {
    Globals::augment_args(clap::Command::new("turnpipe"))
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_long_help(format!("{EXIT_STATUS}\n\n{FILES}\n\n{}", environment()))
        .max_term_width(100)
        .args_override_self(true)
        .arg_required_else_help(true)
        .subcommand_required(true)
        .subcommands(COMMANDS.iter().map(Command::parser))
}

/// Runs the command that the parser of the whole command line found.
///
/// # Errors
/// The command failed.
pub(super) fn run_parsed(mut matches: &ArgMatches, io: &mut Io) -> anyhow::Result<Outcome> {
    let globals = Globals::from_arg_matches(matches)?;
    let mut commands = COMMANDS;
    while let Some((name, below)) = matches.subcommand()
        && let Some(command) = Command::named(commands, name)
    {
        if let Some(runs) = command.runs() {
            return (runs.run)(below, &globals, io);
        }
        (matches, commands) = (below, command.members());
    }
    // Not reached: the parser insists on a command.
    Ok(Outcome::UsageError)
}

const ABOUT: &str = "The inner machinery of a coding agent as composable Unix filters";

const LONG_ABOUT: &str = "\
The inner machinery of a coding agent as composable Unix filters

Commands read and write records, one JSON object per line; on a terminal most print text for people \
instead. Messages go to standard error.";

const EXIT_STATUS: &str = "\
Exit status:
  0         done; a failed tool is data, not a failure
  1         done, and the answer is no: `session search` found nothing,
            `doctor` found what cannot work, or --exit-status was given
  2         usage or configuration error, or an input could not be read
  3         the input had unusable records and --strict was given
  4         the model provider refused; trying again will not help
  5         the model provider could not be reached, or stayed overloaded
  10, 11    `session append --exit-status`: the turn is over, or was stopped
  74        reading or writing failed
  124       the time limit of the whole run was reached
  130, 143  interrupted, terminated
  141       the reader of results went away while tools were running";

const FILES: &str = "\
Files:
  ~/.config/turnpipe/config.toml
          the configuration
  ~/.local/state/turnpipe
          what sessions leave for the next process: saved results, attempts at titles
  ~/.claude/projects, ~/.qwen/projects, ~/.codex/sessions, ~/.gemini/tmp, ~/.pi/agent/sessions
          where sessions are looked for, and for Claude Code in ~/.config/claude/projects too";

/// The environment variables, for the help.
fn environment() -> String {
    let lines = VARIABLES.lines().filter_map(|line| line.split_once('\t'));
    let lines = lines.map(|(names, purpose)| format!("\n  {names}\n          {purpose}"));
    "Environment:".to_owned() + &lines.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_parsed_alone_takes_what_the_whole_parser_takes() {
        let lines = "\
            --no-config -v check text --as terminal -q
            -q --no-config session tail x --raw
            --quiet session tail
            check text --as terminal
            check text -q --as=terminal --config x
            check text
            check text --as nonsense
            check text --help
            check text --as terminal --config x --no-config
            run-tools --plan --timeout 5m
            run-tools --timeout soon
            title latest --write
            title --replace
            state clean --older-than 3d";
        for line in lines.lines() {
            let arguments: Vec<OsString> = std::iter::once("turnpipe")
                .chain(line.split_whitespace())
                .map(Into::into)
                .collect();
            let alone = Invocation::of(&arguments).unwrap().parse().is_some();
            let whole = parser().try_get_matches_from(&arguments).is_ok();
            assert_eq!(alone, whole, "{line}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        parser().debug_assert();
    }
}
