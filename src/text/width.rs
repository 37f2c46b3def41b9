//! How many columns text takes on a terminal.

use unicode_width::UnicodeWidthStr;

/// The width of a line in terminal columns: 2 for wide East Asian characters and emoji, 0 for
/// combining marks. The text should be terminal-safe; control characters have no sensible width.
pub fn display_width(line: &str) -> usize {
    line.width()
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
}
