use std::collections::HashSet;

use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;
use crate::message::Thought;

fn call(id: &str) -> Block {
    Block::Call(Call {
        id: id.to_owned(),
        name: "Read".to_owned(),
        input: RawValue::from_string("{}".to_owned()).unwrap(),
        signature: None,
    })
}

fn result(id: &str, text: &str) -> Block {
    Block::Result(ToolResult {
        id: id.to_owned(),
        parts: vec![ResultPart::Text(text.to_owned())],
        failed: false,
        end: None,
    })
}

fn text(text: &str) -> Block {
    Block::Text(text.to_owned())
}

fn message(origin: Origin, id: &str, blocks: Vec<Block>) -> Message {
    let role = match origin {
        Origin::Reply => Role::Assistant,
        _ => Role::User,
    };
    Message {
        id: (!id.is_empty()).then(|| id.to_owned()),
        model: Some("m".to_owned()),
        blocks,
        ..Message::new(role, origin)
    }
}

/// Returns a letter for each block, with a bar between turns: `t`ext, thought`s`, `c`all and `r`esult
/// with their ids, and `!` for the text of a missing result.
fn outline(turns: &[Turn]) -> String {
    let block = |block: &Block| match block {
        Block::Text(text) => format!("t:{text}"),
        Block::Thinking(_) => "s".to_owned(),
        Block::Call(call) => format!("c:{}", call.id),
        Block::Result(result) if result.failed => format!("!:{}", result.id),
        Block::Result(result) => format!("r:{}={}", result.id, result.text()),
        Block::Media(_) => "m".to_owned(),
    };
    let turn = |turn: &Turn| {
        let blocks: Vec<String> = turn.blocks.iter().map(block).collect();
        blocks.join(" ")
    };
    turns.iter().map(turn).collect::<Vec<_>>().join(" | ")
}

fn history(messages: Vec<Message>) -> History {
    let mut history = History::default();
    for message in messages {
        history.add(message);
    }
    history
}

#[test]
fn sessions_become_conversations_that_apis_accept() {
    use Origin::{Error, Injected, Label, Prompt, Reply, Results, Summary};
    let rows = [
        (
            "siblings with results between them",
            vec![
                message(Prompt, "", vec![text("go")]),
                message(Reply, "a", vec![text("on it"), call("1")]),
                message(Results, "", vec![result("1", "x")]),
                message(Reply, "a", vec![call("2")]),
                message(Results, "", vec![result("2", "y")]),
            ],
            "t:go | t:on it c:1 c:2 | r:1=x r:2=y",
        ),
        (
            "results in another order, one missing, one without a call",
            vec![
                message(Prompt, "", vec![text("go")]),
                message(Reply, "a", vec![call("1"), call("2"), call("3")]),
                message(Results, "", vec![result("3", "z"), result("9", "?")]),
                message(Results, "", vec![result("1", "x")]),
                message(Prompt, "", vec![text("stop")]),
            ],
            "t:go | c:1 c:2 c:3 | r:1=x !:2 r:3=z t:stop",
        ),
        (
            "ids that come again",
            vec![
                message(Prompt, "", vec![text("go")]),
                message(Reply, "a", vec![call("call_0")]),
                message(Results, "", vec![result("call_0", "x")]),
                message(Reply, "b", vec![call("call_0"), call("call_0")]),
                message(
                    Results,
                    "",
                    vec![result("call_0", "y"), result("call_0", "z")],
                ),
            ],
            "t:go | c:call_0 | r:call_0=x | c:call_0_2 c:call_0_3 | r:call_0_2=y r:call_0_3=z",
        ),
        (
            "ids that some APIs refuse",
            vec![
                message(Prompt, "", vec![text("go")]),
                message(Reply, "a", vec![call("functions.Read:0"), call("")]),
                message(
                    Results,
                    "",
                    vec![result("", "y"), result("functions.Read:0", "x")],
                ),
            ],
            "t:go | c:functions_Read_0 c:call | r:functions_Read_0=x r:call=y",
        ),
        (
            "what the model was not told",
            vec![
                message(Summary, "", vec![text("before")]),
                message(Injected, "", vec![text("context")]),
                message(Prompt, "", vec![text("go")]),
                message(Error, "", vec![text("overloaded")]),
                message(Label, "", vec![text("Read a")]),
            ],
            "t:before t:context t:go",
        ),
        (
            "replies without ids",
            vec![
                message(Prompt, "", vec![text("go")]),
                message(Reply, "", vec![text("a")]),
                message(Reply, "", vec![call("1")]),
                message(Results, "", vec![result("1", "x")]),
                message(Reply, "", vec![call("2")]),
            ],
            "t:go | t:a c:1 | r:1=x | c:2 | !:2",
        ),
    ];
    for (name, messages, expected) in rows {
        let turns = history(messages).into_turns("m").unwrap();
        assert_eq!(outline(&turns), expected, "{name}");
    }
}

#[test]
fn thinking_goes_back_to_its_model() {
    let signed = Block::Thinking(Thought::Signed {
        text: "hm".to_owned(),
        signature: "s".to_owned(),
    });
    let messages = vec![
        message(Origin::Prompt, "", vec![text("go")]),
        message(
            Origin::Reply,
            "a",
            vec![Block::thinking("plain"), signed, call("1")],
        ),
        message(Origin::Results, "", vec![result("1", "x")]),
    ];
    let turns = |model| outline(&history(messages.clone()).into_turns(model).unwrap());
    assert_eq!(turns("m"), "t:go | s s c:1 | r:1=x");
    assert_eq!(turns("other"), "t:go | c:1 | r:1=x");
}

#[test]
fn an_empty_conversation_is_an_error() {
    let empty = History::default().into_turns("m");
    assert_eq!(empty.unwrap_err(), NothingToAnswer::Empty);
    let answered = vec![
        message(Origin::Prompt, "", vec![text("go")]),
        message(Origin::Reply, "a", vec![text("done")]),
    ];
    let answered = history(answered).into_turns("m");
    assert_eq!(answered.unwrap_err(), NothingToAnswer::Answered);
}

#[test]
fn replies_count_from_the_last_prompt() {
    let mut history = history(vec![
        message(Origin::Prompt, "", vec![text("go")]),
        message(Origin::Reply, "a", vec![call("1")]),
        message(Origin::Results, "", vec![result("1", "x")]),
        message(Origin::Reply, "b", vec![call("2")]),
    ]);
    assert_eq!(history.replies(), 2);
    history.add(message(Origin::Prompt, "", vec![text("on")]));
    assert_eq!(history.replies(), 0);
}

/// Returns a conversation with one turn whose results are too long together.
fn long_history() -> History {
    history(vec![
        message(Origin::Prompt, "", vec![text("go")]),
        message(Origin::Reply, "a", vec![call("1"), call("2")]),
        message(Origin::Results, "", vec![result("1", &"x".repeat(150_000))]),
        message(Origin::Results, "", vec![result("2", &"y".repeat(120_000))]),
    ])
}

#[test]
fn replacements_of_long_results_are_final() {
    let mut first = long_history();
    let mut asked = Vec::new();
    first.shorten(|id, text| {
        asked.push(id.to_owned());
        Some(format!("saved: {}", &text[..64]))
    });
    assert_eq!(asked, ["1"]);
    let first = outline(&first.into_turns("m").unwrap());
    // A turn later, sent results are unchanged.
    let mut later = long_history();
    later.add_replacement("1".to_owned(), format!("saved: {}", "x".repeat(64)));
    // The result of another call with this id.
    later.add_replacement("2".to_owned(), format!("saved: {}", "z".repeat(64)));
    later.add(message(Origin::Reply, "b", vec![call("3")]));
    later.shorten(|id, _| unreachable!("{id} was decided before"));
    let later = outline(&later.into_turns("m").unwrap());
    assert!(later.starts_with(&first), "{first}\n{later}");
}

fn block() -> impl Strategy<Value = (bool, String, u8)> {
    (any::<bool>(), "[ab]{0,2}", 0..4_u8)
}

proptest! {
    #[test]
    fn every_call_has_one_result_directly_after_it(parts in prop::collection::vec(block(), 0..24)) {
        let messages = parts.iter().enumerate().map(|(number, (is_reply, id, kind))| {
            let blocks = match (is_reply, kind) {
                (true, 0) => vec![text("said")],
                (true, _) => vec![call(id), call("a")],
                (false, 0) => vec![text("told")],
                (false, _) => vec![result(id, &format!("{number}"))],
            };
            let origin = match (is_reply, kind) {
                (true, _) => Origin::Reply,
                (false, 0) => Origin::Prompt,
                (false, _) => Origin::Results,
            };
            message(origin, if *kind == 3 { "same" } else { "" }, blocks)
        });
        let Ok(turns) = history(messages.collect()).into_turns("m") else {
            return Ok(());
        };
        let mut ids = HashSet::new();
        for (position, turn) in turns.iter().enumerate() {
            let calls: Vec<&str> = turn.blocks.iter().filter_map(|block| match block {
                Block::Call(call) => Some(call.id.as_str()),
                _ => None,
            }).collect();
            for id in &calls {
                prop_assert!(ids.insert((*id).to_owned()), "{}", outline(&turns));
            }
            let results: Vec<&str> = turn.blocks.iter().filter_map(|block| match block {
                Block::Result(result) => Some(result.id.as_str()),
                _ => None,
            }).collect();
            if !calls.is_empty() {
                let next: Vec<&str> = turns[position + 1].blocks.iter().filter_map(|block| match block {
                    Block::Result(result) => Some(result.id.as_str()),
                    _ => None,
                }).collect();
                prop_assert_eq!(&calls, &next);
            }
            let answers_calls = position > 0
                && turns[position - 1].blocks.iter().any(|block| matches!(block, Block::Call(_)));
            prop_assert!(results.is_empty() || answers_calls);
        }
    }
}

#[test]
fn equal_ids_are_numbered_without_counting_again() {
    let mut taken = HashMap::from([("call_3".to_owned(), 1)]);
    let ids: Vec<String> = (0..50_000)
        .map(|_| make_unique_id("call", &mut taken))
        .collect();
    assert_eq!(ids[..4], ["call", "call_2", "call_4", "call_5"]);
    assert_eq!(ids.last().unwrap(), "call_50001");
    let long = "x".repeat(80);
    let ids = [0, 1].map(|_| make_unique_id(&long, &mut taken));
    assert_eq!(ids, ["x".repeat(40), format!("{}_2", "x".repeat(38))]);
}
