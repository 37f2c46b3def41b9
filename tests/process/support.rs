//! Helpers of these tests: marked children, and the search for surviving ones.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use turnpipe::io::CancelToken;
use turnpipe::process::{
    Capture, Command, Finished, Limits, Mask, MaskKind, MaskList, MaskSource, Sandbox, SpawnError,
    Spawners, Stdin, Supervisor,
};

use crate::skip::search_path;

/// Far longer than any test takes on a busy machine, and short enough to end a hung one.
pub(crate) const LONG: Duration = Duration::from_mins(2);

/// Enough time to handle SIGTERM on a busy machine. Not `LONG`: a shell's child that gets the signal between its
/// fork and its exec may lose it, and lives until it is killed.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// Tells a test that it runs in a separate process.
const ALONE: &str = "TURNPIPE_TEST_ALONE";

/// The spawner threads of all tests.
pub(crate) static SPAWNERS: LazyLock<Spawners> =
    LazyLock::new(|| confine(Supervisor::default().spawners(2)));

/// A file to mask.
#[derive(Debug)]
struct OneFile(tempfile::NamedTempFile);

impl MaskSource for OneFile {
    fn list(&self) -> MaskList {
        let mask = Mask {
            kind: MaskKind::UnreadableFile,
            path: self.0.path().to_owned(),
            file: None,
        };
        MaskList {
            masks: vec![mask],
            version: 0,
            protected: BTreeMap::new(),
        }
    }
}

/// Returns spawners whose children run in a sandbox, if `TURNPIPE_TEST_SANDBOX=1` asks for that.
pub(crate) fn confine(spawners: Spawners) -> Spawners {
    if std::env::var_os("TURNPIPE_TEST_SANDBOX").is_none_or(|value| value != "1") {
        return spawners;
    }
    let sandbox = Sandbox::new(OneFile(tempfile::NamedTempFile::new().unwrap()), [].into());
    spawners.in_sandbox(&Arc::new(
        sandbox.with_program(env!("CARGO_BIN_EXE_turnpipe").into()),
    ))
}

/// The directory and the mark of one test. All children have the mark in their environment, so that surviving
/// processes can be found.
pub(crate) struct TestDir {
    directory: tempfile::TempDir,
    mark: String,
}

impl TestDir {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            directory: tempfile::tempdir().unwrap(),
            mark: format!("{}-{number}", std::process::id()),
        }
    }

    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Adds the program `chain`, whose processes fork and exit continuously.
    pub(crate) fn add_chain(&self) {
        static PROGRAM: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
            let directory = tempfile::tempdir().unwrap();
            let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/process/chain.c");
            let compiled = std::process::Command::new("cc")
                .args(["-O2", source, "-o"])
                .arg(directory.path().join("chain"))
                .status();
            assert!(compiled.unwrap().success());
            directory
        });
        // Copied by another process: children of this one would keep the copy open, so that it could not be executed.
        let copied = std::process::Command::new("cp")
            .arg(PROGRAM.path().join("chain"))
            .arg(self.path("chain"))
            .status();
        assert!(copied.unwrap().success());
    }

    /// Returns a shell script as a child, in this directory.
    pub(crate) fn script(&self, script: &str) -> Command {
        self.program("/bin/sh", &["-c", script])
    }

    pub(crate) fn program(&self, program: &str, arguments: &[&str]) -> Command {
        Command {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: [
                ("PATH".into(), search_path().into()),
                ("TURNPIPE_TEST_MARK".into(), self.mark.clone().into()),
            ]
            .into(),
            directory: self.directory.path().into(),
            stdin: Stdin::Null,
            report: None,
            capture: Capture::default(),
            limits: Limits::with_timeout(LONG),
        }
    }

    /// Runs a command, and `then` as soon as it has created the file `ready`.
    pub(crate) fn run_and_when_ready(
        &self,
        command: &Command,
        act: impl FnOnce(&CancelToken) + Send,
    ) -> Finished {
        let token = CancelToken::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                wait_for_file(&self.path("ready"));
                act(&token);
            });
            SPAWNERS.run(command, &token).unwrap()
        })
    }

    /// Fails if a process with the mark survives.
    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(
            self.wait_for_survivors(),
            Vec::<String>::new(),
            "still alive"
        );
    }

    /// Returns the command lines of surviving processes with the mark.
    pub(crate) fn wait_for_survivors(&self) -> Vec<String> {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let left = self.marked_processes();
            if left.is_empty() || Instant::now() > deadline {
                return left;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the command lines of the living processes with the mark.
    pub(crate) fn marked_processes(&self) -> Vec<String> {
        let variable = format!("TURNPIPE_TEST_MARK={}", self.mark);
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .filter(|process| {
                std::fs::read(process.join("environ")).is_ok_and(|environment| {
                    environment
                        .split(|byte| *byte == 0)
                        .any(|entry| entry == variable.as_bytes())
                })
            })
            .map(|process| {
                let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).replace('\0', " ")
            })
            .collect()
    }
}

/// Runs a command without a cancellation.
pub(crate) fn run(command: &Command) -> Result<Finished, SpawnError> {
    SPAWNERS.run(command, &CancelToken::default())
}

pub(crate) fn wait_for_file(path: &Path) {
    let deadline = Instant::now() + LONG;
    while !path.exists() {
        assert!(Instant::now() < deadline, "{} never came", path.display());
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub(crate) fn stdout(finished: &Finished) -> String {
    finished.stdout.text().unwrap()
}

pub(crate) fn err(finished: &Finished) -> String {
    finished.stderr.text().unwrap()
}

/// Whether the calling test, which [`test_command`] names, runs in a separate process.
pub(crate) fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// Returns a command line that runs one ignored test of this binary in a separate process.
pub(crate) fn test_command(test: &str) -> std::process::Command {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            test,
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(ALONE, "1");
    command
}

/// Runs [`test_command`] and fails if the test does.
pub(crate) fn run_alone(test: &str) {
    let output = test_command(test).output().unwrap();
    assert!(output.status.success(), "{}", describe(&output));
    assert!(
        describe(&output).contains("1 passed"),
        "{}",
        describe(&output)
    );
}

pub(crate) fn describe(output: &Output) -> String {
    let texts = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{}\n{}\n{}", output.status, texts[0], texts[1])
}
