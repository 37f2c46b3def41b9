//! Cutting by the width on a terminal.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::display_width;

/// Stands for what was cut off.
pub(super) const MORE: char = '…';

/// At most `cells` of a text; it is cut behind a word, if that leaves half of it.
pub(super) fn cut(text: &str, cells: usize) -> String {
    if display_width(text) <= cells {
        return text.to_owned();
    }
    let mut used = 0;
    let mut end = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        let width = display_width(grapheme);
        if used + width + 1 > cells {
            break;
        }
        used += width;
        end = at + grapheme.len();
    }
    let kept = &text[..end];
    let is_whole = text[end..].starts_with(' ');
    let word = kept.rfind(' ').filter(|at| !is_whole && *at * 2 >= end);
    let kept = word.map_or(kept, |at| &kept[..at]);
    let kept = kept.trim_end_matches([' ', ',', ';', ':', '(']);
    format!("{kept}{MORE}")
}

/// At most `count` words of a text.
pub(super) fn cut_words(text: &str, count: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.get(..count) {
        Some(kept) if words.len() > count => {
            let kept = kept.join(" ");
            format!(
                "{}{MORE}",
                kept.trim_end_matches([',', ';', ':', '(', '-', '–', '—', '.'])
            )
        }
        _ => words.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cuts_stand_behind_words() {
        assert_eq!(cut("Ran the whole suite", 19), "Ran the whole suite");
        assert_eq!(cut("Ran the whole suite", 15), "Ran the whole…");
        assert_eq!(cut("Aaaaaaaaaaaaaaaaaaaaa", 6), "Aaaaa…");
        assert_eq!(cut("更新依赖和测试", 7), "更新依…");
        assert_eq!(cut_words("one two, three", 2), "one two…");
        assert_eq!(cut_words("one  two", 2), "one two");
    }

    proptest! {
        #[test]
        fn cuts_fit(text in "\\PC{0,80}", cells in 1_usize..60) {
            prop_assert!(display_width(&cut(&text, cells)) <= cells);
        }
    }
}
