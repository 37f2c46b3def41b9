//! Variables that change the effects of commands: children do not get them, but the shell of another agent has them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::LazyLock;

/// The effect of a variable in the shell of another agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct RemovedVariable {
    pub(super) programs: AffectedPrograms,
    pub(super) condition: Condition,
}

/// The programs whose effects a variable changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AffectedPrograms {
    All,
    /// Programs that start with `#!`.
    Scripts,
    /// The program with this name.
    Program(&'static str),
}

/// The condition on the value of a variable under which programs have only their known effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// Paths outside the workspace, separated by colons.
    Absolute,
    /// No value.
    Unset,
    /// A command that shows the output of git on a terminal, or a program that such a command starts.
    Pager,
    /// Any value.
    Any,
}

static REMOVED_VARIABLES: LazyLock<Vec<(RemovedVariable, Vec<&str>)>> = LazyLock::new(|| {
    let lines = include_str!("removed_variables.txt").lines();
    let rows = lines.filter(|row| !row.is_empty() && !row.starts_with("# "));
    #[expect(clippy::expect_used, reason = "the table is a part of the program")]
    let parsed = rows.map(|row| parse_row(row).expect("a row has programs, a condition and names"));
    parsed.collect()
});

/// Parses a row: the programs, the condition, and the names of variables.
fn parse_row(row: &'static str) -> Option<(RemovedVariable, Vec<&'static str>)> {
    let mut words = row.split_whitespace();
    let programs = match words.next()? {
        "*" => AffectedPrograms::All,
        "#!" => AffectedPrograms::Scripts,
        program => AffectedPrograms::Program(program),
    };
    let condition = match words.next()? {
        "absolute" => Condition::Absolute,
        "unset" => Condition::Unset,
        "pager" => Condition::Pager,
        "any" => Condition::Any,
        _ => return None,
    };
    let variable = RemovedVariable {
        programs,
        condition,
    };
    Some((variable, words.collect()))
}

/// Returns the first row of `removed_variables.txt` for a variable; a `*` at the end of a name in the table stands for
/// any text.
pub(super) fn removed_variable(name: &OsStr) -> Option<RemovedVariable> {
    let bytes = name.as_bytes();
    let is_named = |known: &&str| match known.strip_suffix('*') {
        Some(prefix) => bytes.starts_with(prefix.as_bytes()),
        None => bytes == known.as_bytes(),
    };
    let mut rows = REMOVED_VARIABLES.iter();
    let found = rows.find(|(_, names)| names.iter().any(is_named));
    found.map(|(variable, _)| *variable)
}
