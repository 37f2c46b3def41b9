//! The start of a child: its environment, and the errors.

use std::os::unix::fs::PermissionsExt;

use turnpipe::io::CancelToken;
use turnpipe::process::{Ended, ExitStatus, Leftovers, SpawnError, Stdin};

use crate::support::{SPAWNERS, TestDir, err, run, stdout};

#[test]
fn a_child_returns_its_output_and_status() {
    let dir = TestDir::new();
    let finished = run(&dir.script("echo out; echo err >&2; exit 7")).unwrap();
    assert_eq!(finished.status, ExitStatus::Code(7));
    assert_eq!(finished.ended, Ended::Exited);
    assert_eq!(
        (stdout(&finished), err(&finished)),
        ("out\n".into(), "err\n".into())
    );
    assert_eq!(finished.leftovers, Leftovers::None);
}

#[test]
fn a_signal_is_distinguished_from_a_code() {
    let dir = TestDir::new();
    let finished = run(&dir.script("kill -USR1 $$")).unwrap();
    assert_eq!(finished.status, ExitStatus::Signal(libc::SIGUSR1));
    assert_eq!(finished.ended, Ended::Exited);
}

#[test]
fn the_environment_and_the_directory_are_exactly_the_given_ones() {
    let dir = TestDir::new();
    let mut command = dir.program("env", &[]);
    let more = [
        ("EMPTY".into(), "".into()),
        ("LINES".into(), "a\nb=c".into()),
    ];
    command.environment = [&command.environment[..], &more].concat().into();
    let expected: Vec<String> = command
        .environment
        .iter()
        .map(|(name, value)| format!("{}={}\n", name.display(), value.display()))
        .collect();
    assert_eq!(stdout(&run(&command).unwrap()), expected.concat());

    let finished = run(&dir.program("/bin/pwd", &[])).unwrap();
    let directory = dir.path("").canonicalize().unwrap();
    assert_eq!(stdout(&finished).trim_end(), directory.to_str().unwrap());
}

#[test]
fn a_child_leads_its_own_session_and_group_without_a_terminal() {
    let dir = TestDir::new();
    let script = "read line < /proc/$$/stat; echo \"$line\"; : < /dev/tty";
    let finished = run(&dir.script(script)).unwrap();
    let line = stdout(&finished);
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [pid, group, session, terminal] = [fields[0], fields[4], fields[5], fields[6]];
    assert_eq!((group, session, terminal), (pid, pid, "0"));
    assert_ne!(
        finished.status,
        ExitStatus::Code(0),
        "/dev/tty could be opened"
    );
}

#[test]
fn a_child_has_only_the_descriptors_0_to_2() {
    let dir = TestDir::new();
    // A descriptor that this process might have inherited without close-on-exec.
    // SAFETY: duplicates a descriptor onto an unused number, and closes only that one.
    let inheritable = unsafe { libc::dup2(2, 200) };
    assert_eq!(inheritable, 200);
    for stdin in [Stdin::Null, Stdin::Bytes(b"x".to_vec())] {
        let mut command = dir.program("ls", &["/proc/self/fd"]);
        command.stdin = stdin;
        // Descriptor 3 is the directory that `ls` reads.
        assert_eq!(stdout(&run(&command).unwrap()), "0\n1\n2\n3\n");
    }
    // SAFETY: closes the descriptor made above.
    unsafe { libc::close(inheritable) };
}

#[test]
fn a_child_starts_with_default_signals_and_an_empty_mask() {
    let dir = TestDir::new();
    // The Rust runtime ignores SIGPIPE in this process. A shell cannot be asked, since it changes signal actions
    // itself.
    let finished =
        run(&dir.program("grep", &["-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"])).unwrap();
    for line in stdout(&finished).lines() {
        let (name, mask) = line.split_once(":\t").unwrap();
        let mask = u64::from_str_radix(mask, 16).unwrap();
        // 32 and 33 belong to the C library; SigCgt lists the signals that grep handles.
        let standard = mask & 0x7FFF_FFFF;
        assert!(standard == 0 || name == "SigCgt", "{line}");
    }
    let finished = run(&dir.program(
        "bash",
        &["-c", "yes | head -n 1 > /dev/null; echo ${PIPESTATUS[0]}"],
    ))
    .unwrap();
    assert_eq!(stdout(&finished), "141\n");
}

#[test]
fn input_is_written_in_full_and_closed() {
    let dir = TestDir::new();
    let input: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let mut command = dir.program("cat", &[]);
    command.stdin = Stdin::Bytes(input.clone());
    let finished = run(&command).unwrap();
    assert_eq!(finished.stdout.prefix(u64::MAX).unwrap(), input);

    command.stdin = Stdin::Bytes(Vec::new());
    assert!(run(&command).unwrap().stdout.is_empty());
}

#[test]
fn unread_input_is_not_an_error() {
    let dir = TestDir::new();
    for (script, output) in [
        ("exit 0", ""),
        ("head -c 3", "aaa"),
        ("exec <&-; echo on", "on\n"),
    ] {
        let mut command = dir.script(script);
        command.stdin = Stdin::Bytes(vec![b'a'; 1_000_000]);
        let finished = run(&command).unwrap();
        assert_eq!(finished.status, ExitStatus::Code(0), "{script}");
        assert_eq!(stdout(&finished), output, "{script}");
    }
}

#[test]
fn a_child_cannot_wait_for_the_user() {
    let dir = TestDir::new();
    for script in [
        "cat",
        "read line; test $? -ne 0",
        "bash -c 'read -p name? x'; test $? -ne 0",
    ] {
        let finished = run(&dir.script(script)).unwrap();
        assert_eq!(finished.status, ExitStatus::Code(0), "{script}");
    }
}

#[test]
fn a_missing_program_is_not_found() {
    let dir = TestDir::new();
    let plain = dir.path("plain");
    std::fs::write(&plain, "no program").unwrap();
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o644)).unwrap();
    for program in [
        "no-such-program-anywhere",
        "/no/such/program",
        "./plain",
        "plain/sub",
        "/",
        "",
    ] {
        let error = run(&dir.program(program, &[])).unwrap_err();
        assert!(
            matches!(error, SpawnError::NotFound { .. }),
            "{program}: {error}"
        );
    }
}

#[test]
fn a_relative_program_is_relative_to_the_childs_directory() {
    let dir = TestDir::new();
    let script = dir.path("here");
    std::fs::write(&script, "#!/bin/sh\necho from here\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let finished = run(&dir.program("./here", &[])).unwrap();
    assert_eq!(stdout(&finished), "from here\n");
    let mut command = dir.program("here", &[]);
    command.environment = [("PATH".into(), "/bin:.".into())].into();
    assert_eq!(stdout(&run(&command).unwrap()), "from here\n");
}

#[test]
fn a_directory_that_cannot_be_entered_is_reported() {
    let dir = TestDir::new();
    std::fs::write(dir.path("file"), "").unwrap();
    for directory in ["gone", "file"] {
        for program in ["true", "/bin/true", "no-such-program"] {
            let mut command = dir.program(program, &[]);
            command.directory = dir.path(directory);
            let error = run(&command).unwrap_err();
            let right = matches!(error, SpawnError::Directory { .. });
            let not_looked_up =
                program == "no-such-program" && matches!(error, SpawnError::NotFound { .. });
            assert!(right || not_looked_up, "{program} in {directory}: {error}");
        }
    }
}

#[test]
fn a_system_error_is_reported() {
    let dir = TestDir::new();
    let error = run(&dir.program("echo", &["a\0b"])).unwrap_err();
    assert_eq!(error.to_string(), "echo: cannot start: contains a NUL byte");
    let long = "x".repeat(4_000_000);
    let error = run(&dir.program("echo", &[&long])).unwrap_err();
    assert!(matches!(error, SpawnError::System { .. }), "{error}");
}

#[test]
fn a_program_that_is_still_being_written_is_retried() {
    let dir = TestDir::new();
    let script = dir.path("script");
    std::fs::write(&script, "#!/bin/sh\necho ran\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let writer = std::fs::OpenOptions::new()
        .append(true)
        .open(&script)
        .unwrap();
    let command = dir.program("./script", &[]);
    let SpawnError::System { source, .. } = run(&command).unwrap_err() else {
        panic!("not the system's error");
    };
    assert_eq!(source.kind(), std::io::ErrorKind::ExecutableFileBusy);
    drop(writer);
    assert_eq!(stdout(&run(&command).unwrap()), "ran\n");
}

#[test]
fn a_call_that_is_cancelled_before_it_starts_runs_nothing() {
    let dir = TestDir::new();
    let token = CancelToken::default();
    token.cancel();
    let finished = SPAWNERS.run(&dir.script(": > touched"), &token).unwrap();
    assert_eq!(finished.ended, Ended::Cancelled);
    assert!(!dir.path("touched").exists());
}
