//! The environment of a call's processes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;

use crate::bench::{Bench, Driver, Run, bash, pairs};
use crate::skip::search_path;

/// Runs calls in an environment with these additional variables.
fn run_with(
    bench: &Bench,
    variables: &[(&str, &str)],
    arguments: &[&str],
    calls: impl AsRef<str>,
) -> Run {
    let mut command = bench.run_tools(arguments);
    command.envs(variables.iter().copied());
    let mut driver = Driver::start(command);
    driver.send(calls.as_ref());
    driver.finish()
}

#[test]
fn a_search_path_never_contains_the_working_directory() {
    let bench = Bench::new();
    for name in ["ls", "bash", "bin/ls", "bin/bash"] {
        let planted = bench.write(name, "#!/bin/sh\necho planted\n");
        std::fs::set_permissions(planted, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for path in ["", ".", ":", "bin", "bin:/usr/bin:/bin", "/usr/bin::/bin"] {
        let run = run_with(&bench, &[("PATH", path)], &[], bash("a", "ls /dev/null"));
        assert_eq!(run.content("a"), "/dev/null", "{path:?}: {run:?}");
    }
    // With an absolute entry for it, no command counts as read-only, since the shell itself is found there.
    let path = format!("{}:{}", bench.work().join("bin").display(), search_path());
    let variables = [("PATH", &*path)];
    let run = run_with(&bench, &variables, &[], bash("a", "cat /dev/null"));
    assert_eq!(run.outcomes(), pairs(&[("a", "denied")]), "{run:?}");
    std::fs::remove_file(bench.work().join("bin/bash")).unwrap();
    let calls = [bash("a", "cat /dev/null"), bash("b", "ls")].concat();
    let run = run_with(&bench, &variables, &[], calls);
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "denied")]),
        "{run:?}"
    );
}

#[test]
fn children_get_no_secrets() {
    let bench = Bench::new();
    let secrets = [
        ("OPENAI_API_KEY", "x"),
        ("GITHUB_TOKEN", "x"),
        ("PGPASSWORD", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("https_proxy", "http://me:pw@proxy:8080"),
        ("HARMLESS", "sk-ant-a1B2c3D4e5F6g7H8"),
    ];
    let kept = [
        ("MAX_TOKENS", "4096"),
        ("TOKENIZERS_PARALLELISM", "false"),
        ("http_proxy", "http://proxy:8080"),
        ("MONKEY", "x"),
    ];
    let variables = [&secrets[..], &kept[..]].concat();
    let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
    let script = format!(
        "for name in {}; do printenv $name; done; true",
        names.join(" ")
    );
    let mode = ["--permission-mode", "bypassPermissions"];
    let run = run_with(&bench, &variables, &mode, bash("a", &script));
    assert_eq!(run.content("a"), "4096\nfalse\nhttp://proxy:8080\nx");

    let mode = [&mode[..], &["--env", "GITHUB_TOKEN", "--env", "HARMLESS"]].concat();
    let run = run_with(&bench, &variables, &mode, bash("a", &script));
    let expected = "x\nsk-ant-a1B2c3D4e5F6g7H8\n4096\nfalse\nhttp://proxy:8080\nx";
    assert_eq!(run.content("a"), expected);
}

#[test]
fn read_only_commands_can_use_temporary_files_and_leave_none() {
    let bench = Bench::new();
    let place = tempfile::tempdir().unwrap();
    let place = place.path().to_str().unwrap();
    let rows = [
        ("seq 3 | tac", "3\n2\n1"),
        ("cat <<< \"$(seq 1 30000)\" | tail -1", "30000"),
        ("seq 200000 | sort -n -S 100k | tail -1", "200000"),
    ];
    for (command, expected) in rows {
        let assumed = ["--assume-read-only"];
        let run = run_with(&bench, &[("TMPDIR", place)], &assumed, bash("a", command));
        assert_eq!(run.content("a"), expected, "{command}: {run:?}");
        let sandbox = &run.result("a")["turnpipe"]["sandbox"];
        assert_ne!(*sandbox, Value::Null, "{command}");
    }
    assert_eq!(std::fs::read_dir(place).unwrap().count(), 0);
}

#[test]
fn the_directory_is_kept_if_no_file_can_be_created() {
    let bench = Bench::new();
    bench.write("sub/file", "");
    let calls = [
        bash("a", "cd sub && ls"),
        bash("b", "pwd"),
        bash("c", "cd ..; ls"),
    ]
    .concat();
    let run = run_with(&bench, &[("TMPDIR", "/proc")], &[], calls);
    let warning = "turnpipe: cannot write to /proc: ";
    assert!(run.stderr.starts_with(warning), "{}", run.stderr);
    let advice = "; set TMPDIR to a writable directory\n";
    assert!(run.stderr.contains(advice), "{}", run.stderr);
    let expected = pairs(&[("a", "ok"), ("b", "ok"), ("c", "ok")]);
    assert_eq!(run.outcomes(), expected, "{run:?}");
    assert_eq!(run.content("a"), "file");
    assert_eq!(Path::new(&run.content("b")).file_name().unwrap(), "sub");
    assert_eq!(run.content("c"), "sub");
    assert_eq!(run.result("a")["turnpipe"]["lane"], "serial");
    assert_ne!(run.result("a")["turnpipe"]["sandbox"], Value::Null);
}

#[test]
fn a_state_directory_that_cannot_be_created_is_named() {
    let bench = Bench::new();
    let run = bench.run(&["--state-dir", "/proc/state"], bash("a", "seq 100000"));
    assert!(run.content("a").trim_end().ends_with("\n100000"));
    let advice = "set XDG_STATE_HOME or `--state-dir` to a writable directory\n";
    assert!(
        run.stderr.contains("cannot write to /proc/state: ") && run.stderr.contains(advice),
        "{}",
        run.stderr
    );
}

#[test]
fn a_denial_has_its_reason() {
    let bench = Bench::new();
    let run = bench.run(&[], bash("a", "ls | tee x"));
    assert!(
        run.content("a")
            .contains("`tee` is not a command known to be read-only"),
        "{run:?}"
    );
    assert!(
        run.stderr
            .contains("`tee` is not a command known to be read-only"),
        "{run:?}"
    );
}
