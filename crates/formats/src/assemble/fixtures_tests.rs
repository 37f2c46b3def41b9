//! Streams and session files of other agents.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::*;
use crate::agent::Opening;
use crate::api::prefilter_needles;

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let ending = path.extension().unwrap_or_default();
        if path.is_dir() {
            files_below(&path, found);
        } else if ending == "jsonl" || ending == "json" {
            found.push(path);
        }
    }
}

/// Returns the lines that are JSON, or the file as one record if it is one document.
fn records(text: &str) -> Vec<&str> {
    if serde_json::from_str::<&RawValue>(text).is_ok() {
        return vec![text];
    }
    let is_json = |line: &&str| serde_json::from_str::<&RawValue>(line).is_ok();
    text.lines().filter(is_json).collect()
}

/// The treatment of the first call of a stream.
enum Verdict {
    NoCalls,
    History,
    Runnable(String),
}

fn verdict(records: &[&str], decoder: &mut Decoder) -> Verdict {
    let mut is_history = false;
    for record in records {
        for event in decoder.record(record) {
            match event {
                Event::Opening(Opening::Foreign(_)) | Event::Executor { .. } => is_history = true,
                Event::Opening(Opening::Ours) => is_history = false,
                Event::Call(_) if is_history => {
                    return Verdict::History;
                }
                Event::Call(_) => {
                    return Verdict::Runnable((*record).to_owned());
                }
                _ => {}
            }
        }
    }
    Verdict::NoCalls
}

#[test]
fn no_call_of_another_agent_would_run() {
    let mut files = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/agents");
    files_below(&folder, &mut files);
    assert!(files.len() > 100, "only {} files", files.len());
    let (mut with_calls, mut needles_missed) = (0, 0);
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let records = records(&text);
        match verdict(&records, &mut Decoder::with_detection()) {
            Verdict::NoCalls => {}
            Verdict::History => with_calls += 1,
            Verdict::Runnable(record) => panic!("{}: would run {record}", file.display()),
        }
        let mut decoder = Decoder::with_detection();
        for record in records {
            let has_needle = prefilter_needles()
                .iter()
                .any(|needle| record.contains(needle));
            let has_events = !decoder.record(record).is_empty();
            needles_missed += usize::from(has_events && !has_needle);
        }
        decoder.finish();
    }
    assert_eq!(needles_missed, 0);
    assert!(with_calls > 50, "only {with_calls} files with calls");
}
