//! `sandbox` and `run-tools` on systems that refuse a part of it.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::sandbox::{Place, SECRET, User, is_sandbox_usable, text, users};
use crate::skip::{is_missing, skip};

/// Makes a system call fail with this error in a program and all that it starts.
fn refuse(command: &mut Command, call: i64, error: i32) {
    const LOAD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    let statement = |code, k| libc::sock_filter {
        code,
        jt: 0,
        jf: 0,
        k,
    };
    let failure = libc::SECCOMP_RET_ERRNO | error.unsigned_abs();
    let filter = [
        statement(LOAD, 0),
        libc::sock_filter {
            jf: 1,
            ..statement(JUMP_IF_EQUAL, u32::try_from(call).unwrap())
        },
        statement(RETURN, failure),
        statement(RETURN, libc::SECCOMP_RET_ALLOW),
    ];
    let install = move || {
        let program = libc::sock_fprog {
            len: 4,
            filter: filter.as_ptr().cast_mut(),
        };
        let mode = libc::SECCOMP_MODE_FILTER;
        // SAFETY: system calls only; the program outlives the second one.
        let results = unsafe {
            [
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program),
            ]
        };
        if results == [0, 0] {
            return Ok(());
        }
        Err(std::io::Error::last_os_error())
    };
    // SAFETY: only makes system calls.
    unsafe { command.pre_exec(install) };
}

/// A part that the kernel refuses, and the message about it.
const REFUSED: [(i64, i32, &str); 4] = [
    (
        libc::SYS_unshare,
        libc::EPERM,
        "namespace: Operation not permitted",
    ),
    (libc::SYS_unshare, libc::ENOSPC, "namespace: No space left"),
    (libc::SYS_mount_setattr, libc::ENOSYS, "Linux 5.12"),
    (libc::SYS_seccomp, libc::EPERM, "restrict the command"),
];

#[test]
fn without_a_part_no_command_runs_and_the_reason_is_stated() {
    if !is_sandbox_usable() {
        return;
    }
    for user in users() {
        for (call, error, message) in REFUSED {
            let place = Place::new(user);
            let mut command = place.sandbox(&["echo", "ran"]);
            refuse(&mut command, call, error);
            let output = command.output().unwrap();
            assert_eq!(output.status.code(), Some(125), "{user:?} {output:?}");
            let output = text(&output);
            assert!(output.contains(message), "{user:?}: {output}");
            assert!(!output.contains("ran"), "{user:?}: {output}");
        }
    }
}

#[test]
fn a_run_goes_on_without_it_after_one_warning_unless_it_is_required() {
    if !is_sandbox_usable() {
        return;
    }
    for user in users() {
        let place = Place::new(user);
        let mut command = place.run_tools("world", "cat .env");
        refuse(&mut command, libc::SYS_unshare, libc::EPERM);
        let output = text(&command.output().unwrap());
        assert!(output.contains(SECRET), "{user:?}: {output}");
        let warning = "deny rules about files are not enforced by the kernel: cannot create a";
        assert_eq!(output.matches(warning).count(), 1, "{user:?}: {output}");
        assert!(!output.contains("file_rules"), "{user:?}: {output}");
        let mut required = place.run_tools("world", "cat .env");
        refuse(&mut required, libc::SYS_unshare, libc::EPERM);
        let output = required.arg("--sandbox-required").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{user:?}: {output:?}");
        assert!(!text(&output).contains(SECRET), "{user:?}: {output:?}");
    }
}

#[test]
fn without_landlock_masks_hold_and_what_root_can_still_do_is_stated() {
    if !is_sandbox_usable() {
        return;
    }
    for user in users() {
        let place = Place::new(user);
        let is_root = user == User::Own && rustix::process::geteuid().is_root();
        let mut command = place.sandbox(&["sh", "-c", "cat .env; echo ran"]);
        refuse(
            &mut command,
            libc::SYS_landlock_create_ruleset,
            libc::ENOSYS,
        );
        let output = text(&command.output().unwrap());
        assert!(output.contains("ran"), "{user:?}: {output}");
        assert!(!output.contains(SECRET), "{user:?}: {output}");
        assert_eq!(output.contains("Landlock"), is_root, "{user:?}: {output}");
        let mut run = place.run_tools("world", "echo ran");
        refuse(&mut run, libc::SYS_landlock_create_ruleset, libc::ENOSYS);
        let output = text(&run.output().unwrap());
        assert!(
            output.contains(r#""isolates_calls":false"#),
            "{user:?}: {output}"
        );
    }
}

#[test]
fn it_works_where_parts_of_proc_are_hidden() {
    if !is_sandbox_usable() || ["unshare", "setpriv", "mount"].into_iter().any(is_missing) {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        skip("root");
        return;
    }
    let place = Place::new(User::Own);
    let hidden = "mount -t tmpfs none /proc/tty && mount --bind /dev/null /proc/keys && \
        mount -o remount,bind,ro /proc/keys && exec setpriv --reuid 1000 --regid 1000 --clear-groups \"$@\"";
    let outer = ["unshare", "-m", "sh", "-c", hidden, "sh"];
    let mut command = place.sandbox_below(&outer, &["sh", "-c", "cat .env; echo ran"]);
    let output = text(&command.output().unwrap());
    assert!(output.contains("ran\n"), "{output}");
    assert!(!output.contains(SECRET), "{output}");
    // Without any of it, this binary cannot be found.
    let outer = [
        "unshare",
        "-m",
        "sh",
        "-c",
        "mount -t tmpfs none /proc && exec \"$@\"",
        "sh",
    ];
    let output = place
        .sandbox_below(&outer, &["echo", "ran"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(
        text(&output).contains("cannot start the sandbox"),
        "{output:?}"
    );
}

#[test]
fn a_workspace_without_its_own_proc_says_what_it_does_not_hold() {
    if !is_sandbox_usable() || ["unshare", "setpriv", "mount"].into_iter().any(is_missing) {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        skip("root");
        return;
    }
    // As in containers: an ordinary user cannot mount another `/proc` if parts of this one are hidden.
    let hidden = "mount -t tmpfs none /proc/tty && \
        exec setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps -all --bounding-set -all \"$@\"";
    let outer = ["unshare", "-m", "sh", "-c", hidden, "sh"];
    let place = Place::new_persistent(User::Ordinary);
    let run = |options: &[&str], script: &str| {
        let mut command = place.command(&outer);
        // `setpriv` makes it the ordinary user.
        let command = command
            .uid(0)
            .gid(0)
            .arg("sandbox")
            .args(options)
            .args(["--", "sh", "-c", script]);
        command.output().unwrap()
    };
    let output = run(&[], "echo x > made; echo x > ../outside/made; exit 3");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let output = text(&output);
    assert!(
        output.contains("sees processes outside of the workspace"),
        "{output}"
    );
    assert!(place.work().join("made").exists() && !place.path("outside/made").exists());
    let output = run(&["--required"], "echo ran");
    assert_eq!(output.status.code(), Some(125), "{output:?}");
    assert!(!text(&output).contains("ran\n"), "{output:?}");
}

#[test]
fn a_workspace_needs_a_network_namespace_of_its_own() {
    if !is_sandbox_usable() {
        return;
    }
    for user in users() {
        let place = Place::new_persistent(user);
        let mut command = place.command(&[]);
        command.args(["sandbox", "--", "echo", "ran"]);
        refuse(&mut command, libc::SYS_unshare, libc::EPERM);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(125), "{user:?}: {output:?}");
        assert!(
            text(&output).contains("namespace: Operation not permitted"),
            "{output:?}"
        );
        let mut run = place.run_tools("world", "echo ran");
        refuse(&mut run, libc::SYS_unshare, libc::EPERM);
        let output = text(&run.args(["--sandbox", "workspace"]).output().unwrap());
        assert_eq!(
            output.matches("calls have no workspace: ").count(),
            1,
            "{user:?}: {output}"
        );
        assert!(!output.contains("isolates_processes"), "{user:?}: {output}");
    }
}
