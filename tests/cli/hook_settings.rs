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
