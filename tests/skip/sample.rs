//! A part of the rows of a long table.

use std::collections::BTreeMap;

/// Whether all tests have to run, and in full: `TURNPIPE_TEST_ALL=1`.
pub(crate) fn is_full_run() -> bool {
    std::env::var_os("TURNPIPE_TEST_ALL").is_some_and(|value| value == "1")
}

/// Returns one of `step` rows of each kind, the first one included; all rows with `TURNPIPE_TEST_ALL=1`.
pub(crate) fn sample<Row, Kind: Ord>(
    rows: impl IntoIterator<Item = Row>,
    step: usize,
    kind: impl Fn(&Row) -> Kind,
) -> Vec<Row> {
    let mut counts = BTreeMap::<Kind, usize>::new();
    let mut is_in_sample = |row: &Row| {
        let count = counts.entry(kind(row)).or_default();
        *count += 1;
        is_full_run() || (*count - 1).is_multiple_of(step)
    };
    let mut rows: Vec<Row> = rows.into_iter().collect();
    rows.retain(&mut is_in_sample);
    rows
}
