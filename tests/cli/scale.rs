//! Work that GNU parallel distributes over processes.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::skip::is_missing;
use crate::turnpipe::shell;

/// Returns good records, bad ones, and one that is longer than a block of parallel.
fn records() -> String {
    let mut lines = String::new();
    for number in 0..5000 {
        match number {
            _ if number % 500 == 7 => lines.push_str("\"torn\n"),
            2500 => writeln!(lines, "{}", json!("x ".repeat(200_000))).unwrap(),
            _ => writeln!(lines, "{}", json!({"text": format!("Port part {number}")})).unwrap(),
        }
    }
    lines.pop();
    lines
}

#[test]
fn processes_of_parallel_give_what_one_process_gives() {
    if is_missing("parallel") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("records");
    std::fs::write(&input, records()).unwrap();
    let answers = |before: &str| {
        let run = shell(&format!(
            "set -o pipefail; {before} \"$TURNPIPE\" check text --kind title < '{}'",
            input.display()
        ));
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        let answers = run.stdout.lines().map(|line| {
            let mut answer: Value = serde_json::from_str(line).unwrap();
            // It counts within each process.
            let line = answer.as_object_mut().unwrap().remove("line");
            assert_eq!(line.is_some(), answer["error"].is_string());
            answer
        });
        answers.collect::<Vec<Value>>()
    };
    let alone = answers("");
    assert_eq!(alone.len(), 5000);
    assert_eq!(
        alone
            .iter()
            .filter(|answer| answer["error"].is_string())
            .count(),
        10
    );
    assert_eq!(alone[2499]["output"], "Port part 2499");
    assert_eq!(answers("parallel --pipe --block 10k -j 4 -k"), alone);
}
