//! The examples in the help of every command.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::skip::{is_missing, search_path};
use crate::turnpipe::{data, run};

/// Returns the example lines in the help of a command.
fn examples(command: &[String]) -> Vec<String> {
    let words = command.iter().map(String::as_str);
    let help = run(&words.chain(["--help"]).collect::<Vec<_>>(), b"").stdout;
    let lines = help
        .lines()
        .skip_while(|line| !line.starts_with("Examples"));
    let lines = lines.take_while(|line| !line.is_empty());
    let lines = lines.map(|line| line.trim_start_matches("Examples").trim_start_matches(':'));
    let lines: Vec<String> = lines
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect();
    let is_group = help.contains("\nCommands:\n");
    assert!(!lines.is_empty() || is_group, "{command:?} has no examples");
    lines
}

/// Creates a home directory with one session, and a working directory with the files that the examples read.
fn prepare(home: &Path, work: &Path) {
    let project = home.join(".claude/projects/demo");
    std::fs::create_dir_all(&project).unwrap();
    let session = std::fs::read_to_string(data("claude-parallel.jsonl")).unwrap();
    // Without a title, for the examples that set one.
    let untitled = session.lines().filter(|line| !line.contains("ai-title"));
    let session = untitled.collect::<Vec<_>>().join("\n") + "\n";
    let session = session.replace("Compare the two files", "The parser fails in parse_value");
    // With a report, for the examples that recap.
    let session = session.replace("They differ.", "Fixed it. Should I run the tests?");
    // With a price.
    let session = session.replace("model-a", "claude-opus-4-5");
    let session = session.replace("model-b", "claude-haiku-4-5");
    let name = "5e551011-0000-4000-8000-000000000001.jsonl";
    std::fs::write(project.join(name), &session).unwrap();
    let archive = home.join("archive/claude/demo");
    std::fs::create_dir_all(&archive).unwrap();
    std::fs::write(archive.join(name), &session).unwrap();
    std::fs::write(work.join("stream.jsonl"), &session).unwrap();
    let call = "{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"Bash\",\"input\":{\"command\":\"echo hi\"}}\n";
    std::fs::write(work.join("reply.jsonl"), call).unwrap();
    let call = format!(
        "{{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"cwd\":\"{}\",\
         \"tool_input\":{{\"command\":\"ls | head\"}}}}",
        work.display()
    );
    std::fs::write(work.join("call.json"), &call).unwrap();
    std::fs::write(work.join("calls.jsonl"), call + "\n").unwrap();
    std::fs::write(work.join("settings.json"), "{}").unwrap();
    let hook = "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \
                \"command\": \"turnpipe hook pre-tool-use --agent claude\"}]}]}}";
    std::fs::write(home.join(".claude/settings.json"), hook).unwrap();
    let log = home.join("hook.jsonl");
    let option = format!("pre-tool-use --log {}", log.display());
    std::fs::create_dir(home.join(".qwen")).unwrap();
    let hook = hook.replace("pre-tool-use --agent claude", &option);
    std::fs::write(home.join(".qwen/settings.json"), hook).unwrap();
    let decision =
        "{\"type\":\"hook_decision\",\"decision\":\"ask\",\"hints\":[\"Bash(make *)\"]}\n";
    std::fs::write(log, decision).unwrap();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/tools.toml");
    std::fs::copy(manifest, work.join("tools.toml")).unwrap();
}

#[test]
fn every_command_has_examples_that_work() {
    let commands = crate::help::commands();
    let lines: Vec<String> = commands
        .iter()
        .flat_map(|command| examples(command))
        .collect();
    assert!(lines.len() > 30, "{lines:?}");
    let binary = Path::new(env!("CARGO_BIN_EXE_turnpipe"));
    for line in lines {
        if line.contains("| jq ") && is_missing("jq") {
            continue;
        }
        let (home, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        prepare(home.path(), work.path());
        let output = Command::new("bash")
            .args(["-c", &format!("set -o pipefail\n{line}")])
            .current_dir(work.path())
            .env_clear()
            .env("HOME", home.path())
            .env(
                "PATH",
                format!("{}:{}", binary.parent().unwrap().display(), search_path()),
            )
            .env("TURNPIPE_CLOCK", "2026-01-02T00:00:00Z")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{line}: {messages}");
        assert!(!messages.contains("turnpipe:"), "{line}: {messages}");
        // These write files, or find nothing here.
        let silent = [
            "--state=",
            " > ",
            "source",
            "session export",
            "--cwd .",
            "--limits",
            "hook test --json",
            "session calls --",
            "session diff",
            "--changed",
            " man ",
        ];
        let is_silent = silent.iter().any(|part| line.contains(part));
        assert!(
            is_silent || !output.stdout.is_empty(),
            "{line} prints nothing"
        );
    }
}
