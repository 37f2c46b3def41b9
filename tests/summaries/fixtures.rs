//! Recorded sessions.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::files::records;
use crate::recorded::{batches, sessions};
use crate::turnpipe::run;

#[test]
fn every_batch_with_a_result_is_labelled_and_every_byte_copied() {
    for path in sessions() {
        let bytes = std::fs::read(&path).unwrap();
        let output = run(&["summarize-batch", "--model", "builtin", "-q"], &bytes);
        assert_eq!(output.status, Some(0), "{}", path.display());
        let mut labelled = BTreeSet::new();
        let mut echoed = String::new();
        for line in output.stdout.split_inclusive('\n') {
            if line.starts_with("{\"type\":\"tool_use_summary\"") {
                let record: Value = serde_json::from_str(line).unwrap();
                let label = record["summary"].as_str().unwrap();
                assert!((1..=60).contains(&label.chars().count()), "{label}");
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
            let batch: BTreeSet<String> = batch.into_keys().collect();
            assert!(batch.is_subset(&labelled), "{}: {batch:?}", path.display());
        }
    }
}

#[test]
fn every_session_has_one_outcome_each() {
    for path in sessions() {
        let name = path.to_str().unwrap();
        for command in ["title", "recap"] {
            let output = run(&[command, "--model", "builtin", "-o", "jsonl", name], b"");
            let found = records(&output.stdout);
            assert_eq!(found.len(), 1, "{command} {name}: {}", output.stderr);
            let said = found[0]["ok"] == true || found[0]["reason"].is_string();
            assert!(said, "{command} {name}: {}", found[0]);
        }
    }
}
