//! A command or group of commands: its name, its arguments, and its function. The `help` command and the overview.

use std::ffi::OsString;

use clap::{ArgMatches, Args};

use super::{Globals, Status, output};
use crate::agent::{Agent, list_session_roots};
use crate::commands::session::source::SourceArguments;
use crate::config::VARIABLES;
use crate::io::Io;
use crate::render::wrap_text;

/// The arguments of a command. Their doc comments are the help.
pub(super) trait Run: Args {
    /// Runs the command.
    ///
    /// # Errors
    /// The arguments or the configuration are invalid, or reading or writing failed.
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status>;

    /// Returns the arguments that name directories of sessions, for a command that finds sessions.
    fn source(&mut self) -> Option<&mut SourceArguments> {
        None
    }

    /// Names standard input as the session, if none is named.
    fn name_stdin(&mut self) {}
}

/// Implements [`Run::source`] by a field of the arguments, and [`Run::name_stdin`] by the sessions or the `one` session
/// among them.
macro_rules! reads_sessions {
    ($($field:ident).+, one $session:ident) => {
        reads_sessions!($($field).+);

        fn name_stdin(&mut self) {
            self.$session.get_or_insert_with(|| "-".to_owned());
        }
    };
    ($($field:ident).+, $sessions:ident) => {
        reads_sessions!($($field).+);

        fn name_stdin(&mut self) {
            if self.$sessions.is_empty() {
                self.$sessions.push("-".to_owned());
            }
        }
    };
    ($($field:ident).+) => {
        fn source(&mut self) -> Option<&mut crate::commands::session::source::SourceArguments> {
            Some(&mut self.$($field).+)
        }
    };
}

/// A command, or a group of commands.
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    Single {
        /// Adds the command's arguments and help to a parser.
        augment: fn(clap::Command) -> clap::Command,
        run: fn(&ArgMatches, &Globals, &mut Io) -> anyhow::Result<Status>,
    },
    Group {
        about: &'static str,
        details: &'static str,
        commands: &'static [Command],
    },
}

/// The commands that a parser defines.
#[derive(Debug, Clone, Copy)]
pub(super) enum Definitions<'a> {
    /// All of them.
    Eager,
    /// The commands whose names are among these arguments. Accepts the same arguments, but has no help. Skips
    /// the cost of defining all other commands at each start.
    Named(&'a [OsString]),
}

impl Definitions<'_> {
    fn defines(self, command: &Command) -> bool {
        match self {
            Self::Eager => true,
            Self::Named(arguments) => arguments.iter().any(|word| *word == *command.name),
        }
    }

    /// Returns the parsers of the defined `commands`.
    pub(super) fn parsers(
        self,
        commands: &'static [Command],
    ) -> impl Iterator<Item = clap::Command> {
        let defined = commands.iter().filter(move |command| self.defines(command));
        defined.map(move |command| command.parser(self))
    }
}

impl Command {
    /// Returns a single command.
    pub(super) const fn new<Arguments: Run>(name: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Single {
                augment: Arguments::augment_args,
                run: |matches, globals, io| {
                    let mut arguments = Arguments::from_arg_matches(matches)?;
                    if io.stdin.is_whole_file() {
                        arguments.name_stdin();
                    }
                    if let Some(source) = arguments.source() {
                        source.configure(globals.config(io)?)?;
                    }
                    arguments.run(globals, io)
                },
            },
        }
    }

    /// Returns a group of commands. `details` are further paragraphs for `--help`.
    pub(super) const fn group(
        name: &'static str,
        about: &'static str,
        details: &'static str,
        commands: &'static [Self],
    ) -> Self {
        let kind = Kind::Group {
            about,
            details,
            commands,
        };
        Self { name, kind }
    }

    /// Finds a command by name.
    pub(super) fn find(commands: &'static [Self], name: &str) -> Option<&'static Self> {
        commands.iter().find(|command| command.name == name)
    }

    /// Returns the commands of this group; empty for a single command.
    pub(super) fn members(&self) -> &'static [Self] {
        match self.kind {
            Kind::Group { commands, .. } => commands,
            Kind::Single { .. } => &[],
        }
    }

    /// Returns the parser of this command.
    fn parser(&self, definitions: Definitions<'_>) -> clap::Command {
        let parser = clap::Command::new(self.name);
        match self.kind {
            Kind::Single { augment, .. } => augment(parser),
            Kind::Group {
                about,
                details,
                commands,
            } => parser
                .about(about)
                .long_about(format!("{about}\n\n{details}"))
                .arg_required_else_help(true)
                .subcommand_required(true)
                .subcommands(definitions.parsers(commands)),
        }
    }
}

/// The tagline, also in `Cargo.toml` and `README.md`.
const TAGLINE: &str = "Unix filters for the sessions, permissions and tool calls of coding agents";

/// All commands, on one screen of 80 columns and 24 lines including the usage.
pub(super) const OVERVIEW: &str = include_str!("help/overview.txt").trim_ascii_end();

const DESCRIPTION: &str = "\
Commands read and write records: one JSON object per line. On a terminal, most print text instead. \
Messages go to standard error.";

/// A help topic: its name and its text.
type Topic = (&'static str, fn() -> String);

const TOPICS: [Topic; 3] = [
    ("environment", format_environment),
    ("files", format_files),
    ("exit-status", || {
        include_str!("help/exit_status.txt").to_owned()
    }),
];

/// Adds the overview to the parser of the whole command line, and the topics for its manual page.
pub(super) fn add_overview(parser: clap::Command) -> clap::Command {
    let topics: Vec<String> = TOPICS.iter().map(|(_, text)| text()).collect();
    parser
        .about(TAGLINE)
        .long_about(format!("{TAGLINE}\n\n{DESCRIPTION}"))
        .help_template(format!(
            "{TAGLINE}\n{{usage-heading}} {{usage}}\n\n{OVERVIEW}"
        ))
        .after_long_help(topics.join("\n"))
}

/// Print the help of a command, or of a topic
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe help session list
  turnpipe help environment")]
pub(super) struct HelpArguments {
    /// A command such as `session list`, or `environment`, `files` or `exit-status`
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

impl Run for HelpArguments {
    /// Prints a topic, or returns the help of a command as an error, like the parser.
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        if let [word] = &*self.words
            && let Some((_, text)) = TOPICS.iter().find(|(name, _)| name == word)
        {
            output::page(&text(), globals, io)?;
            return Ok(Status::Done);
        }
        let words = std::iter::once("turnpipe".to_owned()).chain(self.words);
        (globals.parser)().try_get_matches_from_mut(words.chain(["--help".to_owned()]))?;
        Ok(Status::Done)
    }
}

/// Returns the files, with the places of the sessions of each agent.
fn format_files() -> String {
    let roots = list_session_roots(&[("HOME", "~")].into_iter().collect());
    let rows = Agent::ALL.into_iter().filter_map(|agent| {
        let paths = roots.iter().filter(|root| root.agent == Some(agent));
        let paths: Vec<String> = paths.map(|root| root.path.display().to_string()).collect();
        let (paths, product) = (paths.join(", "), agent.product()?);
        Some(format!("  {paths}\n          sessions of {product}\n"))
    });
    include_str!("help/files.txt").to_owned() + &rows.collect::<String>()
}

/// Returns the environment variables, wrapped for 80 columns.
fn format_environment() -> String {
    let mut text = "Environment:\n".to_owned();
    for (names, purpose) in VARIABLES.lines().filter_map(|line| line.split_once('\t')) {
        for (words, indent) in [(names, 2), (purpose, 10)] {
            text += &wrap_text(words, 80, indent);
            text.push('\n');
        }
    }
    text
}
