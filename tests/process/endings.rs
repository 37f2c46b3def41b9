//! The ends of children: by themselves, at their timeout, by their token.

use std::time::{Duration, Instant};

use turnpipe::io::CancelToken;
use turnpipe::process::{Ended, ExitStatus, Limits, Stdin};

use crate::support::{GRACE, LONG, SPAWNERS, TestDir, run, stdout};

/// Scripts that do not end by themselves and are hard to end.
const STUBBORN: [(&str, &str); 9] = [
    ("sleeps", ": > ready; sleep 1000"),
    (
        "ignores TERM",
        "trap '' TERM; : > ready; while :; do sleep 1000; done",
    ),
    ("stopped itself", ": > ready; kill -STOP $$; sleep 1000"),
    (
        "waits for a group",
        "sleep 1000 & sleep 1000 & : > ready; wait",
    ),
    (
        "has a child in its own session",
        "setsid sleep 1000 & : > ready; wait",
    ),
    (
        "has such a child that ignores TERM",
        "setsid sh -c 'trap \"\" TERM; : > ready; sleep 1000; sleep 1000' & wait",
    ),
    (
        "closed its output",
        "exec > /dev/null 2>&1; : > ready; sleep 1000",
    ),
    ("prints without end", ": > ready; yes"),
    ("does not read its input", ": > ready; sleep 1000"),
];

fn limits(timeout: Duration, grace: Duration) -> Limits {
    Limits {
        grace,
        ..Limits::with_timeout(timeout)
    }
}

#[test]
fn everything_ends_at_its_timeout() {
    std::thread::scope(|scope| {
        for (name, script) in STUBBORN {
            scope.spawn(move || {
                let dir = TestDir::new();
                let mut command = dir.script(script);
                command.stdin = Stdin::Bytes(vec![b'x'; 200_000]);
                command.limits = limits(Duration::from_millis(500), Duration::from_millis(200));
                let finished = run(&command).unwrap();
                assert_eq!(finished.ended, Ended::TimedOut, "{name}");
                assert!(matches!(finished.status, ExitStatus::Signal(_)), "{name}");
                dir.assert_nothing_left();
            });
        }
    });
}

#[test]
fn everything_ends_when_it_is_cancelled() {
    std::thread::scope(|scope| {
        for (name, script) in STUBBORN {
            scope.spawn(move || {
                let dir = TestDir::new();
                let mut command = dir.script(script);
                command.limits = limits(LONG, Duration::from_millis(200));
                let finished = dir.run_and_when_ready(&command, CancelToken::cancel);
                assert_eq!(finished.ended, Ended::Cancelled, "{name}");
                assert!(matches!(finished.status, ExitStatus::Signal(_)), "{name}");
                dir.assert_nothing_left();
            });
        }
    });
}

#[test]
fn everything_ends_at_once_when_it_is_killed() {
    std::thread::scope(|scope| {
        for (name, script) in STUBBORN {
            scope.spawn(move || {
                let dir = TestDir::new();
                let mut command = dir.script(script);
                command.limits = limits(LONG, LONG);
                let finished = dir.run_and_when_ready(&command, CancelToken::kill);
                assert_eq!(finished.ended, Ended::Cancelled, "{name}");
                assert_eq!(finished.status, ExitStatus::Signal(libc::SIGKILL), "{name}");
                dir.assert_nothing_left();
            });
        }
    });
}

#[test]
fn a_child_that_handles_term_may_print() {
    let dir = TestDir::new();
    let mut command =
        dir.script("trap 'echo bye; exit 3' TERM; sh -c ': > ready; exec sleep 1000' & wait");
    command.limits = limits(LONG, GRACE);
    let finished = dir.run_and_when_ready(&command, CancelToken::cancel);
    assert_eq!(finished.status, ExitStatus::Code(3));
    assert_eq!(finished.ended, Ended::Cancelled);
    assert_eq!(stdout(&finished), "bye\n");
    dir.assert_nothing_left();
}

#[test]
fn a_stopped_child_is_continued_to_handle_term() {
    let dir = TestDir::new();
    let mut command = dir.script("trap 'exit 4' TERM; : > ready; kill -STOP $$; sleep 1000");
    command.limits = limits(LONG, GRACE);
    let finished = dir.run_and_when_ready(&command, |token| {
        wait_until_stopped(&dir);
        token.cancel();
    });
    assert_eq!(finished.status, ExitStatus::Code(4));
    dir.assert_nothing_left();
}

fn wait_until_stopped(dir: &TestDir) {
    // The script's shell is then the only marked process; `marked_processes` does not return its state.
    let deadline = Instant::now() + LONG;
    let stopped = || {
        std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            let directory = std::fs::read_link(entry.path().join("cwd"));
            let stat = std::fs::read_to_string(entry.path().join("stat"));
            directory
                .is_ok_and(|directory| dir.path("").starts_with(&directory) && directory != *"/")
                && stat.is_ok_and(|stat| stat.contains(") T "))
        })
    };
    while !stopped() {
        assert!(Instant::now() < deadline, "never stopped");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_second_cancel_skips_the_grace() {
    let dir = TestDir::new();
    let mut command =
        dir.script("trap ': > heard' TERM; : > ready; while :; do sleep 1000 & wait; done");
    command.limits = limits(LONG, GRACE);
    let finished = dir.run_and_when_ready(&command, |token| {
        token.cancel();
        crate::support::wait_for_file(&dir.path("heard"));
        token.kill();
    });
    assert_eq!(finished.status, ExitStatus::Signal(libc::SIGKILL));
    assert_eq!(finished.ended, Ended::Cancelled);
    dir.assert_nothing_left();
}

#[test]
fn a_child_that_ends_around_its_deadline_has_one_end() {
    let dir = TestDir::new();
    for round in 0..60 {
        let mut command = dir.program("sleep", &["0.02"]);
        command.limits = limits(Duration::from_millis(10 + round % 20), LONG);
        let finished = run(&command).unwrap();
        match finished.ended {
            Ended::Exited => assert_eq!(finished.status, ExitStatus::Code(0)),
            Ended::TimedOut => assert_ne!(finished.status, ExitStatus::Code(1)),
            Ended::Cancelled => panic!("there was no cancellation"),
        }
    }
    dir.assert_nothing_left();
}

#[test]
fn one_token_ends_many_children() {
    let dir = TestDir::new();
    let token = CancelToken::default();
    let ends: Vec<Ended> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..8)
            .map(|number| {
                let command = dir.script(&format!(": > ready{number}; sleep 1000"));
                let token = &token;
                scope.spawn(move || SPAWNERS.run(&command, token).unwrap().ended)
            })
            .collect();
        for number in 0..8 {
            crate::support::wait_for_file(&dir.path(&format!("ready{number}")));
        }
        token.cancel();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert_eq!(ends, [Ended::Cancelled; 8]);
    dir.assert_nothing_left();
}
