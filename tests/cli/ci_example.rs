//! The jobs of `examples/ci.yml`, step by step as a runner runs them: `bash -e`, no terminal, files for the summary and
//! the outputs. A program that replays a stream is the agent.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::executable::executable;
use crate::skip::{is_missing, search_path};

/// A step of a job.
#[derive(Default)]
struct Step {
    id: String,
    always: bool,
    env: Vec<(String, String)>,
    run: String,
}

/// Returns the steps of a job that have scripts.
fn steps(job: &str) -> Vec<Step> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/ci.yml");
    let text = fs::read_to_string(path).unwrap();
    let (_, jobs) = text.split_once("\njobs:\n").unwrap();
    let (_, job) = jobs.split_once(&format!("  {job}:\n")).unwrap();
    let mut steps: Vec<Step> = Vec::new();
    let mut block = "";
    let is_of_job = |line: &&str| line.is_empty() || line.starts_with("   ");
    let lines = job.lines().take_while(is_of_job);
    for line in lines.skip_while(|line| *line != "    steps:").skip(1) {
        if line.starts_with("      - ") {
            steps.push(Step::default());
        }
        let step = steps.last_mut().unwrap();
        let member = line.get(8..).unwrap_or_default();
        if !member.is_empty() && !member.starts_with(' ') {
            block = member;
            step.always |= member == "if: always()";
            step.id += member.strip_prefix("id: ").unwrap_or_default();
        } else if block == "run: |" {
            step.run += &[member.trim_start_matches("  "), "\n"].concat();
        } else if let Some((name, value)) = member.trim().split_once(": ")
            && block == "env:"
            && !name.starts_with('#')
        {
            step.env.push((name.to_owned(), value.to_owned()));
        }
    }
    steps.retain(|step| !step.run.is_empty());
    steps
}

/// A workspace of a runner, with a checkout.
struct Runner {
    folder: tempfile::TempDir,
    commit: String,
    /// Values of expressions, and the outputs of steps.
    values: HashMap<String, String>,
}

/// The end of a job.
struct Job {
    statuses: Vec<i32>,
    summary: String,
    /// All that the steps printed.
    log: String,
}

/// Makes a repository with one commit. Returns the commit.
fn checkout(directory: &Path) -> String {
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let output = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    fs::create_dir_all(directory).unwrap();
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    git(&["rev-parse", "HEAD"])
}

impl Runner {
    /// Creates a workspace with an agent that replays this stream.
    fn new(stream: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let values = [
            ("secrets.ANTHROPIC_API_KEY", "key"),
            ("inputs.task", "Do it; $(touch injected)"),
        ];
        let runner = Self {
            commit: checkout(&folder.path().join("work")),
            folder,
            values: values
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        };
        fs::write(runner.path("stream"), stream).unwrap();
        fs::create_dir_all(runner.path("bin")).unwrap();
        let agent = "#!/bin/sh\necho \"$2\" >task\nexec cat \"$HOME/stream\"\n";
        for (name, program) in [("claude", agent), ("npm", "#!/bin/sh\n")] {
            executable(&runner.path("bin").join(name), program);
        }
        runner
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn job(&mut self, name: &str) -> Job {
        let summary = self.path("summary");
        fs::write(&summary, "").unwrap();
        let (mut statuses, mut log) = (Vec::new(), String::new());
        for step in steps(name) {
            assert!(
                !step.run.contains("${{"),
                "an expression is a part of a script: {}",
                step.run
            );
            if statuses.iter().any(|status| *status != 0) && !step.always {
                continue;
            }
            let (script, outputs) = (self.path("script"), self.path("outputs"));
            fs::write(&script, &step.run).unwrap();
            fs::write(&outputs, "").unwrap();
            let variable = |(name, value): &(String, String)| {
                let expression = value.trim_start_matches("${{ ").trim_end_matches(" }}");
                (
                    name.clone(),
                    self.values.get(expression).cloned().unwrap_or_default(),
                )
            };
            let binaries = Path::new(env!("CARGO_BIN_EXE_turnpipe")).parent().unwrap();
            let own = self.path("bin");
            let output = Command::new("bash")
                .arg("-e")
                .arg(&script)
                .current_dir(self.path("work"))
                .env_clear()
                .env(
                    "PATH",
                    format!("{}:{}:{}", own.display(), binaries.display(), search_path()),
                )
                .env("HOME", self.folder.path())
                .env("GITHUB_SHA", &self.commit)
                .env("GITHUB_STEP_SUMMARY", &summary)
                .env("GITHUB_OUTPUT", &outputs)
                .env("TURNPIPE_CLOCK", "2026-01-02T00:00:00Z")
                .envs(step.env.iter().map(variable))
                .stdin(Stdio::null())
                .output()
                .unwrap();
            statuses.push(output.status.code().unwrap());
            log += &String::from_utf8(output.stdout).unwrap();
            log += &String::from_utf8(output.stderr).unwrap();
            for line in fs::read_to_string(outputs).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                let name = format!("steps.{}.outputs.{name}", step.id);
                self.values.insert(name, value.to_owned());
            }
        }
        Job {
            statuses,
            summary: fs::read_to_string(summary).unwrap(),
            log,
        }
    }
}

/// Returns a stream of an agent that calls Bash with `command`, and replies with `reply`.
fn stream(command: &str, reply: &str) -> String {
    let rows = [
        serde_json::json!({"type": "system", "subtype": "init", "session_id": "s", "cwd": "/demo", "model": "claude-sonnet-4-5"}),
        serde_json::json!({"type": "assistant", "session_id": "s", "message": {"id": "m1", "role": "assistant",
            "model": "claude-sonnet-4-5", "usage": {"input_tokens": 1000, "output_tokens": 10},
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}]}}),
        serde_json::json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "ok", "is_error": false}]}}),
        serde_json::json!({"type": "assistant", "session_id": "s", "message": {"id": "m2", "role": "assistant",
            "model": "claude-sonnet-4-5", "usage": {"input_tokens": 1000, "output_tokens": 10},
            "content": [{"type": "text", "text": reply}]}}),
        serde_json::json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s",
            "num_turns": 2, "duration_ms": 61_000, "total_cost_usd": 0.05, "result": reply,
            "usage": {"input_tokens": 2000, "output_tokens": 20}}),
    ];
    rows.map(|row| row.to_string() + "\n").concat()
}

#[test]
fn an_agent_that_keeps_the_rules_passes_all_jobs() {
    if is_missing("git") {
        return;
    }
    let mut runner = Runner::new(&stream("cargo test", "All tests pass."));
    let agent = runner.job("agent");
    assert_eq!((agent.statuses, &*agent.log), (vec![0; 4], ""));
    let patch = fs::read_to_string(runner.path("work/session.patch")).unwrap();
    assert_eq!(patch.matches("diff --git a/").count(), 1, "{patch}");
    assert!(patch.contains("+++ b/task"), "{patch}");
    assert!(
        agent.summary.contains("| Recorded cost | $0.05 |"),
        "{}",
        agent.summary
    );
    assert!(
        agent.summary.contains("- Bash `cargo test`\n"),
        "{}",
        agent.summary
    );
    assert_eq!(runner.values["steps.report.outputs.result"], "passed");
    let task = fs::read_to_string(runner.path("work/task")).unwrap();
    assert_eq!(task, "Do it; $(touch injected)\n");
    let check = runner.job("check");
    assert_eq!((check.statuses, &*check.log), (vec![0; 3], ""));
    assert!(!runner.path("work/injected").exists());
    let nightly = runner.job("nightly");
    assert_eq!(nightly.statuses, [0], "{}", nightly.log);
    assert!(
        nightly.summary.contains("| Result | 1 gate passed |"),
        "{}",
        nightly.summary
    );
}

#[test]
fn a_forbidden_call_fails_the_job_and_later_steps_do_not_run() {
    if is_missing("git") {
        return;
    }
    let mut runner = Runner::new(&stream("git add . && git push origin HEAD", "Pushed."));
    let agent = runner.job("agent");
    let message = "turnpipe: gate failed: --forbid Bash(git push *): 1 matching call\n";
    assert_eq!((agent.statuses, &*agent.log), (vec![0, 0, 6], message));
    assert!(
        agent.summary.contains("### Forbidden calls"),
        "{}",
        agent.summary
    );
    assert_eq!(runner.values["steps.report.outputs.result"], "failed");
    assert!(
        fs::read_to_string(runner.path("work/gates.xml"))
            .unwrap()
            .contains("failures=\"1\"")
    );
}

#[test]
fn an_agent_that_writes_nothing_fails_the_job() {
    if is_missing("git") {
        return;
    }
    let agent = Runner::new("").job("agent");
    assert_eq!(agent.statuses, [0, 0, 2], "{}", agent.log);
}

#[test]
fn texts_of_the_agent_reach_the_runner_harmless() {
    if is_missing("git") {
        return;
    }
    let hostile = "I did it.\n::error::x\n##[add-path]/tmp\nresult=passed\nx<<E\n$(touch injected) `touch injected` <img src=x>";
    let mut runner = Runner::new(&stream(&format!("echo '{hostile}'"), hostile));
    let agent = runner.job("agent");
    assert_eq!((agent.statuses, &*agent.log), (vec![0; 4], ""));
    let check = runner.job("check");
    assert_eq!((check.statuses, &*check.log), (vec![0; 3], ""));
    for text in [&agent.summary, &check.summary] {
        assert!(!text.contains("##["), "{text}");
        assert!(
            !text.lines().any(|line| line.trim().starts_with("::")),
            "{text}"
        );
    }
    let names = runner
        .values
        .keys()
        .filter(|name| name.starts_with("steps.report."));
    assert_eq!(names.count(), 14, "{:?}", runner.values);
    assert!(!runner.path("work/injected").exists());
}

/// The costs of sessions of the last day only.
#[test]
fn the_nightly_cap_counts_the_last_day() {
    if is_missing("git") {
        return;
    }
    let row = |day: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"p{day}\",\"sessionId\":\"{day}\",\"cwd\":\"/demo\",\
             \"timestamp\":\"{day}T12:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"Do it\"}}}}\n\
             {{\"type\":\"assistant\",\"uuid\":\"a{day}\",\"sessionId\":\"{day}\",\"cwd\":\"/demo\",\
             \"timestamp\":\"{day}T12:00:01Z\",\"message\":{{\"role\":\"assistant\",\"id\":\"m{day}\",\
             \"model\":\"claude-sonnet-4-5\",\"usage\":{{\"input_tokens\":3000000,\"output_tokens\":1}},\
             \"content\":[{{\"type\":\"text\",\"text\":\"Done.\"}}]}}}}\n"
        )
    };
    let mut runner = Runner::new("");
    let project = runner.path(".claude/projects/demo");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join("old.jsonl"), row("2025-12-30")).unwrap();
    fs::write(project.join("new.jsonl"), row("2026-01-01")).unwrap();
    let nightly = runner.job("nightly");
    assert_eq!(
        (nightly.statuses, &*nightly.log),
        (vec![0], ""),
        "{}",
        nightly.summary
    );
    fs::write(
        project.join("two.jsonl"),
        row("2026-01-01")
            .replace("a2026", "b2026")
            .replace("m2026", "n2026"),
    )
    .unwrap();
    let nightly = runner.job("nightly");
    let message = "turnpipe: gate failed: --max-cost 20: $36.00\n";
    assert_eq!(
        (nightly.statuses, &*nightly.log),
        (vec![6], message),
        "{}",
        nightly.summary
    );
}
