//! From arguments to an exit status.

use std::ffi::OsString;
use std::mem::ManuallyDrop;

use super::color::ColorWhen;
use super::{Outcome, cli, error, output, usage};
use crate::io::{Io, Output};

/// What `--version` prints.
const VERSION_LINE: &str = concat!("turnpipe ", env!("CARGO_PKG_VERSION"), "\n");

/// Runs the command line `arguments`, the program's name first, and returns how it ended. Whatever
/// there is to say about an error has been said.
pub fn run(arguments: impl IntoIterator<Item = OsString>, io: &mut Io) -> Outcome {
    if matches!(io.stdout, Output::Closed) {
        io.messages
            .note("cannot write output: standard output is closed");
        return Outcome::InputOutputFailed;
    }
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    dispatch(arguments, io).unwrap_or_else(|error| error::report(&error, &io.messages))
}

fn dispatch(arguments: Vec<OsString>, io: &mut Io) -> anyhow::Result<Outcome> {
    #[cfg(target_os = "linux")]
    if let [_, first, others @ ..] = arguments.as_slice()
        && first == super::run_tools::GUARDIAN.argument
    {
        crate::process::guard(others);
        return Ok(Outcome::Done);
    }
    if asks_for_version_only(&arguments) {
        output::print(io, VERSION_LINE)?;
        return Ok(Outcome::Done);
    }
    let color = ColorWhen::requested(&arguments);
    let first = arguments.get(1).and_then(|argument| argument.to_str());
    // Nobody frees the parser and what it found: the process ends right after the command, and
    // taking apart these thousands of small pieces is a tenth of the run time of a small one.
    let mut parser = ManuallyDrop::new(cli::parser_for(first));
    match parser
        .try_get_matches_from_mut(arguments)
        .map(ManuallyDrop::new)
    {
        Ok(matches) => cli::run_parsed(&matches, io),
        Err(error) => usage::answer(&error, color, io),
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

    #[test]
    fn the_command_line_is_consistent() {
        cli::parser().debug_assert();
        cli::parser_for(Some("check")).debug_assert();
    }
}
