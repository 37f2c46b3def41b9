//! Identity of calls: ids repeat or are missing, but each call gets its own result.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::bench::{BYPASS, Bench, Driver, Run, bash, call, pairs, turn};
use crate::skip::is_full_run;

/// All calls are equal; the result is the number of earlier runs.
const COMMAND: &str = "echo x >> log; wc -l < log";

#[derive(Debug, Clone, Copy)]
enum Form {
    Anthropic,
    Stream,
    Openai,
    Chunks,
    Gemini,
    Bare,
}

/// One turn of a model: the ids of its calls, and whether the input has their results.
#[derive(Debug, Clone)]
struct Turn {
    form: Form,
    ids: Vec<Option<&'static str>>,
    is_answered: bool,
}

/// Returns the turns of one process. A server speaks one dialect.
fn any_turns() -> impl Strategy<Value = Vec<Turn>> {
    let form = prop::sample::select(vec![
        Form::Anthropic,
        Form::Stream,
        Form::Openai,
        Form::Chunks,
        Form::Gemini,
        Form::Bare,
    ]);
    let id = prop::sample::select(vec![Some("call_0"), Some("call_1"), None]);
    let turn = (vec(id, 1..4), prop::bool::weighted(0.3));
    (form, vec(turn, 1..4)).prop_map(|(form, turns)| {
        let turns = turns.into_iter().map(|(mut ids, is_answered)| {
            if matches!(form, Form::Bare) {
                // Only their ids distinguish these lines.
                ids.truncate(1);
            }
            Turn {
                form,
                ids,
                is_answered,
            }
        });
        turns.collect()
    })
}

/// Returns the records of a turn; `message` is unique.
fn records(turn: &Turn, message: &str) -> Vec<Value> {
    let calls = || turn.ids.iter().enumerate();
    let arguments = json!({ "command": COMMAND });
    let mut records = match turn.form {
        Form::Anthropic => {
            let block =
                |id| json!({"type": "tool_use", "id": id, "name": "Bash", "input": arguments});
            let content: Vec<Value> = turn.ids.iter().map(block).collect();
            vec![
                json!({"type": "assistant", "message": {"id": message, "role": "assistant", "content": content}}),
            ]
        }
        Form::Stream => {
            let mut records = vec![
                json!({"type": "message_start", "message": {"id": message, "role": "assistant"}}),
            ];
            for (index, id) in calls() {
                records.push(json!({"type": "content_block_start", "index": index,
                    "content_block": {"type": "tool_use", "id": id, "name": "Bash", "input": {}}}));
                records.push(json!({"type": "content_block_delta", "index": index,
                    "delta": {"type": "input_json_delta", "partial_json": arguments.to_string()}}));
                records.push(json!({"type": "content_block_stop", "index": index}));
            }
            records.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
            records
        }
        Form::Openai => {
            let one = |id| {
                json!({"id": id, "type": "function",
                "function": {"name": "Bash", "arguments": arguments.to_string()}})
            };
            let calls: Vec<Value> = turn.ids.iter().map(one).collect();
            vec![json!({"role": "assistant", "content": null, "tool_calls": calls})]
        }
        Form::Chunks => {
            let chunk = |delta: Value, reason: Option<&str>| {
                json!({"id": message, "choices": [
                {"index": 0, "delta": delta, "finish_reason": reason}]})
            };
            let mut records = vec![chunk(json!({"role": "assistant"}), None)];
            records.extend(calls().map(|(index, id)| {
                chunk(
                    json!({"tool_calls": [{"index": index,
                "id": id, "function": {"name": "Bash", "arguments": arguments.to_string()}}]}),
                    None,
                )
            }));
            records.push(chunk(json!({}), Some("tool_calls")));
            records
        }
        Form::Gemini => {
            let part = |id: Option<&str>| match id {
                Some(id) => json!({"functionCall": {"id": id, "name": "Bash", "args": arguments}}),
                None => json!({"functionCall": {"name": "Bash", "args": arguments}}),
            };
            let parts: Vec<Value> = turn.ids.iter().copied().map(part).collect();
            vec![
                json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}),
            ]
        }
        Form::Bare => vec![
            json!({"role": "user", "content": "next"}),
            json!({"type": "tool_use", "id": turn.ids[0], "name": "Bash", "input": arguments}),
        ],
    };
    if turn.is_answered {
        records.extend(turn.ids.iter().map(|id| match id {
            Some(id) => json!({"role": "tool", "tool_call_id": id, "content": "elsewhere"}),
            None => json!({"role": "tool", "name": "Bash", "content": "elsewhere"}),
        }));
    }
    records
}

/// Runs a part of a session.
fn run(bench: &Bench, seed: usize, input: &str, from_file: bool) -> Run {
    let arguments = [&BYPASS[..], &["--session-id", "s"]].concat();
    let mut command = bench.run_tools(&arguments);
    command.env("TURNPIPE_ID_SEED", seed.to_string());
    if from_file {
        let path = bench.write("input", input);
        command.stdin(std::fs::File::open(path).unwrap());
        return Run::of(&command.output().unwrap());
    }
    let mut driver = Driver::start(command);
    driver.send(input);
    driver.finish()
}

/// Returns the ids and texts of a run's results.
fn results(run: &Run) -> Vec<(String, String)> {
    let records = run.records();
    let own = records
        .iter()
        .filter(|record| record["turnpipe"]["outcome"].is_string());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    own.map(|record| {
        let block = &record["message"]["content"][0];
        (text(&block["tool_use_id"]), text(&block["content"]))
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if is_full_run() { 12 } else { 4 }, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn each_call_gets_its_own_result(
        processes in vec((any_turns(), any::<bool>()), 1..4),
    ) {
        let bench = Bench::new();
        let (mut ran, mut made) = (0, BTreeSet::new());
        for (number, (turns, from_file)) in processes.iter().enumerate() {
            let mut input = String::new();
            let mut expected = Vec::new();
            for (position, turn) in turns.iter().enumerate() {
                for record in records(turn, &format!("m{number}-{position}")) {
                    input.push_str(&record.to_string());
                    input.push('\n');
                }
                if !turn.is_answered {
                    expected.extend(turn.ids.iter().copied());
                }
            }
            let run = run(&bench, number, &input, *from_file);
            let results = results(&run);
            prop_assert_eq!(results.len(), expected.len(), "{}\n{:?}", input, run);
            for ((id, text), expected) in results.into_iter().zip(expected) {
                ran += 1;
                prop_assert_eq!(text, ran.to_string(), "{}\n{:?}", input, run);
                match expected {
                    Some(expected) => prop_assert_eq!(id, expected),
                    None => prop_assert!(made.insert(id), "{:?}", run),
                }
            }
        }
    }
}

#[test]
fn generated_ids_are_the_same_for_every_reader_of_the_stream() {
    let bench = Bench::new();
    let reply = json!({"role": "model", "parts": [
        {"functionCall": {"name": "Bash", "args": {"command": "echo a"}}}]});
    let answered = json!({"role": "user", "parts": [
        {"functionResponse": {"name": "Bash", "response": {"output": "x"}}}]});
    let input = format!("{reply}\n{answered}\n{reply}\n");
    let first = bench.run(&BYPASS, input);
    let (id, outcome) = first.outcomes()[0].clone();
    assert_eq!(outcome, "ok");
    assert!(id.starts_with("call_") && id.ends_with("_2"), "{id}");
    // Calls that ran do not run again, and the next call gets the next id.
    let next = format!("{}{reply}\n", first.stdout);
    let second = bench.run(&[&BYPASS[..], &["--execute"]].concat(), next);
    let outcomes = second.outcomes();
    assert_eq!(outcomes.len(), 2, "{second:?}");
    assert_eq!(outcomes[1].0, id.replace("_2", "_3"), "{second:?}");
    let label = bench.shell_with_input("turnpipe summarize-batch", second.stdout.as_bytes());
    let labelled: Vec<Value> = label
        .records()
        .into_iter()
        .filter(|record| record["type"] == "tool_use_summary")
        .map(|record| record["preceding_tool_use_ids"][0].clone())
        .collect();
    assert_eq!(
        labelled[1..],
        [outcomes[0].0.clone(), outcomes[1].0.clone()],
        "{label:?}"
    );
}

#[test]
fn a_call_without_an_id_gets_a_result_in_any_dialect() {
    let openai = json!({"role": "assistant", "tool_calls": [
        {"type": "function", "function": {"name": "Bash", "arguments": "{\"command\":\"exit 3\"}"}}]});
    let old = json!({"role": "assistant", "function_call": {"name": "Bash", "arguments": "{\"command\":\"exit 3\"}"}});
    let block = json!({"type": "tool_use", "name": "Bash", "input": {"command": "exit 3"}});
    let anthropic = json!({"role": "assistant", "content": [block]});
    let nameless = json!({"role": "assistant", "content": [{"type": "tool_use", "input": {}}]});
    for (record, outcome) in [
        (openai, "error"),
        (old, "error"),
        (block, "error"),
        (anthropic, "error"),
        (nameless, "invalid_input"),
    ] {
        let bench = Bench::new();
        let arguments = [&BYPASS[..], &["--strict", "--exit-status"]].concat();
        let run = bench.run(&arguments, format!("{record}\n"));
        assert_eq!(run.outcomes().len(), 1, "{run:?}");
        assert_eq!(run.outcomes()[0].1, outcome);
        assert_eq!(run.status, Some(1));
    }
}

#[test]
fn saved_results_with_one_id_stay_separate() {
    let bench = Bench::new();
    let arguments = [&BYPASS[..], &["--session-id", "s"]].concat();
    for last in ["first", "second"] {
        let run = bench.run(
            &arguments,
            bash("call_0", &format!("seq 1 20000; echo {last}")),
        );
        let path = run.result("call_0")["turnpipe"]["persisted"]["path"].clone();
        let saved = std::fs::read_to_string(path.as_str().unwrap()).unwrap();
        assert!(saved.trim_end().ends_with(last), "{path}");
    }
}

#[test]
fn a_replacement_belongs_to_its_text() {
    let bench = Bench::new();
    let manifest = bench.write(
        "tools.toml",
        "[[tool]]\nname = \"Numbers\"\ndescription = \"Counts.\"\ninput_schema = { type = \"object\", properties = { to = { type = \"integer\" } } }\ncommand = [\"seq\", \"1\", \"{to}\"]\naccess = \"read-only\"\n",
    );
    let arguments = [
        "--tools",
        manifest.to_str().unwrap(),
        "--emit",
        "turn",
        "--session-id",
        "s",
    ];
    let numbers =
        |position: usize, to: u32| call(&format!("call_{position}"), "Numbers", &json!({"to": to}));
    let input: String = (0..6).map(|position| numbers(position, 8800)).collect();
    let run = bench.run(&arguments, input);
    let is_replaced = |id: &String| run.content(id).starts_with("<persisted-output>");
    let ids: Vec<String> = (0..6).map(|position| format!("call_{position}")).collect();
    assert!(is_replaced(&ids[0]), "{run:?}");
    let total: usize = ids
        .iter()
        .map(|id| run.content(id).encode_utf16().count())
        .sum();
    assert!(total <= 200_000, "{total}");
    let other = bench.run(&arguments, numbers(0, 3));
    assert_eq!(other.content("call_0"), "1\n2\n3");
}

#[test]
fn the_same_message_again_is_the_same_call() {
    let bench = Bench::new();
    let reply = turn("m", &[("a", COMMAND)]);
    let run = bench.run(&BYPASS, format!("{reply}{reply}"));
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]));
    let other = turn("n", &[("a", COMMAND)]);
    let run = bench.run(&BYPASS, format!("{reply}{other}"));
    assert_eq!(run.outcomes(), pairs(&[("a", "ok"), ("a", "ok")]));
}
