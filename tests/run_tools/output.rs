//! Output that is closed, full or no longer read.

use std::os::unix::fs::MetadataExt as _;

use crate::bench::{BYPASS, Bench, bash, is_marked_process_alive, pairs, wait_for};
use crate::schema::assert_fits;

#[test]
fn a_reader_that_leaves_ends_the_run_and_its_children() {
    let bench = Bench::new();
    let calls = bench.write(
        "calls",
        [bash("a", "echo a"), bash("b", "sleep 1000")].concat(),
    );
    let run = bench.shell(&format!(
        "export MARK=reader_left_{0}
         turnpipe run-tools --permission-mode bypassPermissions < {1} | head -n 1
         echo ${{PIPESTATUS[0]}}",
        std::process::id(),
        calls.display()
    ));
    assert_eq!(run.stdout.lines().last(), Some("141"), "{run:?}");
    let marker = format!("MARK=reader_left_{}", std::process::id());
    wait_for("the children to end", || !is_marked_process_alive(&marker));
}

/// Unparsed input can count as understood.
#[test]
fn a_closed_pipe_is_not_reported() {
    let bench = Bench::new();
    let records = bench.write("records", "{\"event\":\"x\"}\n".repeat(100_000));
    let run = bench.shell(&format!(
        "turnpipe run-tools < {} | head -n 1",
        records.display()
    ));
    assert_eq!(run.stderr, "", "{run:?}");
}

#[test]
fn a_full_disk_is_reported_and_ends_the_children() {
    let bench = Bench::new();
    let calls = bench.write(
        "calls",
        [bash("a", "echo a"), bash("b", "sleep 1000")].concat(),
    );
    let run = bench.shell(&format!(
        "export MARK=disk_full_{0}
         turnpipe run-tools --permission-mode bypassPermissions < {1} > /dev/full; echo $?",
        std::process::id(),
        calls.display()
    ));
    assert_eq!(run.stdout, "74\n");
    assert!(
        run.stderr.contains("No space left on device"),
        "{}",
        run.stderr
    );
    let marker = format!("MARK=disk_full_{}", std::process::id());
    wait_for("the children to end", || !is_marked_process_alive(&marker));
}

#[test]
fn a_closed_output_is_detected_before_anything_runs() {
    let bench = Bench::new();
    let calls = bench.write("calls", bash("a", "touch ran"));
    let run = bench.shell(&format!(
        "turnpipe run-tools --permission-mode bypassPermissions < {} >&-; echo $?",
        calls.display()
    ));
    assert_eq!(run.stdout, "74\n", "{run:?}");
    assert!(!bench.work().join("ran").exists());
}

#[test]
fn no_echo_prints_own_records_only() {
    let bench = Bench::new();
    let run = bench.run(&[&BYPASS[..], &["--no-echo"]].concat(), bash("a", "echo a"));
    assert_eq!(run.records().len(), 3, "{run:?}");
    assert!(
        run.records()
            .iter()
            .all(|record| record["type"] != "tool_use")
    );
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let bench = Bench::new();
    let input = [
        bash("a", "echo a"),
        bash("b", "echo b; exit 3"),
        bash("c", "echo c"),
    ]
    .concat();
    let first = bench.run(&BYPASS, input.clone());
    let second = bench.run(&BYPASS, input);
    assert_eq!(first.stdout, second.stdout);
    assert!(
        first
            .stdout
            .contains("\"timestamp\":\"2026-01-02T03:04:05.000Z\""),
        "{first:?}"
    );
}

#[test]
fn real_records_match_their_schemas() {
    let bench = Bench::new();
    bench.write("file", "text\n");
    let input = [
        bash("a", "seq 1 20000"),
        bash("b", "exit 3"),
        crate::bench::call("c", "Nope", &serde_json::json!({})),
        crate::bench::call("d", "Read", &serde_json::json!({"file_path": "file"})),
    ]
    .concat();
    let run = bench.run(&BYPASS, input.clone());
    let plan = bench.run(&["--plan"], input);
    let mut checked = 0;
    for record in run.records().into_iter().chain(plan.records()) {
        let name = match (record["type"].as_str().unwrap(), record["subtype"].as_str()) {
            ("user", _) => "tool-result",
            ("system", Some("executor")) => "executor",
            ("system", Some("turn_end")) => "turn-end",
            ("system", Some("plan")) => "plan",
            _ => continue,
        };
        assert_fits(name, &record);
        checked += 1;
    }
    assert!(checked >= 9, "only {checked} records");
}

#[test]
fn a_trace_that_cannot_be_written_is_a_failure() {
    let bench = Bench::new();
    let run = bench.run(&["--trace", "/dev/full"], bash("a", "true"));
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]));
    assert_eq!(run.status, Some(74));
    assert!(
        run.stderr.contains("cannot write the trace"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_trace_shows_every_call() {
    let bench = Bench::new();
    let input = [bash("a", "echo a"), bash("b", "echo b")].concat();
    let run = bench.run(&[&BYPASS[..], &["--trace", "trace.json"]].concat(), input);
    assert_eq!(run.status, Some(0));
    let mode = bench.work().join("trace.json").metadata().unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    let trace: Vec<serde_json::Value> = serde_json::from_str(&bench.read("trace.json")).unwrap();
    let calls: Vec<_> = trace
        .iter()
        .filter(|event| event["cat"] == "call")
        .collect();
    assert_eq!(calls.len(), 2);
    // They ran concurrently, so either may have ended first.
    let first = calls
        .iter()
        .find(|event| event["args"]["tool_use_id"] == "a")
        .unwrap();
    assert_eq!(first["name"], "Bash(echo a)");
}

#[test]
fn runs_work_without_home_and_path() {
    let bench = Bench::new();
    let file = bench.write("file", "text\n");
    let calls = bench.write(
        "calls",
        [
            crate::bench::call("a", "Read", &serde_json::json!({"file_path": file})),
            bash("b", "echo b"),
        ]
        .concat(),
    );
    let run = bench.shell(&format!(
        "env -i \"$TURNPIPE\" run-tools --permission-mode bypassPermissions < {}",
        calls.display()
    ));
    let expected = crate::bench::pairs(&[("a", "ok"), ("b", "ok")]);
    assert_eq!(run.outcomes(), expected, "{run:?}");
}
