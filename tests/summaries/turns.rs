//! `turn` and the loop around it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::files::records;
use crate::server::{Answer, Server, completion, run_with_input, text_reply};
use crate::skip::search_path;
use crate::turnpipe::Run;

/// Returns a server that calls a tool until it sees a result, then reports that it is done.
fn agent(calls: Value) -> Server {
    Server::start(Duration::ZERO, agent_answer(calls))
}

fn agent_answer(calls: Value) -> Box<Answer> {
    Box::new(move |body| {
        let messages = body["messages"].as_array().unwrap();
        let answered = messages.last().unwrap()["role"] == "tool";
        let message = if answered {
            json!({"role": "assistant", "content": "Done."})
        } else {
            json!({"role": "assistant", "content": "I look.", "tool_calls": calls})
        };
        (200, completion(&message))
    })
}

fn call(id: &str, command: &str) -> Value {
    let arguments = json!({ "command": command }).to_string();
    json!({"id": id, "type": "function", "function": {"name": "Bash", "arguments": arguments}})
}

fn turn(server: &Server, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = server.command(&[&["turn", "--model", "openai:gpt-5"], arguments].concat());
    command.current_dir(folder).env("HOME", folder);
    command
}

/// Runs one round of the loop; returns the status of `session append` and the output of `turn`.
fn run_round(server: &Server, folder: &Path, arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let session = ["--session", "s.jsonl"];
    let reply = run_with_input(turn(server, folder, &[&session, arguments].concat()), "");
    let binary = env!("CARGO_BIN_EXE_turnpipe");
    let loop_end = "\"$0\" run-tools | \"$0\" session append s.jsonl --no-echo --exit-status";
    let mut shell = Command::new("bash");
    shell
        .args(["-c", loop_end, binary])
        .current_dir(folder)
        .env_clear()
        .env("PATH", search_path())
        .env("HOME", folder);
    let ended = run_with_input(shell, &reply.stdout);
    (ended.status, records(&reply.stdout))
}

fn kinds(records: &[Value]) -> Vec<&str> {
    let kind = |record: &'_ Value| match record["subtype"].as_str() {
        Some("init") => "init",
        Some("api_retry") => "api_retry",
        _ => match record["type"].as_str().unwrap() {
            "assistant" => match record["message"]["content"][0]["type"].as_str().unwrap() {
                "text" => "text",
                "tool_use" => "tool_use",
                _ => "thinking",
            },
            "user" => "user",
            "result" => "result",
            "stream_event" => "stream_event",
            _ => "other",
        },
    };
    records.iter().map(kind).collect()
}

#[test]
fn a_loop_of_filters_is_an_agent() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = agent(json!([call("call_0", "ls"), call("call_0", "pwd")]));
    let (status, written) = run_round(&server, folder, &["--prompt", "What is here?"]);
    assert_eq!(status, Some(0));
    assert_eq!(
        kinds(&written),
        ["init", "user", "text", "tool_use", "tool_use", "result"]
    );
    let result = &written[5];
    assert_eq!(result["stop_reason"], "tool_use");
    assert_eq!(result["terminal_reason"], "completed");
    assert_eq!(result["usage"]["input_tokens"], 11);
    assert!(result["total_cost_usd"].as_f64().unwrap() > 0.0);
    // The server repeated its ids.
    let ids = [3, 4].map(|place| written[place]["message"]["content"][0]["id"].clone());
    assert_eq!(ids, ["call_0", "call_0_2"]);
    let (status, written) = run_round(&server, folder, &[]);
    assert_eq!(status, Some(10));
    assert_eq!(kinds(&written), ["init", "text", "result"]);
    assert_eq!(written[2]["result"], "Done.");
    let bodies = server.bodies.lock().unwrap();
    let roles: Vec<&str> = bodies[1]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    let answered = &bodies[1]["messages"];
    assert_eq!(answered[3]["tool_call_id"], ids[0]);
    assert_eq!(answered[4]["tool_call_id"], ids[1]);
    assert!(answered[4]["content"].as_str().unwrap().starts_with('/'));
    // The prefix is the same, so that caches hit.
    for member in ["model", "tools"] {
        assert_eq!(bodies[0][member], bodies[1][member]);
    }
    assert_eq!(bodies[0]["messages"][1], bodies[1]["messages"][1]);
    // The third time there is nothing to reply to.
    let again = run_with_input(turn(&server, folder, &["--session", "s.jsonl"]), "");
    assert_eq!(again.status, Some(2));
    assert_eq!(
        again.stderr,
        "turnpipe: the last message of the conversation is from the model\n\
         hint: `--prompt TEXT` appends a user message\n"
    );
}

#[test]
fn calls_without_ids_get_their_own_results() {
    let folder = tempfile::tempdir().unwrap();
    let without_id = |command| {
        let mut call = call("", command);
        call.as_object_mut().unwrap().remove("id");
        call
    };
    for calls in [
        json!([without_id("echo one"), without_id("echo two")]),
        json!([call("", "echo one"), call("", "echo two")]),
    ] {
        let folder = tempfile::tempdir_in(folder.path()).unwrap();
        let server = agent(calls);
        let (status, _) = run_round(&server, folder.path(), &["--prompt", "Go on."]);
        assert_eq!(status, Some(0));
        let (status, _) = run_round(&server, folder.path(), &[]);
        assert_eq!(status, Some(10));
        let body = server.bodies.lock().unwrap()[1].clone();
        let messages = body["messages"].as_array().unwrap();
        let (reply, results) = messages[messages.len() - 3..].split_first().unwrap();
        let id = |place: usize| reply["tool_calls"][place]["id"].as_str().unwrap();
        assert!(!id(0).is_empty() && id(0) != id(1), "{reply}");
        for (place, said) in ["one", "two"].iter().enumerate() {
            assert_eq!(results[place]["role"], "tool");
            assert_eq!(results[place]["tool_call_id"], id(place));
            let text = results[place]["content"].to_string();
            assert!(text.contains(said), "{text}");
        }
    }
}

#[test]
fn in_a_pipe_the_model_gets_advice_whose_cost_counts() {
    let folder = tempfile::tempdir().unwrap();
    let asks = json!([{"id": "c", "type": "function", "function": {"name": "Advisor", "arguments": "{}"}}]);
    let main = agent_answer(asks);
    let server = Server::start(
        Duration::ZERO,
        Box::new(move |body| match body["model"].as_str() {
            Some("strong") => (200, text_reply("Look at the lock file.")),
            _ => main(body),
        }),
    );
    let pipe = "\"$0\" turn --model openai:gpt-5 --session s.jsonl \"$@\" \
        | \"$0\" run-tools --session s.jsonl \
        | \"$0\" session append s.jsonl --no-echo --exit-status";
    let round = |arguments: &[&str]| {
        let mut shell = Command::new("bash");
        shell
            .args(["-c", pipe, env!("CARGO_BIN_EXE_turnpipe")])
            .args(arguments)
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", folder.path())
            .env("OPENAI_BASE_URL", format!("http://{}/v1", server.address))
            .env("OPENAI_API_KEY", "x")
            .env("TURNPIPE_ADVISOR_MODEL", "openai:strong");
        run_with_input(shell, "")
    };
    let first = round(&["--prompt", "Make it fast"]);
    assert_eq!(first.status, Some(0), "{}", first.stderr);
    let second = round(&[]);
    assert_eq!(second.status, Some(10), "{}", second.stderr);
    let bodies = server.bodies.lock().unwrap();
    let asked = bodies[1]["messages"][1]["content"].as_str().unwrap();
    assert_eq!(asked.matches("User: Make it fast").count(), 1, "{asked}");
    assert!(
        asked.contains("Model: I look.\nCall of Advisor: {}"),
        "{asked}"
    );
    let answered = bodies[2]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(answered["content"], "Look at the lock file.");
    let session = folder.path().join("s.jsonl");
    let stats = ["session", "stats", "-o", "jsonl", session.to_str().unwrap()];
    let stats = crate::turnpipe::run(&stats, b"");
    let shares = &records(&stats.stdout)[0]["by_prompt_id"];
    let advice = shares
        .as_array()
        .unwrap()
        .iter()
        .find(|share| share["name"] == "advisor");
    assert_eq!(
        advice.unwrap()["usage"]["input_tokens"],
        11,
        "{}",
        stats.stdout
    );
    let checked = crate::turnpipe::run(
        &[
            "session",
            "check",
            "--exit-status",
            session.to_str().unwrap(),
        ],
        b"",
    );
    assert_eq!(checked.status, Some(0), "{}", checked.stdout);
}

#[test]
fn thinking_before_calls_is_sent_back() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(
        Duration::ZERO,
        Box::new(|body| {
            let messages = body["messages"].as_array().unwrap();
            let called = messages
                .iter()
                .find(|message| message["role"] == "assistant");
            match called.map(|message| message["reasoning_content"].clone()) {
                None => {
                    let calls = [call("a", "ls"), call("b", "pwd")];
                    let message = json!({"role": "assistant", "content": "", "reasoning_content": "I should look.", "tool_calls": calls});
                    (200, completion(&message))
                }
                Some(thought) if thought == "I should look." => (200, text_reply("Done.")),
                Some(_) => {
                    let message = "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2";
                    (400, json!({"error": {"message": message}}).to_string())
                }
            }
        }),
    );
    let (status, _) = run_round(&server, folder.path(), &["--prompt", "Look"]);
    assert_eq!(status, Some(0));
    let (status, written) = run_round(&server, folder.path(), &[]);
    assert_eq!(status, Some(10), "{written:#?}");
}

const DIALOG: &str = "{\"role\":\"system\",\"content\":\"Be brief.\"}\n\
    {\"role\":\"user\",\"content\":\"Hello\"}\n";

#[test]
fn limits_end_the_loop_before_a_request() {
    let folder = tempfile::tempdir().unwrap();
    let server = agent(json!([call("a", "ls")]));
    let (_, _) = run_round(&server, folder.path(), &["--prompt", "go"]);
    let table = [
        (["--max-turns", "1"], "error_max_turns", "max_turns"),
        (
            ["--max-cost", "0.00001"],
            "error_max_budget_usd",
            "budget_exhausted",
        ),
        (
            ["--max-session-tokens", "5"],
            "error_max_budget_usd",
            "budget_exhausted",
        ),
    ];
    for (limit, subtype, reason) in table {
        let (status, written) = run_round(&server, folder.path(), &limit);
        assert_eq!(status, Some(11), "{limit:?}");
        assert_eq!(kinds(&written), ["init", "result"]);
        assert_eq!(written[1]["subtype"], subtype);
        assert_eq!(written[1]["terminal_reason"], reason);
        assert_eq!(written[1]["is_error"], true);
    }
    assert_eq!(server.bodies.lock().unwrap().len(), 1);
    let arguments = ["turn", "--model", "openai:unheard-of", "--max-cost", "1"];
    let free = run_with_input(server.command(&arguments), DIALOG);
    assert_eq!(free.status, Some(2));
    assert!(
        free.stderr.contains("unheard-of has no price"),
        "{}",
        free.stderr
    );
}

#[test]
fn other_requests_count_towards_the_limits() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Duration::ZERO, Box::new(|_| (200, text_reply("Hi."))));
    let cost = json!({"type": "system", "subtype": "usage", "uuid": "u2", "sessionId": "s", "turnpipe": {"v": 1,
        "model": "openai:gpt-5", "prompt_id": "advisor", "usage": {"input_tokens": 11, "output_tokens": 3}}});
    let prompt = json!({"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "Hello"}});
    let dialog = format!("{prompt}\n{cost}\n");
    let file = folder.path().join("s.jsonl");
    std::fs::write(&file, &dialog).unwrap();
    let session = ["--session", file.to_str().unwrap()];
    let limits = [["--max-session-tokens", "14"], ["--max-cost", "0.00004"]];
    for limit in limits {
        for (source, input) in [(&session[..], ""), (&[], &*dialog)] {
            let arguments = [source, &limit].concat();
            let run = run_with_input(turn(&server, folder.path(), &arguments), input);
            let written = records(&run.stdout);
            let reason = &written.last().unwrap()["terminal_reason"];
            assert_eq!(reason, "budget_exhausted", "{arguments:?}: {run:?}");
        }
    }
    let arguments = [&session[..], &["--max-session-tokens", "15"]].concat();
    let run = run_with_input(turn(&server, folder.path(), &arguments), "");
    assert_eq!(
        records(&run.stdout).last().unwrap()["terminal_reason"],
        "completed"
    );
}

#[test]
fn requested_instructions_and_tools_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Duration::ZERO, Box::new(|_| (200, text_reply("Hi."))));
    let asked = |arguments: &[&str]| {
        let run = run_with_input(turn(&server, folder.path(), arguments), DIALOG);
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        server.bodies.lock().unwrap().last().unwrap().clone()
    };
    let body = asked(&[
        "--tools-only",
        "Read,Grep",
        "--max-tokens",
        "9",
        "--thinking-tokens",
        "5000",
    ]);
    let tools: Vec<&Value> = body["tools"].as_array().unwrap().iter().collect();
    let names: Vec<&str> = tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Grep", "Read"]);
    assert_eq!(body["max_completion_tokens"], 5009);
    assert_eq!(body["reasoning_effort"], "medium");
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.starts_with("Be brief.\n\nWorking directory: /"),
        "{system}"
    );
    let file = folder.path().join("system.md");
    std::fs::write(&file, "You are a poet.\n").unwrap();
    let body = asked(&["--system", file.to_str().unwrap(), "--tools-only="]);
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("You are a poet.\n\n"), "{system}");
    assert_eq!(body.get("tools"), None);
    let unknown = run_with_input(
        turn(&server, folder.path(), &["--tools-only", "Rade"]),
        DIALOG,
    );
    assert_eq!(unknown.status, Some(2));
    assert!(
        unknown.stderr.contains("unknown tool `Rade`"),
        "{}",
        unknown.stderr
    );
}

/// Returns the chunks of a streamed reply, with its end if `ends`.
fn stream_chunks(deltas: &[Value], ends: bool) -> String {
    let chunk = |delta: &Value| json!({"choices": [{"index": 0, "delta": delta}]}).to_string();
    let mut chunks: Vec<String> = deltas.iter().map(chunk).collect();
    if ends {
        let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        chunks.extend([last.to_string(), "[DONE]".to_owned()]);
    }
    let body: Vec<String> = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    let body = body.concat();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}{body}")
}

fn of_stream(deltas: &[Value], ends: bool, arguments: &[&str]) -> (Run, Vec<Value>) {
    let answer = stream_chunks(deltas, ends);
    let server = Server::start(Duration::ZERO, Box::new(move |_| (200, answer.clone())));
    let folder = tempfile::tempdir().unwrap();
    let run = run_with_input(turn(&server, folder.path(), arguments), DIALOG);
    let written = records(&run.stdout);
    (run, written)
}

#[test]
fn parts_have_the_form_of_one_api() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "LS", "arguments": "{}"}}]});
    let deltas = vec![json!({"content": "I "}), json!({"content": "look."}), call];
    let (run, written) = of_stream(&deltas, true, &["--partial"]);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let events: Vec<&str> = written
        .iter()
        .filter_map(|record| record["event"]["type"].as_str())
        .collect();
    assert_eq!(
        events,
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    let message = &written[1]["event"]["message"]["id"];
    let blocks = written
        .iter()
        .filter(|record| record["type"] == "assistant");
    assert!(
        blocks.clone().count() == 2
            && blocks
                .into_iter()
                .all(|block| block["message"]["id"] == *message)
    );
}

#[test]
fn a_reply_that_is_cut_off_keeps_its_whole_blocks() {
    let call = |arguments: &str| json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "LS", "arguments": arguments}}]});
    let deltas = vec![json!({"content": "I look."}), call("{\"pa")];
    let (run, written) = of_stream(&deltas, false, &["--timeout", "3s"]);
    assert_eq!(run.status, Some(5), "{}", run.stderr);
    assert_eq!(kinds(&written), ["init", "text", "result"]);
    assert_eq!(written[2]["subtype"], "error_during_execution");
    assert_eq!(written[2]["terminal_reason"], "model_error");
    assert_eq!(written[2]["result"], "I look.");
}

/// Returns a streamed reply with calls that make files of these names, and with these events at its end.
fn stream_of_calls(names: &[&str], end: &[&str]) -> String {
    let call = |(index, name)| {
        let input = json!({"command": format!("touch {name}")}).to_string();
        let call =
            json!({"index": index, "id": name, "function": {"name": "Bash", "arguments": input}});
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).to_string()
    };
    let calls: Vec<String> = names.iter().enumerate().map(call).collect();
    let events = calls.iter().map(String::as_str).chain(end.iter().copied());
    let events: Vec<String> = events.map(|event| format!("data: {event}\n\n")).collect();
    events.concat()
}

/// `turn` and `run-tools` run the same calls of a reply that stops early: the last one only after a regular end.
#[test]
fn a_call_runs_only_if_something_follows_it() {
    const TOOL_CALLS: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
    const FILTER: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}"#;
    const LENGTH: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}"#;
    const OVERLOADED: &str = r#"{"error":{"message":"busy","code":503}}"#;
    const VLLM: &str = r#"{"object":"error","message":"bad","type":"BadRequestError","code":400}"#;
    const WITH_CHOICE: &str = r#"{"error":{"message":"gone"},"choices":[{"index":0,"delta":{}}]}"#;
    const EVENT: &str = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    let rows: [(&[&str], bool); 10] = [
        (&[TOOL_CALLS, "[DONE]"], true),
        (&[TOOL_CALLS], true),
        (&["[DONE]"], true),
        (&[FILTER, "[DONE]"], false),
        (&[LENGTH, "[DONE]"], false),
        (&[OVERLOADED, "[DONE]"], false),
        (&[VLLM, "[DONE]"], false),
        (&[WITH_CHOICE, "[DONE]"], false),
        (&[EVENT], false),
        (&[], false),
    ];
    for (end, is_regular) in rows {
        for names in [&["a"][..], &["a", "b"]] {
            let stream = stream_of_calls(names, end);
            let folder = tempfile::tempdir().unwrap();
            let run = |input: &str| {
                let mut command = crate::turnpipe::command();
                let arguments = ["run-tools", "--permission-mode", "bypassPermissions"];
                command.args(arguments).current_dir(folder.path());
                let run = run_with_input(command, input);
                assert_eq!(run.status, Some(0), "{run:?}");
                let is_made = |name: &&&str| std::fs::remove_file(folder.path().join(name)).is_ok();
                names.iter().filter(is_made).count()
            };
            let expected = if is_regular {
                names.len()
            } else {
                names.len() - 1
            };
            assert_eq!(run(&stream), expected, "{end:?}");
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let answer = format!("{head}{stream}");
            let server = Server::start(Duration::ZERO, Box::new(move |_| (200, answer.clone())));
            // Without a complete block, the request would be repeated, unless it is refused.
            let limit = ["--timeout", "200ms"];
            let is_repeated = expected == 0 && !end.contains(&VLLM);
            let arguments = if is_repeated { &limit[..] } else { &[] };
            let reply = run_with_input(turn(&server, folder.path(), arguments), DIALOG);
            assert_eq!(run(&reply.stdout), expected, "{end:?}: {reply:?}");
            assert!(server.bodies.lock().unwrap().len() <= 1, "{end:?}");
            let last = records(&reply.stdout).pop().unwrap();
            assert_eq!(last["is_error"], !is_regular, "{end:?}: {last}");
            if end.contains(&VLLM) {
                let message = "the provider refused: status 400: bad";
                assert_eq!(reply.stderr.matches(message).count(), 1, "{reply:?}");
                assert_eq!(reply.status, Some(4));
            }
        }
    }
}

#[test]
fn a_refused_parameter_is_omitted_from_the_next_request() {
    let refuses = |body: &Value| match body.get("stream_options") {
        Some(_) => {
            let detail = json!([{"type": "extra_forbidden", "loc": ["body", "stream_options"],
                "msg": "Extra inputs are not permitted"}]);
            (422, json!({"detail": detail}).to_string())
        }
        None => (200, text_reply("Hi.")),
    };
    let server = Server::start(Duration::ZERO, Box::new(refuses));
    let folder = tempfile::tempdir().unwrap();
    let run = run_with_input(turn(&server, folder.path(), &[]), DIALOG);
    assert_eq!(run.status, Some(0), "{run:?}");
    let bodies = server.bodies.lock().unwrap();
    assert_eq!(bodies.len(), 2);
    let mut first = bodies[0].clone();
    first.as_object_mut().unwrap().remove("stream_options");
    assert_eq!(first, bodies[1]);
}

#[test]
fn refusals_have_hints() {
    let too_long = json!({"error": {"message": "maximum context length is 8192", "code": "context_length_exceeded"}});
    let table = [
        (400, too_long.to_string(), "prompt_too_long", 4),
        (
            401,
            "{\"error\":{\"message\":\"bad key\"}}".to_owned(),
            "api_error",
            4,
        ),
    ];
    for (status, answer, reason, expected) in table {
        let server = Server::start(Duration::ZERO, Box::new(move |_| (status, answer.clone())));
        let folder = tempfile::tempdir().unwrap();
        let run = run_with_input(turn(&server, folder.path(), &[]), DIALOG);
        assert_eq!(run.status, Some(expected), "{}", run.stderr);
        let written = records(&run.stdout);
        assert_eq!(kinds(&written), ["init", "result"]);
        assert_eq!(written[1]["terminal_reason"], reason);
        assert_eq!(written[1]["is_error"], true);
    }
}

#[test]
fn a_retry_is_reported() {
    let server = Server::start(
        Duration::ZERO,
        Box::new({
            let tries = std::sync::atomic::AtomicUsize::new(0);
            move |_| match tries.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
                0 => (529, "{\"error\":{\"message\":\"busy\"}}".to_owned()),
                _ => (200, text_reply("Hi.")),
            }
        }),
    );
    let folder = tempfile::tempdir().unwrap();
    let run = run_with_input(turn(&server, folder.path(), &[]), DIALOG);
    let written = records(&run.stdout);
    assert_eq!(kinds(&written), ["init", "api_retry", "text", "result"]);
    assert_eq!(written[1]["attempt"], 1);
    assert_eq!(written[1]["error_status"], 529);
}

#[test]
fn an_interrupt_keeps_the_text_so_far() {
    let partial = stream_chunks(&[json!({"content": "I was about to"})], false);
    // The announced length is larger, so that the reply does not end.
    let answer = partial.replace("connection: close", "content-length: 100000");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        // The content of the request does not matter.
        let _ = stream.read(&mut request);
        stream.write_all(answer.as_bytes()).unwrap();
        let mut rest = Vec::new();
        // The content of the request does not matter.
        let _ = stream.read_to_end(&mut rest);
    });
    let mut command = crate::turnpipe::command();
    command
        .args([
            "turn",
            "--model",
            "openai:gpt-5",
            "--partial",
            "--prompt",
            "go",
        ])
        .env("OPENAI_BASE_URL", format!("http://{address}/v1"))
        .env("OPENAI_API_KEY", "x")
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut written = Vec::new();
    for line in &mut lines {
        let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let is_said = record["event"]["delta"]["text"] == "I was about to";
        written.push(record);
        if is_said {
            break;
        }
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    written.extend(lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    server.join().unwrap();
    let said = written.iter().find(|record| record["type"] == "assistant");
    assert_eq!(
        said.unwrap()["message"]["content"][0]["text"],
        "I was about to"
    );
    let last = written.last().unwrap();
    assert_eq!(last["terminal_reason"], "aborted_streaming");
}

#[test]
fn large_results_are_replaced_once_and_always_alike() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let server = Server::start(Duration::ZERO, Box::new(|_| (200, text_reply("Hi."))));
    let long = |letter: &str| letter.repeat(120_000);
    let mut dialog = vec![
        json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": "go"}}),
        json!({"type": "assistant", "session_id": "s", "message": {"id": "m", "role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "Read", "input": {}},
            {"type": "tool_use", "id": "b", "name": "Read", "input": {}},
        ]}}),
    ];
    for (id, text) in [("a", long("a")), ("b", long("b"))] {
        dialog.push(
            json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": text},
            ]}}),
        );
    }
    let mut ask = |more: Vec<Value>| {
        dialog.extend(more);
        let text: Vec<String> = dialog.iter().map(Value::to_string).collect();
        let run = run_with_input(turn(&server, folder, &[]), &(text.join("\n") + "\n"));
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let body = server.bodies.lock().unwrap().last().unwrap().clone();
        (records(&run.stdout), body["messages"].clone())
    };
    let (written, first) = ask(Vec::new());
    let replaced = &written[1];
    assert_eq!(replaced["type"], "content_replacement");
    assert_eq!(replaced["replacements"].as_array().unwrap().len(), 1);
    assert_eq!(replaced["replacements"][0]["tool_use_id"], "a");
    let text = first[3]["content"].as_str().unwrap();
    assert!(text.starts_with("<persisted-output>"), "{}", &text[..100]);
    assert_eq!(first[4]["content"], long("b"));
    let path = text
        .split("saved to: ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap(), long("a"));
    let more = vec![
        replaced.clone(),
        json!({"type": "assistant", "message": {"id": "n", "role": "assistant", "content": "Hi."}}),
        json!({"type": "user", "message": {"role": "user", "content": "on"}}),
    ];
    let (written, second) = ask(more);
    assert_eq!(kinds(&written), ["init", "text", "result"]);
    let (first, second) = (first.as_array().unwrap(), second.as_array().unwrap());
    assert_eq!(first[..], second[..first.len()]);
}

#[test]
fn without_a_model_or_a_prompt_there_is_a_hint() {
    let run = |arguments: &[&str], input: &str| {
        let mut command = crate::turnpipe::command();
        command.args(arguments);
        let run = run_with_input(command, input);
        assert_eq!(run.status, Some(2), "{}", run.stderr);
        run.stderr
    };
    let output = run(&["turn"], DIALOG);
    assert!(
        output.starts_with("turnpipe: no model is configured\nhint: name one with `--model"),
        "{output}"
    );
    let output = run(&["turn", "--model", "builtin"], DIALOG);
    assert!(
        output.contains("this needs a model that can be asked"),
        "{output}"
    );
    let output = run(&["turn", "--model", "openai:m", "--dry-run"], "");
    assert!(output.contains("the conversation is empty"), "{output}");
    let output = run(
        &["turn", "--model", "openai:m", "--session", "/dev/null"],
        "",
    );
    assert!(output.contains("--session: /dev/null"), "{output}");
}

/// Runs one round with a `Stop` hook that runs this command; returns the last record.
fn run_with_stop_hook(
    folder: &Path,
    command: &str,
    arguments: &[&str],
) -> (Option<i32>, Vec<Value>) {
    let hook = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
    std::fs::write(folder.join("settings.json"), hook.to_string()).unwrap();
    let server = Server::start(Duration::ZERO, Box::new(|_| (200, text_reply("Done."))));
    let settings = ["--settings", "settings.json"];
    run_round(&server, folder, &[&settings, arguments].concat())
}

#[test]
fn stop_hooks_continue_the_turn_up_to_a_cap() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let blocks = "cat > input.json; echo 'Run the tests.' >&2; exit 2";
    let (status, written) = run_with_stop_hook(folder, blocks, &["--prompt", "go"]);
    assert_eq!(status, Some(0), "{written:#?}");
    assert_eq!(kinds(&written), ["init", "user", "text", "user", "result"]);
    let output = "Stop hook feedback:\nRun the tests.";
    assert_eq!(written[3]["message"]["content"][0]["text"], output);
    let input = std::fs::read_to_string(folder.join("input.json")).unwrap();
    let input: Value = serde_json::from_str(&input).unwrap();
    assert_eq!(input["hook_event_name"], "Stop");
    assert_eq!(input["stop_hook_active"], false);
    assert_eq!(input["last_assistant_message"], "Done.");
    for round in 2..=8 {
        let (status, _) = run_with_stop_hook(folder, blocks, &[]);
        assert_eq!(status, Some(0), "{round}");
    }
    let input = std::fs::read_to_string(folder.join("input.json")).unwrap();
    assert!(input.contains("\"stop_hook_active\":true"), "{input}");
    // The hook blocked eight times in a row.
    let (status, written) = run_with_stop_hook(folder, blocks, &[]);
    assert_eq!(status, Some(10));
    assert_eq!(kinds(&written), ["init", "text", "result"]);
    // A prompt resets the count.
    let (status, _) = run_with_stop_hook(folder, blocks, &["--prompt", "again"]);
    assert_eq!(status, Some(0));
    let session = std::fs::read_to_string(folder.join("s.jsonl")).unwrap();
    let listed = crate::turnpipe::run(
        &[
            "session",
            "list",
            "--counts",
            "--root",
            folder.join("s.jsonl").to_str().unwrap(),
        ],
        b"",
    );
    assert_eq!(
        records(&listed.stdout)[0]["counts"]["prompts"],
        2,
        "{session}"
    );
}

#[test]
fn stop_hooks_may_end_the_session_or_do_nothing() {
    let table = [
        (
            "echo '{\"decision\":\"block\",\"reason\":\"More.\"}'",
            0,
            "user",
        ),
        (
            "echo '{\"hookSpecificOutput\":{\"additionalContext\":\"More.\"}}'",
            0,
            "user",
        ),
        (
            "echo '{\"continue\":false,\"stopReason\":\"Enough.\"}'",
            11,
            "other",
        ),
        ("exit 0", 10, "text"),
        ("exit 1", 10, "text"),
    ];
    for (command, status, last) in table {
        let folder = tempfile::tempdir().unwrap();
        let (ended, written) = run_with_stop_hook(folder.path(), command, &["--prompt", "go"]);
        assert_eq!(ended, Some(status), "{command}: {written:#?}");
        assert_eq!(kinds(&written)[written.len() - 2], last, "{command}");
    }
    // After a reply with calls there is nothing to stop.
    let folder = tempfile::tempdir().unwrap();
    let hook = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}});
    std::fs::write(folder.path().join("settings.json"), hook.to_string()).unwrap();
    let server = agent(json!([call("a", "ls")]));
    let arguments = ["--settings", "settings.json", "--prompt", "go"];
    let (status, written) = run_round(&server, folder.path(), &arguments);
    assert_eq!(status, Some(0));
    assert_eq!(
        kinds(&written),
        ["init", "user", "text", "tool_use", "result"]
    );
}

/// A stream of another agent becomes a conversation: each call precedes its result.
#[test]
fn streams_of_other_agents_can_be_continued() {
    let streams = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wire");
    let table = [
        ("claude", "assistant+1 tool assistant user"),
        ("qwen", "assistant+1 tool assistant user"),
        ("codex", "assistant+3 tool tool tool assistant user"),
        (
            "gemini-cli",
            "user assistant+4 tool tool tool tool assistant user",
        ),
        ("pi", "user assistant+1 tool assistant user"),
        (
            "opencode",
            "assistant+3 tool tool tool assistant+1 tool assistant+1 tool assistant user",
        ),
    ];
    for (agent, expected) in table {
        let stream = streams.join(format!("{agent}-stream.jsonl"));
        let stream = std::fs::read_to_string(stream).unwrap();
        let mut command = crate::turnpipe::command();
        let arguments = "turn --model openai:gpt-5 --dry-run --prompt more";
        command
            .args(arguments.split(' '))
            .env("OPENAI_API_KEY", "x");
        let output = run_with_input(command, &stream);
        assert_eq!((output.status, &*output.stderr), (Some(0), ""), "{agent}");
        let body: Value = serde_json::from_str(&output.stdout).unwrap();
        let mut called = Vec::new();
        let roles = body["messages"].as_array().unwrap().iter().skip(1);
        let roles = roles.map(|message| {
            if message["role"] == "tool" {
                assert_eq!(called.remove(0), message["tool_call_id"], "{agent}");
            }
            let role = message["role"].as_str().unwrap();
            let Some(calls) = message["tool_calls"].as_array() else {
                return role.to_owned();
            };
            called.extend(calls.iter().map(|call| call["id"].clone()));
            format!("{role}+{}", calls.len())
        });
        assert_eq!(roles.collect::<Vec<_>>().join(" "), expected, "{agent}");
    }
}
