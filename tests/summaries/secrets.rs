//! Secrets in conversations: none of them is in any output that is masked.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::server::{CANARY, Server, completion, run_with_input};
use crate::skip::sample;
use crate::turnpipe::command;

/// Texts with a made-up secret of some forms, and the parts of it that must not be shown.
fn rows() -> Vec<(String, Vec<String>)> {
    let rows = include_str!("../data/fake_secrets.jsonl").lines();
    let rows = rows.map(|row| {
        let mut row: Vec<String> = serde_json::from_str(row).unwrap();
        (row.remove(0), row)
    });
    sample(rows, 4, |(text, _)| text.contains('\n'))
}

/// The outputs, by name.
#[derive(Default)]
struct Outputs(Vec<(String, String)>);

impl Outputs {
    fn add(&mut self, name: &str, text: String) {
        assert!(!text.is_empty(), "{name}");
        self.0.push((name.to_owned(), text));
    }

    /// Runs a command, which may fail. Returns its standard output.
    fn run(&mut self, name: &str, command: Command, input: &str) -> String {
        let run = run_with_input(command, input);
        self.add(name, format!("{}{}", run.stdout, run.stderr));
        run.stdout
    }

    fn add_files(&mut self, name: &str, path: &Path) {
        let mut texts = String::new();
        read_files(path, &mut texts);
        self.add(name, texts);
    }

    fn assert_masked(&self) {
        let mut shown = Vec::new();
        for (text, parts) in rows() {
            for (name, output) in &self.0 {
                if parts.iter().any(|part| output.contains(part)) {
                    shown.push(format!("{name}: {text}"));
                }
            }
        }
        assert!(shown.is_empty(), "{shown:#?}");
        for (name, output) in &self.0 {
            assert!(!output.contains(CANARY), "{name}");
        }
    }
}

fn read_files(path: &Path, texts: &mut String) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            read_files(&entry.unwrap().path(), texts);
        }
    } else {
        texts.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap()));
    }
}

/// Returns the records of a session that has a text in every place.
fn session(number: usize, text: &str) -> String {
    let session_id = format!("5e551011-0000-4000-8000-{number:012}");
    let mut records: Vec<Value> = Vec::new();
    let mut add = |role: &str, content: Value| {
        let at = records.len();
        let lines: Vec<String> = text.lines().map(|line| format!("+{line}")).collect();
        let parent = (at > 0).then(|| format!("{number}-{}", at - 1));
        records.push(json!({
            "type": role, "uuid": format!("{number}-{at}"), "parentUuid": parent, "sessionId": session_id,
            "cwd": "/srv/demo", "version": "2.0.0", "timestamp": format!("2026-11-20T10:{at:02}:00.000Z"),
            "message": {"role": role, "content": content, "id": format!("m{number}-{at}"), "model": "m"},
            "toolUseResult": {"stdout": text, "filePath": "/srv/demo/k", "structuredPatch": [{
                "oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": lines.len(), "lines": lines}]},
        }));
    };
    add(
        "user",
        json!(format!("Fix the login with {text}\nand deploy it")),
    );
    add(
        "assistant",
        json!([{"type": "thinking", "thinking": format!("I see {text}"), "signature": "x"},
        {"type": "text", "text": format!("I use {text} now.")}]),
    );
    let calls = [
        (
            "Bash",
            json!({"command": format!("echo \"{text}\" > k"), "description": format!("Write {text}")}),
        ),
        ("Bash", json!({"command": text})),
        (
            "Write",
            json!({"file_path": "/srv/demo/k", "content": text}),
        ),
        (
            "Edit",
            json!({"file_path": "/srv/demo/k", "old_string": text, "new_string": "x"}),
        ),
        ("Grep", json!({"pattern": text})),
        (
            "WebFetch",
            json!({"url": format!("https://x/?q={text}"), "prompt": text}),
        ),
        (
            "Task",
            json!({"description": text, "prompt": text, "subagent_type": "general-purpose"}),
        ),
        (
            "TodoWrite",
            json!({"todos": [{"content": text, "status": "in_progress", "activeForm": text}]}),
        ),
    ];
    for (at, (name, input)) in calls.into_iter().enumerate() {
        let id = format!("c{number}-{at}");
        add(
            "assistant",
            json!([{"type": "tool_use", "id": id, "name": name, "input": input}]),
        );
        let failed = format!("Exit code 1\n{text}");
        let blocks = failed
            .lines()
            .map(|line| json!({"type": "text", "text": line}));
        let content = if at % 2 == 0 {
            blocks.collect()
        } else {
            json!(text)
        };
        add(
            "user",
            json!([{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": at % 2 == 0}]),
        );
    }
    add("user", json!(text));
    add(
        "assistant",
        json!([{"type": "text", "text": format!("Deployed with {text}. Next I check {text}")}]),
    );
    add("user", json!(format!("Remember that {text} is needed")));
    add(
        "assistant",
        json!([{"type": "text", "text": format!("The goal is {text}. Error: {text}")}]),
    );
    records.push(
        json!({"type": "ai-title", "aiTitle": format!("Use {text}"), "sessionId": session_id}),
    );
    lines(&records)
}

fn lines(records: &[Value]) -> String {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn turnpipe(home: &Path, arguments: &[&str]) -> Command {
    let mut command = command();
    command.args(arguments).env("HOME", home).current_dir(home);
    command
}

#[test]
fn no_secret_is_in_what_is_written_about_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    fs::create_dir(home.join("sessions")).unwrap();
    let mut names = Vec::new();
    let mut stream = String::new();
    for (number, (text, _)) in rows().into_iter().enumerate() {
        let name = format!("sessions/5e551011-0000-4000-8000-{number:012}.jsonl");
        let records = session(number, &text);
        fs::write(home.join(&name), &records).unwrap();
        stream.push_str(&records);
        names.push(name);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut outputs = Outputs::default();
    for options in [
        &["title", "--json"][..],
        &["title", "--json", "--style", "kebab"],
        &["recap", "--json"],
    ] {
        let shown = outputs.run(
            &options.join(" "),
            turnpipe(home, &[options, &names].concat()),
            "",
        );
        assert_eq!(shown.lines().count(), names.len(), "{shown}");
    }
    outputs.run(
        "labels",
        turnpipe(home, &["summarize-batch", "--no-echo"]),
        &stream,
    );
    outputs.run(
        "report",
        turnpipe(home, &["session", "report", "--root", "sessions"]),
        "",
    );
    for form in ["html", "md", "atif"] {
        let arguments = ["session", "export", form, "--root", "sessions", "-o", form];
        outputs.run(form, turnpipe(home, &arguments), "");
        outputs.add_files(form, &home.join(form));
    }
    fs::write(home.join("all.jsonl"), &stream).unwrap();
    let all = [
        "session",
        "show",
        "all.jsonl",
        "--redact",
        "--all-branches",
        "--thinking",
    ];
    for options in [
        &["-o", "text"][..],
        &["-o", "md", "--calls", "full"],
        &["-o", "jsonl"],
        &["-o", "html", "--calls", "full"],
        &["-o", "text", "--calls", "edits"],
    ] {
        outputs.run(
            &options.join(" "),
            turnpipe(home, &[&all[..], options].concat()),
            "",
        );
    }
    let append = ["session", "append", "copy.jsonl", "--redact", "--no-echo"];
    assert_eq!(
        run_with_input(turnpipe(home, &append), &stream).status,
        Some(0)
    );
    outputs.add_files("append", &home.join("copy.jsonl"));
    outputs.assert_masked();
}

#[test]
fn no_secret_is_in_logs_traces_and_state() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let mut outputs = Outputs::default();
    let mut calls = Vec::new();
    for (number, (text, _)) in rows().into_iter().enumerate() {
        let input = json!({"command": text, "description": text});
        calls.push(
            json!({"type": "tool_use", "id": format!("a{number}"), "name": "Bash", "input": input}),
        );
        let input = json!({"pattern": text});
        calls.push(
            json!({"type": "tool_use", "id": format!("b{number}"), "name": "Grep", "input": input}),
        );
        let url = format!("https://x/?q={text}");
        for (tool, input) in [
            ("Bash", json!({"command": text})),
            ("WebFetch", json!({"url": url, "prompt": text})),
        ] {
            let call = json!({"session_id": "x", "cwd": home, "hook_event_name": "PreToolUse", "tool_name": tool,
                "tool_input": input});
            // Only its effects matter.
            let _ = run_with_input(
                turnpipe(home, &["hook", "pre-tool-use", "--log", "hook.jsonl"]),
                &call.to_string(),
            );
        }
    }
    outputs.add_files("hook log", &home.join("hook.jsonl"));
    for (text, _) in rows() {
        let show = ["session", "show", "--", &format!("no/{text}")];
        outputs.run("error", turnpipe(home, &show), "");
    }
    outputs.run(
        "hook explain",
        turnpipe(home, &["hook", "explain", "hook.jsonl", "-n", "200"]),
        "",
    );
    let run = [
        "run-tools",
        "--trace",
        "trace.json",
        "--state-dir",
        "state",
        "--deny",
        "Bash",
        "-v",
    ];
    let run = run_with_input(turnpipe(home, &run), &lines(&calls));
    outputs.add("messages", run.stderr);
    outputs.add_files("trace", &home.join("trace.json"));
    outputs.assert_masked();
}

#[test]
fn no_secret_is_in_recordings_and_answers_of_models() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let mut outputs = Outputs::default();
    let texts: Vec<String> = rows().into_iter().map(|(text, _)| text).collect();
    let all = texts.join("\n\n");
    // Bodies of responses: a stream of parts, an error, and a page.
    let parts: Vec<char> = all.chars().collect();
    let events = parts.chunks(7).map(|part| {
        let text: String = part.iter().collect();
        let event = json!({"choices": [{"index": 0, "delta": {"content": text}}]});
        format!("data: {event}\n\n")
    });
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let streamed = format!(
        "{}data: {end}\n\ndata: [DONE]\n\n",
        events.collect::<String>()
    );
    let head = "content-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let streamed = format!("HTTP/1.1 200 OK\r\n{head}{streamed}");
    let error = json!({"error": {"message": all}}).to_string();
    for (name, status, body) in [
        ("stream", 200, streamed),
        ("error", 400, error),
        ("page", 404, format!("<p>{all}")),
    ] {
        let server = Server::start(Duration::ZERO, Box::new(move |_| (status, body.clone())));
        let arguments = ["turn", "--model", "openai:gpt-5", "--record-http", name];
        let mut turn = server.command(&arguments);
        turn.env("HOME", home).current_dir(home);
        let prompt = json!({"role": "user", "content": all});
        let run = run_with_input(turn, &format!("{prompt}\n"));
        outputs.add_files(name, &home.join(name));
        if status != 200 {
            outputs.add(&format!("messages of {name}"), run.stderr);
        }
    }
    // Each answer repeats a secret.
    let answers = texts.clone();
    let server = Server::start(
        Duration::ZERO,
        Box::new(move |body| {
            let asked = body["messages"].to_string();
            let number = answers
                .iter()
                .enumerate()
                .find(|(number, _)| asked.contains(&format!("number-{number}-")));
            let answer = number.map_or("", |(_, text)| text);
            let answer = format!("Use {answer}");
            let asked = body.to_string();
            let content = if asked.contains("respond_in_schema") {
                json!({"title": answer}).to_string()
            } else if asked.contains("<recap>") {
                format!("<recap>{answer}</recap>")
            } else {
                answer
            };
            let message = json!({"role": "assistant", "content": content});
            (200, completion(&message))
        }),
    );
    let mut files = Vec::new();
    for number in 0..texts.len() {
        let name = format!("{number}.jsonl");
        fs::write(
            home.join(&name),
            session(number, &format!("number-{number}-")),
        )
        .unwrap();
        files.push(name);
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    for kind in ["title", "recap", "summarize-batch"] {
        let mut command =
            server.command(&[&[kind, "--model", "openai:small"], &files[..]].concat());
        command.env("HOME", home).current_dir(home);
        let shown = outputs.run(kind, command, "");
        assert!(shown.contains("[redacted]"), "{kind}");
    }
    outputs.assert_masked();
}
