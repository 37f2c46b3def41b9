//! The schedule against a plain statement of its rule: exhaustive for few calls, random for many.

use std::collections::BTreeSet;
use std::rc::Rc;

use proptest::prelude::*;

use super::*;

fn cap(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap()
}

#[test]
fn a_held_call_delays_later_ones_until_its_access_is_known() {
    for (access, started) in [(Access::reads_everything(), 2), (Access::everything(), 1)] {
        let mut schedule = Schedule::new(Policy::Greedy, cap(10));
        let before = schedule.enqueue(Access::reads_everything());
        let held = schedule.enqueue(Access::everything());
        schedule.hold(held);
        schedule.enqueue(Access::reads_everything());
        assert_eq!(schedule.start_next(), Some(before));
        assert_eq!(schedule.start_next(), None);
        schedule.complete(before);
        assert_eq!(schedule.start_next(), None);
        schedule.release(held, access);
        assert_eq!(
            std::iter::from_fn(|| schedule.start_next()).count(),
            started
        );
    }
}

/// Returns the kinds of calls that can differ under the rule.
fn kinds() -> Vec<Access> {
    vec![
        Access::nothing(),
        Access::reads_everything(),
        Access::everything(),
        Access::reads("/a"),
        Access::writes("/a"),
        Access::writes("/a/b"),
        Access::writes("/c"),
    ]
}

/// A step of the driver. Numbers choose among the executing calls, the checked calls, or the kinds of calls.
#[derive(Debug, Clone, Copy)]
enum Step {
    Arrive,
    Start,
    /// Starts the next call and checks it.
    Check,
    /// Ends a check, with a new access.
    Release(usize, usize),
    /// The call will never run.
    Refuse(usize),
    /// The tool has ended, and hooks follow.
    LeaveSlot(usize),
    Finish(usize),
    Yield,
}

/// A run of the state machine that checks the invariants at every step.
#[derive(Clone)]
struct Run<'a> {
    calls: &'a [Access],
    /// The access of each call under the policy.
    accesses: Vec<Access>,
    /// The calls that must not overlap.
    conflicts: Rc<Vec<Vec<bool>>>,
    schedule: Schedule,
    arrived: usize,
    /// The calls that may have effects, with and without a slot.
    running: BTreeSet<u64>,
    finishing: BTreeSet<u64>,
    checking: BTreeSet<u64>,
    /// The calls that have been checked.
    checked: BTreeSet<u64>,
    started: Vec<bool>,
    done: Vec<bool>,
    yielded: u64,
}

fn choose(among: &BTreeSet<u64>, choice: usize) -> Option<u64> {
    among.iter().nth(choice % among.len().max(1)).copied()
}

fn position(index: u64) -> usize {
    usize::try_from(index).unwrap()
}

impl<'a> Run<'a> {
    fn new(calls: &'a [Access], policy: Policy, limit: usize) -> Self {
        let schedule = Schedule::new(policy, cap(limit));
        let calls_as_seen: Vec<Access> = calls
            .iter()
            .map(|call| schedule.at_granularity(call.clone()))
            .collect();
        let conflicts_of = |call: &Access| {
            let others = calls_as_seen.iter();
            others.map(|other| other.conflicts_with(call)).collect()
        };
        Self {
            calls,
            conflicts: Rc::new(calls_as_seen.iter().map(conflicts_of).collect()),
            accesses: calls_as_seen.clone(),
            schedule,
            arrived: 0,
            running: BTreeSet::new(),
            finishing: BTreeSet::new(),
            checking: BTreeSet::new(),
            checked: BTreeSet::new(),
            started: vec![false; calls.len()],
            done: vec![false; calls.len()],
            yielded: 0,
        }
    }

    fn conflict(&self, one: u64, other: u64) -> bool {
        self.conflicts[position(one)][position(other)]
    }

    /// Returns the next call that may start, by the rule without counters.
    fn may_start(&self) -> Option<u64> {
        if self.running.len() >= self.schedule.cap.get() {
            return None;
        }
        (0..self.arrived as u64)
            .filter(|index| !self.started[position(*index)])
            .find(|index| {
                (0..*index)
                    .filter(|earlier| !self.done[position(*earlier)])
                    .chain(self.running.iter().copied())
                    .chain(self.finishing.iter().copied())
                    .all(|other| !self.conflict(other, *index))
            })
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Arrive if self.arrived < self.calls.len() => {
                let index = self.schedule.enqueue(self.calls[self.arrived].clone());
                assert_eq!(index.0, self.arrived as u64);
                self.arrived += 1;
            }
            Step::Arrive => {}
            Step::Start => {
                let expected = self.may_start();
                let actual = self.schedule.start_next();
                assert_eq!(actual.map(|call| call.0), expected);
                if let Some(call) = actual {
                    for other in self.running.iter().chain(&self.finishing) {
                        assert!(!self.conflict(*other, call.0), "conflicting calls overlap");
                    }
                    let started = &mut self.started[position(call.0)];
                    assert!(!std::mem::replace(started, true), "a call starts once");
                    self.running.insert(call.0);
                }
            }
            Step::Check => {
                if self
                    .may_start()
                    .is_some_and(|next| !self.checked.contains(&next))
                    && let Some(call) = self.schedule.start_next()
                {
                    self.schedule.check(call);
                    self.started[position(call.0)] = true;
                    self.checking.insert(call.0);
                }
            }
            Step::Release(choice, kind) => {
                if let Some(index) = choose(&self.checking, choice) {
                    let access = kinds()[kind % kinds().len()].clone();
                    self.set_access(index, self.schedule.at_granularity(access.clone()));
                    self.schedule.release(CallIndex(index), access);
                    self.checking.remove(&index);
                    self.checked.insert(index);
                    self.started[position(index)] = false;
                }
            }
            Step::Refuse(choice) => {
                if let Some(index) = choose(&self.checking, choice) {
                    self.schedule.complete(CallIndex(index));
                    self.checking.remove(&index);
                    self.done[position(index)] = true;
                }
            }
            Step::LeaveSlot(choice) => {
                if let Some(index) = choose(&self.running, choice) {
                    self.schedule.free_slot(CallIndex(index));
                    self.running.remove(&index);
                    self.finishing.insert(index);
                }
            }
            Step::Finish(choice) => {
                let begun = self.running.union(&self.finishing).copied().collect();
                if let Some(index) = choose(&begun, choice) {
                    self.schedule.complete(CallIndex(index));
                    self.running.remove(&index);
                    self.finishing.remove(&index);
                    self.done[position(index)] = true;
                }
            }
            Step::Yield => {
                if let Some(call) = self.schedule.yield_next() {
                    assert_eq!(call.0, self.yielded, "results come in call order");
                    assert!(
                        self.done[position(call.0)],
                        "only finished calls are yielded"
                    );
                    self.yielded += 1;
                }
            }
        }
        assert_eq!(self.schedule.executing_count(), self.running.len());
        let begun = self.running.len() + self.finishing.len();
        assert_eq!(self.schedule.started_calls().count(), begun);
    }

    /// Changes the access of a call.
    fn set_access(&mut self, index: u64, access: Access) {
        self.accesses[position(index)] = access;
        let with = |other: &Access| self.accesses[position(index)].conflicts_with(other);
        let row: Vec<bool> = self.accesses.iter().map(with).collect();
        let conflicts = Rc::make_mut(&mut self.conflicts);
        for (other, conflict) in row.iter().enumerate() {
            conflicts[other][position(index)] = *conflict;
        }
        conflicts[position(index)] = row;
    }

    /// Ends all calls. From every state, normal progress must end everything.
    fn finish(mut self) {
        while self.arrived < self.calls.len() {
            self.step(Step::Arrive);
        }
        for _ in 0..=2 * self.calls.len() {
            while self.may_start().is_some() {
                self.step(Step::Start);
            }
            self.step(Step::Release(0, 0));
            self.step(Step::Finish(0));
            self.step(Step::Yield);
        }
        while self.yielded < self.done.iter().filter(|done| **done).count() as u64 {
            self.step(Step::Yield);
        }
        assert_eq!(
            self.yielded,
            self.calls.len() as u64,
            "each call has exactly one result"
        );
        assert_eq!(self.schedule.len(), 0);
        assert_eq!(self.schedule.start_next(), None);
    }
}

/// Returns every list of up to `length` calls over `kinds`.
fn sequences(kinds: &[Access], length: usize) -> Vec<Vec<Access>> {
    let mut all = vec![Vec::new()];
    let mut longest = all.clone();
    for _ in 0..length {
        longest = longest
            .iter()
            .flat_map(|sequence| {
                kinds.iter().map(move |kind| {
                    let mut longer: Vec<Access> = sequence.clone();
                    longer.push(kind.clone());
                    longer
                })
            })
            .collect();
        all.extend(longest.iter().cloned());
    }
    all
}

/// Explores and counts all orders in which the calls of a list can end after they have all arrived.
fn explore(calls: &[Access], policy: Policy, limit: usize) -> usize {
    let mut run = Run::new(calls, policy, limit);
    for _ in calls {
        run.step(Step::Arrive);
    }
    explore_from(run)
}

fn explore_from(mut run: Run<'_>) -> usize {
    while run.may_start().is_some() {
        run.step(Step::Start);
    }
    if run.running.is_empty() {
        run.finish();
        return 1;
    }
    let after = |ending| {
        let mut run = run.clone();
        run.step(Step::Finish(ending));
        run.step(Step::Yield);
        explore_from(run)
    };
    (0..run.running.len()).map(after).sum()
}

#[test]
fn the_rule_holds_for_up_to_six_calls_in_every_order() {
    let small = [Access::reads_everything(), Access::everything()];
    let mut runs = 0;
    for calls in sequences(&small, 6) {
        for limit in [1, 2, 10] {
            runs += explore(&calls, Policy::Greedy, limit);
        }
    }
    for calls in sequences(&kinds(), 4) {
        for limit in [2, 10] {
            runs += explore(&calls, Policy::Access, limit);
        }
    }
    let by_file = [
        Access::reads("/a"),
        Access::writes("/a"),
        Access::writes("/c"),
    ];
    for calls in sequences(&by_file, 6) {
        runs += explore(&calls, Policy::Access, 10);
    }
    assert!(runs > 50_000, "explored only {runs} runs");
}

/// Returns the partitioning of `docs/records.md`, Scheduling, written independently of the schedule.
fn partition(read_only: &[bool]) -> Vec<Vec<usize>> {
    let mut batches: Vec<(bool, Vec<usize>)> = Vec::new();
    for (index, safe) in read_only.iter().enumerate() {
        match batches.last_mut() {
            Some((true, batch)) if *safe => batch.push(index),
            _ => batches.push((*safe, vec![index])),
        }
    }
    batches.into_iter().map(|(_, batch)| batch).collect()
}

proptest! {
    #[test]
    fn random_calls_in_random_order(
        picks in prop::collection::vec(0..7_usize, 0..200),
        steps in prop::collection::vec((0..8_u8, 0..10_usize, 0..7_usize), 0..600),
        limit in 1..12_usize,
        by_access in any::<bool>(),
    ) {
        let kinds = kinds();
        let calls: Vec<_> = picks.iter().map(|pick| kinds[*pick].clone()).collect();
        let policy = if by_access { Policy::Access } else { Policy::Greedy };
        let mut run = Run::new(&calls, policy, limit);
        for (kind, choice, access) in steps {
            run.step(match kind {
                0 => Step::Arrive,
                1 => Step::Start,
                2 => Step::Finish(choice),
                3 => Step::Check,
                4 => Step::Release(choice, access),
                5 => Step::Refuse(choice),
                6 => Step::LeaveSlot(choice),
                _ => Step::Yield,
            });
        }
        run.finish();
    }

    #[test]
    fn greedy_is_the_published_partitioning(read_only in prop::collection::vec(any::<bool>(), 0..60)) {
        let mut schedule = Schedule::new(Policy::Greedy, cap(1000));
        for safe in &read_only {
            schedule.enqueue(if *safe { Access::reads("/x") } else { Access::writes("/y") });
        }
        let mut waves = Vec::new();
        loop {
            let wave: Vec<_> = std::iter::from_fn(|| schedule.start_next()).collect();
            if wave.is_empty() {
                break;
            }
            for call in &wave {
                schedule.complete(*call);
            }
            waves.push(wave.iter().map(|call| usize::try_from(call.0).unwrap()).collect::<Vec<_>>());
        }
        prop_assert_eq!(waves, partition(&read_only));
    }

    #[test]
    fn cancelling_queued_calls_unblocks_others(picks in prop::collection::vec(0..7_usize, 1..40), victim in 0..40_usize) {
        let kinds = kinds();
        let mut schedule = Schedule::new(Policy::Access, cap(64));
        for pick in &picks {
            schedule.enqueue(kinds[*pick].clone());
        }
        schedule.complete(CallIndex((victim % picks.len()) as u64));
        let mut yielded = 0;
        while schedule.len() > 0 {
            let started: Vec<_> = std::iter::from_fn(|| schedule.start_next()).collect();
            for call in started {
                schedule.complete(call);
            }
            while schedule.yield_next().is_some() {
                yielded += 1;
            }
        }
        prop_assert_eq!(yielded, picks.len());
    }

    #[test]
    fn reassessing_recounts_blockers(picks in prop::collection::vec((0..7_usize, 0..7_usize), 1..30)) {
        let kinds = kinds();
        let mut reassessed = Schedule::new(Policy::Access, cap(64));
        let mut direct = Schedule::new(Policy::Access, cap(64));
        for (before, after) in &picks {
            reassessed.enqueue(kinds[*before].clone());
            direct.enqueue(kinds[*after].clone());
        }
        reassessed.reassess(|call| Some(kinds[picks[usize::try_from(call.0).unwrap()].1].clone()));
        let first: Vec<_> = std::iter::from_fn(|| reassessed.start_next()).collect();
        let second: Vec<_> = std::iter::from_fn(|| direct.start_next()).collect();
        prop_assert_eq!(first, second);
    }
}
