//! Exit statuses, error messages, and the failures of models that commands ask.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::ErrorKind;
use std::path::Path;

use crate::client::model::{Failure, Retryability};
use crate::config::ConfigError;
use crate::io::{MessageLevel, Messages};
use crate::jsonl::WriteError;
use crate::process::EndSignal;
use crate::session::PrintError;

/// The command line, the configuration or an input is invalid; nothing was run.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{problem}")]
pub(super) struct UsageError {
    problem: String,
    hint: Option<String>,
}

impl UsageError {
    /// Creates an error. `problem` is a lowercase phrase `what: why`.
    pub(super) fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            hint: None,
        }
    }

    /// Converts the reason why an input is unusable.
    pub(super) fn reason(error: impl Display) -> Self {
        Self::new(error.to_string())
    }

    /// Converts the reason why a session was not printed.
    pub(super) fn from_print_error(error: PrintError) -> anyhow::Error {
        match error {
            PrintError::Read { .. } => Self::reason(error).into(),
            PrintError::Write(error) => error.into(),
        }
    }

    /// Prefixes the problem with a name.
    pub(super) fn about(&self, name: impl Display) -> Self {
        Self {
            problem: format!("{name}: {}", self.problem),
            hint: self.hint.clone(),
        }
    }

    /// Prefixes the problem with an option and the path that it names.
    pub(super) fn with_option(&self, option: &str, path: &Path) -> Self {
        self.about(path.display()).about(option)
    }

    /// Prints the problem and the hint.
    pub(super) fn report(&self, messages: &Messages) {
        messages.error(&self.problem);
        if let Some(hint) = &self.hint {
            messages.hint(hint);
        }
    }

    /// Adds a hint.
    #[must_use]
    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }
}

impl From<ConfigError> for UsageError {
    fn from(error: ConfigError) -> Self {
        Self::reason(error).about("configuration")
    }
}

/// Reports an error on standard error and returns its outcome. A broken pipe is not an error.
pub(super) fn report(error: &anyhow::Error, messages: &Messages) -> Status {
    if is_broken_pipe(error) {
        return Status::Done;
    }
    if let Some(usage) = error.downcast_ref::<UsageError>() {
        usage.report(messages);
        return Status::UsageError;
    }
    messages.error(&join_causes(error));
    Status::InputOutputFailed
}

/// Returns the chain of causes on one line, without repetition.
fn join_causes(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.ends_with(&cause) {
            line.push_str(": ");
            line.push_str(&cause);
        }
    }
    line
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        matches!(
            cause.downcast_ref::<WriteError>(),
            Some(WriteError::BrokenPipe)
        ) || cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|cause| cause.kind() == ErrorKind::BrokenPipe)
    })
}

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
    /// Unusable records in the input, with `--strict`, or an API's error.
    UnusableRecords = 3,
    /// The model provider refused; retrying will not help.
    ProviderRefused = 4,
    /// The model provider was unreachable or overloaded after all retries.
    ProviderUnavailable = 5,
    /// A gate of `session report` or `session stats`, or `--max-cost`, failed.
    GateFailed = 6,
    /// The last reply does not fit the schema of `turn`.
    OutputMismatch = 7,
    /// A patch omits changes of a session.
    ChangesOmitted = 8,
    /// The turn is complete.
    TurnOver = 10,
    /// The turn was stopped by a hook, a limit or an interrupt.
    TurnStopped = 11,
    /// Reading or writing failed.
    InputOutputFailed = 74,
    /// The run reached its time limit.
    TimedOut = 124,
    /// `sandbox` did not start its command.
    SandboxFailed = 125,
    /// Interrupted. Children were killed and every call has its result.
    Interrupted = 130,
    /// The output was closed.
    ReaderGone = 141,
    /// Terminated. Children were killed and every call has its result.
    Terminated = 143,
}

impl From<EndSignal> for Status {
    fn from(signal: EndSignal) -> Self {
        match signal {
            EndSignal::Interrupt => Self::Interrupted,
            EndSignal::Terminate => Self::Terminated,
        }
    }
}

impl Status {
    /// Returns the status of a command with a negative result, or else of success.
    pub(crate) fn negative_if(is_negative: bool) -> Self {
        if is_negative {
            Self::Negative
        } else {
            Self::Done
        }
    }

    /// Returns the code for the operating system.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// The failures of a command.
pub(crate) struct ModelFailures {
    messages: Messages,
    causes: BTreeSet<String>,
    /// Whether a retry may help, of all failures together.
    retryability: Option<Retryability>,
    /// Whether the model refuses all requests.
    is_over: bool,
    failed: usize,
    not_asked: usize,
}

impl ModelFailures {
    /// Creates an empty collection. If actions are printed, the command reports every failure itself.
    pub(crate) fn new(messages: &Messages) -> Self {
        Self {
            messages: messages.clone(),
            causes: BTreeSet::new(),
            retryability: None,
            is_over: false,
            failed: 0,
            not_asked: 0,
        }
    }

    /// Reports a failure, unless an earlier one had the same cause.
    pub(crate) fn report(&mut self, failure: &Failure) {
        let retryability = failure.retryability();
        if retryability == Retryability::Stopped {
            return;
        }
        self.failed += 1;
        let was_asked = !matches!(failure, Failure::NotAsked { .. });
        self.not_asked += usize::from(!was_asked);
        if failure.refuses_everything() || !was_asked {
            self.is_over = true;
            self.retryability = Some(retryability);
        } else if self.retryability.is_none()
            || !self.is_over && retryability == Retryability::Temporary
        {
            self.retryability = Some(retryability);
        }
        if let Failure::NotRecorded { difference, .. } = failure {
            for line in difference.lines() {
                self.messages.log(line);
            }
        }
        let cause = failure.to_string();
        if !self.messages.is_printed(MessageLevel::All) && self.causes.insert(cause.clone()) {
            self.messages.error(&cause);
        }
    }

    /// Returns the outcome of a command that wrote `made` texts and would end with `outcome`
    /// without failures. If the texts are optional, failures count only if nothing was written or
    /// if the model refuses all requests. Prints the closing count.
    pub(crate) fn outcome(&self, made: usize, are_optional: bool, outcome: Status) -> Status {
        let skipped = match self.not_asked {
            0 => String::new(),
            count => format!(": {count} skipped after the model refused a request"),
        };
        if self.failed > 0 && made + self.not_asked > 0 {
            let failed = self.failed;
            self.messages
                .error(&format!("{made} written, {failed} not{skipped}"));
        }
        let decides = made == 0 || self.is_over || !are_optional;
        match self.retryability.filter(|_| decides) {
            Some(Retryability::Permanent) => Status::ProviderRefused,
            Some(Retryability::Temporary) => Status::ProviderUnavailable,
            Some(Retryability::Stopped) | None => outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use anyhow::Context;

    use super::*;

    /// A sink that can be read afterwards.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn describe(error: &anyhow::Error) -> (Status, String) {
        let sink = Shared::default();
        let outcome = report(error, &Messages::new(sink.clone()));
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        (outcome, text)
    }

    #[test]
    fn a_usage_error_comes_with_its_hint() {
        let error = UsageError::new("check text: no kind given").with_hint("try `--kind terminal`");
        assert_eq!(
            describe(&error.into()),
            (
                Status::UsageError,
                "turnpipe: check text: no kind given\nhint: try `--kind terminal`\n".to_owned()
            )
        );
    }

    #[test]
    fn a_chain_of_causes_is_one_safe_line() {
        let error = Err::<(), _>(io::Error::from(ErrorKind::PermissionDenied))
            .context("cannot read `a\u{1b}[31m\nb`")
            .unwrap_err();
        assert_eq!(
            describe(&error),
            (
                Status::InputOutputFailed,
                "turnpipe: cannot read `a b`: permission denied\n".to_owned()
            )
        );
    }

    #[test]
    fn a_cause_is_named_once() {
        let source = io::Error::from(ErrorKind::StorageFull).into();
        let error = WriteError::Failed { written: 7, source };
        assert_eq!(
            describe(&error.into()).1,
            "turnpipe: cannot write output after 7 bytes: no storage space\n"
        );
    }

    #[test]
    fn a_broken_pipe_is_a_quiet_end() {
        let reported = describe(&WriteError::BrokenPipe.into());
        assert_eq!(reported, (Status::Done, String::new()));
    }
}

#[cfg(test)]
mod status_tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_exit_status_has_its_own_code() {
        let statuses = Status::value_variants().iter().copied();
        let statuses: Vec<u8> = statuses.map(Status::code).collect();
        assert_eq!(
            statuses,
            [
                0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 74, 124, 125, 130, 141, 143
            ]
        );
    }
}
