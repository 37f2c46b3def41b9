//! The `turnpipe` command: arguments in, exit status out.

use std::ffi::OsString;
use std::process::ExitCode;

use turnpipe::cmd::{self, Outcome};
use turnpipe::io::{Io, Messages, StdoutAtStart};
use turnpipe::process::{outlive_file_size_limit, stdout_was_closed};

fn main() -> ExitCode {
    outlive_file_size_limit();
    let stdout = if stdout_was_closed() {
        StdoutAtStart::Closed
    } else {
        StdoutAtStart::Open
    };
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let outcome = match Io::of_process(stdout) {
        Ok(mut io) => cmd::run(&arguments, &mut io),
        Err(error) => {
            Messages::of_process().error(&error.to_string());
            Outcome::UsageError
        }
    };
    ExitCode::from(cmd::exit_status(outcome, &arguments))
}
