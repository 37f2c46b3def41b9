use std::path::Path;

use super::*;

fn stats(name: &str) -> Stats {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/session")
        .join(name);
    let mut stats = Stats::default();
    stats.add(&Session::open(&path).unwrap()).unwrap();
    stats
}

#[test]
fn the_last_usage_of_a_reply_counts_once() {
    let stats = stats("claude-parallel.jsonl");
    assert_eq!((stats.prompts, stats.all.replies), (1, 2));
    assert_eq!(stats.all.usage.input, 30);
    assert_eq!(stats.by_model["model-a"].usage.cache_read, 3);
    assert_eq!(stats.by_model["model-b"].usage.output, 5);
    assert_eq!(stats.by_day["2026-01-01"].replies, 2);
    assert_eq!(stats.by_prompt_id["main"].replies, 2);
    let read = stats.by_tool["Read"];
    assert_eq!((read.calls, read.failed), (2, 1));
}

#[test]
fn a_meter_counts_by_its_differences() {
    let stats = stats("codex.jsonl");
    assert_eq!(stats.all.usage.input + stats.all.usage.cache_read, 300);
    assert_eq!(stats.all.usage.output, 30);
    assert_eq!(stats.by_model["model-c"].usage.output, 30);
    assert_eq!(stats.by_tool["shell"].failed, 1);
}
