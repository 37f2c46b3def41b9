//! Lines and sentences of prompts and replies, without markup.

use std::sync::LazyLock;

use regex::Regex;

use crate::text::pattern;

/// Minimum width of a line that may continue on the next one, in bytes.
const WRAPPED_BYTES: usize = 50;

/// Signs after which a sentence continues.
const COMMAS: [char; 3] = [',', '，', '、'];

/// Code, a table, a quotation, a mark of a template (`[[ ## input ## ]]`), or a drawing.
static CODE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[|>+]|^\[\[ .* \]\]$|[\u{2500}-\u{259f}]|^`[^`]+`$"));

/// A heading, or a bold line.
static HEADING: LazyLock<Regex> = LazyLock::new(|| pattern(r"^#+(?:\s|$)|^\*\*[^*]*[^*.]\*\*:*$"));

/// The bullet or the number of an item, and its box.
static ITEM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?:[-*•✅✓❌]+\s+|\d+(?:[.)]\s+|、))(?:\[[ x]\]\s+)?"));

static LINK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\[([^\]]*)\]\([^)]*\)?"));

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Heading,
    Text,
    Item,
    /// Code, a table, a quotation, a drawing, or pasted text.
    Code,
}

/// A line of a text without markup. Wrapped lines count as one, blank ones are kept.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) kind: Kind,
}

/// A sentence of a text.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    pub(super) text: String,
    /// The line of the text, from 0.
    pub(super) line: usize,
    pub(super) kind: Kind,
}

/// Returns the non-blank sentences outside of code, tables, quotations and drawings.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let lines = read_lines(text, |_| false).into_iter().enumerate();
    let typed = lines.filter(|(_, line)| line.kind != Kind::Code);
    let split = typed.flat_map(|(at, line)| {
        let sentence = move |text| Sentence {
            text,
            line: at,
            kind: line.kind,
        };
        split_sentences(&line.text).into_iter().map(sentence)
    });
    split.collect()
}

/// Reads the lines of a text. Lines for which `is_pasted` is true count as code, and so do indented lines below them.
pub(super) fn read_lines(text: &str, is_pasted: impl Fn(&str) -> bool) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let (mut depth, mut follows_pasted, mut item_indent) = (0, false, usize::MAX);
    let indent = |line: &str| line.len() - line.trim_start().len();
    for whole in text.lines() {
        let line = whole.trim();
        let before = depth;
        let fence = line.split_once("```");
        let fence = fence.map(|(text, info)| (text, info.trim_start_matches('`').trim()));
        let is_name = |info: &str| info.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let line = match fence {
            // Text may precede or follow a block.
            Some((text, info)) if !info.contains('`') && (text.is_empty() || is_name(info)) => {
                // A block in a block has an information string, which is one word.
                let is_word = info.bytes().all(|byte| byte.is_ascii_graphic());
                let opens = depth == 0 || text.is_empty() && is_word && !info.is_empty();
                depth = if opens { depth + 1 } else { depth - 1 };
                match if opens { text } else { info } {
                    "" => continue,
                    text => text,
                }
            }
            _ => line,
        };
        let is_below = line.is_empty() || whole.starts_with([' ', '\t']);
        let is_indented = follows_pasted && is_below;
        follows_pasted = is_indented || is_pasted(line);
        let kind = match line {
            _ if depth.min(before) > 0 || follows_pasted || CODE.is_match(line) => Kind::Code,
            _ if HEADING.is_match(line) => Kind::Heading,
            _ if is_item(line) => Kind::Item,
            // An indented line belongs to the item above.
            _ if indent(whole) > item_indent && !line.is_empty() => Kind::Item,
            _ => Kind::Text,
        };
        if !line.is_empty() {
            item_indent = match kind {
                Kind::Item => item_indent.min(indent(whole)),
                _ => usize::MAX,
            };
        }
        let text = match kind {
            Kind::Code => line.to_owned(),
            _ => strip_markup(line),
        };
        let continues = line.starts_with(|letter: char| letter.is_lowercase() || letter == '$');
        let is_wrapped = |last: &&mut Line| {
            let is_item = last.kind == Kind::Item && last.text.ends_with(puts_verb_last);
            let continues = (continues || is_item) && last.text.len() >= WRAPPED_BYTES;
            matches!(last.kind, Kind::Text | Kind::Item)
                && (continues || last.text.ends_with(COMMAS))
                && !last.text.ends_with(['.', '?', '!', ':', ';'])
        };
        let may_continue = kind == Kind::Text && !line.is_empty();
        match lines.last_mut().filter(|_| may_continue).filter(is_wrapped) {
            Some(last) if last.text.ends_with(['，', '、']) => last.text += &text,
            Some(last) => last.text.extend([" ", &text]),
            None => lines.push(Line { text, kind }),
        }
    }
    lines
}

/// Whether a line starts with a bullet or a number.
pub(super) fn is_item(line: &str) -> bool {
    ITEM.is_match(line)
}

/// Removes bullets, emphasis and link targets from a line.
fn strip_markup(line: &str) -> String {
    let content = ITEM.replace(line.trim_start_matches(['#', ' ']), "");
    let unlinked = LINK.replace_all(&content, "$1");
    let plain = unlinked.replace("**", "").replace('’', "'");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Splits a line into sentences. Code and quotations are not split.
pub(super) fn split_sentences(line: &str) -> Vec<String> {
    let mut sentences = vec![String::new()];
    for part in line.split_inclusive([' ', '。', '！', '？', '।']) {
        match sentences.last_mut().filter(|last| !is_sentence(last)) {
            Some(last) => last.push_str(part),
            None => sentences.push(part.to_owned()),
        }
    }
    sentences.retain(|text| text.contains(char::is_alphanumeric));
    let plain = sentences.iter().map(|text| text.replace('`', ""));
    plain.map(|text| text.trim().to_owned()).collect()
}

/// Whether the start of a line is a whole sentence, unlike `e.g. `, `git add . ` and half a quotation.
fn is_sentence(text: &str) -> bool {
    const QUOTES: [&str; 6] = ["``", "「」", "『』", "“”", "«»", "\"\""];
    // An odd number of marks leaves a quotation open, whether the two marks differ or not.
    let is_open = |marks: &&str| text.matches(|sign| marks.contains(sign)).count() % 2 == 1;
    let mut words = text.trim_end().rsplit([' ', '(']);
    let word = words.next().unwrap_or_default();
    let ends = word.ends_with(['.', '?', '!', '。', '？', '！', '।', '؟']);
    let is_abbreviated = matches!(word, "." | "e.g." | "i.e." | "etc." | "vs." | "cf.");
    let is_in_parentheses = text.matches('(').count() > text.matches(')').count();
    ends && !is_abbreviated && !is_in_parentheses && !QUOTES.iter().any(is_open)
}

/// Whether a text is written in Chinese, Japanese or Korean.
pub(super) fn is_east_asian(text: &str) -> bool {
    let letters = || text.chars().take(400);
    let is_east = |letter: &char| {
        matches!(letter, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
            || puts_verb_last(*letter)
    };
    let east = letters().filter(is_east).count();
    let all = letters().filter(|letter| letter.is_alphabetic()).count();
    // One East Asian letter counts as three others.
    east * 4 >= all && east > 0
}

/// Whether a letter belongs to a language whose sentences end with the verb: kana or hangul.
pub(super) fn puts_verb_last(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_is_omitted() {
        let text = "# Done\n\nAll **good**. See [this](http://x?y) and [that](y).\n| a | b |\n```\ncode.\n```\n- `x` works, e.g. `A. B` here. part:\n> quoted\n╭──╮";
        let found = sentences(text);
        let found: Vec<(&str, bool)> = found
            .iter()
            .map(|sentence| (sentence.text.as_str(), sentence.kind == Kind::Item))
            .collect();
        let expected = [
            ("Done", false),
            ("All good.", false),
            ("See this and that.", false),
            ("x works, e.g. A. B here.", true),
            ("part:", true),
        ];
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn any_text_has_sentences(text in "[\\PC\n`*|#.\\[\\]()]{0,120}") {
            let _ = sentences(&text);
        }
    }
}
