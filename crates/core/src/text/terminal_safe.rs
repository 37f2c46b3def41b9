//! Terminal-safe text: nothing in it is executed, hidden or reordered.
//!
//! Three passes: remove control sequences first, so that later removals cannot complete one; then invisible
//! characters; then joiners and selectors without a visible effect. Text from models is untrusted until it is
//! cleaned here.

use std::borrow::Cow;

use super::append;
use super::character_class::{CharacterClass, Script, classify};
use super::escape_sequences::remove_escape_sequences;

/// Maximum number of marks on a character. More are decoration or cover the lines above.
const MAX_MARKS: usize = 4;

/// Number of tags between the black flag and the cancel tag: a region of two or three characters and a
/// subdivision of one to four.
const FLAG_TAG_COUNT: std::ops::RangeInclusive<usize> = 3..=7;

/// Cleans text of several lines. Line feeds are kept, and CRLF becomes a line feed; every other line break and
/// blank becomes a space. Runs of blanks are kept as indentation.
pub fn terminal_safe(text: &str) -> String {
    clean(text, Layout::Lines)
}

/// Cleans text and joins it to a single line: line breaks and runs of blanks become one space, and both ends are
/// trimmed.
pub fn terminal_safe_line(text: &str) -> String {
    clean(text, Layout::SingleLine)
}

/// The treatment of blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    Lines,
    SingleLine,
}

fn clean(text: &str, layout: Layout) -> String {
    // No state continues after a line feed, so most lines only need a check.
    let lines = text.split_inclusive('\n').map(|line| {
        let is_kept =
            |byte| matches!(byte, b' '..=b'~') || byte == b'\n' && layout == Layout::Lines;
        if line.bytes().all(is_kept) {
            return Cow::Borrowed(line);
        }
        let replaced: Option<String> = line
            .chars()
            .map(|character| clean_lone(character, layout))
            .collect();
        Cow::Owned(replaced.unwrap_or_else(|| clean_combining(line, layout)))
    });
    let safe: String = lines.collect();
    debug_assert!(
        safe.chars()
            .all(|character| character == '\n' && layout == Layout::Lines
                || !matches!(
                    classify(character),
                    CharacterClass::Hidden | CharacterClass::LineBreak
                )),
        "unsafe text left: {safe:?}"
    );
    match layout {
        Layout::Lines => safe,
        Layout::SingleLine => fold_blanks(&safe),
    }
}

/// Returns the replacement of a character that does not depend on its neighbours, or `None` if it does. Source
/// code and text in most languages have only the former.
pub(super) fn clean_lone(character: char, layout: Layout) -> Option<char> {
    match classify(character) {
        CharacterClass::Blank => Some(' '),
        CharacterClass::LineBreak if character == '\n' => match layout {
            Layout::Lines => Some('\n'),
            Layout::SingleLine => Some(' '),
        },
        CharacterClass::Visible(_)
        | CharacterClass::KeycapBase
        | CharacterClass::FlagBase
        | CharacterClass::Emoji => Some(character),
        _ => None,
    }
}

/// Cleans a line with controls, marks, joiners and similar characters.
pub(super) fn clean_combining(line: &str, layout: Layout) -> String {
    let visible = drop_hidden(&remove_escape_sequences(line), layout);
    drop_misplaced_joiners(&visible)
}

/// Replaces blanks with spaces, and removes invisible characters and excess marks.
fn drop_hidden(text: &str, layout: Layout) -> Vec<char> {
    let mut kept = Vec::with_capacity(text.len());
    let mut marks = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match classify(character) {
            CharacterClass::Hidden => {}
            CharacterClass::LineBreak if layout == Layout::Lines && character == '\n' => {
                kept.push('\n');
                marks = 0;
            }
            CharacterClass::LineBreak
                if layout == Layout::Lines
                    && character == '\r'
                    && characters.peek() == Some(&'\n') => {}
            CharacterClass::LineBreak | CharacterClass::Blank => {
                kept.push(' ');
                marks = 0;
            }
            CharacterClass::Mark(_) | CharacterClass::Keycap => {
                marks += 1;
                if marks <= MAX_MARKS {
                    kept.push(character);
                }
            }
            CharacterClass::EmojiSelector
            | CharacterClass::Joiner
            | CharacterClass::NonJoiner
            | CharacterClass::FlagTag
            | CharacterClass::CancelTag => kept.push(character),
            CharacterClass::FlagBase
            | CharacterClass::KeycapBase
            | CharacterClass::Emoji
            | CharacterClass::Visible(_) => {
                kept.push(character);
                marks = 0;
            }
        }
    }
    kept
}

/// Removes joiners, selectors and tags without a visible effect.
fn drop_misplaced_joiners(characters: &[char]) -> String {
    let mut kept = String::with_capacity(characters.len());
    let mut previous = None;
    let mut position = 0;
    while let Some(character) = characters.get(position) {
        let class = classify(*character);
        let rest = &characters[position + 1..];
        let next = rest.first().map(|character| classify(*character));
        let (length, is_kept) = match class {
            CharacterClass::FlagTag | CharacterClass::CancelTag => {
                let run = measure_tags(&characters[position..]);
                let is_flag = run.ends_flag && previous == Some(CharacterClass::FlagBase);
                (run.length, is_flag)
            }
            CharacterClass::EmojiSelector => (1, is_effective_emoji_selector(previous, next)),
            CharacterClass::Joiner => (1, is_effective_joiner(previous, next)),
            CharacterClass::NonJoiner => (1, is_effective_non_joiner(previous, next)),
            _ => (1, true),
        };
        if is_kept {
            let run = &characters[position..position + length];
            kept.extend(run);
            previous = run.last().map(|character| classify(*character));
        }
        position += length;
    }
    kept
}

/// A run of tags.
struct TagRun {
    /// The number of tags.
    length: usize,
    /// Whether they follow the black flag in the flag of a region.
    ends_flag: bool,
}

fn measure_tags(characters: &[char]) -> TagRun {
    let is_tag = |class: CharacterClass| {
        matches!(class, CharacterClass::FlagTag | CharacterClass::CancelTag)
    };
    let length = characters
        .iter()
        .take_while(|character| is_tag(classify(**character)))
        .count();
    let letters = characters[..length]
        .iter()
        .take_while(|character| classify(**character) == CharacterClass::FlagTag)
        .count();
    TagRun {
        length,
        ends_flag: letters + 1 == length && FLAG_TAG_COUNT.contains(&letters),
    }
}

/// Whether U+FE0F has an effect: after an emoji, and between an ASCII character and its keycap.
fn is_effective_emoji_selector(
    previous: Option<CharacterClass>,
    next: Option<CharacterClass>,
) -> bool {
    match previous {
        Some(CharacterClass::Emoji | CharacterClass::FlagBase) => true,
        Some(CharacterClass::KeycapBase) => next == Some(CharacterClass::Keycap),
        _ => false,
    }
}

/// Whether U+200D has an effect: between two emoji, and in Indic scripts.
fn is_effective_joiner(previous: Option<CharacterClass>, next: Option<CharacterClass>) -> bool {
    let between_emoji = matches!(
        previous,
        Some(
            CharacterClass::Emoji
                | CharacterClass::FlagBase
                | CharacterClass::EmojiSelector
                | CharacterClass::CancelTag
        )
    ) && matches!(next, Some(CharacterClass::Emoji | CharacterClass::FlagBase));
    between_emoji || is_indic_pair(previous, next)
}

/// Whether U+200C has an effect: between two Arabic letters, and in Indic scripts.
fn is_effective_non_joiner(previous: Option<CharacterClass>, next: Option<CharacterClass>) -> bool {
    let between_arabic =
        script_of(previous) == Some(Script::Arabic) && script_of(next) == Some(Script::Arabic);
    between_arabic || is_indic_pair(previous, next)
}

fn is_indic_pair(previous: Option<CharacterClass>, next: Option<CharacterClass>) -> bool {
    match script_of(previous) {
        Some(Script::IndicVirama) => true,
        Some(Script::Indic) => matches!(script_of(next), Some(Script::Indic | Script::IndicVirama)),
        _ => false,
    }
}

fn script_of(class: Option<CharacterClass>) -> Option<Script> {
    match class {
        Some(CharacterClass::Mark(script) | CharacterClass::Visible(script)) => Some(script),
        _ => None,
    }
}

fn fold_blanks(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    folded
}

/// Escapes all characters of JSON text that a terminal would execute, hide or reorder. They can only be in strings,
/// where `\u009b` is equivalent. Line endings are kept.
pub fn escape_hidden(json: &str) -> Cow<'_, str> {
    let is_harmless = |character: char| match classify(character) {
        CharacterClass::Hidden | CharacterClass::FlagTag | CharacterClass::CancelTag => false,
        CharacterClass::LineBreak => matches!(character, '\n' | '\r'),
        _ => true,
    };
    if json.chars().all(is_harmless) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 32);
    for character in json.chars() {
        if is_harmless(character) {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            append!(escaped, "\\u{unit:04x}");
        }
    }
    Cow::Owned(escaped)
}
