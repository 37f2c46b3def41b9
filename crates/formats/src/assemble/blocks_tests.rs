use proptest::prelude::*;

use super::*;

fn assembly(taken: &[&str]) -> BlockBuilder {
    BlockBuilder::new(taken.iter().copied())
}

fn blocks(outputs: Vec<Output>) -> Vec<String> {
    let block = |output| match output {
        Output::Block(Block::Text(text)) => Some(format!("text {text}")),
        Output::Block(Block::Thinking(Thought::Plain(text))) => Some(format!("thought {text}")),
        Output::Block(Block::Thinking(Thought::Signed { text, signature })) => {
            Some(format!("thought {text} signed {signature}"))
        }
        Output::Block(Block::Thinking(Thought::Redacted { data })) => {
            Some(format!("redacted {data}"))
        }
        Output::Block(Block::Call(call)) => {
            let signature = call.signature.unwrap_or_default();
            Some(format!(
                "call {} {} {}{signature}",
                call.id,
                call.name,
                call.input.get()
            ))
        }
        Output::Block(_) | Output::Event(_) => None,
    };
    outputs.into_iter().filter_map(block).collect()
}

fn call_begins(index: usize, id: &str) -> ReplyPart {
    ReplyPart::CallBegins {
        index,
        id: id.to_owned(),
        name: "Read".to_owned(),
    }
}

fn input(index: usize, fragment: &str) -> ReplyPart {
    ReplyPart::CallInput {
        index,
        fragment: fragment.to_owned(),
    }
}

fn text(text: &str) -> ReplyPart {
    ReplyPart::Text(text.to_owned())
}

#[test]
fn a_block_is_complete_when_the_next_one_begins() {
    let mut assembly = assembly(&["old"]);
    let steps = [
        (ReplyPart::Thinking("h".to_owned()), vec![]),
        (ReplyPart::Thinking("m".to_owned()), vec![]),
        (ReplyPart::Signature("sig".to_owned()), vec![]),
        (
            ReplyPart::RedactedThinking("xx".to_owned()),
            vec!["thought hm signed sig"],
        ),
        (text("I "), vec!["redacted xx"]),
        (text("read."), vec![]),
        (call_begins(0, "c"), vec!["text I read."]),
        (input(0, "{\"a\""), vec![]),
        (input(0, ":1}"), vec![]),
        (call_begins(1, "d"), vec!["call c Read {\"a\":1}"]),
        (ReplyPart::Signature("g".to_owned()), vec![]),
    ];
    for (event, expected) in steps {
        assert_eq!(blocks(assembly.take(event.clone())), expected, "{event:?}");
    }
    assert_eq!(blocks(assembly.finish(true)), ["call d Read {}g"]);
}

#[test]
fn inputs_that_mix_wait_for_each_other() {
    let mut assembly = assembly(&[]);
    let events = [
        call_begins(0, "a"),
        call_begins(1, "b"),
        input(1, "{\"b\":"),
        input(0, "{}"),
        input(1, "2}"),
    ];
    for event in events {
        assert!(blocks(assembly.take(event)).is_empty());
    }
    let all = blocks(assembly.finish(true));
    assert_eq!(all, ["call a Read {}", "call b Read {\"b\":2}"]);
}

#[test]
fn a_call_that_was_cut_off_is_omitted() {
    let mut assembly = assembly(&[]);
    for event in [
        text("I read."),
        call_begins(0, "a"),
        input(0, "{}"),
        call_begins(1, "b"),
        input(1, "{\"p"),
    ] {
        assembly.take(event);
    }
    assert!(blocks(assembly.finish(false)).is_empty());
    let whole = [call_begins(0, "a"), input(0, "{\"path\":\"x\"}")];
    for (next, expected) in [(None, 0), (Some(call_begins(1, "b")), 1)] {
        let mut assembly = self::assembly(&[]);
        let events = whole.clone().into_iter().chain(next);
        let mut found: Vec<String> = events
            .flat_map(|event| blocks(assembly.take(event)))
            .collect();
        found.extend(blocks(assembly.finish(false)));
        assert_eq!(found.len(), expected, "{found:?}");
    }
}

#[test]
fn ids_are_new_in_the_conversation() {
    let mut assembly = assembly(&["call_0"]);
    for index in 0..2 {
        assembly.take(call_begins(index, "call_0"));
    }
    let ids: Vec<String> = blocks(assembly.finish(true))
        .iter()
        .map(|call| call.split(' ').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!(ids, ["call_0_2", "call_0_3"]);
}

#[test]
fn a_restart_begins_again() {
    let mut assembly = assembly(&[]);
    assembly.take(text("I w"));
    assembly.restart();
    let outputs = assembly.take(text("I will."));
    let Output::Event(begun) = &outputs[0] else {
        panic!("{outputs:?}");
    };
    assert_eq!(begun["index"], 0);
    assert_eq!(blocks(assembly.finish(true)), ["text I will."]);
}

#[test]
fn input_that_is_not_an_object_stays_visible() {
    let mut assembly = assembly(&[]);
    for event in [call_begins(0, "a"), input(0, "rm -rf")] {
        assembly.take(event);
    }
    assert_eq!(blocks(assembly.finish(true)), ["call a Read \"rm -rf\""]);
}

fn any_event() -> impl Strategy<Value = ReplyPart> {
    prop_oneof![
        "[a-z ]{1,4}".prop_map(ReplyPart::Text),
        "[a-z]{1,4}".prop_map(ReplyPart::Thinking),
        "[A-Z]{1,3}".prop_map(ReplyPart::Signature),
        (0..4_usize).prop_map(|index| call_begins(index, "x")),
        (0..4_usize, r#"[{}":a1]{1,4}"#).prop_map(|(index, fragment)| input(index, &fragment)),
    ]
}

proptest! {
    /// The events, joined by a client, have the same content as the records.
    #[test]
    fn events_are_well_formed(events in prop::collection::vec(any_event(), 0..20)) {
        let mut assembly = assembly(&[]);
        let mut outputs: Vec<Output> = events.into_iter().flat_map(|event| assembly.take(event)).collect();
        outputs.extend(assembly.finish(true));
        let (mut begun, mut ended) = (0, 0);
        for output in &outputs {
            let Output::Event(event) = output else { continue };
            let index = event["index"].as_u64().unwrap();
            match event["type"].as_str().unwrap() {
                "content_block_start" => {
                    prop_assert_eq!(index, begun);
                    begun += 1;
                }
                "content_block_delta" => prop_assert!(ended <= index && index < begun),
                "content_block_stop" => {
                    prop_assert_eq!(index, ended);
                    ended += 1;
                }
                other => prop_assert!(false, "{other}"),
            }
        }
        prop_assert_eq!(begun, ended);
    }
}
