//! Cuts of texts to a width: after a word, or before the clauses with the verb in languages that put it
//! last.

use unicode_segmentation::UnicodeSegmentation;

use super::prose::{is_east_asian, puts_verb_last};
use crate::text::display_width;

/// Mark of a cut.
pub(super) const MORE: char = '…';

/// Signs at the end of a sentence that titles and recaps omit.
pub(super) const ENDS: [char; 9] = ['.', '!', ':', ';', ',', ' ', '。', '！', '：'];

/// Maximum number of letters of a short word, which should not end a cut text: an article or a preposition.
const MAX_LETTERS: usize = 3;

/// Maximum number of short words that are removed from the end of a cut text.
const MAX_SHORT_WORDS: usize = 2;

/// The signs between clauses.
const BETWEEN_CLAUSES: &[char] = &[
    ',', ';', ':', '?', '!', '–', '—', '，', '；', '、', '。', '：', '！', '？',
];

/// Cuts a text to at most `cells`, after a word. A text whose verb is last is cut at its start.
pub(super) fn cut(text: &str, cells: usize) -> String {
    if display_width(text) > cells && is_verb_last(text) {
        return format!("{MORE}{}", suffix(text, cells.saturating_sub(1)));
    }
    cut_end(text, cells)
}

/// Whether a text is in a language whose sentences end with the verb, or ends with such a sentence.
pub(super) fn is_verb_last(text: &str) -> bool {
    let last = text.trim_end_matches(BETWEEN_CLAUSES);
    is_east_asian(text) && text.contains(puts_verb_last) || last.ends_with(puts_verb_last)
}

/// Cuts the end of a text in any language, to at most `cells`.
pub(super) fn cut_end(text: &str, cells: usize) -> String {
    if display_width(text) <= cells {
        return text.to_owned();
    }
    let cells = cells.saturating_sub(1);
    let fit = prefix(text, cells);
    let is_spaced = !is_east_asian(text);
    let words = whole_words(text, fit);
    // A long address or path at the end is cut itself.
    let kept = if is_spaced && words.len() * 3 > fit.len() {
        words
    } else {
        fit
    };
    let kept =
        kept.trim_end_matches(|sign| "-. ".contains(sign) || BETWEEN_CLAUSES.contains(&sign));
    format!("{kept}{MORE}")
}

/// Returns the whole words in the start of a text, without short ones at the end.
fn whole_words<'a>(text: &str, start: &'a str) -> &'a str {
    let is_whole = text[start.len()..].starts_with(' ');
    let end = start.rfind(' ').filter(|_| !is_whole);
    let mut kept = &start[..end.unwrap_or(start.len())];
    for _ in 0..MAX_SHORT_WORDS {
        let shorter = kept.rsplit_once(' ');
        let shorter = shorter.filter(|(rest, last)| {
            last.chars().count() <= MAX_LETTERS && rest.len() * 3 >= start.len() * 2
        });
        kept = shorter.map_or(kept, |(start, _)| start);
    }
    kept
}

/// Joins the first sentences that fit into `cells`. Cuts the last one, unless less than a quarter of the width is left for
/// it.
pub(super) fn fill<'a>(sentences: impl IntoIterator<Item = &'a str>, cells: usize) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let (width, added) = (display_width(&text), display_width(sentence));
        if width > 0 && width + added >= cells && width * 4 >= cells * 3 {
            break;
        }
        text.push_str(match text.chars().last() {
            None | Some('。' | '！' | '？' | '；') => "",
            Some('.' | '!' | '?' | ':' | ';' | MORE) => " ",
            Some(_) => ". ",
        });
        text.push_str(sentence);
    }
    cut(&text, cells)
}

/// Returns the longest start of a text that fits into `cells`, without splitting a character.
fn prefix(text: &str, cells: usize) -> &str {
    let ends = text.grapheme_indices(true);
    let ends = ends.map(|(at, letters)| &text[..at + letters.len()]);
    let fits = ends.take_while(|start| display_width(start) <= cells);
    fits.last().unwrap_or_default()
}

/// Returns the longest end of a text that fits into `cells`, from the start of a clause if there is one.
fn suffix(text: &str, cells: usize) -> &str {
    let starts = text.grapheme_indices(true).rev();
    let ends = starts.map(|(at, _)| &text[at..]);
    let fits = ends.take_while(|rest| display_width(rest) <= cells);
    let all = fits.last().unwrap_or_default();
    let clause = all.match_indices(BETWEEN_CLAUSES).find_map(|(at, sign)| {
        let rest = &all[at + sign.len()..];
        (!sign.is_ascii() || rest.starts_with(' ')).then(|| rest.trim_start())
    });
    let clause = clause.or_else(|| Some(all.split_once(' ')?.1.trim_start()));
    clause
        .filter(|rest| display_width(rest) * 2 >= cells)
        .unwrap_or(all)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cuts_are_after_phrases_or_words() {
        assert_eq!(cut("Ran the whole suite", 19), "Ran the whole suite");
        assert_eq!(cut("Ran the whole suite", 15), "Ran the whole…");
        assert_eq!(cut("Aaaaaaaaaaaaaaaaaaaaa", 6), "Aaaaa…");
        assert_eq!(cut("更新依赖和测试", 7), "更新依…");
        assert_eq!(
            cut("Parse the long header of the mail", 26),
            "Parse the long header…"
        );
        assert_eq!(
            cut("Die langsamen Abfragen der Übersicht", 27),
            "Die langsamen Abfragen…"
        );
    }

    proptest! {
        #[test]
        fn cuts_fit(text in "\\PC{0,80}", cells in 1_usize..60) {
            prop_assert!(display_width(&cut(&text, cells)) <= cells);
        }
    }
}
