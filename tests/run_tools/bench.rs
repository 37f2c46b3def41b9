//! The environment of one test: a directory, a clean environment, a fixed clock and fixed ids.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::skip::{is_missing, search_path};

/// Longer than any run that does not hang.
pub(crate) const PATIENCE: Duration = Duration::from_mins(5);

pub(crate) struct Bench {
    directory: tempfile::TempDir,
}

/// The end of a pipeline.
#[derive(Debug)]
#[must_use = "check the result of the run"]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let bench = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(bench.work()).unwrap();
        bench
    }

    /// Returns a bench for a test that needs a program, or `None` if the machine lacks it.
    pub(crate) fn with_program(program: &str) -> Option<Self> {
        (!is_missing(program)).then(Self::new)
    }

    /// Returns the working directory of runs.
    pub(crate) fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.directory.path().join("state")
    }

    /// Returns the state directory of the only session with this id.
    pub(crate) fn session_state(&self, id: &str) -> PathBuf {
        let entries = std::fs::read_dir(self.state().join("turnpipe")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let is_named = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(&format!("{id}-")))
        };
        let found: Vec<PathBuf> = paths.filter(is_named).collect();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.work().join(name)).unwrap()
    }

    fn set_environment(&self, command: &mut Command) {
        command
            .current_dir(self.work())
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", self.directory.path())
            .env("XDG_STATE_HOME", self.state())
            .env("TURNPIPE_CLOCK", "2026-01-02T03:04:05Z")
            .env("TURNPIPE_ID_SEED", "7");
    }

    /// Returns `turnpipe run-tools` with further arguments, not yet started.
    pub(crate) fn run_tools(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnpipe"));
        self.set_environment(&mut command);
        command.arg("run-tools").args(arguments);
        command
    }

    /// Runs `run-tools` with `input` on a pipe.
    pub(crate) fn run(&self, arguments: &[&str], input: impl Into<Vec<u8>>) -> Run {
        self.run_in_pieces(arguments, std::iter::once(&*input.into()))
    }

    /// Runs `run-tools` with pieces of its input, each written by itself.
    pub(crate) fn run_in_pieces<'a>(
        &self,
        arguments: &[&str],
        mut pieces: impl Iterator<Item = &'a [u8]>,
    ) -> Run {
        let child = self
            .run_tools(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            let output = scope.spawn(|| child.wait_with_output().unwrap());
            // The child may exit before it has read everything.
            let _ = pieces.try_for_each(|piece| stdin.write_all(piece));
            drop(stdin);
            Run::of(&output.join().unwrap())
        })
    }

    /// Runs a shell script, with `turnpipe` as the binary.
    pub(crate) fn shell(&self, script: &str) -> Run {
        let mut command = Command::new("bash");
        self.set_environment(&mut command);
        let prelude = "set -o pipefail; turnpipe() { \"$TURNPIPE\" \"$@\"; }";
        command
            .env("TURNPIPE", env!("CARGO_BIN_EXE_turnpipe"))
            .args(["-c", &format!("{prelude}\n{script}")])
            .stdin(Stdio::null());
        Run::of(&command.output().unwrap())
    }

    /// Runs a shell script with `input` on its standard input.
    pub(crate) fn shell_with_input(&self, script: &str, input: &[u8]) -> Run {
        std::fs::write(self.directory.path().join("input"), input).unwrap();
        self.shell(&format!("cat ../input | {script}"))
    }

    /// Starts `run-tools` for a driver that exchanges lines with it.
    pub(crate) fn start_driver(&self, arguments: &[&str]) -> Driver {
        Driver::start(self.run_tools(arguments))
    }
}

impl Run {
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Returns the JSON lines of stdout.
    pub(crate) fn records(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Returns the ids and outcomes of this run's results, in order.
    pub(crate) fn outcomes(&self) -> Vec<(String, String)> {
        self.records().iter().filter_map(outcome).collect()
    }

    /// Returns the only result of a call.
    pub(crate) fn result(&self, id: &str) -> Value {
        let mut of_call = self
            .records()
            .into_iter()
            .filter(|record| record["message"]["content"][0]["tool_use_id"] == id);
        let result = of_call
            .next()
            .unwrap_or_else(|| panic!("no result for {id}: {self:?}"));
        assert!(of_call.next().is_none(), "two results for {id}: {self:?}");
        result
    }

    /// Returns the text that the model sees for a call.
    pub(crate) fn content(&self, id: &str) -> String {
        self.result(id)["message"]["content"][0]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Returns the number of records with this subtype.
    pub(crate) fn count(&self, subtype: &str) -> usize {
        self.records()
            .iter()
            .filter(|record| record["subtype"] == subtype)
            .count()
    }
}

/// Returns the id and outcome of a result record of ours.
pub(crate) fn outcome(record: &Value) -> Option<(String, String)> {
    let outcome = record["turnpipe"]["outcome"].as_str()?;
    let id = record["message"]["content"][0]["tool_use_id"].as_str()?;
    Some((id.to_owned(), outcome.to_owned()))
}

/// Returns pairs to compare with [`Run::outcomes`].
pub(crate) fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(id, outcome)| ((*id).to_owned(), (*outcome).to_owned()))
        .collect()
}

/// A running `run-tools` whose input stays open.
pub(crate) struct Driver {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

impl Driver {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        let errors = child.stderr.take().unwrap();
        Self {
            child,
            stdin,
            lines: lines_of(stdout),
            errors: lines_of(errors),
        }
    }

    /// Waits for a message on stderr.
    pub(crate) fn message(&self, part: &str) {
        while let Ok(line) = self.errors.recv_timeout(PATIENCE) {
            if line.contains(part) {
                return;
            }
        }
        panic!("no message with {part}");
    }

    pub(crate) fn send(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for the next line.
    pub(crate) fn line(&self) -> String {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => panic!("no line came"),
            Err(RecvTimeoutError::Disconnected) => panic!("the output ended"),
        }
    }

    /// Reads lines up to the result of a call. Returns that record.
    pub(crate) fn result(&self, id: &str) -> Value {
        loop {
            let record: Value = serde_json::from_str(&self.line()).unwrap_or_default();
            if record["message"]["content"][0]["tool_use_id"] == id {
                return record;
            }
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let script = format!("kill -{signal} {}", self.child.id());
        let status = Command::new("sh").args(["-c", &script]).status();
        assert!(status.unwrap().success());
    }

    /// Closes the input. Returns the rest of the output.
    pub(crate) fn finish(mut self) -> Run {
        self.close();
        self.wait()
    }

    /// Waits for the end with the input still open.
    pub(crate) fn wait(mut self) -> Run {
        let mut stdout = String::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            stdout.push_str(&line);
            stdout.push('\n');
        }
        let status = self.child.wait().unwrap();
        Run {
            status: status.code(),
            stdout,
            stderr: self.errors.iter().map(|line| line + "\n").collect(),
        }
    }
}

fn lines_of(source: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(source).lines() {
            if sender.send(line.unwrap()).is_err() {
                break;
            }
        }
    });
    lines
}

/// Returns a bare call.
pub(crate) fn call(id: &str, name: &str, input: &Value) -> String {
    format!(
        "{}\n",
        json!({"type": "tool_use", "id": id, "name": name, "input": input})
    )
}

/// Returns a bare shell call.
pub(crate) fn bash(id: &str, command: &str) -> String {
    call(id, "Bash", &json!({ "command": command }))
}

/// Returns an assistant record with shell calls, ended by its stop reason.
pub(crate) fn turn(message: &str, calls: &[(&str, &str)]) -> String {
    let content: Vec<Value> = calls
        .iter()
        .map(|(id, command)| {
            json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}})
        })
        .collect();
    let record = json!({"type": "assistant", "message": {
        "id": message, "role": "assistant", "content": content, "stop_reason": "tool_use"}});
    format!("{record}\n")
}

/// Lets everything run.
pub(crate) const BYPASS: [&str; 2] = ["--permission-mode", "bypassPermissions"];

/// Waits until `condition` holds.
pub(crate) fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = std::time::Instant::now() + PATIENCE;
    while !condition() {
        assert!(
            std::time::Instant::now() < deadline,
            "waited in vain for {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether any process has this marker in its environment.
pub(crate) fn is_marked_process_alive(marker: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.flatten().any(|process| {
        let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
        environment
            .windows(marker.len())
            .any(|window| window == marker.as_bytes())
    })
}
