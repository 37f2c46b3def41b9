//! Which calls make up a turn, and when it is over: a pure state machine.

use std::collections::VecDeque;

use crate::message::ToolUseId;
use crate::records::Lane;

/// A turn of the main model, counted from 0 within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub(super) struct TurnNumber(pub(super) u64);

/// The batch of a call within its turn, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BatchNumber(pub(super) u64);

/// Turns that are not yet reported as over.
#[derive(Debug, Default)]
pub(super) struct Turns {
    open: VecDeque<Turn>,
    next: u64,
}

#[derive(Debug, Default)]
struct Turn {
    number: TurnNumber,
    ids: Vec<ToolUseId>,
    unanswered: usize,
    /// Calls without a result.
    unfinished: usize,
    ended: bool,
    last_batch: Option<(BatchNumber, Lane)>,
    failure: Option<String>,
}

impl Turns {
    /// A call of the current turn.
    pub(super) fn call(&mut self, id: ToolUseId) -> TurnNumber {
        let mut turn = match self.open.pop_back_if(|turn| !turn.ended) {
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

    /// The batch of the next call of this turn, in call order, which ran in `lane`; neighbours in the
    /// parallel lane share one.
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

    /// The current turn's calls are all known.
    pub(super) fn end(&mut self) {
        if let Some(turn) = self.open.back_mut() {
            turn.ended = true;
        }
    }

    /// A call of this turn has its result.
    pub(super) fn completed(&mut self, number: TurnNumber) {
        if let Some(turn) = self.find_mut(number) {
            turn.unfinished = turn.unfinished.saturating_sub(1);
        }
    }

    /// Whether all calls of this turn are known and have their results.
    pub(super) fn is_done(&self, number: TurnNumber) -> bool {
        self.find(number)
            .is_none_or(|turn| turn.ended && turn.unfinished == 0)
    }

    /// Whether this is the last call of its turn, as far as is known.
    pub(super) fn is_last(&self, number: TurnNumber, id: &ToolUseId) -> bool {
        self.find(number)
            .is_none_or(|turn| turn.ids.last() == Some(id))
    }

    /// Whether all calls of this turn are known.
    pub(super) fn has_ended(&self, number: TurnNumber) -> bool {
        self.find(number).is_none_or(|turn| turn.ended)
    }

    /// A result of this turn went out.
    pub(super) fn answered(&mut self, number: TurnNumber) {
        if let Some(turn) = self.find_mut(number) {
            turn.unanswered = turn.unanswered.saturating_sub(1);
        }
    }

    /// A call of this turn failed in a way that cancels its siblings; the text names call and error.
    pub(super) fn failed(&mut self, number: TurnNumber, failure: String) {
        if let Some(turn) = self.find_mut(number) {
            turn.failure.get_or_insert(failure);
        }
    }

    /// Why calls of this turn are cancelled, if they are.
    pub(super) fn failure(&self, number: TurnNumber) -> Option<&str> {
        self.find(number).and_then(|turn| turn.failure.as_deref())
    }

    /// The calls, in order, of the next turn that has ended and whose results are all out; it is
    /// forgotten.
    pub(super) fn finished(&mut self) -> Option<Vec<ToolUseId>> {
        let is_finished = |turn: &mut Turn| turn.ended && turn.unanswered == 0;
        self.open.pop_front_if(is_finished).map(|turn| turn.ids)
    }

    fn find_mut(&mut self, number: TurnNumber) -> Option<&mut Turn> {
        self.open.iter_mut().find(|turn| turn.number == number)
    }

    fn find(&self, number: TurnNumber) -> Option<&Turn> {
        self.open.iter().find(|turn| turn.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_finished_when_it_ended_and_all_is_answered() {
        let mut turns = Turns::default();
        let first = turns.call("a".into());
        turns.answered(first);
        assert_eq!(turns.finished(), None);
        turns.end();
        let second = turns.call("b".into());
        assert_ne!(first, second);
        assert_eq!(turns.finished(), Some(vec![ToolUseId::from("a")]));
        assert_eq!(turns.finished(), None);
        turns.end();
        assert!(turns.is_last(second, &"b".into()) && !turns.is_done(second));
        turns.completed(second);
        assert!(turns.is_done(second));
        turns.answered(second);
        assert_eq!(turns.finished(), Some(vec![ToolUseId::from("b")]));
    }

    #[test]
    fn batches_are_the_published_partitioning() {
        let mut turns = Turns::default();
        let lanes = "PPPSPSS".chars().map(|lane| match lane {
            'P' => Lane::Parallel,
            _ => Lane::Serial,
        });
        let turn = turns.call("x".into());
        let batches: Vec<_> = lanes
            .map(|lane| turns.batch(turn, lane).unwrap().0)
            .collect();
        assert_eq!(batches, [0, 0, 0, 1, 2, 3, 4]);
        turns.end();
        let next = turns.call("y".into());
        assert_eq!(turns.batch(next, Lane::Parallel).unwrap().0, 0);
    }
}
