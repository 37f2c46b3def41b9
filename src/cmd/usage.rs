//! Help and usage errors as this program prints them.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{Outcome, cli, output};
use crate::cmd::globals::ColorWhen;
use crate::io::Io;

/// Prints what the parser of `arguments` stopped at: help and version on standard output, anything else as a one-line
/// message with hints on standard error.
///
/// # Errors
/// Standard output failed.
pub(super) fn answer(
    error: &clap::Error,
    arguments: &[OsString],
    color: ColorWhen,
    io: &mut Io,
) -> anyhow::Result<Outcome> {
    let rendered = error.render();
    let colored = |is_terminal| {
        if color.applies(is_terminal, &io.environment) {
            rendered.ansi().to_string()
        } else {
            rendered.to_string()
        }
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = colored(io.terminal.stdout);
            output::print(io, &text)?;
            Ok(Outcome::Done)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let text = colored(io.terminal.stderr);
            io.messages.line(text.trim_end());
            Ok(Outcome::UsageError)
        }
        _ => {
            let command = cli::named(arguments);
            let mut complaint = Complaint::of(&rendered.to_string(), &command);
            if let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) {
                complaint.prefer(cli::grouped(name));
            }
            io.messages.note(&complaint.problem);
            for hint in &complaint.hints {
                io.messages.hint(hint);
            }
            Ok(Outcome::UsageError)
        }
    }
}

/// What the standard library says about a bad number, and a plainer wording.
const NUMBER_PROBLEMS: [(&str, &str); 5] = [
    (
        "number would be zero for non-zero type",
        "must be at least 1",
    ),
    ("invalid digit found in string", "not a whole number"),
    ("number too large to fit in target type", "too large"),
    (
        "cannot parse integer from empty string",
        "not a whole number",
    ),
    ("invalid float literal", "not a number"),
];

/// The parser's report in the form of all other messages.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    problem: String,
    hints: Vec<String>,
}

impl Complaint {
    /// Reads a report of the form `error: problem`, with more lines of the problem indented, then
    /// paragraphs with tips, usage and where to find more. It is about `command`.
    fn of(report: &str, command: &str) -> Self {
        let mut paragraphs = report.trim_end().split("\n\n");
        let mut problem = joined(paragraphs.next().unwrap_or_default());
        for (theirs, ours) in NUMBER_PROBLEMS {
            problem = problem.replace(theirs, ours);
        }
        let hints = paragraphs
            .flat_map(str::lines)
            .filter_map(|line| {
                let line = line.trim();
                line.strip_prefix("tip: ").map(str::to_owned).or_else(|| {
                    let more = line.starts_with("For more");
                    more.then(|| format!("for more information, try `{command} --help`"))
                })
            })
            .map(|hint| hint.trim_end_matches('.').to_owned())
            .collect();
        let problem = problem
            .strip_prefix("error: ")
            .unwrap_or(&problem)
            .to_owned();
        Self { problem, hints }
    }

    /// Puts these commands in the place of those that are spelled like the one that there is not.
    fn prefer(&mut self, commands: impl Iterator<Item = String>) {
        let meant: Vec<String> = commands
            .map(|command| format!("did you mean `{command}`?"))
            .collect();
        if !meant.is_empty() {
            self.hints.retain(|hint| !hint.contains("similar"));
            self.hints.splice(..0, meant);
        }
    }
}

fn joined(paragraph: &str) -> String {
    let lines: Vec<&str> = paragraph.lines().map(str::trim).collect();
    lines.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(arguments: &[&str]) -> Complaint {
        let error = cli::parser().try_get_matches_from(arguments).unwrap_err();
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        Complaint::of(&error.render().to_string(), &cli::named(&arguments))
    }

    #[test]
    fn a_missing_option_is_named() {
        assert_eq!(
            complaint(&["turnpipe", "check", "text"]),
            Complaint {
                problem: "the following required arguments were not provided: --as <KIND>".into(),
                hints: vec!["for more information, try `turnpipe check text --help`".into()],
            }
        );
    }

    #[test]
    fn a_typing_error_gets_a_tip() {
        let complaint = complaint(&["turnpipe", "completons"]);
        assert_eq!(complaint.problem, "unrecognized subcommand 'completons'");
        assert_eq!(
            complaint.hints[0],
            "a similar subcommand exists: 'completions'"
        );
    }

    #[test]
    fn numbers_are_asked_for_plainly() {
        for (value, problem) in [("0", "must be at least 1"), ("x", "not a whole number")] {
            let complaint = complaint(&["turnpipe", "session", "list", "--limit", value]);
            assert_eq!(
                complaint.problem,
                format!("invalid value '{value}' for '--limit <N>': {problem}")
            );
        }
    }

    #[test]
    fn a_command_without_its_group_is_found() {
        let mut complaint = complaint(&["turnpipe", "stats"]);
        complaint.prefer(cli::grouped("stats"));
        assert_eq!(
            complaint.hints,
            [
                "did you mean `turnpipe session stats`?",
                "for more information, try `turnpipe --help`"
            ]
        );
        let unknown: Vec<String> = cli::grouped("nonsense").collect();
        assert!(unknown.is_empty());
    }

    #[test]
    fn values_that_are_possible_are_named() {
        let complaint = complaint(&["turnpipe", "check", "text", "--as", "x"]);
        assert_eq!(
            complaint.problem,
            "invalid value 'x' for '--as <KIND>' [possible values: terminal, label, title, recap]"
        );
    }
}
