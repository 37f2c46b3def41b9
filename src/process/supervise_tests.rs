//! The way without `clone`, pidfds and `/proc`, as on other systems and old kernels. The way
//! that this system takes is tested through `Spawners`.

use std::ffi::OsString;
use std::time::Instant;

use super::super::pipes::PipeMaker;
use super::super::start::Start;
use super::super::{Capture, Ended, Limits, std_spawn};
use super::*;

const LONG: Duration = Duration::from_mins(2);

fn script(script: &str, limits: Limits) -> Command {
    Command {
        program: "/bin/sh".into(),
        arguments: ["-c", script].map(OsString::from).into(),
        environment: [("PATH".into(), "/usr/bin:/bin".into())].into(),
        directory: std::env::temp_dir(),
        stdin: Stdin::Null,
        capture: Capture::default(),
        limits,
    }
}

fn run(command: &Command, cancel: &CancelToken) -> Finished {
    let (theirs, ours) = PipeMaker::default().make(&command.stdin).unwrap();
    let start = Start::prepare(command, theirs).unwrap();
    let registration = Registration::before_start();
    let attributes = std_spawn::Attributes::new().unwrap();
    let leader = std_spawn::spawn(&attributes, &start).unwrap().leader;
    drop(start);
    let group = Group::by_number(leader);
    supervise(
        group,
        registration,
        ours,
        command,
        cancel,
        &std::env::temp_dir(),
    )
}

fn run_alone(script_text: &str, limits: Limits) -> (Finished, String) {
    let finished = run(&script(script_text, limits), &CancelToken::default());
    let output = finished.stdout.text().unwrap();
    (finished, output)
}

/// Whether a process still runs; a zombie, which its parent has yet to see, does not.
fn runs(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.contains(") Z "))
}

fn assert_ends(pid: &str) {
    let deadline = Instant::now() + LONG;
    while runs(pid) {
        assert!(Instant::now() < deadline, "{pid} still runs");
        thread::sleep(FIRST_BLIND_WAIT);
    }
}

#[test]
fn output_status_directory_and_environment_are_right() {
    let (finished, output) = run_alone(
        "pwd; echo $PATH; cat; echo err >&2; exit 9",
        Limits::with_timeout(LONG),
    );
    let directory = std::env::temp_dir().canonicalize().unwrap();
    assert_eq!(output, format!("{}\n/usr/bin:/bin\n", directory.display()));
    assert_eq!(finished.stderr.text().unwrap(), "err\n");
    assert_eq!(finished.status, ExitStatus::Code(9));
    assert_eq!(finished.ended, Ended::Exited);
}

#[test]
fn what_ignores_term_is_killed() {
    let limits = Limits {
        grace: Duration::from_millis(50),
        ..Limits::with_timeout(Duration::from_millis(200))
    };
    let (finished, _) = run_alone("trap '' TERM; while :; do sleep 1000; done", limits);
    assert_eq!(finished.ended, Ended::TimedOut);
    assert!(matches!(finished.status, ExitStatus::Signal(_)));
}

#[test]
fn what_holds_no_pipe_is_killed_at_once() {
    let limits = Limits {
        drain: LONG,
        grace: LONG,
        ..Limits::with_timeout(LONG)
    };
    let began = Instant::now();
    let (finished, output) = run_alone("sleep 1000 > /dev/null 2>&1 & echo $!", limits);
    assert!(began.elapsed() < LONG);
    assert_eq!(finished.status, ExitStatus::Code(0));
    assert!(!finished.pipes_held);
    assert_ends(&output);
}

#[test]
fn what_holds_a_pipe_is_told_to_end() {
    let (finished, output) = run_alone("sleep 1000 & echo $!", Limits::with_timeout(LONG));
    assert_eq!(finished.ended, Ended::Exited);
    assert!(finished.pipes_held);
    assert_ends(&output);
}

#[test]
fn a_cancel_is_heard() {
    let token = CancelToken::default();
    let command = script("sleep 1000", Limits::with_timeout(LONG));
    let finished = thread::scope(|scope| {
        scope.spawn(|| token.cancel());
        run(&command, &token)
    });
    assert_eq!(finished.ended, Ended::Cancelled);
}
