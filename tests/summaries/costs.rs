//! The cost of labels, titles and recaps.

use serde_json::{Value, json};

use crate::files::{TALK, claude, codex, gemini, pi, qwen, records, write};
use crate::turnpipe::run;

/// Tokens count in every file, for successful and failed requests.
#[test]
fn tokens_count_for_the_model_that_was_paid() {
    let paid = |prompt: &str| {
        json!({"v": 1, "model": "openai:small", "prompt_id": prompt,
            "usage": {"input_tokens": 100, "output_tokens": 0}})
    };
    let stream = [
        json!({"type": "tool_use_summary", "summary": "Looked", "preceding_tool_use_ids": ["t"],
            "turnpipe": paid("label")}),
        json!({"type": "title", "ok": true, "title": "A title", "turnpipe": paid("title")}),
        json!({"type": "title", "ok": false, "reason": "empty_result", "turnpipe": paid("title")}),
        json!({"type": "recap", "ok": true, "recap": "Here.",
            "turnpipe": paid("recap")}),
        json!({"type": "recap", "ok": false, "reason": "aborted", "turnpipe": paid("recap")}),
        json!({"type": "system", "subtype": "usage", "turnpipe": paid("label")}),
    ];
    let stream = stream.map(|record| format!("{record}\n")).concat();
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions");
    std::fs::create_dir(&sessions).unwrap();
    let own = json!({"type": "assistant", "parentUuid": null, "sessionId": "s", "uuid": "u",
        "turnpipe": {"v": 1}, "message": {"id": "m", "role": "assistant", "model": "main",
            "content": [], "usage": {"input_tokens": 7, "output_tokens": 0}}});
    let theirs = own.to_string().replace("turnpipe", "x");
    for (name, session, main) in [
        ("own.jsonl", format!("{own}\n"), 7),
        ("claude.jsonl", claude(&TALK) + &theirs + "\n", 7),
        ("qwen.jsonl", qwen(&TALK), 0),
        ("pi.jsonl", pi(&TALK), 0),
        ("codex.jsonl", codex(&TALK), 0),
        ("session-gemini.json", gemini(&TALK), 0),
    ] {
        let path = write(&sessions, name, &session);
        let path = path.to_str().unwrap();
        let arguments = ["session", "append", path, "--sync", "none", "--no-echo"];
        let output = run(&arguments, stream.as_bytes());
        assert_eq!(output.status, Some(0), "{name}: {}", output.stderr);
        let output = run(&["session", "stats", path, "-o", "jsonl"], b"");
        let stats = &records(&output.stdout)[0];
        let input = |share: &Value| share["usage"]["input_tokens"].as_u64().unwrap();
        let of_models = stats["by_model"].as_array().unwrap().iter();
        let small = of_models.filter(|share| share["name"] == "openai:small");
        assert_eq!(small.map(input).sum::<u64>(), 600, "{name}: {stats}");
        assert_eq!(input(stats), 600 + main, "{name}: {stats}");
        let shown = run(&["session", "show", path], b"");
        assert_ne!(records(&shown.stdout)[0]["model"], "openai:small", "{name}");
    }
}
