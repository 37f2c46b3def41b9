//! The hits of a search, session by session.

use jiff::tz::TimeZone;

use super::text::Style;
use super::times::format_recorded_minute;
use crate::message::Role;
use crate::records::{HitBlock, SessionDescription, SessionHitRecord};
use crate::text::{MatchExcerpt, fit_columns, terminal_safe_line};

/// Maximum width of the title above hits, in columns.
const TITLE_COLUMNS: usize = 70;

/// Returns the heading of the hits in a session: its title, the name of the session that started it as a subagent,
/// its file, and the command that resumes it.
pub(crate) fn hits_heading(
    about: &SessionDescription,
    parent: Option<&str>,
    style: Style,
) -> String {
    let title = fit_columns(&terminal_safe_line(about.heading()), TITLE_COLUMNS);
    let mut heading = format!("{} · {}\n", style.style_text("1", &title), about.agent);
    let parent = parent.map(|name| {
        let name = fit_columns(&terminal_safe_line(name), TITLE_COLUMNS);
        format!("subagent of {name}")
    });
    let resume = about.resume.as_ref().map(|command| match about.home() {
        Some(cwd) => terminal_safe_line(&format!("{command} (in {cwd})")),
        None => terminal_safe_line(command),
    });
    let path = Some(terminal_safe_line(&about.path));
    for line in [parent, path, resume].into_iter().flatten() {
        heading.extend([style.style_text("2", &line), "\n".to_owned()]);
    }
    heading
}

/// Returns the line about a hit, or with lines of context several: line number, time, and who wrote the text.
pub(crate) fn hit_line(
    hit: &SessionHitRecord,
    excerpt: &MatchExcerpt,
    style: Style,
    zone: &TimeZone,
) -> String {
    let author = match (hit.block, hit.role) {
        (HitBlock::Call, _) => hit.tool.as_deref().unwrap_or("call"),
        (HitBlock::Result, _) => "result",
        (HitBlock::Title, _) => "title",
        (HitBlock::Thinking, _) => "thinking",
        (HitBlock::Text, Role::User) => "user",
        (HitBlock::Text, Role::Assistant) => "assistant",
        (HitBlock::Text, Role::System) => "system",
    };
    let line = hit.line.map(|line| line.to_string()).unwrap_or_default();
    let time = format_recorded_minute(hit.timestamp.as_deref(), zone);
    let shown_author = terminal_safe_line(author);
    let head = style.style_text("2", &format!("{line:>7}  {time:16}  {shown_author:10} "));
    let clean_lines = |text: &str| {
        let lines: Vec<String> = text.split('\n').map(clean_part).collect();
        lines.join("\n")
    };
    let text = [
        clean_lines(&excerpt.before),
        style.style_text("1;31", &clean_part(&excerpt.matched)),
        clean_lines(&excerpt.after),
    ]
    .concat();
    if excerpt.has_lines {
        let text = text.replace('\n', "\n    ");
        return format!("{head}\n    {text}\n");
    }
    format!("{head} {}\n", text.replace('\n', " ").trim())
}

/// Returns a terminal-safe part of a line. Blanks at either end become one blank.
fn clean_part(text: &str) -> String {
    let blank = |is_there: bool| if is_there { " " } else { "" };
    let inner = terminal_safe_line(text);
    if inner.is_empty() {
        return blank(text.contains(char::is_whitespace)).to_owned();
    }
    let leading = blank(text.starts_with(char::is_whitespace));
    let trailing = blank(text.ends_with(char::is_whitespace));
    format!("{leading}{inner}{trailing}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_lines_keep_the_blanks_between_them() {
        let rows = [
            ("a b", "a b"),
            ("\n a", " a"),
            ("a\t", "a "),
            (" \n", " "),
            ("", ""),
        ];
        for (text, expected) in rows {
            assert_eq!(clean_part(text), expected, "{text:?}");
        }
        assert_eq!(clean_part("\u{1b}[31mx"), "x");
    }
}
