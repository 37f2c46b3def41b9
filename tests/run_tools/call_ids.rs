//! Calls whose marks repeat, are missing or come late: each runs once, and has one id in the message and in
//! its result, however the reply is cut.

use serde_json::{Value, json};

use crate::bench::{Bench, Run};

/// The ids of the calls of a reply.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Id {
    Own,
    Empty,
    Missing,
    Equal,
    /// With every delta.
    Repeated,
    EmptyAlways,
    EqualAlways,
    /// With the last delta.
    Late,
}

impl Id {
    const WHOLE: [Self; 4] = [Self::Own, Self::Empty, Self::Missing, Self::Equal];
    const STREAMED: [Self; 8] = [
        Self::Own,
        Self::Empty,
        Self::Missing,
        Self::Equal,
        Self::Repeated,
        Self::EmptyAlways,
        Self::EqualAlways,
        Self::Late,
    ];

    /// Adds the id of the call `number` to a whole call, or to a delta.
    fn add(self, part: Value, key: &str, number: usize, place: Place) -> Value {
        let is_sent = match self {
            Self::Missing => false,
            Self::Own | Self::Empty | Self::Equal => matches!(place, Place::Whole | Place::First),
            Self::Repeated | Self::EmptyAlways | Self::EqualAlways => true,
            Self::Late => matches!(place, Place::Whole | Place::Last),
        };
        let id = match self {
            Self::Empty | Self::EmptyAlways => String::new(),
            Self::Equal | Self::EqualAlways => "same".to_owned(),
            _ => format!("own_{number}"),
        };
        set_member(part, key, is_sent.then(|| id.into()))
    }
}

/// The place of a delta in its call.
#[derive(Debug, Clone, Copy)]
enum Place {
    Whole,
    First,
    Middle,
    Last,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Index {
    Own,
    Zero,
    Missing,
}

impl Index {
    const ALL: [Self; 3] = [Self::Own, Self::Zero, Self::Missing];

    fn add(self, part: Value, number: usize) -> Value {
        let index = match self {
            Self::Own => Some(number.into()),
            Self::Zero => Some(0.into()),
            Self::Missing => None,
        };
        set_member(part, "index", index)
    }
}

/// The form of calls in chunks of completions.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cut {
    OneDelta,
    DeltaPerCall,
    Arguments,
    NamesAndArguments,
}

fn set_member(mut part: Value, key: &str, value: Option<Value>) -> Value {
    if let Some(value) = value {
        part[key] = value;
    }
    part
}

/// The calls of each reply, two of them equal.
fn calls() -> [(&'static str, Value); 3] {
    let read = json!({"file_path": "one.txt"});
    let find = json!({"pattern": "*.md"});
    [("Read", read.clone()), ("Read", read), ("Glob", find)]
}

/// A reply as its server prints it.
struct Reply {
    name: String,
    text: String,
    /// The arguments of its calls.
    calls: Vec<Value>,
}

fn reply(name: String, text: String) -> Reply {
    let calls = calls().into_iter().map(|(_, input)| input).collect();
    Reply { name, text, calls }
}

fn events(records: &[Value]) -> String {
    let events = records.iter().map(|record| format!("data: {record}\n\n"));
    events.collect()
}

fn chunk(id: &str, delta: &Value, end: Option<&str>) -> Value {
    json!({"id": id, "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
}

/// Returns the deltas of one call, each in a list of its own.
fn deltas(index: Index, id: Id, cut: Cut, number: usize) -> Vec<Value> {
    let (name, input) = &calls()[number];
    let input = input.to_string();
    let (first, rest) = input.split_at(input.len() / 2);
    let (head, tail) = name.split_at(2);
    let whole = json!({"name": name, "arguments": input});
    let parts = match cut {
        Cut::OneDelta | Cut::DeltaPerCall => vec![whole],
        Cut::Arguments => vec![
            json!({"name": name, "arguments": ""}),
            json!({"arguments": first}),
            json!({"arguments": rest}),
        ],
        Cut::NamesAndArguments => vec![
            json!({"name": head, "arguments": ""}),
            json!({"name": tail}),
            json!({"arguments": first}),
            json!({"arguments": rest}),
        ],
    };
    let last = parts.len() - 1;
    let delta = |(position, function)| {
        let place = match position {
            _ if last == 0 => Place::Whole,
            0 => Place::First,
            _ if position == last => Place::Last,
            _ => Place::Middle,
        };
        let delta = index.add(json!({"function": function}), number);
        id.add(delta, "id", number, place)
    };
    parts.into_iter().enumerate().map(delta).collect()
}

fn completions() -> Vec<Reply> {
    let cuts = [
        Cut::OneDelta,
        Cut::DeltaPerCall,
        Cut::Arguments,
        Cut::NamesAndArguments,
    ];
    let mut replies = Vec::new();
    for (index, id, cut) in Index::ALL.into_iter().flat_map(|index| {
        let rows = Id::STREAMED
            .into_iter()
            .flat_map(move |id| cuts.map(|cut| (index, id, cut)));
        // Nothing tells such a piece of a name from another call.
        rows.filter(|(index, _, cut)| *index != Index::Missing || *cut != Cut::NamesAndArguments)
    }) {
        let name = format!("chunks {index:?} {id:?} {cut:?}");
        let mut lists: Vec<Value> = Vec::new();
        for number in 0..calls().len() {
            lists.extend(
                deltas(index, id, cut, number)
                    .into_iter()
                    .map(|delta| json!([delta])),
            );
        }
        if cut == Cut::OneDelta {
            let all = lists.iter().map(|list| list[0].clone()).collect();
            lists = vec![all];
        }
        let mut records = vec![chunk(
            &name,
            &json!({"role": "assistant", "content": null}),
            None,
        )];
        let list = |calls| chunk(&name, &json!({"tool_calls": calls}), None);
        records.extend(lists.into_iter().map(list));
        records.push(chunk(&name, &json!({}), Some("tool_calls")));
        replies.push(reply(name, events(&records) + "data: [DONE]\n\n"));
    }
    for id in Id::WHOLE {
        let name = format!("completion {id:?}");
        let call = |(number, (name, input)): (usize, (&str, Value))| {
            let call = json!({"type": "function", "function": {"name": name, "arguments": input.to_string()}});
            id.add(call, "id", number, Place::Whole)
        };
        let calls: Vec<Value> = calls().into_iter().enumerate().map(call).collect();
        let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
        let completion = json!({"id": name, "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
        replies.push(reply(name, format!("{completion:#}\n")));
    }
    let old = json!({"name": "Read", "arguments": "{\"file_path\":\"one.txt\"}"});
    let old = json!({"id": "old", "choices": [{"index": 0, "finish_reason": "function_call",
        "message": {"role": "assistant", "content": null, "function_call": old}}]});
    replies.push(Reply {
        calls: vec![json!({"file_path": "one.txt"})],
        ..reply("old form".to_owned(), format!("{old}\n"))
    });
    replies
}

fn anthropic() -> Vec<Reply> {
    let mut replies = Vec::new();
    for id in Id::WHOLE {
        let blocks = calls()
            .into_iter()
            .enumerate()
            .map(|(number, (name, input))| {
                let block = json!({"type": "tool_use", "name": name, "input": input});
                id.add(block, "id", number, Place::Whole)
            });
        let blocks: Vec<Value> = blocks.collect();
        let name = format!("message {id:?}");
        let message = json!({"id": name, "type": "message", "role": "assistant", "content": blocks,
            "stop_reason": "tool_use"});
        replies.push(reply(name, format!("{message:#}\n")));
        for index in Index::ALL {
            let name = format!("events {index:?} {id:?}");
            let mut records = vec![
                json!({"type": "message_start", "message": {"id": name, "role": "assistant"}}),
            ];
            for (number, block) in blocks.iter().enumerate() {
                let mut start = block.clone();
                let input = start["input"].take().to_string();
                start["input"] = json!({});
                let (first, rest) = input.split_at(4);
                let delta = |json| {
                    json!({"type": "content_block_delta",
                    "delta": {"type": "input_json_delta", "partial_json": json}})
                };
                let parts = [
                    json!({"type": "content_block_start", "content_block": start}),
                    delta(""),
                    delta(first),
                    delta(rest),
                    json!({"type": "content_block_stop"}),
                ];
                records.extend(parts.map(|part| index.add(part, number)));
            }
            records.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
            records.push(json!({"type": "message_stop"}));
            replies.push(reply(name, events(&records)));
        }
    }
    replies
}

fn responses() -> Vec<Reply> {
    let mut replies = Vec::new();
    for id in Id::WHOLE {
        let items = calls()
            .into_iter()
            .enumerate()
            .map(|(number, (name, input))| {
                let item =
                    json!({"type": "function_call", "name": name, "arguments": input.to_string()});
                id.add(item, "call_id", number, Place::Whole)
            });
        let items: Vec<Value> = items.collect();
        let response = |name: &str, output: &[Value]| {
            json!({"id": name, "object": "response",
            "status": "completed", "output": output})
        };
        let name = format!("response {id:?}");
        replies.push(reply(
            name.clone(),
            format!("{:#}\n", response(&name, &items)),
        ));
        let name = format!("events {id:?}");
        let mut records =
            vec![json!({"type": "response.created", "response": response(&name, &[])})];
        let done = |item| json!({"type": "response.output_item.done", "item": item});
        records.extend(items.iter().map(done));
        records.push(json!({"type": "response.completed", "response": response(&name, &items)}));
        replies.push(reply(name, events(&records)));
    }
    replies
}

fn gemini() -> Vec<Reply> {
    let mut replies = Vec::new();
    for id in Id::WHOLE {
        let parts = calls()
            .into_iter()
            .enumerate()
            .map(|(number, (name, input))| {
                let call = json!({"name": name, "args": input});
                json!({"functionCall": id.add(call, "id", number, Place::Whole)})
            });
        let parts: Vec<Value> = parts.collect();
        let said = |name: &str, parts: &[Value], end: Option<&str>| {
            json!({"responseId": name,
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": end}]})
        };
        let name = format!("content {id:?}");
        let whole = said(&name, &parts, Some("STOP"));
        replies.push(reply(name, format!("{whole:#}\n")));
        let name = format!("events {id:?}");
        let mut records: Vec<Value> = parts
            .iter()
            .map(|part| said(&name, std::slice::from_ref(part), None))
            .collect();
        records.push(said(&name, &[], Some("STOP")));
        replies.push(reply(name, events(&records)));
    }
    replies
}

fn ollama() -> Vec<Reply> {
    let mut replies = Vec::new();
    for id in Id::WHOLE {
        let calls = calls()
            .into_iter()
            .enumerate()
            .map(|(number, (name, input))| {
                let call = json!({"function": {"name": name, "arguments": input}});
                id.add(call, "id", number, Place::Whole)
            });
        let calls: Vec<Value> = calls.collect();
        let said = |calls: &[Value], is_done: bool| {
            json!({"model": "m", "done": is_done,
            "message": {"role": "assistant", "content": "", "tool_calls": calls}})
        };
        let whole = said(&calls, true);
        replies.push(reply(format!("reply {id:?}"), format!("{whole}\n")));
        let mut lines: Vec<String> = calls
            .iter()
            .map(|call| format!("{}\n", said(std::slice::from_ref(call), false)))
            .collect();
        lines.push(format!("{}\n", said(&[], true)));
        replies.push(reply(format!("lines {id:?}"), lines.concat()));
    }
    replies
}

/// A call in a message, or its result: its id, and its arguments or its text.
type Part = (Option<String>, Value);

/// Returns the calls and results in a line for the next request.
fn parts(api: &str, line: &Value) -> (Vec<Part>, Vec<Part>) {
    let id = |part: &Value, key: &str| part[key].as_str().map(str::to_owned);
    let list = |key: &str| line[key].as_array().cloned().unwrap_or_default();
    let arguments = |raw: &Value| match raw.as_str() {
        Some(text) => serde_json::from_str(text).unwrap(),
        None => raw.clone(),
    };
    match (api, line["role"].as_str(), line["type"].as_str()) {
        ("openai" | "ollama", Some("assistant"), _) => {
            let call = |call: &Value| (id(call, "id"), arguments(&call["function"]["arguments"]));
            (list("tool_calls").iter().map(call).collect(), Vec::new())
        }
        ("openai" | "ollama", Some("tool"), _) => {
            let result = (id(line, "tool_call_id"), line["content"].clone());
            (Vec::new(), vec![result])
        }
        ("anthropic", Some("assistant"), _) => {
            let call = |block: &Value| (id(block, "id"), block["input"].clone());
            (list("content").iter().map(call).collect(), Vec::new())
        }
        ("anthropic", Some("user"), _) => {
            let result = |block: &Value| (id(block, "tool_use_id"), block["content"].clone());
            (Vec::new(), list("content").iter().map(result).collect())
        }
        ("gemini", Some("model"), _) => {
            let call = |part: &Value| {
                let call = &part["functionCall"];
                (id(call, "id"), call["args"].clone())
            };
            (list("parts").iter().map(call).collect(), Vec::new())
        }
        ("gemini", Some("user"), _) => {
            let result = |part: &Value| {
                let result = &part["functionResponse"];
                (id(result, "id"), result["response"]["output"].clone())
            };
            (Vec::new(), list("parts").iter().map(result).collect())
        }
        ("responses", _, Some("function_call")) => {
            let call = (id(line, "call_id"), arguments(&line["arguments"]));
            (vec![call], Vec::new())
        }
        ("responses", _, Some("function_call_output")) => (
            Vec::new(),
            vec![(id(line, "call_id"), line["output"].clone())],
        ),
        _ => panic!("{api}: {line}"),
    }
}

fn check(api: &str, replies: &[Reply], run: &Run) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for line in run.stdout.lines() {
        let (more_calls, more_results) = parts(api, &serde_json::from_str(line).unwrap());
        calls.extend(more_calls);
        results.extend(more_results);
    }
    let needs_ids = !matches!(api, "gemini" | "ollama");
    for reply in replies {
        let name = format!("{api}: {}", reply.name);
        for input in &reply.calls {
            assert!(!calls.is_empty() && !results.is_empty(), "{name}: {run:?}");
            let ((id, arguments), (answered, text)) = (calls.remove(0), results.remove(0));
            assert_eq!(arguments, *input, "{name}");
            assert_eq!(id, answered, "{name}: {text}");
            let expected = if input["pattern"].is_null() {
                "first"
            } else {
                "two.md"
            };
            assert!(text.as_str().unwrap().contains(expected), "{name}: {text}");
            match id {
                Some(id) => assert!(!id.is_empty(), "{name}"),
                None => assert!(!needs_ids, "{name}"),
            }
        }
    }
    assert_eq!((calls, results), (Vec::new(), Vec::new()), "{api}");
    assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{api}");
}

#[test]
fn a_call_and_its_result_have_one_id_whatever_marks_the_call() {
    let bench = Bench::new();
    bench.write("one.txt", "first\n");
    bench.write("two.md", "second\n");
    for (api, replies) in [
        ("openai", completions()),
        ("anthropic", anthropic()),
        ("responses", responses()),
        ("gemini", gemini()),
        ("ollama", ollama()),
    ] {
        let texts: Vec<&str> = replies.iter().map(|reply| &*reply.text).collect();
        let input = texts.concat().into_bytes();
        check(
            api,
            &replies,
            &bench.run(&["--results", api], input.clone()),
        );
        check(
            api,
            &replies,
            &bench.run_in_pieces(
                &["--results", api],
                input.split_inclusive(|byte| *byte == b'\n'),
            ),
        );
        check(
            api,
            &replies,
            &bench.run_in_pieces(&["--results", api], input.chunks(1)),
        );
    }
}
