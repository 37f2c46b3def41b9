//! Hooks around calls: programs and servers of the user.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::bench::{BYPASS, Bench, Driver, Run, bash, call, pairs, turn, wait_for};

/// Writes settings with one hook of an event, for every tool.
fn settings(bench: &Bench, event: &str, command: &str) -> PathBuf {
    let hooks = json!({event: [{"hooks": [{"type": "command", "command": command}]}]});
    write_settings(bench, &hooks)
}

fn write_settings(bench: &Bench, hooks: &Value) -> PathBuf {
    bench.write("settings.json", json!({ "hooks": hooks }).to_string())
}

/// Runs calls with a settings file. Calls that hooks and rules do not forbid are allowed.
fn run(bench: &Bench, settings: &Path, further: &[&str], calls: String) -> Run {
    let settings = ["--settings", settings.to_str().unwrap()];
    bench.run(&[&BYPASS[..], &settings, further].concat(), calls)
}

/// Returns a hook that prints a response.
fn hook_printing(event: &str, members: &Value) -> String {
    let mut output = members.clone();
    output["hookEventName"] = event.into();
    format!("echo '{}'", json!({ "hookSpecificOutput": output }))
}

#[test]
fn a_hook_reads_the_call_and_its_status_decides() {
    let bench = Bench::new();
    let script = "cat > input.json; grep -q 'rm -rf' input.json && { echo 'no rm -rf here' >&2; exit 2; }; exit 0";
    let file = settings(&bench, "PreToolUse", script);
    bench.write("kept/file", "x");
    let calls = bash("a", "rm -rf kept") + &bash("b", "touch made");
    let run = run(&bench, &file, &[], calls);
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "hook_blocked"), ("b", "ok")]),
        "{run:?}"
    );
    assert!(run.content("a").contains("no rm -rf here"), "{run:?}");
    assert!(bench.work().join("kept/file").exists() && bench.work().join("made").exists());
    let report = &run.result("a")["turnpipe"]["hooks"][0];
    assert_eq!(report["event"], "PreToolUse");
    assert_eq!(report["exit_status"], 2);
    assert_eq!(report["decision"], "deny");
    let input: Value = serde_json::from_str(&bench.read("input.json")).unwrap();
    assert_eq!(input["hook_event_name"], "PreToolUse");
    assert_eq!(input["tool_name"], "Bash");
    assert_eq!(input["tool_input"]["command"], "touch made");
    assert_eq!(input["tool_use_id"], "b");
    assert_eq!(input["permission_mode"], "bypassPermissions");
    assert_eq!(
        input["cwd"],
        bench.work().canonicalize().unwrap().to_str().unwrap()
    );
}

#[test]
fn a_changed_call_is_checked_again() {
    let bench = Bench::new();
    let rewrite = hook_printing(
        "PreToolUse",
        &json!({"updatedInput": {"command": "touch other"}}),
    );
    let file = settings(&bench, "PreToolUse", &rewrite);
    let done = run(&bench, &file, &[], bash("a", "touch asked"));
    assert_eq!(done.outcomes(), pairs(&[("a", "ok")]), "{done:?}");
    assert!(bench.work().join("other").exists() && !bench.work().join("asked").exists());

    let denied = run(
        &bench,
        &file,
        &["--deny", "Bash(touch other)"],
        bash("a", "ls"),
    );
    assert_eq!(denied.outcomes(), pairs(&[("a", "denied")]), "{denied:?}");

    let nonsense = hook_printing("PreToolUse", &json!({"updatedInput": {"commands": 1}}));
    let file = settings(&bench, "PreToolUse", &nonsense);
    let refused = run(&bench, &file, &[], bash("a", "ls"));
    assert_eq!(
        refused.outcomes(),
        pairs(&[("a", "invalid_input")]),
        "{refused:?}"
    );

    // The call that was read-only is no longer confined, and the one that wrote is.
    let reads = hook_printing("PreToolUse", &json!({"updatedInput": {"command": "ls"}}));
    let file = settings(&bench, "PreToolUse", &reads);
    let confined = bench.run(
        &["--settings", file.to_str().unwrap()],
        bash("a", "touch x"),
    );
    assert_eq!(confined.outcomes(), pairs(&[("a", "ok")]), "{confined:?}");
    assert_eq!(confined.result("a")["turnpipe"]["lane"], "parallel");
}

#[test]
fn hooks_and_rules_decide_together() {
    let bench = Bench::new();
    let table = [
        ("allow", "", "ok"),
        ("allow", "--deny", "denied"),
        ("allow", "--ask", "denied"),
        ("ask", "--allow", "denied"),
        ("deny", "--allow", "hook_blocked"),
        ("deny", "--deny", "hook_blocked"),
    ];
    for (decision, flag, outcome) in table {
        let answer =
            json!({"permissionDecision": decision, "permissionDecisionReason": "so it is"});
        let file = settings(&bench, "PreToolUse", &hook_printing("PreToolUse", &answer));
        let mut arguments = vec!["--settings", file.to_str().unwrap()];
        if !flag.is_empty() {
            arguments.extend([flag, "Bash"]);
        }
        let run = bench.run(&arguments, bash("a", "touch made"));
        assert_eq!(
            run.outcomes(),
            pairs(&[("a", outcome)]),
            "{decision} {flag}: {run:?}"
        );
        assert_eq!(bench.work().join("made").exists(), outcome == "ok");
        // It may not exist.
        let _ = std::fs::remove_file(bench.work().join("made"));
    }
    let answer = json!({"permissionDecision": "deny", "permissionDecisionReason": "so it is"});
    let file = settings(&bench, "PreToolUse", &hook_printing("PreToolUse", &answer));
    let blocked = run(&bench, &file, &[], bash("a", "ls"));
    assert_eq!(
        blocked.outcomes(),
        pairs(&[("a", "hook_blocked")]),
        "a hook beats the mode"
    );
    assert!(blocked.content("a").contains("so it is"));
}

#[test]
fn hooks_see_results_and_may_change_them() {
    let Some(bench) = Bench::with_program("jq") else {
        return;
    };
    let masking = "jq -c '{hookSpecificOutput: {hookEventName: .hook_event_name, updatedToolOutput: (.tool_response | .stdout |= gsub(\"secret\"; \"***\")), additionalContext: \"masked\"}}'";
    let hooks = json!({
        "PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": masking}]}],
        "PostToolUseFailure": [{"hooks": [{"type": "command", "command": "cat >> failed.json"}]}],
    });
    let file = write_settings(&bench, &hooks);
    let calls = bash("a", "echo a secret word")
        + &bash("b", "echo oops >&2; exit 3")
        + &call("c", "Read", &json!({"file_path": "nowhere"}));
    let run = run(&bench, &file, &["--on-error", "continue"], calls);
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "error"), ("c", "error")]),
        "{run:?}"
    );
    let content = run.content("a");
    assert!(
        content.starts_with("a *** word\n\n<") && content.contains("masked"),
        "{content}"
    );
    assert_eq!(run.result("a")["tool_use_result"]["stdout"], "a *** word");
    let mut failed: Vec<Value> = serde_json::Deserializer::from_str(&bench.read("failed.json"))
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(failed.len(), 2);
    failed.sort_by_key(|input| input["tool_use_id"].to_string());
    assert!(
        failed[0]["error"]
            .as_str()
            .unwrap()
            .starts_with("Exit code 3"),
        "{failed:?}"
    );
    assert_eq!(failed[0]["hook_event_name"], "PostToolUseFailure");
    assert_eq!(failed[1]["tool_name"], "Read");
}

#[test]
fn invalid_calls_fire_no_hook() {
    let bench = Bench::new();
    let file = settings(&bench, "PreToolUse", "echo x >> fired");
    let calls = call("a", "Bash", &json!({"commandx": "ls"})) + &call("b", "Nothing", &json!({}));
    let run = run(&bench, &file, &[], calls);
    let expected = [("a", "invalid_input"), ("b", "unknown_tool")];
    assert_eq!(run.outcomes(), pairs(&expected), "{run:?}");
    assert!(!bench.work().join("fired").exists());
}

#[test]
fn a_failing_hook_does_not_block_calls() {
    let bench = Bench::new();
    bench.write("plain", "#!/bin/sh\n");
    for command in [
        "exit 1",
        "./plain",
        "no-such-program",
        "kill -9 $$",
        "echo '{'",
        "echo '[1]'",
    ] {
        let file = settings(&bench, "PreToolUse", command);
        let open = run(&bench, &file, &[], bash("a", "echo done"));
        assert_eq!(
            open.outcomes(),
            pairs(&[("a", "ok")]),
            "{command}: {open:?}"
        );
        let blocking = json!({"PreToolUse": [{"hooks": [
            {"type": "command", "command": command, "onFailure": "block"}]}]});
        let file = write_settings(&bench, &blocking);
        let closed = run(&bench, &file, &[], bash("a", "echo done"));
        let expected = if command.contains("[1]") {
            "ok"
        } else {
            "hook_blocked"
        };
        assert_eq!(
            closed.outcomes(),
            pairs(&[("a", expected)]),
            "{command}: {closed:?}"
        );
    }
}

#[test]
fn a_hook_that_hangs_is_ended_with_its_children() {
    let bench = Bench::new();
    let hooks = json!({"PreToolUse": [{"hooks": [
        {"type": "command", "command": "sleep 613 & echo $! > child; wait", "timeout": 0.2}]}]});
    let file = write_settings(&bench, &hooks);
    let run = run(&bench, &file, &[], bash("a", "echo done"));
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
    assert!(run.stderr.contains("timed out after 0.2 s"), "{run:?}");
    let child = bench.read("child");
    wait_for("the end of the child", || {
        !PathBuf::from(format!("/proc/{}", child.trim())).exists()
    });
}

#[test]
fn hooks_run_in_parallel_and_merge_in_the_order_of_the_configuration() {
    let bench = Bench::new();
    // Each hook waits for the other.
    let meeting = |own: &str, other: &str| {
        let answer =
            json!({"hookSpecificOutput": {"updatedInput": {"command": format!("touch by-{own}")}}});
        format!("touch {own}; while [ ! -e {other} ]; do sleep 0.01; done; echo '{answer}'")
    };
    let hooks = json!({"PreToolUse": [{"hooks": [
        {"type": "command", "command": meeting("one", "two"), "timeout": 30},
        {"type": "command", "command": meeting("two", "one"), "timeout": 30}]}]});
    let file = write_settings(&bench, &hooks);
    let run = run(&bench, &file, &[], bash("a", "touch asked"));
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
    assert!(bench.work().join("by-two").exists() && !bench.work().join("by-one").exists());
    assert!(
        run.stderr.contains("2 hooks changed the same call"),
        "{run:?}"
    );
}

#[test]
fn a_hook_delays_only_conflicting_calls() {
    let bench = Bench::new();
    // The hook of the first call waits for the second call.
    let waiting = "if grep -q first; then while [ ! -e second ]; do sleep 0.01; done; fi";
    let file = settings(&bench, "PreToolUse", waiting);
    let write = |id: &str, name: &str| {
        let path = bench.work().join(name);
        call(id, "Write", &json!({"file_path": path, "content": "x"}))
    };
    let (file, calls) = (
        file.to_str().unwrap(),
        write("a", "first") + &write("b", "second"),
    );
    let options = ["--schedule", "access", "--max-concurrency", "1"];
    let further = ["--settings", file, "--trace", "trace.json"];
    let mut command = bench.run_tools(&[&BYPASS[..], &options, &further].concat());
    // The trace requires a running clock.
    command.env_remove("TURNPIPE_CLOCK");
    let mut driver = Driver::start(command);
    driver.send(&calls);
    let run = driver.finish();
    let trace: Vec<Value> = serde_json::from_str(&bench.read("trace.json")).unwrap();
    let time = |name: &str, phase: &str, id: &str| {
        let is_it = |event: &&Value| {
            event["name"] == name && event["ph"] == phase && event["args"]["tool_use_id"] == id
        };
        trace.iter().find(is_it).unwrap()["ts"].as_f64().unwrap()
    };
    // The second call started and ended while hooks of the first one were running.
    let second = trace
        .iter()
        .find(|event| event["cat"] == "call" && event["args"]["tool_use_id"] == "b");
    let begun = second.unwrap()["ts"].as_f64().unwrap();
    assert!(time("asked", "b", "a") < begun, "{trace:#?}");
    assert!(begun < time("asked", "e", "a"), "{trace:#?}");
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "ok")]),
        "{run:?}"
    );
}

#[test]
fn a_hook_can_end_the_session_after_a_call() {
    let bench = Bench::new();
    let file = settings(
        &bench,
        "PostToolUse",
        r#"echo '{"continue": false, "stopReason": "enough for today"}'"#,
    );
    let run = run(&bench, &file, &[], turn("m", &[("a", "touch made")]));
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
    assert!(bench.work().join("made").exists());
    assert_eq!(run.count("hook_stopped_continuation"), 1, "{run:?}");
    let records = run.records();
    let stop = records
        .iter()
        .find(|record| record["subtype"] == "hook_stopped_continuation")
        .unwrap();
    assert_eq!(stop["content"], "enough for today");
    assert_eq!(stop["tool_use_id"], "a");
}

#[test]
fn a_request_for_permission_can_be_answered_by_a_hook() {
    let bench = Bench::new();
    let allowing = r#"if grep -q good; then echo '{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}'; fi"#;
    let file = settings(&bench, "PermissionRequest", allowing);
    let run = bench.run(
        &["--settings", file.to_str().unwrap()],
        bash("a", "touch good") + &bash("b", "touch other") + &bash("c", "ls"),
    );
    assert_eq!(
        run.outcomes(),
        pairs(&[("a", "ok"), ("b", "denied"), ("c", "ok")]),
        "{run:?}"
    );
    assert_eq!(
        run.result("a")["turnpipe"]["permission"]["decided_by"],
        json!({"hook": "PermissionRequest"})
    );
    assert!(
        run.result("c")["turnpipe"]["hooks"].is_null(),
        "no prompt was needed"
    );
}

#[test]
fn a_server_can_be_a_hook() {
    let bench = Bench::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let answers = [
        (
            "200 OK",
            r#"{"decision": "block", "reason": "not by me"}"#,
            "hook_blocked",
        ),
        ("200 OK", "", "ok"),
        ("200 OK", "no JSON", "ok"),
        (
            "500 Internal Server Error",
            r#"{"decision": "block"}"#,
            "ok",
        ),
    ];
    let thread = std::thread::spawn(move || {
        for (status, body, _) in answers {
            let (mut stream, _) = server.accept().unwrap();
            let mut request = String::new();
            while !request.contains("\"tool_use_id\"") || !request.ends_with('}') {
                let mut piece = [0; 4096];
                let length = stream.read(&mut piece).unwrap();
                request += &String::from_utf8_lossy(&piece[..length]);
            }
            assert!(request.contains("x-token: Bearer abc\r\n"), "{request}");
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
            .unwrap();
        }
    });
    let hooks = json!({"PreToolUse": [{"hooks": [{
        "type": "http", "url": format!("http://{address}/hook"), "timeout": 20,
        "headers": {"X-Token": "Bearer ${HOOK_TOKEN}$PATH"}, "allowedEnvVars": ["HOOK_TOKEN"],
    }]}]});
    let settings = json!({"hooks": hooks, "env": {"HOOK_TOKEN": "abc"}});
    let file = bench.write("settings.json", settings.to_string());
    for (_, _, outcome) in answers {
        let run = run(&bench, &file, &[], bash("a", "echo done"));
        assert_eq!(run.outcomes(), pairs(&[("a", outcome)]), "{run:?}");
    }
    thread.join().unwrap();
}

#[test]
fn an_interrupt_ends_a_hook_and_its_call() {
    let bench = Bench::new();
    let file = settings(&bench, "PreToolUse", "touch begun; sleep 617");
    let mut driver = bench.start_driver(&["--settings", file.to_str().unwrap()]);
    driver.send(&turn("m", &[("a", "ls")]));
    wait_for("the hook", || bench.work().join("begun").exists());
    driver.signal("INT");
    let run = driver.wait();
    assert_eq!(run.status, Some(130), "{run:?}");
    assert_eq!(run.outcomes(), pairs(&[("a", "not_run")]), "{run:?}");
}

#[test]
fn an_interrupt_does_not_wait_for_a_server() {
    let bench = Bench::new();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", server.local_addr().unwrap());
    let hooks = json!({"PreToolUse": [{"hooks": [{"type": "http", "url": url, "timeout": 620}]}]});
    let file = write_settings(&bench, &hooks);
    let mut driver = bench.start_driver(&["--settings", file.to_str().unwrap()]);
    driver.send(&turn("m", &[("a", "ls")]));
    // The server never answers.
    let _asked = server.accept().unwrap();
    driver.signal("INT");
    let run = driver.wait();
    assert_eq!(run.status, Some(130), "{run:?}");
    assert_eq!(run.outcomes(), pairs(&[("a", "not_run")]), "{run:?}");
}

#[test]
fn hooks_in_the_background_are_not_awaited() {
    let bench = Bench::new();
    let hooks = json!({"PreToolUse": [{"hooks": [
        {"type": "command", "command": "touch begun; sleep 619; exit 2", "async": true}]}]});
    let file = write_settings(&bench, &hooks);
    let run = run(
        &bench,
        &file,
        &[],
        bash("a", "while [ ! -e begun ]; do sleep 0.01; done"),
    );
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
}

#[test]
fn malformed_hooks_run_nothing() {
    let bench = Bench::new();
    let table = [
        json!({"PreToolUse": {}}),
        json!({"PreToolUse": [{"matcher": "("," hooks": []}]}),
        json!({"PreToolUse": [{"hooks": [{"type": "command"}]}]}),
        json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timeout": -1}]}]}),
        json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "if": "Bash("}]}]}),
    ];
    for hooks in table {
        let file = write_settings(&bench, &hooks);
        let run = run(&bench, &file, &[], bash("a", "touch made"));
        assert_eq!(run.status, Some(2), "{hooks}: {run:?}");
        assert_eq!(run.stdout, "");
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
        assert!(!bench.work().join("made").exists());
    }
}

/// A hook that cannot run must block the call.
#[test]
fn hooks_of_types_that_cannot_run_block_the_calls_that_they_guard() {
    let bench = Bench::new();
    let file_named =
        |name: &str, hooks: &Value| bench.write(name, json!({ "hooks": hooks }).to_string());
    let of_type = |kind: &str| json!({"type": kind, "prompt": "x", "server": "s", "tool": "t"});
    let in_shell = |shell: &str| json!({"type": "command", "command": "exit 0", "shell": shell});
    let types = ["prompt", "agent", "mcp_tool", "callback"].map(|kind| (kind, of_type(kind)));
    let shells = [
        ("command in powershell", in_shell("powershell")),
        ("command in cmd", in_shell("cmd")),
    ];
    for (kind, hook) in types.into_iter().chain(shells) {
        let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]});
        let file = file_named("guard.json", &hooks);
        let calls = bash("a", "touch made") + &call("b", "LS", &json!({"path": bench.work()}));
        let guarded = run(&bench, &file, &[], calls);
        let expected = pairs(&[("a", "hook_blocked"), ("b", "ok")]);
        assert_eq!(guarded.outcomes(), expected, "{guarded:?}");
        let reason = format!("hooks of the type `{kind}` cannot run here");
        assert!(guarded.content("a").contains(&reason), "{guarded:?}");
        assert!(
            guarded.stderr.contains("block the calls that they match"),
            "{guarded:?}"
        );
        assert!(!bench.work().join("made").exists());
    }
    let mut program = in_shell("powershell");
    program["command"] = "true".into();
    program["args"] = json!([]);
    let hooks = json!({"PreToolUse": [{"hooks": [in_shell("bash"), program]}]});
    let file = file_named("shells.json", &hooks);
    let passing = run(&bench, &file, &[], bash("a", "ls"));
    assert_eq!(passing.outcomes(), pairs(&[("a", "ok")]), "{passing:?}");
    let mut conditional = of_type("prompt");
    conditional["if"] = "Bash(rm *)".into();
    let mut waited_for_by_none = of_type("prompt");
    waited_for_by_none["async"] = true.into();
    let elsewhere = json!({
        "PreToolUse": [{"hooks": [conditional, waited_for_by_none]}],
        "PostToolUse": [{"hooks": [of_type("agent")]}],
        "Stop": [{"hooks": [of_type("agent")]}],
    });
    let file = file_named("elsewhere.json", &elsewhere);
    let passing = run(&bench, &file, &[], bash("a", "ls") + &bash("b", "rm x"));
    let expected = pairs(&[("a", "ok"), ("b", "hook_blocked")]);
    assert_eq!(passing.outcomes(), expected, "{passing:?}");
    assert_eq!(
        passing.stderr.matches("are not run").count(),
        3,
        "{passing:?}"
    );
    // The user would be asked. A hook of an unsupported type cannot decide instead.
    let hooks = json!({"PermissionRequest": [{"hooks": [of_type("prompt")]}]});
    let file = file_named("request.json", &hooks);
    let asked = bench.run(
        &["--settings", file.to_str().unwrap()],
        bash("a", "touch made"),
    );
    assert_eq!(
        asked.outcomes(),
        pairs(&[("a", "hook_blocked")]),
        "{asked:?}"
    );
}

#[test]
fn a_hook_with_several_matchers_runs_once_for_a_call() {
    let bench = Bench::new();
    let command = |command: &str| json!({"type": "command", "command": command});
    let one = command("echo one >> log");
    let slower = json!({"type": "command", "command": "echo one >> log", "timeout": 60});
    let hooks = json!({"PreToolUse": [
        {"matcher": "Bash", "hooks": [one, command("echo two >> log")]},
        {"matcher": "*", "hooks": [one, slower]},
        {"matcher": "Read", "hooks": [command("echo three >> log")]},
    ]});
    let file = write_settings(&bench, &hooks);
    let other = bench.write("other.json", json!({ "hooks": hooks }).to_string());
    let again = ["--settings", other.to_str().unwrap()];
    let run = run(&bench, &file, &again, bash("a", "true"));
    assert_eq!(run.outcomes(), pairs(&[("a", "ok")]), "{run:?}");
    let log = bench.read("log");
    let mut lines: Vec<&str> = log.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["one", "two"]);
}

/// The reason of a denial names the hook or rule that decided.
#[test]
fn a_denial_names_what_decided() {
    /// The reason of the hook, the arguments, the command, what decided, and the text.
    type Row<'a> = (Option<&'a str>, &'a [&'a str], &'a str, Value, &'a str);
    let bench = Bench::new();
    let asking = |reason: Option<&str>| {
        let mut members = json!({"permissionDecision": "ask"});
        if let Some(reason) = reason {
            members["permissionDecisionReason"] = reason.into();
        }
        settings(&bench, "PreToolUse", &hook_printing("PreToolUse", &members))
    };
    let denied = |settings: &Path, arguments: &[&str], command: &str| {
        let file = ["--settings", settings.to_str().unwrap()];
        let run = bench.run(&[&file[..], arguments].concat(), bash("a", command));
        let by = run.result("a")["turnpipe"]["permission"]["decided_by"].clone();
        (by, run.content("a"))
    };
    let by_hook = json!({"hook": "PreToolUse"});
    let rows: [Row<'_>; 6] = [
        (
            None,
            &[],
            "ls",
            by_hook.clone(),
            "a PreToolUse hook requires approval for it, and no approver is available.",
        ),
        (
            Some("ask me"),
            &[],
            "ls",
            by_hook.clone(),
            "and no approver is available: ask me.",
        ),
        (
            Some("ask me"),
            &["--allow", "Bash(make *)"],
            "make x",
            by_hook.clone(),
            "is available: ask me.",
        ),
        (
            Some("ask me"),
            &[],
            "make x",
            by_hook.clone(),
            "is available: ask me.",
        ),
        (
            Some("ask me"),
            &BYPASS,
            "make x",
            by_hook,
            "is available: ask me.",
        ),
        (
            Some("ask me"),
            &["--ask", "Bash(make *)"],
            "make x",
            json!({"rule": "Bash(make *)", "behavior": "ask", "source": "--ask"}),
            "the rule `Bash(make *)` of --ask requires approval for it",
        ),
    ];
    for (reason, arguments, command, by, text) in rows {
        let (decided, content) = denied(&asking(reason), arguments, command);
        assert_eq!(decided, by, "{content}");
        assert!(content.contains(text), "{content}");
    }
    let file = write_settings(&bench, &json!({}));
    let (by, content) = denied(&file, &["--permission-mode", "dontAsk"], "make x");
    assert_eq!(by, json!({"mode": "dontAsk"}));
    assert!(
        content.contains("the mode `dontAsk` denies what no rule allows"),
        "{content}"
    );
}

#[test]
fn the_last_result_of_a_turn_contains_feedback_of_hooks() {
    let bench = Bench::new();
    let noting =
        r#"cat >> batches.json; echo '{"hookSpecificOutput":{"additionalContext":"all seen"}}'"#;
    let file = settings(&bench, "PostToolBatch", noting);
    let calls = turn("m", &[("a", "echo one"), ("b", "echo two")])
        + &turn("n", &[("c", "echo three")])
        + &call("d", "Nothing", &json!({}));
    let done = run(&bench, &file, &[], calls);
    let expected = [("a", "ok"), ("b", "ok"), ("c", "ok"), ("d", "unknown_tool")];
    assert_eq!(done.outcomes(), pairs(&expected), "{done:?}");
    let told = |id: &str| done.content(id).contains("PostToolBatch hook: all seen");
    assert_eq!(
        ["a", "b", "c", "d"].map(told),
        [false, true, true, true],
        "{done:?}"
    );
    let text = bench.read("batches.json");
    let batches = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let batches: Vec<Value> = batches.map(Result::unwrap).collect();
    let mut calls: Vec<&Vec<Value>> = batches
        .iter()
        .map(|batch| batch["tool_calls"].as_array().unwrap())
        .collect();
    calls.sort_by_key(|calls| calls[0]["tool_use_id"].to_string());
    let sizes: Vec<usize> = calls.iter().map(|calls| calls.len()).collect();
    assert_eq!(sizes, [2, 1, 1]);
    let first = &calls[0][1];
    assert_eq!(first["tool_input"]["command"], "echo two");
    assert_eq!(first["tool_response"], "two");

    let file = settings(&bench, "PostToolBatch", "echo 'that is enough' >&2; exit 2");
    let stopped = run(&bench, &file, &[], turn("m", &[("a", "echo one")]));
    assert_eq!(stopped.count("hook_stopped_continuation"), 1, "{stopped:?}");
}
