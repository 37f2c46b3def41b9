//! The binary's `session append`: whole pipelines that record a turn.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

mod schema;
mod skip;

use schema::assert_fits;

/// A temporary directory, and the binary in a clean environment.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn shell(&self, script: &str) -> Output {
        Command::new("bash")
            .args([
                "-c",
                &format!("turnpipe() {{ \"$TURNPIPE\" \"$@\"; }}\n{script}"),
            ])
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", skip::search_path())
            .env("TURNPIPE", env!("CARGO_BIN_EXE_turnpipe"))
            .env("TURNPIPE_CLOCK", "2026-01-02T03:04:05Z")
            .env("TURNPIPE_ID_SEED", "7")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn records(path: &Path) -> Vec<Value> {
    fs::read_to_string(path)
        .unwrap()
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

fn call(message: &str, id: &str, command: &str) -> String {
    let record = json!({"type": "assistant", "session_id": "s", "message": {"id": message,
        "role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}});
    format!("{record}\n")
}

#[test]
fn a_turn_is_recorded_so_that_session_show_reads_it() {
    let bench = Bench::new();
    fs::write(bench.path("turn"), call("m", "t", "echo hello")).unwrap();
    let run = bench.shell(
        "turnpipe run-tools --permission-mode bypassPermissions < turn |
         turnpipe session append s.jsonl --exit-status > copy; echo $?
         turnpipe show s.jsonl -o jsonl | grep -c hello",
    );
    assert_eq!(text(&run.stdout), "0\n2\n", "{}", text(&run.stderr));
    let lines = records(&bench.path("s.jsonl"));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["type"], "assistant");
    assert_eq!(lines[0]["sessionId"], "s");
    assert_eq!(lines[0]["parentUuid"], Value::Null);
    assert_eq!(lines[1]["parentUuid"], lines[0]["uuid"]);
    assert_eq!(lines[1]["toolUseResult"]["stdout"], "hello");
    assert!(lines.iter().all(|line| line["turnpipe"]["v"] == 1));
    let copy = fs::read_to_string(bench.path("copy")).unwrap();
    assert!(
        copy.contains("turn_end") && copy.contains("executor"),
        "{copy}"
    );
}

/// Replies of every API are recorded, in the order of calls and results.
#[test]
fn replies_of_every_api_are_recorded() {
    let arguments = r#"{\"command\":\"true\"}"#;
    let streams = [
        r#"{"role":"user","content":"go"}
{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"Bash","input":{"command":"true"}}]}"#
            .to_owned(),
        format!(
            r#"{{"role":"user","content":"go"}}
{{"role":"assistant","content":"I look.","tool_calls":[{{"id":"a","type":"function","function":{{"name":"Bash","arguments":"{arguments}"}}}}]}}"#
        ),
        format!(
            r#"{{"role":"user","content":"go"}}
data: {{"id":"r","choices":[{{"index":0,"delta":{{"role":"assistant","content":"I "}}}}]}}
data: {{"id":"r","choices":[{{"index":0,"delta":{{"content":"look."}}}}]}}
data: {{"id":"r","choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"a","function":{{"name":"Bash","arguments":"{arguments}"}}}}]}}}}]}}
data: {{"id":"r","choices":[{{"index":0,"delta":{{}},"finish_reason":"tool_calls"}}]}}"#
        ),
        format!(
            r#"{{"role":"user","content":"go"}}
data: {{"type":"response.created","response":{{"id":"r"}}}}
data: {{"type":"response.output_text.delta","output_index":0,"delta":"I look."}}
data: {{"type":"response.output_item.done","output_index":0,"item":{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"I look."}}]}}}}
data: {{"type":"response.output_item.done","output_index":1,"item":{{"type":"function_call","call_id":"a","name":"Bash","arguments":"{arguments}"}}}}
data: {{"type":"response.completed","response":{{"id":"r","status":"completed"}}}}"#
        ),
        r#"{"role":"user","parts":[{"text":"go"}]}
{"role":"model","parts":[{"text":"I look."},{"functionCall":{"id":"a","name":"Bash","args":{"command":"true"}}}]}"#
            .to_owned(),
        r#"{"role":"user","content":"go"}
{"message":{"role":"assistant","content":"I look.","tool_calls":[{"id":"a","function":{"name":"Bash","arguments":{"command":"true"}}}]},"done":true,"done_reason":"stop"}"#
            .to_owned(),
    ];
    for stream in streams {
        let bench = Bench::new();
        fs::write(bench.path("in.jsonl"), &stream).unwrap();
        let run = bench.shell(
            "turnpipe run-tools < in.jsonl | turnpipe session append --no-echo s.jsonl \\
             && turnpipe show s.jsonl",
        );
        assert!(run.status.success(), "{stream}: {}", text(&run.stderr));
        let shown: Vec<Value> = text(&run.stdout)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let blocks = shown.iter().flat_map(|record| {
            record["message"]["content"]
                .as_array()
                .into_iter()
                .flatten()
        });
        let said: Vec<String> = blocks
            .map(|block| {
                let id = block["id"].as_str().or(block["tool_use_id"].as_str());
                let text = block["text"].as_str().or(id).unwrap_or_default();
                format!("{} {text}", block["type"].as_str().unwrap())
            })
            .collect();
        let expected = ["text go", "text I look.", "tool_use a", "tool_result a"];
        assert_eq!(said, expected, "{stream}");
    }
}

#[test]
fn a_session_named_late_gets_its_id() {
    let answer = json!({"type": "control_response", "response": {"subtype": "success"}});
    let warning = json!({"type": "error", "message": "no configuration"});
    let init =
        json!({"type": "system", "subtype": "init", "session_id": "s", "qwen_code_version": "1"});
    let thread = json!({"type": "thread.started", "thread_id": "s"});
    let message = json!({"id": "item_0", "type": "agent_message", "text": "done"});
    let message = json!({"type": "item.completed", "item": message});
    for rows in [
        format!("{answer}\n{init}\n{}", call("m", "t", "true")),
        format!("{warning}\n{thread}\n{message}\n"),
    ] {
        let bench = Bench::new();
        fs::write(bench.path("stream"), &rows).unwrap();
        let run = bench.shell("turnpipe session append file.jsonl < stream");
        assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
        let recorded = records(&bench.path("file.jsonl"));
        assert_eq!(recorded[0]["sessionId"], "s", "{rows}");
    }
}

#[test]
fn the_exit_status_shows_what_to_do_next() {
    let bench = Bench::new();
    let reply = json!({"type": "assistant", "message": {"id": "m", "role": "assistant",
        "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn"}});
    fs::write(bench.path("text"), format!("{reply}\n")).unwrap();
    fs::write(bench.path("call"), call("m", "t", "true")).unwrap();
    let run = bench.shell(
        "turnpipe session append a.jsonl --exit-status < text >/dev/null; echo $?
         turnpipe session append b.jsonl --exit-status < call >/dev/null; echo $?
         turnpipe session append c.jsonl < call >/dev/null; echo $?",
    );
    assert_eq!(text(&run.stdout), "10\n11\n0\n");
}

#[test]
fn records_that_another_agent_rejects_go_to_a_second_file() {
    let bench = Bench::new();
    let rows = [
        json!({"type": "user", "sessionId": "x", "uuid": "u", "parentUuid": null,
            "message": {"role": "user", "content": "go"}}),
        json!({"type": "assistant", "sessionId": "x", "uuid": "v", "parentUuid": "u",
            "message": {"id": "m", "role": "assistant",
                "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}}),
        json!({"type": "user", "sessionId": "x", "uuid": "w", "parentUuid": "v",
            "message": {"role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}}),
    ];
    let theirs = rows.map(|row| format!("{row}\n")).concat();
    fs::write(bench.path("theirs.jsonl"), &theirs).unwrap();
    let label = json!({"type": "tool_use_summary", "summary": "Ran a command",
        "preceding_tool_use_ids": ["t"], "turnpipe": {"v": 1,
            "usage": {"input_tokens": 7, "output_tokens": 2}, "prompt_id": "tool_use_summary_generation"}});
    let title = json!({"type": "title", "ok": true, "title": "Go on", "title_source": "auto"});
    let stream = format!("{}{label}\n{title}\n", call("m", "t", "true"));
    fs::write(bench.path("stream"), &stream).unwrap();
    fs::copy(bench.path("theirs.jsonl"), bench.path("loop.jsonl")).unwrap();
    let run = bench.shell("turnpipe -q session append loop.jsonl --no-echo --exit-status < stream");
    assert_eq!(run.status.code(), Some(11));
    let message = "turnpipe: loop.jsonl: file of another agent: 1 message was not recorded\n";
    assert_eq!(text(&run.stderr), message);
    bench.shell("rm loop.jsonl*");
    let run = bench.shell("turnpipe session append theirs.jsonl < stream");
    assert_eq!(run.status.code(), Some(0));
    assert_eq!(text(&run.stdout), stream);
    assert!(
        text(&run.stderr).contains("file of another agent: 1 message was not recorded"),
        "{}",
        text(&run.stderr)
    );
    let now = fs::read_to_string(bench.path("theirs.jsonl")).unwrap();
    let added = now.strip_prefix(&*theirs).unwrap();
    assert_eq!(added.lines().count(), 1, "{added}");
    let shown = bench.shell("turnpipe show ./theirs.jsonl -o text");
    let page = text(&shown.stdout);
    assert!(
        page.starts_with("Go on\n") && page.contains("● Ran a command"),
        "{page}"
    );
    let stats = bench.shell("turnpipe stats ./theirs.jsonl -o jsonl");
    let stats = text(&stats.stdout);
    assert!(
        stats.contains(
            r#""name":"tool_use_summary_generation","replies":0,"usage":{"input_tokens":7"#
        ),
        "{stats}"
    );
    let listed = bench.shell("turnpipe list --root . | grep -c '\"type\":\"session\"'");
    assert_eq!(text(&listed.stdout), "1\n");
}

#[test]
fn secrets_are_masked_on_request_in_the_file_only() {
    let bench = Bench::new();
    let key = "sk-ant-api03-a1B2c3D4e5F6g7H8i9J0";
    let prompt =
        json!({"type": "user", "message": {"role": "user", "content": format!("use {key}")}});
    fs::write(bench.path("stream"), format!("{prompt}\n")).unwrap();
    let run = bench.shell("turnpipe session append s.jsonl --redact < stream");
    assert!(text(&run.stdout).contains(key));
    let recorded = &records(&bench.path("s.jsonl"))[0]["message"]["content"];
    assert_eq!(recorded, "use sk-ant-[redacted]");
}

#[test]
fn paths_that_are_not_files_are_refused() {
    let bench = Bench::new();
    fs::write(bench.path("call"), call("m", "t", "true")).unwrap();
    let run = bench.shell(
        "mkfifo pipe; mkdir folder; ln -s nowhere link
         for f in pipe folder link /dev/null -; do
           turnpipe session append $f < call > /dev/null; echo $?
         done; ls",
    );
    assert_eq!(
        text(&run.stdout),
        "2\n2\n2\n2\n2\ncall\nfolder\nlink\npipe\n"
    );
}

/// A file size limit shortens a write.
#[test]
fn a_file_size_limit_joins_no_records() {
    let bench = Bench::new();
    let calls: String = (0..40)
        .map(|n| call(&format!("m{n}"), &format!("t{n}"), &"x".repeat(300)))
        .collect();
    fs::write(bench.path("calls"), calls).unwrap();
    fs::write(bench.path("call"), call("last", "last", "true")).unwrap();
    let run = bench.shell(
        "( trap '' XFSZ; ulimit -f 8; \"$TURNPIPE\" session append s.jsonl < calls > /dev/null ); echo $?
         turnpipe session append s.jsonl < call > /dev/null; echo $?",
    );
    assert_eq!(text(&run.stdout), "74\n0\n", "{}", text(&run.stderr));
    let content = fs::read(bench.path("s.jsonl")).unwrap();
    let whole: Vec<Value> = content
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    for (n, line) in whole[..whole.len() - 1].iter().enumerate() {
        assert_eq!(line["message"]["id"], format!("m{n}"));
    }
    assert!(whole.len() > 3);
    assert_eq!(whole[whole.len() - 1]["message"]["id"], "last");
}

/// A record in the copied output is also in the file, however large it is.
#[test]
fn records_that_were_not_written_are_not_copied() {
    for size in [10, 40_000, 200_000] {
        let bench = Bench::new();
        let message = json!({"role": "user", "content": "x".repeat(size)});
        let record = json!({"type": "user", "uuid": "u", "message": message});
        fs::write(bench.path("stream"), format!("{record}\n")).unwrap();
        let output = bench.shell("turnpipe session append missing/session.jsonl < stream");
        assert!(!output.status.success(), "{size}");
        assert_eq!(text(&output.stdout), "", "{size}");
        let output = bench.shell("turnpipe session append session.jsonl < stream");
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout), format!("{record}\n"));
        assert!(
            records(&bench.path("session.jsonl"))
                .iter()
                .any(|kept| kept["uuid"] == "u")
        );
    }
}

#[test]
fn a_closed_pipe_does_not_stop_recording() {
    let bench = Bench::new();
    let calls: Vec<String> = (0..3000)
        .map(|n| call(&format!("m{n}"), &format!("t{n}"), "true"))
        .collect();
    let calls = calls.concat();
    fs::write(bench.path("calls"), calls).unwrap();
    let run = bench.shell(
        "set -o pipefail; turnpipe session append s.jsonl --sync none < calls | head -n 1 >/dev/null; echo $?",
    );
    assert_eq!(text(&run.stdout), "0\n", "{}", text(&run.stderr));
    assert_eq!(records(&bench.path("s.jsonl")).len(), 3000);
}

#[test]
fn a_renamed_session_shows_its_name() {
    let bench = Bench::new();
    let prompt = r#"{"uuid":"a","parentUuid":null,"sessionId":"11111111-2222-4333-8444-555555555555","timestamp":"2026-01-01T00:00:00.000Z","type":"user","cwd":"/w","version":"0.24.4","message":{"role":"user","parts":[{"text":"fix it"}]}}"#;
    fs::write(bench.path("qwen.jsonl"), format!("{prompt}\n")).unwrap();
    let claude = r#"{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/w","sessionId":"s","version":"2.1.240","type":"user","message":{"role":"user","content":"fix it"},"uuid":"A","timestamp":"2026-01-01T00:00:00.000Z"}"#;
    fs::write(bench.path("claude.jsonl"), format!("{claude}\n")).unwrap();
    let run = bench.shell(
        "for f in qwen claude; do
           turnpipe session rename ./$f.jsonl -- '--Fix the login' | grep -o '\"title\":\"[^\"]*\"'
           turnpipe show ./$f.jsonl -o text | head -n 1
         done",
    );
    let name = "--Fix the login";
    let said = text(&run.stdout);
    assert_eq!(
        said.matches(name).count(),
        4,
        "{said} {}",
        text(&run.stderr)
    );
    assert_eq!(records(&bench.path("qwen.jsonl"))[1]["parentUuid"], "a");
    assert_eq!(records(&bench.path("claude.jsonl"))[1]["customTitle"], name);
}

#[test]
fn output_of_session_commands_fits_its_schemas() {
    let bench = Bench::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/session.jsonl");
    fs::copy(&example, bench.path("a.jsonl")).unwrap();
    // A torn line, and a file of an unknown agent.
    let torn = format!(
        "{}{{\"type\":\"user\"\n",
        fs::read_to_string(&example).unwrap()
    );
    fs::write(bench.path("torn.jsonl"), torn).unwrap();
    let run = bench.shell(
        "turnpipe list --root .; turnpipe show ./a.jsonl
         turnpipe session tail ./a.jsonl --cursor; turnpipe session check ./a.jsonl ./torn.jsonl
         turnpipe stats ./a.jsonl; turnpipe session path ./a.jsonl -o jsonl; true",
    );
    let mut seen = std::collections::BTreeSet::new();
    for line in text(&run.stdout).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let kind = record["subtype"]
            .as_str()
            .or(record["type"].as_str())
            .unwrap();
        let name = match kind {
            "user" | "assistant" => "session-message".to_owned(),
            other => other.replace('_', "-"),
        };
        assert_fits(&name, &record);
        seen.insert(name);
    }
    for name in [
        "session",
        "session-start",
        "session-message",
        "session-cursor",
        "session-check",
        "session-damage",
        "session-stats",
        "session-path",
    ] {
        assert!(seen.contains(name), "{name} was not printed: {seen:?}");
    }
}

/// A small `benches/durability.sh`: killed at any moment, with another writer that takes no lock, no
/// acknowledged record is lost, and everything is readable.
#[test]
fn killed_at_any_moment_nothing_acknowledged_is_lost() {
    let bench = Bench::new();
    let calls: Vec<String> = (0..400)
        .map(|n| {
            let padding = "x".repeat(if n % 8 == 3 { 50_000 } else { 900 });
            let record = json!({"type": "user", "uuid": format!("u{n}"),
                "message": {"role": "user", "content": format!("{n} {padding}")}});
            format!("{record}\n")
        })
        .collect();
    let calls = calls.concat();
    fs::write(bench.path("calls"), calls).unwrap();
    let script = "
        head -n 1 calls | turnpipe session append s.jsonl > /dev/null
        for round in $(seq 1 25); do
          sed \"s/\\\"u/\\\"r$round-u/\" calls > now
          \"$TURNPIPE\" session append s.jsonl --sync none < now > echoed 2>/dev/null & pid=$!
          for n in $(seq 1 20); do echo '{\"type\":\"agent\",\"n\":'$round'}' >> s.jsonl; done
          until [ -s echoed ] || ! kill -0 $pid 2>/dev/null; do :; done
          kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
          cat echoed >> acknowledged; echo >> acknowledged
        done; true";
    let run = bench.shell(script);
    assert!(run.status.success());
    // One more run must find a clean start, and the whole file must be readable except torn
    // lines that hold no acknowledged record.
    let last = bench.shell("turnpipe session append s.jsonl < calls > /dev/null; echo $?");
    assert_eq!(text(&last.stdout), "0\n");
    let content = fs::read(bench.path("s.jsonl")).unwrap();
    let lines: Vec<Value> = content
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect();
    let uuid = |line: &Value| line["uuid"].as_str().map(str::to_owned);
    let kept: std::collections::HashSet<String> = lines.iter().filter_map(uuid).collect();
    let acknowledged = fs::read(bench.path("acknowledged")).unwrap();
    assert!(acknowledged.contains(&b'{'));
    for line in acknowledged.split(|byte| *byte == b'\n') {
        if let Ok(line) = serde_json::from_slice::<Value>(line) {
            let uuid = uuid(&line).unwrap();
            assert!(kept.contains(&uuid), "{uuid} is lost");
        }
    }
    let agent = lines.iter().filter(|line| line["type"] == "agent").count();
    assert!(
        agent >= 25 * 20 - 1,
        "{agent} of the agent's records survived"
    );
    let tail = &lines[lines.len() - 400..];
    for (n, line) in tail.iter().enumerate() {
        assert_eq!(line["uuid"], format!("u{n}"));
    }
}

/// The process is killed when the file starts to grow, during the write of a record larger than a page.
#[test]
fn a_kill_during_a_large_record_leaves_no_part_of_it() {
    let bench = Bench::new();
    let path = bench.path("s.jsonl");
    let large = json!({"type": "user", "uuid": "large",
        "message": {"role": "user", "content": "x".repeat(2_000_000)}});
    fs::write(bench.path("large"), format!("{large}\n")).unwrap();
    let rounds = if skip::is_full_run() { 10 } else { 3 };
    for _ in 0..rounds {
        bench.shell("echo '{\"type\":\"user\",\"uuid\":\"first\",\"message\":{\"role\":\"user\",\"content\":\"a\"}}' |
            turnpipe session append s.jsonl > /dev/null");
        let before = fs::metadata(&path).unwrap().len();
        let mut run = Command::new(env!("CARGO_BIN_EXE_turnpipe"))
            .args(["session", "append", "--sync", "none"])
            .arg(&path)
            .env_clear()
            .stdin(fs::File::open(bench.path("large")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let size = || fs::metadata(&path).unwrap().len();
        while size() == before {
            let over = run.try_wait().unwrap().is_some();
            assert!(!over || size() > before, "nothing was written");
        }
        run.kill().unwrap();
        run.wait().unwrap();
        // A process that is still writing holds the lock.
        let file = fs::File::open(&path).unwrap();
        file.lock().unwrap();
        let content = fs::read(&path).unwrap();
        assert_eq!(content.last(), Some(&b'\n'));
        assert_eq!(records(&path).last().unwrap()["uuid"], "large");
        fs::remove_file(&path).unwrap();
    }
}

/// The expected content of a recorded stream of an agent.
struct RecordedStream {
    name: &'static str,
    session: &'static str,
    model: Option<&'static str>,
    labels: usize,
    /// Names of tools, in order.
    calls: &'static [&'static str],
    /// Parts of texts, of results, and of errors, in order of the stream.
    said: &'static [&'static str],
    failed: usize,
    output_tokens: u64,
}

const RECORDED_STREAMS: [RecordedStream; 6] = [
    RecordedStream {
        name: "claude-stream",
        session: "5b1e0f6c-0d5c-4f3e-9a53-6a0d4a2f9f01",
        model: Some("claude-sonnet-4-5"),
        labels: 1,
        calls: &["Bash"],
        said: &[
            "I run the tests.",
            "parses_quotes ... FAILED",
            "One test fails.",
        ],
        failed: 1,
        output_tokens: 26,
    },
    RecordedStream {
        name: "qwen-stream",
        session: "37378db2-8d96-44cf-9bef-90dd6619b6df",
        model: Some("demo-model"),
        labels: 1,
        calls: &["run_shell_command"],
        said: &["parses_quotes ... FAILED", "exit code 3"],
        failed: 1,
        output_tokens: 33,
    },
    RecordedStream {
        name: "codex-stream",
        session: "01a1ffef-903c-7483-b6e0-47cca357d950",
        model: None,
        labels: 1,
        calls: &["Bash", "Bash", "Bash"],
        said: &[
            "to-stderr",
            "cat: no/such",
            "pub fn fields",
            "Two of four calls failed.",
        ],
        failed: 2,
        output_tokens: 154,
    },
    RecordedStream {
        name: "gemini-cli-stream",
        session: "2b959a4e-7a24-41cd-8f71-ece70de8d9e0",
        model: Some("gemini-2.5-flash"),
        labels: 1,
        calls: &[
            "read_file",
            "read_file",
            "run_shell_command",
            "no_such_tool",
        ],
        said: &[
            "File not found.",
            "not found. Did you mean",
            "Two of four calls failed.",
        ],
        failed: 2,
        output_tokens: 50,
    },
    RecordedStream {
        name: "pi-stream",
        session: "01a1fff1-5990-7566-ab9c-2aac816aa839",
        model: Some("demo-model"),
        labels: 1,
        calls: &["bash"],
        said: &[
            "parses_quotes ... FAILED",
            "Command exited with code 3",
            "exit code 3",
        ],
        failed: 1,
        output_tokens: 33,
    },
    RecordedStream {
        name: "opencode-stream",
        session: "ses_e000dc035ffeD30LDk8C8ch6K5",
        model: None,
        labels: 3,
        calls: &["read", "read", "read", "edit", "bash"],
        said: &[
            "I will read the three files first.",
            "A small comma parser.",
            "Now the fix.",
            "Edit applied successfully.",
            "1 file changed",
            "Fixed: fields are now trimmed",
        ],
        failed: 0,
        output_tokens: 63,
    },
];

#[test]
fn streams_of_six_agents_are_labelled_recorded_and_shown() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wire");
    for expected in RECORDED_STREAMS {
        let name = expected.name;
        let bench = Bench::new();
        let input = fs::read(data.join(name).with_extension("jsonl")).unwrap();
        fs::write(bench.path("stream"), &input).unwrap();
        let run = bench.shell(
            "turnpipe run-tools --plan < stream | turnpipe summarize-batch --model builtin |
                 turnpipe session append s.jsonl > copy || exit
             grep -v '\"turnpipe\":' copy | cmp - stream || exit
             turnpipe show s.jsonl -o jsonl > shown
             turnpipe stats s.jsonl -o jsonl 2>/dev/null > stats",
        );
        let messages = text(&run.stderr);
        assert!(
            run.status.success() && messages.is_empty(),
            "{name}: {messages}"
        );

        let shown = records(&bench.path("shown"));
        let recorded = records(&bench.path("s.jsonl"));
        let labels = recorded
            .iter()
            .filter(|line| line["type"] == "tool_use_summary");
        assert_eq!(labels.count(), expected.labels, "{name}");
        let session = &shown[0]["session_id"];
        assert!(
            expected.session.is_empty() || session == expected.session,
            "{name}: {session}"
        );
        let blocks = |kind: &str| -> Vec<&Value> {
            let contents = shown
                .iter()
                .filter_map(|record| record["message"]["content"].as_array());
            contents
                .flatten()
                .filter(|block| block["type"] == kind)
                .collect()
        };
        let calls: Vec<&str> = blocks("tool_use")
            .iter()
            .filter_map(|call| call["name"].as_str())
            .collect();
        assert_eq!(calls, expected.calls, "{name}");
        let results = blocks("tool_result");
        assert_eq!(results.len(), calls.len(), "{name}");
        let failed = results.iter().filter(|result| result["is_error"] == true);
        assert_eq!(failed.count(), expected.failed, "{name}");
        let all: String = shown.iter().map(Value::to_string).collect();
        let mut rest = all.as_str();
        for said in expected.said {
            let at = rest.find(said);
            assert!(at.is_some(), "{name}: {said} in {all}");
            rest = &rest[at.unwrap_or_default()..];
        }
        assert_eq!(
            shown[0]["model"].as_str(),
            expected.model,
            "{name}: {}",
            shown[0]
        );
        let stats = &records(&bench.path("stats"))[0];
        let tokens = &stats["usage"]["output_tokens"];
        assert_eq!(*tokens, expected.output_tokens, "{name}: {stats}");
    }
}

/// Returns the content of the recorded streams by an independent reader. Empty without Python.
fn read_independently() -> Vec<Value> {
    let mut paths = Vec::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for agent in fs::read_dir(data.join("agents")).unwrap() {
        let agent = agent.unwrap().path();
        for file in fs::read_dir(agent).into_iter().flatten() {
            let path = file.unwrap().path();
            if path.to_string_lossy().ends_with(".stream.jsonl") {
                paths.push(path);
            }
        }
    }
    let paths = skip::sample(paths, 4, |path| path.parent().map(Path::to_owned));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent_streams.py");
    if skip::is_missing("python3") {
        return Vec::new();
    }
    let output = Command::new("python3").arg(script).args(paths).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    let floor = if skip::is_full_run() { 40 } else { 12 };
    assert!(lines.lines().count() > floor);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Returns the dialog in the output of `session show`, in the form of the independent reader.
fn dialog(shown: &[Value]) -> Vec<Value> {
    let messages = shown.iter().filter(|record| record["message"].is_object());
    let blocks = messages.flat_map(|record| {
        let blocks = record["message"]["content"].as_array().unwrap();
        blocks.iter().map(move |block| (&record["type"], block))
    });
    let lines = blocks.filter_map(|(role, block)| match block["type"].as_str() {
        Some("text") => Some(json!([role, block["text"]])),
        Some("tool_use") => Some(json!(["call", block["id"]])),
        Some("tool_result") => {
            let said = match &block["content"] {
                Value::Array(blocks) => {
                    let texts = blocks.iter().filter_map(|block| block["text"].as_str());
                    texts.collect::<Vec<_>>().join("\n").into()
                }
                said => said.clone(),
            };
            Some(json!([
                "result",
                block["tool_use_id"],
                said,
                block["is_error"] == true
            ]))
        }
        _ => None,
    });
    lines.collect()
}

#[test]
fn recorded_streams_are_shown_as_an_independent_reader_reads_them() {
    for stream in read_independently() {
        let path = stream["path"].as_str().unwrap();
        let bench = Bench::new();
        fs::copy(path, bench.path("stream")).unwrap();
        let run = bench.shell(
            "turnpipe run-tools --plan < stream | turnpipe summarize-batch --model builtin |
                 turnpipe session append s.jsonl > copy || exit
             grep -v '\"turnpipe\":' copy | cmp - stream || exit
             [ ! -e s.jsonl ] || turnpipe show s.jsonl -o jsonl > shown",
        );
        assert!(run.status.success(), "{path}: {}", text(&run.stderr));
        let dialog_read = stream["dialog"].as_array().unwrap();
        if !bench.path("s.jsonl").exists() {
            assert_eq!(*dialog_read, [Value::Null; 0], "{path}");
            continue;
        }
        let shown = records(&bench.path("shown"));
        // The calls of a message are shown together, before their results.
        let kinds = |mut dialog: Vec<Value>| {
            dialog.sort_by_key(|line| (line[0] == "call", line[0] == "result"));
            dialog
        };
        let found = kinds(dialog(&shown));
        assert_eq!(found, kinds(dialog_read.clone()), "{path}");
        let session = stream["session"].as_str().unwrap_or("s");
        assert_eq!(shown[0]["session_id"], session, "{path}");

        // Each call with a result has one label.
        let recorded = records(&bench.path("s.jsonl"));
        let ids = recorded
            .iter()
            .filter_map(|line| line["preceding_tool_use_ids"].as_array());
        let mut labelled: Vec<&Value> = ids.flatten().collect();
        let results = dialog_read.iter().filter(|line| line[0] == "result");
        let mut answered: Vec<&Value> = results.map(|line| &line[1]).collect();
        labelled.sort_by_key(ToString::to_string);
        answered.sort_by_key(ToString::to_string);
        assert_eq!(labelled, answered, "{path}");
    }
}

/// Returns the messages in the output of `session show`, without ids and the place of the session.
fn facts_of_messages(shown: &[Value]) -> Vec<Value> {
    let messages = shown.iter().filter(|record| record["message"].is_object());
    let facts = messages.map(|record| {
        let message = &record["message"];
        let usage = &message["usage"];
        json!([
            message["role"],
            message["content"],
            usage,
            record["timestamp"],
            record["turnpipe"]["origin"]
        ])
    });
    facts.collect()
}

/// A session of another agent keeps its facts and those of each message on the way through a pipe.
#[test]
fn a_shown_session_keeps_its_facts() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let paths = [
        "session/codex.jsonl",
        "agents/gemini/todo.session.jsonl",
        "agents/gemini/tui.session-1.jsonl",
        "agents/opencode/par.session.json",
        "agents/pi/par.session.jsonl",
        "agents/pi/color.session.jsonl",
        "agents/qwen/tui-title.session.jsonl",
        "costs/claude.jsonl",
    ];
    for path in paths {
        let bench = Bench::new();
        let script = format!(
            "turnpipe show {data}/{path} --json > original
             turnpipe session append copy.jsonl --no-echo < original
             turnpipe show copy.jsonl --json > copy"
        );
        let output = bench.shell(&script);
        assert!(output.status.success(), "{output:?}");
        let [original, copy] = ["original", "copy"].map(|name| records(&bench.path(name)));
        let start = original[0].as_object().unwrap();
        for member in ["session_id", "title", "git_branch", "model", "first_prompt"] {
            assert_eq!(copy[0].get(member), start.get(member), "{path}: {member}");
        }
        let is_manual = |start: &Value| start["title_source"] == "manual";
        assert_eq!(is_manual(&copy[0]), is_manual(&original[0]), "{path}");
        if let Some(cwd) = start.get("cwd") {
            assert_eq!(&copy[0]["cwd"], cwd, "{path}");
        }
        let [original, copy] = [original, copy].map(|shown| facts_of_messages(&shown));
        assert!(original.len() > 1, "{path}");
        assert_eq!(copy, original, "{path}");
    }
}
