//! The last step of a helper: it becomes a program, or reports why it cannot.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use turnpipe_core::io::{Messages, Screen};

/// Exit status of a failure of the sandbox itself. `env` and `timeout` use the same statuses.
pub(super) const SANDBOX_FAILED: u8 = 125;

/// Exit status of a command that cannot be executed.
const NOT_EXECUTABLE: u8 = 126;

/// Exit status of a command that does not exist.
const NOT_FOUND: u8 = 127;

/// Becomes a program. On failure, reports it and returns the exit status.
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

/// Prints the reason why there is no command.
pub(super) fn report(problem: &str) {
    Messages::from_process(&Screen::from_process()).error(problem);
}
