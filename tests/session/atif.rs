//! Trajectories in ATIF: what is exported is read again.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::bench::{data, files, recordings, session};
use crate::skip::sample;

fn records(arguments: &[&str]) -> Vec<Value> {
    let output = session(arguments);
    assert_eq!(output.status, Some(0), "{arguments:?}: {}", output.messages);
    output.records()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Exports a session. Returns the trajectory and its file.
fn export(path: &str, to: &Path) -> (Value, PathBuf) {
    records(&["export", text(to), path, "-o", "atif", "--all"]);
    let mut found = Vec::new();
    files(to, &[".atif.json"], &mut found);
    let [file] = found.try_into().unwrap();
    let trajectory = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    (trajectory, file)
}

/// Checks the rules of Harbor's validator that a schema does not express.
fn assert_valid(trajectory: &Value) {
    for (step, number) in trajectory["steps"].as_array().unwrap().iter().zip(1..) {
        assert_eq!(step["step_id"], number);
        let time = step["timestamp"].as_str();
        assert!(time.is_none_or(|time| time.parse::<jiff::Timestamp>().is_ok()));
        let calls = step["tool_calls"].as_array().into_iter().flatten();
        let ids: HashSet<&Value> = calls.clone().map(|call| &call["tool_call_id"]).collect();
        assert!(
            calls.clone().all(|call| call["arguments"].is_object()),
            "{step}"
        );
        let results = step["observation"]["results"]
            .as_array()
            .into_iter()
            .flatten();
        for source in results.filter_map(|result| result.get("source_call_id")) {
            assert!(ids.contains(source), "{step}");
        }
        let of_agents = ["model_name", "reasoning_content", "tool_calls", "metrics"];
        let is_agent = step["source"] == "agent";
        assert!(
            is_agent || of_agents.iter().all(|name| step.get(name).is_none()),
            "{step}"
        );
    }
    let subagents = trajectory["subagent_trajectories"].as_array();
    for subagent in subagents.into_iter().flatten() {
        assert!(subagent["trajectory_id"].is_string());
        assert_valid(subagent);
    }
}

/// The tokens and the cost of a session, and its calls by tool.
fn totals(path: &str) -> (Value, Value) {
    let mut stats = records(&["stats", "--json", path]).swap_remove(0);
    (stats["usage"].take(), stats["by_tool"].take())
}

/// The calls with their outcomes, without what only the file of a session has.
fn calls(path: &str) -> Vec<Value> {
    let output = session(&["calls", "--json", path]);
    let calls = output.records().into_iter().map(|call| {
        let input: Option<Value> = call["input"]
            .as_str()
            .map(|json| serde_json::from_str(json).unwrap());
        json!([
            call["tool_use_id"],
            call["tool"],
            input,
            call["outcome"],
            call["timestamp"],
            call["result_bytes"],
            call["duration_ms"],
            call["files"]
        ])
    });
    let mut calls: Vec<Value> = calls.collect();
    calls.sort_by_key(ToString::to_string);
    calls
}

/// The texts of prompts, replies and notes.
fn texts(path: &str) -> Vec<String> {
    let output = records(&["show", "--json", path]);
    let texts = output.iter().filter_map(|message| {
        let content = &message["message"]["content"];
        let blocks = content.as_array().into_iter().flatten();
        let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
        let origin = &message["turnpipe"]["origin"];
        (!texts.is_empty()).then(|| format!("{origin} {}", texts.join("\n\n")))
    });
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts
}

#[test]
fn a_trajectory_keeps_messages_calls_results_and_tokens() {
    let mut sessions = Vec::new();
    let ends = [
        "agent", "badargs", "fail", "fork", "mixed", "par", "todo", "tui",
    ];
    let ends = ends.map(|name| format!("/{name}.session.json"));
    files(
        &recordings(),
        &["session.json", "session.jsonl"],
        &mut sessions,
    );
    sessions.retain(|path| ends.iter().any(|end| text(path).contains(end)));
    let mut sessions = sample(sessions, 2, |path| path.parent().map(Path::to_owned));
    let others = [
        "claude-compacted.jsonl",
        "qwen-rewound.jsonl",
        "codex.jsonl",
        "pi.jsonl",
    ];
    sessions.extend(others.map(|name| data(name).into()));
    sessions.push(
        recordings()
            .join("../more_agents/copilot/11111111-2222-4333-8444-000000000001/events.jsonl"),
    );
    assert!(sessions.len() > 10);
    for path in &sessions {
        let path = text(path);
        let folder = tempfile::tempdir().unwrap();
        let (trajectory, file) = export(path, folder.path());
        assert_valid(&trajectory);
        let file = text(&file);
        assert_eq!(totals(file), totals(path), "{path}");
        assert_eq!(calls(file), calls(path), "{path}");
        if trajectory.get("subagent_trajectories").is_none() {
            assert_eq!(texts(file), texts(path), "{path}");
        }
        let usage = totals(path).0;
        let count = |name: &str| usage[name].as_u64().unwrap();
        let sum = &trajectory["final_metrics"];
        let read = count("cache_read_input_tokens");
        let input = count("input_tokens") + read + count("cache_creation_input_tokens");
        assert_eq!(sum["total_prompt_tokens"], input, "{path}");
        assert_eq!(
            sum["total_completion_tokens"],
            count("output_tokens"),
            "{path}"
        );
        assert_eq!(sum["total_cached_tokens"], read, "{path}");
        assert_eq!(sum["total_cost_usd"], usage["cost_usd"], "{path}");
    }
}

/// A call leads to the embedded trajectory of the subagent that it started.
#[test]
fn subagents_are_embedded() {
    let folder = tempfile::tempdir().unwrap();
    let (trajectory, file) = export(&data("claude-subagents.jsonl"), folder.path());
    assert_valid(&trajectory);
    let subagents = trajectory["subagent_trajectories"].as_array().unwrap();
    let ids: Vec<&Value> = subagents.iter().map(|one| &one["trajectory_id"]).collect();
    assert_eq!(ids.len(), 2);
    let steps = trajectory["steps"].as_array().unwrap().iter();
    let results = steps.filter_map(|step| step["observation"]["results"].as_array());
    let links: Vec<&Value> = results
        .flatten()
        .filter_map(|result| result["subagent_trajectory_ref"].as_array())
        .flatten()
        .map(|link| &link["trajectory_id"])
        .collect();
    assert!(!links.is_empty() && links.iter().all(|id| ids.contains(id)));
    let shown = session(&["show", text(&file), "-o", "jsonl"]);
    let is_subagent = |message: &Value| message["turnpipe"]["subagent"] == true;
    assert!(shown.records().iter().any(is_subagent));
}

/// Images are files next to the trajectories.
#[test]
fn images_are_saved_and_secrets_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
    let line = json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "cwd": "/demo",
        "timestamp": "2026-11-20T10:00:00Z", "message": {"role": "user", "content": [
            {"type": "text", "text": "See ghp_0123456789abcdefghijABCDEFGHIJ012345"}, image]}});
    let path = folder.path().join("s.jsonl");
    fs::write(&path, format!("{line}\n")).unwrap();
    let to = folder.path().join("out");
    records(&["export", text(&to), text(&path), "-o", "atif"]);
    let mut found = Vec::new();
    files(&to, &[".atif.json"], &mut found);
    let trajectory: Value = serde_json::from_slice(&fs::read(&found[0]).unwrap()).unwrap();
    let parts = &trajectory["steps"][0]["message"];
    assert_eq!(parts[0]["text"], "See ghp_[redacted]");
    let source = &parts[1]["source"];
    assert_eq!(source["media_type"], "image/png");
    let saved = fs::read(to.join(source["path"].as_str().unwrap())).unwrap();
    assert_eq!(saved, b"\x89PNG\r\n\x1a\n");
    assert!(!to.join("index.atif.json").exists());
}

const TRAJECTORY: &str = r#"{
  "final_metrics": {"total_prompt_tokens": 12, "total_completion_tokens": 5, "total_cost_usd": 0.25},
  "steps": [
    {"step_id": 1, "source": "user", "message": "Mend it", "unknown": 1},
    {"step_id": 2, "source": "agent", "model_name": "m", "message": [{"type": "text", "text": "Done."}],
     "tool_calls": [{"tool_call_id": "c", "function_name": "Bash", "arguments": {"command": "make"}}],
     "observation": {"results": [{"source_call_id": "c", "content": "built"}, {"content": "screen"}]},
     "metrics": {"prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 4}},
    {"step_id": 3, "source": "system", "message": "x", "extra": {"context_management": {"type": "compaction"}}}
  ],
  "agent": {"name": "a", "version": "1"}, "unknown": [1], "session_id": "run", "schema_version": "ATIF-v1.2"
}
"#;

/// Harbor sorts nothing, others do: totals may come before the steps, and the version last.
#[test]
fn trajectories_of_other_programs_are_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trajectory.json");
    fs::write(&path, TRAJECTORY).unwrap();
    let compact: Value = serde_json::from_str(TRAJECTORY).unwrap();
    fs::write(
        folder.path().join("trajectory.cont-1.json"),
        compact.to_string(),
    )
    .unwrap();
    let listed = records(&["list", "--root", text(folder.path()), "--json"]);
    assert_eq!(listed.len(), 2);
    for record in &listed {
        assert_eq!(record["agent"], "atif");
        assert_eq!(record["session_id"], "run");
        assert_eq!(record["first_prompt"], "Mend it");
        let path = record["path"].as_str().unwrap();
        let (usage, _) = totals(path);
        assert_eq!(usage["input_tokens"], 8);
        assert_eq!(usage["cache_read_input_tokens"], 4);
        assert_eq!(usage["output_tokens"], 5);
        let call = &records(&["calls", path])[0];
        assert_eq!(
            (&call["about"], &call["outcome"]),
            (&json!("make"), &json!("ok"))
        );
        let found = records(&["search", "screen", path]);
        assert_eq!(found.len(), 1);
        let check = records(&["check", path]).pop().unwrap();
        assert_eq!(
            (&check["ok"], &check["findings"]),
            (&json!(true), &json!({"unknown_kind": 1}))
        );
        let shown = session(&["show", path, "-o", "text"]).text;
        assert!(shown.contains("Done."), "{shown}");
    }
    // Cut off after its only step, and after the list of steps.
    let step = r#"{"step_id":1,"source":"user","message":"Fix the parser"}"#;
    for end in ["", "\n ]"] {
        let cut = format!(r#"{{"schema_version":"ATIF-v1.7","steps":[{step}{end}"#);
        fs::write(&path, cut).unwrap();
        let shown = session(&["show", text(&path), "-o", "text"]).text;
        assert!(shown.contains("Fix the parser"), "{shown}");
        let check = session(&["check", text(&path)]).records().pop().unwrap();
        assert_eq!(check["findings"], json!({"interrupted": 1}));
    }
    // Cut off before the version, cut off after it, and without a step.
    fs::write(&path, &TRAJECTORY[..560]).unwrap();
    assert_eq!(session(&["check", text(&path)]).status, Some(2));
    let sorted = format!("{{\"schema_version\":\"ATIF-v1.7\",{}", &TRAJECTORY[1..600]);
    fs::write(&path, sorted).unwrap();
    let check = session(&["check", text(&path)]).records().pop().unwrap();
    assert_eq!(check["findings"]["interrupted"], 1, "{check}");
    fs::write(&path, "{\"schema_version\":\"ATIF-v1.7\"}").unwrap();
    assert_eq!(records(&["check", text(&path)]).len(), 1);
}
