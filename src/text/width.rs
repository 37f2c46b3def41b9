//! The width of text on terminals.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the width of a line in columns: 2 for wide East Asian characters and emoji, 0 for combining marks.
/// The text should be terminal-safe; control characters have no defined width.
pub fn display_width(line: &str) -> usize {
    line.width()
}

/// Truncates a line at its end to `columns`, with `…` if it was longer.
pub fn fitted(line: &str, columns: usize) -> String {
    if display_width(line) <= columns {
        return line.to_owned();
    }
    let kept: String = fitting(line.chars(), columns).collect();
    kept + "…"
}

/// Truncates a line at its start to `columns`, with `…` if it was longer.
pub fn fitted_end(line: &str, columns: usize) -> String {
    if display_width(line) <= columns {
        return line.to_owned();
    }
    let mut kept: Vec<char> = fitting(line.chars().rev(), columns).collect();
    kept.push('…');
    kept.iter().rev().collect()
}

/// Returns the characters that fit into one column less than `columns`.
fn fitting(characters: impl Iterator<Item = char>, columns: usize) -> impl Iterator<Item = char> {
    let mut remaining = columns.saturating_sub(1);
    characters.take_while(move |character| {
        let width = character.width().unwrap_or(0);
        let fits = width <= remaining;
        remaining = remaining.saturating_sub(width);
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns() {
        let table = [
            ("", 0),
            ("abc", 3),
            ("日本語", 6),
            ("cafe\u{301}", 4),
            ("👍", 2),
            ("❤\u{fe0f}", 2),
            ("👨\u{200d}👩\u{200d}👧", 2),
        ];
        for (line, columns) in table {
            assert_eq!(display_width(line), columns, "{line}");
        }
    }

    #[test]
    fn long_lines_are_cut_at_either_end() {
        let table = [
            ("abc", 3, "abc", "abc"),
            ("abcd", 3, "ab…", "…cd"),
            ("日本語", 5, "日本…", "…本語"),
            ("日本語", 4, "日…", "…語"),
            ("ab", 0, "…", "…"),
        ];
        for (line, columns, beginning, end) in table {
            assert_eq!(fitted(line, columns), beginning, "{line}");
            assert_eq!(fitted_end(line, columns), end, "{line}");
        }
    }
}
