//! What the `session` commands print about sessions of every agent, compared with recorded output.

use std::fmt::Write as _;
use std::path::Path;

use crate::bench::turnpipe;
use crate::recording::compare;

/// Sessions in `tests/data`, by agent.
const SESSIONS: &[(&str, &str)] = &[
    (
        "claude",
        "session/claude-compacted.jsonl session/claude-damaged.jsonl session/claude-editor-note.jsonl \
         session/claude-parallel-results.jsonl session/claude-parallel.jsonl session/claude-repeated.jsonl \
         session/claude-subagents.jsonl session/claude-typed-beside-results.jsonl \
         continued/aaaaaaaa-1111-4111-8111-111111111111.jsonl costs/claude.jsonl pages/sessions/plain.jsonl \
         pages/sessions/hostile.jsonl",
    ),
    (
        "codex",
        "session/codex-bare.jsonl session/codex.jsonl costs/codex.jsonl agents/codex/fork.session.jsonl \
         agents/codex/mixed.session.jsonl agents/codex/cjk.stream.jsonl agents/codex/fail.stream.jsonl \
         agents/codex/hook-known-par.stream.jsonl agents/codex/hook-stop-block.stream.jsonl \
         agents/codex/int-tool-group.stream.jsonl agents/codex/shells.stream.jsonl",
    ),
    (
        "gemini",
        "session/gemini-resumed.jsonl costs/gemini.jsonl agents/gemini/cjk.session.jsonl \
         agents/gemini/err429.session.jsonl agents/gemini/hook-mixed.session.jsonl \
         agents/gemini/hook-mixed.stream.jsonl agents/gemini/hook-pre-exit2.session.jsonl \
         agents/gemini/hook-pre-updated.session.jsonl agents/gemini/hook-prompt-block.session.jsonl \
         agents/gemini/int-tool.session.jsonl agents/gemini/shells.session.jsonl \
         agents/gemini/tui.session-1.jsonl agents/gemini/todo.session.jsonl",
    ),
    (
        "qwen",
        "session/qwen-rewound.jsonl costs/qwen.jsonl agents/qwen/agent.session-1.jsonl \
         agents/qwen/agent.session.jsonl agents/qwen/badargs.session.jsonl \
         agents/qwen/control-rewrite.session.jsonl agents/qwen/denied-plan.session.jsonl \
         agents/qwen/fail.session.jsonl agents/qwen/hook-stop-block.session.jsonl \
         agents/qwen/int-tool.session.jsonl agents/qwen/int-tool.stream.jsonl \
         agents/qwen/par-partial.stream.jsonl agents/qwen/resume-b.session.jsonl \
         agents/qwen/tui-title.session.jsonl agents/qwen/walltime.session.jsonl \
         agents/qwen/write-auto-edit.session.jsonl",
    ),
    (
        "others",
        "session/pi.jsonl session/session-document.json agents/pi/color.session.jsonl \
         agents/pi/int-tool.stream.jsonl agents/pi/par.session.jsonl agents/pi/shells.session.jsonl \
         agents/opencode/denied-rule.session.json agents/opencode/err429.session.json \
         agents/opencode/fail.stream.jsonl agents/opencode/int-tool.session.json \
         agents/opencode/par.session.json more_agents/copilot/11111111-2222-4333-8444-000000000001/events.jsonl \
         more_agents/droid/droid-one.jsonl \
         more_agents/cursor/-w/agent-transcripts/22222222-2222-4333-8444-000000000001/22222222-2222-4333-8444-000000000001.jsonl",
    ),
];

/// Commands that read several sessions.
const OF_SEVERAL: &[&[&str]] = &[
    &["calls"],
    &["calls", "--failed", "--field", "command"],
    &["stats"],
    &["stats", "--by", "day,model"],
    &["stats", "--by", "session,agent,block"],
    &["stats", "--by", "prompt"],
    &["stats", "--by", "tool,cwd"],
    &["check"],
];

/// Commands that read one session.
const OF_ONE: &[&[&str]] = &[
    &["show", "-o", "jsonl"],
    &["show", "-o", "md", "--all-branches", "--range", "-4.."],
    &["tail", "-o", "jsonl", "-n", "2"],
    &["diff"],
];

/// Runs a command in `tests/data` and appends its status and output.
fn append(output: &mut String, command: &[&str], sessions: &[&str]) {
    let run = turnpipe(&[&["session"], command, sessions].concat())
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"))
        .output()
        .unwrap();
    let status = run.status.code().unwrap();
    writeln!(output, "## {}: {status}", command.join(" ")).unwrap();
    for line in String::from_utf8(run.stdout).unwrap().lines() {
        *output += &without_file_time(line);
        *output += "\n";
    }
    *output += &String::from_utf8(run.stderr).unwrap();
}

/// Removes a time that is the one of the file, which differs between checkouts.
fn without_file_time(line: &str) -> String {
    let before = "\"last_activity\":\"";
    match line.split_once(before) {
        Some((start, rest)) if line.contains("\"is_time_of_file\":true") => {
            let (_, rest) = rest.split_once('"').unwrap();
            format!("{start}{before}\"{rest}")
        }
        _ => line.to_owned(),
    }
}

fn check(agent: &str) {
    let (_, sessions) = SESSIONS.iter().find(|(name, _)| *name == agent).unwrap();
    let sessions: Vec<&str> = sessions.split_whitespace().collect();
    let mut output = String::from("# All\n");
    for command in OF_SEVERAL {
        let mut arguments = [*command, &["-o", "jsonl"]].concat();
        if command[0] == "stats" {
            arguments.extend(["--prices", "recorded/prices.toml"]);
        }
        append(&mut output, &arguments, &sessions);
    }
    for session in sessions {
        writeln!(output, "# {session}").unwrap();
        let list = ["list", "--all", "--counts", "-o", "jsonl", "--root"];
        append(&mut output, &list, &[session]);
        for command in OF_ONE {
            append(&mut output, command, &[session]);
        }
    }
    compare(&format!("sessions-{agent}.txt"), &output);
}

#[test]
fn sessions_of_claude_code_print_what_is_recorded() {
    check("claude");
}

#[test]
fn sessions_of_codex_print_what_is_recorded() {
    check("codex");
}

#[test]
fn sessions_of_gemini_cli_print_what_is_recorded() {
    check("gemini");
}

#[test]
fn sessions_of_qwen_code_print_what_is_recorded() {
    check("qwen");
}

#[test]
fn sessions_of_other_agents_print_what_is_recorded() {
    check("others");
}
