//! Runs the binary in a clean environment.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::skip::search_path;

/// The result of a run.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "check the result of the run"]
pub(crate) struct Run {
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns the binary, with no environment but a search path.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnpipe"));
    command.env_clear().env("PATH", search_path());
    command
}

/// Returns a file of `tests/data/session`; the directory itself, if `name` is empty.
pub(crate) fn data(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/session");
    path.join(name).display().to_string()
}

/// Runs the binary with `input` on a pipe.
pub(crate) fn run(arguments: &[&str], input: &[u8]) -> Run {
    run_in(std::path::Path::new("."), arguments, input)
}

/// Runs the binary in a directory, with `input` on a pipe.
pub(crate) fn run_in(directory: &std::path::Path, arguments: &[&str], input: &[u8]) -> Run {
    let mut command = command();
    let child = command
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // The child may exit before it has read everything.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        status: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs a shell script in which `turnpipe` is the binary.
pub(crate) fn shell(script: &str) -> Run {
    let output = Command::new("bash")
        .args([
            "-c",
            &format!("turnpipe() {{ \"$TURNPIPE\" \"$@\"; }}\n{script}"),
        ])
        .env_clear()
        .env("TURNPIPE", env!("CARGO_BIN_EXE_turnpipe"))
        .env("PATH", search_path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    Run {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Returns a run without output on standard error.
pub(crate) fn quiet_run(status: i32, stdout: &str) -> Run {
    Run {
        status: Some(status),
        stdout: stdout.to_owned(),
        stderr: String::new(),
    }
}

/// Returns a run that printed no record.
pub(crate) fn failed_run(status: i32, stderr: &str) -> Run {
    Run {
        status: Some(status),
        stdout: String::new(),
        stderr: stderr.to_owned(),
    }
}
