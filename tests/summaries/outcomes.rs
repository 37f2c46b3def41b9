//! The outcome of each failure of a model: the table in `docs/models.md`.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agent_script::wait_until;
use crate::files::{TALK, claude, qwen, records, stream, write};
use crate::server::{Answer, Server, completion, run_with_input, text_reply, titles};
use crate::skip::{search_path, skip};
use crate::turnpipe::Run;

/// A failure of the table: the response of a server, and further conditions.
struct Case {
    answer: Box<Answer>,
    delay: Duration,
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

fn fixed_reply(answer: impl Into<String>) -> Case {
    let answer = answer.into();
    reply_with(move |_| (200, answer.clone()))
}

fn reply_with(answer: impl Fn(&Value) -> (u16, String) + Send + Sync + 'static) -> Case {
    Case {
        answer: Box::new(answer),
        delay: Duration::ZERO,
        arguments: Vec::new(),
        environment: Vec::new(),
    }
}

fn raw(head: &str, body: &str) -> Case {
    fixed_reply(format!(
        "HTTP/1.1 {head}\r\nconnection: close\r\n\r\n{body}"
    ))
}

fn error(kind: &str) -> String {
    json!({"error": {"message": "boom", "type": kind}}).to_string()
}

fn reply_ending(content: &Value, reason: &str) -> String {
    let message = json!({"role": "assistant", "content": content, "reasoning_content": "Hm."});
    completion(&message).replace(
        "\"finish_reason\":\"stop\"",
        &format!("\"finish_reason\":\"{reason}\""),
    )
}

/// Returns the failure named in a row of the table.
fn case(failure: &str, folder: &std::path::Path) -> Case {
    if let Some(status) = failure.strip_prefix("status ") {
        let status: u16 = status.parse().unwrap();
        return reply_with(move |_| (status, error("some_error")));
    }
    let at = |url: String| Case {
        environment: vec![("OPENAI_BASE_URL", url)],
        ..fixed_reply("")
    };
    match failure {
        "a used-up quota" => reply_with(|_| (429, error("insufficient_quota"))),
        "a redirect" => raw("302 Found\r\nlocation: http://127.0.0.1/", ""),
        "a request to wait for more than two minutes" => {
            raw("429 Busy\r\nretry-after: 3600", &error("rate_limit_error"))
        }
        "nothing listens" => {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            at(format!("http://{}/v1", listener.local_addr().unwrap()))
        }
        "no encryption where it is expected" => {
            let server = Server::start(Duration::ZERO, Box::new(|_| (200, String::new())));
            at(format!("https://{}/v1", server.address))
        }
        "no reply in time" => Case {
            delay: Duration::from_secs(30),
            arguments: vec!["--timeout".to_owned(), "200ms".to_owned()],
            ..fixed_reply("")
        },
        "a reply that is cut off" => raw(
            "200 OK\r\ncontent-type: application/json\r\ncontent-length: 9999",
            "{\"id\":",
        ),
        "a used-up token budget" => fixed_reply(reply_ending(&json!("Half a"), "length")),
        "an empty reply" => fixed_reply(text_reply("")),
        "only thoughts" => fixed_reply(reply_ending(&json!(""), "stop")),
        "a content filter" => fixed_reply(reply_ending(&json!(null), "content_filter")),
        "a web page" => raw("200 OK\r\ncontent-type: text/html", "<html>Sign in</html>"),
        "an error with status 200" => fixed_reply(error("server_error")),
        "a reply that is not JSON" => fixed_reply("certainly!"),
        "a refusal in words" => reply_with(|body| {
            let asks_for_title = body.to_string().contains("respond_in_schema");
            let refusal = "I'm sorry, but I can't help with that.";
            (
                200,
                if asks_for_title {
                    titles(refusal)
                } else {
                    text_reply(refusal)
                },
            )
        }),
        "a request that is not recorded" => {
            let path = write(folder, "recording.jsonl", "");
            let path = path.to_str().unwrap();
            let server = Server::start(
                Duration::ZERO,
                Box::new(|_| (200, text_reply("Read a file"))),
            );
            let other = write(
                folder,
                "other.jsonl",
                &claude(&["Name a colour", "Red it is."]),
            );
            let recorded = ["title", "--record-http", path, other.to_str().unwrap()];
            assert_ne!(run_with_input(server.command(&recorded), "").status, None);
            Case {
                environment: vec![("TURNPIPE_FAST_MODEL", format!("replay:{path}"))],
                ..fixed_reply("")
            }
        }
        "a key command that fails" => {
            let config = "[providers.openai]\napi_key_cmd = \"exit 3\"\n";
            let config = write(folder, "config.toml", config);
            Case {
                arguments: vec!["--config".to_owned(), config.to_str().unwrap().to_owned()],
                environment: vec![("OPENAI_API_KEY", String::new())],
                ..fixed_reply("")
            }
        }
        other => unreachable!("no such failure: {other}"),
    }
}

fn cells(line: &str) -> Vec<String> {
    let cells = line.trim_matches('|').split('|');
    cells
        .map(|cell| cell.trim().trim_matches('`').to_owned())
        .collect()
}

/// Returns the failures in a row of the table, which have the same outcome.
fn failures(row: &str) -> impl Iterator<Item = &str> {
    let first = row.trim_matches('|').split('|').next().unwrap();
    first.split(", ").map(str::trim)
}

#[test]
fn every_failure_has_the_outcome_of_the_table() {
    let page = include_str!("../../docs/models.md");
    let (_, table) = page.split_once("| failure | `reason` |").unwrap();
    let rows: Vec<(&str, &str)> = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .flat_map(|row| failures(row).map(move |failure| (failure, row)))
        .collect();
    assert!(rows.len() > 20, "{}", rows.len());
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one.jsonl", &claude(&TALK));
    let two = write(folder.path(), "two.jsonl", &qwen(&TALK));
    let sessions = [one.to_str().unwrap(), two.to_str().unwrap()];
    for (failure, row) in rows {
        let cells = cells(row);
        let [_, reason, message, status, others] = cells.as_slice() else {
            panic!("{row}");
        };
        for command in ["title", "recap", "summarize-batch"] {
            let Case {
                answer,
                delay,
                arguments,
                environment,
            } = case(failure, folder.path());
            let server = Server::start(delay, answer);
            let is_stream = command == "summarize-batch";
            let mut words = vec![command, "--jobs", "1"];
            words.extend(arguments.iter().map(String::as_str));
            if !is_stream {
                words.extend(["-o", "jsonl"].iter().chain(&sessions));
            }
            let mut asked = server.command(&words);
            asked.envs(environment);
            let input = if is_stream { stream(2) } else { String::new() };
            let run = run_with_input(asked, &input);
            let about = format!("{failure}: {command}: {run:?}");
            assert_eq!(run.status, Some(status.parse().unwrap()), "{about}");
            let mut expected = vec![message.trim_end_matches('…')];
            if others == "not_asked" {
                expected.push("0 written, 2 not: 1 skipped after the model refused a request");
            }
            let lines: Vec<&str> = run.stderr.lines().collect();
            assert_eq!(lines.len(), expected.len(), "{about}");
            for (line, expected) in lines.iter().zip(expected) {
                assert!(
                    line.starts_with(&format!("turnpipe: {expected}")),
                    "{about}"
                );
            }
            let found = records(&run.stdout);
            if is_stream {
                let is_label = |record: &&Value| record["type"] == "tool_use_summary";
                assert_eq!(found.iter().filter(is_label).count(), 0, "{about}");
            } else {
                let reasons: Vec<&str> = found
                    .iter()
                    .map(|record| record["reason"].as_str().unwrap())
                    .collect();
                assert_eq!(reasons, [reason, others], "{about}");
            }
        }
    }
}

/// Returns a server that takes a request only every 100 ms, and rejects all others.
fn with_rate_limit() -> Server {
    let free = std::sync::Mutex::new(Instant::now());
    Server::start(
        Duration::ZERO,
        Box::new(move |body| {
            let mut free = free.lock().unwrap();
            let now = Instant::now();
            if now < *free {
                let wait = (*free - now).as_millis() + 1;
                let head = format!("HTTP/1.1 429 Busy\r\nretry-after-ms: {wait}");
                let body = error("rate_limit_error");
                return (0, format!("{head}\r\nconnection: close\r\n\r\n{body}"));
            }
            *free = now + Duration::from_millis(100);
            let asks_for_title = body.to_string().contains("respond_in_schema");
            (
                200,
                if asks_for_title {
                    titles("Port the parser")
                } else {
                    text_reply("Read a file")
                },
            )
        }),
    )
}

#[test]
fn a_rate_limit_makes_a_run_wait_but_not_fail() {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..8)
        .map(|number| write(folder.path(), &format!("{number}.jsonl"), &claude(&TALK)))
        .collect();
    let mut words = vec!["title", "-o", "jsonl", "--jobs", "4"];
    words.extend(paths.iter().map(|path| path.to_str().unwrap()));
    let server = with_rate_limit();
    let run = run_with_input(server.command(&words), "");
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    let found = records(&run.stdout);
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|record| record["ok"] == true), "{run:?}");
    // Requests sent before the first rejection are refused, and then at most each one once.
    let asked = server.bodies.lock().unwrap().len();
    assert!(asked <= 8 + 4 + 8, "{asked} requests");

    let server = with_rate_limit();
    let words = ["summarize-batch", "--jobs", "4", "--hold-ms", "60000"];
    let run = run_with_input(server.command(&words), &stream(8));
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    assert_eq!(
        run.stdout.matches("\"tool_use_summary\"").count(),
        8,
        "{run:?}"
    );
}

#[test]
fn a_limit_of_requests_is_respected_and_must_be_positive() {
    let server = Server::start(
        Duration::ZERO,
        Box::new(|_| (200, titles("Port the parser"))),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "s.jsonl", &claude(&TALK));
    let path = path.to_str().unwrap();
    let start = Instant::now();
    let words = [
        "title", "--jobs", "4", "--rpm", "600", path, path, path, path,
    ];
    assert_eq!(run_with_input(server.command(&words), "").status, Some(0));
    assert!(start.elapsed() >= Duration::from_millis(300));
    let none = run_with_input(server.command(&["title", "--rpm", "0", path]), "");
    assert_eq!(none.status, Some(2), "{none:?}");
}

#[test]
fn an_interrupt_ends_a_wait_for_the_next_request() {
    let busy = || raw("429 Busy\r\nretry-after: 60", &error("rate_limit_error"));
    let server = Server::start(Duration::ZERO, busy().answer);
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "s.jsonl", &claude(&TALK));
    let mut command = server.command(&["title", path.to_str().unwrap()]);
    command.stdout(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("a request", || !server.bodies.lock().unwrap().is_empty());
    let child_id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(child_id, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
}

/// Runs the binary as a user who cannot start threads or processes. `None` if this machine does not
/// allow it.
fn without_threads(folder: &Path, arguments: &[&str]) -> Option<Run> {
    let binary = folder.join("turnpipe");
    // Copied by another process: children of this one would keep the copy open, so that it could not be executed.
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_turnpipe"))
        .arg(&binary)
        .status();
    assert!(copied.unwrap().success());
    let mut words = vec!["bash", "-c", "ulimit -u 1; exec \"$@\"", "bash"];
    if rustix::process::geteuid().is_root() {
        // Limits do not apply to root.
        let other = [
            "setpriv",
            "--reuid=61234",
            "--regid=61234",
            "--clear-groups",
        ];
        words.splice(..0, other);
    }
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .arg(binary)
        .args(arguments)
        .env_clear()
        .env("PATH", search_path())
        .env("OPENAI_API_KEY", "sk-0")
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        .stdin(Stdio::null());
    let output = command.output().ok()?;
    Some(Run {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    })
}

#[test]
fn missing_threads_are_not_a_failure_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let everybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), everybody).unwrap();
    write(folder.path(), "q.jsonl", &qwen(&TALK));
    let path = write(folder.path(), "s.jsonl", &claude(&TALK));
    let path = path.to_str().unwrap();
    let no_request = "turnpipe: the provider cannot be reached: cannot make requests: Resource \
                      temporarily unavailable (os error 11)\n";
    let no_input = "turnpipe: cannot read input: Resource temporarily unavailable (os error 11)\n";
    for (command, status, message) in [
        ("title PATH", 5, no_request),
        ("title PATH PATH", 5, no_request),
        ("recap PATH", 5, no_request),
        ("recap PATH PATH", 5, no_request),
        ("summarize-batch", 74, no_input),
        ("session stats --jobs 4 --root FOLDER", 0, ""),
        ("session search e --jobs 4 --root FOLDER", 0, ""),
    ] {
        let command = command.replace("PATH", path);
        let command = command.replace("FOLDER", folder.path().to_str().unwrap());
        let mut arguments: Vec<&str> = command.split(' ').collect();
        if !command.starts_with("session") {
            arguments.extend(["--model", "openai:small"]);
        }
        let Some(run) = without_threads(folder.path(), &arguments) else {
            skip("setpriv, or a limit on processes that it keeps");
            return;
        };
        let outcome = (run.status, run.stderr.as_str());
        assert_eq!(outcome, (Some(status), message), "{command}");
    }
}

#[test]
fn text_names_the_session_of_each_text() {
    let folder = tempfile::tempdir().unwrap();
    let one = write(folder.path(), "one.jsonl", &claude(&TALK));
    let two = write(folder.path(), "two.jsonl", &qwen(&TALK));
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    for command in ["title", "recap"] {
        let words = [command, "-o", "text", "--model", "builtin", one, two];
        let shown = crate::turnpipe::run(&words, b"").stdout;
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 2, "{shown}");
        assert!(lines[0].starts_with(&format!("{one}: ")), "{shown}");
        assert!(lines[1].starts_with(&format!("{two}: ")), "{shown}");
        let alone = crate::turnpipe::run(&words[..6], b"").stdout;
        assert!(!alone.contains(one), "{alone}");
    }
}

/// Starts a server that sends this response on every connection at once.
fn serve_bytes(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The content of the request does not matter.
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
        }
    });
    address.to_string()
}

#[test]
fn failures_of_connections_have_hints() {
    let plain = serve_bytes(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    let busy = serve_bytes(b"HTTP/1.1 503 Busy\r\nretry-after: 600\r\ncontent-length: 0\r\n\r\n");
    let rows = [
        (format!("https://{plain}/v1"), "", "try `http://`"),
        (format!("http://{busy}/v1"), "", "asks to wait 600 s"),
        ("localhost:1234/v1".to_owned(), "", "start with `https://`"),
        (
            "http://model.example/v1".to_owned(),
            "http://127.0.0.1:9",
            "a proxy is set: 127.0.0.1",
        ),
    ];
    let server = Server::start(Duration::ZERO, Box::new(|_| (200, text_reply("unused"))));
    for (address, proxy, hint) in rows {
        let mut command = server.command(&["summarize-batch"]);
        command.env("OPENAI_BASE_URL", &address);
        // A key is sent to a proxy only over TLS.
        command.env("https_proxy", proxy).env("http_proxy", proxy);
        command.env_remove("OPENAI_API_KEY");
        let run = run_with_input(command, &stream(1));
        assert!(run.stderr.contains(hint), "{address}: {}", run.stderr);
    }
}
