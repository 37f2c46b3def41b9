//! Tables and properties of terminal-safe text.

use proptest::prelude::*;
use serde::Deserialize;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::character_class::{CharacterClass, classify};
use super::terminal_safe::{Layout, clean_combining, clean_lone};
use super::{escape_hidden, terminal_safe, terminal_safe_line};

/// A row of `tests/data/terminal.jsonl`.
#[derive(Deserialize)]
struct Row {
    input: String,
    safe: String,
    why: String,
}

fn rows() -> Vec<Row> {
    include_str!("../../../../tests/data/terminal.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn text_is_cleaned_as_in_the_table() {
    for Row { input, safe, why } in rows() {
        assert_eq!(terminal_safe_line(&input), safe, "{why}: {input:?}");
        assert_eq!(terminal_safe_line(&safe), safe, "{why}: {safe:?}");
    }
}

#[test]
fn several_lines_keep_their_layout() {
    let table = [
        ("a\nb", "a\nb"),
        ("a\r\nb", "a\nb"),
        ("a\rb", "a b"),
        ("  indented\n\tmore", "  indented\n more"),
        ("a\u{1b}]0;t\nb", "a\nb"),
        ("a\u{2028}b\u{85}c", "a b c"),
        ("a\u{1b}[31mred\u{1b}[0m\n", "ared\n"),
        ("a\u{202e}b\u{200b}c", "abc"),
    ];
    for (input, safe) in table {
        assert_eq!(terminal_safe(input), safe, "{input:?}");
    }
}

/// Returns text with many special characters.
fn hostile_text() -> impl Strategy<Value = String> {
    let characters = "ab1# é日مکकর\u{94d}\u{9cd}\u{301}\u{64e}\u{20e3}\u{fe0f}\u{fe0e}\u{200b}\
        \u{200c}\u{200d}\u{200e}\u{202e}\u{2066}\u{2028}\u{a0}\u{e0067}\u{e0062}\u{e0031}\u{e007f}\
        \u{e0001}\u{1f3f4}\u{1f3fd}👨👩❤🇫🇷\u{17b4}\u{fffe}\u{feff}\u{1b}[]\\;mPk\u{07}\u{18}\u{85}\
        \u{90}\u{9b}\u{9c}\u{9d}\r\n\t";
    let characters: Vec<char> = characters.chars().collect();
    prop::collection::vec(prop::sample::select(characters), 0..40)
        .prop_map(|characters| characters.into_iter().collect())
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => hostile_text(), 1 => any::<String>()]
}

#[test]
fn hidden_characters_are_escaped() {
    let rows = [
        ("{\"a\":\"字 👍\"}\n", "{\"a\":\"字 👍\"}\n"),
        ("\"\u{9b}31m\u{9d}\u{85}\"", "\"\\u009b31m\\u009d\\u0085\""),
        ("\"\u{202e}\u{200b}\u{2028}\"", "\"\\u202e\\u200b\\u2028\""),
        ("\"\u{e0041}\"", "\"\\udb40\\udc41\""),
        ("{\u{1b}[2J torn\r\n", "{\\u001b[2J torn\r\n"),
    ];
    for (json, expected) in rows {
        assert_eq!(escape_hidden(json), expected, "{json:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_control_and_no_bidi_character_is_left(text in any_text()) {
        for character in terminal_safe_line(&text).chars() {
            prop_assert_ne!(character.general_category(), GeneralCategory::Control);
            prop_assert_ne!(classify(character), CharacterClass::Hidden);
            prop_assert_ne!(classify(character), CharacterClass::LineBreak);
            prop_assert!(
                !matches!(character, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
                    | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'),
                "{:?}", character
            );
        }
        let lines = terminal_safe(&text);
        let control = lines.chars().find(|character| {
            *character != '\n' && character.general_category() == GeneralCategory::Control
        });
        prop_assert_eq!(control, None);
    }

    #[test]
    fn cleaning_is_idempotent(text in any_text()) {
        let line = terminal_safe_line(&text);
        prop_assert_eq!(terminal_safe_line(&line), line.clone());
        prop_assert_eq!(terminal_safe(&line), line);
        let lines = terminal_safe(&text);
        prop_assert_eq!(terminal_safe(&lines), lines);
    }

    #[test]
    fn context_free_characters_do_not_depend_on_context(text in any_text()) {
        for line in text.split_inclusive('\n') {
            for layout in [Layout::Lines, Layout::SingleLine] {
                let alone: Option<String> = line.chars().map(|character| clean_lone(character, layout)).collect();
                if let Some(alone) = alone {
                    prop_assert_eq!(alone, clean_combining(line, layout));
                }
            }
        }
    }

    #[test]
    fn a_line_has_single_spaces_between_words(text in any_text()) {
        let line = terminal_safe_line(&text);
        prop_assert!(!line.contains("  ") && line.trim() == line, "{:?}", line);
    }

    /// An incomplete sequence ends with its line.
    #[test]
    fn lines_do_not_affect_each_other(text in any_text(), plain in "[ -~]{0,20}") {
        let both = format!("{}\n{plain}", text.trim_end_matches('\r'));
        prop_assert!(terminal_safe(&both).ends_with(&format!("\n{plain}")), "{both:?}");
    }

    #[test]
    fn no_visible_character_is_added(text in any_text()) {
        let line = terminal_safe_line(&text);
        let mut source = text.chars();
        for character in line.chars().filter(|character| *character != ' ') {
            prop_assert!(source.any(|original| original == character), "{:?} of {:?}", line, text);
        }
    }

    #[test]
    fn a_character_has_at_most_four_marks(
        base in prop::sample::select(vec!['a', 'م', 'क', '1']),
        marks in prop::collection::vec(
            prop::sample::select(vec!['\u{301}', '\u{489}', '\u{64e}', '\u{200d}', '\u{fe0f}']), 0..30),
    ) {
        let text: String = std::iter::once(base).chain(marks).collect();
        let left = terminal_safe_line(&text)
            .chars()
            .filter(|character| matches!(classify(*character), CharacterClass::Mark(_)))
            .count();
        prop_assert!(left <= 4);
    }
}
