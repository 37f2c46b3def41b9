//! Differences between lists of lines.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Compares two lists of lines. The difference is not always the smallest one: the algorithm stops
/// early if the search takes too long. All callers share this instance of the generic algorithm.
pub fn compare_lines(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, old, new)
}

/// Returns the lines of an operation, each with its mark: a space, `-` or `+`.
pub fn marked_lines<'a>(
    operation: &DiffOp,
    old: &[&'a str],
    new: &[&'a str],
) -> impl Iterator<Item = (char, &'a str)> {
    let (mark, added) = if matches!(operation, DiffOp::Equal { .. }) {
        (' ', &[][..])
    } else {
        ('-', &new[operation.new_range()])
    };
    let before = old[operation.old_range()]
        .iter()
        .map(move |line| (mark, *line));
    before.chain(added.iter().map(|line| ('+', *line)))
}

/// Compares two lists of lines as [`compare_lines`] does. Returns all lines, each with its mark.
pub fn marked_diff<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let operations = compare_lines(old, new);
    let lines = operations.iter();
    lines
        .flat_map(|operation| marked_lines(operation, old, new))
        .collect()
}
