//! From arguments to an exit status.

use std::ffi::OsString;

use super::cli::Leaf;
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
    if let Some(leaf) = Leaf::of(&arguments)
        && let Some(matches) = leaf.parse(&arguments)
    {
        return leaf.run(&matches, io);
    }
    let color = ColorWhen::requested(&arguments);
    let first = arguments.get(1).and_then(|argument| argument.to_str());
    match cli::parser_for(first).try_get_matches_from(arguments) {
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
    fn a_leaf_takes_only_what_the_whole_parser_takes() {
        let lines: [&[&str]; 11] = [
            &[
                "--no-config",
                "-v",
                "check",
                "text",
                "--as",
                "terminal",
                "-q",
            ],
            &["-q", "--no-config", "session", "tail", "x", "--raw"],
            &["--quiet", "session", "tail"],
            &["check", "text", "--as", "terminal"],
            &["check", "text", "-q", "--as=terminal", "--config", "x"],
            &["check", "text"],
            &["check", "text", "--as", "nonsense"],
            &["check", "text", "--help"],
            &[
                "check",
                "text",
                "--config",
                "x",
                "--no-config",
                "--as",
                "terminal",
            ],
            &["run-tools", "--plan", "--timeout", "5m"],
            &["run-tools", "--timeout", "soon"],
        ];
        for line in lines {
            let arguments: Vec<OsString> = std::iter::once("turnpipe")
                .chain(line.iter().copied())
                .map(Into::into)
                .collect();
            let by_leaf = Leaf::of(&arguments).unwrap().parse(&arguments).is_some();
            let by_all = cli::parser().try_get_matches_from(&arguments).is_ok();
            assert_eq!(by_leaf, by_all, "{line:?}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        cli::parser().debug_assert();
        cli::parser_for(Some("check")).debug_assert();
    }
}
