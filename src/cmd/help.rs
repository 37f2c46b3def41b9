//! The overview of all commands, the help topics, and the `help` command.

use clap::{Args, Command};

use super::{Globals, Status, output};
use crate::config::VARIABLES;
use crate::io::Io;
use crate::view::wrapped;

/// The tagline, also in `Cargo.toml` and `lib.rs`.
const TAGLINE: &str = "The machinery of coding agents as composable Unix filters";

/// All commands, on one screen of 80 columns and 24 lines including the usage.
pub(super) const OVERVIEW: &str = "\
Sessions    session           List, show, search, follow, measure, export
            title             Name sessions by what they are about
            recap             Summarize where a session left off
Agent flow  turn              Ask the main model for its next reply
            run-tools         Run the tool calls of a reply
            summarize-batch   Label batches of tool calls
            tools             Print the tools that a model can call
Checks      check             Check shell commands, tool calls or texts
            hook              Respond to the permission hook of another agent
Setup       doctor            Show the configuration and its problems
            schema            Print the JSON Schema of a record
            state             Delete the state of old sessions
            completions, man  Print a completion script, write manual pages

Examples    turnpipe session list
            turnpipe session show latest
            turnpipe session stats --by day
            echo 'rm -rf build' | turnpipe check shell --plain
            turnpipe run-tools < reply.jsonl

Help        turnpipe COMMAND -h; turnpipe help environment, files or exit-status";

const DESCRIPTION: &str = "\
Commands read and write records: one JSON object per line. On a terminal, most print text instead. \
Messages go to standard error.";

const EXIT_STATUS: &str = "\
Exit status:
  0         success; a failed tool call is data, not an error
  1         success with a negative result: `session search` found nothing,
            `doctor` found a problem, or a call failed under --exit-status;
            also if `hook` itself failed
  2         usage or configuration error, or unreadable input
  3         unusable records in the input, with --strict
  4         the model provider refused the request; retrying will not help
  5         the model provider was unreachable or stayed overloaded
  6         a gate of `session report` failed
  10, 11    `session append --exit-status`: the turn is complete, or was stopped
  74        reading or writing failed
  124       the run reached its time limit
  130, 143  interrupted, terminated
  141       the reader of the results exited while tools were running
";

const FILES: &str = "\
Files:
  ~/.config/turnpipe/config.toml
          the configuration
  ~/.local/state/turnpipe
          state for the next process of a session: saved results, title attempts
  ~/.claude/projects, ~/.config/claude/projects, ~/.qwen/projects,
  ~/.codex/sessions, ~/.codex/archived_sessions, ~/.gemini/tmp,
  ~/.pi/agent/sessions, ~/.local/share/opencode/opencode.db,
  ~/.copilot/session-state, ~/.factory/sessions, ~/.cursor/projects
          session files of agents
";

/// A help topic: its name and its text.
type Topic = (&'static str, fn() -> String);

const TOPICS: [Topic; 3] = [
    ("environment", environment),
    ("files", || FILES.to_owned()),
    ("exit-status", || EXIT_STATUS.to_owned()),
];

/// Adds the overview to the parser of the whole command line, and the topics for its manual page.
pub(super) fn described(parser: Command) -> Command {
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

impl HelpArguments {
    /// Prints a topic, or returns the help of a command as an error, like `parser`.
    ///
    /// # Errors
    /// Writing failed, or the help.
    pub(super) fn run(
        self,
        mut parser: Command,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        if let [word] = &*self.words
            && let Some((_, text)) = TOPICS.iter().find(|(name, _)| name == word)
        {
            output::page(&text(), globals, io)?;
            return Ok(Status::Done);
        }
        let words = std::iter::once("turnpipe".to_owned()).chain(self.words);
        parser.try_get_matches_from_mut(words.chain(["--help".to_owned()]))?;
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
