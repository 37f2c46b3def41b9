//! The `turnpipe` command: arguments in, exit status out.

use std::process::ExitCode;

use turnpipe::cmd::{self, Outcome};
use turnpipe::io::{Io, Messages, StdoutAtStart};

fn main() -> ExitCode {
    let outcome = match Io::of_process(StdoutAtStart::Open) {
        Ok(mut io) => cmd::run(std::env::args_os(), &mut io),
        Err(error) => {
            Messages::of_process().note(&error.to_string());
            Outcome::UsageError
        }
    };
    ExitCode::from(outcome.exit_status())
}
