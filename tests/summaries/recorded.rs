//! Recorded sessions, and their batches, found independently of turnpipe.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::skip::sample;

/// Returns sessions and streams of Claude Code and Qwen Code: some of each form.
pub(crate) fn sessions() -> Vec<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut found = Vec::new();
    for (directory, prefix) in [
        ("session", "claude"),
        ("session", "qwen"),
        ("agents/qwen", ""),
    ] {
        let entries = std::fs::read_dir(data.join(directory)).unwrap();
        found.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with(prefix) && name.ends_with(".jsonl")
        }));
    }
    found.sort();
    sample(found, 3, |path| {
        let is_stream = path.to_string_lossy().contains(".stream.");
        (path.parent().map(Path::to_owned), is_stream)
    })
}

/// A batch: the ids of its calls that have a result, and whether the result reports a failure.
pub(crate) type Batch = BTreeMap<String, bool>;

/// Returns the batches in the main conversation.
pub(crate) fn batches(text: &str) -> Vec<Batch> {
    let mut calls: Vec<(String, BTreeSet<String>)> = Vec::new();
    let mut answered: BTreeMap<String, bool> = BTreeMap::new();
    for line in text.lines() {
        let Ok(record) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        if record["isSidechain"] == true || !record["parent_tool_use_id"].is_null() {
            continue;
        }
        let message = &record["message"];
        let id = message["id"]
            .as_str()
            .or_else(|| record["uuid"].as_str())
            .unwrap_or_default();
        let mut add = |call: &str| match calls.iter_mut().find(|(known, _)| known == id) {
            Some((_, ids)) => {
                ids.insert(call.to_owned());
            }
            None => calls.push((id.to_owned(), BTreeSet::from([call.to_owned()]))),
        };
        let empty = Vec::new();
        let blocks = message["content"].as_array().unwrap_or(&empty);
        let parts = message["parts"].as_array().unwrap_or(&empty);
        for block in blocks {
            match (record["type"].as_str(), block["type"].as_str()) {
                (Some("assistant"), Some("tool_use")) => {
                    block["id"].as_str().into_iter().for_each(&mut add);
                }
                (Some("user"), Some("tool_result")) => {
                    let id = block["tool_use_id"].as_str().map(str::to_owned);
                    answered.extend(id.map(|id| (id, block["is_error"] == true)));
                }
                _ => {}
            }
        }
        for part in parts {
            if record["type"] == "assistant" {
                part["functionCall"]["id"]
                    .as_str()
                    .into_iter()
                    .for_each(&mut add);
            }
            let response = &part["functionResponse"];
            let status = &record["toolCallResult"]["status"];
            let failed = status.is_string() && status != "success"
                || response["response"].get("error").is_some()
                    && response["response"].get("output").is_none();
            let id = response["id"].as_str().map(str::to_owned);
            answered.extend(id.map(|id| (id, failed)));
        }
    }
    let with_results = calls.into_iter().map(|(_, ids)| {
        ids.into_iter()
            .filter_map(|id| Some((id.clone(), *answered.get(&id)?)))
            .collect::<Batch>()
    });
    with_results.filter(|batch| !batch.is_empty()).collect()
}
