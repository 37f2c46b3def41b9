//! `hook`: responses to other agents.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::skip::search_path;
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
        let output = run(&arguments, input.to_string().as_bytes());
        assert_eq!((output.status, &*output.stderr), (Some(0), ""), "{row}");
        let answer = match &*output.stdout {
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
fn files_of_processes_are_in_no_working_directory() {
    for (directory, command, is_allowed) in [
        ("/etc", "cat passwd", true),
        ("/", "cat proc/self/environ", false),
        ("/", "cat /proc/1/environ", false),
        ("/", "head -c9 < /proc/self/mem", false),
        ("/", "grep X /proc/*/environ", false),
        ("/", "cat etc/../proc/self/environ", false),
        ("/", "cd proc && ls", false),
        ("/proc/self", "cat environ", false),
        ("/proc/self", "ls", false),
    ] {
        let output = run(
            &["hook", "pre-tool-use"],
            &listing(Path::new(directory), command),
        );
        let allows = output.stdout.contains("\"permissionDecision\":\"allow\"");
        assert_eq!(allows, is_allowed, "{directory}: {command}");
    }
}

#[test]
fn commands_with_languages_are_allowed_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let hook = |arguments: &[&str], command: &str| {
        let arguments = [&["hook", "pre-tool-use"], arguments].concat();
        let output = run(&arguments, &listing(folder.path(), command));
        assert_eq!((output.status, &*output.stderr), (Some(0), ""), "{command}");
        output.stdout.contains("\"permissionDecision\":\"allow\"")
    };
    let trust = ["--trust-analysis"];
    let deny = ["--trust-analysis", "--deny", "Read(.env)"];
    for command in ["git reflog", "tar -tf a.tar", "gzip -cd a.gz"] {
        assert!(!hook(&[], command), "{command}");
        assert!(hook(&trust, command), "{command}");
    }
    for command in [
        "git log --oneline | head",
        "find . -name '*.rs'",
        "sed -n 1,9p a",
        "awk '{print \"\\t\" $1}' a",
    ] {
        assert!(hook(&[], command), "{command}");
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

/// The shell of the agent has the agent's variables.
#[test]
fn commands_that_print_variables_are_left_to_the_agent() {
    let folder = tempfile::tempdir().unwrap();
    let is_allowed = |arguments: &[&str], directory: &Path, command: &str| {
        let arguments = [&["hook", "pre-tool-use", "--shell", "bash"], arguments].concat();
        let output = run(&arguments, &listing(directory, command));
        assert_eq!((output.status, &*output.stderr), (Some(0), ""), "{command}");
        output.stdout.contains("\"permissionDecision\":\"allow\"")
    };
    for command in [
        "printenv TOKEN",
        "env",
        "ps auxe",
        "jq -n env",
        "printf %s \"$API_KEY\"",
        "ls; echo $API_KEY",
    ] {
        for arguments in [&[][..], &["--trust-analysis"], &["--allow", "Bash(ls)"]] {
            assert!(!is_allowed(arguments, folder.path(), command), "{command}");
        }
        assert!(is_allowed(&["--allow", "Bash"], folder.path(), command));
    }
    for command in ["printenv HOME", "ps aux", "jq .a a.json", "echo $HOME"] {
        assert!(is_allowed(&[], folder.path(), command), "{command}");
    }
    // Files of processes hold their variables.
    for command in [
        "cat /proc/self/environ",
        "strings /proc/$PPID/environ",
        "tr '\\0' ' ' < /proc/1/environ",
        "cat proc/self/environ",
    ] {
        assert!(!is_allowed(&[], Path::new("/"), command), "{command}");
    }
    assert!(is_allowed(&[], Path::new("/etc"), "cat /etc/a"));
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
        let output = run(&["hook", "pre-tool-use"], &listing(inside, command));
        output.stdout.contains("\"permissionDecision\":\"allow\"")
    };
    for command in [
        "cat a.txt",
        "cat *.txt sub/x*",
        "ls",
        "find . -iname '*a*'",
        "grep -n '/api|https://x' a.txt",
        "ls .g*",
        "echo * sub/* $?",
        "for file in */ a*; do echo \"$file\"; done",
        "md5sum a.txt",
    ] {
        assert!(is_allowed(command), "{command}");
    }
    for command in [
        "cat l",
        "cat link/x",
        "cat l*/x",
        "cat link/*",
        "cat sub/f*",
        "cd sub && cat *",
        "find . -name l -exec cat {} +",
        "find . -type l -exec head -1 {} \\;",
        "sed --expression=p ../a",
        // Links whose name is also a letter of an option.
        "date -fl",
        "diff --from-file=l a.txt",
        // Dash matches `..`.
        "grep -r x .*",
        "ls .?",
        // The shell looks for names.
        "echo ../*",
        "for file in ../*; do echo \"$file\"; done",
        "for file in {a,sub/*/../../../*}; do echo \"$file\"; done",
        // The file names others.
        "md5sum -c a.txt",
        "cksum --check a.txt",
        "git config -f a.txt --includes --list",
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
fn errors_of_the_command_are_neither_a_decision_nor_a_denial() {
    let directory = tempfile::tempdir().unwrap();
    let ls = listing(directory.path(), "ls");
    let hook = ["hook", "pre-tool-use"];
    let names: [&[&str]; 4] = [
        &["hook"],
        &["hook", "pre-tool-use", "--bogus"],
        &["hook", "pre-tool"],
        &["-q", "hook", "pre-tool-use", "--allow"],
    ];
    for arguments in names {
        let output = run(arguments, &ls);
        assert_eq!(
            (output.status, &*output.stdout),
            (Some(1), ""),
            "{arguments:?}"
        );
    }
    let clock = command()
        .args(hook)
        .env("TURNPIPE_CLOCK", "never")
        .output()
        .unwrap();
    assert_eq!(clock.status.code(), Some(1));
}

/// Otherwise the agent, which can read the call, would run it.
#[test]
fn arguments_that_cannot_be_read_are_denied() {
    let nested = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    for other in [&*nested, "1e999"] {
        let input = format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"/","tool_input":{{"command":"ls","x":{other}}}}}"#
        );
        let output = run(&["hook", "pre-tool-use"], input.as_bytes());
        assert_eq!(output.status, Some(0), "{}", output.stderr);
        assert!(output.stdout.contains(r#""permissionDecision":"deny""#));
        assert!(
            output.stderr.contains("invalid arguments"),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn a_call_with_invalid_text_is_judged() {
    let start = &br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"/","tool_input":{"command":"rm "#[..];
    let input = [start, b"\xff", br#""}}"#].concat();
    let output = run(&["hook", "pre-tool-use", "--deny", "Bash(rm *)"], &input);
    assert_eq!((output.status, &*output.stderr), (Some(0), ""));
    assert!(output.stdout.contains(r#""permissionDecision":"deny""#));
}

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
    let input = |event: &str| json!({"hook_event_name": event, "tool_name": "Bash", "cwd": directory.path(), "tool_input": {"command": "ls"}});
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
            let output = hook("pre-tool-use", &input);
            assert_eq!(output.status, Some(0), "{output:?}");
            let answer: Value = serde_json::from_str(&output.stdout).unwrap();
            let answer = &answer["hookSpecificOutput"];
            assert_eq!(answer["permissionDecision"], "deny", "{output:?}");
            let reason = answer["permissionDecisionReason"].as_str().unwrap();
            assert!(
                reason.contains(problem) && output.stderr.contains(problem),
                "{output:?}"
            );
        }
        let output = hook("pre-tool-use", &input("BeforeTool"));
        let answer: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(
            (output.status, &answer["decision"]),
            (Some(0), &json!("deny"))
        );
        let output = hook("pre-tool-use", &input("preToolUse"));
        let answer: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(answer["permission"], "deny");
        assert!(answer["agent_message"].as_str().unwrap().contains(problem));
        // The user is asked anyway.
        let output = hook("permission-request", &input("PermissionRequest"));
        assert_eq!(
            (output.status, &*output.stdout),
            (Some(1), ""),
            "{output:?}"
        );
    }
    let ignoring = [
        "hook",
        "pre-tool-use",
        "--ignore-unknown-settings",
        "--settings",
    ];
    let output = run(
        &[&ignoring[..], &[&path("unknown.json")]].concat(),
        input("PreToolUse").to_string().as_bytes(),
    );
    assert!(
        output.stdout.contains("\"allow\"")
            && output.stderr.contains("ignored `permissions.denny`"),
        "{output:?}"
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
        let output = run(&arguments, &listing(directory.path(), command));
        let answer: Option<Value> = serde_json::from_str(&output.stdout).ok();
        answer.map(|answer| answer["hookSpecificOutput"]["permissionDecision"].clone())
    };
    assert_eq!(decision("make x"), Some(json!("deny")));
    assert_eq!(decision("ls"), Some(json!("allow")));
    // The agent decides whether to ask about it.
    assert_eq!(decision("npm test"), None);
}

/// Each denial has its own reason.
#[test]
fn the_mode_of_settings_counts_unless_the_agent_reports_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("settings.json");
    for (of_settings, reported, command, decision) in [
        ("default", None, "npm test", Some("allow")),
        ("plan", None, "npm test", None),
        ("plan", Some("default"), "npm test", Some("allow")),
        ("default", Some("plan"), "npm test", None),
        ("dontAsk", None, "make", Some("deny")),
        ("dontAsk", Some("default"), "make", None),
        ("bypassPermissions", None, "make", Some("allow")),
        ("bypassPermissions", Some("acceptEdits"), "make", None),
    ] {
        let rules = json!({"permissions": {"defaultMode": of_settings, "allow": ["Bash(npm *)"]}});
        fs::write(&settings, rules.to_string()).unwrap();
        let input = json!({
            "hook_event_name": "PreToolUse", "permission_mode": reported, "cwd": folder.path(),
            "tool_name": "Bash", "tool_input": {"command": command},
        });
        let arguments = [
            "hook",
            "pre-tool-use",
            "--settings",
            settings.to_str().unwrap(),
        ];
        let output = run(&arguments, input.to_string().as_bytes());
        let response: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        let found = response["hookSpecificOutput"]["permissionDecision"].as_str();
        assert_eq!(found, decision, "{of_settings}, {reported:?}: {output:?}");
    }
}

#[test]
fn built_in_rules_have_their_own_reasons() {
    let dont_ask = ["hook", "pre-tool-use", "--permission-mode", "dontAsk"];
    for (command, reason) in [
        ("rm -rf /", "denied, since it removes a critical path"),
        (
            "echo x > .envrc",
            "denied, since it changes a file that determines which programs run",
        ),
        ("coproc ls", "denied, since it cannot be parsed"),
        ("npm test", "denied in the mode `dontAsk`"),
        ("ls", "it only reads"),
    ] {
        let output = run(&dont_ask, &listing(Path::new("/srv"), command));
        let answer: Value = serde_json::from_str(&output.stdout).unwrap();
        let answered = &answer["hookSpecificOutput"]["permissionDecisionReason"];
        assert_eq!(answered, reason, "{command}");
    }
}

#[test]
fn fields_that_may_change_what_runs_are_not_ignored() {
    let answer = |input: &str, arguments: &[&str]| {
        let call = format!(
            r#"{{"hook_event_name":"PreToolUse","cwd":"/srv","tool_name":"Bash","tool_input":{input}}}"#
        );
        let arguments = [&["hook", "pre-tool-use"], arguments].concat();
        let output = run(&arguments, call.as_bytes());
        let answer: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        answer["hookSpecificOutput"]["permissionDecision"].clone()
    };
    let both = r#"{"command":"rm -rf k","action":{"command":"ls"}}"#;
    assert_eq!(answer(both, &[]), Value::Null);
    assert_eq!(answer(both, &["--deny", "Bash(rm:*)"]), "deny");
    let path = r#"{"command":"ls","env":{"PATH":"/srv/bin"}}"#;
    assert_eq!(answer(path, &[]), Value::Null);
    // Zsh starts `cat`.
    assert_eq!(answer(r#"{"command":"> /dev/null"}"#, &[]), Value::Null);
    let nested = r#"{"action":{"command":"ls","action":{"command":"rm k"}}}"#;
    assert_eq!(answer(nested, &[]), Value::Null);
    let usual = r#"{"command":"ls","description":"x","timeout":5,"env":{}}"#;
    assert_eq!(answer(usual, &[]), "allow");
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
        let output = command()
            .args(["hook", "pre-tool-use", "--settings"])
            .arg(&settings)
            .env("CLAUDE_PROJECT_DIR", project.path())
            .stdin(fs::File::open(&path).unwrap())
            .output()
            .unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["hookSpecificOutput"]["permissionDecision"].clone()
    };
    assert_eq!(asked(project.path(), "secret/key"), "deny");
    assert_eq!(asked(&below, "../secret/key"), "deny");
    assert_eq!(asked(&below, "secret/key"), "allow");
}

#[test]
fn the_shell_that_claude_code_prefers_counts() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input.json");
    fs::write(&input, listing(folder.path(), "path=bin; ls")).unwrap();
    let rows = [
        (None, true),
        (Some("/bin/bash"), true),
        (Some("/bin/zsh"), false),
    ];
    for (preferred, expected) in rows {
        let mut hook = command();
        hook.args(["hook", "pre-tool-use"])
            .env("SHELL", "/bin/bash");
        hook.envs(preferred.map(|shell| ("CLAUDE_CODE_SHELL", shell)));
        let output = hook
            .stdin(fs::File::open(&input).unwrap())
            .output()
            .unwrap();
        let answer = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            answer.contains("\"allow\""),
            expected,
            "{preferred:?}: {answer}"
        );
    }
}

/// The agent may report a directory below the one where it and its hooks run.
#[test]
fn a_program_in_the_directory_of_the_hook_is_not_the_known_one() {
    let project = tempfile::tempdir().unwrap();
    let bin = project.path().join("bin");
    let below = project.path().join("src");
    fs::create_dir(&bin).unwrap();
    fs::create_dir(&below).unwrap();
    let path = project.path().join("input.json");
    fs::write(&path, listing(&below, "wc a.txt")).unwrap();
    let answered = || {
        let output = command()
            .args(["hook", "pre-tool-use"])
            .current_dir(project.path())
            .env("PATH", format!("{}:{}", bin.display(), search_path()))
            .stdin(fs::File::open(&path).unwrap())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(answered().contains("\"allow\""));
    fs::write(bin.join("wc"), "").unwrap();
    assert_eq!(answered(), "");
}

/// Runs the hook in `directory` with a log, for a call of Claude Code. Returns the response and the messages.
fn run_logged_hook(
    directory: &Path,
    log: &Path,
    command: &str,
    arguments: &[&str],
) -> (String, String) {
    let mut input: Value = serde_json::from_slice(&listing(directory, command)).unwrap();
    input["session_id"] = json!("s1");
    input["transcript_path"] = json!("/home/u/.claude/projects/-w/s1.jsonl");
    let log = log.to_str().unwrap();
    let words = ["hook", "pre-tool-use", "--log", log];
    let output = run(&[&words, arguments].concat(), input.to_string().as_bytes());
    assert_eq!(output.status, Some(0), "{output:?}");
    (output.stdout, output.stderr)
}

fn records(log: &Path) -> Vec<Value> {
    let text = fs::read_to_string(log).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    lines.collect()
}

#[test]
fn forty_hooks_at_once_log_forty_records() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("hook.jsonl");
    // Longer than the buffers of pipes and pages.
    let words = "word ".repeat(300);
    std::thread::scope(|scope| {
        for number in 0..40 {
            let command = format!("make target-{number} {words}");
            let (log, folder) = (&log, folder.path());
            scope.spawn(move || run_logged_hook(folder, log, &command, &[]));
        }
    });
    let mut numbers: Vec<u32> = records(&log)
        .iter()
        .map(|record| {
            let about = record["about"].as_str().unwrap();
            let target = about.split(' ').nth(1).unwrap();
            target.strip_prefix("target-").unwrap().parse().unwrap()
        })
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..40).collect::<Vec<_>>());
}

#[test]
fn a_log_that_cannot_be_written_changes_no_decision() {
    let folder = tempfile::tempdir().unwrap();
    let deny = ["--deny", "Bash(rm *)"];
    let log = folder.path().join("hook.jsonl");
    let missing = folder.path().join("missing/hook.jsonl");
    for command in ["ls", "rm -r build", "make"] {
        let (answer, message) = run_logged_hook(folder.path(), &log, command, &deny);
        assert_eq!(message, "");
        for log in [Path::new("/dev/full"), &missing, folder.path()] {
            let (other, message) = run_logged_hook(folder.path(), log, command, &deny);
            assert_eq!(other, answer, "{command}");
            assert_eq!(
                message.matches("cannot write the log").count(),
                1,
                "{message}"
            );
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}

#[test]
fn a_record_that_was_cut_off_does_not_swallow_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("hook.jsonl");
    fs::write(&log, r#"{"type":"hook_decision","timest"#).unwrap();
    run_logged_hook(folder.path(), &log, "make", &[]);
    let output = run(&["hook", "explain", log.to_str().unwrap(), "--json"], b"");
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(record["about"], "make");
}

#[test]
fn the_log_says_what_was_decided_and_why_without_secrets() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("hook.jsonl");
    let secret = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let command = format!("GH_TOKEN={secret} make publish && make clean");
    run_logged_hook(
        folder.path(),
        &log,
        &command,
        &["--allow", "Bash(make clean)"],
    );
    run_logged_hook(folder.path(), &log, "rm x", &["--deny", "Bash(rm *)"]);
    run_logged_hook(folder.path(), &log, "ls", &[]);
    let text = fs::read_to_string(&log).unwrap();
    assert!(!text.contains(&secret[4..]), "{text}");
    let records = records(&log);
    let decisions = records.iter().map(|record| {
        let answered = record["answered"].as_bool().unwrap();
        (record["decision"].as_str().unwrap(), answered)
    });
    let decisions: Vec<_> = decisions.collect();
    assert_eq!(decisions, [("ask", false), ("deny", true), ("allow", true)]);
    assert_eq!(records[1]["decided_by"]["rule"], "Bash(rm *)");
    assert_eq!(records[1]["decided_by"]["source"], "--deny");
    assert_eq!(records[1]["session_id"], "s1");
    assert_eq!(records[1]["cwd"], folder.path().to_str().unwrap());
}

#[test]
fn decisions_are_explained_with_the_rules_that_would_allow_them() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("hook.jsonl");
    run_logged_hook(folder.path(), &log, "rm x", &["--deny", "Bash(rm *)"]);
    run_logged_hook(folder.path(), &log, "git push && make", &[]);
    let explained = |arguments: &[&str]| {
        let words = ["hook", "explain", log.to_str().unwrap(), "-o", "text"];
        let output = run(&[&words, arguments].concat(), b"");
        assert_eq!((output.status, &*output.stderr), (Some(0), ""));
        let lines = output
            .stdout
            .lines()
            .map(|line| match line.strip_prefix("  ") {
                Some(line) => line.to_owned(),
                None => line.split_once("  ").unwrap().1.to_owned(),
            });
        lines.collect::<Vec<_>>()
    };
    let asked = [
        "ask    Bash  git push && make",
        "`git push`: no rule allows it",
        "left to the agent, which decided itself",
        "would be allowed by Bash(git push *) with Bash(make)",
    ];
    let denied = [
        "deny   Bash  rm x",
        "denied by the rule `Bash(rm *)` of --deny",
    ];
    assert_eq!(explained(&[]), [&denied[..], &asked].concat());
    assert_eq!(explained(&["--limit", "1"]), asked);
    assert_eq!(explained(&["--decision", "deny,allow"]), denied);
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
            let output = shell(&format!("printf '%s' '{input}' | {line}"));
            assert!(
                output.stdout.contains("\"behavior\":\"deny\""),
                "{line}: {output:?}"
            );
            commands += 1;
        }
    }
    assert_eq!(commands, 6);
}
