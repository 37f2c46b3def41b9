//! The recap of a period as text: the sessions by project, and their sums.

use jiff::tz::TimeZone;

use super::cost_table::cost_cell;
use crate::agent::timestamp;
use crate::records::{ReportedSession, SessionReportRecord, Spending};
use crate::text::{append, display_width, fit_columns, format_count, terminal_safe_line};

/// Returns one or two lines for each session below the name of its project, and a line with the sums. Lines are at most
/// as wide as the terminal. The sessions are sorted by project.
pub(crate) fn recap_page(
    report: &SessionReportRecord,
    zone: &TimeZone,
    columns: Option<usize>,
) -> String {
    let columns = columns.unwrap_or(usize::MAX);
    let sessions = &report.sessions;
    let times = sessions.iter().map(|session| times(session, zone));
    let times: Vec<_> = times.collect();
    let days = || {
        times
            .iter()
            .flatten()
            .flat_map(|(start, end)| [start.0, end.0])
    };
    let is_one_day = days().min() == days().max();
    let (mut page, mut project) = (String::new(), None);
    for (session, times) in sessions.iter().zip(&times) {
        if project.replace(&session.project) != Some(&session.project) {
            let name = session.project.as_deref().unwrap_or("(no directory)");
            append!(
                page,
                "{}\n",
                fit_columns(&terminal_safe_line(name), columns)
            );
        }
        let time = match times {
            Some(((_, start), (_, end))) if is_one_day => format!("{start}–{end}"),
            Some(((day, start), (last, end))) if day == last => format!("{day} {start}–{end}"),
            Some(((day, start), (last, end))) => format!("{day} {start} – {last} {end}"),
            None => "no times".to_owned(),
        };
        let about = &session.about;
        let agent = terminal_safe_line(about.written_by.as_ref().unwrap_or(&about.agent));
        let changes = changes(
            session.files_changed,
            session.lines_added,
            session.lines_removed,
        );
        let facts: Vec<String> = changes.into_iter().chain(cost(&session.spending)).collect();
        let end = Some(facts.join(", ")).filter(|facts| !facts.is_empty());
        let end = end.map_or_else(String::new, |facts| format!("  ({facts})"));
        let start = format!("  {time}  {agent:<8}  ");
        let taken = display_width(&start) + display_width(&end);
        let heading = fit_columns(&session.heading, columns.saturating_sub(taken));
        append!(page, "{start}{heading}{end}\n");
        if !session.recap.is_empty() {
            let recap = format!("      {}", session.recap);
            append!(page, "{}\n", fit_columns(&recap, columns));
        }
    }
    append!(page, "{}\n", recap_sums(report));
    page
}

/// Returns the sums of a period on one line.
pub(crate) fn recap_sums(report: &SessionReportRecord) -> String {
    let sessions = &report.sessions;
    let mut projects: Vec<_> = sessions.iter().map(|session| &session.project).collect();
    projects.dedup();
    let sum = |number: fn(&ReportedSession) -> u64| sessions.iter().map(number).sum::<u64>();
    let (added, removed) = (sum(|one| one.lines_added), sum(|one| one.lines_removed));
    let count = format!(
        "{} in {}",
        format_count(sessions.len() as u64, "session", "sessions"),
        format_count(projects.len() as u64, "project", "projects")
    );
    let changes = changes(report.files.len() as u64, added, removed);
    let parts = [Some(count), changes, cost(&report.spending)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// A day and a time of it.
type DayTime = (jiff::civil::Date, String);

/// Returns the start and the end of a session, if they are known.
fn times(session: &ReportedSession, zone: &TimeZone) -> Option<(DayTime, DayTime)> {
    let of = |time: &Option<String>| {
        let zoned = timestamp(time.as_deref())?.to_zoned(zone.clone());
        Some((zoned.date(), zoned.strftime("%H:%M").to_string()))
    };
    of(&session.started).zip(of(&session.ended))
}

fn changes(files: u64, added: u64, removed: u64) -> Option<String> {
    (files > 0).then(|| {
        format!(
            "{} +{added} −{removed}",
            format_count(files, "file", "files")
        )
    })
}

/// Returns a cost, unless it is unknown or below a cent.
fn cost(spending: &Spending) -> Option<String> {
    let is_known = spending.usage.cost.is_some_and(|cost| cost >= 0.005);
    is_known.then(|| cost_cell(spending))
}
