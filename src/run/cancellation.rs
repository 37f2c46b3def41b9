//! The calls that end early: after a failed sibling, on an interrupt, and at the end of a run.

use super::call::CallState;
use super::call_result::{CallResult, CancelReason};
use super::open_calls::OpenCalls;
use super::session::{OnError, RunSession};
use super::turn_tracker::CallIndex;
use crate::records::Outcome;
use crate::run::tools::{InterruptBehavior, ToolKind};

/// The running calls that get a result before they end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ForcedCalls {
    /// Cancelled calls.
    IfCancelled,
    /// All calls.
    AtOnce,
}

impl OpenCalls {
    /// Ends the calls that a failed sibling cancels.
    pub(super) fn cancel_siblings(&mut self, session: &mut RunSession) {
        for index in self.schedule.waiting_calls().collect::<Vec<_>>() {
            if let Some(reason) = self.sibling_failure(index) {
                self.complete(index, CallResult::never_started(&reason), session);
            }
        }
        for index in self.schedule.started_calls().collect::<Vec<_>>() {
            if let Some(reason) = self.sibling_failure(index)
                && let Some(call) = self.by_index.get_mut(&index)
            {
                call.cancel(&reason);
            }
        }
    }

    /// Returns the failed sibling that cancels a call; `None` if there is none, or if the call has its
    /// result.
    pub(super) fn sibling_failure(&self, index: CallIndex) -> Option<CancelReason> {
        let call = self.by_index.get(&index)?;
        let failure = self.turns.failure(call.turn)?;
        let is_cancelled = match self.on_error {
            OnError::Continue => false,
            OnError::CancelAll => !matches!(call.state, CallState::Done(_)),
            OnError::CancelShell => call.state.kind() == Some(ToolKind::Shell),
        };
        is_cancelled.then(|| CancelReason::Sibling(failure.to_owned()))
    }

    /// Completes every waiting call without running it.
    pub(super) fn refuse_waiting(&mut self, reason: &CancelReason, session: &mut RunSession) {
        for index in self.schedule.waiting_calls().collect::<Vec<_>>() {
            self.complete(index, CallResult::never_started(reason), session);
        }
    }

    /// Cancels the running calls, except those whose tools always finish. Returns whether there were any.
    pub(super) fn cancel_running(&mut self, reason: &CancelReason) -> bool {
        let mut has_running = false;
        for index in self.schedule.started_calls() {
            if let Some(call) = self.by_index.get_mut(&index)
                && let CallState::Running(ready) = &call.state
                && (ready.tool.interrupt() == InterruptBehavior::Cancel
                    || *reason == CancelReason::TimeUp)
            {
                call.cancel(reason);
                has_running = true;
            }
        }
        has_running
    }

    /// Completes running calls before they end. Their processes are still killed.
    pub(super) fn end_running(&mut self, force: ForcedCalls, session: &mut RunSession) {
        for index in self.schedule.started_calls().collect::<Vec<_>>() {
            let Some(call) = self.by_index.get_mut(&index) else {
                continue;
            };
            let reason = match (force, &call.cancel_reason) {
                (_, Some(reason)) => reason.clone(),
                (ForcedCalls::AtOnce, None) => CancelReason::Interrupt,
                (ForcedCalls::IfCancelled, None) => continue,
            };
            if force == ForcedCalls::AtOnce {
                call.cancel.kill();
            }
            self.complete(index, CallResult::cancellation(&reason, None), session);
        }
    }

    /// Kills all calls at the end of the run.
    pub(super) fn kill(&self) {
        for call in self.by_index.values() {
            call.cancel.kill();
        }
    }
}

impl OnError {
    /// Whether this result cancels the siblings of its call.
    pub(super) fn cancels_siblings(self, result: &CallResult) -> bool {
        let has_failed = matches!(result.outcome, Outcome::Error | Outcome::Timeout);
        match self {
            Self::Continue => false,
            Self::CancelShell => has_failed && result.cancels_siblings,
            Self::CancelAll => has_failed,
        }
    }
}
