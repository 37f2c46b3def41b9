//! `title --batch`, against a server with both providers' shapes.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::files::{TALK, claude, records, write};
use crate::server::{CANARY, Server, fed, titles};
use crate::turnpipe::{Run, run};

/// A provider that takes batches, and says about each how the test wants it.
#[derive(Default)]
struct Provider {
    /// The names of the requests of the batches that were taken.
    taken: Mutex<Vec<Vec<String>>>,
    /// The file that was uploaded last.
    uploaded: Mutex<Vec<String>>,
    /// Whether batches are over.
    is_over: Mutex<bool>,
}

impl Provider {
    /// The answers to a batch: the last request first, one expired, one refused, one of no use.
    fn answers(&self, answer: impl Fn(&str, usize) -> Value) -> String {
        let mut lines = String::new();
        let taken = self.taken.lock().unwrap();
        for (place, name) in taken.last().unwrap().iter().enumerate().rev() {
            writeln!(lines, "{}", answer(name, place)).unwrap();
        }
        lines
    }

    fn openai(&self, body: &Value) -> (u16, String) {
        let request = body["request"].as_str().unwrap_or_default();
        let over = *self.is_over.lock().unwrap();
        let answer = if request.starts_with("POST /v1/files ") {
            let text = body["text"].as_str().unwrap();
            let is_line = |line: &&str| line.starts_with('{');
            let requests: Vec<Value> = text
                .lines()
                .filter(is_line)
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert!(text.contains("name=\"purpose\"\r\n\r\nbatch\r\n"), "{text}");
            let named = |request: &Value| {
                assert_eq!(request["method"], "POST");
                assert_eq!(request["url"], "/v1/chat/completions");
                assert_eq!(request["body"]["model"], "gpt-5-mini");
                request["custom_id"].as_str().unwrap().to_owned()
            };
            *self.uploaded.lock().unwrap() = requests.iter().map(named).collect();
            json!({"id": "file-1", "object": "file"})
        } else if body["input_file_id"] == "file-1" {
            assert_eq!(body["completion_window"], "24h");
            let uploaded = std::mem::take(&mut *self.uploaded.lock().unwrap());
            self.taken.lock().unwrap().push(uploaded);
            json!({"id": "batch_1", "status": "validating"})
        } else if request.starts_with("GET /v1/batches/batch_1 ") {
            let status = if over { "completed" } else { "in_progress" };
            let (output, error) = if over {
                (json!("file-2"), json!("file-3"))
            } else {
                (Value::Null, Value::Null)
            };
            json!({"id": "batch_1", "status": status, "output_file_id": output, "error_file_id": error})
        } else if request.starts_with("GET /v1/files/file-2/content ") {
            let answer = |name: &str, place| {
                if place == 1 {
                    return json!({"custom_id": "another", "response": null, "error": null});
                }
                let title = if place == 2 { "" } else { "Port the parser" };
                let body: Value = serde_json::from_str(&titles(title)).unwrap();
                json!({"custom_id": name, "response": {"status_code": 200, "body": body}})
            };
            return (200, self.answers(answer));
        } else if request.starts_with("GET /v1/files/file-3/content ") {
            return (
                200,
                self.answers(|name, place| match place {
                    1 => json!({"custom_id": name, "response": null,
                    "error": {"code": "batch_expired", "message": "it took too long"}}),
                    _ => json!({}),
                }),
            );
        } else {
            return (
                404,
                json!({"error": {"message": format!("no {body}")}}).to_string(),
            );
        };
        (200, answer.to_string())
    }

    fn anthropic(&self, body: &Value) -> (u16, String) {
        let request = body["request"].as_str().unwrap_or_default();
        let over = *self.is_over.lock().unwrap();
        if let Some(requests) = body["requests"].as_array() {
            let named = |request: &Value| {
                assert_eq!(request["params"]["model"], "claude-haiku-4-5");
                request["custom_id"].as_str().unwrap().to_owned()
            };
            let named = requests.iter().map(named).collect();
            self.taken.lock().unwrap().push(named);
            let answer = json!({"id": "msgbatch_1", "processing_status": "in_progress"});
            return (200, answer.to_string());
        }
        if request.starts_with("GET /v1/messages/batches/msgbatch_1 ") {
            let status = if over { "ended" } else { "in_progress" };
            let answer = json!({"id": "msgbatch_1", "processing_status": status});
            return (200, answer.to_string());
        }
        assert!(
            request.starts_with("GET /v1/messages/batches/msgbatch_1/results "),
            "{body}"
        );
        (200, self.answers(|name, place| {
            let result = match place {
                1 => json!({"type": "expired"}),
                2 => json!({"type": "errored", "error": {"type": "error",
                    "error": {"type": "invalid_request_error", "message": "too odd"}}}),
                _ => json!({"type": "succeeded", "message": {
                    "id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
                    "content": [{"type": "tool_use", "id": "t", "name": "respond_in_schema",
                        "input": {"title": "Port the parser"}}],
                    "stop_reason": "tool_use", "usage": {"input_tokens": 1_000_000, "output_tokens": 0}}}),
            };
            json!({"custom_id": name, "result": result})
        }))
    }
}

struct Bench {
    folder: tempfile::TempDir,
    provider: Arc<Provider>,
    server: Server,
    model: &'static str,
}

impl Bench {
    fn new(model: &'static str) -> Self {
        let provider: Arc<Provider> = Arc::default();
        let answering = Arc::clone(&provider);
        let server = Server::start(
            Duration::ZERO,
            Box::new(move |body| {
                if model.starts_with("openai") {
                    answering.openai(body)
                } else {
                    answering.anthropic(body)
                }
            }),
        );
        Self {
            folder: tempfile::tempdir().unwrap(),
            provider,
            server,
            model,
        }
    }

    fn session(&self, name: &str) -> PathBuf {
        write(self.folder.path(), name, &claude(&TALK))
    }

    fn title(&self, arguments: &[&str]) -> Run {
        let state = self.folder.path().join("state");
        let options = [
            "--model",
            self.model,
            "-o",
            "jsonl",
            "--state-dir",
            state.to_str().unwrap(),
        ];
        let mut command = self
            .server
            .command(&[&["title"], arguments, &options].concat());
        command.env("HOME", self.folder.path());
        let run = fed(command, "");
        assert!(!format!("{run:?}").contains(CANARY), "{run:?}");
        run
    }

    /// Nothing of what the provider is given or told is kept but names.
    fn state(&self) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(self.folder.path().join("state/batches")).unwrap() {
            text += &std::fs::read_to_string(entry.unwrap().path()).unwrap();
        }
        assert!(
            !text.contains(CANARY) && !text.contains("config parser"),
            "{text}"
        );
        text
    }
}

fn title_in(path: &Path) -> Value {
    let listed = run(
        &[
            "session",
            "list",
            "--root",
            path.to_str().unwrap(),
            "--json",
        ],
        b"",
    );
    records(&listed.stdout)[0]["title"].clone()
}

fn reasons(run: &Run) -> Vec<String> {
    let reason = |record: Value| match &record["reason"] {
        Value::String(reason) => reason.clone(),
        _ => record["title"].as_str().unwrap_or_default().to_owned(),
    };
    records(&run.stdout).into_iter().map(reason).collect()
}

#[test]
fn titles_are_asked_for_together_and_written_later() {
    for model in ["openai:gpt-5-mini", "anthropic:claude-haiku-4-5"] {
        let bench = Bench::new(model);
        let paths: Vec<PathBuf> = (0..5)
            .map(|n| bench.session(&format!("{n}.jsonl")))
            .collect();
        let named: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
        let short = write(bench.folder.path(), "short.jsonl", &claude(&["hi"]));
        let submitted = bench.title(
            &[
                &["--batch", "submit"],
                &named[..],
                &[short.to_str().unwrap()],
            ]
            .concat(),
        );
        assert_eq!(submitted.status, Some(0), "{submitted:?}");
        assert_eq!(reasons(&submitted)[..5], ["in_batch"; 5], "{submitted:?}");
        assert_eq!(reasons(&submitted)[5], "empty_history");
        assert!(
            submitted.stderr.contains("asked for 5 titles"),
            "{submitted:?}"
        );
        assert_eq!(bench.provider.taken.lock().unwrap()[0].len(), 5);
        assert!(bench.state().contains("batch_1"));

        // Nobody pays twice.
        let again = bench.title(&["--batch", "submit", named[0]]);
        assert_eq!(reasons(&again), ["in_batch"], "{again:?}");
        assert_eq!(bench.provider.taken.lock().unwrap().len(), 1);

        let early = bench.title(&["--batch", "collect", "--exit-status"]);
        assert_eq!(
            (early.status, early.stdout.as_str()),
            (Some(1), ""),
            "{early:?}"
        );
        assert!(
            early.stderr.contains("not ready yet: 5 titles"),
            "{early:?}"
        );

        let renamed = run(&["session", "rename", named[3], "Mine"], b"");
        assert_eq!(renamed.status, Some(0), "{renamed:?}");
        std::fs::remove_file(&paths[4]).unwrap();
        *bench.provider.is_over.lock().unwrap() = true;
        let collected = bench.title(&["--batch", "collect"]);
        let unusable = if model.starts_with("openai") {
            "empty_result"
        } else {
            "model_error"
        };
        assert_eq!(
            reasons(&collected),
            [
                "Port the parser",
                "model_error",
                unusable,
                "manual_title",
                "unreadable"
            ],
            "{collected:?}"
        );
        assert_eq!(records(&collected.stdout)[0]["written"], true);
        assert_eq!(title_in(&paths[0]), "Port the parser");
        assert_eq!(title_in(&paths[3]), "Mine");
        let late = bench.title(&["--batch", "collect"]);
        assert_eq!(
            (late.status, late.stdout.as_str()),
            (Some(0), ""),
            "{late:?}"
        );
        assert!(late.stderr.contains("no batch is open"), "{late:?}");

        if model.starts_with("anthropic") {
            // A million tokens at half of one dollar.
            let stats = run(&["session", "stats", named[0], "-o", "jsonl"], b"");
            let cost = records(&stats.stdout)[0]["usage"]["cost_usd"].as_f64();
            let cost = cost.unwrap_or_else(|| panic!("{}", stats.stdout));
            assert!((cost - 0.5).abs() < 1e-9, "{}", stats.stdout);
        }
    }
}

#[test]
fn a_batch_that_is_not_taken_leaves_nothing() {
    let bench = Bench::new("openai:gpt-5-mini");
    let path = bench.session("one.jsonl");
    let server = Server::start(
        Duration::ZERO,
        Box::new(|_| {
            (
                401,
                json!({"error": {"message": "no such key"}}).to_string(),
            )
        }),
    );
    let refused = Bench { server, ..bench };
    let told = refused.title(&["--batch", "submit", path.to_str().unwrap()]);
    assert_eq!(
        (told.status, reasons(&told)),
        (Some(4), vec!["model_error".to_owned()]),
        "{told:?}"
    );
    assert_eq!(refused.state(), "");
}

#[test]
fn who_takes_no_batches_is_not_asked() {
    let bench = Bench::new("openai:gpt-5-mini");
    let path = bench.session("one.jsonl");
    for (model, problem) in [
        ("builtin", "--batch needs a model that can be asked"),
        ("ollama:small", "`ollama:small` takes no batches"),
    ] {
        let told = run(
            &[
                "title",
                "--batch",
                "submit",
                "--model",
                model,
                path.to_str().unwrap(),
            ],
            b"",
        );
        assert_eq!(
            (told.status, told.stdout.as_str()),
            (Some(2), ""),
            "{told:?}"
        );
        assert!(told.stderr.contains(problem), "{told:?}");
    }
    assert!(bench.server.bodies.lock().unwrap().is_empty());
}
