//! The overview of all commands, the help topics, and the `help` command.

use clap::Args;

use super::command::Run;
use super::{Globals, Status, output};
use crate::config::VARIABLES;
use crate::io::Io;
use crate::view::wrapped;

/// The tagline, also in `Cargo.toml` and `lib.rs`.
const TAGLINE: &str = "The machinery of coding agents as composable Unix filters";

/// All commands, on one screen of 80 columns and 24 lines including the usage.
pub(super) const OVERVIEW: &str = include_str!("help/overview.txt").trim_ascii_end();

const DESCRIPTION: &str = "\
Commands read and write records: one JSON object per line. On a terminal, most print text instead. \
Messages go to standard error.";

/// A help topic: its name and its text.
type Topic = (&'static str, fn() -> String);

const TOPICS: [Topic; 3] = [
    ("environment", environment),
    ("files", || include_str!("help/files.txt").to_owned()),
    ("exit-status", || {
        include_str!("help/exit_status.txt").to_owned()
    }),
];

/// Adds the overview to the parser of the whole command line, and the topics for its manual page.
pub(super) fn described(parser: clap::Command) -> clap::Command {
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

/// Returns the environment variables, wrapped for 80 columns.
fn environment() -> String {
    let mut text = "Environment:\n".to_owned();
    for (names, purpose) in VARIABLES.lines().filter_map(|line| line.split_once('\t')) {
        for (words, indent) in [(names, 2), (purpose, 10)] {
            text += &wrapped(words, 80, indent);
            text.push('\n');
        }
    }
    text
}
