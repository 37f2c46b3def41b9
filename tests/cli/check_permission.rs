//! `check permission`.

use std::fs;

use serde_json::{Value, json};

use crate::turnpipe::run;

/// Returns the records of the lines, with these arguments.
fn records(arguments: &[&str], lines: &str) -> Vec<Value> {
    let output = run(
        &[&["check", "permission"], arguments].concat(),
        lines.as_bytes(),
    );
    assert_eq!(output.status, Some(0), "{output:?}");
    let records = output.stdout.lines();
    records
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_sandbox_takes_part_in_the_decision() {
    let reading = "python3 -c 'print(open(\".env\").read())'";
    for (mode, command, decision) in [
        ("off", reading, "ask"),
        ("files", reading, "allow"),
        ("files", "cat .env", "deny"),
        ("files", "bash -c \"$X\"", "allow"),
    ] {
        let call = json!({"name": "Bash", "input": {"command": command}}).to_string();
        let rules = ["--allow", "Bash", "--deny", "Read(.env)", "--sandbox", mode];
        let record = &records(&rules, &call)[0];
        assert_eq!(record["decision"], decision, "{mode} {command}: {record}");
    }
    let call = json!({"name": "Bash", "input": {"command": "make all"}}).to_string();
    assert_eq!(records(&[], &call)[0]["decision"], "ask");
    let confined = &records(&["--sandbox", "workspace"], &call)[0];
    assert_eq!(confined["decided_by"], json!({"builtin": "confined"}));
}

#[test]
fn calls_come_in_many_forms() {
    let calls = [
        json!({"name": "Bash", "input": {"command": "ls | head"}}),
        json!({"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}}),
        json!({"name": "run_shell_command", "input": {"command": "ls", "is_background": false}}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}},
            {"type": "tool_use", "id": "b", "name": "Write", "input": {"file_path": "x", "content": ""}},
        ]}}),
        json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": "Bash", "arguments": "{\"command\":\"ls\"}"}}]}),
        json!({"name": "mcp__a__b", "input": {}}),
        json!({"name": "mcp__a__b", "input": {}, "mode": "bypassPermissions"}),
    ];
    let lines = calls.map(|call| call.to_string() + "\n").concat();
    let decisions: Vec<(Value, Value)> = records(&[], &lines)
        .into_iter()
        .map(|record| (record["tool"].clone(), record["decision"].clone()))
        .collect();
    let expected = [
        ("Bash", "allow"),
        ("Bash", "allow"),
        ("Bash", "allow"),
        ("Bash", "allow"),
        ("Write", "ask"),
        ("Bash", "allow"),
        ("mcp__a__b", "ask"),
        ("mcp__a__b", "allow"),
    ];
    let expected = expected.map(|(name, decision)| (json!(name), json!(decision)));
    assert_eq!(decisions, expected);
}

#[test]
fn other_lines_are_unusable() {
    let lines = [
        "",
        "7",
        "null",
        "[]",
        "{}",
        r#"{"name":"Bash"}"#,
        r#"{"name":"Bash","input":7}"#,
        r#"{"name":"Bash","input":{"command":"ls"},"mode":"none"}"#,
        r#"{"type":"tool_use","id":"a","name":"Bash","input":7}"#,
    ];
    let output = records(&[], &(lines.join("\n") + "\n"));
    assert_eq!(output.len(), lines.len());
    for (index, record) in output.iter().enumerate() {
        assert_eq!(record["line"], index + 1, "{record}");
        assert!(record["error"].is_string(), "{record}");
    }
}

#[test]
fn the_status_is_0_if_all_calls_are_allowed() {
    let table = [("ls\n", 0), ("ls\nrm x\n", 1), ("", 0)];
    for (lines, status) in table {
        let arguments = ["check", "permission", "--plain", "--exit-status"];
        let output = run(&arguments, lines.as_bytes());
        assert_eq!(output.status, Some(status), "{lines}");
    }
    let arguments = ["check", "permission", "--exit-status"];
    assert_eq!(run(&arguments, b"7\n").status, Some(1));
}

/// The effects of git depend on the directory.
#[test]
fn a_command_is_checked_in_its_directory() {
    let directory = tempfile::tempdir().unwrap();
    let repository = directory.path().join("repository");
    fs::create_dir_all(&repository).unwrap();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        assert!(
            command
                .args(arguments)
                .current_dir(&repository)
                .status()
                .unwrap()
                .success()
        );
    };
    git(&["init", "-q"]);
    let line = json!({"name": "Bash", "input": {"command": "git status"}, "cwd": repository});
    let decision = || records(&[], &format!("{line}\n"))[0]["decision"].clone();
    // Without kernel enforcement, git never counts as read-only.
    let clean = decision();
    git(&["config", "core.fsmonitor", "./run-me"]);
    assert_eq!(decision(), "ask");
    if cfg!(target_os = "linux") {
        let sandbox = turnpipe::process::Supervisor::default().lane(
            1,
            turnpipe::process::LaneOptions {
                enforcement: turnpipe::process::Enforcement::Auto,
                temporary: None,
            },
        );
        let expected = if sandbox.unwrap().is_enforced() {
            "allow"
        } else {
            "ask"
        };
        assert_eq!(clean, expected);
    }
}

#[test]
fn text_has_one_line_per_call() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.json");
    fs::write(&settings, r#"{"permissions":{"deny":["Read(.env)"]}}"#).unwrap();
    let settings = settings.to_str().unwrap();
    let calls = [
        json!({"name": "Bash", "input": {"command": "ls |\nhead"}}),
        json!({"name": "Bash", "input": {"command": "cd src && git push"}}),
        json!({"name": "Bash", "input": {"command": "echo a; rm x"}}),
        json!({"name": "Read", "input": {"file_path": folder.path().join(".env")},
            "cwd": folder.path()}),
        json!({"name": "Write", "input": {"file_path": "a\u{1b}[31m", "content": "one"}}),
        json!({"name": "mcp__a__b", "input": {"title": "long ".repeat(30)}}),
        json!({}),
    ];
    let lines = calls.map(|call| call.to_string() + "\n").concat();
    let rules = ["--settings", settings, "--deny", "Bash(rm *)"];
    let arguments = [&["check", "permission", "-o", "text"], &rules[..]].concat();
    let output = run(&arguments, lines.as_bytes());
    let long = "long ".repeat(30);
    let expected = [
        ("allow  Bash       ls | head", "only reads"),
        (
            "ask    Bash       cd src && git push",
            "no rule for git push; Bash(git push *) would allow it",
        ),
        ("deny   Bash       echo a; rm x", "Bash(rm *) (--deny)"),
        (
            "deny   Read       .env",
            &format!("Read(.env) ({settings})"),
        ),
        (
            "ask    Write      a (+1 -0)",
            "no rule; Edit(./a) would allow it",
        ),
        (
            &format!("ask    mcp__a__b  {}", long.trim()),
            "no rule; mcp__a__b would allow it",
        ),
    ];
    let expected = expected.map(|(call, reason)| format!("{call:56}  {reason}\n"));
    assert_eq!(output.stdout, expected.concat());
    assert_eq!(
        output.stderr,
        "turnpipe: standard input: line 7: no call found\n"
    );
}

#[test]
fn past_calls_are_counted_and_rules_proposed_that_spare_questions() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir(&project).unwrap();
    let commands = [
        "git log -3",
        "cargo test --lib",
        "cargo test && git push",
        "cargo test --all",
        "git push origin main",
        "rm -rf target",
        "rm -rf target",
    ];
    let lines = commands.iter().enumerate().map(|(index, command)| {
        let call = json!({"type": "tool_use", "id": format!("c{index}"), "name": "Bash",
            "input": {"command": command}});
        let line = json!({"type": "assistant", "uuid": format!("u{index}"), "sessionId": "s",
            "cwd": project, "timestamp": "2026-11-01T10:00:00Z",
            "message": {"role": "assistant", "id": format!("m{index}"), "content": [call]}});
        line.to_string() + "\n"
    });
    let session = folder.path().join("s.jsonl");
    fs::write(&session, lines.collect::<String>()).unwrap();
    let session = session.to_str().unwrap();
    let records = records(&["--history", session, "--deny", "Bash(rm *)"], "");
    let of = |kind: &'static str| records.iter().filter(move |record| record["type"] == kind);
    let whole = of("permission_count")
        .find(|count| count["command"].is_null())
        .unwrap();
    let numbers = ["calls", "allow", "ask", "deny"].map(|name| whole[name].as_u64().unwrap());
    assert_eq!(numbers, [7, 1, 4, 2]);
    let pushes = of("permission_count")
        .find(|count| count["command"] == "git push")
        .unwrap();
    assert_eq!(pushes["ask"], 2);
    let proposals: Vec<(&str, u64)> = of("permission_proposal")
        .map(|one| {
            (
                one["rule"].as_str().unwrap(),
                one["spares"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        proposals,
        [("Bash(cargo test *)", 2), ("Bash(git push *)", 2)]
    );
    for proposal in of("permission_proposal") {
        let effects = proposal["also_allows"].as_str().unwrap();
        assert!(
            effects.contains("network") && effects.contains("outside"),
            "{effects}"
        );
    }
    let output = run(
        &["check", "permission", "--history", "-o", "text", session],
        b"",
    );
    assert!(
        output
            .stdout
            .starts_with("7 calls of 1 sessions: 1 allowed, 6 asked about"),
        "{output:?}"
    );
    assert!(
        output
            .stdout
            .contains("Bash(cargo test *)\n         also: runs code"),
        "{output:?}"
    );
}

#[test]
fn no_rule_is_proposed_for_calls_that_another_one_covers() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir(&project).unwrap();
    let files = ["a.rs", "b.rs", "c.rs", "sub/d.rs", "sub/e.rs"];
    let lines = files.iter().enumerate().map(|(index, file)| {
        let path = project.join("src").join(file);
        let call = json!({"type": "tool_use", "id": format!("c{index}"), "name": "Write",
            "input": {"file_path": path, "content": ""}});
        let line = json!({"type": "assistant", "uuid": format!("u{index}"), "sessionId": "s",
            "cwd": project, "timestamp": "2026-11-01T10:00:00Z",
            "message": {"role": "assistant", "id": format!("m{index}"), "content": [call]}});
        line.to_string() + "\n"
    });
    let session = folder.path().join("s.jsonl");
    fs::write(&session, lines.collect::<String>()).unwrap();
    let records = records(&["--history", session.to_str().unwrap()], "");
    let proposals = records
        .iter()
        .filter(|record| record["type"] == "permission_proposal");
    let proposals: Vec<_> = proposals
        .map(|one| (one["rule"].as_str().unwrap(), one["spares"].as_u64()))
        .collect();
    assert_eq!(proposals, [("Edit(./src/**)", Some(5))]);
}

#[test]
fn filters_of_sessions_need_the_history() {
    let output = run(&["check", "permission", "--since", "2d"], b"");
    assert_eq!(output.status, Some(2));
    assert!(output.stderr.contains("`--history`"), "{output:?}");
}
