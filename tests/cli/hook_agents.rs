//! `hook`: each agent's inputs, and what it does after the response.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::turnpipe::{Run, command, run, run_in};

/// What an agent does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Runs it.
    Runs,
    /// Does not run it.
    Denied,
    /// Asks its user.
    Asks,
    /// Decides as without the hook.
    Decides,
    /// Takes the response for an error.
    Fails,
}

use Effect::{Asks, Decides, Denied, Fails, Runs};

/// How an agent reads the end of a hook before a call, by its documentation or runs of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// `hookSpecificOutput.permissionDecision`: Claude Code, Qwen Code, Droid, VS Code.
    Claude,
    /// The same, and everything but a denial is an error.
    Codex,
    /// `permissionDecision`, and any failure denies.
    Copilot,
    /// `decision`.
    Gemini,
    /// `permission`; an empty response is blocked by some versions.
    Cursor,
    /// `hookSpecificOutput.decision.behavior`; the user is asked anyway.
    Request,
    /// `behavior`.
    CopilotRequest,
}

impl Reader {
    fn effect(self, output: &Run) -> Effect {
        let answer: Option<Value> = serde_json::from_str(&output.stdout).ok();
        match (output.status, &answer) {
            // Claude Code and Qwen Code ignore it there, and ask.
            (Some(2), _) if self == Self::Request => return Asks,
            (Some(2), _) => return Denied,
            (Some(0), None) if output.stdout.is_empty() => {
                return if self == Self::Cursor {
                    Denied
                } else {
                    Decides
                };
            }
            (Some(0), Some(_)) => {}
            _ if self == Self::Copilot => return Denied,
            _ => return Decides,
        }
        let answer = answer.unwrap();
        let pointer = match self {
            Self::Claude | Self::Codex => "/hookSpecificOutput/permissionDecision",
            Self::Copilot => "/permissionDecision",
            Self::Gemini => "/decision",
            Self::Cursor => "/permission",
            Self::Request => "/hookSpecificOutput/decision/behavior",
            Self::CopilotRequest => "/behavior",
        };
        match (self, answer.pointer(pointer).and_then(Value::as_str)) {
            (_, Some("deny")) => Denied,
            (Self::Codex, _) => Fails,
            (_, Some("allow")) => Runs,
            (Self::Claude | Self::Copilot | Self::Cursor, Some("ask")) => Asks,
            _ => Fails,
        }
    }
}

/// An input of an agent: its name, how it reads responses, and the input with this command.
type Sample = (&'static str, Reader, fn(&str) -> Value);

const SAMPLES: [Sample; 15] = [
    ("Claude Code", Reader::Claude, |command| {
        json!({"session_id": "S", "transcript_path": "/h/S.jsonl", "cwd": "/srv", "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t"})
    }),
    ("Claude Code, asking", Reader::Request, |command| {
        json!({"session_id": "S", "cwd": "/srv", "permission_mode": "default",
            "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": command}})
    }),
    ("Qwen Code", Reader::Claude, |command| {
        json!({"session_id": "S", "cwd": "/srv", "hook_event_name": "PreToolUse", "timestamp": "2026-01-02T03:04:05Z",
            "tool_name": "run_shell_command", "tool_input": {"command": command, "is_background": false}})
    }),
    ("Qwen Code, asking", Reader::Request, |command| {
        json!({"session_id": "S", "cwd": "/srv", "hook_event_name": "PermissionRequest",
            "timestamp": "2026-01-02T03:04:05Z", "tool_name": "run_shell_command",
            "tool_input": {"command": command, "is_background": false}})
    }),
    ("Codex", Reader::Codex, |command| {
        json!({"session_id": "S", "turn_id": "1", "transcript_path": null, "cwd": "/srv", "model": "m",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "c"})
    }),
    ("Codex, asking", Reader::Request, |command| {
        json!({"session_id": "S", "turn_id": "1", "cwd": "/srv", "hook_event_name": "PermissionRequest",
            "tool_name": "Bash", "tool_input": {"command": command, "description": null}})
    }),
    ("Gemini CLI", Reader::Gemini, |command| {
        json!({"session_id": "S", "cwd": "/srv", "hook_event_name": "BeforeTool", "timestamp": "2026-01-02T03:04:05Z",
            "tool_name": "run_shell_command", "tool_input": {"command": command}})
    }),
    ("Copilot CLI", Reader::Copilot, |command| {
        json!({"sessionId": "S", "timestamp": 1_767_323_045_000_u64, "cwd": "/srv", "toolName": "bash",
            "toolArgs": {"command": command, "description": "d"}})
    }),
    (
        "Copilot CLI, with arguments as text",
        Reader::Copilot,
        |command| {
            let arguments = json!({"command": command}).to_string();
            json!({"timestamp": 1, "cwd": "/srv", "toolName": "bash", "toolArgs": arguments})
        },
    ),
    (
        "Copilot CLI, checking permission",
        Reader::CopilotRequest,
        |command| json!({"sessionId": "S", "timestamp": 1, "cwd": "/srv", "toolName": "bash", "toolInput": {"command": command}}),
    ),
    ("Cursor", Reader::Cursor, |command| {
        json!({"conversation_id": "C", "generation_id": "G", "hook_event_name": "preToolUse", "cursor_version": "3.4",
            "workspace_roots": ["/srv"], "tool_name": "Shell", "tool_input": {"command": command, "cwd": ""}, "cwd": ""})
    }),
    ("Cursor, commands", Reader::Cursor, |command| {
        json!({"conversation_id": "C", "hook_event_name": "beforeShellExecution", "cursor_version": "3.4",
            "workspace_roots": ["/srv"], "command": command, "cwd": "", "sandbox": false})
    }),
    ("Droid", Reader::Claude, |command| {
        json!({"session_id": "S", "transcript_path": "/h/S.jsonl", "cwd": "/srv", "permission_mode": "off",
            "hook_event_name": "PreToolUse", "tool_name": "Execute", "tool_input": {"command": command}})
    }),
    ("VS Code", Reader::Claude, |command| {
        json!({"timestamp": "2026-01-02T03:04:05Z", "sessionId": "S", "cwd": "/srv", "hookEventName": "PreToolUse",
            "tool_name": "run_in_terminal", "tool_input": {"command": command, "isBackground": false}, "tool_use_id": "t"})
    }),
    (
        "opencode and pi, by their scripts",
        Reader::Claude,
        |command| {
            json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/srv", "tool_name": "bash",
            "tool_input": {"command": command}})
        },
    ),
];

fn hook(input: &[u8]) -> Run {
    run(
        &[
            "hook",
            "pre-tool-use",
            "--deny",
            "Bash(rm *)",
            "--ask",
            "Bash(make *)",
        ],
        input,
    )
}

#[test]
fn each_agent_obeys_what_the_rules_decide() {
    for (name, reader, sample) in SAMPLES {
        let effect = |command| {
            let output = hook(sample(command).to_string().as_bytes());
            assert_eq!(
                (output.status, &*output.stderr),
                (Some(0), ""),
                "{name}: {output:?}"
            );
            reader.effect(&output)
        };
        assert_eq!(effect("rm -rf build"), Denied, "{name}");
        let allowed = if reader == Reader::Codex {
            Decides
        } else {
            Runs
        };
        assert_eq!(effect("ls"), allowed, "{name}");
        let open = if reader == Reader::Cursor {
            Asks
        } else {
            Decides
        };
        assert_eq!(effect("npm test"), open, "{name}");
        let asked = match reader {
            Reader::Claude | Reader::Copilot | Reader::Cursor => Asks,
            _ => Decides,
        };
        assert_eq!(effect("make all"), asked, "{name}");
    }
}

/// Returns the response of the hook that moves commands into a sandbox.
fn run_sandbox_hook(input: &Value) -> (Run, Value) {
    let output = run(
        &[
            "hook",
            "pre-tool-use",
            "--sandbox",
            "--deny",
            "Bash(rm *)",
            "--ask",
            "Bash(make *)",
        ],
        input.to_string().as_bytes(),
    );
    assert_eq!((output.status, &*output.stderr), (Some(0), ""), "{input}");
    let response = serde_json::from_str(&output.stdout).unwrap_or_default();
    (output, response)
}

#[test]
fn no_agent_runs_a_command_outside_of_the_sandbox() {
    let moved = |script: &str| {
        let script = shlex::try_quote(script).unwrap();
        let program = env!("CARGO_BIN_EXE_turnpipe");
        format!("{program} sandbox --required -- bash -c {script}")
    };
    for (name, reader, sample) in SAMPLES {
        for (command, of_claude, of_request) in [
            ("rm -rf build", Denied, Denied),
            ("ls", Runs, Runs),
            ("npm test", Decides, Denied),
            ("make all", Asks, Denied),
            ("echo 'it''s' \"$x\" \\\n\u{fffd}", Decides, Denied),
            // The model does not choose what a sandbox permits.
            ("turnpipe sandbox --mode files -- ls", Decides, Denied),
        ] {
            let (output, response) = run_sandbox_hook(&sample(command));
            let specific = &response["hookSpecificOutput"];
            let (place, expected) = match name {
                "Claude Code" => (specific, of_claude),
                "Claude Code, asking" | "Qwen Code, asking" => (&specific["decision"], of_request),
                _ => (specific, Denied),
            };
            let mut input = sample(&moved(command))["tool_input"].take();
            if expected == Denied {
                input = Value::Null;
            }
            assert_eq!(place["updatedInput"], input, "{name}: {command}");
            let effect = match reader.effect(&output) {
                Fails if expected == Decides => Decides,
                effect => effect,
            };
            assert_eq!(effect, expected, "{name}: {command}");
            assert!(
                effect != Denied
                    || command.starts_with("rm")
                    || output.stdout.contains("one call of: "),
                "{name}: {output:?}"
            );
            // Moved already, it is decided as without a sandbox.
            let again = run_sandbox_hook(&sample(&moved(command))).0;
            assert_eq!(
                again,
                hook(sample(command).to_string().as_bytes()),
                "{name}"
            );
        }
    }
    let own = moved("make");
    for other in [
        own.replace("--required", "--mode files"),
        own.replacen('/', "/./", 1),
        own.replace("make", "\"$(make)\""),
        format!("{own}; npm test"),
        format!("{own} > a"),
        format!("X=1 {own}"),
    ] {
        let (_, response) = run_sandbox_hook(&SAMPLES[0].2(&other));
        let input = &response["hookSpecificOutput"]["updatedInput"];
        assert_eq!(input["command"], moved(&other), "moved again");
    }
    // Agents that run the hooks of Claude Code, and a command that no line can say.
    let mut input = SAMPLES[0].2("ls");
    input["tool_input"]["timeout"] = json!(5);
    let (_, response) = run_sandbox_hook(&input);
    assert_eq!(response["hookSpecificOutput"]["updatedInput"]["timeout"], 5);
    for (member, value) in [
        ("timestamp", json!("2026-01-02T03:04:05Z")),
        ("cursor_version", json!("3.4")),
        ("turn_id", json!("1")),
        ("tool_name", json!("Execute")),
        ("tool_use_id", Value::Null),
        ("tool_input", json!({"command": "a\u{0}b"})),
        ("tool_input", json!({"command": ["ls"]})),
    ] {
        let mut input = SAMPLES[0].2("ls");
        input[member] = value;
        let (output, _) = run_sandbox_hook(&input);
        assert!(
            output.stdout.contains("deny") && !output.stdout.contains("updated"),
            "{output:?}"
        );
    }
}

/// Otherwise a call that a rule denies would run.
#[test]
fn no_agent_runs_a_call_that_cannot_be_judged() {
    for (name, reader, sample) in SAMPLES {
        let whole = sample("ls").to_string();
        let mut unknown = sample("ls");
        let member = if unknown.get("hookEventName").is_some() {
            "hookEventName"
        } else {
            "hook_event_name"
        };
        unknown[member] = json!("BeforeEverything");
        let mut nameless = sample("ls");
        for member in ["tool_name", "toolName", "command"] {
            nameless.as_object_mut().unwrap().remove(member);
        }
        let mut inputs = vec![
            unknown.to_string(),
            whole[..whole.len() - 2].to_owned(),
            format!("[{whole}]"),
            format!("{whole} {whole}"),
            String::new(),
            "\u{feff}\n".to_owned(),
            "{}".to_owned(),
        ];
        if reader != Reader::Cursor {
            inputs.push(nameless.to_string());
        }
        for input in inputs {
            let output = hook(input.as_bytes());
            assert_eq!(
                (output.status, &*output.stdout),
                (Some(2), ""),
                "{name}: {input} {output:?}"
            );
            let effect = reader.effect(&output);
            assert!(matches!(effect, Denied | Asks), "{name}: {input}");
            for event in ["PreToolUse", "BeforeTool", "beforeShellExecution"] {
                assert!(output.stderr.contains(event), "{name}: {output:?}");
            }
        }
    }
}

/// Status 2 would make an agent go on after its answer, or hide a result from the model.
#[test]
fn events_without_a_call_to_come_are_not_denied() {
    for input in [
        json!({"hook_event_name": "Stop", "cwd": "/srv", "stop_hook_active": false}),
        json!({"hook_event_name": "AfterAgent", "cwd": "/srv", "prompt": "p", "prompt_response": "r"}),
        json!({"hook_event_name": "UserPromptSubmit", "cwd": "/srv", "prompt": "rm -rf build"}),
        json!({"hook_event_name": "PostToolUse", "cwd": "/srv", "tool_name": "Bash", "tool_input": {"command": "ls"},
            "tool_response": {"stdout": ""}}),
        json!({"hook_event_name": "afterShellExecution", "command": "ls", "output": "", "duration": 1}),
        json!({"hook_event_name": "afterFileEdit", "file_path": "/srv/a", "edits": []}),
        json!({"sessionId": "S", "timestamp": 1, "cwd": "/srv", "toolName": "bash", "toolArgs": {"command": "ls"},
            "toolResult": {"resultType": "success", "textResultForLlm": ""}}),
    ] {
        let output = hook(input.to_string().as_bytes());
        assert_eq!(
            (output.status, &*output.stdout),
            (Some(1), ""),
            "{input} {output:?}"
        );
        assert!(output.stderr.contains("PreToolUse"), "{output:?}");
    }
}

#[test]
fn marks_before_the_input_are_skipped() {
    let (_, reader, sample) = SAMPLES[9];
    for marks in ["\u{feff}", "\u{feff}\u{feff}", " \n\u{feff} "] {
        let output = hook(format!("{marks}{}\r\n", sample("rm x")).as_bytes());
        assert_eq!(reader.effect(&output), Denied, "{output:?}");
    }
}

/// Rules for files are relative to the project.
#[test]
fn the_directory_is_found_where_the_input_has_none() {
    let project = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    let path = project.path();
    let input = other.path().join("input.json");
    let cwd_of = |members: Value, variable: Option<&str>, here: &Path| {
        let mut call = json!({"hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"command": "ls"}});
        for (name, value) in members.as_object().unwrap() {
            call[name] = value.clone();
        }
        fs::write(&input, call.to_string()).unwrap();
        let log = other.path().join("log.jsonl");
        let mut hook = command();
        hook.args(["hook", "pre-tool-use", "--log"])
            .arg(&log)
            .current_dir(here);
        hook.envs(variable.map(|name| (name, path)));
        let output = hook
            .stdin(fs::File::open(&input).unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let record: Value =
            serde_json::from_str(fs::read_to_string(&log).unwrap().lines().last().unwrap())
                .unwrap();
        record["cwd"].as_str().unwrap().to_owned()
    };
    let here = other.path();
    let path = path.to_str().unwrap();
    assert_eq!(
        cwd_of(
            json!({"cwd": "/srv", "workspace_roots": [path]}),
            None,
            here
        ),
        "/srv"
    );
    assert_eq!(
        cwd_of(
            json!({"cwd": "", "workspace_roots": [path, "/b"]}),
            None,
            here
        ),
        path
    );
    assert_eq!(cwd_of(json!({"workspaceRoots": [path]}), None, here), path);
    assert_eq!(
        cwd_of(json!({"cwd": "sub", "workspace_roots": [path]}), None, here),
        format!("{path}/sub")
    );
    for variable in [
        "CLAUDE_PROJECT_DIR",
        "GEMINI_PROJECT_DIR",
        "QWEN_PROJECT_DIR",
        "CURSOR_PROJECT_DIR",
        "FACTORY_PROJECT_DIR",
    ] {
        assert_eq!(
            cwd_of(
                json!({"cwd": null, "workspace_roots": []}),
                Some(variable),
                here
            ),
            path
        );
    }
    assert_eq!(cwd_of(json!({}), None, project.path()), path);
}

/// Events of Cursor about one tool.
#[test]
fn events_about_files_servers_and_agents_are_judged() {
    let decision = |rules: &[&str], input: Value| {
        let arguments = [&["hook", "pre-tool-use"], rules].concat();
        let output = run(&arguments, input.to_string().as_bytes());
        assert_eq!(
            (output.status, &*output.stderr),
            (Some(0), ""),
            "{output:?}"
        );
        let answer: Value = serde_json::from_str(&output.stdout).unwrap();
        answer["permission"].as_str().unwrap().to_owned()
    };
    let read = |event: &str, file: &str, attached: &str| {
        json!({"hook_event_name": event, "workspace_roots": ["/srv"], "file_path": file, "content": "x",
            "attachments": [{"type": "rule", "file_path": attached}]})
    };
    let deny = ["--deny", "Read(.env)"];
    for event in ["beforeReadFile", "beforeTabFileRead"] {
        assert_eq!(decision(&deny, read(event, "/srv/.env", "/srv/a")), "deny");
        assert_eq!(decision(&deny, read(event, "/srv/a", "/srv/.env")), "deny");
        assert_eq!(decision(&deny, read(event, "/srv/a", "/srv/b")), "allow");
        // There is nothing to ask with.
        assert_eq!(
            decision(&["--ask", "Read(.env)"], read(event, "/srv/.env", "/srv/a")),
            "deny"
        );
    }
    let server = |name: &str, more: Value| {
        let mut input = json!({"hook_event_name": "beforeMCPExecution", "workspace_roots": ["/srv"], "tool_name": name,
            "tool_input": "{\"id\": 1}", "command": "npx files"});
        for (name, value) in more.as_object().into_iter().flatten() {
            input[name] = value.clone();
        }
        input
    };
    let named = json!({"mcp_server_name": "files"});
    assert_eq!(
        decision(&["--deny", "mcp__files__drop"], server("drop", json!({}))),
        "deny"
    );
    assert_eq!(
        decision(&["--deny", "mcp__files"], server("list", json!({}))),
        "deny"
    );
    assert_eq!(
        decision(&["--deny", "mcp__files__drop"], server("list", json!({}))),
        "ask"
    );
    assert_eq!(
        decision(&["--allow", "mcp__files__list"], server("list", json!({}))),
        "ask"
    );
    assert_eq!(
        decision(
            &["--allow", "mcp__files__list"],
            server("list", named.clone())
        ),
        "allow"
    );
    assert_eq!(
        decision(&["--deny", "mcp__other"], server("list", named)),
        "ask"
    );
    let start = |kind: &str| {
        json!({"hook_event_name": "subagentStart", "workspace_roots": ["/srv"],
        "subagent_id": "1", "subagent_type": kind, "task": "t"})
    };
    assert_eq!(
        decision(&["--deny", "Agent(explore)"], start("explore")),
        "deny"
    );
    assert_eq!(
        decision(&["--deny", "Agent(explore)"], start("shell")),
        "allow"
    );
}

#[test]
fn the_server_of_a_tool_is_found_in_the_context() {
    let input = json!({"hook_event_name": "BeforeTool", "cwd": "/srv", "tool_name": "mcp_my.files_drop",
        "tool_input": {}, "mcp_context": {"server_name": "my.files", "tool_name": "drop"}});
    let output = run(
        &["hook", "pre-tool-use", "--deny", "mcp__my.files"],
        input.to_string().as_bytes(),
    );
    assert_eq!(Reader::Gemini.effect(&output), Denied, "{output:?}");
}

#[test]
fn arguments_of_any_form_are_judged_or_denied() {
    let effect = |tool: &str, arguments: Value| {
        let input = json!({"cwd": "/srv", "toolName": tool, "toolArgs": arguments});
        Reader::Copilot.effect(&run(
            &["hook", "pre-tool-use", "--deny", "Edit(*.lock)"],
            input.to_string().as_bytes(),
        ))
    };
    let patch = "*** Begin Patch\n*** Update File: a.lock\n@@\n-a\n+b\n*** End Patch\n";
    assert_eq!(effect("apply_patch", json!(patch)), Denied);
    assert_eq!(
        effect("apply_patch", json!(patch.replace("a.lock", "a.rs"))),
        Decides
    );
    assert_eq!(effect("bash", Value::Null), Denied);
    assert_eq!(effect("bash", json!("{\"command\": \"ls")), Denied);
    assert_eq!(effect("bash", json!(["ls"])), Denied);
    assert_eq!(effect("view", json!("{\"path\": \"/srv/a\"}")), Decides);
}

#[test]
fn the_log_tells_subagents_apart() {
    let directory = tempfile::tempdir().unwrap();
    let log = |input: &Value| {
        let arguments = ["hook", "pre-tool-use", "--log", "log.jsonl"];
        let output = run_in(directory.path(), &arguments, input.to_string().as_bytes());
        assert_eq!(output.status, Some(0), "{output:?}");
        let text = fs::read_to_string(directory.path().join("log.jsonl")).unwrap();
        let record: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        ["agent", "session_id", "agent_id", "agent_type"].map(|name| record[name].clone())
    };
    let (_, _, claude) = SAMPLES[0];
    assert_eq!(
        log(&claude("ls")),
        [Value::Null, json!("S"), Value::Null, Value::Null]
    );
    let mut inside = claude("npm test");
    inside["agent_id"] = json!("a1b2");
    inside["agent_type"] = json!("Explore");
    assert_eq!(
        log(&inside),
        [Value::Null, json!("S"), json!("a1b2"), json!("Explore")]
    );
    let output = run_in(
        directory.path(),
        &["hook", "explain", "log.jsonl", "-o", "text"],
        b"",
    );
    assert_eq!(
        output
            .stdout
            .matches("in the subagent Explore a1b2\n")
            .count(),
        1,
        "{output:?}"
    );
    inside["agent_type"] = json!("");
    assert_eq!(log(&inside)[2..], [json!("a1b2"), json!("")]);
    let agents = SAMPLES.map(|(_, _, sample)| log(&sample("ls"))[0].clone());
    let known = |name: &str| agents.iter().filter(|agent| **agent == name).count();
    assert_eq!(
        ["codex", "gemini", "copilot", "cursor"].map(known),
        [2, 1, 3, 2]
    );
}

#[test]
fn a_rule_for_a_subagent_is_for_its_calls_alone() {
    let directory = tempfile::tempdir().unwrap();
    let settings = directory.path().join("rules.json");
    let rule = |rule: &str, subagent: &str| json!({"rule": rule, "subagent": subagent});
    let rules = json!({"permissions": {
        "deny": [rule("Bash(git push *)", "reviewer"), rule("Bash(docker *)", "*")],
        "ask": [rule("Bash(make *)", "reviewer")],
        "allow": [rule("Bash(npm *)", "reviewer"), rule("Bash(cargo *)", "*")],
    }});
    fs::write(&settings, rules.to_string()).unwrap();
    // The effects of `git push`, `docker ps`, `make`, `npm test` and `cargo test` by the subagent that calls.
    let table = [
        (Value::Null, Value::Null, [Decides; 5]),
        (
            json!("1"),
            json!("reviewer"),
            [Denied, Denied, Asks, Runs, Runs],
        ),
        (
            json!("1"),
            json!("writer"),
            [Decides, Denied, Decides, Decides, Runs],
        ),
        // The agent's own, and one that is not named: each may be the one of the rule.
        (json!("1"), json!(""), [Denied, Denied, Asks, Decides, Runs]),
        (
            json!("1"),
            Value::Null,
            [Denied, Denied, Asks, Decides, Runs],
        ),
        // The main agent that was started as one.
        (
            Value::Null,
            json!("reviewer"),
            [Denied, Denied, Asks, Runs, Runs],
        ),
    ];
    let commands = [
        "git push",
        "docker ps",
        "make all",
        "npm test",
        "cargo test",
    ];
    let (_, reader, sample) = SAMPLES[0];
    for (id, kind, expected) in table {
        let effects = commands.map(|command| {
            let mut input = sample(command);
            input["agent_id"] = id.clone();
            input["agent_type"] = kind.clone();
            let settings = settings.to_str().unwrap();
            let arguments = ["hook", "pre-tool-use", "--settings", settings];
            reader.effect(&run(&arguments, input.to_string().as_bytes()))
        });
        assert_eq!(effects, expected, "{id} {kind}");
    }
    let settings = settings.to_str().unwrap();
    let arguments = ["check", "permission", "--plain", "--settings", settings];
    for (subagent, expected) in [(&[][..], "ask"), (&["--subagent", "reviewer"], "deny")] {
        let told = run(&[&arguments, subagent].concat(), b"git push\n");
        assert!(
            told.stdout
                .contains(&format!("\"decision\":\"{expected}\"")),
            "{told:?}"
        );
    }
}
