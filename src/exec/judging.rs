//! A judge for calls that rules leave open, and how long it is believed.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::io::CancelToken;
use crate::tools::Input;

/// After this many denials in a row, somebody else is asked.
const MOST_IN_A_ROW: u32 = 3;
/// How many earlier calls a judge sees, and how much of each, in bytes.
const EARLIER: usize = 20;
const EARLIER_SHOWN: usize = 500;
/// After this many denials of a run, somebody else is asked from then on.
const MOST_OF_ALL: u32 = 20;

/// Says whether a call is harmless enough to run unasked. Called from several threads at once.
pub trait Judge: Send + Sync {
    /// Judges a call, until `cancel` fires.
    fn judge(&self, case: &Case<'_>, cancel: &CancelToken) -> Judgement;
}

/// A call to be judged.
pub struct Case<'a> {
    /// Its tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Input,
    /// Where it would run.
    pub directory: &'a Path,
    /// The calls of this run before it, in order.
    pub earlier: &'a [String],
}

/// What a judge says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It may run.
    Allow,
    /// It must not, for this reason. So is everything that cannot be understood.
    Deny(String),
    /// There is no judgement, for this reason: somebody else has to say.
    None(String),
}

/// A judge, and what a run remembers for it.
pub struct JudgeSeat {
    pub(super) judge: Box<dyn Judge>,
    denials: Mutex<Denials>,
    earlier: Mutex<VecDeque<String>>,
}

/// The denials of a run so far. A judge that keeps saying no is not worked around but overruled by
/// somebody who is asked.
#[derive(Debug, Default)]
struct Denials {
    in_a_row: u32,
    of_all: u32,
}

impl JudgeSeat {
    /// Seats a judge.
    pub fn new(judge: Box<dyn Judge>) -> Self {
        Self {
            judge,
            denials: Mutex::default(),
            earlier: Mutex::default(),
        }
    }

    /// Whether the judge is still asked.
    pub(super) fn is_trusted(&self) -> bool {
        let denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        denials.in_a_row < MOST_IN_A_ROW && denials.of_all < MOST_OF_ALL
    }

    /// A judgement counts.
    pub(super) fn count(&self, judgement: &Judgement) {
        let mut denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        match judgement {
            Judgement::Allow => denials.in_a_row = 0,
            Judgement::Deny(_) => {
                denials.in_a_row += 1;
                denials.of_all += 1;
            }
            Judgement::None(_) => {}
        }
    }

    /// Remembers the next call of the run; returns the last ones before it.
    pub(super) fn follow(&self, name: &str, input: &str) -> Vec<String> {
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        let before = earlier.iter().cloned().collect();
        let shown = &input[..input.floor_char_boundary(EARLIER_SHOWN)];
        earlier.push_back(format!("{name} {shown}"));
        if earlier.len() > EARLIER {
            earlier.pop_front();
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Judge for Nobody {
        fn judge(&self, _: &Case<'_>, _: &CancelToken) -> Judgement {
            Judgement::None("nobody is there".to_owned())
        }
    }

    fn after(judgements: &str) -> bool {
        let seat = JudgeSeat::new(Box::new(Nobody));
        for judgement in judgements.chars() {
            seat.count(&match judgement {
                'a' => Judgement::Allow,
                '-' => Judgement::None(String::new()),
                _ => Judgement::Deny(String::new()),
            });
        }
        seat.is_trusted()
    }

    #[test]
    fn a_call_is_judged_with_those_before_it() {
        let seat = JudgeSeat::new(Box::new(Nobody));
        assert!(seat.follow("Bash", "1").is_empty());
        assert_eq!(seat.follow("Bash", &"é".repeat(300)), ["Bash 1"]);
        let shown = format!("Bash {}", "é".repeat(250));
        assert_eq!(seat.follow("Read", "3")[1], shown);
        for _ in 0..50 {
            assert!(seat.follow("Read", "3").len() <= EARLIER);
        }
    }

    #[test]
    fn a_judge_that_keeps_saying_no_is_not_asked_again() {
        assert!(after("") && after("dd") && after("ddadd-"));
        assert!(!after("ddd") && !after("dd-d"));
        assert!(after(&"dda".repeat(9)));
        assert!(!after(&"dda".repeat(10)), "twenty denials in all");
    }
}
