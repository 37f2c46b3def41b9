//! Failures of requests to models: a message for each cause, a closing count, and the exit status.

use std::collections::BTreeSet;

use crate::cmd::Status;
use crate::io::Messages;
use crate::model::{Failure, Retryability};

/// The failures of a command.
pub(crate) struct ModelFailures {
    messages: Messages,
    /// Whether the command reports every failure itself.
    verbose: bool,
    causes: BTreeSet<String>,
    /// Whether a retry may help, of all failures together.
    retryability: Option<Retryability>,
    /// Whether the model refuses all requests.
    is_over: bool,
    failed: usize,
    not_asked: usize,
}

impl ModelFailures {
    /// Creates an empty collection. With `verbose` the command reports every failure itself.
    pub(crate) fn new(messages: &Messages, verbose: bool) -> Self {
        Self {
            messages: messages.clone(),
            verbose,
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
        if let Failure::NotRecorded { difference, .. } = failure
            && self.verbose
        {
            for line in difference.lines() {
                self.messages.log(line);
            }
        }
        let cause = failure.to_string();
        if !self.verbose && !self.causes.contains(&cause) {
            self.messages.error(&cause);
            self.causes.insert(cause);
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
