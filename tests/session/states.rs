//! `session list --state`: files that end in each situation, and processes that have them open.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};

use crate::bench::session;

/// A process with the name of an agent that has a session open until it is dropped.
struct Holder(Child);

impl Holder {
    fn of(agent: &str, file: &Path) -> Self {
        let held = File::options().append(true).open(file).unwrap();
        let mut command = Command::new("cat");
        // It reads from a pipe that nobody writes to.
        command.arg0(agent).stdin(Stdio::piped()).stdout(held);
        Self(command.spawn().unwrap())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// The records of a turn with a call, in order.
struct Turn {
    agent: &'static str,
    head: &'static str,
    prompt: &'static str,
    call: &'static str,
    result: &'static str,
    reply: &'static str,
    /// A failed request, and an interrupt by the user, if the agent records them.
    failure: Option<&'static str>,
    interrupt: Option<&'static str>,
}

const TURNS: [Turn; 4] = [
    Turn {
        agent: "claude",
        head: r#"{"type":"file-history-snapshot","messageId":"u1","snapshot":{},"isSnapshotUpdate":false}"#,
        prompt: r#"{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"ID","cwd":"/w","timestamp":"2026-01-01T10:00:00Z","message":{"role":"user","content":"Run the tests"}}"#,
        call: r#"{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"ID","cwd":"/w","timestamp":"2026-01-01T10:00:01Z","message":{"id":"m1","role":"assistant","model":"x","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}"#,
        result: r#"{"type":"user","uuid":"r1","parentUuid":"a1","sessionId":"ID","cwd":"/w","timestamp":"2026-01-01T10:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#,
        reply: r#"{"type":"assistant","uuid":"a2","parentUuid":"r1","sessionId":"ID","cwd":"/w","timestamp":"2026-01-01T10:00:03Z","message":{"id":"m2","role":"assistant","model":"x","content":[{"type":"text","text":"They pass."}]}}"#,
        failure: Some(
            r#"{"type":"assistant","isApiErrorMessage":true,"uuid":"a3","parentUuid":"r1","sessionId":"ID","cwd":"/w","timestamp":"2026-01-01T10:00:03Z","message":{"id":"m3","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529"}]}}"#,
        ),
        interrupt: Some(
            r#"{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"ID","cwd":"/w","timestamp":"2026-01-01T10:00:03Z","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#,
        ),
    },
    Turn {
        agent: "codex",
        head: r#"{"timestamp":"2026-01-01T10:00:00Z","type":"session_meta","payload":{"id":"ID","cwd":"/w","cli_version":"0.80.0"}}"#,
        prompt: r#"{"timestamp":"2026-01-01T10:00:00Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Run the tests"}]}}
{"timestamp":"2026-01-01T10:00:00Z","type":"event_msg","payload":{"type":"user_message","message":"Run the tests"}}"#,
        call: r#"{"timestamp":"2026-01-01T10:00:01Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"make\"]}","call_id":"c1"}}"#,
        result: r#"{"timestamp":"2026-01-01T10:00:02Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"ok"}}"#,
        reply: r#"{"timestamp":"2026-01-01T10:00:03Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"They pass."}]}}"#,
        failure: Some(
            r#"{"timestamp":"2026-01-01T10:00:03Z","type":"event_msg","payload":{"type":"error","message":"quota exceeded"}}"#,
        ),
        interrupt: Some(
            r#"{"timestamp":"2026-01-01T10:00:03Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<turn_aborted>\nThe user interrupted the previous turn.\n</turn_aborted>"}]}}"#,
        ),
    },
    Turn {
        agent: "qwen",
        head: r#"{"uuid":"q0","parentUuid":null,"sessionId":"ID","timestamp":"2026-01-01T10:00:00Z","type":"system","subtype":"ui_telemetry","cwd":"/w","systemPayload":{}}"#,
        prompt: r#"{"uuid":"q1","parentUuid":"q0","sessionId":"ID","timestamp":"2026-01-01T10:00:00Z","type":"user","cwd":"/w","message":{"role":"user","parts":[{"text":"Run the tests"}]}}"#,
        call: r#"{"uuid":"q2","parentUuid":"q1","sessionId":"ID","timestamp":"2026-01-01T10:00:01Z","type":"assistant","cwd":"/w","model":"x","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"make"}}}]}}"#,
        result: r#"{"uuid":"q3","parentUuid":"q2","sessionId":"ID","timestamp":"2026-01-01T10:00:02Z","type":"tool_result","cwd":"/w","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"ok"}}}]},"toolCallResult":{"callId":"c1","status":"success"}}"#,
        reply: r#"{"uuid":"q4","parentUuid":"q3","sessionId":"ID","timestamp":"2026-01-01T10:00:03Z","type":"assistant","cwd":"/w","model":"x","message":{"role":"model","parts":[{"text":"They pass."}]}}"#,
        failure: None,
        interrupt: None,
    },
    Turn {
        agent: "gemini",
        head: r#"{"sessionId":"ID","projectHash":"926574","startTime":"2026-01-01T10:00:00Z","lastUpdated":"2026-01-01T10:00:00Z","kind":"main"}"#,
        prompt: r#"{"id":"1","timestamp":"2026-01-01T10:00:00Z","type":"user","content":[{"text":"Run the tests"}]}"#,
        call: r#"{"id":"2","timestamp":"2026-01-01T10:00:01Z","type":"gemini","content":"","model":"x","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make"},"status":"executing"}]}"#,
        result: r#"{"id":"2","timestamp":"2026-01-01T10:00:01Z","type":"gemini","content":"","model":"x","toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"make"},"result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"ok"}}}],"status":"success"}]}"#,
        reply: r#"{"id":"4","timestamp":"2026-01-01T10:00:03Z","type":"gemini","content":"They pass.","model":"x"}"#,
        failure: Some(
            r#"{"id":"5","timestamp":"2026-01-01T10:00:03Z","type":"error","content":"quota exceeded"}"#,
        ),
        interrupt: None,
    },
];

#[test]
fn the_end_of_the_file_and_open_processes_decide_the_state() {
    if !cfg!(target_os = "linux") {
        return crate::skip::skip("the system does not show the open files of processes");
    }
    for turn in &TURNS {
        let Turn {
            agent,
            head,
            prompt,
            call,
            result,
            reply,
            ..
        } = *turn;
        let now = SystemTime::now();
        // A call that has just started works; an old one waits for its permission.
        let (new, old) = (now + Duration::from_hours(1), now - Duration::from_hours(1));
        let whole = vec![head, prompt, call, result];
        let with = |last: &'static str| [&*whole, &[last]].concat();
        let mut situations = vec![
            ("prompt", vec![head, prompt], true, old, "working"),
            ("prompt-of-ended", vec![head, prompt], false, old, "failed"),
            ("new-call", vec![head, prompt, call], true, new, "working"),
            ("old-call", vec![head, prompt, call], true, old, "waiting"),
            (
                "call-of-ended",
                vec![head, prompt, call],
                false,
                new,
                "failed",
            ),
            ("result", whole.clone(), true, old, "working"),
            ("result-of-ended", whole.clone(), false, old, "failed"),
            ("reply", with(reply), true, old, "waiting"),
            ("reply-of-ended", with(reply), false, new, "idle"),
        ];
        if let Some(failure) = turn.failure {
            situations.push(("failure", with(failure), true, new, "failed"));
            situations.push(("failure-of-ended", with(failure), false, old, "failed"));
        }
        if let Some(interrupt) = turn.interrupt {
            let lines = vec![head, prompt, call, interrupt];
            situations.push(("interrupt", lines.clone(), true, old, "waiting"));
            situations.push(("interrupt-of-ended", lines, false, new, "idle"));
        }
        let folder = tempfile::tempdir().unwrap();
        let mut holders = Vec::new();
        for (name, lines, is_open, changed, _) in &situations {
            let path = folder.path().join(format!("session-{name}.jsonl"));
            let text = lines.join("\n").replace("ID", name) + "\n";
            fs::write(&path, text).unwrap();
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(*changed).unwrap();
            if *is_open {
                holders.push(Holder::of(agent, &path));
            }
        }
        let root = folder.path().to_str().unwrap();
        let listed = session(&["list", "--state", "--json", "--root", root]);
        let records = listed.records();
        assert_eq!(records.len(), situations.len(), "{agent}: {}", listed.text);
        for (name, .., expected) in &situations {
            let mut records = records.iter();
            let record = records
                .find(|record| record["session_id"] == *name)
                .unwrap();
            assert_eq!(record["state"], *expected, "{agent}, {name}: {record}");
            assert_eq!(record["state_inferred"], true);
        }
        let expected = situations.iter().filter(|row| row.4 == "working").count();
        for state in [&["--state=working"][..], &["--state", "working,working"]] {
            let working = session(&[&["list", "--json", "--root", root], state].concat());
            assert_eq!(working.records().len(), expected, "{agent}");
        }
    }
}
