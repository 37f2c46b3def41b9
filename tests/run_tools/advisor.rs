//! The tool that asks another model.

use std::process::Command;
use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::bench::{Bench, Driver, PATIENCE, Run, call, pairs};
use crate::model_server::{question, server, text_reply};

const KEY: &str = "sk-ant-api03-a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4";

fn advised_command(bench: &Bench, address: &str, arguments: &[&str]) -> Command {
    let mut command = bench.run_tools(&[&["--advisor-model", "openai:strong"], arguments].concat());
    command
        .env("OPENAI_BASE_URL", address)
        .env("OPENAI_API_KEY", "sk-0");
    command
}

fn ask(command: Command, input: &str) -> Run {
    let mut driver = Driver::start(command);
    driver.send(input);
    driver.finish()
}

fn input_with_question() -> String {
    call("a", "Advisor", &json!({"question": "Is it the cache?"}))
}

fn request(requests: &Receiver<Value>) -> Value {
    requests.recv_timeout(PATIENCE).unwrap()
}

#[test]
fn another_model_sees_the_conversation_and_gives_advice() {
    let bench = Bench::new();
    let (address, requests) = server(|_| text_reply("Look at the lock file."));
    let before = [
        json!({"type": "user", "uuid": "u1", "sessionId": "s", "message": {"role": "user", "content": "Make the build fast"}}),
        json!({"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s", "message": {"id": "m", "role": "assistant", "content": [
            {"type": "tool_use", "id": "e", "name": "Bash", "input": {"command": "cat .env"}}]}}),
        json!({"type": "user", "uuid": "u3", "parentUuid": "u2", "sessionId": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "e", "content": format!("KEY={KEY}")}]}}),
    ];
    let before = before.map(|record| record.to_string());
    let file = bench.write("s.jsonl", before.join("\n") + "\n");
    let session = ["--session", file.to_str().unwrap()];
    let now = json!({"type": "user", "message": {"role": "user", "content": "Faster"}});
    let reply = json!({"type": "assistant", "message": {"id": "n", "role": "assistant", "content": [
        {"type": "text", "text": "I ask."},
        {"type": "tool_use", "id": "a", "name": "Advisor", "input": {"question": format!("Is it the cache of {KEY}?")}}]}});
    let run = ask(
        advised_command(&bench, &address, &session),
        &format!("{now}\n{reply}\n"),
    );
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
    assert_eq!(run.content("a"), "Look at the lock file.");
    assert_eq!(run.result("a")["turnpipe"]["lane"], "parallel");
    let body = request(&requests);
    assert_eq!(body["model"], "strong");
    let asked = question(&body);
    for part in [
        "- Make the build fast\n- Faster\n",
        "\nCall of Bash: {\"command\":\"cat .env\"}\nResult: KEY=",
        "\nUser: Faster\nModel: I ask.\nCall of Advisor: ",
        "The model asks: Is it the cache of ",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    assert!(!body.to_string().contains(KEY), "{body}");
    let records = run.records();
    let usage = records.iter().find(|record| record["subtype"] == "usage");
    let usage = &usage.unwrap()["turnpipe"];
    assert_eq!(usage["model"], "openai:strong");
    assert_eq!(usage["prompt_id"], "advisor");
    assert_eq!(usage["usage"]["input_tokens"], 11);
}

#[test]
fn results_are_known_once_their_turn_is_over() {
    let bench = Bench::new();
    let (address, requests) = server(|_| text_reply("Go on."));
    bench.write("a.txt", "the first line");
    let mut driver = Driver::start(advised_command(&bench, &address, &[]));
    let reply = |id: &str, call: &str, name: &str, input: Value| {
        let content = json!([{"type": "tool_use", "id": call, "name": name, "input": input}]);
        let message =
            json!({"id": id, "role": "assistant", "content": content, "stop_reason": "tool_use"});
        format!("{}\n", json!({"type": "assistant", "message": message}))
    };
    let path = bench.work().join("a.txt");
    driver.send(&reply("m", "r", "Read", json!({"file_path": path})));
    while !driver.line().contains("turn_end") {}
    driver.send(&reply("n", "a", "Advisor", json!({})));
    assert_eq!(driver.result("a")["turnpipe"]["outcome"], "ok");
    // Only its effects matter.
    let _ = driver.finish();
    let asked = question(&request(&requests));
    assert!(asked.contains("the first line"), "{asked}");
    assert!(asked.ends_with("The model asks: What should I do next?"));
}

/// Variables, arguments, and whether there is an advisor.
type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], bool);

#[test]
fn the_tool_is_offered_only_if_configured() {
    let bench = Bench::new();
    let table: [Row<'_>; 6] = [
        (&[], &[], false),
        (&[], &["--advisor-model", "openai:m"], true),
        (&[("TURNPIPE_ADVISOR_MODEL", "openai:m")], &[], true),
        (
            &[("TURNPIPE_ADVISOR_MODEL", "openai:m")],
            &["--advisor-model", "none"],
            false,
        ),
        (
            &[("TURNPIPE_DISABLE_ADVISOR_TOOL", "1")],
            &["--advisor-model", "openai:m"],
            false,
        ),
        (
            &[
                ("CLAUDE_CODE_DISABLE_ADVISOR_TOOL", "true"),
                ("TURNPIPE_ADVISOR_MODEL", "openai:m"),
            ],
            &[],
            false,
        ),
    ];
    for (variables, arguments, is_there) in table {
        for command in [
            &["tools", "--json"][..],
            &["turn", "--model", "openai:m", "--prompt", "go", "--dry-run"],
        ] {
            let mut declared = Command::new(env!("CARGO_BIN_EXE_turnpipe"));
            declared
                .args(command)
                .args(arguments)
                .env_clear()
                .env("HOME", bench.work())
                .envs(variables.iter().copied())
                .stdin(std::process::Stdio::null());
            let run = Run::of(&declared.output().unwrap());
            assert_eq!(run.status, Some(0), "{run:?}");
            let is_declared = run.stdout.contains(r#""name":"Advisor""#);
            assert_eq!(
                is_declared, is_there,
                "{variables:?} {arguments:?} {command:?}"
            );
        }
        let mut command = bench.run_tools(arguments);
        command
            .envs(variables.iter().copied())
            .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
        let run = ask(command, &input_with_question());
        let outcome = if is_there { "error" } else { "unknown_tool" };
        assert_eq!(run.outcomes(), pairs(&[("a", outcome)]), "{run:?}");
    }
}

#[test]
fn only_rules_decide_about_the_tool() {
    let bench = Bench::new();
    let (address, requests) = server(|_| text_reply("Stop."));
    let table: [(&[&str], &str); 4] = [
        (&["--deny", "Advisor"], "denied"),
        (&["--ask", "Advisor"], "denied"),
        (&["--permission-mode", "dontAsk"], "ok"),
        (&["--permission-mode", "plan"], "ok"),
    ];
    for (arguments, outcome) in table {
        let run = ask(
            advised_command(&bench, &address, arguments),
            &input_with_question(),
        );
        assert_eq!(run.outcomes(), pairs(&[("a", outcome)]), "{run:?}");
    }
    assert_eq!(requests.try_iter().count(), 2);
}

#[test]
fn a_model_that_fails_is_a_failed_call() {
    let bench = Bench::new();
    let refused = (401, json!({"error": {"message": "bad key"}}).to_string());
    let (refusing, _requests) = server(move |_| refused.clone());
    let (silent, _questions) = server(|_| {
        loop {
            std::thread::park();
        }
    });
    let config = bench.write("config.toml", "[http]\ntimeout_ms = 300\n");
    let table = [
        (
            &*refusing,
            "No advice: the provider refused: status 401: bad key",
        ),
        (&*silent, "No advice: no response within 300 ms"),
        (
            "http://127.0.0.1:9/v1",
            "No advice: the provider cannot be reached",
        ),
    ];
    for (address, reason) in table {
        let config = ["--config", config.to_str().unwrap()];
        let run = ask(
            advised_command(&bench, address, &config),
            &input_with_question(),
        );
        assert_eq!(run.status, Some(0), "{run:?}");
        assert_eq!(run.outcomes(), pairs(&[("a", "error")]), "{run:?}");
        assert!(run.content("a").contains(reason), "{run:?}");
    }
}

#[test]
fn an_interrupt_ends_the_question() {
    let bench = Bench::new();
    let (address, requests) = server(|_| {
        loop {
            std::thread::park();
        }
    });
    let mut driver = Driver::start(advised_command(&bench, &address, &[]));
    driver.send(&input_with_question());
    request(&requests);
    driver.signal("INT");
    let run = driver.wait();
    assert_eq!(run.status, Some(130), "{run:?}");
    assert_eq!(run.outcomes(), pairs(&[("a", "interrupted")]), "{run:?}");
}
