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

/// The programs that a variable concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AffectedPrograms {
    All,
    Scripts,
    Program(&'static str),
}

/// The condition on a variable's value under which its programs have only their known effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// Paths outside the workspace, separated by colons.
    Absolute,
    /// No value.
    Unset,
    /// A command that shows the output of git on a terminal, or a program that such a command starts.
    Pager,
    Any,
}

static ROWS: LazyLock<Vec<(RemovedVariable, Vec<&str>)>> = LazyLock::new(|| {
    let rows = include_str!("removed_variables.txt").lines();
    let rows = rows.filter(|row| !row.is_empty() && !row.starts_with("# "));
    #[expect(clippy::expect_used, reason = "the table is a part of the program")]
    let parsed = rows.map(|row| parse(row).expect("a row has programs, a condition and names"));
    parsed.collect()
});

fn parse(row: &'static str) -> Option<(RemovedVariable, Vec<&'static str>)> {
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

/// Returns the first row of `removed_variables.txt` with a variable.
pub(super) fn removed_variable(name: &OsStr) -> Option<RemovedVariable> {
    let name = name.as_bytes();
    let is_named = |known: &&str| match known.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix.as_bytes()),
        None => name == known.as_bytes(),
    };
    let mut rows = ROWS.iter();
    let found = rows.find(|(_, names)| names.iter().any(is_named));
    found.map(|(variable, _)| *variable)
}
