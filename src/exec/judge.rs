//! The model that judges calls which the rules leave open, and the limit on its denials.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::io::CancelToken;
use crate::tools::Input;

/// Consecutive denials after which the user is asked instead, until a call is allowed.
const MAX_CONSECUTIVE_DENIALS: u32 = 3;
/// Denials of a run after which the user is asked instead for the rest of the run.
const MAX_DENIALS: u32 = 20;
/// Earlier calls that a judge sees.
const MAX_EARLIER_CALLS: usize = 20;
/// Longest input of an earlier call that a judge sees, in bytes.
const MAX_EARLIER_INPUT: usize = 500;

/// Judges whether a call is harmless enough to run without asking the user. Called from several threads
/// at once.
pub trait Judge: Send + Sync {
    /// Judges a call. Returns early when `cancel` fires.
    fn judge(&self, case: &Case<'_>, cancel: &CancelToken) -> Judgement;
}

/// A call to be judged.
pub struct Case<'a> {
    /// The name of its tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Input,
    /// Its working directory.
    pub directory: &'a Path,
    /// The calls of this run before it, in order.
    pub earlier: &'a [String],
}

/// The answer of a judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The call may run.
    Allow,
    /// The call must not run, for this reason. An answer that cannot be parsed is a denial.
    Deny(String),
    /// The judge failed, for this reason.
    None(String),
}

/// A judge, with the denials and the calls of the run so far. After too many denials the user decides
/// instead: otherwise a wrong judge would block the run for good.
pub struct GuardedJudge {
    pub(super) judge: Box<dyn Judge>,
    denials: Mutex<Denials>,
    earlier: Mutex<VecDeque<String>>,
}

#[derive(Debug, Default)]
struct Denials {
    consecutive: u32,
    total: u32,
}

impl GuardedJudge {
    /// Wraps a judge.
    pub fn new(judge: Box<dyn Judge>) -> Self {
        Self {
            judge,
            denials: Mutex::default(),
            earlier: Mutex::default(),
        }
    }

    /// Whether the judge has not reached a limit on denials.
    pub(super) fn is_trusted(&self) -> bool {
        let denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        denials.consecutive < MAX_CONSECUTIVE_DENIALS && denials.total < MAX_DENIALS
    }

    /// Counts a judgement.
    pub(super) fn count(&self, judgement: &Judgement) {
        let mut denials = self.denials.lock().unwrap_or_else(PoisonError::into_inner);
        match judgement {
            Judgement::Allow => denials.consecutive = 0,
            Judgement::Deny(_) => {
                denials.consecutive += 1;
                denials.total += 1;
            }
            Judgement::None(_) => {}
        }
    }

    /// Adds the next call of the run. Returns the latest calls before it.
    pub(super) fn add_call(&self, name: &str, input: &str) -> Vec<String> {
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        let before = earlier.iter().cloned().collect();
        let shown = &input[..input.floor_char_boundary(MAX_EARLIER_INPUT)];
        earlier.push_back(format!("{name} {shown}"));
        if earlier.len() > MAX_EARLIER_CALLS {
            earlier.pop_front();
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoJudge;

    impl Judge for NoJudge {
        fn judge(&self, _: &Case<'_>, _: &CancelToken) -> Judgement {
            Judgement::None("no judge".to_owned())
        }
    }

    fn is_trusted_after(judgements: &str) -> bool {
        let judge = GuardedJudge::new(Box::new(NoJudge));
        for judgement in judgements.chars() {
            judge.count(&match judgement {
                'a' => Judgement::Allow,
                '-' => Judgement::None(String::new()),
                _ => Judgement::Deny(String::new()),
            });
        }
        judge.is_trusted()
    }

    #[test]
    fn a_judge_sees_the_calls_before_the_one_it_judges() {
        let judge = GuardedJudge::new(Box::new(NoJudge));
        assert!(judge.add_call("Bash", "1").is_empty());
        assert_eq!(judge.add_call("Bash", &"é".repeat(300)), ["Bash 1"]);
        let shown = format!("Bash {}", "é".repeat(250));
        assert_eq!(judge.add_call("Read", "3")[1], shown);
        for _ in 0..50 {
            assert!(judge.add_call("Read", "3").len() <= MAX_EARLIER_CALLS);
        }
    }

    #[test]
    fn a_judge_is_not_trusted_after_too_many_denials() {
        let is_trusted = is_trusted_after;
        assert!(is_trusted("") && is_trusted("dd") && is_trusted("ddadd-"));
        assert!(!is_trusted("ddd") && !is_trusted("dd-d"));
        assert!(is_trusted(&"dda".repeat(9)));
        assert!(!is_trusted(&"dda".repeat(10)), "twenty denials in all");
    }
}
