//! Prints the number of tests of this run that were skipped, with the missing programs. It has no harness, so that this
//! line is its only output. Cargo runs it last, after the tests of the other package.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![expect(clippy::print_stdout, reason = "the line is the output")]

use std::collections::BTreeMap;
use std::fs;

#[path = "../../../tests/skip/mod.rs"]
mod skip;

fn main() {
    let file = skip::skip_log();
    let skips = fs::read_to_string(&file).unwrap_or_default();
    // The file is missing if nothing was skipped.
    let _ = fs::remove_file(file);
    let mut counts = BTreeMap::<&str, u32>::new();
    for missing in skips.lines() {
        *counts.entry(missing).or_default() += 1;
    }
    let missing = counts
        .iter()
        .map(|(program, count)| format!("{program} ({count})"));
    let reasons = missing.collect::<Vec<_>>().join(", ");
    let line = match skips.lines().count() {
        0 => "0 tests skipped".to_owned(),
        1 => format!("1 test skipped, for lack of {reasons}"),
        count => format!("{count} tests skipped, for lack of {reasons}"),
    };
    println!("{line}");
}
