//! Text in columns: tables and wrapped lines.

use crate::text::display_width;

/// Pads the cells of `rows` to columns two blanks apart. Columns from `first_right` on are right-aligned.
/// The last cell of a row is not padded.
pub(crate) fn align_cells(rows: Vec<Vec<String>>, first_right: usize) -> Vec<Vec<String>> {
    let widths = widths(&rows);
    let pad = |row: Vec<String>| {
        let last = row.len().saturating_sub(1);
        let cells = row.into_iter().zip(&widths).enumerate();
        let padded = cells.map(|(column, (cell, width))| {
            let gap = if column == 0 { "" } else { "  " };
            let padding = " ".repeat(width - display_width(&cell));
            match column {
                column if column >= first_right => format!("{gap}{padding}{cell}"),
                column if column == last => format!("{gap}{cell}"),
                _ => format!("{gap}{cell}{padding}"),
            }
        });
        padded.collect()
    };
    rows.into_iter().map(pad).collect()
}

/// Returns the width of the widest cell of each column.
pub(super) fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = display_width(cell).max(*width);
        }
    }
    widths
}

/// Formats rows as lines, with columns like [`align_cells`].
pub(crate) fn format_table(rows: Vec<Vec<String>>, first_right: usize) -> String {
    let rows = align_cells(rows, first_right);
    rows.iter().map(|row| row.concat() + "\n").collect()
}

/// Indents the lines of a text, and breaks lines of more than `columns` between words. Continued lines are
/// indented like the first.
pub(crate) fn wrap_text(text: &str, columns: usize, indent: usize) -> String {
    let mut page = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            page.push('\n');
        }
        let words = line.trim_start_matches(' ');
        let start = " ".repeat(indent + line.len() - words.len());
        if start.len() + display_width(words) <= columns {
            page.push_str(&start);
            page.push_str(words);
            continue;
        }
        let mut column = 0;
        for word in words.split(' ') {
            let width = display_width(word);
            if column > 0 && column + 1 + width <= columns {
                page.push(' ');
                column += 1;
            } else {
                if column > 0 {
                    page.push('\n');
                }
                page.push_str(&start);
                column = start.len();
            }
            page.push_str(word);
            column += width;
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words() {
        let rows = [
            ("", ""),
            ("a b\n\nc\n", "  a b\n\n  c"),
            ("one two three", "  one two\n  three"),
            ("  one two three", "    one\n    two\n    three"),
            ("012345678901234 x", "  012345678901234\n  x"),
            ("日本 日本 x", "  日本\n  日本 x"),
        ];
        for (text, expected) in rows {
            let lines = wrap_text(text, 10, 2);
            let lines: Vec<&str> = lines.lines().map(str::trim_end).collect();
            assert_eq!(lines.join("\n"), expected, "{text:?}");
        }
    }
}
