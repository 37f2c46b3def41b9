//! From arguments to an exit status.

use std::ffi::OsString;

use super::admin::completions;
use super::{Outcome, error, output, usage};
use crate::cmd::cli::{self, Invocation};
use crate::cmd::globals::ColorWhen;
use crate::io::{Io, Output};

/// What `--version` prints.
const VERSION_LINE: &str = concat!("turnpipe ", env!("CARGO_PKG_VERSION"), "\n");

/// Runs the command line `arguments`, the program's name first, and returns how it ended. Errors
/// have been reported on standard error by then.
pub fn run(arguments: impl IntoIterator<Item = OsString>, io: &mut Io) -> Outcome {
    if matches!(io.stdout, Output::Closed) {
        io.messages
            .note("cannot write output: standard output is closed");
        return Outcome::InputOutputFailed;
    }
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    dispatch(&arguments, io).unwrap_or_else(|error| error::report(&error, &io.messages))
}

/// The exit status of the command line `arguments` that ended so. Agents take a 2 of their hooks as a
/// denial, so that a hook that fails has another one.
pub fn exit_status(outcome: Outcome, arguments: &[OsString]) -> u8 {
    match outcome {
        Outcome::UsageError if cli::is_hook(arguments) => Outcome::AnswerIsNo.exit_status(),
        other => other.exit_status(),
    }
}

fn dispatch(arguments: &[OsString], io: &mut Io) -> anyhow::Result<Outcome> {
    #[cfg(target_os = "linux")]
    if let [_, first, others @ ..] = arguments
        && first == crate::cmd::run::run_tools::GUARDIAN.argument
    {
        crate::process::guard(others);
        return Ok(Outcome::Done);
    }
    if asks_for_version_only(arguments) {
        output::print(io, VERSION_LINE)?;
        return Ok(Outcome::Done);
    }
    if let Some(outcome) = completions::answer(arguments, cli::parser, io)? {
        return Ok(outcome);
    }
    if let Some(invocation) = Invocation::of(arguments)
        && let Some(matches) = invocation.parse()
    {
        return invocation.run(&matches, io);
    }
    let color = ColorWhen::requested(arguments);
    match cli::parser().try_get_matches_from(arguments) {
        Ok(matches) => cli::run_parsed(&matches, io),
        Err(error) => usage::answer(&error, arguments, color, io),
    }
}

/// Building the parser takes longer than all the rest of `--version`.
fn asks_for_version_only(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, only] if only == "--version" || only == "-V")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_cut_prints_what_the_parser_would() {
        let error = cli::parser()
            .try_get_matches_from(["turnpipe", "--version"])
            .unwrap_err();
        assert_eq!(error.render().to_string(), VERSION_LINE);
    }
}
