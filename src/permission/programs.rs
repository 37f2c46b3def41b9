//! Programs that matter to permission beyond what rules say about them.

use std::collections::HashSet;
use std::sync::LazyLock;

type Names = LazyLock<HashSet<&'static str>>;

/// They start a command that stands somewhere behind their names.
pub(super) static STARTS: Names = LazyLock::new(|| named("starts"));
/// No allow rule with a star allows them.
pub(super) static UNSEEN: Names = LazyLock::new(|| named("unseen"));
/// Anything can be behind their names.
pub(super) static ANY: Names = LazyLock::new(|| named("any"));
/// They change the files that are their operands.
pub(super) static CHANGES: Names = LazyLock::new(|| named("changes"));
/// The mode `acceptEdits` runs them on files of the working directories.
pub(super) static EDITS: Names = LazyLock::new(|| named("edits"));

fn named(what: &str) -> HashSet<&'static str> {
    super::table::lines(include_str!("tables/programs.txt"))
        .filter_map(|line| line.split_once(": "))
        .filter(|(property, _)| *property == what)
        .flat_map(|(_, names)| names.split_whitespace())
        .collect()
}

/// The name of a program that is given by any path.
pub(super) fn name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
