//! Properties of any input: no panic, no call lost or changed by how it was split, and no event
//! in a line that the prefilter skips.

use std::fmt::Write;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::recorded_tests::line;
use super::*;
use crate::api::{Api, prefilter_needles};

/// Any JSON value, biased towards the members that decoders read.
fn words(list: &'static str) -> Vec<&'static str> {
    list.split_whitespace().collect()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((word(), inner), 0..7).prop_map(|members| Value::Object(
                members
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()
            )),
        ]
    })
}

/// Returns the names and values that have a meaning in any dialect.
fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(words(
        "type subtype role message content event session_id sessionId sessionID turnpipe id uuid \
         name input tool_use_id choices candidates responseId parts tool_calls function_call \
         tool_call_id delta request request_id parentUuid isSidechain cwd systemPayload part payload \
         call_id tool_id timestamp record_type instructions projectHash $set $rewindTo info messages \
         parentId index content_block partial_json stop_reason finish_reason finishReason function \
         arguments functionCall functionResponse args assistant user model tool tool_use tool_result \
         stream_event message_start content_block_start content_block_delta content_block_stop \
         message_delta message_stop result system init session_start executor control_request \
         interrupt gemini session agent_start thread.started item.completed turn.failed session_meta \
         response_item event_msg turn_context max_tokens {\"a\": 1} {} output_text",
    ))
}

/// Returns records that probably have a meaning.
fn any_record() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(words(
        "assistant user message tool_use tool_result stream_event message_start content_block_start \
         content_block_delta content_block_stop message_delta message_stop system result \
         control_request session item.completed function_call init chat.completion.chunk gemini",
    ));
    (any_json(), prop::option::of(kind), any::<bool>()).prop_map(|(value, kind, is_plain)| {
        let mut record = match value {
            Value::Object(members) => Value::Object(members),
            other => json!({ "message": other }),
        };
        if let Some(kind) = kind {
            record["type"] = json!(kind);
        }
        if is_plain {
            record.to_string()
        } else {
            escape_randomly(&record.to_string())
        }
    })
}

/// Returns the same JSON with one letter of each string escaped. In strings, a letter follows a
/// quote.
fn escape_randomly(json: &str) -> String {
    let mut out = String::new();
    let mut after_quote = false;
    for character in json.chars() {
        if after_quote && (character.is_ascii_alphabetic() || character == '$') {
            write!(out, "\\u{:04x}", u32::from(character)).unwrap();
        } else {
            out.push(character);
        }
        after_quote = character == '"';
    }
    out
}

fn lines(events: &[Event]) -> Vec<String> {
    events.iter().map(line).collect()
}

fn run(records: &[String]) -> Vec<String> {
    let mut decoder = Decoder::with_detection();
    let mut events: Vec<Event> = records
        .iter()
        .flat_map(|record| decoder.record(record))
        .collect();
    events.extend(decoder.finish());
    lines(&events)
}

fn has_needle(record: &str) -> bool {
    prefilter_needles()
        .iter()
        .any(|needle| record.contains(needle))
}

/// Returns a call and the byte positions, rounded to characters, at which its arguments are split.
fn any_call() -> impl Strategy<Value = (String, Vec<usize>)> {
    let input = vec(("[a-z]{1,4}", "\\PC{0,12}"), 0..4).prop_map(|members| {
        let members = members
            .into_iter()
            .map(|(key, value)| (key, Value::from(value)));
        Value::Object(members.collect()).to_string()
    });
    (input, vec(0_usize..80, 0..6))
}

/// Returns the arguments in pieces, some of them empty.
fn pieces(input: &str, cuts: &[usize]) -> Vec<String> {
    let mut cuts: Vec<usize> = cuts
        .iter()
        .map(|cut| input.floor_char_boundary(*cut))
        .chain([0, input.len()])
        .collect();
    cuts.sort_unstable();
    cuts.windows(2)
        .map(|ends| input[ends[0]..ends[1]].to_owned())
        .collect()
}

/// Interleaves the pieces of several calls as `order` decides, keeping the order of each call.
fn deal(pieces: &[Vec<String>], order: &[usize]) -> Vec<(usize, String)> {
    let mut left: Vec<_> = pieces.iter().map(|pieces| pieces.iter()).collect();
    let mut dealt = Vec::new();
    let mut order = order
        .iter()
        .copied()
        .chain(0..)
        .map(|turn| turn % pieces.len());
    while left.iter().any(|pieces| pieces.len() > 0) {
        let call = order.next().unwrap_or_default();
        if let Some(piece) = left[call].next() {
            dealt.push((call, piece.clone()));
        }
    }
    dealt
}

fn expected_calls(inputs: &[(String, Vec<usize>)]) -> Vec<String> {
    let call =
        |(number, (input, _)): (usize, &(String, _))| format!("call t{number} Read {input} @m");
    std::iter::once("message m".to_owned())
        .chain(inputs.iter().enumerate().map(call))
        .chain(["turn ends: Stop".to_owned()])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_panics(records in vec(any_record(), 0..8), text in "\\PC{0,40}") {
        run(&records);
        run(&[text]);
        for dialect in [Api::Anthropic, Api::OpenaiChat, Api::Gemini] {
            let mut decoder = Decoder::for_api(dialect);
            for record in &records {
                decoder.record(record);
            }
            decoder.finish();
        }
    }

    #[test]
    fn a_record_without_a_needle_changes_nothing(records in vec(any_record(), 0..8)) {
        let wanted: Vec<String> =
            records.iter().filter(|record| has_needle(record)).cloned().collect();
        prop_assert_eq!(run(&records), run(&wanted));
    }

    #[test]
    fn every_call_is_followed_by_an_end(records in vec(any_record(), 0..8)) {
        let events = run(&records);
        let is_call = |line: &String| line.starts_with("call") || line.starts_with("invalid");
        let is_end = |line: &String| line.starts_with("turn ends");
        if let Some(last_call) = events.iter().rposition(is_call) {
            prop_assert!(events[last_call..].iter().any(is_end), "{events:?}");
        }
    }

    #[test]
    fn anthropic_calls_do_not_depend_on_how_they_are_cut(
        inputs in vec(any_call(), 1..4),
        order in vec(0_usize..4, 0..12),
        stops_come_last in any::<bool>(),
    ) {
        let mut records = vec![json!({"type": "message_start", "message": {"id": "m"}})];
        let start = |number: usize| json!({
            "type": "content_block_start",
            "index": number,
            "content_block": {"type": "tool_use", "id": format!("t{number}"), "name": "Read", "input": {}},
        });
        let delta = |number: usize, piece: &str| json!({
            "type": "content_block_delta",
            "index": number,
            "delta": {"type": "input_json_delta", "partial_json": piece},
        });
        let stop = |number: usize| json!({"type": "content_block_stop", "index": number});
        let cut: Vec<Vec<String>> =
            inputs.iter().map(|(input, cuts)| pieces(input, cuts)).collect();
        if stops_come_last {
            records.extend((0..cut.len()).map(start));
            records.extend(deal(&cut, &order).iter().map(|(number, piece)| delta(*number, piece)));
            records.extend((0..cut.len()).map(stop));
        } else {
            for (number, pieces) in cut.iter().enumerate() {
                records.push(start(number));
                records.extend(pieces.iter().map(|piece| delta(number, piece)));
                records.push(stop(number));
            }
        }
        records.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
        records.push(json!({"type": "message_stop"}));
        let records: Vec<String> = records.iter().map(Value::to_string).collect();
        prop_assert_eq!(run(&records), expected_calls(&inputs));
    }

    #[test]
    fn openai_calls_do_not_depend_on_how_they_are_cut(
        inputs in vec(any_call(), 1..4),
        order in vec(0_usize..4, 0..12),
        begins_with_all in any::<bool>(),
        repeats_id in any::<bool>(),
    ) {
        let cut: Vec<Vec<String>> =
            inputs.iter().map(|(input, cuts)| pieces(input, cuts)).collect();
        let chunk = |calls: Vec<Value>| json!({
            "id": "m",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": null}],
        });
        let start = |number: usize| json!({
            "index": number,
            "id": format!("t{number}"),
            "function": {"name": "Read", "arguments": ""},
        });
        let delta = |number: usize, piece: &str| {
            let mut call = json!({"index": number, "function": {"arguments": piece}});
            if repeats_id {
                call["id"] = json!(format!("t{number}"));
            }
            chunk(vec![call])
        };
        let mut records = vec![json!({"id": "m", "choices": [{"delta": {"role": "assistant"}}]})];
        if begins_with_all {
            records.push(chunk((0..cut.len()).map(start).collect()));
            records.extend(deal(&cut, &order).iter().map(|(number, piece)| delta(*number, piece)));
        } else {
            for (number, pieces) in cut.iter().enumerate() {
                records.push(chunk(vec![start(number)]));
                records.extend(pieces.iter().map(|piece| delta(number, piece)));
            }
        }
        records.push(json!({"id": "m", "choices": [{"delta": {}, "finish_reason": "tool_calls"}]}));
        records.push(json!({"id": "m", "choices": [], "usage": {}}));
        let records: Vec<String> = records.iter().map(Value::to_string).collect();
        prop_assert_eq!(run(&records), expected_calls(&inputs));
    }

    #[test]
    fn each_block_of_each_message_is_one_call(
        messages in vec((vec((0_usize..3, 0_usize..2), 1..4), 0_usize..4), 1..6),
    ) {
        let mut records = Vec::new();
        let mut expected = 0;
        for (number, (calls, form)) in messages.iter().enumerate() {
            let name = format!("m{number}");
            let ids = ["a", "b", ""];
            let block = |(id, input): &(usize, usize)| json!({
                "type": "tool_use", "id": ids[*id], "name": "x", "input": {"n": input},
            });
            let content: Vec<Value> = calls.iter().map(block).collect();
            let whole = json!({"type": "assistant", "message": {
                "id": name, "role": "assistant", "content": content}});
            let openai = |(id, input): &(usize, usize)| json!({
                "id": ids[*id], "function": {"name": "x", "arguments": format!("{{\"n\":{input}}}")},
            });
            let unnamed: Vec<Value> = calls.iter().map(openai).collect();
            let unnamed = json!({"role": "assistant", "tool_calls": unnamed});
            let mut stream = vec![json!({"type": "message_start", "message": {"id": name}})];
            for (index, block) in content.iter().enumerate() {
                stream.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
                stream.push(json!({"type": "content_block_stop", "index": index}));
            }
            stream.push(json!({"type": "message_stop"}));
            match form {
                0 => records.extend([whole.clone(), whole]),
                1 => records.push(unnamed),
                2 => records.extend(stream),
                _ => records.extend(stream.into_iter().chain([whole])),
            }
            expected += calls.len();
        }
        let records: Vec<String> = records.iter().map(Value::to_string).collect();
        let events = run(&records);
        let calls = events.iter().filter(|line| line.starts_with("call")).count();
        prop_assert_eq!(calls, expected, "{:?}", events);
    }

    #[test]
    fn a_cut_stream_never_lets_its_last_call_run(
        inputs in vec(any_call(), 1..4),
        reason in prop::sample::select(vec!["max_tokens", "refusal"]),
    ) {
        let mut records = vec![json!({"type": "message_start", "message": {"id": "m"}})];
        for (number, (input, cuts)) in inputs.iter().enumerate() {
            records.push(json!({
                "type": "content_block_start",
                "index": number,
                "content_block": {"type": "tool_use", "id": format!("t{number}"), "name": "Read"},
            }));
            records.extend(pieces(input, cuts).iter().map(|piece| json!({
                "type": "content_block_delta",
                "index": number,
                "delta": {"partial_json": piece},
            })));
            records.push(json!({"type": "content_block_stop", "index": number}));
        }
        let complete = inputs.len() - 1;
        for end in [json!({"type": "message_delta", "delta": {"stop_reason": reason}}), json!({})] {
            let records: Vec<String> =
                records.iter().chain([&end]).map(Value::to_string).collect();
            let events = run(&records);
            let calls = events.iter().filter(|line| line.starts_with("call")).count();
            let invalid = format!("invalid t{complete} Read");
            let invalids = events.iter().filter(|line| line.starts_with(&invalid)).count();
            prop_assert_eq!((calls, invalids), (complete, 1), "{:?}", events);
        }
    }
}
