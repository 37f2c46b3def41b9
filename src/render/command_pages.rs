//! Lines and pages of commands: calls, findings in files and in the installation, archived sessions, installed hooks.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;

use super::cost_table::{count_table, fit_table};
use super::text::Style;
use super::times::format_recorded_minute;
use crate::message::CallOutcome;
use crate::records::{
    DoctorRecord, HookEffect, HookStatusRecord, HookTestRecord, SessionArchiveRecord,
    SessionArchivedRecord, SessionCallCountRecord, SessionCallRecord, SessionCheckRecord,
    SessionChecksRecord, SessionDamageRecord, SessionDescription, SessionRemovalRecord,
    SessionRemovedRecord, serialize_name,
};
use crate::text::{append, fit_columns, format_byte_size, format_count, terminal_safe_line};

/// Maximum width of a tool's name, in columns.
const TOOL_COLUMNS: usize = 12;

/// Returns the heading of the calls of a session.
pub(crate) fn calls_heading(
    session: &SessionDescription,
    style: Style,
    columns: Option<usize>,
) -> String {
    let title = terminal_safe_line(session.heading());
    let heading = format!("{title} · {}", session.agent);
    let heading = fit_columns(&heading, columns.unwrap_or(usize::MAX));
    style.style_text("1", &heading) + "\n"
}

/// Returns the line about a call: time, outcome, duration, tool, and the member that was asked for, or else the topic.
pub(crate) fn call_line(
    call: &SessionCallRecord,
    style: Style,
    zone: &TimeZone,
    columns: Option<usize>,
) -> String {
    let time = format_recorded_minute(call.timestamp.as_deref(), zone);
    let (outcome, code) = match call.outcome {
        None => ("no result", "2"),
        Some(CallOutcome::Ok) => ("ok", "2"),
        Some(CallOutcome::Failed) => ("failed", "31"),
        Some(CallOutcome::Declined | CallOutcome::Denied) => ("denied", "31"),
        Some(CallOutcome::Interrupted) => ("stopped", "31"),
        Some(CallOutcome::Cancelled) => ("cancelled", "31"),
    };
    let seconds = call.duration_ms.map_or_else(String::new, |duration| {
        let tenths = duration / 100;
        format!("{}.{} s", tenths / 10, tenths % 10)
    });
    let tool = fit_columns(&terminal_safe_line(&call.tool), TOOL_COLUMNS);
    let prefix = format!("{time:16}  {outcome:9} {seconds:>8}  {tool:TOOL_COLUMNS$}  ");
    let topic = match (&call.input, &call.field) {
        (Some(_), _) => &call.about,
        (None, Some(field)) => field,
        (None, None) => "",
    };
    let width = columns.map(|columns| columns.saturating_sub(prefix.chars().count()));
    let topic = fit_columns(&terminal_safe_line(topic), width.unwrap_or(usize::MAX));
    format!("{}{topic}\n", style.style_text(code, &prefix))
}

/// Returns a table of calls by tool and program.
pub(crate) fn call_count_page(counts: &[SessionCallCountRecord], columns: Option<usize>) -> String {
    let heads = "TOOL COMMAND CALLS FAILED DENIED SECONDS BYTES";
    let rows = counts.iter().map(|count| {
        let command = count.command.as_deref().unwrap_or_default();
        let numbers = [
            count.calls,
            count.failed,
            count.denied,
            count.duration_ms / 1000,
            count.result_bytes,
        ];
        ([count.tool.as_str(), command], numbers)
    });
    count_table(heads, rows, columns)
}

/// Maximum number of findings of a kind that a page lists.
const MAX_FINDINGS: u64 = 3;

/// Returns the verdict about a session file and its findings. Empty without findings.
pub(crate) fn check_page(totals: &SessionCheckRecord, findings: &[SessionDamageRecord]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let path = terminal_safe_line(&totals.path);
    let state = if totals.ok { "ok" } else { "damaged" };
    let records = format_count(totals.records, "record", "records");
    let lines = format_count(totals.lines, "line", "lines");
    let mut page = format!("{path}: {state}, {records} on {lines}\n");
    let mut counts = BTreeMap::new();
    for finding in findings {
        let count = counts.entry(serialize_name(finding.kind)).or_insert(0_u64);
        *count += 1;
        if *count > MAX_FINDINGS {
            continue;
        }
        let position = match (finding.line, finding.offset) {
            (Some(line), _) => format!("line {line}: "),
            (None, Some(offset)) => format!("byte {offset}: "),
            (None, None) => String::new(),
        };
        let detail = terminal_safe_line(&finding.detail);
        let kind = serialize_name(finding.kind).replace('_', " ");
        append!(page, "  {position}{kind}: {detail}\n");
    }
    for (kind, count) in counts.iter().filter(|(_, count)| **count > MAX_FINDINGS) {
        let (more, kind) = (count - MAX_FINDINGS, kind.replace('_', " "));
        append!(page, "  and {more} more: {kind}\n");
    }
    page
}

/// Returns a page of the installed hooks.
pub(crate) fn hooks_page(hooks: &[HookStatusRecord]) -> String {
    if hooks.is_empty() {
        return "not installed; `turnpipe hook install --agent NAME` installs it\n".to_owned();
    }
    let lines = hooks.iter().map(|hook| {
        let state = match (&hook.problem, hook.works, hook.trusted) {
            (Some(problem), Some(false), _) => format!("fails: {problem}"),
            (Some(problem), ..) => problem.clone(),
            (None, _, Some(false)) => "not trusted yet".to_owned(),
            (None, Some(_), _) => "installed, and answers".to_owned(),
            (None, None, _) => "installed".to_owned(),
        };
        format!(
            "{} ({}, {}): {}\n  {}\n  {}\n",
            hook.agent,
            serialize_name(hook.scope),
            hook.event,
            terminal_safe_line(&state),
            terminal_safe_line(&hook.path),
            terminal_safe_line(&hook.command)
        )
    });
    lines.collect()
}

/// Returns one row per finding, followed by its problem.
pub(crate) fn doctor_page(findings: &[DoctorRecord], columns: Option<usize>) -> String {
    let header = ["SUBJECT", "NAME", "VALUE", "SOURCE", "CONDITION"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(findings.iter().map(|finding| {
        let [name, value, source] =
            [&finding.name, &finding.value, &finding.source].map(|text| terminal_safe_line(text));
        let (subject, condition) = (
            serialize_name(finding.subject),
            serialize_name(finding.condition),
        );
        vec![subject, name, value, source, condition]
    }));
    let page = fit_table(rows, header.len(), columns);
    let problems = findings.iter().map(|finding| finding.problem.as_deref());
    add_problems(&page, problems)
}

/// Returns one row per test of a hook, followed by its problem, or else its reason.
pub(crate) fn hook_tests_page(tests: &[HookTestRecord], columns: Option<usize>) -> String {
    let header = ["AGENT", "TOOL", "CALL", "DECISION", "STATUS", "THE AGENT"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(tests.iter().map(|test| {
        let effect = match test.effect {
            HookEffect::Runs => "runs it",
            HookEffect::Asks => "asks its user",
            HookEffect::Denied => "denies it",
            HookEffect::LeftToAgent => "decides itself",
            HookEffect::Skipped => "skips the hook",
        };
        let agent_type = test.agent_type.as_ref().map(|kind| format!("/{kind}"));
        let agent = test.agent.clone() + &agent_type.unwrap_or_default();
        let status = test.exit_status.map(|status| status.to_string());
        let [agent, tool, about] =
            [&agent, &test.tool, &test.about].map(|text| terminal_safe_line(text));
        let decision = test.decision.map_or("none".to_owned(), serialize_name);
        let status = status.unwrap_or_else(|| "none".to_owned());
        vec![agent, tool, about, decision, status, effect.to_owned()]
    }));
    let page = fit_table(rows, header.len(), columns);
    let reasons = tests
        .iter()
        .map(|test| test.problem.as_deref().or(test.reason.as_deref()));
    add_problems(&page, reasons)
}

/// Adds a line below each row of a table whose problem is `Some`. `problems` has one item per row, without the head.
fn add_problems<'a>(page: &str, problems: impl Iterator<Item = Option<&'a str>>) -> String {
    let rows = page.lines().zip(std::iter::once(None).chain(problems));
    let lines = rows.map(|(line, problem)| match problem {
        Some(problem) => format!("{line}\n    {}\n", terminal_safe_line(problem)),
        None => format!("{line}\n"),
    });
    lines.collect()
}

/// Returns the line about an archived session.
pub(crate) fn archived_line(record: &SessionArchivedRecord) -> String {
    let name = serialize_name(record.outcome).replace('_', " ");
    let detail = record.reason.as_ref().unwrap_or(&record.path);
    format!("{name}: {}\n", terminal_safe_line(detail))
}

/// Returns the line about a removed session.
pub(crate) fn removed_line(record: &SessionRemovedRecord) -> String {
    let name = serialize_name(record.outcome).replace('_', " ");
    let detail = terminal_safe_line(record.reason.as_ref().unwrap_or(&record.path));
    format!("{name}: {detail}, {}\n", format_byte_size(record.bytes))
}

/// Returns the totals of `session archive` as a line.
pub(crate) fn archive_totals_line(totals: &SessionArchiveRecord) -> String {
    let [archived, unchanged] = [totals.archived + totals.would_archive, totals.unchanged];
    let [failed, skipped] = [totals.failed, totals.skipped];
    let sizes = [totals.bytes, totals.stored_bytes].map(format_byte_size);
    let verb = if totals.dry_run {
        "would be archived"
    } else {
        "archived"
    };
    format!(
        "{}: {archived} {verb}, {unchanged} unchanged, {failed} failed, {skipped} skipped; {} in {}\n",
        terminal_safe_line(&totals.path),
        sizes[0],
        sizes[1]
    )
}

/// Returns the totals of `session check` as a line.
pub(crate) fn check_totals_line(totals: &SessionChecksRecord) -> String {
    let SessionChecksRecord {
        sessions,
        ok,
        damaged,
        unreadable,
    } = *totals;
    let count = format_count(sessions, "session", "sessions");
    format!("{count}: {ok} ok, {damaged} damaged, {unreadable} unreadable\n")
}

/// Returns the totals of `session remove` as a line.
pub(crate) fn removal_totals_line(totals: &SessionRemovalRecord) -> String {
    let [removed, in_use] = [totals.removed + totals.would_remove, totals.in_use];
    let [failed, skipped] = [totals.failed, totals.skipped];
    let (verb, hint) = if totals.dry_run {
        ("would be removed", "; `--yes` removes them")
    } else {
        ("removed", "")
    };
    let files = format_count(totals.files, "file", "files");
    let size = format_byte_size(totals.bytes);
    format!(
        "{removed} {verb}, {in_use} in use, {failed} failed, {skipped} skipped; {files}, {size}{hint}\n"
    )
}
