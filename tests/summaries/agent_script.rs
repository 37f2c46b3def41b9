//! `examples/agent.sh`: a whole agent with a small real task.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::executable::executable;
use crate::files::records;
use crate::server::{Server, completion};
use crate::skip::search_path;
use crate::turnpipe::Run;

/// Creates a program with a bug, its test, a large file, and the user's rules.
fn repository(folder: &Path) {
    let files = [
        (
            "sum.sh",
            "#!/bin/sh\n# Adds two numbers.\necho $(($1 - $2))\n",
        ),
        (
            "test.sh",
            "#!/bin/sh\n[ \"$(sh sum.sh 2 3)\" = 5 ] && echo ok || { echo 'FAILED: 2 + 3'; exit 1; }\n",
        ),
        (
            "settings.json",
            r#"{"permissions":{"allow":["Bash(sh test.sh)","Edit"],"deny":["Bash(rm *)"]},
            "hooks":{"PostToolUse":[{"matcher":"Edit","hooks":[{"type":"command","command":"echo edited >> hook.log"}]}]}}"#,
        ),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let lines: Vec<String> = (0..20_000)
        .map(|line| format!("line {line} of the log"))
        .collect();
    fs::write(folder.join("large.log"), lines.join("\n")).unwrap();
    // Ids that are equal in all runs but differ between rounds.
    let wrapper = "#!/bin/sh\nTURNPIPE_ID_SEED=$(cat work.jsonl 2>/dev/null | wc -c)\n\
        export TURNPIPE_ID_SEED\nexec \"$BINARY\" \"$@\"\n";
    fs::create_dir_all(folder.join("bin")).unwrap();
    executable(&folder.join("bin/turnpipe"), wrapper);
}

fn bash(id: &str, command: &str) -> Value {
    call(id, "Bash", &json!({ "command": command }))
}

pub(crate) fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": input.to_string()}})
}

/// Waits until something has happened.
pub(crate) fn wait_until(what: &str, happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "{what} is missing"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the model's replies, by the number of results in the request. Ids repeat.
fn script(folder: &Path) -> impl Fn(&Value) -> (u16, String) + use<> {
    let path = |name: &str| folder.join(name).display().to_string();
    let (sum, log) = (path("sum.sh"), path("large.log"));
    move |body| {
        let messages = body["messages"].as_array().unwrap();
        let last = messages.last().unwrap()["content"]
            .as_str()
            .unwrap_or_default();
        if last.starts_with("And say") {
            return (
                200,
                completion(&json!({"role": "assistant", "content": "It adds now."})),
            );
        }
        let results = messages
            .iter()
            .filter(|message| message["role"] == "tool")
            .count();
        let (text, calls) = match results {
            0 => (
                "I look at the program and its test.",
                json!([
                    call("call_0", "Read", &json!({"file_path": sum})),
                    bash("call_1", "cat test.sh"),
                    bash("call_2", &format!("cat '{log}'")),
                    bash("call_3", "sh test.sh"),
                ]),
            ),
            4 => (
                "It subtracts. I correct it.",
                json!([
                    call(
                        "call_0",
                        "Edit",
                        &json!({"file_path": sum, "old_string": "$1 - $2", "new_string": "$1 + $2"})
                    ),
                    bash("call_1", "rm large.log"),
                ]),
            ),
            6 => (
                "I run the test again.",
                json!([bash("call_0", "sh test.sh")]),
            ),
            _ => ("The test passes: sum.sh added the wrong way.", Value::Null),
        };
        let mut message = json!({"role": "assistant", "content": text});
        if !calls.is_null() {
            message["tool_calls"] = calls;
        }
        (200, completion(&message))
    }
}

fn command(folder: &Path, prompt: &str, variables: &[(&str, &str)]) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/agent.sh");
    let mut command = Command::new("sh");
    command
        .arg(script)
        .args(["work.jsonl", prompt])
        .current_dir(folder)
        .env_clear()
        .env(
            "PATH",
            format!("{}/bin:{}", folder.display(), search_path()),
        )
        .env("BINARY", env!("CARGO_BIN_EXE_turnpipe"))
        .env("HOME", folder)
        .env("TOOL_OPTIONS", "--settings settings.json --emit turn")
        .env("TURNPIPE_FAST_MODEL", "builtin")
        .env("TURNPIPE_CLOCK", "2026-01-02T00:00:00Z")
        .envs(variables.iter().copied())
        .stdin(Stdio::null());
    command
}

fn agent(folder: &Path, prompt: &str, variables: &[(&str, &str)]) -> Run {
    let output = command(folder, prompt, variables).output().unwrap();
    Run {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns variables that name a server as the model, and one more.
fn network<'a>(address: &'a str, more: (&'a str, &'a str)) -> [(&'a str, &'a str); 4] {
    [
        ("TURNPIPE_MODEL", "openai:gpt-5"),
        ("OPENAI_API_KEY", "x"),
        ("OPENAI_BASE_URL", address),
        more,
    ]
}

/// Starts a server whose model waits in a command until the user says `Go on.`, and returns it with its address.
fn start_waiting_server() -> (Server, String) {
    let server = Server::start(
        Duration::ZERO,
        Box::new(|body| {
            let is_continued = body.to_string().contains("Go on.");
            let calls = json!([bash("call_0", "echo started > started; sleep 60")]);
            let message = if is_continued {
                json!({"role": "assistant", "content": "Done."})
            } else {
                json!({"role": "assistant", "content": "I wait.", "tool_calls": calls})
            };
            (200, completion(&message))
        }),
    );
    let address = format!("http://{}/v1", server.address);
    (server, address)
}

fn lines(path: &Path) -> Vec<Value> {
    records(&fs::read_to_string(path).unwrap())
}

#[test]
fn a_failing_test_is_fixed_and_the_run_is_reproducible() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    repository(&folder);
    let server = Server::start(Duration::ZERO, Box::new(script(&folder)));
    let address = format!("http://{}/v1", server.address);
    let network = network(&address, ("TURN_OPTIONS", "--record-http exchanges.jsonl"));
    let run = agent(&folder, "Fix the failing test.", &network);
    assert_eq!(run.status, Some(0), "{}{}", run.stdout, run.stderr);
    assert!(
        fs::read_to_string(folder.join("sum.sh"))
            .unwrap()
            .contains("$1 + $2")
    );
    assert!(folder.join("large.log").exists(), "the rule was not kept");
    assert_eq!(
        fs::read_to_string(folder.join("hook.log")).unwrap(),
        "edited\n"
    );
    let first = lines(&folder.join("work.jsonl"));
    let of_kind = |kind: &'static str| first.iter().filter(move |line| line["type"] == kind);
    let results: Vec<(&str, &str)> = of_kind("user")
        .filter_map(|line| {
            Some((
                line["turnpipe"]["outcome"].as_str()?,
                line["turnpipe"]["lane"].as_str().unwrap_or("-"),
            ))
        })
        .collect();
    assert_eq!(results[..3], [("ok", "parallel"); 3]);
    assert_eq!(results[3], ("error", "serial"));
    assert_eq!(results[5].0, "denied");
    assert_eq!(results[6].0, "ok");
    let saved = of_kind("user").filter(|line| line["turnpipe"]["persisted"].is_object());
    assert_eq!(saved.count(), 1);
    assert_eq!(of_kind("tool_use_summary").count(), 3);
    for part in [
        "## Fix the failing test\n",
        "| Calls | 7: 1 failed, 1 denied |\n",
    ] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    let session = folder.join("work.jsonl");
    let shown = ["session", "show", "-o", "text", session.to_str().unwrap()];
    let shown = crate::turnpipe::run(&shown, b"").stdout;
    // Ids repeat, and each label follows its own calls.
    let places = ["● ", "It subtracts", "● ", "I run the test again", "● "];
    let mut rest = &*shown;
    for place in places {
        let (_, after) = rest.split_once(place).unwrap();
        rest = after;
    }
    assert_eq!(
        of_kind("ai-title").next().unwrap()["aiTitle"],
        "Fix the failing test"
    );
    let check = crate::turnpipe::run(
        &[
            "session",
            "check",
            folder.join("work.jsonl").to_str().unwrap(),
        ],
        b"",
    );
    assert_eq!(check.status, Some(0), "{}", check.stdout);

    // The user continues.
    let run = agent(&folder, "And say what was wrong.", &network);
    assert_eq!(run.status, Some(0), "{}{}", run.stdout, run.stderr);
    let recap = agent(&folder, "", &network);
    assert!(recap.stdout.contains("recap: "), "{}", recap.stdout);
    let whole = fs::read_to_string(folder.join("work.jsonl")).unwrap();

    // Replayed from a recording in the same directory, every byte is equal.
    for entry in ["work.jsonl", "hook.log", ".local"] {
        let path = folder.join(entry);
        // It may not exist.
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
    }
    repository(&folder);
    let replayed = [
        ("TURNPIPE_MODEL", "replay:exchanges.jsonl"),
        ("TURN_OPTIONS", "-v"),
    ];
    for prompt in ["Fix the failing test.", "And say what was wrong."] {
        let run = agent(&folder, prompt, &replayed);
        assert_eq!(run.status, Some(0), "{}{}", run.stdout, run.stderr);
    }
    let again = fs::read_to_string(folder.join("work.jsonl")).unwrap();
    for (again, before) in again.lines().zip(whole.lines()) {
        assert_eq!(again, before);
    }
    assert_eq!(again.len(), whole.len());
}

#[test]
fn a_loop_without_replies_ends() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    let run = agent(folder.path(), "go", &[]);
    assert_eq!(run.status, Some(11), "{}", run.stderr);
    assert!(
        run.stderr.contains("no model is configured"),
        "{}",
        run.stderr
    );
}

/// A signal to the terminal's process group ends the round in order, and nothing is left over.
#[test]
fn signals_stop_the_loop_with_a_report() {
    for signal in ["-INT", "-TERM"] {
        let folder = tempfile::tempdir().unwrap();
        repository(folder.path());
        let (_server, address) = start_waiting_server();
        let variables = network(&address, ("TOOL_OPTIONS", "--allow Bash"));
        let child = command(folder.path(), "Wait.", &variables)
            .process_group(0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until("the call", || folder.path().join("started").exists());
        let script = format!("kill {signal} -- -{}", child.id());
        let sent = Command::new("bash").args(["-c", &script]).status();
        assert!(sent.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(11), "{signal}: {stderr}");
        assert!(stderr.contains("**Task:** Wait."), "{signal}: {stderr}");
        let session = lines(&folder.path().join("work.jsonl"));
        let results = session
            .iter()
            .filter(|line| line["turnpipe"]["outcome"] == "interrupted");
        assert_eq!(results.count(), 1, "{signal}");
    }
}

#[test]
fn a_killed_loop_can_be_continued() {
    let folder = tempfile::tempdir().unwrap();
    repository(folder.path());
    let (_server, address) = start_waiting_server();
    let variables = network(&address, ("TOOL_OPTIONS", "--allow Bash"));
    let mut child = command(folder.path(), "Wait.", &variables)
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the call", || folder.path().join("started").exists());
    let busy = agent(folder.path(), "Go on.", &variables);
    assert_eq!(busy.status, Some(11), "{}", busy.stderr);
    assert!(busy.stderr.contains("another agent"), "{}", busy.stderr);
    let script = format!("kill -KILL -- -{}", child.id());
    let sent = Command::new("bash").args(["-c", &script]).status();
    assert!(sent.unwrap().success());
    child.wait().unwrap();
    let run = agent(folder.path(), "Go on.", &variables);
    assert_eq!(run.status, Some(0), "{}", run.stderr);
}

#[test]
fn limits_stop_the_loop() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    repository(&folder);
    let server = Server::start(Duration::ZERO, Box::new(script(&folder)));
    let address = format!("http://{}/v1", server.address);
    let limits = [
        ("MAX_TIME", "0", 0),
        ("MAX_COST", "0", 0),
        ("MAX_TURNS", "1", 1),
    ];
    for (limit, value, requests) in limits {
        let run = agent(&folder, "Fix it.", &network(&address, (limit, value)));
        assert_eq!(run.status, Some(11), "{limit}: {}", run.stderr);
        let asked = std::mem::take(&mut *server.bodies.lock().unwrap());
        assert_eq!(asked.len(), requests, "{limit}");
    }
    // Another agent works in this session.
    let lock = fs::File::create(folder.join("work.jsonl.lock")).unwrap();
    lock.lock().unwrap();
    let run = agent(&folder, "Fix it.", &network(&address, ("MAX_TURNS", "9")));
    assert_eq!(
        (run.status, server.bodies.lock().unwrap().len()),
        (Some(11), 0)
    );
}
