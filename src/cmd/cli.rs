//! The whole command line.

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::PathBuf;

use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};

use super::Outcome;
use super::check::CheckArguments;
use super::check_shell::CheckShellArguments;
use super::check_text::CheckTextArguments;
use super::color::ColorWhen;
use super::completions::CompletionsArguments;
use super::man::ManArguments;
use super::model_call::ModelCallArguments;
use super::recap::RecapArguments;
use super::run_tools::RunToolsArguments;
use super::schema::SchemaArguments;
use super::session::SessionArguments;
use super::session_append::SessionAppendArguments;
use super::session_list::SessionListArguments;
use super::session_path::SessionPathArguments;
use super::session_tail::SessionTailArguments;
use super::state::StateArguments;
use super::summarize_batch::SummarizeBatchArguments;
use super::title::TitleArguments;
use super::tools::ToolsArguments;
use crate::config::ConfigSource;
use crate::io::Io;

/// A [`Subcommand`] by its name and the type of its arguments, whose `run` takes what is named last.
macro_rules! subcommand {
    ($name:literal, $arguments:ty, [globals, io]) => {
        subcommand!(@ $name, $arguments, |arguments, globals, io| arguments.run(globals, io))
    };
    ($name:literal, $arguments:ty, [io]) => {
        subcommand!(@ $name, $arguments, |arguments, _globals, io| arguments.run(io))
    };
    ($name:literal, $arguments:ty, []) => {
        subcommand!(@ $name, $arguments, |arguments, _globals, _io| arguments.run())
    };
    (@ $name:literal, $arguments:ty, |$given:ident, $globals:ident, $io:ident| $run:expr) => {
        Subcommand {
            name: $name,
            augment: <$arguments>::augment_args,
            run: |matches, $globals, $io| {
                let $given = <$arguments>::from_arg_matches(matches)?;
                $run
            },
        }
    };
}

/// The subcommands, in the order of the help.
const SUBCOMMANDS: &[Subcommand] = &[
    subcommand!("run-tools", RunToolsArguments, [globals, io]),
    subcommand!("summarize-batch", SummarizeBatchArguments, [globals, io]),
    subcommand!("title", TitleArguments, [globals, io]),
    subcommand!("recap", RecapArguments, [globals, io]),
    subcommand!("check", CheckArguments, [globals, io]),
    subcommand!("session", SessionArguments, [globals, io]),
    subcommand!("tools", ToolsArguments, [globals, io]),
    subcommand!("schema", SchemaArguments, [io]),
    subcommand!("state", StateArguments, [globals, io]),
    subcommand!("completions", CompletionsArguments, [io]),
    subcommand!("man", ManArguments, []),
];

/// Commands that others start by the thousand, by the words that name them.
const LEAVES: &[Leaf] = &[
    Leaf {
        path: &["check", "text"],
        command: subcommand!("text", CheckTextArguments, [globals, io]),
    },
    Leaf {
        path: &["run-tools"],
        command: subcommand!("run-tools", RunToolsArguments, [globals, io]),
    },
    Leaf {
        path: &["check", "shell"],
        command: subcommand!("shell", CheckShellArguments, [globals, io]),
    },
    Leaf {
        path: &["session", "tail"],
        command: subcommand!("tail", SessionTailArguments, [io]),
    },
    Leaf {
        path: &["session", "list"],
        command: subcommand!("list", SessionListArguments, [globals, io]),
    },
    Leaf {
        path: &["session", "path"],
        command: subcommand!("path", SessionPathArguments, [io]),
    },
    Leaf {
        path: &["session", "append"],
        command: subcommand!("append", SessionAppendArguments, [io]),
    },
    // For tests; it stands nowhere else, so that no help and no completion names it.
    Leaf {
        path: &["model-call"],
        command: subcommand!("model-call", ModelCallArguments, [globals, io]),
    },
];

/// Options of all commands that take no value, so that one knows where they end without parsing them.
const FLAGS: [&str; 5] = ["--no-config", "-q", "--quiet", "-v", "--verbose"];

/// A command that is parsed without the levels above it: building those takes longer than many a
/// run. Only for command lines that make sense; help and errors come from the whole parser.
pub(super) struct Leaf {
    path: &'static [&'static str],
    command: Subcommand,
}

impl Leaf {
    /// The leaf that the arguments (the program's name first, then perhaps flags) begin with.
    pub(super) fn of(arguments: &[OsString]) -> Option<&'static Self> {
        let words = arguments.get(1 + flags(arguments)..)?;
        LEAVES.iter().find(|leaf| {
            words.len() >= leaf.path.len()
                && leaf.path.iter().zip(words).all(|(name, word)| word == name)
        })
    }

    /// Parses what follows the words that name the command; nothing if that makes no sense.
    pub(super) fn parse(&self, arguments: &[OsString]) -> Option<ManuallyDrop<ArgMatches>> {
        // Nobody frees the parser and what it found: the process ends right after the command,
        // and taking apart these thousands of small pieces takes as long as making them.
        let parser = Globals::augment_args(Command::new(self.command.name));
        let mut parser = ManuallyDrop::new(
            (self.command.augment)(parser)
                .args_override_self(true)
                .no_binary_name(true),
        );
        // The flags mean the same behind the words.
        let (flags, words) = arguments.get(1..)?.split_at(flags(arguments));
        let rest = flags.iter().chain(&words[self.path.len()..]);
        parser
            .try_get_matches_from_mut(rest)
            .ok()
            .map(ManuallyDrop::new)
    }

    /// Runs what was parsed.
    ///
    /// # Errors
    /// What the command failed at.
    pub(super) fn run(&self, matches: &ArgMatches, io: &mut Io) -> anyhow::Result<Outcome> {
        (self.command.run)(matches, &Globals::from_arg_matches(matches)?, io)
    }
}

/// How many flags stand before the words that name a command.
fn flags(arguments: &[OsString]) -> usize {
    let arguments = arguments.iter().skip(1);
    let is_flag = |argument: &&OsString| FLAGS.iter().any(|flag| *argument == flag);
    arguments.take_while(is_flag).count()
}

/// How a subcommand is parsed and run.
struct Subcommand {
    name: &'static str,
    /// Adds its arguments and its help to a parser.
    augment: fn(Command) -> Command,
    run: fn(&ArgMatches, &Globals, &mut Io) -> anyhow::Result<Outcome>,
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
    config: Option<PathBuf>,
    /// Read no configuration file
    #[arg(long, global = true)]
    no_config: bool,
    /// When to colour help and usage errors
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(super) color: ColorWhen,
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

/// The parser of the whole command line.
pub(super) fn parser() -> Command {
    parser_of(SUBCOMMANDS)
}

/// The parser of a command line that begins with `first`: building the arguments of all other
/// subcommands takes longer than many a run. Any other beginning gets the whole parser.
pub(super) fn parser_for(first: Option<&str>) -> Command {
    let named = SUBCOMMANDS
        .iter()
        .find(|subcommand| first == Some(subcommand.name));
    parser_of(named.map_or(SUBCOMMANDS, std::slice::from_ref))
}

fn parser_of(subcommands: &[Subcommand]) -> Command {
    Globals::augment_args(Command::new("turnpipe"))
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .after_long_help(EXIT_STATUS)
        .max_term_width(100)
        .args_override_self(true)
        .arg_required_else_help(true)
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommands(
            subcommands
                .iter()
                .map(|subcommand| (subcommand.augment)(Command::new(subcommand.name))),
        )
}

/// Runs the subcommand that was parsed.
///
/// # Errors
/// What the subcommand failed at.
pub(super) fn run_parsed(matches: &ArgMatches, io: &mut Io) -> anyhow::Result<Outcome> {
    let globals = Globals::from_arg_matches(matches)?;
    let parsed = matches.subcommand().and_then(|(name, matches)| {
        let subcommand = SUBCOMMANDS
            .iter()
            .find(|subcommand| subcommand.name == name)?;
        Some((subcommand, matches))
    });
    match parsed {
        Some((subcommand, matches)) => (subcommand.run)(matches, &globals, io),
        // The parser asks for a subcommand itself.
        None => Ok(Outcome::UsageError),
    }
}

const ABOUT: &str = "The inner machinery of a coding agent as composable Unix filters";

const LONG_ABOUT: &str = "\
The inner machinery of a coding agent as composable Unix filters

Every subcommand reads records, one JSON object a line, and writes records. Standard output holds \
nothing else; what is meant for people goes to standard error.";

const EXIT_STATUS: &str = "\
Exit status:
  0         done; a failed tool is data, not a failure
  1         done, and the answer is no (only where an option asks for it)
  2         usage or configuration error, nothing was run
  3         the input had unusable records and --strict was given
  74        reading or writing failed
  130, 143  interrupted, terminated
  141       the reader of results went away while tools were running";
