//! Failures of models: one line on standard error for each cause, and the exit status.

use std::collections::BTreeSet;

use super::Outcome;
use crate::io::Messages;
use crate::model::Prospect;

/// Collects the failures of a run.
pub(super) struct ModelFailures {
    /// Where causes are reported, if the command does not report every failure itself.
    messages: Option<Messages>,
    causes: BTreeSet<String>,
    /// What another try would be good for, of all failures together.
    prospect: Option<Prospect>,
}

impl ModelFailures {
    /// None so far; with `verbose` the command reports every failure itself.
    pub(super) fn new(messages: &Messages, verbose: bool) -> Self {
        Self {
            messages: (!verbose).then(|| messages.clone()),
            causes: BTreeSet::new(),
            prospect: None,
        }
    }

    /// Reports a failure, unless an earlier one had the same cause.
    pub(super) fn report(&mut self, cause: &str, prospect: Prospect) {
        if prospect == Prospect::Stopped {
            return;
        }
        if self.prospect != Some(Prospect::MayPass) {
            self.prospect = Some(prospect);
        }
        if let Some(messages) = &self.messages
            && self.causes.insert(cause.to_owned())
        {
            messages.note(cause);
        }
    }

    /// How a command ends that made nothing, and would have ended as `outcome` without failures.
    pub(super) fn outcome(&self, outcome: Outcome) -> Outcome {
        match self.prospect {
            Some(Prospect::Hopeless) => Outcome::ProviderRefused,
            Some(Prospect::MayPass) => Outcome::ProviderUnavailable,
            Some(Prospect::Stopped) | None => outcome,
        }
    }
}
