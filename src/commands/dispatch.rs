//! Runs a command line and returns its exit status; prints help and usage errors of the parser.

use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::commands::admin::completions;
use crate::commands::command::Definitions;
use crate::commands::globals::ColorWhen;
use crate::commands::peers_words::find_hint;
use crate::commands::{Status, cli, error, output};
use crate::io::{Io, OutputStream};

/// The output of `--version`.
const VERSION_LINE: &str = concat!("turnpipe ", env!("CARGO_PKG_VERSION"), "\n");

/// Runs the command line `arguments`, which start with the program's name. Errors are reported on
/// standard error.
pub fn run(arguments: &[OsString], io: &mut Io) -> Status {
    if matches!(io.stdout, OutputStream::Closed) {
        io.messages
            .error("cannot write output: standard output is closed");
        return Status::InputOutputFailed;
    }
    let outcome =
        dispatch(arguments, io).unwrap_or_else(|error| error::report(&error, &io.messages));
    io.screen.finish();
    outcome
}

/// Returns the exit status of the command line `arguments` that ended with `outcome`. The status of `sandbox` is that
/// of its command, so its own failures have one that commands rarely have. Agents treat
/// status 2 of a hook as a denial, so a hook whose input cannot be judged has it, and one that fails otherwise has
/// status 1.
pub fn exit_status(outcome: Status, arguments: &[OsString]) -> u8 {
    let is_hook = || {
        let named = cli::command_name(arguments);
        let is_for_users = ["install", "uninstall", "status", "test", "explain"]
            .iter()
            .any(|command| named.ends_with(command));
        named.starts_with("turnpipe hook") && !is_for_users
    };
    match outcome {
        Status::UsageError if cli::command_name(arguments) == "turnpipe sandbox" => {
            Status::SandboxFailed.code()
        }
        Status::UsageError if is_hook() => Status::Negative.code(),
        Status::UnusableRecords if is_hook() => Status::UsageError.code(),
        other => other.code(),
    }
}

fn dispatch(arguments: &[OsString], io: &mut Io) -> anyhow::Result<Status> {
    if matches!(arguments, [_, only] if only == "--version" || only == "-V") {
        // Without a parser, for scripts that check the version.
        output::print(io, VERSION_LINE)?;
        return Ok(Status::Done);
    }
    let eager_parser = || cli::parser(Definitions::Eager);
    if let Some(outcome) = completions::answer_request(arguments, eager_parser, io)? {
        return Ok(outcome);
    }
    let parsed = cli::parser(Definitions::Named(arguments))
        .try_get_matches_from(arguments)
        .or_else(|_| eager_parser().try_get_matches_from(arguments));
    let ended = match parsed {
        Ok(matches) => cli::run(&matches, io),
        Err(error) => Err(error.into()),
    };
    match ended.map_err(anyhow::Error::downcast::<clap::Error>) {
        Ok(outcome) => Ok(outcome),
        Err(Ok(error)) => report_usage(&error, arguments, ColorWhen::from_arguments(arguments), io),
        Err(Err(error)) => Err(error),
    }
}

/// Prints the result of parsing `arguments`: help and version on standard output; otherwise a one-line
/// message with hints on standard error.
///
/// # Errors
/// Writing to standard output failed.
fn report_usage(
    error: &clap::Error,
    arguments: &[OsString],
    color: ColorWhen,
    io: &mut Io,
) -> anyhow::Result<Status> {
    let render = |is_terminal| {
        let text = error.render();
        if color.is_enabled(is_terminal, &io.environment) {
            text.ansi().to_string()
        } else {
            text.to_string()
        }
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = render(io.terminal.stdout);
            output::print(io, &text)?;
            return Ok(Status::Done);
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let text = render(io.terminal.stderr);
            io.messages.line(text.trim_end());
        }
        _ => {
            io.messages.error(&describe_problem(error));
            let command = cli::command_name(arguments);
            for hint in find_hints(error, &command) {
                io.messages.hint(&hint);
            }
            io.messages
                .hint(&format!("for more information, try `{command} --help`"));
        }
    }
    Ok(Status::UsageError)
}

/// Returns the problem on one line.
fn describe_problem(error: &clap::Error) -> String {
    let text = |kind| get_context(error, kind);
    let argument = text(ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::InvalidValue => {
            let (value, valid) = (
                text(ContextKind::InvalidValue),
                text(ContextKind::ValidValue),
            );
            let problem = if value.is_empty() {
                format!("a value is required for '{argument}'")
            } else {
                format!("invalid value '{value}' for '{argument}'")
            };
            if valid.is_empty() {
                problem
            } else {
                format!("{problem} [possible values: {valid}]")
            }
        }
        ErrorKind::ValueValidation => {
            let value = text(ContextKind::InvalidValue);
            let reason = error.source().map(describe_reason).unwrap_or_default();
            format!("invalid value '{value}' for '{argument}': {reason}")
        }
        ErrorKind::UnknownArgument => format!("unexpected argument '{argument}'"),
        ErrorKind::InvalidSubcommand => {
            format!("unknown command '{}'", text(ContextKind::InvalidSubcommand))
        }
        ErrorKind::MissingRequiredArgument => format!("missing required argument: {argument}"),
        ErrorKind::ArgumentConflict => match text(ContextKind::PriorArg) {
            prior if prior.is_empty() => format!("'{argument}' cannot be used with the others"),
            prior if prior == argument => format!("'{argument}' can be used only once"),
            prior => format!("'{argument}' cannot be used with {prior}"),
        },
        kind if argument.is_empty() => kind.to_string(),
        kind => format!("'{argument}': {kind}"),
    }
}

/// Returns suggestions for an error of `command`.
fn find_hints(error: &clap::Error, command: &str) -> Vec<String> {
    // A word may have another meaning in other groups: `hook remove`.
    let is_general = matches!(command, "turnpipe" | "turnpipe session");
    let words = [
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidArg,
        ContextKind::InvalidValue,
    ]
    .map(|kind| get_context(error, kind));
    let mut known = words.iter().filter_map(|word| find_hint(word, is_general));
    if let Some(hint) = known.next() {
        return vec![hint];
    }
    if let Some(ContextValue::String(name)) = error
        .get(ContextKind::InvalidSubcommand)
        .filter(|_| is_general)
    {
        let mut commands = cli::names_in_groups(name).peekable();
        if commands.peek().is_some() {
            return commands
                .map(|command| format!("did you mean `{command}`?"))
                .collect();
        }
    }
    let kinds = [
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedValue,
    ];
    let suggested = kinds.into_iter().filter_map(|kind| error.get(kind));
    let names = suggested.flat_map(|names| match names {
        ContextValue::Strings(names) => names.clone(),
        name => vec![name.to_string()],
    });
    let is_close = |name: &String| words.iter().any(|word| is_similar(word, name));
    let close: Vec<String> = names.filter(is_close).collect();
    if close.is_empty() {
        return Vec::new();
    }
    vec![format!("did you mean {}?", close.join(", "))]
}

/// Whether a word is a mistyped or shortened name.
fn is_similar(word: &str, name: &str) -> bool {
    let (word, name) = (word.trim_start_matches('-'), name.trim_start_matches('-'));
    let distance = strsim::osa_distance(word, name);
    let is_start = name.starts_with(word) || word.starts_with(name);
    is_start && word.len().min(name.len()) >= 3 || distance <= 1 || distance == 2 && word.len() > 6
}

/// Returns a part of the error as text: lists separated by commas; empty if the error lacks it.
fn get_context(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        Some(value) => value.to_string(),
        None => String::new(),
    }
}

/// Returns the reason why a value is invalid. Replaces the standard library's wording for numbers.
fn describe_reason(error: &(dyn std::error::Error + 'static)) -> String {
    if error.is::<ParseFloatError>() {
        return "not a number".to_owned();
    }
    match error.downcast_ref().map(ParseIntError::kind) {
        Some(IntErrorKind::Zero) => "must be at least 1".to_owned(),
        Some(IntErrorKind::PosOverflow) => "too large".to_owned(),
        Some(_) => "not a whole number".to_owned(),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod usage_tests {
    use super::*;
    use crate::commands::command::Definitions;

    fn error(arguments: &str) -> clap::Error {
        let words = arguments.split(' ');
        cli::parser(Definitions::Eager)
            .try_get_matches_from(std::iter::once("turnpipe").chain(words))
            .unwrap_err()
    }

    #[test]
    fn problems_name_the_argument_and_the_value() {
        let rows = [
            ("check text", "missing required argument: --kind <KIND>"),
            (
                "check text --kind x",
                "invalid value 'x' for '--kind <KIND>' [possible values: terminal, label, title, recap]",
            ),
            (
                "check text --kind",
                "a value is required for '--kind <KIND>' [possible values: terminal, label, title, recap]",
            ),
            ("completons", "unknown command 'completons'"),
            ("--bogus", "unexpected argument '--bogus'"),
            (
                "run-tools --permission-mode yolo",
                "invalid value 'yolo' for '--permission-mode <MODE>' [possible values: default, acceptEdits, plan, auto, dontAsk, bypassPermissions]",
            ),
            (
                "session list --limit 0",
                "invalid value '0' for '--limit <N>': must be at least 1",
            ),
            (
                "session list --limit x",
                "invalid value 'x' for '--limit <N>': not a whole number",
            ),
            (
                "doctor --config a --no-config",
                "'--config <FILE>' cannot be used with --no-config",
            ),
        ];
        for (arguments, expected) in rows {
            assert_eq!(describe_problem(&error(arguments)), expected, "{arguments}");
        }
    }

    #[test]
    fn similar_names_are_suggested() {
        let said = |line: &str| {
            let words = std::iter::once("turnpipe").chain(line.split(' '));
            let words: Vec<OsString> = words.map(OsString::from).collect();
            find_hints(&error(line), &cli::command_name(&words))
        };
        let rows = [
            ("completons", "did you mean completions?"),
            ("list --sice 2d", "did you mean --since?"),
            ("hook instal", "did you mean install?"),
            ("check text --kin", "did you mean --kind?"),
            ("export", "did you mean `turnpipe session export`?"),
            ("monthly", "did you mean `turnpipe stats --by month`?"),
            ("session ls", "did you mean `turnpipe list`?"),
            (
                "run-tools --dangerously-skip-permissions",
                "did you mean `--permission-mode bypassPermissions`?",
            ),
        ];
        for (arguments, expected) in rows {
            assert_eq!(said(arguments), [expected], "{arguments}");
        }
        for unlike in ["nonsense", "hook remove", "session open", "stats --today"] {
            let hints = said(unlike).concat();
            assert!(
                !hints.contains("remove") && !hints.contains("append"),
                "{hints}"
            );
        }
        assert!(said("nonsense").is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_line_is_the_parsers() {
        let error = cli::parser(Definitions::Eager)
            .try_get_matches_from(["turnpipe", "--version"])
            .unwrap_err();
        assert_eq!(error.render().to_string(), VERSION_LINE);
    }
}
