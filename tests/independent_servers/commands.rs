//! The commands for side services, on recorded sessions, against both servers.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::files::{claude, stream, write};
use crate::recorded::{batches, sessions};
use crate::server::Server;
use crate::{aimock, llmock, turnpipe};

/// Number of sessions or batches at a limit of 60 requests per minute.
const BULK: usize = 66;

/// Bulk runs under a rate limit: everything gets its text eventually, without errors of
/// the server.
pub(crate) fn check_rate_limit(folder: &Path) {
    let server = llmock::start(folder, &["--rpm", "60"]);
    let services = |key| Services {
        name: "llmock",
        server: &server,
        provider: "openai",
        variable: "OPENAI_BASE_URL",
        base: "/v1",
        key,
    };
    let sessions = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = (0..BULK)
        .map(|number| {
            let name = format!("{number}.jsonl");
            let asked = format!("Port parser {number} to Rust");
            write(
                sessions.path(),
                &name,
                &claude(&[&asked, "Done, all tests pass."]),
            )
        })
        .collect();
    let names: Vec<&str> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    let words = [&["title", "-o", "jsonl", "--jobs", "4"], names.as_slice()].concat();
    let (status, titled) = services("sk-titles").run_with_input(&words, b"");
    assert_eq!(status, Some(0));
    assert_eq!(titled.matches("\"ok\":true").count(), BULK, "{titled}");
    let words = ["summarize-batch", "--jobs", "4", "--hold-ms", "60000"];
    let (status, labelled) = services("sk-labels").run_with_input(&words, stream(BULK).as_bytes());
    assert_eq!(status, Some(0));
    assert_eq!(labelled.matches("\"tool_use_summary\"").count(), BULK);
    let grade = llmock::grade(folder, &server);
    assert!(grade.contains("PASS"), "{grade}");
}

pub(crate) fn run(folder: &Path) {
    let sessions = sessions();
    let is_file = |path: &&PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        ![".stream.", ".hooks.", ".duplex."]
            .iter()
            .any(|kind| name.contains(kind))
    };
    let files: Vec<PathBuf> = sessions.iter().filter(is_file).cloned().collect();
    let of_llmock = llmock::start(folder, &[]);
    let of_aimock = aimock::start(folder);
    let dialects = [
        ("llmock", &of_llmock, "openai", "OPENAI_BASE_URL", "/v1"),
        (
            "llmock",
            &of_llmock,
            "anthropic",
            "ANTHROPIC_BASE_URL",
            "/anthropic",
        ),
        (
            "llmock",
            &of_llmock,
            "gemini",
            "GOOGLE_GEMINI_BASE_URL",
            "/gemini",
        ),
        ("aimock", &of_aimock, "openai", "OPENAI_BASE_URL", "/v1"),
        ("aimock", &of_aimock, "responses", "OPENAI_BASE_URL", "/v1"),
        ("aimock", &of_aimock, "ollama", "OLLAMA_HOST", ""),
    ];
    for (name, server, provider, variable, base) in dialects {
        let services = Services {
            name,
            server,
            provider,
            variable,
            base,
            key: "sk-independent",
        };
        let labels: usize = sessions.iter().map(|path| services.labels(path)).sum();
        println!(
            "{name}, {provider}: {labels} labels in {} sessions",
            sessions.len()
        );
        assert!(labels > 0, "{name}, {provider}");
        for command in ["title", "recap"] {
            services.outcomes(command, &files);
        }
    }
}

struct Services<'a> {
    name: &'a str,
    server: &'a Server,
    provider: &'a str,
    /// The option or variable for the address of the provider.
    variable: &'a str,
    base: &'a str,
    key: &'a str,
}

impl Services<'_> {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = turnpipe::command();
        command
            .args(["--no-config"])
            .args(arguments)
            .args(["--model", &format!("{}:m", self.provider)])
            .env(self.variable, self.server.url(self.base));
        for key in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"] {
            command.env(key, self.key);
        }
        command
    }

    /// Checks that every batch has a label of its successful calls, or of its failed calls if all failed, and that
    /// the session is copied. Returns the number of labels.
    fn labels(&self, path: &Path) -> usize {
        let session = std::fs::read(path).unwrap();
        let (status, told) =
            self.run_with_input(&["summarize-batch", "--hold-ms", "60000"], &session);
        assert_eq!(status, Some(0), "{}", path.display());
        let (mut labelled, mut copied) = (Vec::new(), String::new());
        for line in told.split_inclusive('\n') {
            if line.starts_with("{\"type\":\"tool_use_summary\"") {
                let record: Value = serde_json::from_str(line).unwrap();
                assert!(!record["summary"].as_str().unwrap().is_empty());
                let ids = record["preceding_tool_use_ids"].as_array().unwrap();
                labelled.extend(ids.iter().map(|id| id.as_str().unwrap().to_owned()));
            } else {
                copied.push_str(line);
            }
        }
        let text = String::from_utf8_lossy(&session);
        assert_eq!(copied.trim_end_matches('\n'), text.trim_end_matches('\n'));
        let mut expected: Vec<String> = Vec::new();
        for batch in batches(&text) {
            let all_failed = batch.values().all(|failed| *failed);
            let shown = batch
                .into_iter()
                .filter(|(_, failed)| all_failed || !failed);
            expected.extend(shown.map(|(id, _)| id));
        }
        expected.sort();
        labelled.sort();
        assert_eq!(labelled, expected, "{}, {}", self.name, path.display());
        labelled.len()
    }

    /// Checks that every session has one outcome, and a reason if it has no text.
    fn outcomes(&self, command: &str, sessions: &[PathBuf]) {
        let names: Vec<&str> = sessions.iter().map(|path| path.to_str().unwrap()).collect();
        let mut arguments = vec![command, "-o", "jsonl", "--jobs", "4"];
        arguments.extend(&names);
        let (status, told) = self.run_with_input(&arguments, b"");
        let records: Vec<Value> = told
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let paths: Vec<&str> = records
            .iter()
            .map(|record| record["path"].as_str().unwrap())
            .collect();
        assert_eq!(paths, names, "{}, {command}", self.name);
        let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let mut good = 0;
        for record in &records {
            if record["ok"] == true {
                good += 1;
                continue;
            }
            let error = record["error"].as_str().unwrap_or_default();
            let reason = format!("{} {error}", record["reason"].as_str().unwrap());
            let file = Path::new(record["path"].as_str().unwrap());
            let file = file.file_name().unwrap().to_str().unwrap();
            reasons.entry(reason).or_default().push(file);
        }
        println!(
            "{}, {}: {command}: {good} of {}",
            self.name,
            self.provider,
            records.len()
        );
        for (reason, files) in &reasons {
            println!("    {reason}: {} ({})", files.len(), files.join(" "));
        }
        // `llmock` replies to any question with a sentence without a tag.
        assert!(good > 0 || command == "recap" && self.name == "llmock");
        let is_unusable = |reason: &String| reason.contains("unusable reply");
        let is_whole = good > 0 && !reasons.keys().any(is_unusable);
        assert_eq!(status, Some(if is_whole { 0 } else { 4 }));
        let failed = reasons
            .keys()
            .find(|reason| reason.starts_with("model_error"));
        assert_eq!(failed, None, "{}, {command}", self.name);
    }

    /// Returns the exit status and the output of a command with this input.
    fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> (Option<i32>, String) {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        // The child may exit before it has read everything.
        let _ = writer.join().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), text)
    }
}
