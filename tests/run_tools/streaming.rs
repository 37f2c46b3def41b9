//! Calls run while their stream is still being produced.

use serde_json::json;

use crate::bench::{BYPASS, Bench, bash, call, pairs, turn};
use crate::skip::is_full_run;

#[test]
fn a_driver_that_keeps_its_end_open_gets_each_result() {
    let bench = Bench::new();
    let mut driver = bench.start_driver(&BYPASS);
    for round in 0..3 {
        let id = format!("call{round}");
        driver.send(&bash(&id, &format!("echo {round}")));
        let result = driver.result(&id);
        assert_eq!(
            result["message"]["content"][0]["content"],
            round.to_string()
        );
    }
    let run = driver.finish();
    assert_eq!(run.status, Some(0), "{run:?}");
}

#[test]
fn a_call_starts_before_the_next_line_arrives() {
    let bench = Bench::new();
    let mut driver = bench.start_driver(&BYPASS);
    driver.send(&turn("m", &[("a", "echo first > started")]));
    crate::bench::wait_for("the call to run", || bench.work().join("started").exists());
    driver.send(&turn("n", &[("b", "cat started")]));
    // Only its effects matter.
    let _ = driver.result("a");
    assert_eq!(
        driver.result("b")["message"]["content"][0]["content"],
        "first"
    );
    let run = driver.finish();
    assert_eq!(run.status, Some(0));
}

#[test]
fn a_line_is_echoed_at_once() {
    let bench = Bench::new();
    let mut driver = bench.start_driver(&[]);
    driver.send("{\"type\":\"filler\",\"n\":1}\n");
    assert_eq!(driver.line(), "{\"type\":\"filler\",\"n\":1}");
    driver.send("{\"type\":\"filler\",\"n\":2}\n{\"type\":\"filler\"");
    assert_eq!(driver.line(), "{\"type\":\"filler\",\"n\":2}");
    driver.send(",\"n\":3}\n");
    assert_eq!(driver.line(), "{\"type\":\"filler\",\"n\":3}");
    let run = driver.finish();
    assert_eq!(run.status, Some(0));
}

#[test]
fn a_streamed_call_waits_until_it_is_certainly_complete() {
    let bench = Bench::new();
    let mut driver = bench.start_driver(&BYPASS);
    let event = |event: serde_json::Value| format!("{event}\n");
    driver.send(&event(json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}})));
    driver.send(&event(json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "tool_use", "id": "a", "name": "Bash", "input": {}}})));
    driver.send(&event(json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": "{\"command\":\"echo a\"}"}})));
    driver.send(&event(json!({"type": "content_block_stop", "index": 0})));
    let filler = "{\"type\":\"filler\"}";
    driver.send(&format!("{filler}\n"));
    // All lines so far were copied, without an executor record: nothing was started.
    let mut lines = Vec::new();
    loop {
        lines.push(driver.line());
        if lines.last().is_some_and(|line| line == filler) {
            break;
        }
    }
    assert_eq!(lines.len(), 5, "{lines:?}");
    driver.send(&event(json!({"type": "content_block_start", "index": 1,
        "content_block": {"type": "text", "text": ""}})));
    assert_eq!(driver.result("a")["message"]["content"][0]["content"], "a");
    let run = driver.finish();
    assert_eq!(run.status, Some(0));
}

#[test]
fn results_come_in_call_order_and_before_the_result_record() {
    let bench = Bench::new();
    let manifest = bench.write("tools.toml", MANIFEST);
    let end = "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false}\n";
    let input = format!(
        "{}{}{end}",
        call("slow", "Wait", &json!({"gate": "gate"})),
        call("fast", "Open", &json!({"gate": "gate"}))
    );
    let run = bench.run(
        &["--enforce=off", "--tools", manifest.to_str().unwrap()],
        input,
    );
    assert_eq!(
        run.outcomes(),
        pairs(&[("slow", "ok"), ("fast", "ok")]),
        "{run:?}"
    );
    let records = run.records();
    assert_eq!(records.last().unwrap()["type"], "result");
    assert_eq!(records[records.len() - 2]["subtype"], "turn_end");
    assert_eq!(
        records[records.len() - 2]["tool_use_ids"],
        json!(["slow", "fast"])
    );
}

/// `Wait` ends when `Open` has run, so both end only in parallel. `Open` writes although it is declared as read-only,
/// so the kernel must not enforce that.
const MANIFEST: &str = r#"
[[tool]]
name = "Wait"
description = "Waits until a file exists."
input_schema = { type = "object", properties = { gate = { type = "string" } }, required = ["gate"] }
command = ["sh", "-c", "until [ -e \"$1\" ]; do sleep 0.01; done", "wait", "{gate}"]
access = "read-only"

[[tool]]
name = "Open"
description = "Creates a file."
input_schema = { type = "object", properties = { gate = { type = "string" } }, required = ["gate"] }
command = ["touch", "{gate}"]
access = "read-only"
"#;

#[test]
fn calls_that_only_read_run_in_parallel() {
    let bench = Bench::new();
    let manifest = bench.write("tools.toml", MANIFEST);
    let mut input = String::new();
    for index in 0..9 {
        input += &call(&format!("wait{index}"), "Wait", &json!({"gate": "gate"}));
    }
    input += &call("open", "Open", &json!({"gate": "gate"}));
    let run = bench.run(
        &["--enforce=off", "--tools", manifest.to_str().unwrap()],
        input,
    );
    assert_eq!(run.outcomes().len(), 10);
    assert!(
        run.outcomes().iter().all(|(_, outcome)| outcome == "ok"),
        "{run:?}"
    );
    assert_eq!(run.result("open")["turnpipe"]["lane"], "parallel");
    assert_eq!(run.result("open")["turnpipe"]["batch"], 0);
}

#[test]
fn the_cap_is_respected() {
    let bench = Bench::new();
    let manifest = bench.write(
        "tools.toml",
        r#"
[[tool]]
name = "Count"
description = "Counts how many of it run."
input_schema = { type = "object" }
command = ["sh", "-c", "mkdir running.$$; ls -d running.* | wc -l; sleep 0.05; rmdir running.$$"]
access = "read-only"
"#,
    );
    let calls: String = (0..12)
        .map(|n| call(&format!("c{n}"), "Count", &json!({})))
        .collect();
    let arguments = [
        "--tools",
        manifest.to_str().unwrap(),
        "--max-concurrency",
        "3",
        // The tool leaves marks for its siblings.
        "--enforce=off",
    ];
    let run = bench.run(&arguments, calls);
    for index in 0..12 {
        let running: usize = run.content(&format!("c{index}")).trim().parse().unwrap();
        assert!(running <= 3, "{running} ran at once");
    }
}

/// A slow first call delays the results of all others, whose memory must stay bounded.
#[test]
fn memory_is_bounded_while_results_wait_for_their_turn() {
    let bench = Bench::new();
    let manifest = bench.write("tools.toml", MANIFEST);
    // Long lines, so that numbering them costs little.
    let line = "text that is read a thousand times ".repeat(50);
    let file = bench.write("file", format!("{line}\n").repeat(38));
    let mut driver = bench.start_driver(&["--tools", manifest.to_str().unwrap()]);
    let mut input = call("slow", "Wait", &json!({"gate": "gate"}));
    for index in 0..450 {
        input += &call(&format!("read{index}"), "Read", &json!({"file_path": file}));
    }
    driver.send(&input);
    // Excludes the mapped binary, whose size depends on the build.
    let status = format!("/proc/{}/status", driver.child.id());
    let memory = || -> u64 {
        let status = std::fs::read_to_string(&status).unwrap();
        let line = status.lines().find(|line| line.starts_with("RssAnon"));
        let number = line.unwrap().split_whitespace().nth(1).unwrap();
        number.parse().unwrap()
    };
    // When the memory does not grow, no more calls can start.
    let mut peak = (0, 0);
    crate::bench::wait_for("results to wait", || {
        let now = memory();
        peak = if now > peak.0 {
            (now, 0)
        } else {
            (peak.0, peak.1 + 1)
        };
        now > 8 * 1024 && peak.1 > 100
    });
    assert!(peak.0 < 40 * 1024, "{} KiB", peak.0);
    bench.write("gate", "");
    assert_eq!(driver.result("slow")["turnpipe"]["outcome"], "ok");
    assert_eq!(driver.result("read449")["turnpipe"]["outcome"], "ok");
    let run = driver.finish();
    assert_eq!(run.status, Some(0));
}

#[test]
fn text_of_many_calls_uses_little_memory() {
    let bench = Bench::new();
    let file = bench.write("file", "text\n");
    let mut input = String::new();
    let (count, megabytes) = if is_full_run() {
        (10_000, 64)
    } else {
        (2_000, 16)
    };
    for index in 0..count {
        input += &call(&format!("read{index}"), "Read", &json!({"file_path": file}));
    }
    let (stdin, page) = (bench.write("input", input), bench.work().join("page"));
    let mut command = bench.run_tools(&["-o", "text"]);
    command.stdin(std::fs::File::open(stdin).unwrap());
    let mut child = command
        .stdout(std::fs::File::create(&page).unwrap())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    crate::bench::wait_for("the run to end", || {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        peak = peak.max(number.map_or(0, |number| number.parse::<u64>().unwrap()));
        child.try_wait().unwrap().is_some()
    });
    assert!((1..megabytes * 1024).contains(&peak), "{peak} KiB");
    let page = std::fs::read_to_string(page).unwrap();
    let end = format!("{count} calls: {count} ok\n");
    assert!(page.ends_with(&end), "{}", page.len());
}
