//! Results that are too long, empty or repeated.

use serde_json::json;

use crate::bench::{BYPASS, Bench, bash, call};

#[test]
fn a_large_result_is_saved_and_previewed() {
    let bench = Bench::new();
    let run = bench.run(
        &[&BYPASS[..], &["--session-id", "s"]].concat(),
        bash("toolu_1", "seq 1 20000"),
    );
    let content = run.content("toolu_1");
    let path = bench.session_state("s").join("tool-results/toolu_1.txt");
    let expected = format!(
        "<persisted-output>\nOutput too large (106.3KB). Full output saved to: {}\n\nPreview (first 2KB):\n1\n2\n",
        path.display()
    );
    assert!(content.starts_with(&expected), "{content}");
    assert!(content.ends_with("\n...\n</persisted-output>"), "{content}");
    let saved = std::fs::read_to_string(&path).unwrap();
    assert_eq!(saved.lines().count(), 20000);
    assert_eq!(
        run.result("toolu_1")["turnpipe"]["persisted"]["path"],
        path.to_str().unwrap()
    );
}

#[test]
fn a_result_that_cannot_be_saved_is_sent_in_full() {
    let bench = Bench::new();
    let manifest = bench.write(
        "tools.toml",
        "[[tool]]\nname = \"Numbers\"\ndescription = \"Counts.\"\ninput_schema = { type = \"object\" }\ncommand = [\"seq\", \"1\", \"20000\"]\naccess = \"read-only\"\n",
    );
    bench.write("blocked", "a file where a directory should be");
    let run = bench.run(
        &[
            "--tools",
            manifest.to_str().unwrap(),
            "--state-dir",
            "blocked",
        ],
        call("a", "Numbers", &json!({})),
    );
    assert!(
        run.stderr.contains("cannot save the result of a"),
        "{}",
        run.stderr
    );
    assert_eq!(run.content("a").lines().count(), 20000);
}

#[test]
fn an_empty_result_is_padded() {
    let bench = Bench::new();
    let run = bench.run(&BYPASS, bash("a", "true"));
    assert_eq!(run.content("a"), "(Bash completed with no output)");
}

#[test]
fn the_results_of_a_turn_stay_within_its_budget_and_decisions_are_final() {
    let bench = Bench::new();
    let manifest = bench.write(
        "tools.toml",
        "[[tool]]\nname = \"Numbers\"\ndescription = \"Counts.\"\ninput_schema = { type = \"object\", properties = { to = { type = \"integer\" } } }\ncommand = [\"seq\", \"1\", \"{to}\"]\naccess = \"read-only\"\n",
    );
    let arguments = [
        "--tools",
        manifest.to_str().unwrap(),
        "--emit",
        "turn",
        "--session-id",
        "s",
    ];
    // About 43,000, 48,000, ... characters: each is below the limit of a result, all are above that of a turn.
    let sizes = [8800, 9800, 9500, 9400, 9300];
    let input: String = sizes
        .iter()
        .map(|size| call(&format!("c{size}"), "Numbers", &json!({"to": size})))
        .collect();
    let run = bench.run(&arguments, input.clone());
    let replaced = |run: &crate::bench::Run| -> Vec<u32> {
        sizes
            .into_iter()
            .filter(|size| {
                run.content(&format!("c{size}"))
                    .starts_with("<persisted-output>")
            })
            .collect()
    };
    assert_eq!(replaced(&run), [9800]);
    let log: Vec<_> = run
        .records()
        .into_iter()
        .filter(|record| record["type"] == "content_replacement")
        .collect();
    assert_eq!(log.len(), 1);
    assert_eq!(log[0]["replacements"][0]["tool_use_id"], "c9800");
    assert_eq!(
        log[0]["replacements"][0]["replacement"],
        run.content("c9800").as_str()
    );

    // The result would fit alone, but the same id always gets the same bytes.
    let again = bench.run(&arguments, call("c9800", "Numbers", &json!({"to": 9800})));
    assert_eq!(again.content("c9800"), run.content("c9800"));
}

#[test]
fn repeated_results_become_references_on_request() {
    let bench = Bench::new();
    let file = bench.write("file", "a line of text\n".repeat(100));
    let read = |id: &str| call(id, "Read", &json!({"file_path": file}));
    let input = [read("a"), read("b")].concat();
    let run = bench.run(&["--dedup"], input.clone());
    assert!(run.content("a").contains("a line of text"));
    assert!(
        run.content("b").contains("earlier call a"),
        "{}",
        run.content("b")
    );
    let run = bench.run(&[], input);
    assert!(run.content("b").contains("a line of text"));
}

#[test]
fn a_call_that_changes_a_read_file_has_a_hint() {
    let bench = Bench::new();
    let file = bench.write("file", "one\n");
    let input = [
        call("a", "Read", &json!({"file_path": file})),
        bash("b", "echo two >> file"),
        bash("c", "true"),
    ]
    .concat();
    let run = bench.run(&BYPASS, input);
    let hint = run.result("b")["tool_use_result"]["staleReadFileStateHint"].clone();
    assert!(hint.as_str().unwrap().contains("work/file"), "{hint}");
    assert_eq!(run.content("c"), "(Bash completed with no output)");
}

#[test]
fn old_state_is_removed() {
    let bench = Bench::new();
    // Only its effects matter.
    let _ = bench.run(
        &[&BYPASS[..], &["--session-id", "s"]].concat(),
        bash("a", "seq 1 20000"),
    );
    let kept = bench.shell("turnpipe state clean --older-than 30d");
    assert_eq!(kept.records()[0]["files"], 0, "{kept:?}");
    let results = bench.session_state("s").join("tool-results/a.txt");
    std::fs::File::options()
        .write(true)
        .open(&results)
        .unwrap()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let removed = bench.shell("turnpipe state clean --older-than 30d");
    assert_eq!(removed.records()[0]["files"], 1, "{removed:?}");
    assert!(!results.exists());
}
