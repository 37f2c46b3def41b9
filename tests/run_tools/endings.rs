//! Interrupts, termination and deadlines: every call gets its result, and no process survives.

use std::io::Read as _;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::bench::{
    BYPASS, Bench, Driver, bash, call, is_marked_process_alive, outcome, pairs, turn, wait_for,
};

fn marker(name: &str) -> String {
    format!("{name}_{}", std::process::id())
}

fn driver(bench: &Bench, arguments: &[&str], mark: &str) -> Driver {
    let mut command = bench.run_tools(&[&BYPASS[..], arguments].concat());
    command.env("MARK", mark);
    Driver::start(command)
}

#[test]
fn an_interrupt_ends_running_calls_and_answers_all() {
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let bench = Bench::new();
        let mark = marker(&format!("interrupted_{signal}"));
        let mut driver = driver(&bench, &[], &mark);
        driver.send(&turn(
            "m",
            &[
                ("a", "echo before; touch started; sleep 1000"),
                ("b", "touch ran"),
            ],
        ));
        wait_for("the call to start", || {
            bench.work().join("started").exists()
        });
        driver.signal(signal);
        let run = driver.wait();
        assert_eq!(run.status, Some(status), "{run:?}");
        assert_eq!(
            run.outcomes(),
            pairs(&[("a", "interrupted"), ("b", "not_run")]),
            "{run:?}"
        );
        assert!(
            run.content("a").contains("while it was running"),
            "{}",
            run.content("a")
        );
        assert!(
            run.content("b").contains("before this call started"),
            "{}",
            run.content("b")
        );
        assert!(!bench.work().join("ran").exists());
        wait_for("the children to end", || !is_marked_process_alive(&mark));
    }
}

#[test]
fn calls_that_ignore_the_interrupt_are_killed() {
    let bench = Bench::new();
    let mark = marker("stubborn");
    let mut driver = driver(&bench, &[], &mark);
    driver.send(&bash(
        "a",
        "trap '' TERM INT; touch started; sleep 1000; sleep 1000",
    ));
    wait_for("the call to start", || {
        bench.work().join("started").exists()
    });
    driver.signal("INT");
    let run = driver.wait();
    assert_eq!(run.outcomes(), pairs(&[("a", "interrupted")]), "{run:?}");
    wait_for("the children to end", || !is_marked_process_alive(&mark));
}

#[test]
fn a_call_that_finishes_on_the_first_signal_is_awaited() {
    let bench = Bench::new();
    let manifest = bench.write(
        "tools.toml",
        r#"
[[tool]]
name = "Finish"
description = "Waits until a file exists."
input_schema = { type = "object" }
command = ["sh", "-c", "touch started; until [ -e gate ]; do sleep 0.01; done; echo finished"]
interrupt = "block"
"#,
    );
    let tools = ["--tools", manifest.to_str().unwrap()];
    let mut first = driver(&bench, &tools, "x");
    first.send(&[call("a", "Finish", &json!({})), bash("b", "touch ran")].concat());
    wait_for("the call to start", || {
        bench.work().join("started").exists()
    });
    first.signal("INT");
    first.message("waiting for Finish to finish");
    bench.write("gate", "");
    let run = first.wait();
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "not_run")]),
        "{run:?}"
    );
    assert_eq!(run.content("a"), "finished");
    assert_eq!(run.status, Some(130));

    std::fs::remove_file(bench.work().join("gate")).unwrap();
    std::fs::remove_file(bench.work().join("started")).unwrap();
    let mark = marker("insisted");
    let mut second = driver(&bench, &tools, &mark);
    second.send(&call("a", "Finish", &json!({})));
    wait_for("the call to start", || {
        bench.work().join("started").exists()
    });
    second.signal("INT");
    second.message("interrupt again to end it now");
    second.signal("INT");
    let run = second.wait();
    assert_eq!(run.outcomes(), pairs(&[("a", "interrupted")]), "{run:?}");
    assert_eq!(run.status, Some(130));
    wait_for("the children to end", || !is_marked_process_alive(&mark));
}

#[test]
fn a_request_in_the_stream_interrupts_the_turn_but_not_the_run() {
    let bench = Bench::new();
    let mut driver = driver(&bench, &[], "x");
    driver.send(&turn(
        "m",
        &[("a", "touch started; sleep 1000"), ("b", "touch ran")],
    ));
    wait_for("the call to start", || {
        bench.work().join("started").exists()
    });
    driver.send("{\"type\":\"control_request\",\"request_id\":\"r1\",\"request\":{\"subtype\":\"interrupt\"}}\n");
    assert_eq!(outcome(&driver.result("a")).unwrap().1, "interrupted");
    assert_eq!(outcome(&driver.result("b")).unwrap().1, "not_run");
    driver.send(&turn("n", &[("c", "echo c")]));
    assert_eq!(outcome(&driver.result("c")).unwrap().1, "ok");
    let run = driver.finish();
    assert_eq!(run.status, Some(0));
}

#[test]
fn the_whole_run_has_a_deadline() {
    let bench = Bench::new();
    let mark = marker("deadline");
    let mut driver = driver(&bench, &["--timeout", "300ms"], &mark);
    driver.send(&turn("m", &[("a", "sleep 1000"), ("b", "touch ran")]));
    let run = driver.wait();
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "timeout"), ("b", "not_run")]),
        "{run:?}"
    );
    assert_eq!(run.status, Some(124));
    wait_for("the children to end", || !is_marked_process_alive(&mark));
}

#[test]
fn a_call_has_its_own_deadline() {
    let bench = Bench::new();
    let mark = marker("timeout");
    let mut driver = driver(&bench, &[], &mark);
    driver.send(&call(
        "a",
        "Bash",
        &json!({"command": "echo before; sleep 1000", "timeout": 200}),
    ));
    driver.send(&call("b", "Bash", &json!({"command": "echo b"})));
    let run = driver.finish();
    assert_eq!(
        run.outcomes()[0],
        ("a".to_owned(), "timeout".to_owned()),
        "{run:?}"
    );
    assert!(run.content("a").contains("before"), "{}", run.content("a"));
    wait_for("the children to end", || !is_marked_process_alive(&mark));
}

#[test]
fn endless_output_is_bounded() {
    let bench = Bench::new();
    let run = bench.run(
        &BYPASS,
        call("a", "Bash", &json!({"command": "yes", "timeout": 300})),
    );
    assert_eq!(run.outcomes(), pairs(&[("a", "timeout")]));
    assert!(run.stdout.len() < 1_000_000, "{} bytes", run.stdout.len());
}

/// A signal to the group reaches every stage of a pipeline. Later stages must not lose results of the first.
#[test]
fn a_signal_to_a_pipeline_loses_no_result() {
    for (round, signal) in ["INT", "TERM", "HUP", "INT"].into_iter().enumerate() {
        let bench = Bench::new();
        let mark = marker(&format!("pipeline{round}"));
        let calls = bench.write(
            "calls",
            turn(
                "m",
                &[
                    ("a", "echo a"),
                    ("b", "touch started; sleep 1000"),
                    ("c", "touch ran"),
                ],
            ),
        );
        let script = format!(
            "env --default-signal=INT tail -n +1 -f {0} | \"$T\" run-tools --permission-mode bypassPermissions | \"$T\" run-tools | \"$T\" session append s.jsonl > output",
            calls.display()
        );
        let mut pipeline = Command::new("bash")
            .args(["-c", &script])
            .current_dir(bench.work())
            .env("T", env!("CARGO_BIN_EXE_turnpipe"))
            .env("MARK", &mark)
            .env("HOME", bench.work())
            .process_group(0)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_for("the call to start", || {
            bench.work().join("started").exists()
        });
        let script = format!("kill -{signal} -- -{}", pipeline.id());
        let sent = Command::new("bash").args(["-c", &script]).status();
        assert!(sent.unwrap().success());
        pipeline.wait().unwrap();
        // Until the last process of the pipeline has ended. The processes of calls do not have this pipe.
        let mut messages = Vec::new();
        let mut errors = pipeline.stderr.take().unwrap();
        errors.read_to_end(&mut messages).unwrap();
        wait_for("the children to end", || !is_marked_process_alive(&mark));
        let outcomes: Vec<_> = bench
            .read("output")
            .lines()
            .filter_map(|line| outcome(&serde_json::from_str(line).unwrap()))
            .collect();
        let expected = [("a", "ok"), ("b", "interrupted"), ("c", "not_run")];
        assert_eq!(outcomes, pairs(&expected), "{signal}");
        let recorded = bench.read("s.jsonl");
        let recorded = recorded
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let recorded: Vec<_> = recorded
            .filter_map(|line| line["turnpipe"]["outcome"].as_str().map(str::to_owned))
            .collect();
        assert_eq!(recorded, expected.map(|(_, outcome)| outcome), "{signal}");
        assert!(!bench.work().join("ran").exists());
    }
}
