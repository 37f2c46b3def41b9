//! `hook`: responses to other agents.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::turnpipe::{command, run, shell};

/// Rows with `arguments`, the `input` of a hook, and its `answer`; `null` is silence.
fn rows(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/permission");
    let text = fs::read_to_string(path.join(name)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn check(name: &str) {
    for row in rows(name) {
        let input = &row["input"];
        let event = match input["hook_event_name"].as_str().unwrap() {
            "PermissionRequest" => "permission-request",
            _ => "pre-tool-use",
        };
        let mut arguments = vec!["hook", event];
        let given = row["arguments"].as_array().unwrap();
        arguments.extend(given.iter().map(|argument| argument.as_str().unwrap()));
        let told = run(&arguments, input.to_string().as_bytes());
        assert_eq!((told.status, &*told.stderr), (Some(0), ""), "{row}");
        let answer = match &*told.stdout {
            "" => Value::Null,
            line => serde_json::from_str(line).unwrap(),
        };
        assert_eq!(answer, row["answer"], "{row}");
    }
}

#[test]
fn read_only_calls_are_allowed_and_others_left_to_the_agent() {
    check("hook-reading.jsonl");
}

#[test]
fn rules_decide_in_the_form_of_each_agent() {
    check("hook-rules.jsonl");
}

#[test]
fn commands_with_languages_are_allowed_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let hook = |arguments: &[&str], command: &str| {
        let arguments = [&["hook", "pre-tool-use"], arguments].concat();
        let told = run(&arguments, &listing(folder.path(), command));
        assert_eq!((told.status, &*told.stderr), (Some(0), ""), "{command}");
        told.stdout.contains("\"permissionDecision\":\"allow\"")
    };
    let trust = ["--trust-analysis"];
    let deny = ["--trust-analysis", "--deny", "Read(.env)"];
    for command in [
        "git log --oneline | head",
        "find . -name '*.rs'",
        "sed -n 1,9p a",
        "awk '{print $1}' a",
    ] {
        assert!(!hook(&[], command), "{command}");
        assert!(hook(&trust, command), "{command}");
    }
    for command in [
        "find . -delete",
        "sed -i s/a/b/ a",
        "git push",
        "awk '{system($1)}' a",
    ] {
        assert!(!hook(&trust, command), "{command}");
    }
    assert!(hook(&deny, "sed -n 1,9p a"));
    assert!(!hook(&deny, "sed -n 1,9p .env"));
}

#[test]
fn links_do_not_lead_out_of_the_working_directory() {
    let directory = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let inside = directory.path();
    fs::write(inside.join("a.txt"), "").unwrap();
    fs::create_dir(inside.join("sub")).unwrap();
    symlink(other.path(), inside.join("link")).unwrap();
    symlink(other.path().join("x"), inside.join("sub/file")).unwrap();
    symlink("link", inside.join("l")).unwrap();
    let is_allowed = |command: &str| {
        let told = run(&["hook", "pre-tool-use"], &listing(inside, command));
        told.stdout.contains("\"permissionDecision\":\"allow\"")
    };
    for command in ["cat a.txt", "cat *.txt sub/x*", "ls"] {
        assert!(is_allowed(command), "{command}");
    }
    for command in [
        "cat l",
        "cat link/x",
        "cat l*/x",
        "cat link/*",
        "cat sub/f*",
        "cd sub && cat *",
    ] {
        assert!(!is_allowed(command), "{command}");
    }
}

fn listing(directory: &Path, command: &str) -> Vec<u8> {
    let input = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": directory,
        "tool_input": { "command": command },
    });
    input.to_string().into_bytes()
}

/// Agents treat status 2 as a denial.
#[test]
fn errors_are_neither_a_decision_nor_a_denial() {
    let directory = tempfile::tempdir().unwrap();
    let ls = listing(directory.path(), "ls");
    let hook = ["hook", "pre-tool-use"];
    let relative = listing(Path::new("here"), "ls");
    let other = br#"{"hook_event_name":"Stop","cwd":"/"}"#.to_vec();
    let table: [(&[&str], &[u8]); 7] = [
        (&[], b""),
        (&[], b"{"),
        (&[], b"[]"),
        (&[], b"\xff"),
        (&[], &relative),
        (&[], &other),
        (&["--bogus"], &ls),
    ];
    for (arguments, input) in table {
        let told = run(&[&hook, arguments].concat(), input);
        assert!(
            told.status.is_some_and(|status| status != 2 && status != 0),
            "{arguments:?}: {told:?}"
        );
        assert_eq!(told.stdout, "", "{arguments:?}");
        assert!(told.stderr.starts_with("turnpipe: "), "{told:?}");
    }
    let names: [&[&str]; 3] = [
        &["hook"],
        &["hook", "pre-tool"],
        &["-q", "hook", "pre-tool-use", "--allow"],
    ];
    for arguments in names {
        let told = run(arguments, &ls);
        assert_eq!((told.status, &*told.stdout), (Some(1), ""), "{arguments:?}");
    }
    let clock = command()
        .args(hook)
        .env("TURNPIPE_CLOCK", "never")
        .output()
        .unwrap();
    assert_eq!(clock.status.code(), Some(1));
}

/// Otherwise a call that a rule denies would run.
#[test]
fn rules_that_cannot_be_applied_deny_in_the_form_of_each_agent() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("broken.json"), "{").unwrap();
    fs::write(path("wrong.json"), r#"{"permissions":{"deny":"Bash"}}"#).unwrap();
    fs::write(
        path("unknown.json"),
        r#"{"permissions":{"denny":["Bash"]}}"#,
    )
    .unwrap();
    let rows: [(&[&str], &str); 6] = [
        (&["--settings", &path("none.json")], "none.json: "),
        (&["--settings", &path("broken.json")], "broken.json: "),
        (&["--settings", &path("wrong.json")], "wrong.json: "),
        (
            &["--settings", &path("unknown.json")],
            "unknown setting `permissions.denny`",
        ),
        (&["--config", &path("none.toml")], "none.toml: "),
        (&["--deny", "Bash("], "--deny: `Bash(`"),
    ];
    let input = |event: &str| json!({"hook_event_name": event, "tool_name": "Bash", "cwd": "/", "tool_input": {"command": "ls"}});
    for (arguments, problem) in rows {
        let hook = |name: &str, input: &Value| {
            run(
                &[&["hook", name], arguments].concat(),
                input.to_string().as_bytes(),
            )
        };
        let mut codex = input("PreToolUse");
        codex["turn_id"] = "t".into();
        for input in [input("PreToolUse"), codex] {
            let told = hook("pre-tool-use", &input);
            assert_eq!(told.status, Some(0), "{told:?}");
            let answer: Value = serde_json::from_str(&told.stdout).unwrap();
            let answer = &answer["hookSpecificOutput"];
            assert_eq!(answer["permissionDecision"], "deny", "{told:?}");
            let reason = answer["permissionDecisionReason"].as_str().unwrap();
            assert!(
                reason.contains(problem) && told.stderr.contains(problem),
                "{told:?}"
            );
        }
        let told = hook("pre-tool-use", &input("BeforeTool"));
        let answer: Value = serde_json::from_str(&told.stdout).unwrap();
        assert_eq!(
            (told.status, &answer["decision"]),
            (Some(0), &json!("deny"))
        );
        // The user is asked anyway.
        let told = hook("permission-request", &input("PermissionRequest"));
        assert_eq!((told.status, &*told.stdout), (Some(1), ""), "{told:?}");
    }
    let ignoring = [
        "hook",
        "pre-tool-use",
        "--ignore-unknown-settings",
        "--settings",
    ];
    let told = run(
        &[&ignoring[..], &[&path("unknown.json")]].concat(),
        input("PreToolUse").to_string().as_bytes(),
    );
    assert!(
        told.stdout.contains("\"allow\"") && told.stderr.contains("ignored `permissions.denny`"),
        "{told:?}"
    );
}

#[test]
fn settings_that_deny_instead_of_asking_deny() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("settings.json");
    let settings = r#"{"permissions":{"denyInsteadOfPrompting":true,"ask":["Bash(make *)"]}}"#;
    fs::write(&file, settings).unwrap();
    let arguments = ["hook", "pre-tool-use", "--settings", file.to_str().unwrap()];
    let decision = |command: &str| {
        let told = run(&arguments, &listing(directory.path(), command));
        let answer: Option<Value> = serde_json::from_str(&told.stdout).ok();
        answer.map(|answer| answer["hookSpecificOutput"]["permissionDecision"].clone())
    };
    assert_eq!(decision("make x"), Some(json!("deny")));
    assert_eq!(decision("ls"), Some(json!("allow")));
    // The agent decides whether to ask about it.
    assert_eq!(decision("npm test"), None);
}

/// Each denial has its own reason.
#[test]
fn built_in_rules_have_their_own_reasons() {
    let dont_ask = ["hook", "pre-tool-use", "--permission-mode", "dontAsk"];
    for (command, reason) in [
        ("rm -rf /", "denied, since it removes a critical path"),
        (
            "echo x > .envrc",
            "denied, since it changes a file that determines which programs run",
        ),
        ("f() { ls; }; f", "denied, since it cannot be parsed"),
        ("npm test", "denied in the mode `dontAsk`"),
        ("ls", "it only reads"),
    ] {
        let told = run(&dont_ask, &listing(Path::new("/srv"), command));
        let answer: Value = serde_json::from_str(&told.stdout).unwrap();
        let answered = &answer["hookSpecificOutput"]["permissionDecisionReason"];
        assert_eq!(answered, reason, "{command}");
    }
}

/// The shell's directory may have changed since the session began; rules refer to the project.
#[test]
fn rules_are_relative_to_the_project_of_the_agent() {
    let project = tempfile::tempdir().unwrap();
    let below = project.path().join("src");
    fs::create_dir_all(project.path().join(".claude")).unwrap();
    fs::create_dir(&below).unwrap();
    let settings = project.path().join(".claude/settings.json");
    let deny = r#"{"permissions":{"deny":["Read(/secret/**)"]}}"#;
    fs::write(&settings, deny).unwrap();
    let asked = |directory: &Path, file: &str| {
        let input = listing(directory, &format!("cat {file}"));
        let path = project.path().join("input.json");
        fs::write(&path, input).unwrap();
        let told = command()
            .args(["hook", "pre-tool-use", "--settings"])
            .arg(&settings)
            .env("CLAUDE_PROJECT_DIR", project.path())
            .stdin(fs::File::open(&path).unwrap())
            .output()
            .unwrap();
        let answer: Value = serde_json::from_slice(&told.stdout).unwrap();
        answer["hookSpecificOutput"]["permissionDecision"].clone()
    };
    assert_eq!(asked(project.path(), "secret/key"), "deny");
    assert_eq!(asked(&below, "../secret/key"), "deny");
    assert_eq!(asked(&below, "secret/key"), "allow");
}

/// The commands in the settings of `examples/hooks` work.
#[test]
fn the_settings_in_the_examples_work() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hooks");
    let input = json!({
        "hook_event_name": "PermissionRequest", "tool_name": "Bash", "cwd": "/",
        "tool_input": { "command": "cat .env" },
    });
    let mut commands = 0;
    for name in ["claude", "qwen", "gemini", "codex"] {
        let is_toml = name == "codex";
        let file = if is_toml {
            "codex-config.toml"
        } else {
            &format!("{name}-settings.json")
        };
        let text = fs::read_to_string(examples.join(file)).unwrap();
        let settings: Value = if is_toml {
            toml::from_str(&text).unwrap()
        } else {
            serde_json::from_str(&text).unwrap()
        };
        let groups = settings["hooks"].as_object().unwrap().values();
        for group in groups.flat_map(|groups| groups.as_array().unwrap()) {
            let line = group["hooks"][0]["command"].as_str().unwrap();
            let told = shell(&format!("printf '%s' '{input}' | {line}"));
            assert!(
                told.stdout.contains("\"behavior\":\"deny\""),
                "{line}: {told:?}"
            );
            commands += 1;
        }
    }
    assert_eq!(commands, 6);
}
