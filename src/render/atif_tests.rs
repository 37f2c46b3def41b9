use proptest::prelude::*;
use serde_json::value::RawValue;

use super::*;
use crate::agent::{Detail, EntryReader, TrajectoryLines, trajectory_format};
use crate::message::{Block, Call, Message, Origin, ResultPart, Role, ToolResult, Usage};

/// Writes a trajectory.
fn write(messages: &[Message], total: &Usage) -> String {
    let mut json = Vec::new();
    let context = TrajectoryContext {
        subagents: &[],
        save: &|_| Ok(None),
        price: &|_, _| None,
    };
    let head = TrajectoryHead::default();
    let mut writer = TrajectoryWriter::new(&mut json, head, *total, context).unwrap();
    for message in messages {
        writer.add_message(message.clone(), false).unwrap();
    }
    writer.finish(Some(total), 0).unwrap();
    json.push(b'}');
    String::from_utf8(json).unwrap()
}

/// Reads a trajectory: its messages, and the tokens that no message has.
fn read(json: &str) -> (Vec<Message>, Usage) {
    let mut lines = Vec::new();
    TrajectoryLines::default().split(json.as_bytes(), &mut lines);
    let (mut reader, mut messages) = (EntryReader::new(trajectory_format()), Vec::new());
    let mut rest = Usage::default();
    for line in String::from_utf8(lines).unwrap().lines() {
        let entry = reader.read(line, Detail::Full).unwrap();
        messages.extend(entry.messages);
        if let Some(cost) = entry.side_cost {
            rest += cost.usage;
        }
    }
    (messages, rest)
}

/// The texts with their roles and origins, the calls, and the results, each in order.
fn contents(messages: &[Message]) -> [Vec<String>; 3] {
    let texts = messages.iter().filter(|message| !message.text().is_empty());
    let texts = texts.map(|one| format!("{:?} {:?} {}", one.role, one.origin, one.text()));
    let calls = messages.iter().flat_map(Message::calls);
    let calls = calls.map(|call| format!("{} {} {}", call.id, call.name, call.input));
    let results = messages.iter().flat_map(Message::results);
    let results = results.map(|one| format!("{} {} {}", one.id, one.failed, one.text()));
    // A result follows its call.
    let mut results: Vec<String> = results.collect();
    results.sort();
    [texts.collect(), calls.collect(), results]
}

fn call(id: u8, input: &str) -> Block {
    Block::Call(Call {
        id: format!("c{id}"),
        name: "Bash".to_owned(),
        input: RawValue::from_string(input.to_owned()).unwrap(),
        signature: None,
    })
}

fn result(id: u8, text: String, failed: bool) -> Block {
    Block::Result(ToolResult {
        id: format!("c{id}"),
        parts: vec![ResultPart::Text(text)],
        failed,
        end: None,
    })
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let input = prop::sample::select(vec![
        "{}",
        r#"{"a":[1.0,{"b":"\\"}]}"#,
        "\"x\"",
        "[1]",
        "null",
    ]);
    let origin = prop::sample::select(vec![Origin::Injected, Origin::Summary, Origin::Prompt]);
    let message = prop_oneof![
        (origin, "[a-z\\\\\"{,]{1,9}").prop_map(|(origin, text)| Message {
            blocks: vec![Block::Text(text)],
            ..Message::new(Role::User, origin)
        }),
        (
            "\\PC{0,9}",
            prop::collection::vec((0..6_u8, input), 0..3),
            0..90_u64
        )
            .prop_map(|(text, calls, output)| Message {
                blocks: std::iter::once(Block::Text(text))
                    .chain(calls.into_iter().map(|(id, input)| call(id, input)))
                    .collect(),
                usage: Some(Usage {
                    input: 7,
                    output,
                    cache_read: 3,
                    ..Usage::default()
                }),
                ..Message::new(Role::Assistant, Origin::Reply)
            }),
        (0..6_u8, "\\PC{0,9}", any::<bool>()).prop_map(|(id, text, failed)| Message {
            blocks: vec![result(id, text, failed)],
            ..Message::new(Role::User, Origin::Results)
        }),
    ];
    prop::collection::vec(message, 0..24)
}

proptest! {
    /// Calls and results in any order, and results of unknown calls.
    #[test]
    fn what_is_written_is_read(messages in messages(), more in 0..9_u64) {
        let mut total = Usage { input: more, ..Usage::default() };
        messages.iter().filter_map(|message| message.usage).for_each(|usage| total += usage);
        let json = write(&messages, &total);
        let (read, rest) = read(&json);
        prop_assert_eq!(contents(&read), contents(&messages), "{}", json);
        let mut sum = rest;
        read.iter().filter_map(|message| message.usage).for_each(|usage| sum += usage);
        prop_assert_eq!(sum.total(), total.total());
        prop_assert_eq!(rest.total(), more);
    }
}

/// Calls that have no result do not hold back the whole session.
#[test]
fn calls_without_a_result_wait_only_so_long() {
    let mut messages = vec![Message {
        blocks: vec![call(0, "{}")],
        ..Message::new(Role::Assistant, Origin::Reply)
    }];
    let note = Message {
        blocks: vec![Block::Text("x".to_owned())],
        ..Message::new(Role::User, Origin::Injected)
    };
    messages.extend(std::iter::repeat_n(note, MAX_WAITING));
    messages.push(Message {
        blocks: vec![result(0, "late".to_owned(), false)],
        ..Message::new(Role::User, Origin::Results)
    });
    let json = write(&messages, &Usage::default());
    assert_eq!(contents(&read(&json).0), contents(&messages));
    assert!(json.contains(r#""tool_call_id":"c0"}"#), "{json}");
}
