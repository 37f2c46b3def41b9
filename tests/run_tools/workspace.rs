//! `--sandbox workspace`: what needs no approval, what does, and what the kernel keeps in the workspace.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, bash, call, pairs};
use crate::skip::skip;

const WORKSPACE: [&str; 4] = ["--sandbox", "workspace", "--on-error", "continue"];

/// Returns a bench; `None` if this machine permits no workspace.
fn bench() -> Option<Bench> {
    let bench = Bench::new();
    let run = bench.run(&WORKSPACE, bash("a", "echo > free"));
    if run.result("a")["turnpipe"]["sandbox"]["workspace"].is_null() {
        assert!(run.stderr.contains("calls have no workspace: "), "{run:?}");
        skip("workspaces");
        return None;
    }
    Some(bench)
}

#[test]
fn commands_need_no_approval_and_change_nothing_outside() {
    let Some(bench) = bench() else { return };
    let outside = bench.state().join("made");
    let calls = [
        bash("inside", "for n in 1 2; do echo $n >> made; done; cat made"),
        bash("outside", &format!("echo x > {}", outside.display())),
        bash("system", "echo x > /etc/turnpipe-probe"),
        bash("processes", "sleep 1000 & echo /proc/[0-9]*"),
        bash("temporary", "echo kept > $TMPDIR/file"),
        bash("later", "cat /tmp/file && cat free > copy"),
        bash("killed", "echo > x; kill -KILL $$"),
    ];
    let run = bench.run(&WORKSPACE, calls.concat());
    let outcomes = [
        ("inside", "ok"),
        ("outside", "error"),
        ("system", "error"),
        ("processes", "ok"),
        ("temporary", "ok"),
        ("later", "ok"),
        ("killed", "error"),
    ];
    assert_eq!(run.outcomes(), pairs(&outcomes), "{run:?}");
    assert_eq!(bench.read("made"), "1\n2\n");
    assert!(!outside.exists());
    assert!(
        run.content("system")
            .contains("The workspace may be the cause"),
        "{run:?}"
    );
    assert_eq!(
        run.content("processes").matches("/proc/").count(),
        3,
        "{run:?}"
    );
    assert!(run.content("later").starts_with("kept"), "{run:?}");
    let result = run.result("inside");
    let extension = &result["turnpipe"];
    assert_eq!(
        extension["permission"]["decided_by"],
        json!({"builtin": "confined"})
    );
    assert_eq!(
        extension["sandbox"]["workspace"]["isolates_processes"],
        true
    );
    let left = fs::read_dir(bench.state().join("turnpipe/tmp")).unwrap();
    assert_eq!(left.count(), 0);
}

/// Runs one command with further arguments and a settings file. Returns its outcome and what decided.
fn decision(
    bench: &Bench,
    arguments: &[&str],
    settings: &Value,
    input: &Value,
) -> (String, String) {
    let file = bench.write("settings.json", settings.to_string());
    let settings = ["--settings", file.to_str().unwrap()];
    let arguments = [&WORKSPACE[..], arguments, &settings].concat();
    let run = bench.run(&arguments, call("a", "Bash", input));
    let result = run.result("a");
    let extension = &result["turnpipe"];
    let by = &extension["permission"]["decided_by"];
    let (kind, value) = by.as_object().unwrap().iter().next().unwrap();
    let by = match (kind.as_str(), value.as_str()) {
        ("rule", _) | (_, None) => kind.clone(),
        (_, Some(value)) => value.to_owned(),
    };
    (extension["outcome"].as_str().unwrap().to_owned(), by)
}

/// Options, a command, its outcome, and what decided.
type Row = (
    &'static [&'static str],
    &'static str,
    &'static str,
    &'static str,
);

/// What options and commands decide. `Bash(git push *)` may be what a command is that is known only at run time.
const OPTIONS: [Row; 16] = [
    (&[], "touch made", "ok", "confined"),
    (
        &["--permission-mode", "acceptEdits"],
        "touch made",
        "ok",
        "acceptEdits",
    ),
    (
        &["--permission-mode", "acceptEdits"],
        "./x || true",
        "ok",
        "confined",
    ),
    (
        &["--permission-mode", "plan"],
        "touch made",
        "denied",
        "plan",
    ),
    (
        &["--permission-mode", "dontAsk"],
        "touch made",
        "denied",
        "dontAsk",
    ),
    (&["--network", "on"], "touch made", "denied", "default"),
    (
        &["--allow-domain", "example.com"],
        "touch made",
        "ok",
        "confined",
    ),
    (&["--sandbox", "files"], "touch made", "denied", "default"),
    (&["--sandbox", "off"], "touch made", "denied", "default"),
    (&["--deny", "Bash(touch *)"], "touch made", "denied", "rule"),
    (&["--ask", "Bash(touch *)"], "touch made", "denied", "rule"),
    (&["--ask", "Bash"], "touch made", "denied", "rule"),
    (
        &["--ask", "Bash(git push *)"],
        "c=true; $c",
        "denied",
        "unresolved",
    ),
    (&[], "c=true; $c", "ok", "confined"),
    (&[], "rm -rf ~", "denied", "critical-path"),
    (
        &[],
        "echo x > .git/hooks/post-checkout",
        "denied",
        "protected",
    ),
];

#[test]
fn no_approval_is_needed_under_all_conditions_only() {
    let Some(bench) = bench() else { return };
    let check = |arguments: &[&str], settings: &Value, input: &Value, expected: (&str, &str)| {
        let (outcome, by) = decision(&bench, arguments, settings, input);
        let context = format!("{arguments:?} {settings} {input}");
        assert_eq!((&*outcome, &*by), expected, "{context}");
    };
    for (arguments, command, outcome, by) in OPTIONS {
        let input = json!({"command": command});
        check(arguments, &json!({}), &input, (outcome, by));
    }
    let touch = json!({"command": "touch made"});
    let leaving = json!({"command": "touch made", "dangerouslyDisableSandbox": true});
    let excluded = json!({"enabled": true, "excludedCommands": ["touch *"]});
    let asking = json!({"enabled": true, "autoAllowBashIfSandboxed": false});
    for (sandbox, input) in [
        (json!({}), leaving),
        (excluded, touch.clone()),
        (asking, touch),
    ] {
        check(
            &[],
            &json!({"sandbox": sandbox}),
            &input,
            ("denied", "default"),
        );
    }
}

#[test]
fn after_a_new_file_that_tells_programs_what_to_run_calls_need_approval_again() {
    let Some(bench) = Bench::with_program("git").and_then(|_| self::bench()) else {
        return;
    };
    let calls = [
        bash("before", "touch one"),
        bash("makes", "git init -q made"),
        bash("after", "touch two"),
    ];
    let run = bench.run(&WORKSPACE, calls.concat());
    let outcomes = [("before", "ok"), ("makes", "ok"), ("after", "denied")];
    assert_eq!(run.outcomes(), pairs(&outcomes), "{run:?}");
    assert!(
        run.stderr
            .contains("new, and tells other programs what to run: ")
            && run.stderr.contains("made/.git\n"),
        "{run:?}"
    );
}

#[test]
fn a_call_leaves_the_workspace_only_with_permission() {
    let Some(bench) = bench() else { return };
    let target = bench.state().join("outside");
    fs::create_dir_all(bench.state()).unwrap();
    let script = format!("touch {}", target.display());
    let leaving = json!({"command": script, "dangerouslyDisableSandbox": true});
    let staying = json!({"command": script});
    let excluded = json!({"sandbox": {"enabled": true, "excludedCommands": ["touch *"]}});
    let forbidden = json!({"sandbox": {"enabled": true, "allowUnsandboxedCommands": false}});
    let partly = json!({"command": format!("{script} && mkdir -p d")});
    let allow = ["--allow", "Bash(touch *)", "--allow", "Bash(mkdir *)"];
    let none: [&str; 0] = [];
    for (arguments, settings, input, leaves) in [
        (&none[..], json!({}), &leaving, false),
        (&allow, json!({}), &leaving, true),
        (&allow, json!({}), &staying, false),
        (&none, excluded.clone(), &staying, false),
        (&allow, excluded.clone(), &staying, true),
        // Not every command is excluded.
        (&allow, excluded, &partly, false),
        (&allow, forbidden, &leaving, false),
    ] {
        // It may not exist.
        let _ = fs::remove_file(&target);
        decision(&bench, arguments, &settings, input);
        assert_eq!(target.exists(), leaves, "{arguments:?} {settings} {input}");
    }
}

#[test]
fn settings_widen_and_narrow_the_workspace() {
    let Some(bench) = bench() else { return };
    let lasting = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outside = lasting.path().canonicalize().unwrap();
    for name in ["open", "shut", "open/shut", "secrets", "secrets/public"] {
        fs::create_dir_all(outside.join(name)).unwrap();
    }
    fs::write(outside.join("secrets/key"), "verysecret").unwrap();
    fs::write(outside.join("secrets/public/name"), "known").unwrap();
    fs::write(outside.join("credential"), "verysecret").unwrap();
    fs::write(outside.join("open/shut/file"), "old").unwrap();
    let path = |name: &str| outside.join(name).display().to_string();
    let settings = json!({
        "permissions": {"allow": [format!("Edit(/{}/**)", path("by-rule"))]},
        "sandbox": {
            "enabled": true,
            "filesystem": {
                "allowWrite": [path("open"), format!("{}/**", path("missing"))],
                "denyWrite": [path("open/shut")],
                "denyRead": [path("secrets")],
                "allowRead": [path("secrets/public")],
            },
            "credentials": {
                "files": [{"path": path("credential"), "mode": "deny"}],
                "envVars": [{"name": "HIDDEN", "mode": "deny"}],
            },
        },
    });
    fs::create_dir_all(outside.join("by-rule")).unwrap();
    let file = bench.write("settings.json", settings.to_string());
    let script = format!(
        "cd {}; for f in open/a by-rule/a shut/a open/shut/file; do echo new 2>/dev/null > $f && echo changed $f; done; \
         cat secrets/key credential 2>/dev/null; cat secrets/public/name; echo \" [$HIDDEN]\"",
        outside.display()
    );
    let mut command = bench.run_tools(&[
        "--settings",
        file.to_str().unwrap(),
        "--on-error",
        "continue",
    ]);
    command.env("HIDDEN", "value");
    let mut driver = crate::bench::Driver::start(command);
    driver.send(&bash("a", &script));
    let run = driver.finish();
    let content = run.content("a");
    let lines: Vec<&str> = content
        .lines()
        .filter(|line| !line.contains("bash: line"))
        .collect();
    assert_eq!(
        lines,
        ["changed open/a", "changed by-rule/a", "known []"],
        "{run:?}"
    );
}

#[test]
fn file_tools_see_the_temporary_files_of_commands() {
    let Some(bench) = bench() else { return };
    let file = |id: &str, tool: &str, input: &Value| call(id, tool, input);
    let calls = [
        bash("make", "mkdir -p /tmp/d && echo by-command > /tmp/d/file"),
        file("read", "Read", &json!({"file_path": "/tmp/d/file"})),
        file(
            "write",
            "Write",
            &json!({"file_path": "/var/tmp/d/other", "content": "by-tool"}),
        ),
        bash("show", "cat $TMPDIR/d/other > shown"),
    ];
    let arguments = [&WORKSPACE[..], &crate::bench::BYPASS].concat();
    let run = bench.run(&arguments, calls.concat());
    assert!(run.content("read").contains("by-command"), "{run:?}");
    assert_eq!(bench.read("shown"), "by-tool", "{run:?}");
    assert!(!std::path::Path::new("/tmp/d/file").exists());
}

#[test]
fn temporary_files_of_a_session_are_kept_for_its_next_run() {
    let Some(bench) = bench() else { return };
    let runs = |arguments: &[&str]| {
        let arguments = [&WORKSPACE[..], arguments].concat();
        let first = "echo kept > /tmp/file && mkdir -m 300 /tmp/locked && echo > /tmp/locked/x";
        let made = bench.run(&arguments, bash("made", first));
        assert_eq!(made.outcomes(), pairs(&[("made", "ok")]), "{made:?}");
        let read = bench.run(&arguments, bash("read", "cat /tmp/file > copy"));
        read.outcomes()[0].1.clone()
    };
    assert_eq!(runs(&[]), "error");
    assert_eq!(runs(&["--session-id", "one"]), "ok");
    assert_eq!(bench.read("copy"), "kept\n");
    assert_eq!(runs(&["--session", "missing.jsonl"]), "ok");
    let other = bench.run(
        &[&WORKSPACE[..], &["--session-id", "other"]].concat(),
        bash("read", "cat /tmp/file"),
    );
    assert_eq!(other.outcomes(), pairs(&[("read", "error")]), "{other:?}");
    let cleaned = bench.shell("turnpipe state clean --older-than 0s");
    assert!(cleaned.stdout.contains("\"sessions\":3"), "{cleaned:?}");
    let left = fs::read_dir(bench.state().join("turnpipe")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["tmp"]);
}
