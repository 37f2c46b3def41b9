//! Recordings of other agents pass through unchanged.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::bench::Bench;
use crate::skip::{is_full_run, sample};

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn recordings_pass_through_byte_for_byte_and_nothing_runs() {
    let mut found = Vec::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    files(&data.join("agents"), &mut found);
    assert!(found.len() > 100, "only {} files", found.len());
    found.sort();
    let agent = |path: &PathBuf| path.parent().map(Path::to_owned);
    let kind = |path: &PathBuf| (agent(path), path.to_string_lossy().contains(".stream."));
    let bench = Bench::new();
    let mut batches = 0;
    for path in sample(found, 4, kind) {
        let source = fs::read(&path).unwrap();
        for arguments in [&["--plan"][..], &[]] {
            let output = bench
                .run_tools(arguments)
                .stdin(Stdio::from(File::open(&path).unwrap()))
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", path.display());
            let plan = br#"{"type":"system","subtype":"plan","#;
            let (own, echo): (Vec<_>, Vec<_>) = output
                .stdout
                .split_inclusive(|byte| *byte == b'\n')
                .partition(|line| line.starts_with(plan));
            batches += own.len();
            let mut echo = echo.concat();
            if !own.is_empty() && !source.ends_with(b"\n") && echo.len() == source.len() + 1 {
                // A torn last line gets a newline because records follow it.
                assert_eq!(echo.pop(), Some(b'\n'));
            }
            assert!(
                echo == source,
                "{} {arguments:?} was changed",
                path.display()
            );
        }
    }
    // Most calls of recordings include their results.
    let floor = if is_full_run() { 2 } else { 0 };
    assert!(batches > floor, "only {batches} batches were planned");
}
