//! What the table of commands needs to know of each of them.

use clap::{ArgMatches, Args};

use super::{Globals, Outcome};
use crate::io::Io;

/// The arguments of a command, whose doc comments are its help.
pub(super) trait Run: Args {
    /// Runs the command.
    ///
    /// # Errors
    /// The arguments or the configuration make no sense, or reading or writing failed.
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome>;
}

/// A command, or a group of commands.
pub(super) struct Command {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// What stands behind a command's name.
pub(super) enum Kind {
    /// A command that runs.
    Runs(Runs),
    /// More commands.
    Group {
        about: &'static str,
        /// More paragraphs for `--help`.
        details: Option<&'static str>,
        commands: &'static [Command],
    },
}

/// How a command is parsed and run.
pub(super) struct Runs {
    /// Adds its arguments and its help to a parser.
    pub(super) augment: fn(clap::Command) -> clap::Command,
    pub(super) run: fn(&ArgMatches, &Globals, &mut Io) -> anyhow::Result<Outcome>,
}

impl Command {
    /// A command that runs.
    pub(super) const fn new<Arguments: Run>(name: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Runs(Runs {
                augment: Arguments::augment_args,
                run: |matches, globals, io| Arguments::from_arg_matches(matches)?.run(globals, io),
            }),
        }
    }

    /// The command of this name among `commands`.
    pub(super) fn named(commands: &'static [Self], name: &str) -> Option<&'static Self> {
        commands.iter().find(|command| command.name == name)
    }

    /// The commands of this group.
    pub(super) fn members(&self) -> &'static [Self] {
        match self.kind {
            Kind::Group { commands, .. } => commands,
            Kind::Runs(_) => &[],
        }
    }

    /// How the command is run; nothing for a group.
    pub(super) fn runs(&self) -> Option<&Runs> {
        match &self.kind {
            Kind::Runs(runs) => Some(runs),
            Kind::Group { .. } => None,
        }
    }

    /// The parser with the help.
    pub(super) fn parser(&self) -> clap::Command {
        let parser = clap::Command::new(self.name);
        match &self.kind {
            Kind::Runs(runs) => (runs.augment)(parser),
            Kind::Group {
                about,
                details,
                commands,
            } => {
                let long = details.map(|details| format!("{about}\n\n{details}"));
                let parser = parser
                    .about(*about)
                    .arg_required_else_help(true)
                    .subcommand_required(true)
                    .subcommands(commands.iter().map(Self::parser));
                match long {
                    Some(long) => parser.long_about(long),
                    None => parser,
                }
            }
        }
    }
}
