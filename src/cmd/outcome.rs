//! How a command ended, as an exit status.

/// The end of a command. The numbers are part of the contract with scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
#[repr(u8)]
pub enum Outcome {
    /// Done; a failed tool is data, and nothing to do is done too.
    Done = 0,
    /// Done, and the answer is no (`--exit-status`, or a search that found nothing); a hook that failed.
    AnswerIsNo = 1,
    /// The command line or the configuration makes no sense, or an input cannot be read.
    UsageError = 2,
    /// The input had unusable records and `--strict` was given.
    UnusableRecords = 3,
    /// The model provider refused: retrying will not help.
    ProviderRefused = 4,
    /// The model provider could not be reached, or stayed overloaded after the retries.
    ProviderUnavailable = 5,
    /// The turn is over: no call was made.
    TurnOver = 10,
    /// The turn was stopped by a hook, a limit or an interrupt.
    TurnStopped = 11,
    /// Reading or writing failed.
    InputOutputFailed = 74,
    /// The time limit of the whole run was reached.
    TimedOut = 124,
    /// Interrupted; children were ended and every call has its result.
    Interrupted = 130,
    /// The reader of the results went away.
    ReaderGone = 141,
    /// Terminated; children were ended and every call has its result.
    Terminated = 143,
}

impl Outcome {
    /// The exit status.
    pub fn exit_status(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_outcome_has_its_own_status() {
        let outcomes = Outcome::value_variants().iter().copied();
        let statuses: Vec<u8> = outcomes.map(Outcome::exit_status).collect();
        assert_eq!(statuses, [0, 1, 2, 3, 4, 5, 10, 11, 74, 124, 130, 141, 143]);
    }
}
