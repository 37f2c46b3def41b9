//! Terminal-safe text of several lines that keeps its tabs.

use crate::text::{display_width, terminal_safe};

/// Distance of tab stops on terminals, in columns.
const TAB_COLUMNS: usize = 8;

/// Takes the position of a tab while a text is cleaned.
const PLACEHOLDER: char = '\u{2409}';

/// Makes a text safe, apart from tabs.
pub(super) fn safe_with_tabs(text: &str) -> String {
    if !text.contains('\t') {
        return terminal_safe(text);
    }
    let marked = text.replace('\t', PLACEHOLDER.encode_utf8(&mut [0; 4]));
    terminal_safe(&marked).replace(PLACEHOLDER, "\t")
}

/// Replaces tabs by spaces up to the next tab stop.
pub(super) fn expand_tabs(text: &str) -> String {
    let mut expanded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut column = 0;
        for (index, cell) in line.split('\t').enumerate() {
            if index > 0 {
                let spaces = TAB_COLUMNS - column % TAB_COLUMNS;
                expanded.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            expanded.push_str(cell);
            column += display_width(cell);
        }
    }
    expanded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_are_kept_or_expanded() {
        let text = "a:\n\tcc -o\tb\u{1b}[2J\r\n\té\tx\n";
        let safe = safe_with_tabs(text);
        assert_eq!(safe, "a:\n\tcc -o\tb\n\té\tx\n");
        assert_eq!(
            expand_tabs(&safe),
            "a:\n        cc -o   b\n        é       x\n"
        );
        assert_eq!(safe_with_tabs("a\u{202e}b"), "ab");
    }
}
