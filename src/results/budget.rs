//! How long all results of one turn may be together (`docs/protocol.md`, Budgets for results).
//!
//! A decision is never changed: a result that was sent whole is not replaced later, and one that
//! was replaced is always sent as the same bytes, so that prompt caches keep hitting.

use std::collections::BTreeMap;

use crate::message::ToolUseId;
use crate::text::{sha256, utf16_length};

/// How long the results of a turn may be together, in UTF-16 units.
pub const TURN_BUDGET: usize = 200_000;

/// A result that is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The call and its text, as in [`decision_key`].
    pub key: String,
    /// Length in UTF-16 units.
    pub units: usize,
    /// Whether it may be replaced: not if its tool declares no limit, nor if it is replaced already.
    pub replaceable: bool,
}

/// What a decision is remembered by. Ids come again, so that the text belongs to it.
pub fn decision_key(id: &ToolUseId, text: &str) -> String {
    format!("{id}-{}", sha256(text))
}

/// What to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// The result as it is.
    Keep,
    /// The replacement that was decided on earlier, byte for byte.
    Reapply(String),
    /// A replacement, to be made and remembered now.
    Replace,
}

/// Decides on the results of one turn, in the order given. `log` holds the earlier decisions: the
/// replacement text, or none for a result that was sent whole. A replacement is at most
/// `replacement_units` long.
pub fn decide(
    candidates: &[Candidate],
    log: &BTreeMap<String, Option<String>>,
    budget: usize,
    replacement_units: usize,
) -> Vec<Action> {
    let mut actions: Vec<Action> = candidates
        .iter()
        .map(|candidate| match log.get(&candidate.key) {
            Some(Some(text)) => Action::Reapply(text.clone()),
            Some(None) | None => Action::Keep,
        })
        .collect();
    let mut total: usize = actions
        .iter()
        .zip(candidates)
        .map(|(action, candidate)| match action {
            Action::Reapply(text) => utf16_length(text),
            Action::Keep | Action::Replace => candidate.units,
        })
        .sum();
    let is_fresh = |candidate: &Candidate| {
        candidate.replaceable
            && candidate.units > replacement_units
            && !log.contains_key(&candidate.key)
    };
    let mut fresh: Vec<usize> = (0..candidates.len())
        .filter(|position| is_fresh(&candidates[*position]))
        .collect();
    // Largest first; of equal ones the earlier, so that the choice depends on the input alone.
    fresh.sort_by_key(|position| (std::cmp::Reverse(candidates[*position].units), *position));
    for position in fresh {
        if total <= budget {
            break;
        }
        total -= candidates[position].units - replacement_units;
        actions[position] = Action::Replace;
    }
    actions
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate(key: &str, units: usize) -> Candidate {
        Candidate {
            key: key.to_owned(),
            units,
            replaceable: true,
        }
    }

    /// The positions of those that are replaced, if a replacement is five units long.
    fn replaced(candidates: &[Candidate], budget: usize) -> Vec<usize> {
        let actions = decide(candidates, &BTreeMap::new(), budget, 5);
        let is_replaced = |position: &usize| actions[*position] == Action::Replace;
        (0..actions.len()).filter(is_replaced).collect()
    }

    #[test]
    fn the_largest_go_first_until_the_rest_fits() {
        let candidates = [candidate("a", 40), candidate("b", 70), candidate("c", 60)];
        let rows: [(usize, &[usize]); 5] = [
            (170, &[]),
            (169, &[1]),
            (105, &[1]),
            (104, &[1, 2]),
            (0, &[0, 1, 2]),
        ];
        for (budget, expected) in rows {
            assert_eq!(replaced(&candidates, budget), expected, "{budget}");
        }
    }

    #[test]
    fn earlier_decisions_stand() {
        let log = BTreeMap::from([
            ("sent".to_owned(), None),
            ("gone".to_owned(), Some("stub".to_owned())),
        ]);
        let candidates = [
            candidate("sent", 90),
            candidate("gone", 90),
            candidate("new", 20),
        ];
        let actions = decide(&candidates, &log, 100, 5);
        let reapplied = Action::Reapply("stub".to_owned());
        assert_eq!(actions, [Action::Keep, reapplied, Action::Replace]);
    }

    #[test]
    fn what_may_not_be_replaced_is_kept() {
        let fixed = Candidate {
            replaceable: false,
            ..candidate("read", 500)
        };
        assert_eq!(replaced(&[fixed, candidate("b", 10)], 100), [1]);
        // It would be longer.
        assert!(replaced(&[candidate("c", 5), candidate("d", 4)], 0).is_empty());
    }

    proptest! {
        #[test]
        fn deciding_again_changes_nothing(sizes in prop::collection::vec(0..100_usize, 0..20), budget in 0..400_usize) {
            const STUB: &str = "stub!";
            let candidates: Vec<_> =
                sizes.iter().enumerate().map(|(index, size)| candidate(&format!("t{index}"), *size)).collect();
            let first = decide(&candidates, &BTreeMap::new(), budget, STUB.len());
            let mut log = BTreeMap::new();
            let mut total = 0;
            for (candidate, action) in candidates.iter().zip(&first) {
                let is_replaced = *action == Action::Replace;
                total += if is_replaced { STUB.len() } else { candidate.units };
                log.insert(candidate.key.clone(), is_replaced.then(|| STUB.to_owned()));
            }
            let least: usize = sizes.iter().map(|size| (*size).min(STUB.len())).sum();
            prop_assert!(total <= budget.max(least));
            for (before, after) in first.iter().zip(decide(&candidates, &log, budget / 2, STUB.len())) {
                let expected = match before {
                    Action::Replace => Action::Reapply(STUB.to_owned()),
                    _ => Action::Keep,
                };
                prop_assert_eq!(after, expected);
            }
        }
    }
}
