//! Memory, descriptors, threads and processes stay bounded. Each test measures its whole process, so it needs a
//! separate one.

use std::time::{Duration, Instant};

use turnpipe::io::CancelToken;
use turnpipe::process::{
    Capture, Ended, Enforcement, ExitStatus, LaneOptions, Limits, Spawners, Supervisor,
};

use crate::support::{LONG, TestDir, confine, is_alone, run, run_alone};

fn status_field(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn children() -> Vec<String> {
    std::fs::read_dir("/proc/self/task")
        .unwrap()
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .filter(|children| !children.is_empty())
        .collect()
}

/// Waits, since the kernel counts a thread for a moment after it was joined.
fn wait_for_threads(expected: u64) {
    let deadline = Instant::now() + LONG;
    while status_field("Threads") != expected {
        let now = status_field("Threads");
        assert!(
            Instant::now() < deadline,
            "{now} threads instead of {expected}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn endless_output_stays_in_little_memory() {
    run_alone("bounds::endless_output_alone");
}

#[test]
#[ignore = "measures the memory of its process; run by the test above"]
fn endless_output_alone() {
    if !is_alone() {
        return;
    }
    let dir = TestDir::new();
    let mut command = dir.script("yes err >&2 & exec yes");
    let total = Capture::default().total_bytes;
    // On a busy machine, three seconds may be too short to exceed the captured size.
    for seconds in [3, 10, 30, 90] {
        command.limits = Limits::with_timeout(Duration::from_secs(seconds));
        let finished = run(&command).unwrap();
        assert_eq!(finished.ended, Ended::TimedOut);
        let resident = status_field("VmHWM");
        assert!(resident < 64 * 1024, "{resident} kB");
        if finished.stdout.total_bytes.min(finished.stderr.total_bytes) <= total {
            continue;
        }
        for (captured, line) in [(&finished.stdout, "y\n"), (&finished.stderr, "err\n")] {
            assert_eq!(captured.kept_bytes(), total);
            let start = String::from_utf8(captured.prefix(4000).unwrap()).unwrap();
            assert_eq!(start, line.repeat(4000 / line.len()));
            let end = String::from_utf8(captured.suffix(4000).unwrap()).unwrap();
            assert_eq!(end.len(), 4000);
            assert_eq!(end.replace(line, "").len(), 4000 % line.len());
            let written = captured.write_to(&mut std::io::sink()).unwrap();
            assert!(written > total);
        }
        let resident = status_field("VmHWM");
        assert!(resident < 64 * 1024, "{resident} kB after reading back");
        return;
    }
    panic!("even 90 s of output did not exceed the captured size");
}

#[test]
fn many_calls_leave_nothing_behind() {
    run_alone("bounds::many_calls_alone");
}

#[test]
#[ignore = "counts the descriptors of its process; run by the test above"]
fn many_calls_alone() {
    if !is_alone() {
        return;
    }
    // Without restrictions, the calling threads start children.
    leave_nothing_behind(confine(Supervisor::default().spawners(3)), 0);
    let options = LaneOptions {
        enforcement: Enforcement::Auto,
        temporary: None,
    };
    leave_nothing_behind(Supervisor::default().lane(3, options).unwrap(), 3);
}

fn leave_nothing_behind(spawners: Spawners, own_threads: u64) {
    let dir = TestDir::new();
    let threads = status_field("Threads");
    let call = |number: usize| {
        let token = CancelToken::default();
        let mut command = dir.program("/bin/true", &[]);
        match number % 50 {
            0 => {
                command = dir.program("sleep", &["1000"]);
                command.limits = Limits::with_timeout(Duration::from_millis(1));
                assert_eq!(
                    spawners.run(&command, &token).unwrap().ended,
                    Ended::TimedOut
                );
            }
            1 => {
                command.program = "/no/such/program".into();
                spawners.run(&command, &token).unwrap_err();
            }
            2 => {
                command = dir.program("sh", &["-c", "seq 1 100000"]);
                command.capture.memory_bytes = 1000;
                let finished = spawners.run(&command, &token).unwrap();
                assert_eq!(finished.stdout.total_bytes, 588_895);
            }
            _ => {
                let finished = spawners.run(&command, &token).unwrap();
                assert_eq!(finished.status, ExitStatus::Code(0));
            }
        }
    };
    let many = |calls: usize| {
        std::thread::scope(|scope| {
            for thread in 0..10 {
                let call = &call;
                scope.spawn(move || (0..calls / 10).for_each(|number| call(number + thread)));
            }
        });
    };
    many(100);
    wait_for_threads(threads + own_threads);
    let before = descriptors();
    many(800);
    wait_for_threads(threads + own_threads);
    assert_eq!(descriptors(), before);
    assert_eq!(children(), Vec::<String>::new());
    assert_eq!(dir.marked_processes(), Vec::<String>::new());

    drop(spawners);
    // `/dev/null` is closed with the threads, and so is a sandbox.
    wait_for_threads(threads);
    assert!(descriptors() < before);
}

#[test]
fn tokens_leave_no_descriptors() {
    run_alone("bounds::tokens_alone");
}

#[test]
#[ignore = "counts the descriptors of its process; run by the test above"]
fn tokens_alone() {
    if !is_alone() {
        return;
    }
    let dir = TestDir::new();
    let spawners = Supervisor::default().spawners(1);
    let before = descriptors();
    let unused: Vec<CancelToken> = (0..10_000).map(|_| CancelToken::default()).collect();
    unused.iter().for_each(CancelToken::cancel);
    assert_eq!(descriptors(), before);
    drop(unused);
    for _ in 0..200 {
        let token = CancelToken::default();
        let clone = token.clone();
        spawners
            .run(&dir.program("/bin/true", &[]), &token)
            .unwrap();
        clone.kill();
    }
    // Only `/dev/null` is new.
    assert_eq!(descriptors(), before + 1);
}
