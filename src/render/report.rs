//! A report about sessions as Markdown, as outputs of a job in GitHub Actions, as `JUnit` XML, and as JSON.
//! Text from models is untrusted: no output contains a command to a CI runner.

use std::path::Path;

use super::cost_table::{cost_cell, duration_cell, runs_cell, tokens_cell};
use super::harmless_markdown::harmless_line;
use super::markdown::inline_code;
use super::page::escape_line;
use crate::records::{ReportedCall, SessionReportRecord};
use crate::text::{
    append, escape_hidden, fit_columns, format_count, format_dollars, terminal_safe_line,
};

/// Maximum number of rows of a list or table in Markdown.
const MAX_ROWS: usize = 50;

/// Maximum width of a text, in columns.
const MAX_COLUMNS: usize = 300;

type Test = fn(&ReportedCall) -> bool;

/// Start of commands to runners anywhere in a line: `##[error]` in GitHub Actions and Azure Pipelines, `##vso[…]`.
const COMMAND_MARK: &str = "##";

/// Formats a report as Markdown. Every line starts with markup, so that none starts with a command such as
/// `::error::`.
pub fn report_as_markdown(report: &SessionReportRecord) -> String {
    let mut page = String::new();
    for session in report.sessions.iter().take(MAX_ROWS) {
        let about = &session.about;
        let prompt = about.first_prompt.as_deref();
        let title = about.title.as_deref().unwrap_or("Session");
        append!(page, "## {}\n\n", escape_text(title));
        let outcome = session.outcome.as_deref();
        for (name, value) in [("Task", prompt), ("Outcome", outcome)] {
            if let Some(value) = value {
                append!(page, "**{name}:** {}\n\n", escape_text(value));
            }
        }
    }
    let omitted = report.sessions.len().saturating_sub(MAX_ROWS);
    if omitted > 0 {
        append!(page, "*… and {omitted} more sessions*\n\n");
    }
    page.push_str("| | |\n|---|---|\n");
    for (name, value) in facts(report) {
        append!(page, "| {name} | {} |\n", escape_text(&value));
    }
    let gates = report.gates.iter().map(|gate| {
        let result = if gate.passed { "passed" } else { "**failed**" };
        format!(
            "| {} | {result} | {} |",
            code_span(&gate.gate),
            escape_text(&gate.message)
        )
    });
    add_table(
        &mut page,
        "Gates",
        "| gate | | |\n|---|---|---|",
        &gates.collect::<Vec<_>>(),
    );
    let cwds = report.sessions.iter().map(|session| &session.about.cwd);
    let cwds: Vec<&String> = cwds.flatten().collect();
    let files = report.files.iter().map(|file| {
        let path = Path::new(&file.path);
        let below = cwds.iter().find_map(|cwd| path.strip_prefix(cwd).ok());
        let name = code_span(&below.unwrap_or(path).to_string_lossy());
        format!("| {name} | +{} | −{} |", file.added, file.removed)
    });
    add_table(
        &mut page,
        "Changed files",
        "| file | | |\n|---|--:|--:|",
        &files.collect::<Vec<_>>(),
    );
    let mut calls: Vec<&ReportedCall> = report.listed_calls.iter().collect();
    let sections: [(_, Test); 4] = [
        ("Forbidden calls", |call| !call.forbidden_by.is_empty()),
        ("Denied calls", ReportedCall::is_denied),
        ("Failed calls", ReportedCall::has_failed),
        ("Commands", |_| true),
    ];
    for (heading, is_listed) in sections {
        let listed = calls.extract_if(.., |call| is_listed(call));
        add_table(
            &mut page,
            heading,
            "",
            &listed.map(format_call).collect::<Vec<_>>(),
        );
    }
    page
}

/// Returns the rows of the table of a report.
fn facts(report: &SessionReportRecord) -> Vec<(&'static str, String)> {
    let failed = report.gates.iter().filter(|gate| !gate.passed).count() as u64;
    let result = match report.gates.len() as u64 {
        0 => None,
        count if failed > 0 => Some(format!(
            "{failed} of {} failed",
            format_count(count, "gate", "gates")
        )),
        count => Some(format!("{} passed", format_count(count, "gate", "gates"))),
    };
    let abouts = || report.sessions.iter().map(|session| &session.about);
    let join = |names: Vec<String>| (!names.is_empty()).then(|| names.join(", "));
    let mut agents: Vec<String> = abouts().map(|about| about.agent.clone()).collect();
    let mut models: Vec<String> = abouts().filter_map(|about| about.model.clone()).collect();
    agents.dedup();
    models.dedup();
    let calls = format!(
        "{}: {} failed, {} denied",
        report.calls, report.failed, report.denied
    );
    let changes = match report.files.len() as u64 {
        0 => "none".to_owned(),
        count => {
            let files = format_count(count, "file", "files");
            let (added, removed) = line_counts(report);
            format!("{files}, +{added} −{removed}")
        }
    };
    let tokens = tokens_cell(&report.spending.usage);
    let cost = tokens.as_ref().map(|_| cost_cell(&report.spending));
    let unpriced = report.spending.unpriced_models.iter().cloned().collect();
    let rows = [
        ("Result", result),
        ("Agent", join(agents)),
        ("Model", join(models)),
        ("Calls", Some(calls)),
        ("Changes", Some(changes)),
        ("Tokens", tokens),
        ("Cost", cost),
        (
            "Recorded cost",
            report.spending.recorded_cost.map(format_dollars),
        ),
        ("Without a price", join(unpriced)),
        ("Duration", duration_cell(report.duration_ms)),
        ("Run", report.runs.as_ref().map(runs_cell)),
    ];
    rows.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// Returns the numbers of added and removed lines.
fn line_counts(report: &SessionReportRecord) -> (u64, u64) {
    let files = || report.files.iter();
    let added = files().map(|file| file.added).sum();
    (added, files().map(|file| file.removed).sum())
}

/// Appends a section with the first rows, unless there are none.
fn add_table(page: &mut String, heading: &str, head: &str, rows: &[String]) {
    if rows.is_empty() {
        return;
    }
    append!(page, "\n### {heading}\n\n{head}");
    page.push_str(if head.is_empty() { "" } else { "\n" });
    let omitted = rows.len().saturating_sub(MAX_ROWS);
    for row in rows.iter().take(MAX_ROWS) {
        append!(page, "{row}\n");
    }
    if omitted > 0 {
        append!(page, "\n*… and {omitted} more*\n");
    }
}

fn format_call(call: &ReportedCall) -> String {
    let mut item = format!("- {} {}", escape_text(&call.tool), code_span(&call.about));
    let rules = call
        .forbidden_by
        .iter()
        .map(|rule| format!("matches {}", code_span(rule)));
    let status = call
        .exit_status
        .filter(|status| *status != 0)
        .map(|status| format!("exit status {status}"));
    let time = call
        .duration_ms
        .filter(|duration| *duration >= 1000)
        .map(|duration| format!("{} s", duration / 1000));
    let outcome = match call.outcome {
        None => Some("no result"),
        Some(_) if call.forbidden_by.is_empty() => None,
        Some(_) if call.is_denied() => Some("denied"),
        Some(_) => call.has_failed().then_some("failed"),
    };
    for fact in rules
        .chain(outcome.map(str::to_owned))
        .chain(status)
        .chain(time)
    {
        append!(item, " · {fact}");
    }
    item
}

/// Formats untrusted text within a line.
fn escape_text(text: &str) -> String {
    harmless_line(&fit_columns(&terminal_safe_line(text), MAX_COLUMNS))
}

/// Formats untrusted text as code within a line or a cell of a table, and as text if code would end the cell or
/// contain a command.
fn code_span(text: &str) -> String {
    let safe = fit_columns(&terminal_safe_line(text), MAX_COLUMNS);
    if safe.contains(COMMAND_MARK) || safe.contains('|') {
        harmless_line(&safe)
    } else {
        inline_code(&safe)
    }
}

/// Formats a report as lines for the file in `GITHUB_OUTPUT`: `name=value`, each value on one line. Unknown values
/// are omitted.
pub fn report_as_github_output(report: &SessionReportRecord) -> String {
    let failed = report.gates.iter().filter(|gate| !gate.passed);
    let failed_gates: Vec<&str> = failed.map(|gate| gate.gate.as_str()).collect();
    let result = if report.passed { "passed" } else { "failed" };
    let (added, removed) = line_counts(report);
    let numbers: [(&str, u64); 10] = [
        ("sessions", report.sessions.len() as u64),
        ("calls", report.calls),
        ("failed_calls", report.failed),
        ("denied_calls", report.denied),
        ("errors", report.errors),
        ("files_changed", report.files.len() as u64),
        ("lines_added", added),
        ("lines_removed", removed),
        ("tokens", report.spending.usage.total()),
        ("duration_ms", report.duration_ms),
    ];
    let numbers = numbers.map(|(name, number)| (name, Some(number.to_string())));
    let first = report.sessions.first();
    let words = [
        ("result", Some(result.to_owned())),
        ("failed_gates", Some(failed_gates.join(", "))),
        ("cost_usd", report.cost().map(|cost| format!("{cost:.4}"))),
        (
            "task",
            first.and_then(|session| session.about.first_prompt.clone()),
        ),
        ("outcome", first.and_then(|session| session.outcome.clone())),
    ];
    let mut lines = String::new();
    for (name, value) in words.into_iter().chain(numbers) {
        if let Some(value) = value {
            append!(lines, "{name}={}\n", escape_command(&value));
        }
    }
    lines
}

/// Makes a line harmless for a step that prints it.
fn escape_command(text: &str) -> String {
    let safe = terminal_safe_line(text);
    let line = safe.trim_start_matches([':', ' ']);
    if line.contains(COMMAND_MARK) {
        line.replace('#', "# ")
    } else {
        line.to_owned()
    }
}

/// Formats the gates of a report as `JUnit` XML, with a test case for each.
pub fn report_as_junit(report: &SessionReportRecord) -> String {
    let count = report.gates.len();
    let failed = report.gates.iter().filter(|gate| !gate.passed).count();
    let mut page = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\
         <testsuite name=\"turnpipe session report\" tests=\"{count}\" failures=\"{failed}\" errors=\"0\">\n"
    );
    for gate in &report.gates {
        let (name, message) = (escape_line(&gate.gate), escape_line(&gate.message));
        append!(page, "<testcase classname=\"turnpipe\" name=\"{name}\"");
        if gate.passed {
            page += "/>\n";
        } else {
            append!(page, "><failure message=\"{message}\"/></testcase>\n");
        }
    }
    page + "</testsuite>\n</testsuites>\n"
}

/// Formats a report as JSON on one line.
///
/// # Errors
/// Never fails: JSON can represent all values.
pub fn report_as_json(report: &SessionReportRecord) -> serde_json::Result<String> {
    let json = serde_json::to_string(report)?;
    let mut json = escape_hidden(&json).into_owned() + "\n";
    if json.contains(COMMAND_MARK) {
        // A number sign can only be in a string.
        json = json.replace('#', "\\u0023");
    }
    Ok(json)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::*;
    use crate::message::CallOutcome;
    use crate::records::{FileChange, GateResult, ReportedSession, SessionDescription};
    use crate::text::terminal_safe;

    /// The outputs of a job.
    const NAMES: [&str; 15] = [
        "result",
        "failed_gates",
        "cost_usd",
        "task",
        "outcome",
        "sessions",
        "calls",
        "failed_calls",
        "denied_calls",
        "errors",
        "files_changed",
        "lines_added",
        "lines_removed",
        "tokens",
        "duration_ms",
    ];

    /// Returns a report with `hostile` in place of all texts of models.
    fn report(hostile: &[String]) -> SessionReportRecord {
        let text = |number: usize| hostile[number % hostile.len()].clone();
        let call = |number: usize, outcome: Option<CallOutcome>, rules: &[&str]| ReportedCall {
            tool: text(number),
            about: text(number + 1),
            is_command: true,
            outcome,
            exit_status: Some(1),
            duration_ms: Some(2000),
            forbidden_by: rules.iter().map(|rule| (*rule).to_owned()).collect(),
        };
        SessionReportRecord {
            gates: vec![GateResult {
                gate: "--forbid Bash(a | b)".to_owned(),
                passed: false,
                message: "1 matching call".to_owned(),
            }],
            sessions: vec![ReportedSession {
                about: SessionDescription {
                    title: Some(text(0)),
                    first_prompt: Some(text(1)),
                    cwd: Some(text(2)),
                    model: Some(text(0)),
                    ..SessionDescription::default()
                },
                outcome: Some(text(3)),
                ..ReportedSession::default()
            }],
            files: vec![FileChange {
                path: text(0),
                added: 1,
                removed: 2,
            }],
            listed_calls: vec![
                call(0, Some(CallOutcome::Ok), &["Bash(a | b)"]),
                call(1, Some(CallOutcome::Denied), &[]),
                call(2, Some(CallOutcome::Failed), &[]),
                call(3, None, &[]),
            ],
            ..SessionReportRecord::default()
        }
    }

    /// Whether a runner of GitHub Actions or Azure Pipelines treats one of these lines as a command.
    fn has_command(text: &str) -> bool {
        let mut lines = text.split([
            '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
        ]);
        lines.any(|line| {
            line.trim().starts_with("::") || line.contains("##[") || line.contains("##vso[")
        })
    }

    /// Reads a file of outputs as the runner does. Returns the names.
    fn names(file: &str) -> Vec<String> {
        let lines = file.split(['\n', '\r']).filter(|line| !line.is_empty());
        let name = |line: &str| {
            let (equals, here) = (line.find('='), line.find("<<"));
            assert!(
                equals.is_some_and(|equals| here.is_none_or(|here| equals < here)),
                "{line}"
            );
            line.split('=').next().unwrap().to_owned()
        };
        lines.map(name).collect()
    }

    /// Returns the number of cells that GitHub finds in a row of a table.
    fn cells(row: &str) -> usize {
        let mut is_escaped = false;
        let mut bars = 0;
        for character in row.chars() {
            bars += usize::from(character == '|' && !is_escaped);
            is_escaped = character == '\\' && !is_escaped;
        }
        bars - 1
    }

    fn hostile_texts() -> impl Strategy<Value = Vec<String>> {
        let parts = prop::sample::select(vec![
            "::error::x",
            "::set-output name=a::b",
            "::add-mask::",
            "#",
            "##[error]",
            "##vso[task.setvariable",
            "%0A",
            "%0D",
            "\n",
            "\r",
            "\n::",
            "\r\n  ::stop-commands::t",
            "\u{2028}::",
            "\u{85}",
            "|",
            "\\",
            "`",
            "```",
            "~~~",
            "\n\n",
            "<script>",
            "</td>",
            "<!--",
            "<img src=http://a/b>",
            "![x](http://a/b)",
            "[x](javascript:y)",
            "&lt;",
            "\u{202e}",
            "\u{1b}[2J",
            "\u{0}",
            "\u{200b}",
            "a=b",
            "x<<EOF",
            "EOF",
            "=",
            "- ",
            "# ",
            "> ",
            " ",
            "é",
            "a",
        ]);
        let text = prop::collection::vec(parts, 0..8).prop_map(|parts| parts.concat());
        prop::collection::vec(prop_oneof![4 => text, 1 => any::<String>()], 4)
    }

    proptest! {
        #[test]
        fn texts_of_models_are_not_commands_outputs_or_markup(hostile in hostile_texts()) {
            let report = report(&hostile);
            let page = report_as_markdown(&report);
            let (outputs, xml) = (report_as_github_output(&report), report_as_junit(&report));
            let json = report_as_json(&report).unwrap();
            for form in [&page, &outputs, &xml] {
                prop_assert!(!has_command(form), "{form}");
                prop_assert_eq!(&terminal_safe(form), form);
            }
            prop_assert!(!has_command(&json), "{json}");
            prop_assert_eq!(escape_hidden(&json), &*json);
            let record: serde_json::Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(record, serde_json::to_value(&report).unwrap());
            let mut values = outputs.lines().filter_map(|line| line.split_once('='));
            prop_assert!(!values.any(|(_, value)| has_command(value)), "{outputs}");
            prop_assert!(names(&outputs).iter().all(|name| NAMES.contains(&&**name)), "{outputs}");
            prop_assert_eq!(names(&outputs).len(), NAMES.len() - 1);
            for event in Parser::new_ext(&page, Options::ENABLE_TABLES) {
                let is_markup = matches!(
                    event,
                    Event::Html(_)
                        | Event::InlineHtml(_)
                        | Event::Start(Tag::Image { .. } | Tag::Link { .. } | Tag::CodeBlock(_) | Tag::BlockQuote(_))
                );
                prop_assert!(!is_markup, "{event:?} in {page}");
            }
            let rows: Vec<usize> = page.lines().filter(|line| line.starts_with('|')).map(cells).collect();
            prop_assert_eq!(rows, [[2; 7].as_slice(), &[3; 6]].concat(), "{}", page);
        }
    }

    #[test]
    fn code_that_would_end_a_cell_is_text() {
        assert_eq!(code_span("a | b"), "a \\| b");
        assert_eq!(code_span("echo ##[error]"), "echo \\#\\#\\[error\\]");
        assert_eq!(code_span("echo `id`"), "`` echo `id` ``");
    }

    #[test]
    fn long_lists_are_cut() {
        let mut long = report(&["x".to_owned()]);
        long.files = vec![long.files[0].clone(); MAX_ROWS + 2];
        long.sessions = vec![long.sessions[0].clone(); MAX_ROWS + 1];
        let page = report_as_markdown(&long);
        assert!(page.contains("\n*… and 2 more*\n"), "{page}");
        assert!(page.contains("\n*… and 1 more sessions*\n"), "{page}");
    }
}
