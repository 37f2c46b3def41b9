//! The same files, read by independent readers: `tests/independent_reader.py`, `tests/independent_totals.py`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::bench::{data, files, session, some_recordings};
use crate::skip::{is_full_run, is_missing};

/// Returns the findings of a script in `tests` for each path; `None` without Python.
fn run_script(script: &str, paths: &[PathBuf]) -> Option<Vec<Value>> {
    if is_missing("python3") {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(script);
    let output = Command::new("python3")
        .arg(script)
        .args(paths)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.split('\n').filter(|line| !line.is_empty());
    Some(
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

fn sort(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by_key(Value::to_string);
    values
}

/// Returns the output of the program for a file, in the reader's form.
fn read_session(path: &str, agent: &str) -> Value {
    let shown = session(&["show", "--since-compact", "--quiet", "-o", "jsonl", path]);
    assert_eq!(shown.status, Some(0), "{path}: {}", shown.messages);
    let records = shown.records();
    let (mut texts, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for record in &records[1..] {
        let is_context = agent == "codex" && record["turnpipe"]["origin"] == "injected";
        for block in record["message"]["content"]
            .as_array()
            .into_iter()
            .flatten()
        {
            match block["type"].as_str() {
                Some("text") if !is_context => texts.push(block["text"].clone()),
                Some("tool_use") => calls.push(block["id"].clone()),
                Some("tool_result") => {
                    results.push(json!([block["tool_use_id"], block["is_error"]]));
                }
                _ => {}
            }
        }
    }
    let listed = session(&["list", "--all", "--counts", "--root", path]);
    let listed = &listed.records()[0];
    let quick = session(&["list", "--all", "--root", path]);
    for fact in ["title", "title_source", "first_prompt", "model", "cwd"] {
        assert_eq!(listed[fact], quick.records()[0][fact], "{fact} of {path}");
    }
    let stats = session(&["stats", "-o", "jsonl", path]);
    let stats = &stats.records()[0];
    let counts = &listed["counts"];
    assert_eq!(stats["prompts"], counts["prompts"], "{path}");
    let checked = session(&["check", "--summary", "-o", "jsonl", path]);
    assert_eq!(checked.status, Some(0), "{path}: {}", checked.messages);
    let head = &records[0];
    let title = match &head["title"] {
        Value::Null => Value::Null,
        title => json!([title, head["title_source"]]),
    };
    json!({
        "path": path,
        "agent": head["agent"],
        "records": checked.records()[0]["records"],
        "title": title,
        "texts": sort(texts),
        "calls": calls,
        "results": sort(results),
        "first_prompt": listed["first_prompt"],
        "counts": {
            "prompts": counts["prompts"],
            "replies": counts["messages"].as_u64().unwrap() - counts["prompts"].as_u64().unwrap(),
            "calls": counts["calls"],
            "results": counts["results"],
            "unanswered": counts["unanswered"],
        },
        "models": models(stats),
    })
}

/// Returns the tokens of input, of output, read from the cache and written to it.
fn tokens(usage: &Value) -> [u64; 4] {
    let kinds = [
        "input_tokens",
        "output_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ];
    kinds.map(|kind| usage[kind].as_u64().unwrap_or(0))
}

/// Returns tokens by model.
fn models(stats: &Value) -> Value {
    let models = stats["by_model"].as_array().unwrap().iter();
    let models = models.filter_map(|model| {
        let tokens = tokens(&model["usage"]);
        let name = model["name"].as_str().unwrap_or("(unknown)").to_owned();
        (tokens != [0; 4]).then(|| (name, json!(tokens)))
    });
    models.collect::<serde_json::Map<_, _>>().into()
}

/// Compares all `paths`; returns the number of sessions among them.
fn compare(paths: &[PathBuf]) -> usize {
    let Some(expected) = run_script("independent_reader.py", paths) else {
        return 0;
    };
    assert_eq!(expected.len(), paths.len());
    let mut sessions = 0;
    for mut expected in expected {
        let path = expected["path"].as_str().unwrap().to_owned();
        let Some(agent) = expected["agent"].as_str().map(str::to_owned) else {
            let refused = session(&["show", &path]);
            assert_eq!(refused.status, Some(2), "{path}: {}", refused.text);
            continue;
        };
        sessions += 1;
        for list in ["texts", "results"] {
            let values = expected[list].as_array().unwrap().clone();
            expected[list] = sort(values).into();
        }
        assert_eq!(read_session(&path, &agent), expected, "{path}");
    }
    sessions
}

#[test]
fn own_files_read_alike() {
    let names = [
        "claude-parallel.jsonl",
        "claude-subagents.jsonl",
        "claude-subagents/subagents/agent-aa52773.jsonl",
        "codex.jsonl",
        "codex-bare.jsonl",
        "gemini-resumed.jsonl",
        "session-document.json",
        "pi.jsonl",
        "qwen-rewound.jsonl",
    ];
    let sessions = compare(&names.map(|name| PathBuf::from(data(name))));
    assert!(sessions == 0 || sessions == names.len(), "{sessions}");
}

#[test]
fn recordings_read_alike() {
    let mut paths = some_recordings(&[".jsonl", ".json"]);
    // `streams.rs` compares streams with their own totals.
    paths.retain(|path| !path.to_string_lossy().contains(".stream."));
    let sessions = compare(&paths);
    let floor = if is_full_run() { 40 } else { 12 };
    assert!(
        sessions == 0 || sessions > floor,
        "only {sessions} sessions"
    );
}

/// The tokens and recorded costs that the program counts for each agent in a file or folder.
fn read_totals(path: &Path) -> Value {
    let name = path.to_str().unwrap();
    let place = if path.is_dir() {
        vec!["--root", name]
    } else {
        vec![name]
    };
    let result = session(&[&["stats", "--by", "agent", "-o", "jsonl"], &place[..]].concat());
    if result.status == Some(2) {
        // No session.
        return json!({});
    }
    assert_eq!(result.status, Some(0), "{name}: {}", result.messages);
    let sums = result.records().into_iter().filter_map(|sum| {
        let tokens = tokens(&sum["usage"]);
        let recorded = sum["recorded_cost_usd"].as_f64().unwrap_or_default();
        let agent = sum["dimensions"]["agent"].as_str().unwrap().to_owned();
        (tokens != [0; 4]).then(|| (agent, json!({"tokens": tokens, "recorded": recorded})))
    });
    sums.collect::<serde_json::Map<_, _>>().into()
}

/// Every shape in which agents count tokens: forks that copied their history, meters that were inherited or
/// start anew, pages, subagents, copies, databases, totals beside a session.
#[test]
fn tokens_are_those_of_an_independent_reader() {
    let families = crate::copies::families();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut paths: Vec<PathBuf> = ["costs", "continued", "more_agents"]
        .iter()
        .map(|name| tests.join(name))
        .collect();
    paths.push(families.root().into());
    let goose = tempfile::tempdir().unwrap();
    crate::more_agents::goose_database(&goose.path().join("sessions.db"));
    paths.push(goose.path().into());
    let mut recorded = some_recordings(&[".jsonl", ".json"]);
    recorded.retain(|path| path.to_string_lossy().contains(".session"));
    paths.extend(recorded);
    let mut own = Vec::new();
    files(Path::new(&data("")), &[".jsonl", ".json"], &mut own);
    paths.extend(own);
    let Some(expected) = run_script("independent_totals.py", &paths) else {
        return;
    };
    assert_eq!(expected.len(), paths.len());
    for (path, mut expected) in paths.iter().zip(expected) {
        for agent in expected.as_object_mut().unwrap().values_mut() {
            agent["recorded"] = agent["recorded"].as_f64().into();
        }
        assert_eq!(read_totals(path), expected, "{}", path.display());
    }
}
