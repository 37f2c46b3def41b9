//! Text tables.

use crate::text::display_width;

/// Pads the cells of `rows` to columns two blanks apart. Columns from `first_right` on are right-aligned.
/// The last cell of a row is not padded.
pub(super) fn aligned(rows: Vec<Vec<String>>, first_right: usize) -> Vec<Vec<String>> {
    let mut widths = Vec::new();
    for row in &rows {
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = display_width(cell).max(*width);
        }
    }
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

/// The rows as lines.
pub(super) fn table(rows: Vec<Vec<String>>, first_right: usize) -> String {
    let rows = aligned(rows, first_right);
    rows.iter().map(|row| row.concat() + "\n").collect()
}
