use std::path::Path;

use super::*;

fn stats(name: &str) -> Stats {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/session")
        .join(name);
    stats_of(&[&path])
}

fn stats_of(paths: &[&Path]) -> Stats {
    let mut tally = Tally::default();
    for path in paths {
        tally.add(&Session::open(path).unwrap()).unwrap();
    }
    tally.finish()
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

#[test]
fn titles_count_under_their_prompt_id_wherever_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let title = |input: u64| {
        format!(
            r#"{{"type":"ai-title","aiTitle":"x","turnpipe":{{"v":1,"model_used":"m","prompt_id":"session_title","usage":{{"input_tokens":{input},"output_tokens":1}}}}}}"#
        )
    };
    let prompt = r#"{"type":"user","parentUuid":null,"sessionId":"s","uuid":"a","message":{"role":"user","content":"go"}}"#;
    std::fs::write(&path, format!("{prompt}\n{}\n", title(10))).unwrap();
    std::fs::write(crate::session::record::file_beside(&path), title(200)).unwrap();
    let stats = stats_of(&[&path]);
    let titles = stats.by_prompt_id["session_title"];
    assert_eq!(
        (titles.replies, titles.usage.input, titles.usage.output),
        (0, 210, 2)
    );
    assert_eq!(stats.all.usage.input, 210);
    assert_eq!(stats.by_model["m"].usage.input, 210);
}
