//! The `turnpipe` command: arguments in, exit status out.

use std::ffi::OsString;
use std::process::ExitCode;

use turnpipe::commands::{self, Status};
use turnpipe::io::{Io, Messages, Screen, StdoutAtStart};
use turnpipe::process::{ignore_file_size_signal, stdout_was_closed};

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Before inspection is forbidden: a process that is not dumpable cannot write the id maps of its namespace.
    #[cfg(sandbox)]
    {
        let callbacks = turnpipe::process::HelperCallbacks {
            start_proxy: turnpipe::client::proxy::start_proxy,
            find_protected: turnpipe::sandbox::protected_files,
        };
        if let Some(status) = turnpipe::process::run_as_sandbox_helper(&arguments, &callbacks) {
            return ExitCode::from(status);
        }
    }
    #[cfg(target_os = "linux")]
    {
        turnpipe::process::forbid_inspection();
        turnpipe::process::hide_environment();
    }
    #[cfg(target_os = "linux")]
    if turnpipe::process::run_as_guardian(&arguments) {
        return ExitCode::SUCCESS;
    }
    ignore_file_size_signal();
    let stdout = if stdout_was_closed() {
        StdoutAtStart::Closed
    } else {
        StdoutAtStart::Open
    };
    let status = match Io::from_process(stdout) {
        Ok(mut io) => commands::run(&arguments, &mut io),
        Err(error) => {
            Messages::from_process(&Screen::from_process()).error(&error.to_string());
            Status::UsageError
        }
    };
    ExitCode::from(commands::exit_status(status, &arguments))
}
