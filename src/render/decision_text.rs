//! Decisions about calls and verdicts about commands, as text.

use std::cmp::Reverse;

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::cost_table::count_table;
use super::times::format_recorded_minute;
use crate::message::{DecidedBy, Decision};
use crate::records::{
    CheckPermissionRecord, PermissionCountRecord, PermissionProposalRecord, serialize_name,
    verdict_access,
};
use crate::session::describe_input;
use crate::shell::{Analysis, GitUse, Verdict};
use crate::text::{append, display_width, fit_columns, fit_end, format_number, terminal_safe_line};

/// Minimum width of a call without a terminal, in columns.
const CALL_COLUMNS: usize = 56;

/// Maximum width of a call on a terminal, in columns.
const MAX_CALL_COLUMNS: usize = 90;

/// Returns the line about a call in this directory, cut to the width of the terminal. Columns have fixed widths,
/// since lines are printed one by one.
pub(crate) fn decision_line(
    decided: &CheckPermissionRecord,
    input: &Map<String, Value>,
    directory: Option<&str>,
    columns: Option<usize>,
) -> String {
    let decision = serialize_name(decided.decision);
    let tool = terminal_safe_line(&decided.name);
    let gist = terminal_safe_line(&describe_input(input, directory));
    let call = format!("{decision:5}  {tool:9}  {gist}");
    let width = columns.map_or(CALL_COLUMNS, |columns| {
        (columns * 3 / 5).min(MAX_CALL_COLUMNS)
    });
    let (call, rest) = match columns {
        Some(columns) => (fit_columns(&call, width), columns.saturating_sub(width + 2)),
        None => (call, usize::MAX),
    };
    let padding = " ".repeat(width.saturating_sub(display_width(&call)));
    format!("{call}{padding}  {}\n", reason(decided, rest))
}

/// Returns the reason for a decision, in at most this many columns.
fn reason(decided: &CheckPermissionRecord, columns: usize) -> String {
    let part = decided.parts.iter().find(|part| {
        part.decision == decided.decision
            && part.by == decided.by
            && part.decision != Decision::Allow
    });
    let why = match &decided.by {
        DecidedBy::Rule { rule, source, .. } => {
            let rule_width = display_width(&terminal_safe_line(rule)) + " ()".len();
            let source = fit_end(
                &terminal_safe_line(source),
                columns.saturating_sub(rule_width),
            );
            format!("{rule} ({source})")
        }
        DecidedBy::Builtin { builtin } => builtin.effect().to_owned(),
        DecidedBy::Mode { mode } => format!("mode {}", mode.name()),
        DecidedBy::Default { .. } | DecidedBy::Hook { .. } | DecidedBy::Prompt { .. } => {
            let subject = part.map_or(String::new(), |part| format!(" for {}", part.command));
            let hint = decided
                .hint
                .as_ref()
                .map(|rule| format!("; {rule} would allow it"));
            format!("no rule{subject}{}", hint.unwrap_or_default())
        }
    };
    fit_columns(&terminal_safe_line(&why), columns)
}

/// Maximum number of rows in text.
const MAX_ROWS: usize = 40;

/// Returns a page of decisions about the calls of past sessions, by tool and program, and of rules that would have
/// spared questions.
pub(crate) fn history_page<'a>(
    counts: impl Iterator<Item = &'a PermissionCountRecord>,
    proposals: &[PermissionProposalRecord],
    sessions: u64,
    columns: Option<usize>,
) -> String {
    let mut counts: Vec<_> = counts.collect();
    let sum = |number: fn(&PermissionCountRecord) -> u64| {
        let of_tools = counts.iter().filter(|count| count.command.is_none());
        format_number(of_tools.map(|count| number(count)).sum::<u64>())
    };
    let mut page = format!(
        "{} calls of {} sessions: {} allowed, {} asked about, {} denied\n\n",
        sum(|count| count.calls),
        format_number(sessions),
        sum(|count| count.allow),
        sum(|count| count.ask),
        sum(|count| count.deny),
    );
    counts.sort_by_key(|count| Reverse((count.ask + count.deny, count.calls)));
    let rows = counts.iter().take(MAX_ROWS).map(|count| {
        let command = count.command.as_deref().unwrap_or_default();
        let numbers = [count.calls, count.allow, count.ask, count.deny];
        ([count.tool.as_str(), command], numbers)
    });
    page += &count_table("TOOL COMMAND CALLS ALLOWED ASKED DENIED", rows, columns);
    if counts.len() > MAX_ROWS {
        let more = format_number((counts.len() - MAX_ROWS) as u64);
        append!(page, "and {more} more rows; `-o jsonl` prints all\n");
    }
    for (index, proposal) in proposals.iter().enumerate() {
        if index == 0 {
            page += "\nRules that would have spared the most questions:\n";
        }
        let spares = format_number(proposal.spares);
        let rule = terminal_safe_line(&proposal.rule);
        let also = &proposal.also_allows;
        append!(page, "{spares:>7}  {rule}\n         also: {also}\n");
    }
    page
}

/// Returns the command with the deciding word underlined, then the verdict.
pub(crate) fn verdict_text(command: &str, analysis: &Analysis) -> String {
    let mut text = String::new();
    let mut start = 0;
    for line in command.split('\n') {
        let end = start + line.len();
        text.push_str(&replace_unprintable(line));
        text.push('\n');
        if let Some(span) = &analysis.span
            && (start..=end).contains(&span.start)
        {
            let before = line.get(..span.start - start).unwrap_or_default();
            let marked = command
                .get(span.start..span.end.min(end))
                .unwrap_or_default();
            let indent = display_width(&replace_unprintable(before));
            let width = display_width(&replace_unprintable(marked)).max(1);
            text.push_str(&" ".repeat(indent));
            text.push_str(&"^".repeat(width));
            text.push('\n');
        }
        start = end + 1;
    }
    let verdict = serialize_name(verdict_access(&analysis.verdict));
    append!(text, "{verdict}: {}", analysis.why);
    if let Verdict::ReadOnly { requires } = &analysis.verdict
        && !requires.is_empty()
    {
        append!(text, " (requires {})", GitUse::CONDITION);
    }
    text.push_str("\n\n");
    text
}

/// Returns a terminal-safe line with the same columns: unprintable characters become U+FFFD.
fn replace_unprintable(line: &str) -> String {
    let mut replaced = String::with_capacity(line.len());
    for letter in line.chars() {
        let mut buffer = [0; 4];
        let encoded: &str = letter.encode_utf8(&mut buffer);
        if letter == ' ' || terminal_safe_line(encoded) == encoded {
            replaced.push(letter);
        } else {
            replaced.push('\u{fffd}');
        }
    }
    replaced
}

fn text_member<'a>(record: &'a Value, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the lines about a decision in the log of the hook.
pub(crate) fn format_logged_decision(record: &Value, zone: &TimeZone, columns: usize) -> String {
    let safe_text = |name| terminal_safe_line(text_member(record, name));
    let time = format_recorded_minute(Some(text_member(record, "timestamp")), zone);
    let [decision, tool, about] = ["decision", "tool", "about"].map(safe_text);
    let head = fit_columns(&format!("{time}  {decision:5}  {tool}  {about}"), columns);
    let mut lines = vec![head, format!("  {}", safe_text("reason"))];
    let subagent = ["agent_type", "agent_id"].map(safe_text).join(" ");
    if !subagent.trim().is_empty() {
        lines.push(format!("  in the subagent {}", subagent.trim()));
    }
    if record.get("answered") == Some(&Value::Bool(false)) {
        let agent = record.get("agent").and_then(Value::as_str);
        let agent = terminal_safe_line(agent.unwrap_or("the agent"));
        lines.push(format!("  left to {agent}, which decided itself"));
    }
    let values = record.get("hints").and_then(Value::as_array);
    let rules = values.into_iter().flatten().filter_map(Value::as_str);
    let hints: Vec<String> = rules.map(terminal_safe_line).collect();
    if !hints.is_empty() {
        lines.push(format!("  would be allowed by {}", hints.join(" with ")));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::analyse;

    #[test]
    fn the_deciding_word_is_marked() {
        let rows = [
            (
                "ls | tee x",
                "ls | tee x\n     ^^^\nunknown: `tee` is not a command known to be read-only\n\n",
            ),
            (
                "ls\n  rm a",
                "ls\n  rm a\n  ^^\nunknown: `rm` is not a command known to be read-only\n\n",
            ),
            (
                "ls",
                "ls\nread-only: ls: options within the accepted set\n\n",
            ),
            (
                "git log",
                "git log\nread-only: git log: options within the accepted set (requires clean-git-config)\n\n",
            ),
        ];
        for (command, expected) in rows {
            assert_eq!(verdict_text(command, &analyse(command)), expected);
        }
    }

    #[test]
    fn text_is_terminal_safe() {
        let shown = verdict_text(
            "echo \u{1b}[31m\u{202e}x",
            &analyse("echo \u{1b}[31m\u{202e}x"),
        );
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    }
}
