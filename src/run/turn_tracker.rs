//! The turns of a run: their calls and their ends. A pure state machine.

use std::collections::{BTreeMap, VecDeque};

use serde_json::Value;

use super::call_result::HookFeedback;
use crate::message::ToolUseId;
use crate::records::Lane;

/// The position of a call in call order, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CallIndex(pub(super) u64);

/// The number of a turn of the main model, counted from 0 within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct TurnNumber(pub(super) u64);

/// The number of a call's batch within its turn, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BatchNumber(pub(super) u64);

/// The turns whose end is not reported yet.
#[derive(Debug, Default)]
pub(super) struct TurnTracker {
    open: VecDeque<Turn>,
    next: u64,
}

#[derive(Debug, Default)]
struct Turn {
    number: TurnNumber,
    ids: Vec<ToolUseId>,
    /// Calls whose result is not written.
    unanswered: usize,
    /// Calls without a result.
    unfinished: usize,
    /// Whether all its calls are known.
    has_ended: bool,
    last_batch: Option<(BatchNumber, Lane)>,
    failure: Option<String>,
}

impl TurnTracker {
    /// Adds a call to the current turn. Returns the number of the turn.
    pub(super) fn add_call(&mut self, id: ToolUseId) -> TurnNumber {
        let mut turn = match self.open.pop_back_if(|turn| !turn.has_ended) {
            Some(turn) => turn,
            None => self.begin(),
        };
        turn.ids.push(id);
        turn.unanswered += 1;
        turn.unfinished += 1;
        let number = turn.number;
        self.open.push_back(turn);
        number
    }

    /// Returns the batch of the next call of this turn, in call order, which ran in `lane`. Consecutive
    /// calls of the parallel lane share a batch.
    pub(super) fn batch(&mut self, number: TurnNumber, lane: Lane) -> Option<BatchNumber> {
        let turn = self.find_mut(number)?;
        let batch = match turn.last_batch {
            Some((batch, Lane::Parallel)) if lane == Lane::Parallel => batch,
            Some((batch, _)) => BatchNumber(batch.0 + 1),
            None => BatchNumber(0),
        };
        turn.last_batch = Some((batch, lane));
        Some(batch)
    }

    fn begin(&mut self) -> Turn {
        let number = TurnNumber(self.next);
        self.next += 1;
        Turn {
            number,
            ..Turn::default()
        }
    }

    /// Ends the current turn: all its calls are known.
    pub(super) fn end(&mut self) {
        if let Some(turn) = self.open.back_mut() {
            turn.has_ended = true;
        }
    }

    /// Notes that a call of this turn has its result.
    pub(super) fn record_completed(&mut self, number: TurnNumber) {
        if let Some(turn) = self.find_mut(number) {
            turn.unfinished = turn.unfinished.saturating_sub(1);
        }
    }

    /// Whether all calls of this turn are known and have their results.
    pub(super) fn is_done(&self, number: TurnNumber) -> bool {
        self.find(number)
            .is_none_or(|turn| turn.has_ended && turn.unfinished == 0)
    }

    /// Whether this is the last known call of its turn.
    pub(super) fn is_last(&self, number: TurnNumber, id: &ToolUseId) -> bool {
        self.find(number)
            .is_none_or(|turn| turn.ids.last() == Some(id))
    }

    /// Whether all calls of this turn are known.
    pub(super) fn has_ended(&self, number: TurnNumber) -> bool {
        self.find(number).is_none_or(|turn| turn.has_ended)
    }

    /// Notes that a result of this turn was written.
    pub(super) fn record_written(&mut self, number: TurnNumber) {
        if let Some(turn) = self.find_mut(number) {
            turn.unanswered = turn.unanswered.saturating_sub(1);
        }
    }

    /// Notes a failed call that cancels the other calls of this turn. The text names the call and its error.
    pub(super) fn set_failure(&mut self, number: TurnNumber, failure: String) {
        if let Some(turn) = self.find_mut(number) {
            turn.failure.get_or_insert(failure);
        }
    }

    /// Returns the failure that cancels the calls of this turn, if there is one.
    pub(super) fn failure(&self, number: TurnNumber) -> Option<&str> {
        self.find(number).and_then(|turn| turn.failure.as_deref())
    }

    /// Removes the next turn that has ended and whose results are all written. Returns its calls in order.
    pub(super) fn pop_finished(&mut self) -> Option<Vec<ToolUseId>> {
        let is_finished = |turn: &mut Turn| turn.has_ended && turn.unanswered == 0;
        self.open.pop_front_if(is_finished).map(|turn| turn.ids)
    }

    fn find_mut(&mut self, number: TurnNumber) -> Option<&mut Turn> {
        self.open.iter_mut().find(|turn| turn.number == number)
    }

    fn find(&self, number: TurnNumber) -> Option<&Turn> {
        self.open.iter().find(|turn| turn.number == number)
    }
}

/// The state of the hooks after each turn.
#[derive(Debug, Default)]
pub(super) struct TurnHooks {
    by_turn: BTreeMap<TurnNumber, HookState>,
}

#[derive(Debug)]
enum HookState {
    /// Input for the hooks is collected: one value for each call with a result.
    Collecting(BTreeMap<CallIndex, Value>),
    Running,
    Done(HookFeedback),
}

impl TurnHooks {
    /// Adds the input that a call contributes.
    pub(super) fn add(&mut self, turn: TurnNumber, call: CallIndex, input: Value) {
        let state = self
            .by_turn
            .entry(turn)
            .or_insert_with(|| HookState::Collecting(BTreeMap::new()));
        if let HookState::Collecting(calls) = state {
            calls.insert(call, input);
        }
    }

    /// Returns the turns whose hooks are due, with the input of each; they then count as running.
    pub(super) fn take_due_hooks(&mut self, turns: &TurnTracker) -> Vec<(TurnNumber, Vec<Value>)> {
        let mut due = Vec::new();
        for (turn, state) in &mut self.by_turn {
            if let HookState::Collecting(calls) = state
                && turns.is_done(*turn)
            {
                due.push((*turn, std::mem::take(calls).into_values().collect()));
                *state = HookState::Running;
            }
        }
        due
    }

    /// Notes that the hooks of a turn have ended.
    pub(super) fn finish_hooks(&mut self, turn: TurnNumber, feedback: HookFeedback) {
        if let Some(state) = self.by_turn.get_mut(&turn) {
            *state = HookState::Done(feedback);
        }
    }

    /// Whether the hooks of a turn with results have not ended.
    pub(super) fn are_pending(&self, turn: TurnNumber) -> bool {
        let state = self.by_turn.get(&turn);
        state.is_some_and(|state| !matches!(state, HookState::Done(_)))
    }

    /// Removes a turn. Returns the feedback of its hooks.
    pub(super) fn take(&mut self, turn: TurnNumber) -> Option<HookFeedback> {
        match self.by_turn.remove(&turn)? {
            HookState::Done(feedback) => Some(feedback),
            HookState::Collecting(_) | HookState::Running => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_finished_when_it_ended_and_all_results_are_written() {
        let mut turns = TurnTracker::default();
        let first = turns.add_call("a".into());
        turns.record_written(first);
        assert_eq!(turns.pop_finished(), None);
        turns.end();
        let second = turns.add_call("b".into());
        assert_ne!(first, second);
        assert_eq!(turns.pop_finished(), Some(vec![ToolUseId::from("a")]));
        assert_eq!(turns.pop_finished(), None);
        turns.end();
        assert!(turns.is_last(second, &"b".into()) && !turns.is_done(second));
        turns.record_completed(second);
        assert!(turns.is_done(second));
        turns.record_written(second);
        assert_eq!(turns.pop_finished(), Some(vec![ToolUseId::from("b")]));
    }

    #[test]
    fn batches_are_the_published_partitioning() {
        let mut turns = TurnTracker::default();
        let lanes = "PPPSPSS".chars().map(|lane| match lane {
            'P' => Lane::Parallel,
            _ => Lane::Serial,
        });
        let turn = turns.add_call("x".into());
        let batches: Vec<_> = lanes
            .map(|lane| turns.batch(turn, lane).unwrap().0)
            .collect();
        assert_eq!(batches, [0, 0, 0, 1, 2, 3, 4]);
        turns.end();
        let next = turns.add_call("y".into());
        assert_eq!(turns.batch(next, Lane::Parallel).unwrap().0, 0);
    }
}
