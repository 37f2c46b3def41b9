//! Runs a command line and returns its exit status.

use std::ffi::OsString;

use super::admin::completions;
use super::{Status, error, output, usage};
use crate::cmd::cli;
use crate::cmd::command::Definitions;
use crate::cmd::globals::ColorWhen;
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
    dispatch(arguments, io).unwrap_or_else(|error| error::report(&error, &io.messages))
}

/// Returns the exit status of the command line `arguments` that ended with `outcome`. Agents treat
/// status 2 of a hook as a denial, so a hook that fails has status 1 instead.
pub fn exit_status(outcome: Status, arguments: &[OsString]) -> u8 {
    let is_hook = || {
        let named = cli::named(arguments);
        let is_for_users = ["install", "uninstall", "status", "explain"]
            .iter()
            .any(|command| named.ends_with(command));
        named.starts_with("turnpipe hook") && !is_for_users
    };
    match outcome {
        Status::UsageError if is_hook() => Status::Negative.code(),
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
    if let Some(outcome) = completions::answer(arguments, eager_parser, io)? {
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
        Err(Ok(error)) => usage::report(&error, arguments, ColorWhen::requested(arguments), io),
        Err(Err(error)) => Err(error),
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
