//! Seventeen kinds of difficult children with five ends of a call, through the binary: every call with a result has
//! exactly one, and no process survives.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::skip::sample;
use crate::support::{LONG, TestDir};

/// The end of a call or of its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The shell exits.
    Exit,
    /// The call reaches its timeout.
    Timeout,
    /// The run is interrupted.
    Cancel,
    /// A sibling fails.
    SiblingError,
    /// The run is killed.
    Killed,
}

const ENDINGS: [Ending; 5] = [
    Ending::Exit,
    Ending::Timeout,
    Ending::Cancel,
    Ending::SiblingError,
    Ending::Killed,
];

/// A kind of difficult child.
#[derive(Debug)]
struct DifficultChild {
    name: &'static str,
    /// The script of the shell before it exits or waits.
    script: &'static str,
    /// Further conditions of the run.
    use_of_run: UseOfRun,
}

impl DifficultChild {
    /// Whether it starts processes that fork and exit continuously.
    fn is_chain(&self) -> bool {
        self.script.starts_with("./chain")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UseOfRun {
    /// No further conditions.
    Plain,
    /// The reader of the output exits when the script has started.
    ReaderLeaves,
    /// This many other calls come first.
    AfterCalls(usize),
    /// The script ends at its timeout.
    EndsAtDeadline,
}

const fn plain_trouble(name: &'static str, script: &'static str) -> DifficultChild {
    DifficultChild {
        name,
        script,
        use_of_run: UseOfRun::Plain,
    }
}

/// The chains of the table, doubled.
const SIXTEEN_CHAINS: DifficultChild = plain_trouble("sixteen chains", "./chain 100 1000 16");

/// Failing checks inside the scripts end the shell with this code.
const WRONG: &str = "Exit code 97";

const TROUBLES: [DifficultChild; 17] = [
    plain_trouble("a grandchild holds the pipes", "sleep 1000 &"),
    plain_trouble(
        "the group outlives its leader",
        "sleep 1000 > /dev/null 2>&1 & sh -c 'sleep 1000 & sleep 1000; :' > /dev/null 2>&1 &",
    ),
    plain_trouble(
        "some left the session",
        "setsid sleep 1000 & (setsid sleep 1000 > /dev/null 2>&1 &); \
         setsid -f sh -c 'setsid -f sleep 1000; sleep 1000' > /dev/null 2>&1",
    ),
    plain_trouble(
        "a deep tree",
        "sh -c 'sh -c \"sh -c \\\"sleep 1000; :\\\"; :\" & sleep 1000; :' &",
    ),
    plain_trouble("a flood", "yes & yes >&2 &"),
    plain_trouble(
        "waiting for a person",
        "cat; read line; test -z \"$line\" || exit 97; ! : < /dev/tty || exit 97",
    ),
    plain_trouble(
        "TERM is ignored",
        "trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 1000; done' &",
    ),
    plain_trouble(
        "stopped processes",
        "sh -c 'kill -STOP $$; sleep 1000' & setsid sh -c 'kill -STOP $$; sleep 1000' &",
    ),
    plain_trouble(
        "SIGPIPE",
        "yes | head -n 1 > /dev/null; test \"${PIPESTATUS[0]}\" = 141 || exit 97",
    ),
    plain_trouble(
        "descriptors",
        "test \"$(echo $(ls /proc/self/fd))\" = '0 1 2 3' || exit 97",
    ),
    plain_trouble("INT is ignored", "trap '' INT HUP; sleep 1000 &"),
    plain_trouble(
        "many orphans that end",
        "for n in 1 2 3 4 5 6 7 8; do (sleep 0.0$n &) ; (setsid true &) ; done",
    ),
    plain_trouble(
        "many processes",
        "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do sh -c 'sleep 1000 & sleep 1000' & done",
    ),
    plain_trouble("eight chains", "./chain 100 1000 8"),
    DifficultChild {
        name: "an end at the deadline",
        script: "sleep 1000 > /dev/null 2>&1 &",
        use_of_run: UseOfRun::EndsAtDeadline,
    },
    DifficultChild {
        name: "no reader",
        script: "sleep 1000 &",
        use_of_run: UseOfRun::ReaderLeaves,
    },
    DifficultChild {
        name: "many calls before",
        script: "sleep 1000 &",
        use_of_run: UseOfRun::AfterCalls(200),
    },
];

/// Timeout that is long enough for the script of a call on a busy machine.
const TIMEOUT: Duration = Duration::from_millis(1500);

#[test]
fn no_process_survives() {
    let cells: Vec<(&DifficultChild, Ending)> = TROUBLES
        .iter()
        .flat_map(|trouble| ENDINGS.map(|ending| (trouble, ending)))
        // The processes of a chain are not adopted after the run was killed.
        .filter(|(trouble, ending)| !trouble.is_chain() || *ending != Ending::Killed)
        .collect();
    assert_eq!(cells.len(), 84);
    // Each child and each end are in several of them.
    let cells = sample(cells, 3, |_| ());
    // More parallel cells with chains would exhaust the system's process numbers.
    let (chains, others): (Vec<_>, Vec<_>) = cells
        .into_iter()
        .partition(|(trouble, _)| trouble.is_chain());
    for (cells, threads) in [(others, 14), (chains, 2)] {
        let next = Mutex::new(cells.into_iter());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let cell = next.lock().unwrap().next();
                        let Some((trouble, ending)) = cell else { break };
                        check(trouble, ending);
                    }
                });
            }
        });
    }
    let deadline = Instant::now() + LONG;
    while guardians() > 0 {
        assert!(Instant::now() < deadline, "a guardian is left");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[ignore = "takes 20 seconds"]
fn no_process_of_sixteen_chains_survives() {
    for ending in ENDINGS {
        if ending != Ending::Killed {
            check(&SIXTEEN_CHAINS, ending);
        }
    }
}

fn check(trouble: &DifficultChild, ending: Ending) {
    let cell = format!("{} / {ending:?}", trouble.name);
    let dir = TestDir::new();
    if trouble.is_chain() {
        dir.add_chain();
    }
    let mut run = Run::start(&dir, ending);
    let calls = run.feed(trouble, ending);
    if trouble.use_of_run != UseOfRun::ReaderLeaves {
        run.read();
    }
    let signal = match ending {
        Ending::Cancel => Some(Signal::INT),
        Ending::Killed => Some(Signal::KILL),
        Ending::Exit | Ending::Timeout | Ending::SiblingError => None,
    };
    if signal.is_some() {
        let waiting = run.sleep_line();
        wait_until(&cell, || match trouble.use_of_run {
            // Too short-lived to be reliably seen among all processes.
            UseOfRun::EndsAtDeadline => dir.path("ready").exists(),
            _ => dir
                .marked_processes()
                .iter()
                .any(|line| line.trim() == waiting),
        });
    }
    drop(run.child.stdout.take());
    if let Some(signal) = signal {
        let pid = rustix::process::Pid::from_child(&run.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }
    let output = run.finish(&cell);
    assert_eq!(
        dir.wait_for_survivors(),
        Vec::<String>::new(),
        "{cell}: still alive"
    );
    assert!(!dir.path("outlived").exists(), "{cell}");
    if ending == Ending::Killed || trouble.use_of_run == UseOfRun::ReaderLeaves {
        return;
    }
    let mut results: Vec<(String, String)> = Vec::new();
    for record in &output {
        if let Some(outcome) = record["turnpipe"]["outcome"].as_str() {
            let block = &record["message"]["content"][0];
            let content = block["content"].as_str().unwrap_or_default();
            assert!(!content.contains(WRONG), "{cell}: {content}");
            let id = block["tool_use_id"].as_str().unwrap().to_owned();
            results.push((id, outcome.to_owned()));
        }
    }
    let ids: Vec<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, calls, "{cell}: {results:?}");
    let outcome = &results.iter().find(|(id, _)| id == "trouble").unwrap().1;
    let expected: &[&str] = match (trouble.use_of_run, ending) {
        (UseOfRun::EndsAtDeadline, Ending::Cancel) => &["ok", "timeout", "interrupted", "not_run"],
        (UseOfRun::EndsAtDeadline, Ending::SiblingError) => &["ok", "timeout", "cancelled_sibling"],
        (UseOfRun::EndsAtDeadline, _) => &["ok", "timeout"],
        (_, Ending::Exit) => &["ok"],
        (_, Ending::Timeout) => &["timeout"],
        (_, Ending::Cancel) => &["interrupted"],
        (_, Ending::SiblingError) => &["cancelled_sibling"],
        (_, Ending::Killed) => unreachable!("returned above"),
    };
    assert!(expected.contains(&outcome.as_str()), "{cell}: {outcome}");
}

/// A `run-tools` whose children have the mark of a test.
struct Run {
    child: Child,
    stdin: Option<ChildStdin>,
    reader: Option<JoinHandle<Vec<u8>>>,
    /// The sleep of a script's last command, in seconds. The number identifies the process in the table.
    length: String,
}

impl Run {
    fn start(dir: &TestDir, ending: Ending) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_turnpipe"));
        command
            .args(["run-tools", "--no-echo", "--no-config"])
            .args(["--permission-mode", "bypassPermissions"])
            .env_clear()
            .env("PATH", crate::skip::search_path())
            .env("HOME", dir.path(""))
            .env("TMPDIR", dir.path(""))
            .env("TURNPIPE_TEST_MARK", dir.mark())
            .current_dir(dir.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if ending == Ending::SiblingError {
            // Only concurrent calls have siblings.
            command.arg("--assume-read-only");
        }
        let mut child = command.spawn().unwrap();
        Self {
            stdin: child.stdin.take(),
            reader: None,
            child,
            length: format!("1000.{}", dir.mark().replace('-', "")),
        }
    }

    fn sleep_line(&self) -> String {
        format!("sleep {}", self.length)
    }

    /// Sends the calls and returns their ids. The input ends, unless the run is to be ended.
    fn feed(&mut self, trouble: &DifficultChild, ending: Ending) -> Vec<String> {
        let mut calls: Vec<(String, String, Duration)> = Vec::new();
        if let UseOfRun::AfterCalls(count) = trouble.use_of_run {
            calls.extend((0..count).map(|n| (format!("before{n}"), "true".to_owned(), LONG)));
        }
        let at_deadline = trouble.use_of_run == UseOfRun::EndsAtDeadline;
        let (last, timeout) = match ending {
            _ if at_deadline => (
                ": > ready; sleep 0.3".to_owned(),
                Duration::from_millis(310),
            ),
            Ending::Exit => ("true".to_owned(), LONG),
            Ending::Timeout => (self.sleep_line(), TIMEOUT),
            Ending::Cancel | Ending::SiblingError | Ending::Killed => (self.sleep_line(), LONG),
        };
        let script = format!("{}\n{last}", trouble.script);
        calls.push(("trouble".to_owned(), script, timeout));
        if ending == Ending::SiblingError {
            let script = if at_deadline {
                "sleep 0.3; rmdir /nonexistent/directory".to_owned()
            } else {
                // The pattern does not match itself.
                let pattern = self.length.replace('.', "[.]");
                format!(
                    "until grep -qsxz '{pattern}' /proc/[0-9]*/cmdline; do sleep 0.1; done; rmdir /nonexistent/directory"
                )
            };
            calls.push(("sibling".to_owned(), script, LONG));
        }
        let blocks: Vec<Value> = calls
            .iter()
            .map(|(id, command, timeout)| {
                let timeout = u64::try_from(timeout.as_millis()).unwrap();
                json!({"type": "tool_use", "id": id, "name": "Bash",
                    "input": {"command": command, "timeout": timeout}})
            })
            .collect();
        let record = json!({"type": "assistant", "message": {
            "id": "m", "role": "assistant", "content": blocks, "stop_reason": "tool_use"}});
        let mut stdin = self.stdin.take().unwrap();
        stdin.write_all(format!("{record}\n").as_bytes()).unwrap();
        if matches!(ending, Ending::Cancel | Ending::Killed) {
            self.stdin = Some(stdin);
        }
        calls.into_iter().map(|(id, ..)| id).collect()
    }

    fn read(&mut self) {
        let mut stdout = self.child.stdout.take().unwrap();
        self.reader = Some(std::thread::spawn(move || {
            let mut bytes = Vec::new();
            stdout.read_to_end(&mut bytes).unwrap();
            bytes
        }));
    }

    /// Waits for the end and returns the records.
    fn finish(&mut self, cell: &str) -> Vec<Value> {
        let deadline = Instant::now() + LONG;
        while self.child.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "{cell}: the run never ended");
            std::thread::sleep(Duration::from_millis(5));
        }
        let Some(reader) = self.reader.take() else {
            return Vec::new();
        };
        String::from_utf8(reader.join().unwrap())
            .unwrap()
            .lines()
            // Killed in the middle of a line.
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }
}

fn wait_until(cell: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + LONG;
    while !condition() {
        assert!(
            Instant::now() < deadline,
            "{cell}: the condition was never met"
        );
        // Reading the process table takes some milliseconds.
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns the number of guardians of the binary under test.
fn guardians() -> usize {
    let program = std::fs::canonicalize(env!("CARGO_BIN_EXE_turnpipe")).unwrap();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let exe = std::fs::read_link(entry.path().join("exe"));
            line.starts_with(b"turnpipe-guardian") && exe.is_ok_and(|exe| exe == program)
        })
        .count()
}
