//! Failures of models: one line on standard error for each cause, and the exit status.

use std::collections::BTreeSet;

use crate::cmd::Outcome;
use crate::io::Messages;
use crate::model::{Failure, Retryability};

/// Collects the failures of a run.
pub(crate) struct ModelFailures {
    messages: Messages,
    /// Whether the command reports every failure itself.
    verbose: bool,
    causes: BTreeSet<String>,
    /// Whether another try may help, of all failures together.
    retryability: Option<Retryability>,
    /// Whether the model refused everything.
    is_over: bool,
    not_asked: usize,
}

impl ModelFailures {
    /// None so far; with `verbose` the command reports every failure itself.
    pub(crate) fn new(messages: &Messages, verbose: bool) -> Self {
        Self {
            messages: messages.clone(),
            verbose,
            causes: BTreeSet::new(),
            retryability: None,
            is_over: false,
            not_asked: 0,
        }
    }

    /// Reports a failure, unless an earlier one had the same cause.
    pub(crate) fn report(&mut self, failure: &Failure) {
        let retryability = failure.retryability();
        if retryability == Retryability::Stopped {
            return;
        }
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
                self.messages.note(line);
            }
        }
        let cause = failure.to_string();
        if !self.verbose && !self.causes.contains(&cause) {
            self.messages.note(&cause);
            self.causes.insert(cause);
        }
    }

    /// How a command ends that would have ended as `outcome` without failures. A failure counts if
    /// the command made nothing, or if the model refused everything.
    pub(crate) fn outcome(&self, made: usize, outcome: Outcome) -> Outcome {
        if self.not_asked > 0 {
            let others = self.not_asked;
            self.messages
                .note(&format!("the model was not asked about {others} more"));
        }
        match self.retryability.filter(|_| made == 0 || self.is_over) {
            Some(Retryability::Permanent) => Outcome::ProviderRefused,
            Some(Retryability::Temporary) => Outcome::ProviderUnavailable,
            Some(Retryability::Stopped) | None => outcome,
        }
    }
}
