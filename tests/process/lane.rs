//! The rights of children of the parallel lane.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

use turnpipe::io::CancelToken;
use turnpipe::process::{
    Confinement, Enforcement, ExitStatus, LaneOptions, Limits, Spawners, Supervisor,
};

use crate::skip::{is_missing, skip};
use crate::support::{TestDir, err, run, stdout};

fn lane(enforcement: Enforcement) -> Spawners {
    let options = LaneOptions {
        enforcement,
        temporary: None,
    };
    Supervisor::default().lane(2, options).unwrap()
}

/// Returns a lane with enforcement; `None` if the kernel does not support it; `require` must then fail.
fn enforced_spawners() -> Option<Spawners> {
    let options = LaneOptions {
        enforcement: Enforcement::Require,
        temporary: None,
    };
    Supervisor::default().lane(2, options).ok()
}

/// Commands that change a file. `file` and `link` exist, `new` does not.
const CHANGES: [&str; 24] = [
    ": > new",
    "echo x >> file",
    ": > file",
    "mkdir new",
    "mkfifo new",
    "ln file new",
    "ln -s file new",
    "mv file new",
    "rm file",
    "rmdir empty",
    "chmod 600 file",
    "chmod +t .",
    "chown 1 file",
    "chown -h 1 link",
    "touch file",
    "touch -a -d 2001-01-01 file",
    "python3 -c 'import os; os.truncate(\"file\", 0)'",
    "python3 -c 'import os; os.open(\"file\", os.O_RDONLY | os.O_TRUNC)'",
    "python3 -c 'import os; os.setxattr(\"file\", \"user.x\", b\"y\")'",
    "python3 -c 'import os; os.chmod(os.open(\"file\", os.O_RDONLY), 0o600)'",
    "chattr +A file",
    "python3 -c 'import fcntl; fcntl.ioctl(open(\"file\"), 0x40086602, bytes(8))'",
    "mount -t tmpfs none .",
    "sh -c 'cd / && exec \"$0\" -c \": > $1/new\"' sh \"$PWD\"",
];

fn facts(dir: &TestDir) -> Vec<String> {
    let mut facts: Vec<String> = std::fs::read_dir(dir.path(""))
        .unwrap()
        .flatten()
        .map(|entry| {
            let path = entry.path();
            let meta = path.symlink_metadata().unwrap();
            let (second, nano) = (meta.ctime(), meta.ctime_nsec());
            format!(
                "{} {:o} {second}.{nano}",
                path.display(),
                meta.permissions().mode()
            )
        })
        .collect();
    facts.sort();
    let meta = dir.path("").metadata().unwrap();
    facts.push(format!(
        "{:o} {}.{}",
        meta.mode(),
        meta.ctime(),
        meta.ctime_nsec()
    ));
    facts
}

fn create_files(dir: &TestDir) {
    std::fs::write(dir.path("file"), "content\n").unwrap();
    std::fs::create_dir(dir.path("empty")).unwrap();
    std::os::unix::fs::symlink("file", dir.path("link")).unwrap();
}

#[test]
fn no_file_can_be_changed() {
    let Some(lane) = enforced_spawners() else {
        return;
    };
    let dir = TestDir::new();
    create_files(&dir);
    let before = facts(&dir);
    let has_python = !is_missing("python3");
    for script in CHANGES {
        if script.starts_with("python3") && !has_python {
            continue;
        }
        let script = format!("PATH=$PATH:/sbin:/usr/sbin; {script}");
        let finished = lane
            .run(&dir.script(&script), &CancelToken::default())
            .unwrap();
        assert_ne!(
            finished.status,
            ExitStatus::Code(0),
            "{script}: {}",
            stdout(&finished)
        );
        assert_eq!(facts(&dir), before, "{script}");
    }
}

#[test]
fn the_other_threads_and_their_children_keep_their_rights() {
    let Some(lane) = enforced_spawners() else {
        return;
    };
    let dir = TestDir::new();
    let finished = lane
        .run(&dir.script(": > x"), &CancelToken::default())
        .unwrap();
    assert_ne!(finished.status, ExitStatus::Code(0));
    std::fs::write(dir.path("ours"), "").unwrap();
    let finished = run(&dir.script(": > theirs && chmod 600 theirs")).unwrap();
    assert_eq!(finished.status, ExitStatus::Code(0), "{}", err(&finished));
}

#[test]
fn common_reading_commands_work() {
    let Some(lane) = enforced_spawners() else {
        return;
    };
    let dir = TestDir::new();
    create_files(&dir);
    for (script, output) in [
        ("cat file", "content\n"),
        ("cat < file | sort | uniq -c | wc -l", "1\n"),
        ("ls > /dev/null 2>&1; echo $?", "0\n"),
        (
            "echo on > /dev/stdout; cat missing 2> /dev/null || echo off",
            "on\noff\n",
        ),
        ("find . -name file -exec cat {} +", "content\n"),
        ("sleep 1000 & kill $!; wait $!; echo $?", "143\n"),
        ("timeout 0.05 sleep 1000; echo $?", "124\n"),
        ("nice -n 1 echo x", "x\n"),
        ("yes | head -n 1; bash -c 'cat <(echo y)'", "y\ny\n"),
        (
            "python3 -c 'import socket; a, b = socket.socketpair(); a.send(b\"z\"); print(b.recv(1).decode())'",
            "z\n",
        ),
    ] {
        if script.starts_with("python3") && is_missing("python3") {
            continue;
        }
        let finished = lane
            .run(&dir.script(script), &CancelToken::default())
            .unwrap();
        assert_eq!(stdout(&finished), output, "{script}: {}", err(&finished));
    }
}

#[test]
fn other_processes_cannot_be_reached() {
    let Some(lane) = enforced_spawners() else {
        return;
    };
    let dir = TestDir::new();
    let own = std::process::id();
    let python = |code: &str| format!("python3 -c 'import os, socket\n{code}'");
    if is_missing("python3") {
        return;
    }
    for script in [
        python("socket.socket(socket.AF_INET, socket.SOCK_STREAM)"),
        python(
            "import fcntl; fcntl.fcntl(open(\"/proc/self/exe\"), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
        ),
        python("import fcntl; fcntl.fcntl(os.pipe()[0], fcntl.F_SETOWN, os.getpid())"),
        python("import signal; signal.pidfd_send_signal(os.open(\"/proc/self\", os.O_RDONLY), 0)"),
        python("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"),
        python("socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)"),
        python("socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)"),
        python("socket.socketpair()[0].bind(\"\\0turnpipe-lane\")"),
        python("socket.socketpair()[0].bind(\"\")"),
        python("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).bind((0, 0))"),
        "kill -TERM -1".to_owned(),
        "hostname other".to_owned(),
        "unshare -U true".to_owned(),
        "date -s 2001-01-01".to_owned(),
        format!("renice -n 5 {own}"),
        format!("prlimit --pid {own} --nofile=100"),
    ] {
        let finished = lane
            .run(&dir.script(&script), &CancelToken::default())
            .unwrap();
        assert_ne!(finished.status, ExitStatus::Code(0), "{script}");
        assert!(
            matches!(finished.status, ExitStatus::Code(_)),
            "{script}: {finished:?}"
        );
    }
    // From ABI 6 on this process cannot be signalled either, nor by the number of one of its threads. The thread
    // that starts the children shares their restrictions.
    if abi(&lane, &dir) >= 6 {
        for script in [
            format!("kill -0 {own}"),
            "for t in /proc/$PPID/task/*; do kill -0 ${t##*/} && exit 0; done; exit 1".to_owned(),
        ] {
            let finished = lane
                .run(&dir.script(&script), &CancelToken::default())
                .unwrap();
            assert_ne!(finished.status, ExitStatus::Code(0), "{script}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn core_files_are_switched_off_for_good() {
    let Some(lane) = enforced_spawners() else {
        return;
    };
    let dir = TestDir::new();
    let script = "grep -q '^Max core file size  *1  *1 ' /proc/self/limits || echo unlimited; \
                  ulimit -c unlimited 2>/dev/null || echo refused";
    let finished = lane
        .run(&dir.script(script), &CancelToken::default())
        .unwrap();
    assert_eq!(stdout(&finished), "refused\n", "{}", err(&finished));
}

fn abi(lane: &Spawners, dir: &TestDir) -> u32 {
    let call = lane.for_one_call();
    call.run(&dir.script(":"), &CancelToken::default()).unwrap();
    call.confinement_report()
        .unwrap()
        .confinement
        .and_then(|confinement| confinement.landlock_abi)
        .unwrap_or(0)
}

#[test]
fn lane_children_are_ended_like_all_others() {
    let dir = TestDir::new();
    let lane = lane(Enforcement::Auto);
    let mut command = dir.script("trap '' TERM; setsid sleep 1000 & sleep 1000 & wait; sleep 1000");
    command.limits = Limits {
        grace: Duration::from_millis(100),
        ..Limits::with_timeout(Duration::from_millis(300))
    };
    let finished = lane.run(&command, &CancelToken::default()).unwrap();
    assert_eq!(finished.status, ExitStatus::Signal(libc::SIGKILL));
    dir.assert_nothing_left();
}

#[test]
fn a_call_reports_its_confinement_and_a_likely_denial() {
    let dir = TestDir::new();
    let lane = lane(Enforcement::Auto);
    let call = lane.for_one_call();
    assert_eq!(call.confinement_report(), None);
    let token = CancelToken::default();
    call.run(&dir.script("exit 3"), &token).unwrap();
    let witnessed = call.confinement_report().unwrap();
    assert!(!witnessed.looks_denied);
    let confinement = witnessed.confinement.unwrap();
    if !confinement.is_complete() {
        assert!(confinement.missing.is_some());
        skip("a kernel with Landlock and seccomp");
        return;
    }
    // The command hides its failure.
    call.run(&dir.script("touch x; true"), &token).unwrap();
    assert!(!call.confinement_report().unwrap().looks_denied);
    call.run(&dir.script("touch x"), &token).unwrap();
    assert!(call.confinement_report().unwrap().looks_denied);
    assert_eq!(lane.for_one_call().confinement_report(), None);
}

#[test]
fn a_lane_that_is_switched_off_reports_it() {
    let dir = TestDir::new();
    let call = lane(Enforcement::Off).for_one_call();
    let finished = call
        .run(&dir.script(": > x"), &CancelToken::default())
        .unwrap();
    assert_eq!(finished.status, ExitStatus::Code(0));
    let expected = Confinement {
        landlock_abi: None,
        seccomp: false,
        missing: Some("switched off".to_owned()),
    };
    let report = call.confinement_report().unwrap();
    assert_eq!(report.confinement, Some(expected));
}

#[test]
fn a_private_directory_is_writable_and_removed_with_the_child() {
    let dir = TestDir::new();
    std::fs::create_dir(dir.path("lane")).unwrap();
    let options = LaneOptions {
        enforcement: Enforcement::Auto,
        temporary: Some(dir.path("lane")),
    };
    let lane = Supervisor::default().lane(1, options).unwrap();
    let mut command = dir.script(
        "set -e; test \"$(dirname $TMPDIR)\" = \"$PWD/lane\"; cd $TMPDIR; echo a > a; mv a b; \
         mkdir c; mkdir -m 300 e; echo f > e/f; mkdir -m 0 g; ln -s b d; mktemp; cat b; \
         ! (: > ../../outside) 2> /dev/null",
    );
    command.environment = [
        &command.environment[..],
        &[("TMPDIR".into(), "/elsewhere".into())],
    ]
    .concat()
    .into();
    let finished = lane.run(&command, &CancelToken::default()).unwrap();
    assert_eq!(finished.status, ExitStatus::Code(0), "{}", err(&finished));
    assert!(stdout(&finished).ends_with("a\n"));
    assert_eq!(std::fs::read_dir(dir.path("lane")).unwrap().count(), 0);
}
