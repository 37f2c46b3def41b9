//! Runs the fuzz targets on their seed corpus, with an ordinary compiler.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::fs;
use std::path::Path;

#[path = "../fuzz/checks/jsonl_reader.rs"]
mod jsonl_reader;
#[path = "../fuzz/checks/shell_analyse.rs"]
mod shell_analyse;

/// Runs a target on each file of its corpus, whole and truncated after each of its first bytes.
fn run(target: &str, check: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let files: Vec<_> = fs::read_dir(corpus)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() >= 5, "the corpus of {target} is missing");
    for file in files {
        let data = fs::read(&file).unwrap();
        for end in (0..=data.len().min(150)).chain([data.len()]) {
            check(&data[..end]);
        }
    }
}

#[test]
fn jsonl_reader() {
    run("jsonl_reader", jsonl_reader::check);
}

#[test]
fn shell_analyse() {
    run("shell_analyse", shell_analyse::check);
}
