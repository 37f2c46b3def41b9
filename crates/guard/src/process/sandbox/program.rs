//! The last step of a helper: it becomes a program, or says why not.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use turnpipe_core::io::{Messages, Screen};

/// Exit statuses of a sandbox, as of `env` and `timeout`: its own failure, a command that cannot be executed, and one
/// that does not exist.
pub(super) const SANDBOX_FAILED: u8 = 125;
pub(super) const NOT_EXECUTABLE: u8 = 126;
pub(super) const NOT_FOUND: u8 = 127;

/// Becomes a program. Returns the exit status of a failure.
pub(super) fn exec_or_report(command: &mut Command) -> u8 {
    let error = command.exec();
    let status = if error.kind() == io::ErrorKind::NotFound {
        NOT_FOUND
    } else {
        NOT_EXECUTABLE
    };
    report(&format!("{}: {error}", command.get_program().display()));
    status
}

/// Prints why there is no command.
pub(super) fn report(problem: &str) {
    Messages::from_process(&Screen::from_process()).error(problem);
}
