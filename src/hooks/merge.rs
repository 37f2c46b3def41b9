//! The merged answer of several hooks.

use std::fmt::Display;

use serde_json::{Map, Value};

use super::answer::{Answer, HookDecision};
use crate::records::HookReport;

/// The merged answers of the hooks of an event.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Merged {
    /// The strictest decision, with the reasons of all hooks that made it.
    pub decision: Option<(HookDecision, String)>,
    /// The arguments of the last hook that changed them.
    pub updated_input: Option<Map<String, Value>>,
    /// The output of the last hook that changed it.
    pub updated_output: Option<Value>,
    /// Texts for the model.
    pub additional_context: Vec<String>,
    /// Messages for the user: from hooks, and about failures and conflicts.
    pub messages: Vec<String>,
    /// The first reason to stop the session.
    pub stop: Option<String>,
    /// The hooks that ran, for records.
    pub reports: Vec<HookReport>,
}

/// Merges the answers of hooks, each with the name of its hook, in the order of the configuration.
pub(super) fn merge<Name: Display>(answers: impl IntoIterator<Item = (Name, Answer)>) -> Merged {
    let mut merged = Merged::default();
    let mut inputs = 0;
    for (name, answer) in answers {
        if let Some((decision, reason)) = answer.decision {
            merged.decision = Some(match merged.decision.take() {
                Some((before, reasons)) if before > decision => (before, reasons),
                Some((before, reasons)) if before == decision && !reasons.is_empty() => {
                    let separator = if reason.is_empty() { "" } else { "\n" };
                    (before, reasons + separator + &reason)
                }
                _ => (decision, reason),
            });
        }
        if answer.updated_input.is_some() {
            inputs += 1;
            merged.updated_input = answer.updated_input;
        }
        merged.updated_output = answer.updated_output.or(merged.updated_output);
        merged.additional_context.extend(answer.additional_context);
        merged.messages.extend(answer.system_message);
        let error = answer.error.map(|error| format!("hook {name}: {error}"));
        merged.messages.extend(error);
        merged.stop = merged.stop.or(answer.stop);
    }
    if inputs > 1 {
        merged.messages.push(format!(
            "{inputs} hooks changed the same call; the last one in the configuration wins"
        ));
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn deciding(decision: HookDecision, reason: &str) -> Answer {
        Answer {
            decision: Some((decision, reason.to_owned())),
            ..Answer::default()
        }
    }

    fn rewriting(command: &str) -> Answer {
        let input = serde_json::json!({ "command": command });
        Answer {
            updated_input: input.as_object().cloned(),
            ..Answer::default()
        }
    }

    #[test]
    fn the_strictest_decision_and_the_last_change_win() {
        use HookDecision::{Allow, Ask, Block, Defer};
        let merged = merge([
            ("a", deciding(Block, "one")),
            ("b", deciding(Allow, "fine")),
            ("c", deciding(Block, "two")),
            ("d", rewriting("first")),
            ("e", rewriting("last")),
            ("f", deciding(Defer, "later")),
        ]);
        assert_eq!(merged.decision, Some((Block, "one\ntwo".to_owned())));
        assert_eq!(merged.updated_input.unwrap()["command"], "last");
        assert_eq!(merged.messages.len(), 1, "the conflict is reported");
        let asked = merge([("a", deciding(Allow, "fine")), ("b", deciding(Ask, "?"))]);
        assert_eq!(asked.decision, Some((Ask, "?".to_owned())));
    }

    proptest! {
        #[test]
        fn another_answer_never_loosens_a_decision(picks in prop::collection::vec(0..5_usize, 0..8), more in 0..5_usize) {
            use HookDecision::{Allow, Ask, Block, Defer};
            let answer = |pick: usize| match [Allow, Ask, Defer, Block].get(pick) {
                Some(decision) => deciding(*decision, "r"),
                None => Answer::default(),
            };
            let decided = |picks: &[usize]| {
                let answers = picks.iter().map(|pick| ("h", answer(*pick)));
                merge(answers).decision.map(|(decision, _)| decision)
            };
            let strictest = picks.iter().filter(|pick| **pick < 4).max();
            prop_assert_eq!(decided(&picks), strictest.map(|pick| [Allow, Ask, Defer, Block][*pick]));
            let longer = [&picks[..], &[more]].concat();
            prop_assert!(decided(&longer) >= decided(&picks));
        }
    }
}
