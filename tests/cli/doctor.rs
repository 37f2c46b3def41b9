//! `doctor`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use crate::skip::is_missing;
use crate::turnpipe::command;

/// Returns the status, standard output, and the records on it.
fn doctor(home: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> (i32, String) {
    let output = command()
        .env("HOME", home)
        .envs(variables.iter().copied())
        .arg("doctor")
        .args(arguments)
        .output()
        .unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    let is_expected = |line: &str| line.contains("BASH_MAX_TIMEOUT_MS is ignored: ");
    assert!(messages.lines().all(is_expected), "{messages}");
    assert_eq!(
        messages.is_empty(),
        !variables.contains(&("BASH_MAX_TIMEOUT_MS", "nonsense"))
    );
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code().unwrap(), text)
}

fn records(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn find_record<'a>(records: &'a [Value], subject: &str, name: &str) -> &'a Value {
    let is_it = |record: &&Value| record["subject"] == subject && record["name"] == name;
    let found = records.iter().find(is_it);
    assert!(found.is_some(), "no {subject} {name} in {records:?}");
    found.unwrap()
}

#[test]
fn every_value_has_its_source_and_keys_stay_secret() {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/turnpipe/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(
        &config,
        "max_concurrency = 3\nbash_default_timeout_ms = 5000\nfast_model = \"lab:m\"\n\
         [providers.lab]\npreset = \"openai\"\nbase_url = \"http://localhost:1/v1?key=canary\"\n\
         api_key_env = \"LAB_KEY\"\n",
    )
    .unwrap();
    let sessions = home.path().join(".claude/projects/p");
    fs::create_dir_all(&sessions).unwrap();
    fs::write(sessions.join("a.jsonl"), "{}\n").unwrap();
    let variables = [
        ("TURNPIPE_MAX_TOOL_CONCURRENCY", "7"),
        ("TURNPIPE_MODEL", "openai:gpt-5"),
        ("OPENAI_API_KEY", "canary-canary"),
        ("LAB_KEY", "canary-canary"),
        ("https_proxy", "http://canary:canary@proxy/"),
        ("BASH_MAX_TIMEOUT_MS", "nonsense"),
    ];
    let (status, text) = doctor(home.path(), &variables, &[]);
    assert!(!text.contains("canary"), "{text}");
    let records = records(&text);
    assert_eq!(status, 0, "{text}");
    let config = config.to_str().unwrap();
    let at_line = |line: u32| format!("{config}:{line}");
    for (subject, name, value, source) in [
        (
            "setting",
            "max_concurrency",
            "7",
            "TURNPIPE_MAX_TOOL_CONCURRENCY",
        ),
        ("setting", "bash_default_timeout_ms", "5000", &at_line(2)),
        ("setting", "bash_max_timeout_ms", "600000", "default"),
        ("setting", "fast_model", "lab:m", &at_line(3)),
        ("setting", "model", "openai:gpt-5", "TURNPIPE_MODEL"),
        ("setting", "https_proxy", "set", "https_proxy"),
        (
            "setting",
            "providers.lab.base_url",
            "http://localhost:1/v1",
            &at_line(6),
        ),
        ("file", "configuration", config, "default"),
        ("key", "openai", "found", "OPENAI_API_KEY"),
        ("key", "lab", "found", "LAB_KEY"),
        ("model", "lab:m", "configured", "fast_model"),
    ] {
        let expected = json!({
            "type": "doctor", "subject": subject, "name": name, "value": value,
            "source": source, "condition": "ok",
        });
        assert_eq!(find_record(&records, subject, name), &expected);
    }
    let claude = find_record(
        &records,
        "sessions",
        sessions.parent().unwrap().to_str().unwrap(),
    );
    assert_eq!(
        (&claude["value"], &claude["condition"]),
        (&"1".into(), &"ok".into())
    );
    let problem = claude["reason"].as_str().unwrap();
    assert!(
        problem.contains("deleted after 30 days (`cleanupPeriodDays` in "),
        "{problem}"
    );
    let missing = home.path().join(".codex/sessions");
    let missing = find_record(&records, "sessions", missing.to_str().unwrap());
    assert_eq!(missing["condition"], "absent");
    assert!(
        records
            .iter()
            .any(|record| record["subject"] == "enforcement")
    );
}

#[test]
fn settings_that_cannot_work_are_reported() {
    let home = tempfile::tempdir().unwrap();
    let at_home = |name: &str, text: &str| {
        let path = home.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let unusable = at_home("unusable.toml", "max_concurency = 1\n");
    let gone = home.path().join("gone.toml").to_str().unwrap().to_owned();
    at_home("tools.toml", "nonsense = 1\n");
    at_home("state", "");
    let state = home.path().join("state");
    let rows = [
        (String::new(), "file", "configuration", unusable.as_str()),
        (String::new(), "file", "configuration", gone.as_str()),
        ("tools = [\"tools.toml\"]".to_owned(), "file", "tools", ""),
        ("prices = \"gone.toml\"".to_owned(), "file", "prices", ""),
        (
            "[http]\nca_file = \"gone.pem\"".to_owned(),
            "file",
            "http.ca_file",
            "",
        ),
        (format!("state_dir = {state:?}"), "file", "state_dir", ""),
        ("model = \"gpt-5\"".to_owned(), "model", "gpt-5", ""),
        (
            "model = \"openai:gpt-5\"".to_owned(),
            "model",
            "openai:gpt-5",
            "",
        ),
        (
            "fast_model = \"nobody:m\"".to_owned(),
            "model",
            "nobody:m",
            "",
        ),
        (
            "[providers.lab]\nbase_url = \"http://a\"".to_owned(),
            "model",
            "lab",
            "",
        ),
        (
            "[providers.lab]\npreset = \"openai\"\nbase_url = \"http://a\"\napi_key_file = \"k\""
                .to_owned(),
            "file",
            "providers.lab.api_key_file",
            "",
        ),
        (
            "[permissions]\ndefault_mode = \"off\"".to_owned(),
            "file",
            "configuration",
            "",
        ),
    ];
    for (text, subject, name, path) in rows {
        let written = at_home("config.toml", &text);
        let path = if path.is_empty() { &written } else { path };
        let (status, told) = doctor(home.path(), &[], &["--config", path]);
        let records = records(&told);
        let broken: Vec<&Value> = records
            .iter()
            .filter(|record| record["condition"] == "broken")
            .collect();
        assert_eq!(status, 1, "{text}: {told}");
        assert!(
            broken
                .iter()
                .any(|record| record["subject"] == subject && record["name"] == name),
            "{text}: {broken:?}"
        );
        assert!(
            broken.iter().all(|record| record["reason"] != ""),
            "{broken:?}"
        );
        let (status, table) = doctor(home.path(), &[], &["--config", path, "-o", "text"]);
        assert_eq!(status, 1);
        assert!(table.starts_with("SUBJECT "), "{table}");
        assert!(table.contains("  broken\n    "), "{table}");
    }
}

#[test]
fn a_directory_that_cannot_be_written_to_is_reported() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    for (variable, name, directory, advice) in [
        ("TMPDIR", "TMPDIR", "/nonexistent", "TMPDIR"),
        ("TMPDIR", "TMPDIR", "/proc", "TMPDIR"),
        ("TMPDIR", "TMPDIR", file, "TMPDIR"),
        ("XDG_STATE_HOME", "state_dir", "/proc", "XDG_STATE_HOME"),
        ("HOME", "state_dir", file, "XDG_STATE_HOME"),
    ] {
        let (status, text) = doctor(home.path(), &[(variable, directory)], &[]);
        let records = records(&text);
        let found = records
            .iter()
            .find(|record| record["name"] == name)
            .unwrap();
        let problem = found["reason"].as_str().unwrap();
        assert!(
            problem.starts_with(&format!("cannot write to {directory}")),
            "{problem}"
        );
        assert!(problem.contains(&format!("; set {advice}")), "{problem}");
        assert_eq!(
            (&found["condition"], status),
            (&"broken".into(), 1),
            "{text}"
        );
    }
    let (status, text) = doctor(home.path(), &[], &[]);
    assert_eq!(status, 0, "{text}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
}

/// Answers these requests, one per connection: start of the request, status and body of the response.
fn serve(listener: &TcpListener, exchanges: Vec<(&'static str, &'static str, Value)>) {
    for (beginning, status, body) in exchanges {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = Vec::new();
        let end: &[u8] = if beginning.starts_with("GET") {
            b"\r\n\r\n"
        } else {
            b"}"
        };
        while !request.ends_with(end) {
            let mut buffer = [0; 4096];
            let count = stream.read(&mut buffer).unwrap();
            request.extend_from_slice(&buffer[..count]);
        }
        let request = String::from_utf8(request).unwrap();
        assert!(request.starts_with(beginning), "{request}");
        let body = body.to_string();
        write!(
            stream,
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
    }
}

#[test]
fn a_probe_sends_a_request_and_lists_models() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let openai = format!("{address}/v1");
    let config = home.path().join(".config/turnpipe");
    fs::create_dir_all(&config).unwrap();
    let provider = format!("[providers.lab]\npreset = \"gemini\"\nbase_url = \"{address}\"\n");
    fs::write(config.join("config.toml"), provider).unwrap();
    let reply = json!({
        "choices": [{
            "index": 0, "finish_reason": "stop",
            "message": { "role": "assistant", "content": "ready" },
        }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
    });
    let gemini = json!({ "candidates": [{
        "content": { "role": "model", "parts": [{ "text": "ready" }] }, "finishReason": "STOP",
    }] });
    let error = |message: &str| json!({ "error": { "message": message } });
    // llama.cpp's server lists its model in two forms.
    let list = json!({ "object": "list", "models": [{ "name": "one" }],
        "data": [{ "id": "smaller", "name": "Smaller" }, { "id": "else" }] });
    let (chat, models) = ("POST /v1/chat/completions ", "GET /v1/models ");
    let (generate, paths) = ("POST /v1beta/models/", "GET /v1beta/models?pageSize=1000 ");
    let (ok, gone, refused) = ("200 OK", "404 Not Found", "401 Unauthorized");
    let exchanges = vec![
        (chat, ok, reply.clone()),
        (models, ok, list.clone()),
        (chat, ok, reply),
        (models, gone, error("no such page")),
        (chat, refused, error("who are you?")),
        (models, refused, error("who are you?")),
        (chat, gone, error("no such model")),
        (models, ok, list.clone()),
        (chat, gone, error("not today")),
        (models, ok, list),
        (generate, ok, gemini),
        (paths, ok, json!({ "models": [{ "name": "models/g" }] })),
    ];
    let server = std::thread::spawn(move || serve(&listener, exchanges));
    let rows = [
        (
            "openai:small",
            0,
            "responded; its server lists 2 models",
            "",
        ),
        ("openai:small", 0, "responded", ""),
        ("openai:small", 1, "configured", "who are you?"),
        (
            "openai:small",
            1,
            "not listed",
            "no such model; its server has 2 models, such as smaller, else",
        ),
        ("openai:else", 1, "listed among 2 models", "not today"),
        ("lab:g", 0, "responded; its server lists 1 model", ""),
    ];
    for (name, status, value, problem) in rows {
        let variables = [
            ("OPENAI_BASE_URL", openai.as_str()),
            ("TURNPIPE_FAST_MODEL", name),
        ];
        let (told, text) = doctor(home.path(), &variables, &["--probe"]);
        assert_eq!(told, status, "{text}");
        let records = records(&text);
        let model = find_record(&records, "model", name);
        assert_eq!(model["value"], value);
        let told = model["reason"].as_str().unwrap_or_default();
        assert!(told.ends_with(problem), "{told}");
    }
    server.join().unwrap();
}

#[test]
#[cfg(feature = "mcp")]
fn servers_are_listed_and_started_only_when_asked() {
    if is_missing("python3") {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_server.py");
    let scripted = |words: &[&str]| {
        let arguments = [&[script, log.to_str().unwrap()], words].concat();
        json!({"command": "python3", "args": arguments})
    };
    let servers = json!({"mcpServers": {
        "new": scripted(&["resources", "stateless"]), "old": scripted(&[]),
        "missing": {"command": "no-such-program"},
        "away": {"url": "http://127.0.0.1:9/mcp?key=canary"},
    }});
    let file = home.path().join("servers.json");
    fs::write(&file, servers.to_string()).unwrap();
    let arguments = ["--mcp-config", file.to_str().unwrap()];
    let (status, text) = doctor(home.path(), &[], &arguments);
    assert_eq!(status, 0, "{text}");
    assert!(!log.exists() && !text.contains("canary"), "{text}");
    let found = records(&text);
    assert_eq!(
        find_record(&found, "mcp_server", "away")["source"],
        "127.0.0.1:9"
    );
    assert_eq!(
        find_record(&found, "mcp_server", "old")["value"],
        "configured"
    );

    let (status, text) = doctor(home.path(), &[], &[&arguments[..], &["--probe"]].concat());
    assert_eq!(status, 1, "{text}");
    let found = records(&text);
    for (name, value) in [
        ("new", "2026-07-28; 26 tools, 3 resources; "),
        ("old", "2025-11-25; 26 tools, 0 resources; "),
        ("missing", "failed"),
        ("away", "failed"),
    ] {
        let record = find_record(&found, "mcp_server", name);
        assert!(
            record["value"].as_str().unwrap().starts_with(value),
            "{record}"
        );
    }
    let problem = find_record(&found, "mcp_server", "missing")["reason"].clone();
    let hint = "command not found; install it, or write its whole path as `command`";
    assert!(problem.as_str().unwrap().ends_with(hint), "{problem}");
    let log = fs::read_to_string(log).unwrap();
    let count = |word: &str| log.lines().filter(|line| line.starts_with(word)).count();
    assert_eq!((count("started"), count("ended")), (2, 2), "{log}");
}
