//! The parallel lane through the binary: the records contain the enforcement.

use serde_json::{Value, json};

use crate::bench::{BYPASS, Bench, bash, call};
use crate::skip::skip;

const ASSUMED: &str = "--assume-read-only";

fn sandbox(result: &Value) -> &Value {
    &result["turnpipe"]["sandbox"]
}

/// Whether this kernel can enforce the lane; a test that needs it is skipped otherwise.
fn is_enforceable(bench: &Bench) -> bool {
    let is_enforceable = bench.run(&["--enforce", "require"], "").status == Some(0);
    if !is_enforceable {
        skip("a kernel with Landlock and seccomp");
    }
    is_enforceable
}

#[test]
fn a_write_in_the_lane_is_denied_reported_and_not_retried() {
    let bench = Bench::new();
    if !is_enforceable(&bench) {
        return;
    }
    let run = bench.run(&[ASSUMED, "--enforce", "require"], bash("a", "touch x"));
    assert!(!bench.work().join("x").exists());
    let result = run.result("a");
    assert_eq!(result["turnpipe"]["outcome"], "error");
    assert_eq!(result["turnpipe"]["lane"], "parallel");
    let sandbox = sandbox(&result);
    assert_eq!(sandbox["enforced"], true);
    assert_eq!(sandbox["seccomp"], true);
    assert!(sandbox["landlock_abi"].as_u64().unwrap() >= 1);
    assert_eq!(sandbox["reclassify"], "serial");
    assert!(run.content("a").contains("Permission denied"), "{run:?}");
}

#[test]
fn other_calls_have_no_hint() {
    let bench = Bench::new();
    let calls = [bash("a", "echo x"), bash("b", "exit 4")].concat();
    let run = bench.run(&[ASSUMED, "--on-error", "continue"], calls);
    for id in ["a", "b"] {
        assert_eq!(sandbox(&run.result(id))["reclassify"], Value::Null);
        assert_ne!(*sandbox(&run.result(id)), Value::Null);
    }
}

#[test]
fn a_disabled_lane_is_reported_and_denies_nothing() {
    let bench = Bench::new();
    let run = bench.run(&[ASSUMED, "--enforce", "off"], bash("a", "touch x"));
    assert!(bench.work().join("x").exists());
    let expected = json!({"enforced": false, "mechanism": "switched off", "seccomp": false});
    assert_eq!(*sandbox(&run.result("a")), expected);
}

#[test]
fn the_serial_lane_and_tools_without_processes_are_not_confined() {
    let bench = Bench::new();
    bench.write("file", "text\n");
    let calls = [
        bash("a", "touch x"),
        call(
            "b",
            "Read",
            &json!({"file_path": bench.work().join("file")}),
        ),
    ]
    .concat();
    let run = bench.run(&BYPASS, calls);
    assert!(bench.work().join("x").exists());
    for id in ["a", "b"] {
        assert_eq!(*sandbox(&run.result(id)), Value::Null);
        assert_eq!(run.result(id)["turnpipe"]["outcome"], "ok", "{run:?}");
    }
}

#[test]
fn command_tools_that_only_read_run_in_the_lane() {
    let bench = Bench::new();
    let manifest = bench.write(
        "tools.toml",
        "[[tool]]\nname = \"Toucher\"\ndescription = \"d\"\ncommand = [\"touch\", \"x\"]\n\
         access = \"read-only\"\ninput_schema = { type = \"object\" }\n",
    );
    if !is_enforceable(&bench) {
        return;
    }
    let run = bench.run(
        &["--tools", manifest.to_str().unwrap()],
        call("a", "Toucher", &json!({})),
    );
    assert!(!bench.work().join("x").exists(), "{run:?}");
    assert_eq!(sandbox(&run.result("a"))["reclassify"], "serial", "{run:?}");
}

#[test]
fn a_private_directory_for_temporary_files_is_removed_afterwards() {
    let bench = Bench::new();
    let script = "f=$(mktemp) && echo kept > $f && cat $f && echo $TMPDIR";
    let run = bench.run(&[ASSUMED], bash("a", script));
    let content = run.content("a");
    let (first, directory) = content.split_once('\n').unwrap();
    assert_eq!(first, "kept");
    let parent = std::path::Path::new(directory).parent().unwrap();
    assert!(parent.to_str().unwrap().contains("/turnpipe-"), "{content}");
    assert!(!parent.exists(), "{content}");
}

#[test]
fn commands_of_xargs_need_permission_where_nothing_is_enforced() {
    let bench = Bench::new();
    bench.write("file", "one\n");
    let calls = [
        bash("a", "echo file | xargs cat"),
        bash("b", "head -1 file"),
    ]
    .concat();
    let run = bench.run(&["--enforce", "off"], calls.as_str());
    assert_eq!(run.result("a")["turnpipe"]["outcome"], "denied", "{run:?}");
    assert_eq!(run.result("b")["turnpipe"]["outcome"], "ok", "{run:?}");
    if is_enforceable(&bench) {
        let run = bench.run(&[], calls.as_str());
        assert_eq!(run.result("a")["turnpipe"]["outcome"], "ok", "{run:?}");
    }
}

/// Git touches the shared part of a split index when it uses it.
#[test]
fn reading_an_index_touches_no_file() {
    let bench = Bench::new();
    if !is_enforceable(&bench) {
        return;
    }
    let script = "git init -q . && touch file && git add file && git update-index --split-index &&
        touch -d 2020-01-01 .git/sharedindex.*";
    assert_eq!(bench.shell(script).status, Some(0));
    let call = bash("a", "git status --short");
    for arguments in [&[][..], &[ASSUMED]] {
        let run = bench.run(arguments, call.as_str());
        assert_eq!(run.content("a"), "A  file", "{run:?}");
    }
    assert_eq!(
        bench.shell("date -r .git/sharedindex.* +%Y").stdout,
        "2020\n"
    );
}

/// Administrators set this limit for all users, and no program can raise it.
#[test]
fn calls_run_where_no_core_files_are_permitted() {
    let bench = Bench::new();
    let calls = bash("1", "ls") + &bash("2", "touch x");
    let script = "ulimit -c 0; turnpipe run-tools --no-config --permission-mode bypassPermissions";
    let run = bench.shell_with_input(&format!("({script})"), calls.as_bytes());
    let outcomes = run.outcomes();
    let outcomes: Vec<&str> = outcomes
        .iter()
        .map(|(_, outcome)| outcome.as_str())
        .collect();
    assert_eq!(outcomes, ["ok", "ok"], "{run:?}");
}
