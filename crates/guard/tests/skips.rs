//! Prints how many tests of this run were skipped, for lack of what. It has no harness, so that this line is all of its
//! output. Cargo runs it last, after the tests of the other package.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![expect(clippy::print_stdout, reason = "the line is the output")]

use std::collections::BTreeMap;
use std::fs;

#[path = "../../../tests/skip/mod.rs"]
mod skip;

fn main() {
    let file = skip::skip_log();
    let skips = fs::read_to_string(&file).unwrap_or_default();
    // Absent if nothing was skipped.
    let _ = fs::remove_file(file);
    let mut counts = BTreeMap::<&str, u32>::new();
    for missing in skips.lines() {
        *counts.entry(missing).or_default() += 1;
    }
    let reasons = counts
        .iter()
        .map(|(missing, count)| format!("{missing} ({count})"));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    let line = match skips.lines().count() {
        0 => "0 tests skipped".to_owned(),
        1 => format!("1 test skipped, for lack of {reasons}"),
        count => format!("{count} tests skipped, for lack of {reasons}"),
    };
    println!("{line}");
}
