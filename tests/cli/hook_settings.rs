//! `hook install`, `hook uninstall` and `hook status`: the settings of agents.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::turnpipe::command;

/// Runs `turnpipe hook` with this home directory and `arguments`. Returns status, stdout and stderr.
fn hook(home: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = command()
        .arg("hook")
        .args(arguments)
        .env("HOME", home)
        .current_dir(home.join("project"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("project")).unwrap();
    home
}

#[test]
fn an_installed_hook_applies_its_rules() {
    let rows = [
        ("claude", ".claude/settings.json", "PreToolUse", "Bash"),
        (
            "qwen",
            ".qwen/settings.json",
            "PreToolUse",
            "run_shell_command",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "BeforeTool",
            "run_shell_command",
        ),
        ("copilot", ".copilot/settings.json", "PreToolUse", "Bash"),
    ];
    for (agent, file, event, tool) in rows {
        let home = home();
        let arguments = [
            "install",
            "--agent",
            agent,
            "--yes",
            "--",
            "--deny",
            "Bash(rm *)",
        ];
        let (status, shown, messages) = hook(home.path(), &arguments);
        assert_eq!(status, Some(0), "{messages}");
        assert!(
            shown.contains("+ ") && shown.contains("Bash(rm *)"),
            "{shown}"
        );
        let settings = fs::read_to_string(home.path().join(file)).unwrap();
        let settings: Value = serde_json::from_str(&settings).unwrap();
        let installed = &settings["hooks"][event][0]["hooks"][0]["command"];
        let call = json!({"hook_event_name": event, "session_id": "s", "cwd": home.path(),
            "tool_name": tool, "tool_input": {"command": "rm -rf x"}});
        let mut agent = Command::new("sh")
            .args(["-c", installed.as_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        serde_json::to_writer(agent.stdin.take().unwrap(), &call).unwrap();
        let answer = agent.wait_with_output().unwrap().stdout;
        let answer = String::from_utf8(answer).unwrap();
        assert!(
            answer.contains("deny") && answer.contains("Bash(rm *)"),
            "{answer}"
        );
    }
}

#[test]
fn the_log_of_an_installed_hook_is_explained() {
    let home = home();
    let log = home.path().join("hook.jsonl");
    let (status, _, message) = hook(home.path(), &["explain"]);
    assert_eq!(status, Some(2));
    assert!(message.contains("no hook with a log is installed"));
    let arguments = ["install", "--agent", "claude", "--yes", "--", "--log"];
    let (status, ..) = hook(
        home.path(),
        &[&arguments[..], &[log.to_str().unwrap()]].concat(),
    );
    assert_eq!(status, Some(0));
    let (_, installed, _) = hook(home.path(), &["status", "--json"]);
    let installed: Value = serde_json::from_str(installed.lines().next().unwrap()).unwrap();
    let transcript = home.path().join(".claude/projects/-w/s.jsonl");
    let call = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": home.path(),
        "tool_name": "Bash", "tool_input": {"command": "make"}, "transcript_path": transcript});
    let mut agent = Command::new("sh")
        .args(["-c", installed["command"].as_str().unwrap()])
        .env("HOME", home.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    serde_json::to_writer(agent.stdin.take().unwrap(), &call).unwrap();
    assert!(agent.wait().unwrap().success());
    let (status, explained, _) = hook(home.path(), &["explain", "-o", "text"]);
    assert_eq!(status, Some(0));
    assert!(explained.contains("ask    Bash  make"), "{explained}");
    assert!(
        explained.contains("left to claude, which decided itself"),
        "{explained}"
    );
}

#[test]
fn a_hook_can_be_removed_and_the_old_file_is_kept() {
    let home = home();
    let file = home.path().join(".codex/config.toml");
    fs::create_dir(file.parent().unwrap()).unwrap();
    let before = "# mine\nmodel = \"x\" # fast\n";
    fs::write(&file, before).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let (status, _, messages) = hook(home.path(), &["install", "--agent", "codex", "--yes"]);
    assert_eq!(status, Some(0), "{messages}");
    assert!(messages.contains("trust the hook"), "{messages}");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let backup = home.path().join(".codex/config.toml.backup");
    assert_eq!(fs::read_to_string(backup).unwrap(), before);
    let (status, shown, _) = hook(home.path(), &["status", "--json"]);
    assert_eq!(status, Some(0));
    let events: Vec<(Value, Value)> = shown
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|record| (record["event"].clone(), record["trusted"].clone()))
        .collect();
    assert_eq!(
        events,
        [
            (json!("PreToolUse"), json!(false)),
            (json!("PermissionRequest"), json!(false))
        ]
    );
    hook(home.path(), &["uninstall", "--agent", "codex", "--yes"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_eq!(hook(home.path(), &["status"]).0, Some(1));
}

#[test]
fn nothing_is_written_without_confirmation() {
    let home = home();
    let (status, shown, messages) = hook(home.path(), &["install", "--agent", "claude"]);
    assert_eq!(status, Some(2));
    assert!(shown.contains("PreToolUse"), "{shown}");
    assert!(messages.contains("--yes"), "{messages}");
    let (status, ..) = hook(home.path(), &["install", "--agent", "claude", "--dry-run"]);
    assert_eq!(status, Some(0));
    let arguments = ["install", "--agent", "claude", "--yes", "--", "--dney", "x"];
    let (status, _, messages) = hook(home.path(), &arguments);
    assert_eq!(status, Some(2));
    assert!(
        messages.contains("unexpected argument '--dney'"),
        "{messages}"
    );
    assert!(!home.path().join(".claude").exists());
}

#[test]
fn a_project_has_its_own_settings_and_links_stay_links() {
    let home = home();
    let real = home.path().join("dotfiles.json");
    fs::write(&real, "{}").unwrap();
    let folder = home.path().join("project/.claude");
    fs::create_dir(&folder).unwrap();
    let link = folder.join("settings.json");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let arguments = ["install", "--agent", "claude", "--project", "--yes"];
    assert_eq!(hook(home.path(), &arguments).0, Some(0));
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("turnpipe"));
    let (_, again, _) = hook(home.path(), &arguments);
    assert!(again.ends_with("already installed\n"), "{again}");
}

#[test]
fn what_is_planted_in_a_project_delays_nothing_and_gets_no_text() {
    let home = home();
    let folder = home.path().join("project/.claude");
    fs::create_dir(&folder).unwrap();
    let pipe = |path: &Path| rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap();
    pipe(&folder.join("settings.json"));
    pipe(&folder.join("log"));
    let install = ["install", "--agent", "claude", "--project", "--yes"];
    let log = folder.join("log").display().to_string();
    for arguments in [&install[..], &["status"], &["explain", &log]] {
        let (status, _, messages) = hook(home.path(), arguments);
        assert_ne!(status, Some(0), "{arguments:?}");
        assert!(
            messages.contains("is not a regular file"),
            "{arguments:?} {messages}"
        );
    }
    fs::remove_file(folder.join("settings.json")).unwrap();
    fs::write(folder.join("settings.json"), "{\"theme\": 1}").unwrap();
    let outside = home.path().join("outside");
    fs::write(&outside, "kept").unwrap();
    let backup = folder.join("settings.json.backup");
    std::os::unix::fs::symlink(&outside, &backup).unwrap();
    assert_eq!(hook(home.path(), &install).0, Some(0));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "kept");
    assert_eq!(fs::read_to_string(&backup).unwrap(), "{\"theme\": 1}");
}

#[test]
fn broken_settings_are_reported_and_kept() {
    let home = home();
    fs::create_dir(home.path().join(".claude")).unwrap();
    let file = home.path().join(".claude/settings.json");
    fs::write(&file, "{\"hooks\": ").unwrap();
    let (status, _, messages) = hook(home.path(), &["install", "--agent", "claude", "--yes"]);
    assert_eq!(status, Some(2));
    assert!(messages.contains(".claude/settings.json"), "{messages}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"hooks\": ");
    let (status, _, messages) = hook(home.path(), &["install", "--agent", "droid", "--yes"]);
    assert_eq!(
        (
            status,
            messages.contains("cursor") && !messages.contains("atif")
        ),
        (Some(2), true),
        "{messages}"
    );
}

#[test]
fn agents_with_scripts_get_a_script_and_lose_it_again() {
    let rows = [
        ("opencode", ".config/opencode/plugin/turnpipe.js"),
        ("pi", ".pi/agent/extensions/turnpipe.ts"),
    ];
    for (agent, file) in rows {
        let home = home();
        let install = [
            "install",
            "--agent",
            agent,
            "--yes",
            "--",
            "--deny",
            "Bash(rm *)",
        ];
        let (status, shown, messages) = hook(home.path(), &install);
        assert_eq!(status, Some(0), "{messages}");
        let script = fs::read_to_string(home.path().join(file)).unwrap();
        for line in script.lines() {
            assert!(shown.contains(line.trim()), "{line} in {shown}");
        }
        let (_, shown, _) = hook(home.path(), &["status", "--json"]);
        let record: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(record["agent"], agent);
        let command = record["command"].as_str().unwrap();
        let end = format!(" hook pre-tool-use --agent {agent} --deny 'Bash(rm *)'");
        assert!(command.ends_with(&end), "{command}");
        assert!(
            script.contains(&format!("\nconst command = {command:?};\n")),
            "{script}"
        );
        let (status, ..) = hook(home.path(), &["uninstall", "--agent", agent, "--yes"]);
        assert_eq!(status, Some(0));
        assert!(!home.path().join(file).exists());
        // A file of the same name that somebody else wrote.
        fs::write(home.path().join(file), "export const Mine = 1;\n").unwrap();
        let (status, _, messages) = hook(home.path(), &install);
        assert_eq!(status, Some(2));
        assert!(
            messages.contains("was not written by turnpipe"),
            "{messages}"
        );
        assert_eq!(hook(home.path(), &["status"]).0, Some(1));
    }
}

#[test]
fn a_hook_that_moves_commands_is_installed_where_they_run_moved() {
    for (agent, file) in [
        ("claude", ".claude/settings.json"),
        ("qwen", ".qwen/settings.json"),
    ] {
        let home = home();
        let install = ["install", "--agent", agent, "--sandbox", "--yes"];
        let (status, _, messages) = hook(home.path(), &install);
        assert_eq!(status, Some(0), "{messages}");
        let (_, shown, _) = hook(home.path(), &["status", "--json"]);
        let record: Value = serde_json::from_str(shown.lines().next().unwrap()).unwrap();
        let command = record["command"].as_str().unwrap();
        let path = home.path().join(file);
        let end = format!(" --agent {agent} --sandbox --settings {}", path.display());
        assert!(command.ends_with(&end), "{command}");
        let other = [&install[..], &["--", "--settings", "/s"]].concat();
        assert_eq!(hook(home.path(), &other).0, Some(0));
        let (_, shown, _) = hook(home.path(), &["status", "--json"]);
        assert!(shown.contains("--sandbox --settings /s\""), "{shown}");
    }
    for agent in ["codex", "gemini", "cursor", "copilot", "opencode", "pi"] {
        for options in [&["--sandbox"][..], &["--", "--sandbox"]] {
            let install = [&["install", "--yes", "--agent", agent], options].concat();
            let (status, _, messages) = hook(home().path(), &install);
            assert_eq!(status, Some(2), "{messages}");
            let expected = format!("{agent}: it has a sandbox of its own");
            assert!(messages.contains(&expected), "{messages}");
            assert_eq!(messages.lines().count(), 1, "{messages}");
        }
    }
}

/// Returns the status of `hook test` with further arguments, its records, and messages.
fn test(home: &Path, arguments: &[&str]) -> (Option<i32>, Vec<Value>, String) {
    let (status, shown, messages) = hook(home, &[&["test", "--json"], arguments].concat());
    let records = shown
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (status, records.collect(), messages)
}

/// Returns these members of a record.
fn members<const N: usize>(record: &Value, names: [&str; N]) -> [Value; N] {
    names.map(|name| record[name].clone())
}

#[test]
fn a_test_says_what_each_agent_does_with_its_calls() {
    let home = home();
    let agents = [
        "claude", "qwen", "codex", "gemini", "cursor", "opencode", "pi", "copilot",
    ];
    for agent in agents {
        let install = [
            "install",
            "--agent",
            agent,
            "--yes",
            "--",
            "--deny",
            "Bash(rm *)",
        ];
        assert_eq!(hook(home.path(), &install).0, Some(0));
    }
    let (status, records, messages) = test(home.path(), &[]);
    assert_eq!((status, &*messages), (Some(0), ""));
    for agent in agents {
        let of_agent: Vec<_> = records.iter().filter(|one| one["agent"] == agent).collect();
        let (denied, others): (Vec<_>, Vec<_>) = of_agent
            .iter()
            .partition(|one| one["about"] == "rm -rf build");
        assert!(!denied.is_empty() && !others.is_empty(), "{agent}");
        for record in denied {
            // Codex skips a hook until it is trusted.
            let effect = if agent == "codex" {
                "skipped"
            } else {
                "denied"
            };
            assert_eq!(
                members(
                    record,
                    ["decision", "effect", "exit_status", "ok", "honored"]
                ),
                [
                    json!("deny"),
                    json!(effect),
                    json!(0),
                    json!(true),
                    json!(agent != "codex")
                ],
                "{record}"
            );
            let reason = record["reason"].as_str().unwrap();
            assert!(reason.contains("`Bash(rm *)`"), "{record}");
        }
        for record in others {
            assert_ne!(record["effect"], "denied", "{record}");
            assert_eq!(record["ok"], true, "{record}");
        }
    }
    let of_subagent = |one: &&Value| one["agent_type"] == "general-purpose";
    assert_eq!(records.iter().filter(of_subagent).count(), 1);
    // Both subcommands use the same check.
    let (status, shown, _) = hook(home.path(), &["status", "--json"]);
    assert_eq!(status, Some(0));
    for line in shown.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!(record["works"], true, "{record}");
        assert_eq!(
            record.get("problem").is_some(),
            record["agent"] == "codex",
            "{record}"
        );
    }
}

/// Writes a program `turnpipe` and settings that run it as a hook of Claude Code.
fn planted(home: &Path, script: &str, entry: &Value) -> String {
    let program = home.join("bin/turnpipe");
    fs::create_dir_all(home.join("bin")).unwrap();
    fs::create_dir_all(home.join(".claude")).unwrap();
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let command = format!("{} hook pre-tool-use", program.display());
    let mut hook = json!({"type": "command", "command": command});
    for (name, value) in entry.as_object().unwrap() {
        hook[name] = value.clone();
    }
    let mut group = json!({"hooks": [hook]});
    if let Some(matcher) = entry.get("matcher") {
        group["matcher"] = matcher.clone();
    }
    json!({"hooks": {"PreToolUse": [group]}}).to_string()
}

#[test]
fn a_hook_is_run_with_the_timeout_variables_and_directory_of_its_settings() {
    let home = home();
    let file = home.path().join(".claude/settings.json");
    // The script, the members of the hook, and the record of its first call.
    let reply = "printf '{\"hookSpecificOutput\":{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"%s\"}}'";
    let project = home.path().join("project").canonicalize().unwrap();
    let inside = format!(
        "two {} {}",
        project.join("sub").display(),
        project.display()
    );
    fs::create_dir(project.join("sub")).unwrap();
    let rows = [
        (
            format!("cat > /dev/null; {reply} \"$ONE $PWD $CLAUDE_PROJECT_DIR\""),
            json!({"env": {"ONE": "two"}, "cwd": "sub"}),
            Some(0),
            json!(["deny", inside, 0, true, true, "denied", null]),
        ),
        (
            r#"echo '{"hookSpecificOutput":{"permissionDecision":"maybe"}}'"#.to_owned(),
            json!({}),
            Some(1),
            json!([
                null,
                null,
                0,
                false,
                false,
                "left_to_agent",
                "unreadable answer"
            ]),
        ),
        (
            "echo broken >&2; exit 3".to_owned(),
            json!({}),
            Some(1),
            json!([
                null,
                null,
                3,
                false,
                false,
                "left_to_agent",
                "exit status 3: broken"
            ]),
        ),
        (
            "exec sleep 60".to_owned(),
            json!({"timeout": 0.05}),
            Some(1),
            json!([
                null,
                null,
                null,
                false,
                false,
                "left_to_agent",
                "no answer within 0.05 s"
            ]),
        ),
        (
            "echo stop >&2; exit 2".to_owned(),
            json!({}),
            Some(0),
            json!(["deny", "stop", 2, true, true, "denied", null]),
        ),
        (
            "true".to_owned(),
            json!({"matcher": "Write"}),
            Some(0),
            json!([
                null,
                null,
                0,
                true,
                false,
                "skipped",
                "its matcher `Write` leaves out the tool"
            ]),
        ),
    ];
    let names = [
        "decision",
        "reason",
        "exit_status",
        "ok",
        "honored",
        "effect",
        "problem",
    ];
    for (script, entry, expected_status, expected) in rows {
        let settings = planted(home.path(), &script, &entry);
        fs::write(&file, &settings).unwrap();
        let (status, records, messages) = test(home.path(), &[]);
        assert_eq!(status, expected_status, "{script}: {messages}");
        assert_eq!(json!(members(&records[0], names)), expected, "{script}");
        // `status` runs the same call.
        let (status, shown, _) = hook(home.path(), &["status", "--json"]);
        assert_eq!(status, expected_status, "{script}");
        let record: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(record["works"], expected[3], "{script}");
    }
}

#[test]
fn the_hooks_of_a_project_run_only_on_request() {
    let home = home();
    let ran = home.path().join("ran");
    let settings = planted(home.path(), &format!("touch {}", ran.display()), &json!({}));
    let file = home.path().join("project/.claude/settings.json");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, settings).unwrap();
    let (status, shown, _) = hook(home.path(), &["status", "--json"]);
    assert_eq!((status, shown.contains("works")), (Some(0), false));
    let (status, _, messages) = test(home.path(), &[]);
    assert_eq!(status, Some(1));
    assert!(messages.contains("hook install --agent NAME"), "{messages}");
    assert!(!ran.exists());
    assert_eq!(test(home.path(), &["--project"]).0, Some(0));
    assert!(ran.exists());
}

#[test]
fn recorded_calls_go_through_the_hook_of_their_agent() {
    let home = home();
    for agent in ["claude", "qwen", "gemini"] {
        let install = [
            "install",
            "--agent",
            agent,
            "--yes",
            "--",
            "--deny",
            "Bash(rm *)",
        ];
        assert_eq!(hook(home.path(), &install).0, Some(0));
    }
    let calls = home.path().join("calls.jsonl");
    let lines = [
        json!({"hook_event_name": "Stop", "session_id": "s"}),
        json!({"hook_event_name": "InstructionsLoaded", "file_path": "/srv/AGENTS.md"}),
        json!({"hook_event_name": "BeforeTool", "timestamp": "2026-01-02T03:04:05Z",
            "tool_name": "run_shell_command", "tool_input": {"command": "rm a"}}),
        json!({"hook_event_name": "PreToolUse", "cwd": "/nowhere", "tool_name": "Bash",
            "tool_input": {"command": "rm b"}}),
        json!({"hook_event_name": "PreToolUse", "timestamp": "2026-01-02T03:04:05Z",
            "tool_name": "run_shell_command", "tool_input": {"command": "ls"}}),
    ];
    fs::write(&calls, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let path = calls.to_str().unwrap();
    let (status, records, messages) = test(home.path(), &[path]);
    assert_eq!((status, &*messages), (Some(0), ""));
    let shown = records
        .iter()
        .map(|one| members(one, ["agent", "about", "decision"]));
    let expected = [
        ["gemini", "rm a", "deny"],
        ["claude", "rm b", "deny"],
        ["qwen", "ls", "allow"],
    ];
    assert_eq!(
        shown.collect::<Vec<_>>(),
        expected.map(|row| row.map(Value::from))
    );
    let (status, records, messages) = test(home.path(), &["--agent", "codex", path]);
    assert_eq!((status, records.len()), (Some(1), 0));
    assert!(
        messages.contains("hook install --agent codex"),
        "{messages}"
    );
    fs::write(&calls, "{\"hook_event_name\": \"PreTool\n").unwrap();
    let (status, _, messages) = test(home.path(), &[path]);
    assert_eq!(status, Some(2));
    assert!(messages.contains("calls.jsonl:1: "), "{messages}");
    let (_, table, _) = hook(home.path(), &["test", "--agent", "claude", "-o", "text"]);
    assert!(table.contains("claude/general-purpose  Bash"), "{table}");
    assert!(table.contains("denied by the rule `Bash(rm *)`"), "{table}");
}
