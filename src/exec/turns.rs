//! Which calls make up a turn, and when it is over: a pure state machine.

use std::collections::VecDeque;

use crate::wire::ToolUseId;

/// A turn of the main model, counted from 0 within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct TurnNumber(pub u64);

/// The batch of a call within its turn, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchNumber(pub u64);

/// Turns that are not yet reported as over.
#[derive(Debug, Default)]
pub struct Turns {
    open: VecDeque<Turn>,
    next: u64,
}

#[derive(Debug, Default)]
struct Turn {
    number: TurnNumber,
    ids: Vec<ToolUseId>,
    unanswered: usize,
    ended: bool,
    last_batch: Option<(BatchNumber, bool)>,
    failure: Option<String>,
}

/// A turn whose last result is out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedTurn {
    /// Which one.
    pub number: TurnNumber,
    /// Its calls, in call order.
    pub ids: Vec<ToolUseId>,
}

impl Turns {
    /// A call of the current turn; read-only neighbours share a batch.
    pub fn call(&mut self, id: ToolUseId, read_only: bool) -> (TurnNumber, BatchNumber) {
        if self.open.back().is_none_or(|turn| turn.ended) {
            let number = TurnNumber(self.next);
            self.next += 1;
            self.open.push_back(Turn {
                number,
                ..Turn::default()
            });
        }
        let Some(turn) = self.open.back_mut() else {
            return (TurnNumber(self.next), BatchNumber(0));
        };
        turn.ids.push(id);
        turn.unanswered += 1;
        let batch = match turn.last_batch {
            Some((batch, true)) if read_only => batch,
            Some((batch, _)) => BatchNumber(batch.0 + 1),
            None => BatchNumber(0),
        };
        turn.last_batch = Some((batch, read_only));
        (turn.number, batch)
    }

    /// The current turn's calls are all known.
    pub fn end(&mut self) {
        if let Some(turn) = self.open.back_mut() {
            turn.ended = true;
        }
    }

    /// Whether a turn has begun that can still get calls.
    pub fn is_open(&self) -> bool {
        self.open.back().is_some_and(|turn| !turn.ended)
    }

    /// Whether all calls of this turn are known.
    pub fn has_ended(&self, number: TurnNumber) -> bool {
        self.find(number).is_none_or(|turn| turn.ended)
    }

    /// A result of this turn went out.
    pub fn answered(&mut self, number: TurnNumber) {
        if let Some(turn) = self.open.iter_mut().find(|turn| turn.number == number) {
            turn.unanswered = turn.unanswered.saturating_sub(1);
        }
    }

    /// A call of this turn failed in a way that cancels its siblings; the text names call and error.
    pub fn failed(&mut self, number: TurnNumber, failure: String) {
        if let Some(turn) = self.open.iter_mut().find(|turn| turn.number == number) {
            turn.failure.get_or_insert(failure);
        }
    }

    /// Why calls of this turn are cancelled, if they are.
    pub fn failure(&self, number: TurnNumber) -> Option<&str> {
        self.find(number).and_then(|turn| turn.failure.as_deref())
    }

    /// The next turn that has ended and whose results are all out; it is forgotten.
    pub fn finished(&mut self) -> Option<FinishedTurn> {
        let front = self.open.front()?;
        if !front.ended || front.unanswered > 0 {
            return None;
        }
        self.open.pop_front().map(|turn| FinishedTurn {
            number: turn.number,
            ids: turn.ids,
        })
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
        let (first, _) = turns.call("a".into(), true);
        turns.answered(first);
        assert_eq!(turns.finished(), None);
        turns.end();
        let (second, _) = turns.call("b".into(), true);
        assert_ne!(first, second);
        assert_eq!(turns.finished().unwrap().ids, vec![ToolUseId::from("a")]);
        assert_eq!(turns.finished(), None);
        turns.end();
        turns.answered(second);
        assert_eq!(turns.finished().unwrap().number, second);
    }

    #[test]
    fn batches_are_the_published_partitioning() {
        let mut turns = Turns::default();
        let read_only = [true, true, true, false, true, false, false];
        let batches: Vec<_> = read_only
            .iter()
            .map(|safe| turns.call("x".into(), *safe).1.0)
            .collect();
        assert_eq!(batches, [0, 0, 0, 1, 2, 3, 4]);
        turns.end();
        assert_eq!(turns.call("y".into(), true).1.0, 0);
    }
}
