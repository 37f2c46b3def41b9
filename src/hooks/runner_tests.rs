use proptest::prelude::*;

use super::*;

fn deciding(decision: HookDecision, reason: &str) -> HookResponse {
    HookResponse {
        decision: Some((decision, reason.to_owned())),
        ..HookResponse::default()
    }
}

fn rewriting(command: &str) -> HookResponse {
    let input = serde_json::json!({ "command": command });
    HookResponse {
        updated_input: input.as_object().cloned(),
        ..HookResponse::default()
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
    fn another_response_never_loosens_a_decision(picks in prop::collection::vec(0..5_usize, 0..8), more in 0..5_usize) {
        use HookDecision::{Allow, Ask, Block, Defer};
        let response = |pick: usize| match [Allow, Ask, Defer, Block].get(pick) {
            Some(decision) => deciding(*decision, "r"),
            None => HookResponse::default(),
        };
        let decided = |picks: &[usize]| {
            let responses = picks.iter().map(|pick| ("h", response(*pick)));
            merge(responses).decision.map(|(decision, _)| decision)
        };
        let strictest = picks.iter().filter(|pick| **pick < 4).max();
        prop_assert_eq!(decided(&picks), strictest.map(|pick| [Allow, Ask, Defer, Block][*pick]));
        let longer = [&picks[..], &[more]].concat();
        prop_assert!(decided(&longer) >= decided(&picks));
    }
}
