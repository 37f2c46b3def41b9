//! Sessions as a table for people.

use std::borrow::Borrow;

use jiff::tz::TimeZone;

use super::table::aligned;
use super::times::to_the_minute;
use crate::session::{Listed, TitleSource};
use crate::text::{byte_size, display_width, fitted, fitted_end, terminal_safe_line};

/// How wide the title column may be.
const TITLE_COLUMNS: usize = 60;

/// The shortest beginning of an id that is shown.
const ID_CHARACTERS: usize = 8;

/// The column of titles.
const TITLE: usize = 4;

/// How a table of sessions looks.
pub(super) struct TableLook {
    /// How wide the terminal is, if it is one.
    pub(super) columns: Option<usize>,
    /// Where the reader lives.
    pub(super) zone: TimeZone,
    /// Whether titles that no person gave are dimmed.
    pub(super) colored: bool,
}

/// A line for each session below a head, as wide as the terminal at most.
pub(super) fn session_table(sessions: &[impl Borrow<Listed>], look: &TableLook) -> String {
    let head = ["ID", "AGENT", "LAST ACTIVE", "SIZE", "TITLE", "DIRECTORY"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let ids = short_ids(sessions);
    let listed = sessions.iter().zip(ids);
    rows.extend(listed.map(|(session, id)| row(session.borrow(), id, &look.zone)));
    if let Some(columns) = look.columns {
        fit(&mut rows, columns);
    }
    let mut rows = aligned(rows, head.len());
    for (session, row) in sessions.iter().zip(rows.iter_mut().skip(1)) {
        let title = session.borrow().facts.title.as_ref();
        let is_chosen = title.is_some_and(|title| title.source == TitleSource::Manual);
        if look.colored && !is_chosen {
            let title = row[TITLE].trim().to_owned();
            row[TITLE] = row[TITLE].replace(&title, &format!("\u{1b}[2m{title}\u{1b}[0m"));
        }
    }
    rows.iter().map(|row| row.concat() + "\n").collect()
}

/// The beginnings of the ids, long enough to tell the sessions apart.
fn short_ids(sessions: &[impl Borrow<Listed>]) -> Vec<&str> {
    let of = |session| -> &str {
        let session: &Listed = Borrow::borrow(session);
        session.facts.session_id.as_deref().unwrap_or("-")
    };
    let mut sorted: Vec<&str> = sessions.iter().map(of).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let shared = |one: &str, other: &str| {
        let pairs = one.chars().zip(other.chars());
        pairs.take_while(|(one, other)| one == other).count()
    };
    let short = |id: &'_ str| {
        let place = sorted.partition_point(|other| *other < id);
        let before = place.checked_sub(1).and_then(|before| sorted.get(before));
        let neighbours = before.into_iter().chain(sorted.get(place + 1));
        let longest = neighbours.map(|other| shared(id, other) + 1).max();
        let length = longest.unwrap_or(0).max(ID_CHARACTERS);
        id.char_indices()
            .nth(length)
            .map_or(id.len(), |(end, _)| end)
    };
    sessions.iter().map(of).map(|id| &id[..short(id)]).collect()
}

fn row(session: &Listed, id: &str, zone: &TimeZone) -> Vec<String> {
    let facts = &session.facts;
    let active = facts.last_activity;
    let title = match (&facts.title, &facts.first_prompt) {
        (Some(title), _) => title.text.as_str(),
        (None, Some(prompt)) => prompt.as_str(),
        (None, None) => "-",
    };
    vec![
        terminal_safe_line(id),
        session.agent.name().to_owned(),
        active.map_or_else(|| "-".to_owned(), |time| to_the_minute(time, zone)),
        byte_size(session.size),
        fitted(&terminal_safe_line(title), TITLE_COLUMNS),
        terminal_safe_line(facts.first_cwd.as_deref().unwrap_or("-")),
    ]
}

/// Cuts titles and directories so that the rows fit, as far as the other columns leave room.
fn fit(rows: &mut [Vec<String>], columns: usize) {
    let widest = |rows: &[Vec<String>], column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| display_width(cell)).max().unwrap_or(0)
    };
    // Columns are two blanks apart.
    let taken: usize = (0..TITLE).map(|column| widest(rows, column) + 2).sum();
    let room = columns.saturating_sub(taken + 2);
    let directory = widest(rows, TITLE + 1).min(room / 3);
    let title = widest(rows, TITLE).min(room - directory);
    for row in rows.iter_mut() {
        row[TITLE] = fitted(&row[TITLE], title);
        row[TITLE + 1] = fitted_end(&row[TITLE + 1], room - title);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{Agent, Facts, Title};

    fn session(title: &str, source: TitleSource) -> Listed {
        Listed {
            path: "/x".into(),
            agent: Agent::Qwen,
            size: 2048,
            facts: Facts {
                session_id: Some("0123456789".to_owned()),
                title: Some(Title {
                    text: title.to_owned(),
                    source,
                }),
                last_activity: Some("2026-01-02T03:04:05Z".parse().unwrap()),
                ..Facts::default()
            },
            counts: None,
            subagents: 0,
        }
    }

    fn look(columns: Option<usize>) -> TableLook {
        TableLook {
            columns,
            zone: TimeZone::fixed(jiff::tz::offset(9)),
            colored: false,
        }
    }

    #[test]
    fn rows_fit_and_ids_are_unique() {
        let mut sessions = vec![
            session(&"Fix the parser ".repeat(9), TitleSource::Auto),
            session(
                "修复解析器修复解析器修复解析器修复解析器",
                TitleSource::Auto,
            ),
            session("Same", TitleSource::Auto),
        ];
        let ids = ["01234567-89", "01234567-8a", "f0123456-89"];
        for (session, id) in sessions.iter_mut().zip(ids) {
            session.facts.session_id = Some(id.to_owned());
            session.facts.first_cwd = Some("/home/somebody/projects/parser".to_owned());
        }
        for columns in [60, 80, 120] {
            let page = session_table(&sessions, &look(Some(columns)));
            let widths = page.lines().map(display_width);
            assert!(widths.clone().all(|width| width <= columns), "{page}");
            assert_eq!(widths.max(), Some(columns), "{page}");
        }
        let page = session_table(&sessions, &look(Some(80)));
        let starts = page.lines().skip(1).map(|line| line.split(' ').next());
        assert!(
            starts.eq([Some(ids[0]), Some(ids[1]), Some("f0123456")]),
            "{page}"
        );
        assert!(
            page.lines()
                .all(|line| line.ends_with("arser") || line.ends_with('Y'))
        );
    }

    #[test]
    fn columns_are_straight_and_titles_harmless() {
        let sessions = [
            session("Fix \u{1b}[31mit\u{1b}]0;x\u{7}", TitleSource::Manual),
            session("修复解析器", TitleSource::Auto),
        ];
        let mut look = look(None);
        let page = session_table(&sessions, &look);
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
        let page = session_table(&sessions, &look);
        assert!(page.contains("\u{1b}[2m修复解析器\u{1b}[0m"));
        assert!(!page.contains("\u{1b}[2mFix"));
    }
}
