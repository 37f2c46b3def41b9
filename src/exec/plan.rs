//! What would become of the calls of a turn, and which of them would run together.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::lifecycle::Prepared;
use super::schedule::{CallIndex, Policy, Schedule};
use crate::message::{Decision, ToolUseId};
use crate::records::{Lane, Outcome, PlanRecord, PlannedCall};

/// The calls of the turn that is being read.
#[derive(Debug)]
pub(super) struct Plan {
    policy: Policy,
    schedule: Schedule,
    calls: BTreeMap<CallIndex, (Lane, PlannedCall)>,
}

impl Plan {
    pub(super) fn new(policy: Policy) -> Self {
        Self {
            policy,
            schedule: Schedule::new(policy, NonZeroUsize::MAX),
            calls: BTreeMap::new(),
        }
    }

    /// The next call of the turn, and what was decided about it, if it got that far.
    pub(super) fn add(
        &mut self,
        id: &ToolUseId,
        name: &str,
        prepared: &Prepared,
        decision: Option<Decision>,
    ) {
        let access = prepared.access();
        let outcome = match (prepared, decision) {
            (Prepared::Refused(completed), _) => Some(completed.outcome),
            (Prepared::Ready(_), Some(Decision::Deny | Decision::Ask)) => Some(Outcome::Denied),
            (Prepared::Ready(_), Some(Decision::Allow) | None) | (Prepared::Unresolved(_), _) => {
                None
            }
        };
        let call = PlannedCall {
            tool_use_id: id.clone(),
            tool_name: name.to_owned(),
            verdict: prepared.verdict(),
            outcome,
        };
        self.calls
            .insert(self.schedule.enqueue(access), (prepared.lane(), call));
    }

    /// The turn is over: its batches. All that may start at the same time is one of them.
    pub(super) fn take_turn(&mut self) -> Vec<PlanRecord> {
        let mut batches = Vec::new();
        while !self.calls.is_empty() {
            let started: Vec<CallIndex> =
                std::iter::from_fn(|| self.schedule.start_next()).collect();
            let mut calls = Vec::new();
            let mut lane = Lane::Serial;
            for index in &started {
                self.schedule.complete(*index);
                if let Some((of_call, call)) = self.calls.remove(index) {
                    lane = of_call;
                    calls.push(call);
                }
            }
            if calls.len() > 1 {
                lane = Lane::Parallel;
            }
            batches.push(PlanRecord::new(batches.len() as u64, lane, calls));
        }
        self.schedule = Schedule::new(self.policy, NonZeroUsize::MAX);
        batches
    }
}
