//! How a run stops: on signals, on requests in the stream, when its time is up.

use std::io::Write;
use std::time::Instant;

use super::call::{CallStage, CancelReason};
use super::interruption::{Demand, StageKind};
use super::refusals::{ended_early, never_started};
use super::runner::Runner;
use super::{CallIndex, Owner};
use crate::process::EndSignal;
use crate::tools::InterruptBehavior;

impl<Sink: Write> Runner<'_, Sink> {
    pub(super) fn signalled(&mut self, signal: EndSignal) {
        match self.interruption.signalled(signal, Instant::now()) {
            Demand::Stop => {
                self.stop_for(&CancelReason::Interrupt);
                self.tell_what_is_waited_for();
            }
            Demand::StopAtOnce => {
                self.stop_for(&CancelReason::Interrupt);
                self.end_running(Force::AtOnce);
            }
        }
    }

    /// Gives every queued call its result and tells the running ones to end, but for those that
    /// want to finish.
    pub(super) fn stop_for(&mut self, reason: &CancelReason) {
        let queued: Vec<CallIndex> = self.schedule.queued().collect();
        for index in queued {
            self.complete(index, never_started(reason));
        }
        let running: Vec<CallIndex> = self.schedule.executing().collect();
        for index in running {
            let Some(call) = self.calls.get_mut(&index) else {
                continue;
            };
            if let CallStage::Running { interrupt, .. } = &call.stage
                && (*interrupt == InterruptBehavior::Cancel || *reason == CancelReason::TimeUp)
            {
                call.cancel_reason.get_or_insert_with(|| reason.clone());
                call.cancel.cancel();
                self.interruption.calls_cancelled(Instant::now());
            }
        }
    }

    /// After the first signal somebody may wonder why nothing ends.
    fn tell_what_is_waited_for(&self) {
        let finishing = self.calls.values().find(|call| {
            matches!(&call.stage, CallStage::Running { .. }) && call.cancel_reason.is_none()
        });
        if let Some(call) = finishing {
            self.messages.note(&format!(
                "interrupted: waiting for {} to finish",
                call.label
            ));
            self.messages.hint("interrupt again to end it now");
        }
    }

    /// Calls that were told to end and have not: their results go out without them. Their
    /// processes are being ended all the same.
    pub(super) fn give_up_waiting(&mut self) {
        self.end_running(Force::IfCancelled);
    }

    /// The run is over, whatever the calls think.
    pub(super) fn abandon_calls(&mut self) {
        for call in self.calls.values() {
            call.cancel.kill();
        }
    }

    fn end_running(&mut self, force: Force) {
        let running: Vec<CallIndex> = self.schedule.executing().collect();
        for index in running {
            let Some(call) = self.calls.get_mut(&index) else {
                continue;
            };
            let reason = match (force, &call.cancel_reason) {
                (_, Some(reason)) => reason.clone(),
                (Force::AtOnce, None) => CancelReason::Interrupt,
                (Force::IfCancelled, None) => continue,
            };
            if force == Force::AtOnce {
                call.cancel.kill();
            }
            self.complete(index, ended_early(&reason, None));
        }
    }

    pub(super) fn stage_kind(&self) -> StageKind {
        if self.calls_run > 0 {
            StageKind::Active
        } else if self.ownership.runs_calls() {
            StageKind::Untouched
        } else {
            StageKind::History
        }
    }

    pub(super) fn report_unanswered_history(&mut self) {
        let open = self.ledger.unanswered();
        if self.ownership.runs_calls() || self.ownership.owner() != Owner::Executed || open == 0 {
            return;
        }
        let calls = if open == 1 {
            "1 call has".to_owned()
        } else {
            format!("{open} calls have")
        };
        self.messages.note(&format!(
            "{calls} no result in this recording and did not run again"
        ));
        self.messages.hint("run them with --execute");
    }
}

/// Which running calls lose their say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Force {
    /// Those that were told to end.
    IfCancelled,
    /// All.
    AtOnce,
}
