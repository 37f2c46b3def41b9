use std::fs;
use std::os::unix::fs::symlink;
use std::time::Instant;

use serde_json::Value;

use super::*;
use crate::run::tools::Tool as _;
use crate::run::tools::builtin::BuiltIn;
use crate::run::tools::test_session::{TestSession, object, text};

fn call(session: &TestSession, input: &Value) -> Result<ToolReply, ToolFailure> {
    session.call(&BuiltIn::<Bash>::new(), input)
}

fn run(session: &TestSession, command: &str) -> ToolReply {
    call(session, &json!({"command": command})).unwrap()
}

/// Applies the changes of a call, like the session.
fn apply(session: &mut TestSession, reply: &ToolReply) {
    for change in &reply.changes {
        if let ContextChange::Directory(directory) = change {
            session.context.directory.clone_from(directory);
        }
    }
}

#[test]
fn output_is_returned() {
    let session = TestSession::new();
    let rows = [
        ("echo a; echo b >&2", "a\nb", "a", "b"),
        ("printf '\\n  \\n  a\\n\\n \\n'", "  a", "  a", ""),
        ("echo ' b ' >&2", "b", "", "b"),
        ("true", "", "", ""),
        ("printf 'x\\0y\\377z'", "x\0y\u{fffd}z", "x\0y\u{fffd}z", ""),
        ("cat; echo end", "end", "end", ""),
        ("echo \"$MARK $TURNPIPE $BASH_ENV\"", "kept 1", "kept 1", ""),
        (
            "false || echo \"it's\" 'a \"b\"' \\$x",
            "it's a \"b\" $x",
            "it's a \"b\" $x",
            "",
        ),
        ("cat <<'E'\n$x\nE", "$x", "$x", ""),
    ];
    for (command, content, stdout, stderr) in rows {
        let reply = run(&session, command);
        assert_eq!(text(&reply), content, "{command}");
        assert_eq!(reply.status, CallStatus::Ok, "{command}");
        assert_eq!(reply.structured["stdout"], stdout, "{command}");
        assert_eq!(reply.structured["stderr"], stderr, "{command}");
        assert_eq!(reply.structured["interrupted"], false);
        assert_eq!(reply.structured["isImage"], false);
        assert_eq!(reply.full, None);
        assert!(reply.changes.is_empty());
        assert!(!reply.cancels_siblings);
    }
}

/// Whether the failure of a command cancels its siblings.
const ONLY_READS: bool = false;

const WRITES: bool = true;

#[test]
fn failures_begin_with_the_exit_code() {
    let session = TestSession::new();
    let rows = [
        (
            "echo out; echo err >&2; exit 3",
            "Exit code 3\nout\nerr",
            ONLY_READS,
        ),
        ("false", "Exit code 1", ONLY_READS),
        ("rmdir missing 2>/dev/null", "Exit code 1", WRITES),
        ("kill -9 $$", "Exit code 137", WRITES),
    ];
    for (command, content, cancels_siblings) in rows {
        let reply = run(&session, command);
        assert_eq!(text(&reply), content, "{command}");
        assert_eq!(reply.status, CallStatus::Error);
        assert_eq!(reply.cancels_siblings, cancels_siblings, "{command}");
    }
}

#[test]
fn a_status_that_is_a_result_is_not_a_failure() {
    let session = TestSession::new();
    let reply = run(&session, "echo abc | grep x");
    assert_eq!(reply.status, CallStatus::Ok);
    assert_eq!(text(&reply), "");
    assert_eq!(
        reply.structured["returnCodeInterpretation"],
        "No matches found"
    );
    assert!(!reply.cancels_siblings);

    let reply = run(&session, "cd nowhere && grep x f");
    assert_eq!(reply.status, CallStatus::Error);
}

#[test]
fn expected_silence_is_reported() {
    let session = TestSession::new();
    assert_eq!(
        run(&session, "mkdir d").structured["noOutputExpected"],
        true
    );
    assert_eq!(run(&session, "ls").structured["noOutputExpected"], false);
}

#[test]
fn the_directory_stays_inside_the_allowed_ones() {
    let mut session = TestSession::new();
    let home = session.context.home_directory.clone();

    let reply = run(&session, "mkdir -p 'a b/c' && cd 'a b'");
    assert_eq!(reply.changes, [ContextChange::Directory(home.join("a b"))]);
    apply(&mut session, &reply);
    assert_eq!(
        text(&run(&session, "pwd")),
        home.join("a b").to_str().unwrap()
    );

    // A failing command also moves the shell.
    let reply = run(&session, "cd c; false");
    assert_eq!(
        reply.changes,
        [ContextChange::Directory(home.join("a b/c"))]
    );

    let reply = run(&session, "cd /; echo there");
    assert_eq!(
        text(&reply),
        format!("there\nShell cwd was reset to {}", home.display())
    );
    assert_eq!(
        reply.structured["stderr"],
        format!("Shell cwd was reset to {}", home.display())
    );
    assert_eq!(reply.changes, [ContextChange::Directory(home.clone())]);

    // A link that leaves the allowed directories is refused; a link inside them is followed.
    symlink("/", home.join("root")).unwrap();
    symlink(home.join("a b"), home.join("link")).unwrap();
    session.context.directory.clone_from(&home);
    assert!(text(&run(&session, "cd root")).contains("Shell cwd was reset to"));
    assert_eq!(
        run(&session, "cd link").changes,
        [ContextChange::Directory(home.join("a b"))]
    );
    session.context.directory = home.join("link");
    assert!(run(&session, "true").changes.is_empty());
}

#[test]
fn a_removed_directory_is_replaced() {
    let mut session = TestSession::new();
    let home = session.context.home_directory.clone();
    let reset = format!("Shell cwd was reset to {}", home.display());

    let reply = run(&session, "mkdir d; cd d; rmdir ../d");
    assert_eq!(text(&reply), reset);
    apply(&mut session, &reply);

    session.context.directory = home.join("d");
    let reply = run(&session, "pwd");
    assert_eq!(
        text(&reply),
        format!("{0}\n{0}/d no longer exists. {reset}", home.display())
    );
    assert_eq!(reply.changes, [ContextChange::Directory(home.clone())]);

    session.context.allowed_directories = vec![home.join("d"), "/".into()];
    session.context.home_directory = home.join("d");
    let reply = run(&session, "true");
    assert_eq!(reply.changes, [ContextChange::Directory("/".into())]);

    session.context.allowed_directories = vec![home.join("d")];
    let failure = call(&session, &json!({"command": "true"}));
    assert!(failure.unwrap_err().0.contains("exists"));
}

#[test]
fn a_command_that_takes_too_long_times_out() {
    let session = TestSession::new();
    let input = json!({"command": "echo begun; cd /; exec sleep 60", "timeout": 300});
    let reply = call(&session, &input).unwrap();
    assert_eq!(reply.status, CallStatus::TimedOut);
    assert_eq!(text(&reply), "Command timed out after 0.3s\nbegun");
    assert_eq!(reply.structured["timedOutAfterMs"], 300);
    assert_eq!(reply.structured["interrupted"], false);
    assert!(reply.changes.is_empty());
}

#[test]
fn a_cancelled_command_keeps_its_output() {
    let session = TestSession::new();
    let begun = session.path("begun");
    let reply = std::thread::scope(|scope| {
        scope.spawn(|| {
            let deadline = Instant::now() + Duration::from_secs(20);
            while !begun.exists() && Instant::now() < deadline {
                std::thread::yield_now();
            }
            session.cancel.cancel();
        });
        run(&session, "echo half; touch begun; sleep 60")
    });
    assert_eq!(reply.status, CallStatus::Cancelled);
    assert_eq!(
        text(&reply),
        "Command was interrupted before it finished\nhalf"
    );
    assert_eq!(reply.structured["interrupted"], true);
    assert!(!reply.cancels_siblings);
}

#[test]
fn remaining_processes_are_ended_and_reported() {
    let session = TestSession::new();
    for command in ["sleep 60 & echo begun", "sleep 60 >log 2>&1 & echo begun"] {
        let reply = run(&session, command);
        assert_eq!(reply.status, CallStatus::Ok);
        assert_eq!(
            text(&reply),
            "begun\nA process that the command left running was ended",
            "{command}"
        );
    }
}

#[test]
fn long_output_is_excerpted_and_saved() {
    let session = TestSession::new();
    let reply = run(&session, "seq 200000; echo done >&2");
    assert_eq!(reply.status, CallStatus::Ok);
    let content = text(&reply);
    assert!(content.starts_with("1\n2\n3\n"));
    assert!(
        content.ends_with("\n200000\ndone"),
        "{}",
        &content[content.len() - 40..]
    );
    assert!(content.contains(" characters omitted] ..."));
    let length = content.encode_utf16().count();
    assert!(
        (INLINE_LIMIT + 1..INLINE_LIMIT + 100).contains(&length),
        "{length}"
    );
    let stdout = reply.structured["stdout"].as_str().unwrap();
    assert!(stdout.len() < INLINE_LIMIT + 100);

    let full = reply.full.unwrap();
    let mut whole = Vec::new();
    let written = full.write_to(&mut whole).unwrap();
    assert_eq!(written, whole.len() as u64);
    assert_eq!(full.bytes(), written);
    let whole = String::from_utf8(whole).unwrap();
    let (numbers, rest) = whole.split_at(whole.len() - "done\n".len());
    assert_eq!(rest, "done\n");
    assert!(numbers.lines().map(str::parse).eq((1..=200_000).map(Ok)));
}

#[test]
fn output_of_exactly_the_limit_stays() {
    let session = TestSession::new();
    let reply = run(&session, "printf '%30000s' x | tr ' ' y");
    assert_eq!(text(&reply).len(), INLINE_LIMIT);
    assert_eq!(reply.full, None);
    let reply = run(&session, "printf '%30001s' x | tr ' ' y");
    assert!(reply.full.is_some());
}

#[test]
fn long_failures_are_excerpted_and_not_saved() {
    let session = TestSession::new();
    let reply = run(&session, "seq 100000; echo wrong >&2; exit 2");
    let content = text(&reply);
    assert!(content.starts_with("Exit code 2\n1\n2\n"));
    assert!(content.ends_with("\n100000\nwrong"));
    assert!(content.len() < 10_200, "{}", content.len());
    assert_eq!(reply.full, None);
}

#[test]
fn invalid_inputs_are_refused() {
    let bash = BuiltIn::<Bash>::new();
    let rows = [
        (json!({"command": "ls", "run_in_background": false}), None),
        (
            json!({"command": "ls", "dangerouslyDisableSandbox": true}),
            None,
        ),
        (json!({"command": " \n"}), Some("The command is empty")),
        (
            json!({"command": "a\0b"}),
            Some("The command contains a NUL character"),
        ),
        (
            json!({"command": "ls", "run_in_background": true}),
            Some("Commands cannot run in the background here"),
        ),
    ];
    for (input, expected) in rows {
        let found = bash.prepare(&object(&input)).err();
        match (found, expected) {
            (None, None) => {}
            (Some(found), Some(expected)) => assert!(found.0.starts_with(expected), "{found}"),
            (found, _) => panic!("{input}: {found:?}"),
        }
    }
}

#[test]
fn timeouts_stay_below_the_larger_limit() {
    let limits = |default, maximum| ShellTimeouts {
        default: Duration::from_secs(default),
        maximum: Duration::from_secs(maximum),
    };
    let rows = [
        (None, limits(120, 600), 120_000),
        (Some(5000.0), limits(120, 600), 5000),
        (Some(0.5), limits(120, 600), 0),
        (Some(700_000.0), limits(120, 600), 600_000),
        (Some(1e300), limits(120, 600), 600_000),
        (Some(800_000.0), limits(900, 600), 800_000),
        (None, limits(900, 600), 900_000),
    ];
    for (timeout, limits, expected) in rows {
        let input = json!({"command": "true", "timeout": timeout});
        let call = ShellCall::new(Bash::deserialize(input).unwrap());
        assert_eq!(to_millis(call.timeout(limits)), expected, "{timeout:?}");
    }
}

#[test]
fn bash_is_only_found_in_absolute_directories() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("bash");
    fs::write(&own, "").unwrap();
    let with_path = |path: &str| Environment::from_iter([("PATH", path)]);
    let directory = folder.path().to_str().unwrap();
    // Not executable yet.
    assert_eq!(
        find_shell(&with_path(directory)),
        Some(FALLBACK_SHELL.into())
    );
    fs::set_permissions(&own, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(find_shell(&with_path(directory)), Some(own));
    let usual = find_shell(&with_path("/usr/local/bin:/usr/bin:/bin"));
    for path in ["", ".", "bin:"] {
        assert_eq!(find_shell(&with_path(path)), usual, "{path}");
    }
    assert_eq!(find_shell(&Environment::default()), usual);
}
