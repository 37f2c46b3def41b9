//! Throughput of building a request from a conversation of about a megabyte: reading records, the history for
//! the API, the body.
//!
//! `cargo bench --bench turn_request` prints MB/s of the conversation for each step, the median and the best of
//! several rounds.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use turnpipe::assemble::DialogStream;
use turnpipe::client::model::{
    Connector, Delivery, KeyCheck, Model, ModelDeps, ModelSettings, PromptId, Provider, Request,
    SharedPrefix,
};
use turnpipe::io::{Environment, RandomIds, SystemClock};
use turnpipe::process::Supervisor;
use turnpipe::run::turn::History;

const SIZE: usize = 1_000_000;
const ROUNDS: usize = 101;

#[expect(clippy::cast_precision_loss, reason = "well below 2^53")]
fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    let records = conversation();
    let size = records.iter().map(String::len).sum::<usize>();
    for provider in ["openai", "anthropic", "gemini"] {
        let model = provider_of(provider);
        let mut steps = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            let mut times = Vec::new();
            let mut last = Instant::now();
            let mut lap = || {
                let time = std::mem::replace(&mut last, Instant::now()).elapsed();
                times.push(time);
            };
            let mut history = History::default();
            let mut stream = DialogStream::default();
            for record in &records {
                stream.read_record(record, &mut |message| history.add(message));
            }
            stream.finish(&mut |message| history.add(message));
            lap();
            let turns = history.into_turns("m").map_err(io::Error::other)?;
            lap();
            let request = Request {
                turns,
                shared: SharedPrefix::Conversation,
                ..Request::new(PromptId::MAIN, 9000)
            };
            let body = model.body(&request, Delivery::Streamed);
            lap();
            assert!(body.len() > size / 2);
            times.push(times[1] + times[2]);
            for (step, time) in steps.iter_mut().zip(times) {
                step.push(time);
            }
        }
        writeln!(out, "{provider}, {size} bytes")?;
        let names = ["records", "history", "body", "history and body"];
        for (name, times) in names.iter().zip(&mut steps) {
            times.sort_unstable();
            let speed = |time: Duration| size as f64 / time.as_secs_f64() / 1e6;
            let (median, best) = (speed(times[ROUNDS / 2]), speed(times[0]));
            writeln!(out, "  {name:<18}{median:>8.0} MB/s, best {best:>8.0} MB/s")?;
        }
    }
    Ok(())
}

fn provider_of(provider: &str) -> Arc<dyn Provider> {
    let deps = ModelDeps {
        environment: Environment::default(),
        clock: Arc::new(SystemClock::default()),
        ids: Arc::new(RandomIds),
        children: Supervisor::default(),
    };
    let connector = Connector::new(ModelSettings::default(), deps, KeyCheck::Optional);
    let name = format!("{provider}:m").parse();
    match name.map(|name| connector.connect(&name)) {
        Ok(Ok(Model::Provider(provider))) => provider,
        _ => unreachable!("{provider} is known"),
    }
}

/// A session file: a prompt, and replies with a text and two calls whose results are code.
fn conversation() -> Vec<String> {
    let code = "    let name = \"value\";\n\tif x > 0 { return Err(\"no\\n\"); } // é\n".repeat(60);
    let mut records = vec![record(
        "user",
        "",
        &json!([{"type": "text", "text": "Mend it"}]),
    )];
    while records.iter().map(String::len).sum::<usize>() < SIZE {
        let number = records.len();
        let call = |which: &str, name: &str, input: Value| json!({"type": "tool_use", "id": format!("call_{which}{number}"), "name": name, "input": input});
        let result = |which: &str| json!({"type": "tool_result", "tool_use_id": format!("call_{which}{number}"), "content": code});
        let said = "I look at the parser first, since the error names it. ".repeat(5);
        let path = json!({"file_path": format!("/w/src/parser_{number}.rs"), "limit": 200});
        records.push(record(
            "assistant",
            &format!("m{number}"),
            &json!([
                {"type": "text", "text": said},
                call("a", "Read", path),
                call("b", "Bash", json!({"command": "cargo test 2>&1 | tail -50"})),
            ]),
        ));
        records.push(record("user", "", &json!([result("a"), result("b")])));
    }
    records
}

fn record(role: &str, id: &str, content: &Value) -> String {
    json!({"type": role, "uuid": "u", "sessionId": "s", "message": {"id": id, "role": role, "model": "m", "content": content}})
        .to_string()
}
