//! Which call may start when: a pure state machine.
//!
//! One rule: a call may start when it conflicts with no call that is running and none that is
//! queued before it; two calls conflict when one writes something the other touches. Batches,
//! streaming and parallelism by file all follow from it. See `docs/protocol.md`, Scheduling.
//! A call that waits for an answer before it runs, or for something after it ran, holds its place in the
//! order, but no slot. No I/O, no time, no knowledge of tools.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroUsize;

use crate::tools::{Access, Touch};

/// How fine the rule looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Policy {
    /// Every call touches everything: calls that only read run together, any other call alone.
    #[default]
    Greedy,
    /// Calls that touch different files run together.
    Access,
}

/// The place of a call in call order, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CallIndex(pub(super) u64);

/// The calls that are not yet yielded.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    policy: Policy,
    cap: NonZeroUsize,
    slots: VecDeque<Slot>,
    /// The call index of `slots[0]`.
    first: u64,
    executing: usize,
    /// The queued calls that nothing blocks.
    ready: BTreeSet<u64>,
    /// How many calls that are not completed write something. Where none does, no call blocks
    /// another, and long queues need not be searched.
    writers: usize,
}

#[derive(Debug, Clone)]
struct Slot {
    access: Access,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Waits for this many unfinished earlier calls that it conflicts with.
    Queued {
        blockers: usize,
    },
    /// It may not run before somebody said so, or said what it is.
    Checking,
    Executing,
    /// It ran, and something still has to look at that.
    Finishing,
    Completed,
}

impl Stage {
    /// Whether it may have had effects, and others must wait for its end.
    fn has_run(self) -> bool {
        matches!(self, Self::Executing | Self::Finishing)
    }
}

impl Schedule {
    /// An empty schedule that lets at most `cap` calls run at once.
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
        let access = self.coarsened(access);
        let index = self.first + self.slots.len() as u64;
        self.writers += usize::from(!access.is_side_effect_free());
        let blockers = self.blockers(self.slots.len(), &access);
        if blockers == 0 {
            self.ready.insert(index);
        }
        self.slots.push_back(Slot {
            access,
            stage: Stage::Queued { blockers },
        });
        CallIndex(index)
    }

    /// The first queued call that may start now, if any; it counts as executing from here on.
    pub(super) fn start_next(&mut self) -> Option<CallIndex> {
        if self.executing >= self.cap.get() {
            return None;
        }
        let call = CallIndex(self.ready.pop_first()?);
        let position = self.position(call)?;
        self.slots[position].stage = Stage::Executing;
        self.executing += 1;
        Some(call)
    }

    /// The call that was just added cannot start before it is known what it touches.
    pub(super) fn hold(&mut self, call: CallIndex) {
        if let Some(position) = self.position(call) {
            self.ready.remove(&call.0);
            self.slots[position].stage = Stage::Checking;
        }
    }

    /// The call that was just started has to be checked first.
    pub(super) fn check(&mut self, call: CallIndex) {
        self.leave_slot(call, Stage::Checking);
    }

    /// An executing call has done its work, and leaves its slot to others.
    pub(super) fn finishing(&mut self, call: CallIndex) {
        self.leave_slot(call, Stage::Finishing);
    }

    fn leave_slot(&mut self, call: CallIndex, stage: Stage) {
        if let Some(position) = self.position(call)
            && self.slots[position].stage == Stage::Executing
        {
            self.slots[position].stage = stage;
            self.executing -= 1;
        }
    }

    /// A call that was held or checked may start as soon as nothing conflicts with what it now touches.
    pub(super) fn release(&mut self, call: CallIndex, access: Access) {
        let Some(position) = self.position(call) else {
            return;
        };
        if self.slots[position].stage == Stage::Checking {
            self.slots[position].stage = Stage::Queued { blockers: 0 };
            // What waits for it may not have to, or have to for the first time.
            let mut access = Some(access);
            self.reassess(|other| access.take_if(|_| other == call));
        }
    }

    /// An executing call has ended, or one that has not begun will never run.
    pub(super) fn complete(&mut self, call: CallIndex) {
        let Some(position) = self.position(call) else {
            return;
        };
        let before = std::mem::replace(&mut self.slots[position].stage, Stage::Completed);
        match before {
            Stage::Completed => return,
            Stage::Executing => self.executing -= 1,
            Stage::Checking | Stage::Finishing => {}
            Stage::Queued { .. } => {
                self.ready.remove(&call.0);
            }
        }
        let access = self.slots[position].access.clone();
        if self.writers > 0 {
            // Calls before it wait for it only if it ran before they were known to conflict.
            let first = if before.has_run() { 0 } else { position + 1 };
            let waiting = self.slots.range_mut(first..);
            for (index, slot) in (self.first + first as u64..).zip(waiting) {
                if let Stage::Queued { blockers } = &mut slot.stage
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

    /// The next call in call order if it is completed.
    pub(super) fn next_completed(&self) -> Option<CallIndex> {
        let front = self.slots.front()?;
        (front.stage == Stage::Completed).then_some(CallIndex(self.first))
    }

    /// The same; it leaves the schedule.
    pub(super) fn yield_next(&mut self) -> Option<CallIndex> {
        self.next_completed()?;
        self.slots.pop_front();
        let call = CallIndex(self.first);
        self.first += 1;
        Some(call)
    }

    /// Replaces what queued calls touch, after the working directory changed under them.
    pub(super) fn reassess(&mut self, mut access_of: impl FnMut(CallIndex) -> Option<Access>) {
        for position in 0..self.slots.len() {
            if !matches!(self.slots[position].stage, Stage::Queued { .. }) {
                continue;
            }
            let index = self.first + position as u64;
            if let Some(access) = access_of(CallIndex(index)) {
                let access = self.coarsened(access);
                self.writers += usize::from(!access.is_side_effect_free());
                let before = std::mem::replace(&mut self.slots[position].access, access);
                self.writers -= usize::from(!before.is_side_effect_free());
            }
            let blockers = self.blockers(position, &self.slots[position].access);
            self.slots[position].stage = Stage::Queued { blockers };
            if blockers == 0 {
                self.ready.insert(index);
            } else {
                self.ready.remove(&index);
            }
        }
    }

    /// How many calls keep the one at `position`, which touches `access`, from starting: calls before
    /// it, and calls after it that began when it seemed to touch something else.
    fn blockers(&self, position: usize, access: &Access) -> usize {
        if self.writers == 0 {
            return 0;
        }
        let earlier = self.slots.range(..position);
        let later = self.slots.range((position + 1).min(self.slots.len())..);
        let begun = later.filter(|slot| slot.stage.has_run());
        let others = earlier.chain(begun);
        others.filter(|slot| slot.blocks(access)).count()
    }

    /// Calls that have not run, in call order.
    pub(super) fn waiting(&self) -> impl Iterator<Item = CallIndex> + '_ {
        self.in_stage(|stage| matches!(stage, Stage::Queued { .. } | Stage::Checking))
    }

    /// Calls that have run and are not over, in call order.
    pub(super) fn begun(&self) -> impl Iterator<Item = CallIndex> + '_ {
        self.in_stage(Stage::has_run)
    }

    /// How many calls run.
    pub(super) fn executing_count(&self) -> usize {
        self.executing
    }

    /// How many calls are not yet yielded.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    fn in_stage<'a>(
        &'a self,
        wanted: impl Fn(Stage) -> bool + 'a,
    ) -> impl Iterator<Item = CallIndex> + 'a {
        (self.first..)
            .zip(&self.slots)
            .filter(move |(_, slot)| wanted(slot.stage))
            .map(|(index, _)| CallIndex(index))
    }

    fn position(&self, call: CallIndex) -> Option<usize> {
        let position = usize::try_from(call.0.checked_sub(self.first)?).ok()?;
        (position < self.slots.len()).then_some(position)
    }

    /// What the policy makes of an access: greedily, everything is touched or written at once.
    fn coarsened(&self, access: Access) -> Access {
        match self.policy {
            Policy::Access => access,
            Policy::Greedy if access.is_side_effect_free() => Access {
                reads: Touch::Everything,
                writes: Touch::Nothing,
            },
            Policy::Greedy => Access::everything(),
        }
    }
}

impl Slot {
    /// Whether this earlier call keeps a later one that touches `access` from starting.
    fn blocks(&self, access: &Access) -> bool {
        self.stage != Stage::Completed && self.access.conflicts_with(access)
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
