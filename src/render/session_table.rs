//! Tables of sessions.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::columns::{align_cells, widths};
use super::times::{format_age, format_minute};
use crate::agent::timestamp;
use crate::records::{SessionActivity, SessionCounts, SessionRecord};
use crate::text::{
    append, fit_columns, fit_end, format_byte_size, format_dollars, format_number,
    terminal_safe_line,
};

/// Maximum width of the title column.
const TITLE_COLUMNS: usize = 60;

/// A table of this many columns has room for branches and models.
const WIDE: usize = 160;

/// A table of this many columns has room for the commands that resume sessions.
const VERY_WIDE: usize = 200;

/// Minimum joint width of titles and directories. Until they have it, the [`DISPENSABLE`] columns are dropped, the
/// first one first.
const MIN_TITLE_ROOM: usize = 20;
const DISPENSABLE: [&str; 4] = ["SIZE", "AGENT", "CALLS", "MESSAGES"];

/// Minimum width for the command that resumes a session. In less space it gets a separate line.
const ROOM_BEFORE_RESUME: usize = 40;

/// Maximum width of the columns of branches and models.
const BRANCH_COLUMNS: usize = 20;

/// The appearance of a table of sessions.
pub(crate) struct TableLook {
    /// The width of the terminal, if there is one.
    pub(crate) columns: Option<usize>,
    /// The time zone of the user.
    pub(crate) zone: TimeZone,
    /// The current time. On a terminal, times are relative to it.
    pub(crate) now: Timestamp,
    /// Whether the commands that resume sessions are shown, below each row if the table is narrow.
    pub(crate) resume: bool,
    /// Whether titles that the user did not give are dimmed.
    pub(crate) colored: bool,
}

/// Returns a line for each session, with its shortened id, below a heading. Lines are at most as wide as the terminal.
pub(crate) fn session_table(sessions: &[SessionRecord], ids: &[&str], look: &TableLook) -> String {
    let has_room = |min_columns| look.columns.is_some_and(|columns| columns >= min_columns);
    let has_counts = sessions.iter().any(|session| session.counts.is_some());
    let mut head = vec!["ID", "AGENT", "LAST ACTIVE", "SIZE"];
    if sessions.iter().any(|session| session.state.is_some()) {
        head.insert(2, "STATE");
    }
    if has_counts {
        head.extend(["MESSAGES", "CALLS", "COST"]);
    }
    if has_room(WIDE) {
        head.extend(["BRANCH", "MODEL"]);
    }
    head.extend(["TITLE", "DIRECTORY"]);
    if look.resume || has_room(VERY_WIDE) {
        head.push("RESUME");
    }
    let listed = sessions.iter().zip(ids);
    let mut rows: Vec<Vec<String>> = vec![head.iter().copied().map(str::to_owned).collect()];
    rows.extend(listed.map(|(session, id)| {
        let cells = head.iter();
        cells.map(|name| cell(name, session, id, look)).collect()
    }));
    let mut title_column = head.iter().take_while(|name| **name != "TITLE").count();
    let mut commands = Vec::new();
    if let Some(columns) = look.columns {
        if head.last() == Some(&"RESUME")
            && room_for_title(&rows, title_column, columns) < ROOM_BEFORE_RESUME
        {
            commands = rows.iter_mut().filter_map(Vec::pop).skip(1).collect();
        }
        for name in DISPENSABLE {
            let position = rows[0].iter().position(|head| head == name);
            if let Some(column) =
                position.filter(|_| room_for_title(&rows, title_column, columns) < MIN_TITLE_ROOM)
            {
                for row in &mut rows {
                    row.remove(column);
                }
                title_column -= 1;
            }
        }
        fit_rows(&mut rows, title_column, columns);
    }
    let mut rows = align_cells(rows, head.len());
    for (session, row) in sessions.iter().zip(rows.iter_mut().skip(1)) {
        let is_chosen = session.about.title_source.as_deref() == Some("manual");
        if look.colored && !is_chosen {
            let text = row[title_column].trim().to_owned();
            row[title_column] =
                row[title_column].replace(&text, &format!("\u{1b}[2m{text}\u{1b}[0m"));
        }
    }
    let mut page = String::new();
    for (number, row) in rows.iter().enumerate() {
        let command = number.checked_sub(1).and_then(|index| commands.get(index));
        page.extend([row.concat(), "\n".to_owned()]);
        if let Some(command) = command.filter(|command| *command != "-") {
            append!(page, "    {command}\n");
        }
    }
    page
}

/// Returns the cell below a heading.
fn cell(head: &str, session: &SessionRecord, id: &str, look: &TableLook) -> String {
    let about = &session.about;
    let count = |number: fn(&SessionCounts) -> u64| {
        let count = session.counts.as_ref().map(number);
        count.map_or_else(|| "-".to_owned(), format_number)
    };
    let text = |text: Option<&String>| terminal_safe_line(text.map_or("-", String::as_str));
    match head {
        "ID" => terminal_safe_line(id),
        "AGENT" => {
            let name = about.written_by.as_deref();
            terminal_safe_line(name.unwrap_or(&about.agent))
        }
        "LAST ACTIVE" => {
            let time = timestamp(session.last_activity.as_deref());
            match (time, look.columns) {
                (Some(time), Some(_)) => format_age(time, look.now, &look.zone),
                (Some(time), None) => format_minute(time, &look.zone),
                (None, _) => "-".to_owned(),
            }
        }
        "STATE" => session.state.map_or("-", SessionActivity::name).to_owned(),
        "SIZE" => format_byte_size(session.size),
        "MESSAGES" => count(|counts| counts.messages),
        "CALLS" => count(|counts| counts.calls),
        "COST" => {
            let usage = session
                .counts
                .map(|counts| counts.usage)
                .unwrap_or_default();
            match usage.cost {
                Some(cost) => format_dollars(cost),
                None if usage.total() > 0 => "?".to_owned(),
                None => "-".to_owned(),
            }
        }
        "BRANCH" => fit_columns(&text(about.git_branch.as_ref()), BRANCH_COLUMNS),
        "MODEL" => fit_columns(&text(about.model.as_ref()), BRANCH_COLUMNS),
        "TITLE" => {
            let title = about.title.as_ref().or(about.first_prompt.as_ref());
            fit_columns(&text(title), TITLE_COLUMNS)
        }
        "RESUME" => text(about.resume.as_ref()),
        _ => text(about.home()),
    }
}

/// Returns the width that is left for titles and directories.
fn room_for_title(rows: &[Vec<String>], title: usize, columns: usize) -> usize {
    let widths = widths(rows).into_iter().enumerate();
    let others = widths.filter(|(column, _)| ![title, title + 1].contains(column));
    // Columns are two blanks apart.
    let taken: usize = others.map(|(_, width)| width + 2).sum();
    columns.saturating_sub(taken + 2)
}

/// Cuts titles and directories so that the rows fit, within the width that the other columns leave.
fn fit_rows(rows: &mut [Vec<String>], title: usize, columns: usize) {
    let room = room_for_title(rows, title, columns);
    let widths = widths(rows);
    let min_directory_width = widths[title + 1].min(room / 3);
    let width = widths[title].min(room - min_directory_width);
    for (number, row) in rows.iter_mut().enumerate() {
        row[title] = fit_columns(&row[title], width);
        // The end of a directory is the most specific part.
        let cut = if number == 0 { fit_columns } else { fit_end };
        row[title + 1] = cut(&row[title + 1], room - width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::SessionDescription;
    use crate::text::display_width;

    fn session(title: &str, source: &str) -> SessionRecord {
        SessionRecord {
            about: SessionDescription {
                agent: "qwen".to_owned(),
                title: Some(title.to_owned()),
                title_source: Some(source.to_owned()),
                ..SessionDescription::default()
            },
            size: 2048,
            last_activity: Some("2026-01-02T03:04:05Z".to_owned()),
            ..SessionRecord::default()
        }
    }

    fn look(columns: Option<usize>) -> TableLook {
        TableLook {
            columns,
            zone: TimeZone::fixed(jiff::tz::offset(9)),
            now: "2026-01-02T05:04:05Z".parse().unwrap(),
            resume: false,
            colored: false,
        }
    }

    #[test]
    fn rows_fit() {
        let mut sessions = vec![
            session(&"Fix the parser ".repeat(9), "auto"),
            session("修复解析器修复解析器修复解析器修复解析器", "auto"),
            session("Same", "auto"),
        ];
        let ids = ["01234567-89", "01234567-8a", "f0123456"];
        for session in &mut sessions {
            session.about.cwd = Some("/home/somebody/projects/parser".to_owned());
        }
        for columns in [60, 80, 120] {
            let page = session_table(&sessions, &ids, &look(Some(columns)));
            let widths = page.lines().map(display_width);
            assert!(widths.clone().all(|width| width <= columns), "{page}");
            assert_eq!(widths.max(), Some(columns), "{page}");
        }
        let page = session_table(&sessions, &ids, &look(Some(80)));
        let starts = page.lines().skip(1).map(|line| line.split(' ').next());
        assert!(starts.eq(ids.map(Some)), "{page}");
        assert!(
            page.lines()
                .all(|line| line.ends_with("arser") || line.ends_with('Y'))
        );
    }

    #[test]
    fn columns_are_straight_and_titles_harmless() {
        let sessions = [
            session("Fix \u{1b}[31mit\u{1b}]0;x\u{7}", "manual"),
            session("修复解析器", "auto"),
        ];
        let mut look = look(None);
        let page = session_table(&sessions, &["01234567"; 2], &look);
        let lines: Vec<&str> = page.lines().collect();
        assert!(
            lines[1].starts_with("01234567  qwen   2026-01-02 12:04"),
            "{page}"
        );
        assert!(lines[1].contains("  Fix it  "), "{page}");
        let ends = lines
            .iter()
            .map(|line| display_width(line.trim_end_matches(['-'])));
        assert_eq!(ends.clone().skip(1).max(), ends.skip(1).min());
        look.colored = true;
        let page = session_table(&sessions, &["01234567"; 2], &look);
        assert!(page.contains("\u{1b}[2m修复解析器\u{1b}[0m"));
        assert!(!page.contains("\u{1b}[2mFix"));
    }
}
