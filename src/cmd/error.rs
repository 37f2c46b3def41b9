//! Errors of commands: messages and outcomes.

use std::fmt::Display;
use std::io::ErrorKind;

use crate::cmd::Status;
use crate::config::ConfigError;
use crate::io::Messages;
use crate::jsonl::WriteError;

/// The command line, the configuration or an input is invalid; nothing was run.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{problem}")]
pub(super) struct UsageError {
    problem: String,
    hint: Option<String>,
}

impl UsageError {
    /// `problem` is a lowercase phrase `what: why`.
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

    /// Prefixes the problem with a name.
    pub(super) fn about(&self, name: impl Display) -> Self {
        Self {
            problem: format!("{name}: {}", self.problem),
            hint: self.hint.clone(),
        }
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
    messages.error(&one_line(error));
    Status::InputOutputFailed
}

/// Returns the chain of causes on one line, without repetition.
fn one_line(error: &anyhow::Error) -> String {
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

    fn reported(error: &anyhow::Error) -> (Status, String) {
        let sink = Shared::default();
        let outcome = report(error, &Messages::new(sink.clone()));
        let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
        (outcome, text)
    }

    #[test]
    fn a_usage_error_comes_with_its_hint() {
        let error = UsageError::new("check text: no kind given").with_hint("try `--kind terminal`");
        assert_eq!(
            reported(&error.into()),
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
            reported(&error),
            (
                Status::InputOutputFailed,
                "turnpipe: cannot read `a b`: permission denied\n".to_owned()
            )
        );
    }

    #[test]
    fn a_cause_is_named_once() {
        let source = io::Error::from(ErrorKind::StorageFull);
        let error = WriteError::Failed { written: 7, source };
        assert_eq!(
            reported(&error.into()).1,
            "turnpipe: cannot write output after 7 bytes: no storage space\n"
        );
    }

    #[test]
    fn a_broken_pipe_is_a_quiet_end() {
        let reported = reported(&WriteError::BrokenPipe.into());
        assert_eq!(reported, (Status::Done, String::new()));
    }
}
