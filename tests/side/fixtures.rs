//! Real sessions, where `TURNPIPE_TEST_DATA` names them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::files::records;
use crate::turnpipe::run;

fn sessions() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("TURNPIPE_TEST_DATA") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for place in ["fixtures/claude", "fixtures/qwen", "fixtures/live/qwen"] {
        let entries = std::fs::read_dir(Path::new(&folder).join(place)).unwrap();
        found.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        }));
    }
    found.sort();
    found
}

/// The ids of calls with a result in the main conversation, by their message.
fn batches(text: &str) -> Vec<BTreeSet<String>> {
    let mut calls: Vec<(String, BTreeSet<String>)> = Vec::new();
    let mut answered = BTreeSet::new();
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
                    answered.extend(block["tool_use_id"].as_str().map(str::to_owned));
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
            answered.extend(part["functionResponse"]["id"].as_str().map(str::to_owned));
        }
    }
    let with_results = calls.into_iter().map(|(_, ids)| {
        ids.intersection(&answered)
            .cloned()
            .collect::<BTreeSet<_>>()
    });
    with_results.filter(|ids| !ids.is_empty()).collect()
}

#[test]
fn every_batch_with_a_result_is_labelled_and_every_byte_copied() {
    for path in sessions() {
        let bytes = std::fs::read(&path).unwrap();
        let told = run(&["summarize-batch", "--model", "builtin", "-q"], &bytes);
        assert_eq!(told.status, Some(0), "{}", path.display());
        let mut labelled = BTreeSet::new();
        let mut echoed = String::new();
        for line in told.stdout.split_inclusive('\n') {
            if line.starts_with("{\"type\":\"tool_use_summary\"") {
                let record: Value = serde_json::from_str(line).unwrap();
                let ids = record["preceding_tool_use_ids"].as_array().unwrap().clone();
                labelled.extend(ids.into_iter().map(|id| id.as_str().unwrap().to_owned()));
            } else {
                echoed.push_str(line);
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(
            echoed.trim_end_matches('\n'),
            text.trim_end_matches('\n'),
            "{}",
            path.display()
        );
        for batch in batches(&text) {
            assert!(batch.is_subset(&labelled), "{}: {batch:?}", path.display());
        }
    }
}

#[test]
fn every_session_has_one_outcome_each() {
    for path in sessions() {
        let name = path.to_str().unwrap();
        for command in ["title", "recap"] {
            let told = run(&[command, "--model", "builtin", "-o", "jsonl", name], b"");
            let found = records(&told.stdout);
            assert_eq!(found.len(), 1, "{command} {name}: {}", told.stderr);
            let said = found[0]["ok"] == true
                || found[0]["subtype"] == "away_summary"
                || found[0]["reason"].is_string();
            assert!(said, "{command} {name}: {}", found[0]);
        }
    }
}
