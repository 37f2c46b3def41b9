//! The scripts in `examples` that watch or title another agent, and the reviewer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use crate::agent_script::{call, wait_until};
use crate::executable::executable;
use crate::files::{TALK, claude, qwen, records, write};
use crate::server::{Server, completion, run_with_input, text_reply, titles};
use crate::skip::{is_missing, search_path};
use crate::turnpipe::Run;

/// Returns a script whose environment only has programs, a home directory and `variables`.
fn script(name: &str, folder: &Path, variables: &[(&str, &str)]) -> Command {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut command = Command::new(examples.join(name));
    command.env_clear();
    set_up(command, folder, variables)
}

fn set_up(mut command: Command, folder: &Path, variables: &[(&str, &str)]) -> Command {
    let binaries = Path::new(env!("CARGO_BIN_EXE_turnpipe")).parent().unwrap();
    let path = format!(
        "{}:{}:{}",
        folder.display(),
        binaries.display(),
        search_path()
    );
    command
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .envs(variables.iter().copied());
    command
}

/// Each agent replays its recorded stream, and every batch becomes a line.
#[test]
fn six_agents_are_labelled_while_they_run() {
    let streams = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/wire");
    let table = [
        (
            "claude",
            "claude-stream",
            "-p --output-format stream-json --verbose --model m do it",
            "● run-tests.sh failed\n",
        ),
        (
            "qwen",
            "qwen-stream",
            "--output-format stream-json --model m -p do it",
            "● run-tests.sh failed\n",
        ),
        (
            "codex",
            "codex-stream",
            "exec --json --model m do it",
            "● Read parser.rs, command and cat file.txt failed\n",
        ),
        (
            "gemini",
            "gemini-cli-stream",
            "--output-format stream-json --model m -p do it",
            "● Read of file.txt and no_such_tool failed, 2 more steps\n",
        ),
        (
            "pi",
            "pi-stream",
            "--mode json --model m do it",
            "● run-tests.sh failed\n",
        ),
        (
            "opencode",
            "opencode-stream",
            "run --format json --model m do it",
            "● Read demo/README.md, parser.rs and src/lib.rs\n● Edited parser.rs\n● Ran git diff, read parser.rs\n",
        ),
    ];
    for (agent, stream, arguments, labels) in table {
        let folder = tempfile::tempdir().unwrap();
        let stream = streams.join(stream).with_extension("jsonl");
        let program = format!(
            "#!/bin/sh\necho \"$*\" > arguments\nexec cat '{}'\n",
            stream.display()
        );
        executable(&folder.path().join(agent), &program);
        let variables = [("TURNPIPE_FAST_MODEL", "builtin")];
        let mut command = script("label-stream.sh", folder.path(), &variables);
        command.args([agent, "do it", "--model", "m"]);
        let run = run_with_input(command, "");
        assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{agent}");
        let told = fs::read_to_string(folder.path().join("arguments")).unwrap();
        assert_eq!(told.trim_end(), arguments, "{agent}");
        assert_eq!(run.stdout, labels, "{agent}");
    }
}

/// Runs the hook like an agent with these settings.
fn run_stop_hook(project: &Path, variables: &[(&str, &str)], input: &str) -> Run {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let name = "stop-hook-title.sh";
    let hooks = project.join(".claude/hooks");
    fs::create_dir_all(&hooks).unwrap();
    symlink(examples.join(name), hooks.join(name)).unwrap();
    let settings = fs::read_to_string(examples.join("hooks/title-settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let hook = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str();
    let mut command = Command::new("sh");
    command
        .args(["-c", hook.unwrap()])
        .env_clear()
        .env("CLAUDE_PROJECT_DIR", project);
    run_with_input(set_up(command, project, variables), input)
}

/// The model replies only after the hook has ended: the hook does not wait for the title.
#[test]
fn a_hook_titles_its_session_without_waiting() {
    if is_missing("jq") {
        return;
    }
    for (agent, text) in [("claude", claude(&TALK)), ("qwen", qwen(&TALK))] {
        let folder = tempfile::tempdir().unwrap();
        let session = write(folder.path(), "session.jsonl", &text);
        let (over, hook_is_over) = channel();
        let hook_is_over = Mutex::new(hook_is_over);
        let server = Server::start(
            Duration::ZERO,
            Box::new(move |_| {
                let waited = hook_is_over
                    .lock()
                    .unwrap()
                    .recv_timeout(Duration::from_mins(1));
                match waited {
                    Ok(()) => (200, titles("Make the parser faster")),
                    Err(_) => (400, String::new()),
                }
            }),
        );
        let address = format!("http://{}/v1", server.address);
        let variables = [
            ("TURNPIPE_FAST_MODEL", "openai:small"),
            ("OPENAI_API_KEY", "x"),
            ("OPENAI_BASE_URL", &*address),
        ];
        let input = json!({"session_id": "s", "transcript_path": session, "cwd": folder.path(),
            "hook_event_name": "Stop", "timestamp": "2026-11-21T21:14:02.145Z",
            "stop_hook_active": true, "last_assistant_message": "It is done."});
        let run = run_stop_hook(folder.path(), &variables, &input.to_string());
        assert_eq!(run, silence(), "{agent}");
        over.send(()).unwrap();
        wait_until("a title", || {
            fs::read_to_string(&session)
                .unwrap()
                .contains("Make the parser faster")
        });
    }
}

#[test]
fn a_hook_with_nothing_to_title_is_silent() {
    for input in ["", "{", "{}", r#"{"transcript_path":"/none/such.jsonl"}"#] {
        let folder = tempfile::tempdir().unwrap();
        let run = run_stop_hook(folder.path(), &[], input);
        assert_eq!(run, silence(), "{input}");
    }
}

fn silence() -> Run {
    Run {
        status: Some(0),
        stdout: String::new(),
        stderr: String::new(),
    }
}

/// Returns a repository with a change in its last commit.
fn repository() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("repository");
    fs::create_dir(&path).unwrap();
    let commits = "git init -q . && echo 'echo $1' > say.sh && git add . && git commit -qm first &&
        echo 'eval \"$1\"' > say.sh && git commit -qam second";
    let git = Command::new("sh")
        .args(["-c", commits])
        .current_dir(&path)
        .env_clear()
        .env("PATH", search_path())
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "a")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@b")))
        .output()
        .unwrap();
    assert!(git.status.success(), "{git:?}");
    (folder, path)
}

/// Returns a reviewer that reads the change, tries to write, and ends with this text.
fn reviewer(last_words: String) -> impl Fn(&Value) -> (u16, String) {
    move |body| {
        let messages = body["messages"].as_array().unwrap();
        if messages.iter().any(|message| message["role"] == "tool") {
            return (200, text_reply(&last_words));
        }
        let prompt = messages.last().unwrap()["content"].as_str().unwrap();
        let change = prompt.strip_prefix("Review the change in ").unwrap();
        let (change, _) = change.split_once(", a git diff").unwrap();
        let bash = |id: &str, command: &str| call(id, "Bash", &json!({"command": command}));
        let calls = json!([
            call("c0", "Read", &json!({"file_path": change})),
            bash("c1", "git log --oneline | head -n 3"),
            bash("c2", "touch written"),
            call(
                "c3",
                "Write",
                &json!({"file_path": "written", "content": "x"})
            ),
            call("c4", "Grep", &json!({"pattern": "eval"})),
        ]);
        let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
        (200, completion(&message))
    }
}

fn review(folder: &Path, range: &str, variables: &[(&str, &str)]) -> Run {
    let mut command = script("ci-review.sh", folder, variables);
    command.args([range, "../review"]);
    run_with_input(command, "")
}

#[test]
fn only_findings_become_commands_to_the_runner() {
    if is_missing("jq") {
        return;
    }
    let (_folder, path) = repository();
    let finding = |file: &str, level: &str, message: &str| json!({"file": file, "line": 1, "level": level, "message": message});
    let words = json!({"findings": [
        finding("say,it:sh%.sh", "error", "100% `eval` ::set-output name=x::y\r\n::error::z"),
        finding("say.sh", "warning", "%0A::add-mask::x"),
    ]});
    let server = Server::start(Duration::ZERO, Box::new(reviewer(words.to_string())));
    let address = format!("http://{}/v1", server.address);
    let network = [
        ("TURNPIPE_MODEL", "openai:gpt-5"),
        ("OPENAI_API_KEY", "x"),
        ("OPENAI_BASE_URL", &*address),
        ("TURN_OPTIONS", "--record-http ../exchanges.jsonl"),
    ];
    let run = review(&path, "HEAD~1..HEAD", &network);
    let annotations = "::error file=say%2Cit%3Ash%25.sh,line=1::100%25 `eval` ::set-output name=x::y%0D%0A::error::z\n\
        ::warning file=say.sh,line=1::%250A::add-mask::x\n";
    assert_eq!((&*run.stdout, &*run.stderr), (annotations, ""));
    assert_eq!(run.status, Some(1));

    // The reviewer only read.
    let session = fs::read_to_string(path.join("../review/session.jsonl")).unwrap();
    let session = records(&session);
    let results: Vec<&Value> = session
        .iter()
        .filter(|line| line["turnpipe"]["outcome"].is_string())
        .collect();
    let outcomes = results
        .iter()
        .map(|line| line["turnpipe"]["outcome"].as_str().unwrap());
    assert_eq!(
        outcomes.collect::<Vec<_>>(),
        ["ok", "ok", "denied", "not_run", "ok"]
    );
    assert!(results[0].to_string().contains("+eval"), "{}", results[0]);
    assert!(results[1].to_string().contains("second"), "{}", results[1]);
    assert!(!path.join("written").exists());

    // The same, replayed from a recording.
    fs::remove_dir_all(path.join("../review")).unwrap();
    let recorded = [("TURNPIPE_MODEL", "replay:../exchanges.jsonl")];
    let again = review(&path, "HEAD~1..HEAD", &recorded);
    assert_eq!(again, run);
}

#[test]
fn a_review_has_a_status() {
    if is_missing("jq") {
        return;
    }
    // The last text of the model, the range, the status, and the number of requests.
    let none = r#"{"findings":[]}"#;
    let table = [
        (none, "HEAD~1..HEAD", 0, 2),
        (
            "I could not find\n::error::my glasses.",
            "HEAD~1..HEAD",
            2,
            4,
        ),
        (none, "HEAD..HEAD", 0, 0),
        (none, "no..such", 2, 0),
        (none, "--output=written", 2, 0),
    ];
    for (words, range, status, requests) in table {
        let (_folder, path) = repository();
        let server = Server::start(Duration::ZERO, Box::new(reviewer(words.to_owned())));
        let address = format!("http://{}/v1", server.address);
        let network = [
            ("TURNPIPE_MODEL", "openai:gpt-5"),
            ("OPENAI_API_KEY", "x"),
            ("OPENAI_BASE_URL", &*address),
        ];
        let run = review(&path, range, &network);
        assert_eq!(
            (run.status, &*run.stderr),
            (Some(status), ""),
            "{words} {range}"
        );
        assert_is_trouble(&run, words);
        assert!(!path.join("written").exists());
        let asked = server.bodies.lock().unwrap().len();
        assert_eq!(asked, requests, "{words} {range}");
    }
    let (_folder, path) = repository();
    let run = review(&path, "HEAD~1..HEAD", &[]);
    assert_eq!(run.status, Some(2));
    assert_is_trouble(&run, "no model");
    assert!(
        run.stdout.contains("no model is configured"),
        "{}",
        run.stdout
    );
}

/// Checks that only problems are printed, as annotations.
fn assert_is_trouble(run: &Run, about: &str) {
    assert_eq!(
        run.stdout.is_empty(),
        run.status == Some(0),
        "{about}: {}",
        run.stdout
    );
    for line in run.stdout.lines() {
        assert!(line.starts_with("::error::"), "{about}: {line}");
        assert!(!line.contains("glasses"), "{about}: {line}");
    }
}
