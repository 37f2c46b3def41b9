//! The plan of a turn: the outcome of calls that would not run, and the batches of the others.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use super::call::CallState;
use super::schedule::{CallIndex, Policy, Schedule};
use crate::message::{Decision, ToolUseId};
use crate::records::{Lane, Outcome, PlanRecord, PlannedCall};

/// The calls of the current turn.
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

    /// Adds the next call of the turn, with the decision about it if there is one.
    pub(super) fn add(
        &mut self,
        id: &ToolUseId,
        name: &str,
        state: &CallState,
        decision: Option<Decision>,
    ) {
        let (profile, access) = state.profile(name);
        let outcome = match (state, decision) {
            (CallState::Done(result), _) => Some(result.outcome),
            (_, Some(Decision::Deny | Decision::Ask)) => Some(Outcome::Denied),
            (_, Some(Decision::Allow) | None) => None,
        };
        let call = PlannedCall {
            tool_use_id: id.clone(),
            tool_name: name.to_owned(),
            verdict: profile.verdict,
            outcome,
        };
        self.calls
            .insert(self.schedule.enqueue(access), (profile.lane, call));
    }

    /// Ends the turn. Returns its batches: each holds the calls that may start at the same time.
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
