//! The schedule of calls: a pure state machine without I/O, time or knowledge of tools.
//!
//! A call may start when it conflicts with no running call and with none queued before it. Two calls
//! conflict when one writes something that the other reads or writes. A call that is checked before it
//! runs, or that waits for hooks after it ran, keeps its place in the order but takes no slot. See
//! `docs/records.md`, Scheduling.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::num::NonZeroUsize;

use super::call::CallState;
use super::turn_tracker::CallIndex;
use crate::message::{Decision, ToolUseId};
use crate::records::{Lane, Outcome, PlanRecord, PlannedCall};
use crate::run::tools::Access;

/// Conflict granularity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Policy {
    /// Calls that only read run together; any other call runs alone.
    #[default]
    Greedy,
    /// Calls that touch different files run together.
    Access,
}

/// The calls, from arrival until they are yielded.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    policy: Policy,
    cap: NonZeroUsize,
    slots: VecDeque<Slot>,
    /// The call index of `slots[0]`.
    first: u64,
    executing: usize,
    /// The queued calls without blockers.
    ready: BTreeSet<u64>,
    /// The number of calls that write something and are not completed. Without any, no call blocks another,
    /// and long queues need no search.
    writers: usize,
}

#[derive(Debug, Clone)]
struct Slot {
    access: Access,
    state: SlotState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotState {
    /// Waits for `blockers` unfinished calls that it conflicts with.
    Queued {
        blockers: usize,
    },
    /// Waits for its permission, or for the access of an unknown tool.
    Checking,
    Executing,
    /// Has run, and waits for hooks.
    Finishing,
    Completed,
}

impl SlotState {
    /// Whether the call may have had effects, so that others must wait for its end.
    fn has_run(self) -> bool {
        matches!(self, Self::Executing | Self::Finishing)
    }
}

impl Schedule {
    /// Returns an empty schedule that runs at most `cap` calls at once.
    pub(super) fn new(policy: Policy, cap: NonZeroUsize) -> Self {
        Self {
            policy,
            cap,
            slots: VecDeque::new(),
            first: 0,
            executing: 0,
            ready: BTreeSet::new(),
            writers: 0,
        }
    }

    /// Adds the next call in call order.
    pub(super) fn enqueue(&mut self, access: Access) -> CallIndex {
        let access = self.at_granularity(access);
        let index = self.first + self.slots.len() as u64;
        self.writers += usize::from(!access.is_side_effect_free());
        let blockers = self.count_blockers(self.slots.len(), &access);
        if blockers == 0 {
            self.ready.insert(index);
        }
        self.slots.push_back(Slot {
            access,
            state: SlotState::Queued { blockers },
        });
        CallIndex(index)
    }

    /// Starts the first queued call that may start now, if there is one.
    pub(super) fn start_next(&mut self) -> Option<CallIndex> {
        if self.executing >= self.cap.get() {
            return None;
        }
        let call = CallIndex(self.ready.pop_first()?);
        let position = self.position(call)?;
        self.slots[position].state = SlotState::Executing;
        self.executing += 1;
        Some(call)
    }

    /// Holds the call that was just added until its access is known.
    pub(super) fn hold(&mut self, call: CallIndex) {
        if let Some(position) = self.position(call) {
            self.ready.remove(&call.0);
            self.slots[position].state = SlotState::Checking;
        }
    }

    /// Marks the call that was just started as being checked.
    pub(super) fn check(&mut self, call: CallIndex) {
        self.leave_slot(call, SlotState::Checking);
    }

    /// Frees the slot of a call whose tool has ended.
    pub(super) fn free_slot(&mut self, call: CallIndex) {
        self.leave_slot(call, SlotState::Finishing);
    }

    fn leave_slot(&mut self, call: CallIndex, state: SlotState) {
        if let Some(position) = self.position(call)
            && self.slots[position].state == SlotState::Executing
        {
            self.slots[position].state = state;
            self.executing -= 1;
        }
    }

    /// Queues a call that was held or checked, with its new access.
    pub(super) fn release(&mut self, call: CallIndex, access: Access) {
        let Some(position) = self.position(call) else {
            return;
        };
        if self.slots[position].state == SlotState::Checking {
            self.slots[position].state = SlotState::Queued { blockers: 0 };
            // Conflicts of other calls with it may have changed.
            let mut access = Some(access);
            self.reassess(|other| access.take_if(|_| other == call));
        }
    }

    /// Completes a call that has ended or will never run.
    pub(super) fn complete(&mut self, call: CallIndex) {
        let Some(position) = self.position(call) else {
            return;
        };
        let old_state = std::mem::replace(&mut self.slots[position].state, SlotState::Completed);
        match old_state {
            SlotState::Completed => return,
            SlotState::Executing => self.executing -= 1,
            SlotState::Checking | SlotState::Finishing => {}
            SlotState::Queued { .. } => {
                self.ready.remove(&call.0);
            }
        }
        let access = self.slots[position].access.clone();
        if self.writers > 0 {
            // Earlier calls only wait for it if it started before they were known to conflict.
            let first = if old_state.has_run() { 0 } else { position + 1 };
            let waiting = self.slots.range_mut(first..);
            for (index, slot) in (self.first + first as u64..).zip(waiting) {
                if let SlotState::Queued { blockers } = &mut slot.state
                    && slot.access.conflicts_with(&access)
                {
                    *blockers -= 1;
                    if *blockers == 0 {
                        self.ready.insert(index);
                    }
                }
            }
        }
        self.writers -= usize::from(!access.is_side_effect_free());
    }

    /// Returns the next call in call order, if it is completed.
    pub(super) fn next_completed(&self) -> Option<CallIndex> {
        let front = self.slots.front()?;
        (front.state == SlotState::Completed).then_some(CallIndex(self.first))
    }

    /// Removes the next call in call order, if it is completed.
    pub(super) fn yield_next(&mut self) -> Option<CallIndex> {
        self.next_completed()?;
        self.slots.pop_front();
        let call = CallIndex(self.first);
        self.first += 1;
        Some(call)
    }

    /// Replaces the accesses of queued calls, after the working directory changed.
    pub(super) fn reassess(&mut self, mut access_of: impl FnMut(CallIndex) -> Option<Access>) {
        for position in 0..self.slots.len() {
            if !matches!(self.slots[position].state, SlotState::Queued { .. }) {
                continue;
            }
            let index = self.first + position as u64;
            if let Some(access) = access_of(CallIndex(index)) {
                let access = self.at_granularity(access);
                self.writers += usize::from(!access.is_side_effect_free());
                let old_access = std::mem::replace(&mut self.slots[position].access, access);
                self.writers -= usize::from(!old_access.is_side_effect_free());
            }
            let blockers = self.count_blockers(position, &self.slots[position].access);
            self.slots[position].state = SlotState::Queued { blockers };
            if blockers == 0 {
                self.ready.insert(index);
            } else {
                self.ready.remove(&index);
            }
        }
    }

    /// Returns the number of calls that keep the one at `position`, with this access, from starting: calls
    /// before it, and calls after it that started before its access was known.
    fn count_blockers(&self, position: usize, access: &Access) -> usize {
        if self.writers == 0 {
            return 0;
        }
        let earlier = self.slots.range(..position);
        let later = self.slots.range((position + 1).min(self.slots.len())..);
        let started = later.filter(|slot| slot.state.has_run());
        let others = earlier.chain(started);
        others.filter(|slot| slot.blocks(access)).count()
    }

    /// Returns the calls that have not run, in call order.
    pub(super) fn waiting_calls(&self) -> impl Iterator<Item = CallIndex> + '_ {
        self.calls_in(|state| matches!(state, SlotState::Queued { .. } | SlotState::Checking))
    }

    /// Returns the calls that have started but not ended, in call order.
    pub(super) fn started_calls(&self) -> impl Iterator<Item = CallIndex> + '_ {
        self.calls_in(SlotState::has_run)
    }

    /// Returns the number of executing calls.
    pub(super) fn executing_count(&self) -> usize {
        self.executing
    }

    /// Returns the number of calls that are not yielded.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    fn calls_in<'a>(
        &'a self,
        is_wanted: impl Fn(SlotState) -> bool + 'a,
    ) -> impl Iterator<Item = CallIndex> + 'a {
        (self.first..)
            .zip(&self.slots)
            .filter(move |(_, slot)| is_wanted(slot.state))
            .map(|(index, _)| CallIndex(index))
    }

    fn position(&self, call: CallIndex) -> Option<usize> {
        let position = usize::try_from(call.0.checked_sub(self.first)?).ok()?;
        (position < self.slots.len()).then_some(position)
    }

    /// Returns the access under the policy: a greedy schedule only distinguishes reading and writing everything.
    fn at_granularity(&self, access: Access) -> Access {
        match self.policy {
            Policy::Access => access,
            Policy::Greedy if access.is_side_effect_free() => Access::reads_everything(),
            Policy::Greedy => Access::everything(),
        }
    }
}

impl Slot {
    /// Whether this call keeps another one with this access from starting.
    fn blocks(&self, access: &Access) -> bool {
        self.state != SlotState::Completed && self.access.conflicts_with(access)
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;

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

    /// Ends the turn. Returns its batches: each contains the calls that may start together.
    pub(super) fn take_turn(&mut self) -> Vec<PlanRecord> {
        let mut batches = Vec::new();
        while !self.calls.is_empty() {
            let started: Vec<CallIndex> =
                std::iter::from_fn(|| self.schedule.start_next()).collect();
            let mut calls = Vec::new();
            let mut lane = Lane::Serial;
            for index in &started {
                self.schedule.complete(*index);
                if let Some((call_lane, call)) = self.calls.remove(index) {
                    lane = call_lane;
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
