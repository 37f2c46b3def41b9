//! How a command ended, as an exit status.

/// The end of a command. The numbers are part of the contract with scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Done; a failed tool is data, and nothing to do is done too.
    Done,
    /// Done, and the answer is no (`--exit-status`, or a search that found nothing).
    AnswerIsNo,
    /// The command line or the configuration makes no sense, or an input cannot be read.
    UsageError,
    /// The input had unusable records and `--strict` was given.
    UnusableRecords,
    /// The model provider refused: retrying will not help.
    ProviderRefused,
    /// The model provider could not be reached, or stayed overloaded after the retries.
    ProviderUnavailable,
    /// The turn is over: no call was made.
    TurnOver,
    /// The turn was stopped by a hook, a limit or an interrupt.
    TurnStopped,
    /// Reading or writing failed.
    InputOutputFailed,
    /// The time limit of the whole run was reached.
    TimedOut,
    /// Interrupted; children were ended and every call has its result.
    Interrupted,
    /// The reader of the results went away.
    ReaderGone,
    /// Terminated; children were ended and every call has its result.
    Terminated,
}

impl Outcome {
    /// Every outcome, in the order of the exit status.
    pub const ALL: [Self; 13] = [
        Self::Done,
        Self::AnswerIsNo,
        Self::UsageError,
        Self::UnusableRecords,
        Self::ProviderRefused,
        Self::ProviderUnavailable,
        Self::TurnOver,
        Self::TurnStopped,
        Self::InputOutputFailed,
        Self::TimedOut,
        Self::Interrupted,
        Self::ReaderGone,
        Self::Terminated,
    ];

    /// The exit status.
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::AnswerIsNo => 1,
            Self::UsageError => 2,
            Self::UnusableRecords => 3,
            Self::ProviderRefused => 4,
            Self::ProviderUnavailable => 5,
            Self::TurnOver => 10,
            Self::TurnStopped => 11,
            Self::InputOutputFailed => 74,
            Self::TimedOut => 124,
            Self::Interrupted => 130,
            Self::ReaderGone => 141,
            Self::Terminated => 143,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_has_a_status_of_its_own() {
        let statuses = Outcome::ALL.map(Outcome::exit_status);
        assert_eq!(statuses, [0, 1, 2, 3, 4, 5, 10, 11, 74, 124, 130, 141, 143]);
    }
}
