//! Limits on the length of results: of one result, and of all results of a turn (`docs/records.md`, Large results).
//!
//! Decisions are final: a result that was sent in full is not replaced later, and the replacement of a result
//! never changes, so that prompt caches stay valid.

use std::collections::BTreeMap;

use crate::message::ToolUseId;
use crate::run::tools::ResultLimit;
use crate::text::{sha256, utf16_length};

/// Maximum length of all results of a turn, in UTF-16 units.
pub const TURN_BUDGET: usize = 200_000;

/// A result to decide on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetCandidate {
    /// The call and its text, as in [`decision_key`].
    pub key: String,
    /// Length in UTF-16 units.
    pub units: usize,
    /// Whether it may be replaced: `false` if its tool declares no limit, or if it was replaced.
    pub is_replaceable: bool,
}

/// Returns the key of a decision. It contains the text, since ids may repeat.
pub fn decision_key(id: &ToolUseId, text: &str) -> String {
    format!("{id}-{}", sha256(text))
}

/// The decision on one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetAction {
    /// Send it in full.
    Keep,
    /// Send the replacement of an earlier decision, byte for byte.
    Reapply(String),
    /// Create and send a replacement.
    Replace,
}

/// Decides on the results of one turn, in their order. `log` contains the earlier decisions: the replacement,
/// or `None` for a result that was sent in full. A replacement has at most `replacement_units`.
pub fn decide(
    candidates: &[BudgetCandidate],
    log: &BTreeMap<String, Option<String>>,
    budget: usize,
    replacement_units: usize,
) -> Vec<BudgetAction> {
    let mut actions: Vec<BudgetAction> = candidates
        .iter()
        .map(|candidate| match log.get(&candidate.key) {
            Some(Some(text)) => BudgetAction::Reapply(text.clone()),
            Some(None) | None => BudgetAction::Keep,
        })
        .collect();
    let mut total: usize = actions
        .iter()
        .zip(candidates)
        .map(|(action, candidate)| match action {
            BudgetAction::Reapply(text) => utf16_length(text),
            BudgetAction::Keep | BudgetAction::Replace => candidate.units,
        })
        .sum();
    let can_be_replaced = |candidate: &BudgetCandidate| {
        candidate.is_replaceable
            && candidate.units > replacement_units
            && !log.contains_key(&candidate.key)
    };
    let mut replaceable: Vec<usize> = (0..candidates.len())
        .filter(|position| can_be_replaced(&candidates[*position]))
        .collect();
    // Largest first, in order among equals: the choice depends only on the input.
    replaceable.sort_by_key(|position| (std::cmp::Reverse(candidates[*position].units), *position));
    for position in replaceable {
        if total <= budget {
            break;
        }
        total -= candidates[position].units - replacement_units;
        actions[position] = BudgetAction::Replace;
    }
    actions
}

/// Maximum length of a result sent in full, unless a tool or the configuration sets another limit, in UTF-16 units.
pub const DEFAULT_LIMIT: usize = 50_000;

/// Limits of the configuration for single tools, by name, in UTF-16 units. They override the limit that the
/// tool declares; `None` means no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolLimits(pub BTreeMap<String, Option<usize>>);

impl ToolLimits {
    /// Returns the limit of a tool: the configured one, else the declared one, which is at most [`DEFAULT_LIMIT`]
    /// unless the tool raises it.
    pub fn limit_of(&self, tool: &str, declared: ResultLimit) -> Option<usize> {
        if let Some(limit) = self.0.get(tool) {
            return *limit;
        }
        match declared {
            ResultLimit::Unlimited => None,
            ResultLimit::Default => Some(DEFAULT_LIMIT),
            ResultLimit::Characters(units) => Some(units.min(DEFAULT_LIMIT)),
            ResultLimit::Raised(units) => Some(units),
        }
    }
}

/// Minimum length of a result that a reference replaces, in bytes.
const MIN_LENGTH: usize = 400;

/// Maximum number of remembered results.
const MAX_REMEMBERED: usize = 4096;

/// The results so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenResults {
    /// The call of each result, by the digest of the result.
    pub results: BTreeMap<String, String>,
}

impl SeenResults {
    /// Remembers a result. Returns a reference to an earlier call if the same tool gave the same text.
    pub fn remember(&mut self, tool: &str, id: &ToolUseId, text: &str) -> Option<String> {
        let key = result_key(tool, text);
        // Ids may repeat: an id that now has another result is no longer referred to.
        self.results
            .retain(|known, earlier| earlier != id.as_str() || *known == key);
        if text.len() < MIN_LENGTH {
            return None;
        }
        if let Some(earlier) = self.results.get(&key)
            && earlier != id.as_str()
        {
            return Some(match tool {
                "Read" => format!(
                    "The file is unchanged: its text is in the result of the earlier call {earlier}."
                ),
                _ => format!("The same output as the earlier call {earlier}; see its result."),
            });
        }
        if self.results.len() < MAX_REMEMBERED {
            self.results.insert(key, id.0.clone());
        }
        None
    }
}

/// Returns the tool and the digest of the text. The key is saved, so later versions must compute the same key.
fn result_key(tool: &str, text: &str) -> String {
    format!("{tool}-{}", sha256(text))
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;

    use super::*;

    fn candidate(key: &str, units: usize) -> BudgetCandidate {
        BudgetCandidate {
            key: key.to_owned(),
            units,
            is_replaceable: true,
        }
    }

    /// Returns the positions of the replaced results, for replacements of five units.
    fn choose_replaced(candidates: &[BudgetCandidate], budget: usize) -> Vec<usize> {
        let actions = decide(candidates, &BTreeMap::new(), budget, 5);
        let is_replaced = |position: &usize| actions[*position] == BudgetAction::Replace;
        (0..actions.len()).filter(is_replaced).collect()
    }

    #[test]
    fn the_largest_results_are_replaced_until_the_rest_fits() {
        let candidates = [candidate("a", 40), candidate("b", 70), candidate("c", 60)];
        let rows: [(usize, &[usize]); 5] = [
            (170, &[]),
            (169, &[1]),
            (105, &[1]),
            (104, &[1, 2]),
            (0, &[0, 1, 2]),
        ];
        for (budget, expected) in rows {
            assert_eq!(choose_replaced(&candidates, budget), expected, "{budget}");
        }
    }

    #[test]
    fn earlier_decisions_are_final() {
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
        let reapplied = BudgetAction::Reapply("stub".to_owned());
        assert_eq!(
            actions,
            [BudgetAction::Keep, reapplied, BudgetAction::Replace]
        );
    }

    #[test]
    fn only_replaceable_and_longer_results_are_replaced() {
        let fixed = BudgetCandidate {
            is_replaceable: false,
            ..candidate("read", 500)
        };
        assert_eq!(choose_replaced(&[fixed, candidate("b", 10)], 100), [1]);
        // The replacement would be longer.
        assert!(choose_replaced(&[candidate("c", 5), candidate("d", 4)], 0).is_empty());
    }

    #[test]
    fn a_declared_limit_is_capped_unless_it_is_raised() {
        let limits = ToolLimits::default();
        let of = |declared| limits.limit_of("T", declared);
        assert_eq!(of(ResultLimit::Default), Some(50_000));
        assert_eq!(of(ResultLimit::Characters(20_000)), Some(20_000));
        assert_eq!(of(ResultLimit::Characters(100_000)), Some(50_000));
        assert_eq!(of(ResultLimit::Raised(100_000)), Some(100_000));
        assert_eq!(of(ResultLimit::Unlimited), None);
    }

    #[test]
    fn the_configuration_overrides_the_tool() {
        let limits = [("Read", Some(10)), ("Bash", None)];
        let limits = limits.map(|(tool, limit)| (tool.to_owned(), limit));
        let limits = ToolLimits(limits.into());
        assert_eq!(limits.limit_of("Read", ResultLimit::Unlimited), Some(10));
        assert_eq!(limits.limit_of("Bash", ResultLimit::Default), None);
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
                let is_replaced = *action == BudgetAction::Replace;
                total += if is_replaced { STUB.len() } else { candidate.units };
                log.insert(candidate.key.clone(), is_replaced.then(|| STUB.to_owned()));
            }
            let least: usize = sizes.iter().map(|size| (*size).min(STUB.len())).sum();
            prop_assert!(total <= budget.max(least));
            for (before, after) in first.iter().zip(decide(&candidates, &log, budget / 2, STUB.len())) {
                let expected = match before {
                    BudgetAction::Replace => BudgetAction::Reapply(STUB.to_owned()),
                    _ => BudgetAction::Keep,
                };
                prop_assert_eq!(after, expected);
            }
        }
    }

    #[test]
    fn a_repeated_long_text_becomes_a_reference() {
        let mut seen = SeenResults::default();
        let text = "x".repeat(MIN_LENGTH);
        assert_eq!(seen.remember("Read", &"a".into(), &text), None);
        let again = seen.remember("Read", &"b".into(), &text).unwrap();
        assert!(again.contains("earlier call a"), "{again}");
        assert_eq!(seen.remember("Bash", &"c".into(), &text), None);
        assert_eq!(seen.remember("Read", &"d".into(), "short"), None);
        assert_eq!(seen.remember("Read", &"e".into(), "short"), None);
    }

    #[test]
    fn a_reused_id_is_not_referred_to() {
        let mut seen = SeenResults::default();
        let (text, other) = ("x".repeat(MIN_LENGTH), "y".repeat(MIN_LENGTH));
        for (id, text) in [("a", &*text), ("a", "short"), ("b", &text), ("b", &other)] {
            assert_eq!(seen.remember("Bash", &id.into(), text), None);
        }
        assert_eq!(seen.remember("Bash", &"c".into(), &text), None);
        let again = seen.remember("Bash", &"d".into(), &other).unwrap();
        assert!(again.contains("earlier call b"), "{again}");
    }

    #[test]
    fn keys_are_the_same_in_every_version() {
        let mut seen = SeenResults::default();
        seen.remember("Read", &"a".into(), &"x".repeat(MIN_LENGTH));
        let digest = "7b0bd700ce066ef35190fde2dd7a0bcce426b8e10e4d32613ab550105545faad";
        assert_eq!(
            seen.results.keys().next().unwrap(),
            &format!("Read-{digest}")
        );
    }
}
