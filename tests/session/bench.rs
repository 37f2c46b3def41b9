//! Runs the binary with an empty environment and reads its output.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::skip::sample;

/// The output of a run.
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) text: String,
    pub(crate) messages: String,
}

impl Run {
    /// Returns the records on standard output.
    pub(crate) fn records(&self) -> Vec<Value> {
        let lines = self.text.split('\n').filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Returns a command line of the binary.
pub(crate) fn turnpipe(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnpipe"));
    command.args(arguments).env_clear().stdin(Stdio::null());
    command
}

/// Runs `session` with these arguments.
pub(crate) fn session(arguments: &[&str]) -> Run {
    run(turnpipe(&[&["session"], arguments].concat()))
}

/// Returns the output of a command.
pub(crate) fn run(mut command: Command) -> Run {
    let output = command.output().unwrap();
    Run {
        status: output.status.code(),
        text: String::from_utf8(output.stdout).unwrap(),
        messages: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns a file of `tests/data/session`.
pub(crate) fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session");
    path.join(name).display().to_string()
}

/// Returns the directory with recordings of agents.
pub(crate) fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/agents")
}

/// Returns recordings with one of these suffixes: some of each agent and form.
pub(crate) fn some_recordings(ends: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&recordings(), ends, &mut found);
    sample(found, 4, |path| {
        let is_stream = path.to_string_lossy().contains(".stream.");
        let agent = path.parent().map(Path::to_owned);
        (agent, is_stream, status_for(path))
    })
}

/// Returns the exit status of a command that reads this recording. Some streams are empty.
pub(crate) fn status_for(recording: &Path) -> i32 {
    let path = recording.to_string_lossy();
    let is_document = path.contains("/opencode/") && path.ends_with(".json");
    let is_session =
        is_document || path.ends_with(".jsonl") && recording.metadata().unwrap().len() > 0;
    if is_session { 0 } else { 2 }
}

/// Collects all files below a directory with one of these suffixes.
pub(crate) fn files(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ends, found);
        } else if ends.iter().any(|end| path.to_string_lossy().ends_with(end)) {
            found.push(path);
        }
    }
    found.sort();
}
