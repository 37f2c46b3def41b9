//! How long all results of one turn may be together (`docs/protocol.md`, Budgets for results).
//!
//! A decision is never changed: a result that was sent whole is not replaced later, and one that
//! was replaced is always sent as the same bytes, so that prompt caches keep hitting.

use std::collections::BTreeMap;

use crate::wire::ToolUseId;

/// How long the results of a turn may be together, in UTF-16 units.
pub const TURN_BUDGET: usize = 200_000;

/// A result that is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The call.
    pub id: ToolUseId,
    /// Length in UTF-16 units.
    pub units: usize,
    /// Whether it may be replaced: not if its tool declares no limit, nor if it is replaced already.
    pub replaceable: bool,
}

/// What to do with one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The call.
    pub id: ToolUseId,
    /// What to send.
    pub action: Action,
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
/// replacement text, or none for a result that was sent whole.
pub fn decide(
    candidates: &[Candidate],
    log: &BTreeMap<String, Option<String>>,
    budget: usize,
) -> Vec<Decision> {
    let mut decisions: Vec<Decision> = candidates
        .iter()
        .map(|candidate| Decision {
            id: candidate.id.clone(),
            action: match log.get(candidate.id.as_str()) {
                Some(Some(text)) => Action::Reapply(text.clone()),
                Some(None) | None => Action::Keep,
            },
        })
        .collect();
    let is_fresh = |position: usize| !log.contains_key(candidates[position].id.as_str());
    let mut total: usize = decisions
        .iter()
        .zip(candidates)
        .filter(|(decision, _)| decision.action == Action::Keep)
        .map(|(_, candidate)| candidate.units)
        .sum();
    let mut fresh: Vec<usize> = (0..candidates.len())
        .filter(|position| is_fresh(*position) && candidates[*position].replaceable)
        .collect();
    // Largest first; of equal ones the earlier, so that the choice depends on the input alone.
    fresh.sort_by_key(|position| (std::cmp::Reverse(candidates[*position].units), *position));
    for position in fresh {
        if total <= budget {
            break;
        }
        total -= candidates[position].units;
        decisions[position].action = Action::Replace;
    }
    decisions
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidate(id: &str, units: usize) -> Candidate {
        Candidate {
            id: id.into(),
            units,
            replaceable: true,
        }
    }

    fn replaced(decisions: &[Decision]) -> Vec<&str> {
        decisions
            .iter()
            .filter(|decision| decision.action == Action::Replace)
            .map(|decision| decision.id.as_str())
            .collect()
    }

    #[test]
    fn the_largest_go_first_until_the_rest_fits() {
        let candidates = [candidate("a", 40), candidate("b", 70), candidate("c", 60)];
        assert_eq!(replaced(&decide(&candidates, &BTreeMap::new(), 100)), ["b"]);
        assert_eq!(
            replaced(&decide(&candidates, &BTreeMap::new(), 99)),
            ["b", "c"]
        );
        assert!(replaced(&decide(&candidates, &BTreeMap::new(), 170)).is_empty());
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
        let decisions = decide(&candidates, &log, 100);
        assert_eq!(decisions[0].action, Action::Keep);
        assert_eq!(decisions[1].action, Action::Reapply("stub".to_owned()));
        assert_eq!(decisions[2].action, Action::Replace);
    }

    #[test]
    fn what_may_not_be_replaced_is_kept() {
        let fixed = Candidate {
            replaceable: false,
            ..candidate("read", 500)
        };
        let decisions = decide(&[fixed, candidate("b", 10)], &BTreeMap::new(), 100);
        assert_eq!(replaced(&decisions), ["b"]);
    }

    proptest! {
        #[test]
        fn deciding_again_changes_nothing(sizes in prop::collection::vec(0..100_usize, 0..20), budget in 0..400_usize) {
            let candidates: Vec<_> =
                sizes.iter().enumerate().map(|(index, size)| candidate(&format!("t{index}"), *size)).collect();
            let first = decide(&candidates, &BTreeMap::new(), budget);
            let log: BTreeMap<_, _> = first
                .iter()
                .map(|decision| {
                    let text = (decision.action == Action::Replace).then(|| "stub".to_owned());
                    (decision.id.0.clone(), text)
                })
                .collect();
            let kept: usize = candidates
                .iter()
                .zip(&first)
                .filter(|(_, decision)| decision.action == Action::Keep)
                .map(|(candidate, _)| candidate.units)
                .sum();
            prop_assert!(kept <= budget);
            for (before, after) in first.iter().zip(decide(&candidates, &log, budget / 2)) {
                let expected = match before.action {
                    Action::Replace => Action::Reapply("stub".to_owned()),
                    _ => Action::Keep,
                };
                prop_assert_eq!(after.action, expected);
            }
        }
    }
}
