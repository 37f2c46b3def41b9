//! Commands of `tests/data/shell` and their verdicts.

use serde_json::Value;

use super::{Verdict, analyse};

/// Commands that other agents refuse but that are accepted here, with the reason. All other rows that
/// agents refuse must be refused.
const ACCEPTED_DESPITE_REFUSAL: &str =
    include_str!("../../../../tests/data/shell/refused_by_others.jsonl");

/// Read-only commands and others.
pub(super) const READ_ONLY: &str = include_str!("../../../../tests/data/shell/read_only.jsonl");

pub(super) fn rows(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn text<'row>(row: &'row Value, field: &str) -> &'row str {
    row[field].as_str().unwrap_or_default()
}

/// Returns the output of `check shell` without a directory.
fn verdict(command: &str) -> &'static str {
    match analyse(command).restrict_to_start().verdict {
        Verdict::ReadOnly { .. } => "read-only",
        Verdict::Unknown => "unknown",
    }
}

fn is_accepted(command: &str) -> bool {
    verdict(command) == "read-only"
}

#[test]
fn commands_have_the_verdict_of_their_row() {
    let mut wrong = Vec::new();
    for row in rows(include_str!("../../../../tests/data/shell/commands.jsonl")) {
        let command = text(&row, "command");
        let found = verdict(command);
        if found != text(&row, "verdict") {
            wrong.push(format!("{row}: {found}, {}", analyse(command).why));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn commands_that_others_refuse_are_accepted_for_a_reason() {
    let listed = rows(ACCEPTED_DESPITE_REFUSAL);
    let wrong: Vec<_> = listed
        .iter()
        .filter(|row| !is_accepted(text(row, "command")) || text(row, "because").is_empty())
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn refusals_mark_the_words_that_cause_them() {
    for (command, marked) in [
        ("cat <<A\"$x\"\na\nA\"$x\"", "A\"$x\""),
        ("ls {fd}>/dev/null", "{fd}"),
        ("ls -l >a b", ">a"),
        ("ls 2>>a b", "2>>a"),
        ("echo $(ls; rm x) b", "rm"),
    ] {
        let span = analyse(command).span.unwrap_or_default();
        assert_eq!(command.get(span), Some(marked), "{command}");
    }
}

/// Rows that change something, or start a process that remains. If the effect depends
/// on git settings, the verdict requires them.
#[test]
fn attacks_are_refused() {
    let mut accepted = Vec::new();
    for row in rows(include_str!("../../../../tests/data/shell/attacks.jsonl")) {
        let command = text(&row, "command");
        let Verdict::ReadOnly { requires } = analyse(command).verdict else {
            continue;
        };
        let is_effective = row["read_only"] == Value::Bool(false);
        let depends_on_settings =
            !requires.is_empty() && !row["command_alone"].as_bool().unwrap_or(false);
        if is_effective && !depends_on_settings {
            accepted.push(command.to_owned());
        }
    }
    assert!(accepted.is_empty(), "{accepted:#?}");
}

#[test]
fn everyday_reads_are_accepted_and_writes_are_refused() {
    let rows = rows(READ_ONLY);
    let (reading, writing): (Vec<_>, Vec<_>) = rows
        .iter()
        .partition(|row| row["read_only"] == Value::Bool(true));
    let wrong: Vec<_> = writing
        .iter()
        .map(|row| text(row, "command"))
        .filter(|command| is_accepted(command))
        .collect();
    assert!(wrong.is_empty(), "accepted: {wrong:#?}");
    let must: Vec<_> = reading
        .iter()
        .filter(|row| text(row, "tier") == "must")
        .map(|row| text(row, "command"))
        .collect();
    let missed: Vec<_> = must
        .iter()
        .filter(|command| !is_accepted(command))
        .collect();
    assert!(
        !must.is_empty() && missed.len() * 50 <= must.len(),
        "{missed:#?}"
    );
}

#[test]
fn commands_that_agents_refuse_are_refused_except_listed_ones() {
    let listed: Vec<Value> = rows(ACCEPTED_DESPITE_REFUSAL);
    let is_listed = |command: &str| listed.iter().any(|row| text(row, "command") == command);
    let refused = rows(include_str!(
        "../../../../tests/data/shell/refused_by_agents.jsonl"
    ));
    let mut surprising: Vec<_> = refused
        .iter()
        .map(|row| text(row, "command"))
        .filter(|command| is_accepted(command) && !is_listed(command))
        .collect();
    surprising.sort_unstable();
    surprising.dedup();
    assert!(surprising.is_empty(), "{surprising:#?}");
}
