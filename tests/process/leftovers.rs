//! Processes that survive a child which ends by itself.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use turnpipe::io::CancelToken;
use turnpipe::process::{Ended, ExitStatus, Leftovers, Limits, Supervisor};

use crate::support::{
    GRACE, LONG, TestDir, confine, is_alone, run, run_alone, stdout, wait_for_file,
};

fn run_script(dir: &TestDir, script: &str, limits: Limits) -> (String, Leftovers) {
    let mut command = dir.script(script);
    command.limits = limits;
    let finished = run(&command).unwrap();
    assert_eq!(finished.ended, Ended::Exited, "{script}");
    assert_eq!(finished.status, ExitStatus::Code(0), "{script}");
    (stdout(&finished), finished.leftovers)
}

fn patient_limits() -> Limits {
    Limits::with_timeout(LONG)
}

#[test]
fn a_background_process_that_holds_a_pipe_is_ended_and_nothing_is_lost() {
    let dir = TestDir::new();
    let began = Instant::now();
    let (output, left) = run_script(
        &dir,
        "echo before; sleep 1000 & echo after",
        patient_limits(),
    );
    assert_eq!(output, "before\nafter\n");
    assert_eq!(left, Leftovers::Ended);
    assert!(began.elapsed() >= patient_limits().drain);
    dir.assert_nothing_left();
}

#[test]
fn a_background_process_that_holds_no_pipe_is_ended_too() {
    let dir = TestDir::new();
    let (output, left) = run_script(
        &dir,
        "sleep 1000 > /dev/null 2>&1 & echo x",
        patient_limits(),
    );
    assert_eq!(output, "x\n");
    assert_eq!(left, Leftovers::Ended);
    dir.assert_nothing_left();
}

#[test]
fn one_that_ignores_term_is_killed() {
    let dir = TestDir::new();
    let usual = Limits {
        grace: Duration::from_millis(100),
        ..patient_limits()
    };
    // Without drain time, it is still there when it has been killed.
    let hasty = Limits {
        drain: Duration::ZERO,
        ..usual
    };
    for (redirection, limits) in [("", usual), ("", hasty), ("> /dev/null 2>&1", usual)] {
        let script = format!(
            "sh -c 'trap \"\" TERM; : > ready; sleep 1000; sleep 1000' {redirection} & \
             while ! test -e ready; do sleep 0.01; done; echo x; rm ready"
        );
        let (output, left) = run_script(&dir, &script, limits);
        assert_eq!((output.as_str(), left), ("x\n", Leftovers::Ended));
        dir.assert_nothing_left();
    }
}

#[test]
fn a_process_that_ends_within_the_drain_time_is_not_signalled() {
    let dir = TestDir::new();
    let limits = Limits {
        drain: LONG,
        ..patient_limits()
    };
    let script = "{ sleep 0.1; echo late; } & { sleep 0.2; echo done > file; } > /dev/null 2>&1 &";
    let (output, left) = run_script(&dir, script, limits);
    assert_eq!((output.as_str(), left), ("late\n", Leftovers::None));
    assert_eq!(std::fs::read_to_string(dir.path("file")).unwrap(), "done\n");
}

#[test]
fn output_after_term_is_captured() {
    let dir = TestDir::new();
    let script = "sh -c 'trap \"echo bye; exit\" TERM; sh -c \": > ready; exec sleep 1000\" & wait' & \
                  while ! test -e ready; do sleep 0.01; done";
    let (output, left) = run_script(
        &dir,
        script,
        Limits {
            grace: GRACE,
            ..patient_limits()
        },
    );
    assert_eq!((output.as_str(), left), ("bye\n", Leftovers::Ended));
    dir.assert_nothing_left();
}

#[test]
fn an_orphan_in_its_own_session_that_holds_a_pipe_is_not_awaited() {
    let dir = TestDir::new();
    let limits = Limits {
        grace: Duration::from_millis(100),
        drain: Duration::from_millis(100),
        ..patient_limits()
    };
    // It ends by itself. The test must not signal a process that is not its child.
    let script =
        "setsid sh -c ': > ready; sleep 30' & while ! test -e ready; do sleep 0.01; done; echo x";
    let (output, left) = run_script(&dir, script, limits);
    assert_eq!((output.as_str(), left), ("x\n", Leftovers::Running));
}

#[test]
fn without_drain_time_no_output_is_lost() {
    let dir = TestDir::new();
    let limits = Limits {
        drain: Duration::ZERO,
        ..patient_limits()
    };
    for _ in 0..20 {
        let (output, _) = run_script(&dir, "seq 1 5000; sleep 1000 & echo end", limits);
        assert!(output.ends_with("\n5000\nend\n"));
    }
    dir.assert_nothing_left();
}

#[test]
fn kill_all_ends_all_children() {
    run_alone("leftovers::kill_all_alone");
}

#[test]
#[ignore = "kills every child of its process; run by the test above"]
fn kill_all_alone() {
    if !is_alone() {
        return;
    }
    let dir = TestDir::new();
    let supervisor = Supervisor::default();
    let pools = [1, 2].map(|threads| confine(supervisor.spawners(threads)));
    let statuses: Vec<ExitStatus> = std::thread::scope(|scope| {
        let calls: Vec<_> = (0..6)
            .map(|number| {
                let mut command = dir.script(&format!(
                    "trap '' TERM; setsid sleep 1000 & sleep 1000 & : > ready{number}; wait; sleep 1000"
                ));
                command.limits.grace = LONG;
                let pool = &pools[number % 2];
                scope.spawn(move || pool.run(&command, &CancelToken::default()).unwrap().status)
            })
            .collect();
        for number in 0..6 {
            wait_for_file(&dir.path(&format!("ready{number}")));
        }
        supervisor.kill_all();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert_eq!(statuses, [ExitStatus::Signal(libc::SIGKILL); 6]);
    dir.assert_nothing_left();
    // Later children may start.
    let finished = pools[0]
        .run(&dir.script("echo on"), &CancelToken::default())
        .unwrap();
    assert_eq!(stdout(&finished), "on\n");
}

/// Each process of a chain lives for a moment, in its own session, and is adopted.
#[test]
fn chains_of_short_lived_processes_end_with_their_call() {
    let dir = TestDir::new();
    dir.add_chain();
    for (pause, chains) in [(500, 1), (1000, 4)] {
        let command = format!("./chain 100 {pause} {chains}; echo started");
        let call =
            json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": command}});
        let turn = json!({"type": "assistant", "message": {
            "id": "m", "role": "assistant", "content": [call], "stop_reason": "tool_use"}});
        let mut child = Command::new(env!("CARGO_BIN_EXE_turnpipe"))
            .args(["run-tools", "--no-echo", "--no-config"])
            .args(["--permission-mode", "bypassPermissions"])
            .env_clear()
            .env("PATH", crate::skip::search_path())
            .env("HOME", dir.path(""))
            .env("TURNPIPE_TEST_MARK", dir.mark())
            .current_dir(dir.path(""))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(format!("{turn}\n").as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let left = dir.marked_processes();
        assert!(left.is_empty(), "{pause} {chains}: {left:?}");
        let output = String::from_utf8_lossy(&output.stdout);
        assert!(output.contains("was ended"), "{pause} {chains}: {output}");
        assert!(!dir.path("outlived").exists(), "{pause} {chains}");
    }
}
