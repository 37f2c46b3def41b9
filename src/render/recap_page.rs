//! The recap of a period as text: the sessions by project, and their sums.

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::cost_table::cost_cell;
use super::times::format_duration;
use crate::agent::timestamp;
use crate::records::{ReportedSession, SessionReportRecord, Spending};
use crate::text::{append, count_noun, fit_columns, terminal_safe_line};

/// Returns two lines for each session below the name of its project. Lines are at most as wide as the terminal. The
/// sessions are sorted by project.
pub(crate) fn recap_page(
    report: &SessionReportRecord,
    zone: &TimeZone,
    columns: Option<usize>,
) -> String {
    let fit = |line: &str| match columns {
        Some(columns) => fit_columns(line, columns),
        None => line.to_owned(),
    };
    let time = |time: Option<&String>, form: &str| {
        let zoned = timestamp(time.map(String::as_str)).map(|time| time.to_zoned(zone.clone()));
        zoned.map(|zoned| zoned.strftime(form).to_string())
    };
    let day = |session: &ReportedSession| time(session.started.as_ref(), "%F");
    let sessions = &report.sessions;
    let is_one_day = sessions
        .iter()
        .all(|session| day(session) == day(&sessions[0]));
    let form = if is_one_day { "%H:%M" } else { "%F %H:%M" };
    let (mut page, mut project) = (String::new(), None);
    for session in sessions {
        if project.replace(&session.project) != Some(&session.project) {
            let name = session.project.as_deref().unwrap_or("(no directory)");
            append!(page, "{}\n", fit(&terminal_safe_line(name)));
        }
        let started = time(session.started.as_ref(), form).unwrap_or_default();
        let ended = time(session.ended.as_ref(), "%H:%M").unwrap_or_default();
        let agent = terminal_safe_line(
            session
                .about
                .written_by
                .as_ref()
                .unwrap_or(&session.about.agent),
        );
        let changes = changes(
            session.files_changed,
            session.lines_added,
            session.lines_removed,
        );
        let facts: Vec<String> = changes.into_iter().chain(cost(&session.spending)).collect();
        let end = if facts.is_empty() {
            String::new()
        } else {
            format!("  ({})", facts.join(", "))
        };
        let line = format!("  {started}–{ended}  {agent:<8}  ");
        let room = columns.map_or(usize::MAX, |columns| {
            columns.saturating_sub(line.chars().count() + end.chars().count())
        });
        append!(page, "{line}{}{end}\n", fit_columns(&session.heading, room));
        if !session.recap.is_empty() {
            append!(page, "{}\n", fit(&format!("      {}", session.recap)));
        }
    }
    append!(page, "{}\n", recap_sums(report));
    page
}

/// Returns the sums of a period on one line. The time is the sum over sessions, from their first to their last message.
pub(crate) fn recap_sums(report: &SessionReportRecord) -> String {
    let sessions = &report.sessions;
    let mut projects: Vec<_> = sessions.iter().map(|session| &session.project).collect();
    projects.dedup();
    let sum = |number: fn(&ReportedSession) -> u64| sessions.iter().map(number).sum::<u64>();
    let (added, removed) = (sum(|one| one.lines_added), sum(|one| one.lines_removed));
    let length = i64::try_from(report.duration_ms).unwrap_or(i64::MAX);
    let parts = [
        Some(format!(
            "{} in {}",
            count_noun(sessions.len() as u64, "session", "sessions"),
            count_noun(projects.len() as u64, "project", "projects")
        )),
        Some(format_duration(SignedDuration::from_millis(length))),
        changes(report.files.len() as u64, added, removed),
        cost(&report.spending),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn changes(files: u64, added: u64, removed: u64) -> Option<String> {
    let files = (files > 0).then(|| count_noun(files, "file", "files"))?;
    Some(format!("{files} +{added} −{removed}"))
}

/// Returns a cost, unless it is not known or nothing.
fn cost(spending: &Spending) -> Option<String> {
    spending
        .usage
        .cost
        .is_some_and(|cost| cost > 0.0)
        .then(|| cost_cell(spending))
}
