//! Calls that need the approval of the user or a program.

use std::io::{Read, Write};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::bench::{Bench, Driver, PATIENCE, bash, call, pairs, turn, wait_for};

const STDIO: [&str; 3] = ["--permission-prompt", "stdio", "--no-echo"];

/// Returns the next question, and its call.
fn question(run: &Driver) -> (String, Value) {
    loop {
        let record: Value = serde_json::from_str(&run.line()).unwrap();
        if record["type"] == "control_request" {
            assert_eq!(record["request"]["subtype"], "can_use_tool");
            let id = record["request_id"].as_str().unwrap().to_owned();
            return (id, record["request"].clone());
        }
    }
}

/// Returns two concurrent questions, about calls `a` and `b` that do not conflict.
fn two_questions(run: &Driver) -> [String; 2] {
    let (one, request) = question(run);
    let (other, _) = question(run);
    if request["tool_use_id"] == "a" {
        [one, other]
    } else {
        [other, one]
    }
}

fn answer(request_id: &str, response: &Value) -> String {
    let response = json!({"subtype": "success", "request_id": request_id, "response": response});
    format!(
        "{}\n",
        json!({"type": "control_response", "response": response})
    )
}

#[test]
fn the_program_at_the_other_end_decides() {
    let bench = Bench::new();
    let table = [
        (json!({"behavior": "allow"}), "ok", true),
        (
            json!({"behavior": "allow", "updatedInput": {"command": "touch other"}}),
            "ok",
            false,
        ),
        (
            json!({"behavior": "deny", "message": "not now"}),
            "denied",
            false,
        ),
        (json!({"behavior": "perhaps"}), "denied", false),
        (json!(null), "denied", false),
    ];
    for (number, (reply, outcome, made)) in table.into_iter().enumerate() {
        let file = format!("file{number}");
        let mut run = bench.drive(&STDIO);
        run.send(&bash("a", &format!("touch {file}")));
        let (id, request) = question(&run);
        assert_eq!(request["input"]["command"], format!("touch {file}"));
        assert_eq!(request["tool_use_id"], "a");
        // A response with another id is ignored.
        run.send(&answer("other", &json!({"behavior": "allow"})));
        run.send(&answer(&id, &reply));
        let result = run.result("a");
        assert_eq!(result["turnpipe"]["outcome"], outcome, "{reply}: {result}");
        assert_eq!(bench.work().join(&file).exists(), made, "{reply}");
        if outcome == "ok" {
            let by = &result["turnpipe"]["permission"]["decided_by"];
            assert_eq!(*by, json!({"prompt": "stdio"}));
        }
        assert_eq!(run.finish().status, Some(0));
    }
    assert!(
        bench.work().join("other").exists(),
        "a rewritten call runs as rewritten"
    );
}

#[test]
fn a_question_holds_no_slot_and_delays_only_conflicts() {
    let bench = Bench::new();
    let write = |id: &str, file: &str| {
        let path = bench.work().join(file);
        call(id, "Write", &json!({"file_path": path, "content": "x"}))
    };
    let options = ["--schedule", "access", "--max-concurrency", "1"];
    let mut run = bench.drive(&[&STDIO[..], &options].concat());
    run.send(&(write("a", "a") + &write("b", "b") + &write("c", "a")));
    let [first, second] = two_questions(&run);
    run.send(&answer(&second, &json!({"behavior": "allow"})));
    wait_for("the second call", || bench.work().join("b").exists());
    assert!(!bench.work().join("a").exists());
    run.send(&answer(&first, &json!({"behavior": "allow"})));
    assert_eq!(run.result("a")["turnpipe"]["outcome"], "ok");
    assert_eq!(run.result("b")["turnpipe"]["outcome"], "ok");
    // The third one writes the same file as the first one, so its question had to wait for that call.
    let (third, _) = question(&run);
    run.send(&answer(&third, &json!({"behavior": "deny"})));
    assert_eq!(run.result("c")["turnpipe"]["outcome"], "denied");
    assert_eq!(run.finish().status, Some(0));
}

#[test]
fn an_interrupt_ends_a_question() {
    let bench = Bench::new();
    let mut run = bench.drive(&STDIO);
    run.send(&turn("m", &[("a", "touch x"), ("b", "touch y")]));
    question(&run);
    run.signal("INT");
    let end = run.wait();
    assert_eq!(end.status, Some(130), "{end:?}");
    let expected = [("a", "not_run"), ("b", "not_run")];
    assert_eq!(end.outcomes(), pairs(&expected), "{end:?}");
}

#[test]
fn a_question_is_withdrawn_when_a_sibling_fails() {
    let bench = Bench::new();
    let options = ["--schedule", "access", "--on-error", "cancel-all"];
    let mut run = bench.drive(&[&STDIO[..], &options].concat());
    let write = |id: &str| {
        let path = bench.work().join(id);
        call(id, "Write", &json!({"file_path": path, "content": "x"}))
    };
    run.send(&(write("a") + &write("b")));
    let [first, second] = two_questions(&run);
    std::fs::create_dir(bench.work().join("b")).unwrap();
    run.send(&answer(&second, &json!({"behavior": "allow"})));
    assert_eq!(run.result("a")["turnpipe"]["outcome"], "cancelled_sibling");
    assert_eq!(run.result("b")["turnpipe"]["outcome"], "error");
    let withdrawn = loop {
        let record: Value = serde_json::from_str(&run.line()).unwrap();
        if record["type"] == "control_cancel_request" {
            break record;
        }
    };
    assert_eq!(withdrawn["request_id"], first.as_str());
    assert_eq!(run.finish().status, Some(0));
}

#[test]
fn the_end_of_input_is_not_a_response() {
    let bench = Bench::new();
    let run = bench.run(&STDIO, bash("a", "touch x") + &bash("b", "echo read"));
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "denied"), ("b", "ok")]),
        "{run:?}"
    );
    assert_eq!(run.status, Some(0));
}

#[test]
fn the_user_decides_on_the_terminal() {
    let bench = Bench::new();
    let calls =
        bash("a", "touch one\u{1b}[2J") + &bash("b", "touch two") + &bash("c", "touch three");
    bench.write("calls", calls);
    let controller =
        openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap();
    let terminal = std::fs::File::options()
        .read(true)
        .write(true)
        .open(name.to_str().unwrap())
        .unwrap();
    let script =
        "exec \"$0\" run-tools --no-config --permission-prompt tty --no-echo < calls > out 2> err";
    let mut child = std::process::Command::new("setsid")
        .args([
            "--ctty",
            "--wait",
            "bash",
            "-c",
            script,
            env!("CARGO_BIN_EXE_turnpipe"),
        ])
        .current_dir(bench.work())
        // The test keeps the terminal open, or reading it would return its end.
        .stdin(terminal.try_clone().unwrap())
        .spawn()
        .unwrap();
    let mut controller = std::fs::File::from(controller);
    let mut shown = String::new();
    for reply in ["what\n", "y\n", "n\n", "y\n"] {
        // The end of each question.
        let asked = shown.matches("no: ").count();
        while shown.matches("no: ").count() == asked {
            let mut piece = [0; 1000];
            let length = controller.read(&mut piece).unwrap();
            shown += &String::from_utf8_lossy(&piece[..length]);
        }
        controller.write_all(reply.as_bytes()).unwrap();
    }
    let begun = std::time::Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "{shown}");
        std::thread::yield_now();
    }
    let done = |name: &str| bench.work().join(name).exists();
    assert!(
        done("one\u{1b}[2J") && !done("two") && done("three"),
        "{shown}"
    );
    assert!(
        shown.contains("Bash wants to run") && shown.contains("touch two"),
        "{shown}"
    );
    assert!(
        !shown.contains("\u{1b}[2J"),
        "the call must not control the terminal: {shown:?}"
    );
}

#[test]
fn without_a_terminal_nothing_runs() {
    let bench = Bench::new();
    let run = bench.run(&["--permission-prompt", "tty"], bash("a", "echo read"));
    if run.status == Some(2) {
        assert!(run.stderr.contains("tty: no terminal"), "{run:?}");
        assert_eq!(run.stdout, "");
    }
}
