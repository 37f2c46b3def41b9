//! Pipelines of stages: which calls a run executes, and that no call runs twice.

use std::io::Write as _;

use serde_json::json;

use crate::bench::{BYPASS, Bench, Run, bash, pairs, turn};

#[test]
fn a_second_stage_runs_nothing_again() {
    let bench = Bench::new();
    let calls = bench.write(
        "calls",
        turn("m", &[("a", "echo x >> log"), ("b", "echo y >> log")]),
    );
    let run = bench.shell(&format!(
        "turnpipe run-tools --permission-mode bypassPermissions < {0} |
         turnpipe run-tools --permission-mode bypassPermissions |
         turnpipe run-tools --permission-mode bypassPermissions",
        calls.display()
    ));
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(bench.read("log"), "x\ny\n");
    assert_eq!(run.outcomes(), pairs(&[("a", "ok"), ("b", "ok")]));
    assert_eq!(run.count("executor"), 1);
    assert_eq!(run.count("turn_end"), 1);
}

#[test]
fn a_call_with_a_result_in_the_input_does_not_run() {
    let bench = Bench::new();
    let answer = json!({"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "a", "content": "done elsewhere"}]}});
    let input = format!(
        "{}{answer}\n{}",
        bash("a", "touch ran"),
        bash("b", "echo b")
    );
    let from_pipe = bench.run(&BYPASS, input.clone());
    assert_eq!(from_pipe.outcomes(), pairs(&[("b", "ok")]));
    let within_a_pipe = format!(
        "{}{}{answer}\n",
        bash("a", "touch ran"),
        "{\"type\":\"filler\",\"x\":1}\n".repeat(2500)
    );
    // The whole input is in the pipe before the run starts.
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(within_a_pipe.as_bytes()).unwrap();
    drop(writer);
    let run = bench.run_tools(&BYPASS).stdin(reader).output();
    let from_full_pipe = Run::of(&run.unwrap());
    assert!(
        from_full_pipe.outcomes().is_empty(),
        "{:?}",
        from_full_pipe.outcomes()
    );
    let far_away = format!(
        "{}{}{answer}\n",
        bash("a", "touch ran"),
        "{\"type\":\"filler\",\"x\":1}\n".repeat(100_000)
    );
    let file = bench.write("input", far_away);
    let from_file = bench.shell(&format!(
        "turnpipe run-tools --permission-mode bypassPermissions < {}",
        file.display()
    ));
    assert!(
        from_file.outcomes().is_empty(),
        "{:?}",
        from_file.outcomes()
    );
    assert!(!bench.work().join("ran").exists());
}

#[test]
fn calls_of_history_do_not_run() {
    let foreign_stream =
        json!({"type": "system", "subtype": "init", "session_id": "s", "tools": []});
    let transcript = json!({"type": "assistant", "parentUuid": null, "uuid": "u", "sessionId": "s",
        "message": {"id": "m", "role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "touch ran"}}]}});
    let codex = json!({"type": "thread.started", "thread_id": "t"});
    let qwen = json!({"type": "system", "subtype": "session_start", "session_id": "s"});
    let gemini = json!({"type": "init", "timestamp": "t", "session_id": "s", "model": "m"});
    for opening in [foreign_stream, transcript, codex, qwen, gemini] {
        let bench = Bench::new();
        let input = format!("{opening}\n{}", turn("m", &[("a", "touch ran")]));
        let run = bench.run(&BYPASS, input.clone());
        assert_eq!(run.stdout, input);
        assert_eq!(run.status, Some(0));
        assert!(
            run.stderr.contains("hint: `--plan` shows them"),
            "{}",
            run.stderr
        );
        assert!(!bench.work().join("ran").exists());

        let planned = bench.run(&["--plan"], input.clone());
        assert_eq!(planned.count("plan"), 1, "{planned:?}");
        assert!(!bench.work().join("ran").exists());

        let insisted = bench.run(&[&BYPASS[..], &["--execute"]].concat(), input);
        assert_eq!(insisted.outcomes(), pairs(&[("a", "ok")]));
        assert!(bench.work().join("ran").exists());
    }
}

#[test]
fn our_own_stream_runs() {
    let bench = Bench::new();
    let opening =
        json!({"type": "system", "subtype": "init", "session_id": "s", "turnpipe": {"v": 1}});
    let run = bench.run(
        &BYPASS,
        format!("{opening}\n{}", turn("m", &[("a", "echo a")])),
    );
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]));
    assert_eq!(run.result("a")["session_id"], "s");
}

#[test]
fn partial_events_and_whole_records_run_each_call_once() {
    let bench = Bench::new();
    let event = |event: serde_json::Value| {
        format!(
            "{}\n",
            json!({"type": "stream_event", "event": event, "session_id": "s"})
        )
    };
    let mut input = String::new();
    input += &event(
        json!({"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}),
    );
    for (index, id) in ["a", "b"].iter().enumerate() {
        input += &event(json!({"type": "content_block_start", "index": index,
            "content_block": {"type": "tool_use", "id": id, "name": "Bash", "input": {}}}));
        for piece in ["{\"comm", "and\":\"echo ", id, " >> log\"}"] {
            input += &event(json!({"type": "content_block_delta", "index": index,
                "delta": {"type": "input_json_delta", "partial_json": piece}}));
        }
        input += &event(json!({"type": "content_block_stop", "index": index}));
        let whole = json!({"type": "assistant", "message": {"id": "m", "role": "assistant",
            "content": [{"type": "tool_use", "id": id, "name": "Bash",
                "input": {"command": format!("echo {id} >> log")}}], "stop_reason": null}});
        input += &whole.to_string();
        input.push('\n');
    }
    input += &event(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    input += &event(json!({"type": "message_stop"}));
    let run = bench.run(&BYPASS, input);
    assert_eq!(run.outcomes(), pairs(&[("a", "ok"), ("b", "ok")]));
    assert_eq!(bench.read("log"), "a\nb\n");
    assert_eq!(run.stderr, "");
}

#[test]
fn the_same_call_again_is_echoed() {
    let bench = Bench::new();
    let input = [
        bash("a", "echo 1 >> log"),
        bash("a", "echo 1 >> log"),
        bash("a", "echo 2 >> log"),
    ]
    .concat();
    let run = bench.run(&BYPASS, input);
    assert_eq!(run.outcomes(), pairs(&[("a", "ok"), ("a", "ok")]));
    assert_eq!(bench.read("log"), "1\n2\n");
}

#[test]
fn cut_off_calls_never_run() {
    let bench = Bench::new();
    let cut = json!({"type": "assistant", "message": {"id": "m", "role": "assistant",
        "stop_reason": "max_tokens", "content": [
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "echo a"}},
            {"type": "tool_use", "id": "b", "name": "Bash", "input": {}}]}});
    let run = bench.run(&BYPASS, format!("{cut}\n"));
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "invalid_input")])
    );
    assert!(
        run.content("b").contains("max_tokens"),
        "{}",
        run.content("b")
    );

    let torn = "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"Bash\",\"input\":{\"command\":\"touch ran\"}}";
    let run = bench.run(&BYPASS, torn);
    assert!(run.outcomes().is_empty(), "{run:?}");
    assert_eq!(run.stdout, torn);
    assert!(!bench.work().join("ran").exists());
}

#[test]
fn calls_without_results_of_a_crashed_run_are_reported_not_rerun() {
    let bench = Bench::new();
    let executor = json!({"type": "system", "subtype": "executor", "turnpipe": {"v": 1}});
    let input = format!("{executor}\n{}", turn("m", &[("a", "touch ran")]));
    let run = bench.run(&BYPASS, input.clone());
    assert_eq!(run.stdout, input);
    assert!(
        run.stderr.contains("1 call has no result"),
        "{}",
        run.stderr
    );
    let insisted = bench.run(&[&BYPASS[..], &["--execute"]].concat(), input);
    assert_eq!(insisted.outcomes(), pairs(&[("a", "ok")]));
}

#[test]
fn subagent_traffic_passes_through() {
    let bench = Bench::new();
    let record = json!({"type": "assistant", "parent_tool_use_id": "toolu_parent", "message": {
        "id": "m", "role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "touch ran"}}]}});
    let input = format!("{record}\n");
    let run = bench.run(&BYPASS, input.clone());
    assert_eq!(run.stdout, input);
    assert!(!bench.work().join("ran").exists());
}

#[test]
fn the_executor_record_comes_before_the_first_line_with_a_call() {
    let bench = Bench::new();
    let text = "{\"type\":\"filler\",\"x\": 1}\n";
    let run = bench.run(
        &BYPASS,
        format!("{text}{}{text}", turn("m", &[("a", "true")])),
    );
    let kinds: Vec<_> = run
        .records()
        .iter()
        .map(|record| {
            record["subtype"]
                .as_str()
                .or(record["type"].as_str())
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    let position = |kind: &str| kinds.iter().position(|found| found == kind).unwrap();
    assert_eq!(kinds[0], "filler");
    assert_eq!(position("executor") + 1, position("assistant"));
}

#[test]
fn every_dialect_runs() {
    let openai = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "run_shell_command", "arguments": "{\"command\":\"echo a\"}"}}]});
    let gemini = json!({"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"id": "a", "name": "run_shell_command", "args": {"command": "echo a"}}}]}, "finishReason": "STOP"}]});
    let codex = json!({"type": "tool_use", "id": "a", "name": "shell", "input": {"command": ["echo", "a"]}});
    let ollama = json!({"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [
        {"id": "a", "function": {"name": "Bash", "arguments": {"command": "echo a"}}}]}, "done": true, "done_reason": "stop"});
    let responses = json!({"id": "r", "object": "response", "status": "completed", "output": [
        {"type": "function_call", "call_id": "a", "name": "Bash", "arguments": "{\"command\":\"echo a\"}"}]});
    for record in [openai, gemini, codex, ollama, responses] {
        let bench = Bench::new();
        let run = bench.run(&BYPASS, format!("{record}\n"));
        assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
        assert_eq!(run.content("a"), "a", "{record}");
    }
}

#[test]
fn state_is_kept_between_processes_of_a_session() {
    let bench = Bench::new();
    bench.write("sub/file", "text\n");
    let arguments = [&BYPASS[..], &["--session-id", "s"]].concat();
    // Only its effects matter.
    let _ = bench.run(&arguments, bash("a", "cd sub"));
    let run = bench.run(&arguments, bash("b", "cat file"));
    assert_eq!(run.content("b"), "text");
    let elsewhere = bench.run(&BYPASS, bash("c", "cat file"));
    assert_eq!(elsewhere.outcomes(), pairs(&[("c", "error")]));
    let state = std::fs::metadata(bench.session_state("s")).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&state) & 0o777, 0o700);
}

#[test]
fn a_given_directory_overrides_the_stored_one() {
    let bench = Bench::new();
    bench.write("sub/file", "stored\n");
    bench.write("other/file", "named\n");
    let arguments = [&BYPASS[..], &["--session-id", "s"]].concat();
    // Only its effects matter.
    let _ = bench.run(&arguments, bash("a", "cd sub"));
    let named = [&arguments[..], &["--cwd", "other"]].concat();
    assert_eq!(
        bench.run(&named, bash("b", "cat file")).content("b"),
        "named"
    );
}

#[test]
fn a_relative_state_directory_gives_absolute_paths() {
    let bench = Bench::new();
    let arguments = [&BYPASS[..], &["--state-dir", "state", "--session-id", "s"]].concat();
    let run = bench.run(&arguments, bash("a", "seq 1 20000"));
    let path = run.result("a")["turnpipe"]["persisted"]["path"].clone();
    let path = std::path::Path::new(path.as_str().unwrap());
    assert!(path.is_absolute() && path.exists(), "{}", path.display());
}

#[test]
fn damaged_state_is_reported_once_and_replaced() {
    let bench = Bench::new();
    bench.write("sub/file", "text\n");
    let arguments = [&BYPASS[..], &["--session-id", "s"]].concat();
    // Only its effects matter.
    let _ = bench.run(&arguments, bash("a", "cd sub"));
    std::fs::write(bench.session_state("s").join("state.json"), "{").unwrap();
    let run = bench.run(&arguments, bash("b", "true"));
    assert!(
        run.stderr.contains("unreadable state, set aside"),
        "{}",
        run.stderr
    );
    let run = bench.run(&arguments, bash("c", "true"));
    assert_eq!(run.stderr, "");
}

#[test]
fn a_session_with_a_running_call_is_not_cleaned() {
    let bench = Bench::new();
    bench.write("sub/file", "text\n");
    let arguments = [&BYPASS[..], &["--session-id", "s"]].concat();
    // Only its effects matter.
    let _ = bench.run(&arguments, bash("a", "cd sub"));
    let mut driver = bench.start_driver(&arguments);
    driver.send(&bash("b", "cd .."));
    // Only its effects matter.
    let _ = driver.result("b");
    let clean = "turnpipe state clean --older-than 0s";
    assert_eq!(bench.shell(clean).records()[0]["sessions"], 0);
    assert_eq!(driver.finish().status, Some(0));
    let cleaned = bench.shell(clean);
    assert_eq!(cleaned.records()[0]["sessions"], 1, "{cleaned:?}");
}

#[test]
fn a_session_without_a_name_warns_about_lost_state() {
    let bench = Bench::new();
    bench.write("sub/file", "text\n");
    let run = bench.run(&BYPASS, bash("a", "cd sub"));
    assert!(
        run.stderr
            .contains("hint: `--session-id ID` gives the session an id"),
        "{}",
        run.stderr
    );
    let run = bench.run(&BYPASS, bash("a", "true"));
    assert_eq!(run.stderr, "");
}
