//! The exit statuses of commands.

/// The exit status of a command. The numbers are stable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[repr(u8)]
pub enum Status {
    /// Success; a failed tool call is data.
    Done = 0,
    /// Success with a negative result (`--exit-status`, a search without hits), or a failed hook.
    Negative = 1,
    /// Invalid command line or configuration, or unreadable input.
    UsageError = 2,
    /// Unusable records in the input, with `--strict`.
    UnusableRecords = 3,
    /// The model provider refused; retrying will not help.
    ProviderRefused = 4,
    /// The model provider was unreachable or overloaded after all retries.
    ProviderUnavailable = 5,
    /// The turn is complete.
    TurnOver = 10,
    /// The turn was stopped by a hook, a limit or an interrupt.
    TurnStopped = 11,
    /// Reading or writing failed.
    InputOutputFailed = 74,
    /// The run reached its time limit.
    TimedOut = 124,
    /// Interrupted. Children were killed and every call has its result.
    Interrupted = 130,
    /// The output was closed.
    ReaderGone = 141,
    /// Terminated. Children were killed and every call has its result.
    Terminated = 143,
}

impl Status {
    /// Returns the code for the operating system.
    pub fn code(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_exit_status_has_its_own_code() {
        let statuses = Status::value_variants().iter().copied();
        let statuses: Vec<u8> = statuses.map(Status::code).collect();
        assert_eq!(statuses, [0, 1, 2, 3, 4, 5, 10, 11, 74, 124, 130, 141, 143]);
    }
}
