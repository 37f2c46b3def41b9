//! Sessions as a table for people.

use std::borrow::Borrow;

use jiff::tz::TimeZone;

use super::table::aligned;
use crate::session::{Listed, TitleSource};
use crate::text::{byte_size, display_width, terminal_safe_line};

/// How wide the title column may be.
const TITLE_COLUMNS: usize = 60;

/// The beginning of an id that is shown.
const ID_CHARACTERS: usize = 8;

/// The column of titles.
const TITLE: usize = 4;

/// A line for each session below a head. Titles that no person gave are dimmed.
pub(super) fn session_table(sessions: &[impl Borrow<Listed>], colored: bool) -> String {
    let head = ["ID", "AGENT", "LAST ACTIVE", "SIZE", "TITLE", "DIRECTORY"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(sessions.iter().map(|session| row(session.borrow())));
    let mut rows = aligned(rows, head.len());
    for (session, row) in sessions.iter().zip(rows.iter_mut().skip(1)) {
        let title = session.borrow().facts.title.as_ref();
        let is_chosen = title.is_some_and(|title| title.source == TitleSource::Manual);
        if colored && !is_chosen {
            let title = row[TITLE].trim().to_owned();
            row[TITLE] = row[TITLE].replace(&title, &format!("\u{1b}[2m{title}\u{1b}[0m"));
        }
    }
    rows.iter().map(|row| row.concat() + "\n").collect()
}

fn row(session: &Listed) -> Vec<String> {
    let facts = &session.facts;
    let id: String = facts
        .session_id
        .as_deref()
        .unwrap_or("-")
        .chars()
        .take(ID_CHARACTERS)
        .collect();
    let active = facts.last_activity.map_or_else(
        || "-".to_owned(),
        |time| {
            let zoned = time.to_zoned(TimeZone::UTC);
            zoned.strftime("%Y-%m-%d %H:%M").to_string()
        },
    );
    let title = match (&facts.title, &facts.first_prompt) {
        (Some(title), _) => title.text.as_str(),
        (None, Some(prompt)) => prompt.as_str(),
        (None, None) => "-",
    };
    vec![
        terminal_safe_line(&id),
        session.agent.name().to_owned(),
        active,
        byte_size(session.size),
        shortened(&terminal_safe_line(title)),
        terminal_safe_line(facts.first_cwd.as_deref().unwrap_or("-")),
    ]
}

fn shortened(title: &str) -> String {
    if display_width(title) <= TITLE_COLUMNS {
        return title.to_owned();
    }
    let mut kept = String::new();
    for character in title.chars() {
        let longer = format!("{kept}{character}");
        if display_width(&longer) > TITLE_COLUMNS - 1 {
            break;
        }
        kept = longer;
    }
    kept + "…"
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

    #[test]
    fn columns_are_straight_and_titles_harmless() {
        let sessions = [
            session("Fix \u{1b}[31mit\u{1b}]0;x\u{7}", TitleSource::Manual),
            session("修复解析器", TitleSource::Auto),
        ];
        let page = session_table(&sessions, false);
        let lines: Vec<&str> = page.lines().collect();
        assert!(
            lines[1].starts_with("01234567  qwen   2026-01-02 03:04"),
            "{page}"
        );
        assert!(lines[1].contains("  Fix it  "), "{page}");
        let ends = lines
            .iter()
            .map(|line| display_width(line.trim_end_matches(['-'])));
        assert_eq!(ends.clone().skip(1).max(), ends.skip(1).min());
        let page = session_table(&sessions, true);
        assert!(page.contains("\u{1b}[2m修复解析器\u{1b}[0m"));
        assert!(!page.contains("\u{1b}[2mFix"));
    }
}
