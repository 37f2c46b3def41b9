//! Cuts of texts to a width: between two phrases, or before the verb of languages that put it last.

use unicode_segmentation::UnicodeSegmentation;

use super::prose::{
    ENOUGH_WORDS, has_word, is_east_asian, is_function_word, is_informative, puts_verb_last,
};
use crate::text::display_width;

/// Marks a cut.
pub(super) const MORE: char = '…';

/// Maximum width that a cut between phrases loses, in cells.
const MAX_LOST_CELLS: usize = 19;

/// Cuts a text to at most `cells`: at the end of a clause or before a conjunction, else before a preposition, else after
/// a word. Never after a function word. A text whose verb is last may be cut at its start.
pub(super) fn cut(text: &str, cells: usize) -> String {
    if display_width(text) <= cells {
        return text.to_owned();
    }
    let cells = cells.saturating_sub(1);
    if is_east_asian(text) {
        return cut_east_asian(text, cells);
    }
    let fit = prefix(text, cells);
    let least = (cells * 2 / 3).max(cells.saturating_sub(MAX_LOST_CELLS));
    let ends = text.match_indices(' ').map(|(at, _)| at);
    let ends = ends.take_while(|end| *end <= fit.len());
    let leaves_enough = |end: &usize| display_width(&text[..*end]) >= least;
    let ends: Vec<usize> = ends.filter(leaves_enough).collect();
    let first_word = text.split(' ').next().unwrap_or_default();
    let is_subordinate = has_word("clause joints", first_word);
    let is_before = |joints: &'static str| {
        move |end: &&usize| {
            let next = text[**end + 1..].split(' ').next().unwrap_or_default();
            let kept = &text[..**end];
            let ends_clause = !is_subordinate && kept.ends_with([',', ';', ':', '–', '—']);
            let words = kept.split(' ').filter(|word| is_informative(word));
            (ends_clause || has_word(joints, next)) && words.count() > ENOUGH_WORDS
        }
    };
    let end = ends.iter().rev().find(is_before("clause joints"));
    let end = end.or_else(|| ends.iter().rev().find(is_before("phrase joints")));
    let end = end.or(ends.last()).map_or(fit.len(), |end| *end);
    let mut kept = &text[..end];
    // An open bracket or quotation mark would have no end.
    let is_open = |at: &usize| *at * 2 >= end && !text[*at..end].contains(')');
    let open = kept.rfind('(').filter(is_open);
    kept = &kept[..open.unwrap_or(end)];
    while let Some((start, last)) = kept.trim_end().rsplit_once(' ')
        && is_function_word(last)
    {
        kept = start;
    }
    let kept = kept.trim_end_matches(|sign| ",;:.-–—( ".contains(sign));
    match kept.matches('"').count() % 2 {
        0 => format!("{kept}{MORE}"),
        _ => format!("{}{MORE}", kept.replace('"', "")),
    }
}

/// Joins the first sentences that fit into `cells`; cuts one only if a third of that is left for it.
pub(super) fn fill<'a>(sentences: impl IntoIterator<Item = &'a str>, cells: usize) -> String {
    let mut text = String::new();
    for sentence in sentences {
        let (width, added) = (display_width(&text), display_width(sentence));
        if width > 0 && width + added >= cells && width * 3 >= cells * 2 {
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

/// Cuts a text at the end of a clause with a verb, or before its last clauses if the verb is at the end.
fn cut_east_asian(text: &str, cells: usize) -> String {
    let kept = prefix(text, cells);
    let verbs = ["て", "し", "が", "ので", "から", "고", "며", "데", "서"];
    let is_verb_last = text.contains(puts_verb_last);
    let has_verb = |clause: &str| !is_verb_last || verbs.iter().any(|end| clause.ends_with(end));
    let is_end = |sign: char| "，；、。：,".contains(sign);
    let mut clauses = kept.rmatch_indices(is_end).map(|(at, _)| &kept[..at]);
    let clause = clauses.find(|clause| clause.len() * 3 >= kept.len() && has_verb(clause));
    match clause {
        Some(clause) => return format!("{clause}{MORE}"),
        None if !is_verb_last => return format!("{kept}{MORE}"),
        None => {}
    }
    let fits = |rest: &&str| display_width(rest) <= cells;
    let behind = |starts: &dyn Fn(char) -> bool| {
        let ends = text.match_indices(starts).map(|(at, sign)| at + sign.len());
        let mut rest = ends.map(|end| text[end..].trim_start());
        let rest = rest.find(fits);
        rest.filter(|rest| display_width(rest) * 3 >= cells)
    };
    let rest = behind(&is_end).or_else(|| behind(&|sign| sign == ' '));
    let rest = rest.or_else(|| text.char_indices().map(|(at, _)| &text[at..]).find(fits));
    format!("{MORE}{}", rest.unwrap_or_default())
}

/// Returns the longest start of a text that fits into `cells`, without splitting a character.
fn prefix(text: &str, cells: usize) -> &str {
    let ends = text
        .grapheme_indices(true)
        .map(|(at, letters)| &text[..at + letters.len()]);
    let fits = ends.take_while(|start| display_width(start) <= cells);
    fits.last().unwrap_or_default()
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
