//! What children of the parallel lane cannot do, and what they still can.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::Duration;

use turnpipe::io::CancelToken;
use turnpipe::process::{Confinement, Enforcement, ExitStatus, LaneOptions, Limits, Spawners};

use crate::skip::skip;
use crate::support::{Room, err, out, run};

fn lane(enforcement: Enforcement) -> Spawners {
    let options = LaneOptions {
        enforcement,
        temporary: None,
    };
    Spawners::lane(2, options).unwrap()
}

/// Only kernels that can enforce anything can be tested; anywhere else `require` must fail.
fn enforced() -> Option<Spawners> {
    let options = LaneOptions {
        enforcement: Enforcement::Require,
        temporary: None,
    };
    Spawners::lane(2, options).ok()
}

/// What changes a file, each for itself; `file` and `link` exist, `new` does not.
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

fn facts(room: &Room) -> Vec<String> {
    let mut facts: Vec<String> = std::fs::read_dir(room.path(""))
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
    let meta = room.path("").metadata().unwrap();
    facts.push(format!(
        "{:o} {}.{}",
        meta.mode(),
        meta.ctime(),
        meta.ctime_nsec()
    ));
    facts
}

fn furnish(room: &Room) {
    std::fs::write(room.path("file"), "content\n").unwrap();
    std::fs::create_dir(room.path("empty")).unwrap();
    std::os::unix::fs::symlink("file", room.path("link")).unwrap();
}

#[test]
fn no_file_is_changed_in_any_way() {
    let Some(lane) = enforced() else { return };
    let room = Room::new();
    furnish(&room);
    let before = facts(&room);
    for script in CHANGES {
        let script = format!("PATH=$PATH:/sbin:/usr/sbin; {script}");
        let finished = lane
            .run(&room.script(&script), &CancelToken::default())
            .unwrap();
        assert_ne!(
            finished.status,
            ExitStatus::Code(0),
            "{script}: {}",
            out(&finished)
        );
        assert_eq!(facts(&room), before, "{script}");
    }
}

#[test]
fn the_other_threads_and_their_children_keep_their_rights() {
    let Some(lane) = enforced() else { return };
    let room = Room::new();
    let finished = lane
        .run(&room.script(": > x"), &CancelToken::default())
        .unwrap();
    assert_ne!(finished.status, ExitStatus::Code(0));
    std::fs::write(room.path("ours"), "").unwrap();
    let finished = run(&room.script(": > theirs && chmod 600 theirs")).unwrap();
    assert_eq!(finished.status, ExitStatus::Code(0), "{}", err(&finished));
}

#[test]
fn everyday_reading_works() {
    let Some(lane) = enforced() else { return };
    let room = Room::new();
    furnish(&room);
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
        let finished = lane
            .run(&room.script(script), &CancelToken::default())
            .unwrap();
        assert_eq!(out(&finished), output, "{script}: {}", err(&finished));
    }
}

#[test]
fn nobody_else_is_reached() {
    let Some(lane) = enforced() else { return };
    let room = Room::new();
    let own = std::process::id();
    let python = |code: &str| format!("python3 -c 'import os, socket\n{code}'");
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
        "kill -TERM -1".to_owned(),
        "hostname other".to_owned(),
        "unshare -U true".to_owned(),
        "date -s 2001-01-01".to_owned(),
        format!("renice -n 5 {own}"),
        format!("prlimit --pid {own} --nofile=100"),
    ] {
        let finished = lane
            .run(&room.script(&script), &CancelToken::default())
            .unwrap();
        assert_ne!(finished.status, ExitStatus::Code(0), "{script}");
        assert!(
            matches!(finished.status, ExitStatus::Code(_)),
            "{script}: {finished:?}"
        );
    }
    // From ABI 6 on also this process cannot be signalled, not even politely, nor by the number of
    // one of its threads. The one that starts the children shares their restrictions.
    if abi(&lane, &room) >= 6 {
        for script in [
            format!("kill -0 {own}"),
            "for t in /proc/$PPID/task/*; do kill -0 ${t##*/} && exit 0; done; exit 1".to_owned(),
        ] {
            let finished = lane
                .run(&room.script(&script), &CancelToken::default())
                .unwrap();
            assert_ne!(finished.status, ExitStatus::Code(0), "{script}");
        }
    }
}

fn abi(lane: &Spawners, room: &Room) -> u32 {
    let call = lane.for_one_call();
    call.run(&room.script(":"), &CancelToken::default())
        .unwrap();
    call.witnessed()
        .unwrap()
        .confinement
        .landlock_abi
        .unwrap_or(0)
}

#[test]
fn lane_children_are_ended_like_all_others() {
    let room = Room::new();
    let lane = lane(Enforcement::Auto);
    let mut command =
        room.script("trap '' TERM; setsid sleep 1000 & sleep 1000 & wait; sleep 1000");
    command.limits = Limits {
        grace: Duration::from_millis(100),
        ..Limits::with_timeout(Duration::from_millis(300))
    };
    let finished = lane.run(&command, &CancelToken::default()).unwrap();
    assert_eq!(finished.status, ExitStatus::Signal(libc::SIGKILL));
    room.assert_nothing_left();
}

#[test]
fn a_call_learns_what_was_enforced_and_whether_that_was_in_its_way() {
    let room = Room::new();
    let lane = lane(Enforcement::Auto);
    let call = lane.for_one_call();
    assert_eq!(call.witnessed(), None);
    let token = CancelToken::default();
    call.run(&room.script("exit 3"), &token).unwrap();
    let witnessed = call.witnessed().unwrap();
    assert!(!witnessed.looks_denied);
    if !witnessed.confinement.is_complete() {
        assert!(witnessed.confinement.missing.is_some());
        skip("a kernel with Landlock and seccomp");
        return;
    }
    // Hidden by the command itself, so nothing to tell.
    call.run(&room.script("touch x; true"), &token).unwrap();
    assert!(!call.witnessed().unwrap().looks_denied);
    call.run(&room.script("touch x"), &token).unwrap();
    assert!(call.witnessed().unwrap().looks_denied);
    assert_eq!(lane.for_one_call().witnessed(), None);
}

#[test]
fn what_is_switched_off_is_said_to_be() {
    let room = Room::new();
    let call = lane(Enforcement::Off).for_one_call();
    let finished = call
        .run(&room.script(": > x"), &CancelToken::default())
        .unwrap();
    assert_eq!(finished.status, ExitStatus::Code(0));
    let expected = Confinement {
        landlock_abi: None,
        seccomp: false,
        missing: Some("switched off".to_owned()),
    };
    assert_eq!(call.witnessed().unwrap().confinement, expected);
}

#[test]
fn a_private_directory_can_be_written_and_goes_with_the_child() {
    let room = Room::new();
    std::fs::create_dir(room.path("lane")).unwrap();
    let options = LaneOptions {
        enforcement: Enforcement::Auto,
        temporary: Some(room.path("lane")),
    };
    let lane = Spawners::lane(1, options).unwrap();
    let mut command = room.script(
        "set -e; test \"$(dirname $TMPDIR)\" = \"$PWD/lane\"; cd $TMPDIR; echo a > a; mv a b; \
         mkdir c; ln -s b d; mktemp; cat b; ! (: > ../../outside) 2> /dev/null",
    );
    command.environment = [
        &command.environment[..],
        &[("TMPDIR".into(), "/elsewhere".into())],
    ]
    .concat()
    .into();
    let finished = lane.run(&command, &CancelToken::default()).unwrap();
    assert_eq!(finished.status, ExitStatus::Code(0), "{}", err(&finished));
    assert!(out(&finished).ends_with("a\n"));
    assert_eq!(std::fs::read_dir(room.path("lane")).unwrap().count(), 0);
}
