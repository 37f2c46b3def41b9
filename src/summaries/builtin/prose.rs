//! Sentences of prompts and replies, without markup, and their cut to a width.

use super::clean::{MORE, cut as cut_word, prefix};
use crate::text::display_width;

/// Minimum width of a line that may continue on the next one, in bytes.
const WRAPPED_BYTES: usize = 50;

/// Maximum width that a cut before a joint loses, in cells.
const MAX_LOST_CELLS: usize = 20;

/// Minimum number of informative words, unless no title has that many.
pub(super) const ENOUGH_WORDS: usize = 2;

/// Returns the lines of a section of the words of titles and recaps, including trailing spaces.
pub(super) fn lines_of(section: &str) -> impl Iterator<Item = &'static str> {
    let heading = format!("[{section}]");
    let lines = include_str!("words/title.txt").lines();
    let lines = lines.skip_while(move |line| *line != heading);
    lines.skip(1).take_while(|line| !line.is_empty())
}

/// Whether a word is in a section.
pub(super) fn has_word(section: &str, word: &str) -> bool {
    lines_of(section).any(|line| line.split(' ').any(|known| known == word))
}

/// A sentence of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) text: String,
    /// The line of the text, from 0. Wrapped lines count as one.
    pub(super) line: usize,
    /// Whether the sentence is in an item of a list.
    pub(super) is_item: bool,
    /// The level of a heading.
    pub(super) heading: Option<usize>,
}

/// The level of a bold line, below those of headings.
const BOLD: usize = 7;

/// The non-blank sentences outside of code, tables, quotations and drawings.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    for (number, line) in unwrapped(text).into_iter().enumerate() {
        let bold = line
            .strip_prefix("**")
            .and_then(|rest| rest.split_once("**"));
        let is_bold = bold.is_some_and(|(inner, rest)| {
            !inner.ends_with('.') && rest.trim_matches(':').is_empty()
        });
        let marks = line.len() - line.trim_start_matches('#').len();
        let heading = match marks {
            1.. if line[marks..].starts_with(' ') => Some(marks),
            _ => is_bold.then_some(BOLD),
        };
        let is_code = line.len() > 1 && line.trim_matches('`').len() + 2 == line.len();
        let is_drawing = line.contains(|letter| matches!(letter, '\u{2500}'..='\u{259f}'));
        if is_code || is_drawing || line.starts_with(['|', '>', '+']) {
            continue;
        }
        let is_item = item_mark(&line) > 0;
        let sentence = |text| Sentence {
            text,
            line: number,
            is_item,
            heading,
        };
        found.extend(split(&plain(&line)).into_iter().map(sentence));
    }
    found
}

/// Returns the depth of nested blocks of code after a line.
pub(super) fn code_depth(depth: usize, line: &str) -> usize {
    let Some(info) = line.trim_start().strip_prefix("```") else {
        return depth;
    };
    let opens = depth == 0 || !info.trim_matches(['`', ' ']).is_empty();
    if opens { depth + 1 } else { depth - 1 }
}

/// Returns the lines of a text without code. A wrapped line is joined with the next one.
fn unwrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut depth = 0;
    for line in text.lines().map(str::trim) {
        let before = depth;
        depth = code_depth(depth, line);
        if before + depth > 0 {
            lines.push(String::new());
            continue;
        }
        let is_wrapped = |last: &&mut String| {
            last.len() >= WRAPPED_BYTES
                && !last.ends_with(['.', '?', '!', ':', ';'])
                && line.starts_with(char::is_lowercase)
        };
        match lines.last_mut().filter(is_wrapped) {
            Some(last) => last.extend([" ", line]),
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Whether a text is written in Chinese, Japanese or Korean.
pub(super) fn is_east_asian(text: &str) -> bool {
    let letters = || text.chars().take(400);
    let east = letters()
        .filter(|letter| is_east_asian_letter(*letter))
        .count();
    let all = letters().filter(|letter| letter.is_alphabetic()).count();
    // One such letter counts as three others.
    east * 4 >= all && east > 0
}

fn is_east_asian_letter(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}') || puts_verb_last(letter)
}

/// Whether a letter is of a language whose sentences end with the verb: kana or hangul.
fn puts_verb_last(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Returns the length of the bullet or the number of an item.
fn item_mark(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && line[digits..].starts_with([')', '.']) && line[digits + 1..].starts_with(' ') {
        return digits + 2;
    }
    let rest = line.trim_start_matches(['-', '*', '•', '✅', '✓', '❌']);
    if rest.starts_with(' ') {
        line.len() - rest.trim_start().len()
    } else {
        0
    }
}

/// Removes bullets, emphasis, link targets and emoji from a line.
fn plain(line: &str) -> String {
    let line = line[item_mark(line)..].trim_start_matches(['#', ' ']);
    let mut rest = line.replace("**", "");
    while let Some((before, after)) = rest.split_once("](") {
        let address_end = after.find(')').map_or(after.len(), |at| at + 1);
        rest = format!("{}{}", before.replacen('[', "", 1), &after[address_end..]);
    }
    let letters = rest.trim_start_matches(|letter| matches!(letter, '\u{2190}'..='\u{21ff}' | ' '));
    let is_emoji = |letter: char| matches!(letter, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0f}');
    let plain = letters.replace(is_emoji, " ").replace('’', "'");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The quotation marks that open and close a quotation.
const QUOTES: [(char, char); 6] = [
    ('`', '`'),
    ('「', '」'),
    ('『', '』'),
    ('“', '”'),
    ('«', '»'),
    ('"', '"'),
];

/// Splits a line into sentences. Code, quotations and brackets are not split.
fn split(line: &str) -> Vec<String> {
    let (mut found, mut start, mut kept_until) = (Vec::new(), 0, 0);
    for (at, letter) in line.char_indices() {
        if at < kept_until {
            continue;
        }
        let next = at + letter.len_utf8();
        let quote = QUOTES.iter().find(|(open, _)| *open == letter);
        if let Some(end) = quote.and_then(|(_, close)| line[next..].find(*close)) {
            kept_until = next + end;
            continue;
        }
        // `git add .` does not end a sentence.
        let is_last = line[next..].chars().next().is_none_or(char::is_whitespace)
            && !line[..at].ends_with(' ');
        let ends = "。？！".contains(letter) || ".?!".contains(letter) && is_last;
        if ends && !(letter == '.' && is_abbreviation(line[start..at].trim_start())) {
            found.push(&line[start..next]);
            start = next;
        }
    }
    found.push(&line[start..]);
    found.retain(|text| text.contains(char::is_alphanumeric));
    let shown = |text: &str| text.replace('`', "").trim().to_owned();
    found.into_iter().map(shown).collect()
}

/// Whether a full stop after this text belongs to an abbreviation or to the number of an item.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit([' ', '(']).next().unwrap_or_default();
    matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf")
        || word == text && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
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

/// Cuts a text at the end of a clause, before a conjunction or before a preposition, and never after a
/// function word. A text whose verb is at its end is cut at its start.
pub(super) fn cut(text: &str, cells: usize) -> String {
    if display_width(text) <= cells {
        return text.to_owned();
    }
    if is_east_asian(text) {
        return cut_east_asian(text, cells.saturating_sub(1));
    }
    let start = cut_word(text, cells);
    let fit: Vec<&str> = start.trim_end_matches(MORE).split(' ').collect();
    let words: Vec<&str> = text.split(' ').collect();
    let min_cells = cells.saturating_sub(MAX_LOST_CELLS);
    let is_subordinate = has_word("clause joints", &words[0].to_lowercase());
    let cut_before = |joints: &str| {
        (1..=fit.len()).rev().map(|end| &fit[..end]).find(|kept| {
            let last = kept.last().copied().unwrap_or_default();
            let next = words.get(kept.len()).copied().unwrap_or_default();
            let ends_clause = last.ends_with([',', ';', ':', '–', '—']) || last == "-";
            (ends_clause && !is_subordinate || has_word(joints, &next.to_lowercase()))
                && kept.iter().filter(|word| is_informative(word)).count() > ENOUGH_WORDS
                && display_width(&kept.join(" ")) >= min_cells
        })
    };
    let kept = cut_before("clause joints").or_else(|| cut_before("phrase joints"));
    let mut kept = kept.unwrap_or(&fit);
    while let [start @ .., last] = kept
        && !start.is_empty()
        && is_function_word(last)
    {
        kept = start;
    }
    let mut title = kept.join(" ");
    // Remove an unclosed bracket or quotation mark.
    let open = title
        .rfind('(')
        .filter(|at| *at >= min_cells && !title[*at..].contains(')'));
    title.truncate(open.unwrap_or(title.len()));
    if title.matches('"').count() % 2 == 1 {
        title = title.replace('"', "");
    }
    let title = title.trim_end_matches([',', ';', ':', '.', '-', '–', '—', '(', ' ']);
    format!("{title}{MORE}")
}

/// Cuts a text at the end of a clause. If its verb is at its end, the last clause is kept, behind the first one if both
/// fit.
fn cut_east_asian(text: &str, cells: usize) -> String {
    let ends = |sign: char| "，；、。：,".contains(sign);
    if !text.contains(puts_verb_last) {
        let kept = prefix(text, cells);
        let clause = kept.rfind(ends).filter(|at| *at * 2 > kept.len());
        return format!("{}{MORE}", clause.map_or(kept, |at| &kept[..at]));
    }
    let fits = |rest: &&str| display_width(rest) <= cells;
    let behind = |is_end: &dyn Fn(char) -> bool| {
        let starts = text
            .match_indices(is_end)
            .map(|(at, sign)| &text[at + sign.len()..]);
        starts.map(str::trim_start).find(fits)
    };
    let last = behind(&ends);
    let first = text.find(ends).map(|at| &text[..at]);
    // The first clause has a verb of its own.
    let is_whole = |first: &&str| first.ends_with(['て', 'し', '고']) && fits(first);
    if let Some(first) = first
        .filter(is_whole)
        .filter(|first| display_width(first) * 2 >= cells)
    {
        return format!("{first}{MORE}");
    }
    if let (Some(first), Some(last)) = (first, last)
        && display_width(first) + display_width(last) + 1 < cells
        && first.len() + last.len() < text.len()
    {
        return format!("{first}{MORE} {last}");
    }
    let is_enough = |rest: &&str| display_width(rest) * 3 >= cells;
    let rest = last
        .filter(is_enough)
        .or_else(|| behind(&|sign| sign == ' ').filter(is_enough));
    let rest = rest.or_else(|| text.char_indices().map(|(at, _)| &text[at..]).find(fits));
    format!("{MORE}{}", rest.unwrap_or_default())
}

fn is_function_word(word: &str) -> bool {
    let word = word
        .trim_matches(|letter: char| !letter.is_alphanumeric())
        .to_lowercase();
    let lists = ["clause joints", "phrase joints", "function words"];
    word.is_empty() || lists.iter().any(|list| has_word(list, &word))
}

/// Whether a word names something.
pub(super) fn is_informative(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    !is_function_word(word) && (digits >= 2 || word.contains(char::is_alphabetic))
}

/// Returns how many words of a text name something; in scripts without spaces two letters count as a word.
pub(super) fn informative_words(text: &str) -> usize {
    if is_east_asian(text) && !is_function_word(text) {
        let letters = text.chars().filter(|letter| letter.is_alphanumeric());
        return letters.count() / 2;
    }
    let words = text.split_whitespace();
    words.filter(|word| is_informative(word)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_omitted() {
        let text = "# Done\n\nAll **good**. See [this](http://x) and [that](y).\n| a | b |\n```\ncode.\n```\n- `x` works, e.g. 3. part:\n> quoted\n╭──╮";
        let found = sentences(text);
        let texts: Vec<&str> = found
            .iter()
            .map(|sentence| sentence.text.as_str())
            .collect();
        let expected = [
            "Done",
            "All good.",
            "See this and that.",
            "x works, e.g. 3.",
            "part:",
        ];
        assert_eq!(texts, expected);
        let items: Vec<bool> = found.iter().map(|sentence| sentence.is_item).collect();
        assert_eq!(items, [false, false, false, true, true]);
    }

    proptest! {
        #[test]
        fn any_text_has_sentences(text in "[\\PC\n`*|#.\\[\\]()]{0,120}") {
            let _ = sentences(&text);
        }
    }
}
