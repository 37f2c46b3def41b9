//! `turn` in a loop with `run-tools` and `session append`: an agent with independent servers.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::server::Server;
use crate::skip::search_path;
use crate::{aimock, llama, llmock, turnpipe};

/// Providers, the variables with their addresses, and their path on each server.
pub(crate) const PROVIDERS: [(&str, &str, &str, &str); 4] = [
    ("openai", "OPENAI_BASE_URL", "/v1", "/v1"),
    ("responses", "OPENAI_BASE_URL", "/v1", "/v1"),
    ("anthropic", "ANTHROPIC_BASE_URL", "/anthropic", ""),
    ("gemini", "GOOGLE_GEMINI_BASE_URL", "/gemini", ""),
];

/// Maximum number of rounds, more than any loop here needs.
const MAX_ROUNDS: usize = 9;

pub(crate) fn run(folder: &Path) {
    for delivery in ["--partial", "--no-stream"] {
        let graded = llmock::start(folder, &[]);
        for (provider, variable, of_llmock, of_aimock) in PROVIDERS {
            let agent = Agent::new(provider, variable, graded.url(of_llmock), delivery);
            script(&graded);
            agent.check_agent(&format!("llmock, {provider}, {delivery}"), 3);
            let scripted = aimock::start(folder);
            let agent = Agent::new(provider, variable, scripted.url(of_aimock), delivery);
            // The server counts each item of a reply of the Responses API as a reply, so its script ends earlier.
            let replies = if provider == "responses" { 2 } else { 3 };
            agent.check_agent(&format!("aimock, {provider}, {delivery}"), replies);
        }
        // The grade is only printed.
        let _ = llmock::grade(folder, &graded);
        let server = llama::start(folder);
        let (variable, url) = ("OPENAI_BASE_URL", server.url("/v1"));
        let agent = Agent::new("openai", variable, url, delivery);
        let name = format!("llama.cpp, {delivery}");
        agent.check_agent(&name, 2);
        agent.check_agent(&name, 2);
        let usage = agent.usage();
        for (before, now) in usage.iter().zip(&usage[1..]) {
            // All tokens of a request except the last one are a prefix of the next request.
            assert!(now.1 + 16 >= before.0, "{name}: {usage:?}");
        }
        println!("{name}: tokens, and tokens from the cache: {usage:?}");
    }
}

/// Scripts two replies with calls, then a text.
fn script(server: &Server) {
    let call = |command: &str| json!({"name": "Bash", "arguments": {"command": command}});
    let behaviors = json!([
        {"type": "reply", "tool_calls": [call("pwd"), call("ls")]},
        {"type": "reply", "text": "Once more.", "tool_calls": [call("pwd")]},
    ]);
    let body = json!({ "behaviors": behaviors }).to_string();
    server.ask("POST", "/_llmock/scenario", &body);
}

pub(crate) struct Agent {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) model: String,
    address: (&'static str, String),
    delivery: &'static str,
}

impl Agent {
    pub(crate) fn new(
        provider: &str,
        variable: &'static str,
        url: String,
        delivery: &'static str,
    ) -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            model: format!("{provider}:m"),
            address: (variable, url),
            delivery,
        }
    }

    /// Checks that the agent ends after this many replies, with an undamaged session.
    fn check_agent(&self, name: &str, replies: usize) {
        let mut statuses = vec![self.run_round(&["--prompt", "LOOK_TWICE"])];
        while statuses.last() == Some(&Some(0)) && statuses.len() < MAX_ROUNDS {
            statuses.push(self.run_round(&[]));
        }
        let (last, calls) = statuses.split_last().unwrap();
        assert_eq!(*last, Some(10), "{name}: {statuses:?}");
        assert_eq!(calls.len(), replies - 1, "{name}: {statuses:?}");
        let file = self.folder.path().join("s.jsonl");
        let checked = ["session", "check", "--exit-status", file.to_str().unwrap()];
        let checked = turnpipe::run(&checked, b"");
        assert_eq!(checked.status, Some(0), "{name}: {}", checked.stdout);
        let session = std::fs::read_to_string(&file).unwrap();
        let blocks = |kind: &str, id: &str| -> Vec<String> {
            let records = session
                .lines()
                .map(|line| serde_json::from_str(line).unwrap());
            let blocks = records.flat_map(|record: Value| {
                let blocks = record["message"]["content"].as_array().cloned();
                blocks.unwrap_or_default()
            });
            let blocks = blocks.filter(|block| block["type"] == kind);
            blocks
                .map(|block| block[id].as_str().unwrap().to_owned())
                .collect()
        };
        let calls = blocks("tool_use", "id");
        assert_eq!(calls, blocks("tool_result", "tool_use_id"), "{name}");
        let different: HashSet<&String> = calls.iter().collect();
        assert_eq!(different.len(), calls.len(), "{name}: {calls:?}");
        println!("{name}: {} calls in {replies} replies", calls.len());
    }

    pub(crate) fn run_round(&self, arguments: &[&str]) -> Option<i32> {
        let pipe = "\"$0\" turn --session s.jsonl \"$@\" | tee -a turns.jsonl | \"$0\" run-tools \
            | \"$0\" session append s.jsonl --no-echo --exit-status";
        let mut shell = Command::new("bash");
        shell
            .args(["-c", pipe, env!("CARGO_BIN_EXE_turnpipe")])
            .args([
                "--model",
                &self.model,
                self.delivery,
                "--tools-only",
                "Bash",
            ])
            .args(arguments)
            .stdin(Stdio::null());
        self.environment(&mut shell);
        shell.status().unwrap().code()
    }

    /// Gives a command the folder, the address and keys.
    pub(crate) fn environment(&self, command: &mut Command) {
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", self.folder.path())
            .env(self.address.0, &self.address.1);
        for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
            command.env(key, "sk-independent");
        }
    }

    /// Sets the address of a provider that has no variable for it.
    pub(crate) fn configure(&self, provider: &str, server: &Server) {
        let directory = self.folder.path().join(".config/turnpipe");
        std::fs::create_dir_all(&directory).unwrap();
        let settings = format!(
            "[providers.{provider}]\nbase_url = \"{}\"\n",
            server.url("/v1")
        );
        std::fs::write(directory.join("config.toml"), settings).unwrap();
    }

    /// Returns the `result` of each reply.
    pub(crate) fn results(&self) -> Vec<Value> {
        let turns = std::fs::read_to_string(self.folder.path().join("turns.jsonl")).unwrap();
        let records = turns
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let results = records.filter(|record: &Value| record["type"] == "result");
        results.collect()
    }

    /// Returns the tokens of each request, and the number of them from a cache.
    fn usage(&self) -> Vec<(u64, u64)> {
        let tokens = self.results().into_iter().map(|result| {
            let count = |name: &str| result["usage"][name].as_u64().unwrap();
            let cached = count("cache_read_input_tokens");
            (count("input_tokens") + cached, cached)
        });
        tokens.collect()
    }
}
