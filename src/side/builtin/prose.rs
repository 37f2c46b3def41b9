//! Sentences of prompts and replies, without markup, and descriptions of commands in the past tense.

use super::clean::{cut, lower_first};

/// Minimum width of a line that may continue on the next one, in bytes.
const WRAPPED_BYTES: usize = 50;

/// A sentence of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) text: String,
    /// The line of the text, from 0. Wrapped lines count as one.
    pub(super) line: usize,
    /// Whether the sentence is in an item of a list.
    pub(super) is_item: bool,
    /// The sentence is a heading.
    pub(super) is_heading: bool,
}

/// The non-blank sentences outside of code, tables, quotations and drawings.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    for (number, line) in unwrapped(text).into_iter().enumerate() {
        let is_bold = line.strip_prefix("**").is_some_and(|rest| {
            rest.find("**").is_some_and(|end| {
                !rest[..end].ends_with('.') && rest[end + 2..].trim_matches(':').is_empty()
            })
        });
        let is_heading =
            is_bold || line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
        let is_code = line.len() > 1 && line.trim_matches('`').len() + 2 == line.len();
        if is_code || line.starts_with(['|', '>', '+']) || is_drawing(&line) {
            continue;
        }
        let is_item = item_mark(&line) > 0;
        split(&plain(&line), |text| {
            found.push(Sentence {
                text: text.to_owned(),
                line: number,
                is_item,
                is_heading,
            });
        });
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
            Some(last) => {
                last.push(' ');
                last.push_str(line);
            }
            None => lines.push(line.to_owned()),
        }
    }
    lines
}

/// Whether a text is written in Chinese, Japanese or Korean.
pub(super) fn is_east_asian(text: &str) -> bool {
    let (mut east, mut west) = (0_usize, 0_usize);
    for letter in text.chars().take(400) {
        match letter {
            '\u{3040}'..='\u{30ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7a3}' => east += 1,
            letter if letter.is_alphabetic() => west += 1,
            _ => {}
        }
    }
    // One such letter counts as three others.
    east * 3 >= west && east > 0
}

fn is_drawing(line: &str) -> bool {
    line.contains(|letter| matches!(letter, '\u{2500}'..='\u{259f}'))
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
    let has_link = line.contains("](");
    let mut plain = String::new();
    let mut rest = line.replace("**", "");
    if has_link {
        while let Some((before, after)) = rest.split_once("](") {
            let address_end = after.find(')').map_or(after.len(), |at| at + 1);
            rest = format!("{}{}", before.replacen('[', "", 1), &after[address_end..]);
        }
    }
    for letter in rest.chars() {
        match letter {
            '\u{2190}'..='\u{21ff}' if plain.trim().is_empty() => {}
            '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' | '\u{fe0f}' => plain.push(' '),
            '’' => plain.push('\''),
            other => plain.push(other),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn split(line: &str, mut found: impl FnMut(&str)) {
    let (mut start, mut is_code) = (0, false);
    let has_code = line.matches('`').count().is_multiple_of(2);
    let mut letters = line.char_indices().peekable();
    let mut push = |text: &str| {
        if text.contains(char::is_alphanumeric) {
            found(text.replace('`', "").trim());
        }
    };
    while let Some((at, letter)) = letters.next() {
        is_code ^= letter == '`' && has_code;
        let ends = match letter {
            _ if is_code => false,
            '。' | '？' | '！' => true,
            // `git add .` does not end a sentence.
            '.' | '?' | '!' => {
                !line[..at].ends_with(' ')
                    && letters.peek().is_none_or(|(_, next)| next.is_whitespace())
            }
            _ => false,
        };
        if ends && !(letter == '.' && is_abbreviation(line[start..at].trim_start())) {
            let end = at + letter.len_utf8();
            push(&line[start..end]);
            start = end;
        }
    }
    push(&line[start..]);
}

/// Whether a full stop after this text belongs to an abbreviation or to the number of an item.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit([' ', '(']).next().unwrap_or_default();
    matches!(word, "e.g" | "i.e" | "etc" | "vs" | "cf")
        || word == text && !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Maximum width of a description, in cells.
const MAX_CELLS: usize = 56;

/// Pairs of a verb and its past tense.
const VERBS: &str = include_str!("words/verbs.txt");

/// Puts a description into the past tense; `None` if its first word is not a known verb.
pub(super) fn in_the_past(description: &str) -> Option<String> {
    let line = description.lines().next()?.trim();
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    // Some agents repeat the command as its description.
    let signs = [" && ", " || ", " | ", "; "];
    if first.ends_with(':') || signs.iter().any(|sign| line.contains(sign)) {
        return None;
    }
    let mut phrase = past_of(first)?.to_owned();
    let mut follows_joint = false;
    for word in rest.split_whitespace() {
        phrase.push(' ');
        match past_of(word).filter(|_| follows_joint && word.starts_with(char::is_lowercase)) {
            Some(past) => phrase.push_str(&lower_first(past)),
            None => phrase.push_str(word),
        }
        follows_joint = matches!(word, "and" | "then" | "&");
    }
    let phrase = phrase.replacen("Searched for for ", "Searched for ", 1);
    let phrase = phrase.replacen("Looked for if ", "Checked if ", 1);
    Some(cut(phrase.trim_end_matches('.'), MAX_CELLS))
}

/// Returns the capitalised past tense of a verb.
pub(super) fn past_of(word: &str) -> Option<&'static str> {
    let word = word.trim_end_matches([',', ':']).to_lowercase();
    let mut verbs = VERBS.lines().filter(|line| !line.starts_with('#'));
    verbs.find_map(|line| line.strip_prefix(&word)?.strip_prefix(' '))
}

#[cfg(test)]
mod past_tests {
    use super::*;

    #[test]
    fn descriptions_become_reports_without_claims() {
        let table = [
            ("List files in docs", Some("Listed files in docs")),
            (
                "Find remaining conflicts",
                Some("Searched for remaining conflicts"),
            ),
            (
                "Verify that all tests pass",
                Some("Checked that all tests pass"),
            ),
            (
                "Switch to main and pull latest",
                Some("Switched to main and pulled latest"),
            ),
            ("Run: cat big.log", None),
            ("Fix the tests", None),
            ("All tests passed", None),
            ("", None),
        ];
        for (description, expected) in table {
            assert_eq!(
                in_the_past(description).as_deref(),
                expected,
                "{description}"
            );
        }
    }
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
