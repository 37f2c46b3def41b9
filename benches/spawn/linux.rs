//! The ways and their measurement.

use std::ffi::{CString, c_char};
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::process::{Command as Other, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use turnpipe::io::CancelToken;
use turnpipe::process::{
    Capture, Command, Ended, Enforcement, ExitStatus, LaneOptions, Limits, Spawners, Stdin,
    Supervisor,
};

const CALLERS: usize = 10;

/// A name, a way to run so many children, and what that took in each round.
type Way = (&'static str, fn(usize), Vec<Cost>);

/// Seconds on the wall, and of all processors together, children included.
#[derive(Clone, Copy)]
struct Cost {
    wall: f64,
    processor: f64,
}

pub(crate) fn main() {
    let numbers: Vec<usize> = std::env::args()
        .filter_map(|text| text.parse().ok())
        .collect();
    let rounds = numbers.first().copied().unwrap_or(5);
    let children = numbers.get(1).copied().unwrap_or(10_000);
    let mut ways: [Way; 6] = [
        ("xargs -P10 -n1", by_xargs, Vec::new()),
        ("plain posix_spawn, 10 threads", by_plain_loop, Vec::new()),
        ("Spawners", by_free_spawners, Vec::new()),
        ("Spawners, confined", by_confined_spawners, Vec::new()),
        ("run-tools", |n| by_run_tools(n, "off"), Vec::new()),
        (
            "run-tools, confined",
            |n| by_run_tools(n, "require"),
            Vec::new(),
        ),
    ];
    by_free_spawners(100);
    let before = facts();
    for _ in 0..rounds {
        for (_, run, costs) in &mut ways {
            let began = (Instant::now(), processor_seconds());
            run(children);
            costs.push(Cost {
                wall: began.0.elapsed().as_secs_f64(),
                processor: processor_seconds() - began.1,
            });
        }
    }
    let after = facts();
    println!("{children} children, {rounds} rounds, medians");
    let walls = ways
        .each_ref()
        .map(|(_, _, costs)| median(costs, |cost| cost.wall));
    let processors = ways
        .each_ref()
        .map(|(_, _, costs)| median(costs, |cost| cost.processor));
    for (index, (name, _, _)) in ways.iter().enumerate() {
        println!(
            "{name:30} {:7.3} s {:6.0} processes/s  {:.2} x xargs  {:.2} x plain   \
             processor {:5.0} us each  {:.2} x plain",
            walls[index],
            children as f64 / walls[index],
            walls[index] / walls[0],
            walls[index] / walls[1],
            processors[index] / children as f64 * 1e6,
            processors[index] / processors[1],
        );
    }
    println!(
        "confined: {:.2} x free, processor {:.2} x; run-tools {:.2} x, processor {:.2} x",
        walls[3] / walls[2],
        processors[3] / processors[2],
        walls[5] / walls[4],
        processors[5] / processors[4],
    );
    println!("before: {before}\nafter:  {after}");
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let mut seconds: Vec<f64> = costs.iter().map(of).collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

fn processor_seconds() -> f64 {
    [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN]
        .into_iter()
        .map(|who| {
            // SAFETY: all zeros is a valid value, and the call writes into it.
            let usage = unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                libc::getrusage(who, &raw mut usage);
                usage
            };
            [usage.ru_utime, usage.ru_stime]
                .into_iter()
                .map(|time| time.tv_sec as f64 + time.tv_usec as f64 / 1e6)
                .sum::<f64>()
        })
        .sum()
}

fn facts() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_string()
    };
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
    format!(
        "VmHWM {} kB, {} threads, {descriptors} descriptors, {} zombies",
        field("VmHWM"),
        field("Threads"),
        zombies()
    )
}

fn zombies() -> usize {
    let own = std::process::id().to_string();
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok())
        .filter(|stat| {
            let after_name = stat.rsplit(')').next().unwrap_or_default();
            let mut fields = after_name.split_whitespace();
            fields.next() == Some("Z") && fields.next() == Some(&own)
        })
        .count()
}

fn from_callers(children: usize, run: impl Fn() + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < children {
                    run();
                }
            });
        }
    });
}

fn by_free_spawners(children: usize) {
    by(&Supervisor::default().spawners(4), children);
}

/// To be compared with the free ones.
fn by_confined_spawners(children: usize) {
    let options = LaneOptions {
        enforcement: Enforcement::Require,
        temporary: None,
    };
    by(&Supervisor::default().lane(4, options).unwrap(), children);
}

fn by(spawners: &Spawners, children: usize) {
    let command = Command {
        program: "/bin/true".into(),
        arguments: Vec::new(),
        environment: std::env::vars_os().collect(),
        directory: "/".into(),
        stdin: Stdin::Null,
        report: None,
        capture: Capture::default(),
        limits: Limits::with_timeout(Duration::from_mins(1)),
    };
    from_callers(children, || {
        let finished = spawners.run(&command, &CancelToken::default()).unwrap();
        assert_eq!(finished.status, ExitStatus::Code(0));
        assert_eq!(finished.ended, Ended::Exited);
    });
}

/// The whole way: calls of a command tool that only reads, from records to records.
fn by_run_tools(children: usize, enforce: &str) {
    let room = tempfile::tempdir().unwrap();
    let manifest = room.path().join("tools.toml");
    std::fs::write(
        &manifest,
        "[[tool]]\nname = \"True\"\ndescription = \"Nothing.\"\ncommand = [\"true\"]\n\
         input_schema = { type = \"object\" }\naccess = \"read-only\"\n",
    )
    .unwrap();
    let input = room.path().join("input");
    let mut calls = String::new();
    for number in 0..children {
        let call = r#""name":"True","input":{}"#;
        writeln!(calls, r#"{{"type":"tool_use","id":"t{number}",{call}}}"#).unwrap();
    }
    std::fs::write(&input, calls).unwrap();
    let output = room.path().join("output");
    let status = Other::new(env!("CARGO_BIN_EXE_turnpipe"))
        .args([
            "run-tools",
            "--no-echo",
            "--no-config",
            "--enforce",
            enforce,
            "--tools",
        ])
        .arg(&manifest)
        .stdin(std::fs::File::open(&input).unwrap())
        .stdout(std::fs::File::create(&output).unwrap())
        .status()
        .unwrap();
    assert!(status.success());
    let results = std::fs::read_to_string(&output).unwrap();
    assert_eq!(results.matches("\"outcome\":\"ok\"").count(), children);
}

fn by_xargs(children: usize) {
    let mut xargs = Other::new("xargs")
        .args(["-P10", "-n1", "true"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = xargs.stdin.take().unwrap();
    for number in 0..children {
        writeln!(lines, "{number}").unwrap();
    }
    drop(lines);
    assert!(xargs.wait().unwrap().success());
}

/// The minimum: two pipes, `posix_spawn`, reading to the end, waiting.
fn by_plain_loop(children: usize) {
    let program = CString::new("/bin/true").unwrap();
    let environment: Vec<CString> = std::env::vars()
        .map(|(name, value)| CString::new(format!("{name}={value}")).unwrap())
        .collect();
    from_callers(children, || plain_call(&program, &environment));
}

fn plain_call(program: &CString, environment: &[CString]) {
    let (mut stdout, their_stdout) = std::io::pipe().unwrap();
    let (mut stderr, their_stderr) = std::io::pipe().unwrap();
    let arguments = [program.as_ptr().cast_mut(), std::ptr::null_mut()];
    let variables: Vec<*mut c_char> = environment
        .iter()
        .map(|variable| variable.as_ptr().cast_mut())
        .chain([std::ptr::null_mut()])
        .collect();
    let mut pid = 0;
    // SAFETY: everything is initialized before it is used and outlives the call.
    unsafe {
        let mut attributes = std::mem::zeroed();
        let mut actions = std::mem::zeroed();
        libc::posix_spawnattr_init(&raw mut attributes);
        libc::posix_spawn_file_actions_init(&raw mut actions);
        libc::posix_spawn_file_actions_addopen(&raw mut actions, 0, c"/dev/null".as_ptr(), 0, 0);
        libc::posix_spawn_file_actions_adddup2(&raw mut actions, their_stdout.as_raw_fd(), 1);
        libc::posix_spawn_file_actions_adddup2(&raw mut actions, their_stderr.as_raw_fd(), 2);
        libc::posix_spawnattr_setflags(&raw mut attributes, libc::POSIX_SPAWN_SETSID);
        let result = libc::posix_spawn(
            &raw mut pid,
            program.as_ptr(),
            &raw const actions,
            &raw const attributes,
            arguments.as_ptr(),
            variables.as_ptr(),
        );
        assert_eq!(result, 0);
        libc::posix_spawn_file_actions_destroy(&raw mut actions);
        libc::posix_spawnattr_destroy(&raw mut attributes);
    }
    drop((their_stdout, their_stderr));
    let mut output = Vec::new();
    stdout.read_to_end(&mut output).unwrap();
    stderr.read_to_end(&mut output).unwrap();
    let mut status = 0;
    // SAFETY: waits for the child started above.
    let waited = unsafe { libc::waitpid(pid, &raw mut status, 0) };
    assert_eq!((waited, status), (pid, 0));
}
