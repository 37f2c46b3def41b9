//! Property tests of all stream formats: unrelated rows in between do not lose, add or move content.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::agent::StreamItem;
use crate::assemble::{Decoder, Event, Source};
use turnpipe_core::message::{Block, Call, Role};

/// Actions of a model in one turn.
#[derive(Debug, Clone)]
struct Turn {
    said: String,
    /// Commands with what they print, and whether they fail.
    calls: Vec<(String, String, bool)>,
}

fn any_turn(calls: Range<usize>) -> impl Strategy<Value = Turn> {
    let call = ("[a-z]{1,6}", "\\PC{0,8}", any::<bool>());
    ("\\PC{1,12}", vec(call, calls)).prop_map(|(said, calls)| Turn { said, calls })
}

fn codex(turns: &[Turn]) -> Vec<Value> {
    let mut rows = vec![json!({"type": "thread.started", "thread_id": "s"})];
    let mut number = 0;
    let mut item = |kind: &str, mut item: Value| {
        item["id"] = json!(format!("item_{number}"));
        number += usize::from(kind == "item.completed");
        json!({"type": kind, "item": item})
    };
    for turn in turns {
        rows.push(item(
            "item.completed",
            json!({"type": "agent_message", "text": turn.said}),
        ));
        for (command, output, fails) in &turn.calls {
            let call = |output: &str, code: Value| {
                json!({"type": "command_execution",
                "command": command, "aggregated_output": output, "exit_code": code})
            };
            rows.push(item("item.started", call("", Value::Null)));
            rows.push(item(
                "item.completed",
                call(output, json!(u8::from(*fails))),
            ));
        }
    }
    rows.push(json!({"type": "turn.completed", "usage": {"input_tokens": 1}}));
    rows
}

fn gemini(turns: &[Turn]) -> Vec<Value> {
    let mut rows = vec![json!({"type": "init", "session_id": "s", "model": "m"})];
    for (turn_number, turn) in turns.iter().enumerate() {
        let id = |number: usize| format!("{turn_number}-{number}");
        let middle = turn.said.floor_char_boundary(turn.said.len() / 2);
        let (first, last) = turn.said.split_at(middle);
        rows.extend([first, last].map(|part| {
            json!({"type": "message", "role": "assistant",
            "content": part, "delta": true})
        }));
        rows.extend(
            turn.calls
                .iter()
                .enumerate()
                .map(|(number, (command, ..))| {
                    json!({
            "type": "tool_use", "tool_name": "Bash", "tool_id": id(number),
            "parameters": {"command": command}})
                }),
        );
        rows.extend(
            turn.calls
                .iter()
                .enumerate()
                .map(|(number, (_, output, fails))| {
                    json!({
            "type": "tool_result", "tool_id": id(number), "output": output,
            "status": if *fails { "error" } else { "success" }})
                }),
        );
        rows.push(json!({"type": "message", "role": "user", "content": "next"}));
    }
    rows
}

fn pi(turns: &[Turn]) -> Vec<Value> {
    let mut rows = vec![json!({"type": "agent_start"})];
    for (turn_number, turn) in turns.iter().enumerate() {
        let id = |number: usize| format!("{turn_number}-{number}");
        let calls = turn.calls.iter().enumerate().map(|(number, (command, ..))| json!({
            "type": "toolCall", "id": id(number), "name": "Bash", "arguments": {"command": command}}));
        let mut content = vec![json!({"type": "text", "text": turn.said})];
        content.extend(calls);
        let message = json!({"role": "assistant", "content": content, "model": "m"});
        rows.push(
            json!({"type": "message_start", "message": {"role": "assistant", "content": []}}),
        );
        rows.push(json!({"type": "message_update", "message": message}));
        rows.push(json!({"type": "message_end", "message": message}));
        for (number, (_, output, fails)) in turn.calls.iter().enumerate() {
            let result = json!({"role": "toolResult", "toolCallId": id(number), "isError": fails,
                "content": [{"type": "text", "text": output}]});
            rows.push(json!({"type": "tool_execution_end", "toolCallId": id(number)}));
            rows.push(json!({"type": "message_end", "message": result}));
        }
        rows.push(json!({"type": "turn_end", "message": message, "toolResults": []}));
    }
    rows
}

fn opencode(turns: &[Turn]) -> Vec<Value> {
    let mut rows = Vec::new();
    for (turn_number, turn) in turns.iter().enumerate() {
        let mut part = |kind: &str, mut part: Value| {
            part["messageID"] = json!(format!("m{turn_number}"));
            rows.push(json!({"type": kind, "sessionID": "s", "part": part}));
        };
        part("step_start", json!({"type": "step-start"}));
        part("text", json!({"type": "text", "text": turn.said}));
        for (number, (command, output, fails)) in turn.calls.iter().enumerate() {
            let (status, output) = if *fails {
                ("error", json!({"error": output}))
            } else {
                ("completed", json!({"output": output}))
            };
            let mut state = json!({"status": status, "input": {"command": command}});
            state
                .as_object_mut()
                .unwrap()
                .extend(output.as_object().unwrap().clone());
            part(
                "tool_use",
                json!({"type": "tool", "tool": "Bash", "state": state,
                "callID": format!("{turn_number}-{number}")}),
            );
        }
        part(
            "step_finish",
            json!({"type": "step-finish", "reason": "stop"}),
        );
    }
    rows
}

/// Returns the words, calls and results in the rows.
fn read_messages(rows: &[String]) -> Vec<String> {
    let mut decoder = Decoder::with_detection();
    let mut heard = Vec::new();
    let mut hear = |source: Source<'_>| {
        let Source::Stream(StreamItem::Message { message, .. }) = source else {
            return;
        };
        for block in message.blocks {
            let input = |call: &Call| serde_json::from_str::<Value>(call.input.get()).unwrap();
            heard.push(match block {
                Block::Text(text) if message.role == Role::Assistant => {
                    format!("said {}", json!(text))
                }
                Block::Call(call) => format!("call {}", input(&call)["command"]),
                Block::Result(result) => {
                    format!("result {} {}", json!(result.text()), result.failed)
                }
                _ => continue,
            });
        }
    };
    for row in rows {
        decoder.decode(row, |decoded| hear(decoded.source));
    }
    decoder.take_unfinished().into_iter().for_each(&mut hear);
    heard
}

/// Returns the expected content, with results directly after each call (`at_once`) or after all calls.
fn expected_messages(turns: &[Turn], at_once: bool) -> Vec<String> {
    let mut expected = Vec::new();
    for turn in turns {
        expected.push(format!("said {}", json!(turn.said)));
        let results = turn.calls.iter();
        let results = results.map(|(_, output, fails)| format!("result {} {fails}", json!(output)));
        let calls = turn
            .calls
            .iter()
            .map(|(command, ..)| format!("call {}", json!(command)));
        if at_once {
            expected.extend(calls.zip(results).flat_map(|(call, result)| [call, result]));
        } else {
            expected.extend(calls.chain(results));
        }
    }
    expected
}

proptest! {
    #[test]
    fn no_message_is_lost(
        turns in vec(any_turn(0..3), 1..4),
        noise in vec((0_usize..40, 0_usize..4), 0..6),
    ) {
        // Meaningless and broken rows.
        let meaningless = [
            r#"{"type":"heartbeat","n":1}"#,
            r#"{"type":"item.updated","item":{"type":"new_kind"}}"#,
            r#"{"type":"tool_call_update","part":{"tool":3}}"#,
            r#"{"type":"message_end","mess"#,
        ];
        let streams = [
            (codex(&turns), true),
            (gemini(&turns), false),
            (pi(&turns), false),
            (opencode(&turns), true),
        ];
        for (stream, at_once) in streams {
            let mut rows: Vec<String> = stream.iter().map(Value::to_string).collect();
            for (place, which) in &noise {
                let place = (1 + place).min(rows.len());
                rows.insert(place, meaningless[*which].to_owned());
            }
            // Codex records this itself.
            let is_other_codex = stream[0]["type"] != "thread.started"
                && noise.iter().any(|(_, which)| *which == 1);
            if !is_other_codex {
                prop_assert_eq!(read_messages(&rows), expected_messages(&turns, at_once), "{:#?}", rows);
            }
        }
    }

    #[test]
    fn every_call_has_one_result_in_its_message(turns in vec(any_turn(1..3), 1..4)) {
        for stream in [codex(&turns), gemini(&turns), pi(&turns), opencode(&turns)] {
            let mut decoder = Decoder::with_detection();
            let mut events = Vec::new();
            for row in &stream {
                events.extend(decoder.record(&row.to_string()));
            }
            events.extend(decoder.finish());
            let count = |wanted: fn(&Event) -> bool| events.iter().filter(|event| wanted(event)).count();
            let expected: usize = turns.iter().map(|turn| turn.calls.len()).sum();
            prop_assert_eq!(count(|event| matches!(event, Event::Call(call) if call.input.is_ok())), expected);
            prop_assert_eq!(count(|event| matches!(event, Event::Result(_))), expected);
            prop_assert_eq!(count(|event| matches!(event, Event::Message(_))), turns.len());
        }
    }
}
