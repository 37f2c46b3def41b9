//! Failures of models: one line on standard error for each cause, and the exit status.

use std::collections::BTreeSet;

use super::Outcome;
use crate::io::Messages;
use crate::model::Retryability;

/// Collects the failures of a run.
pub(super) struct ModelFailures {
    /// Where causes are reported, if the command does not report every failure itself.
    messages: Option<Messages>,
    causes: BTreeSet<String>,
    /// Whether another try may help, of all failures together.
    retryability: Option<Retryability>,
}

impl ModelFailures {
    /// None so far; with `verbose` the command reports every failure itself.
    pub(super) fn new(messages: &Messages, verbose: bool) -> Self {
        Self {
            messages: (!verbose).then(|| messages.clone()),
            causes: BTreeSet::new(),
            retryability: None,
        }
    }

    /// Reports a failure, unless an earlier one had the same cause.
    pub(super) fn report(&mut self, cause: &str, retryability: Retryability) {
        if retryability == Retryability::Stopped {
            return;
        }
        if self.retryability != Some(Retryability::Temporary) {
            self.retryability = Some(retryability);
        }
        if let Some(messages) = &self.messages
            && self.causes.insert(cause.to_owned())
        {
            messages.note(cause);
        }
    }

    /// How a command ends that made nothing, and would have ended as `outcome` without failures.
    pub(super) fn outcome(&self, outcome: Outcome) -> Outcome {
        match self.retryability {
            Some(Retryability::Permanent) => Outcome::ProviderRefused,
            Some(Retryability::Temporary) => Outcome::ProviderUnavailable,
            Some(Retryability::Stopped) | None => outcome,
        }
    }
}
